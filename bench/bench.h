/* What the benchmark programs share: cases from text, a clock, interleaved repetitions.

   A sample is a line on standard output: table, row, column, repetition, value, with tabs between.
   scripts/bench.sh gathers them, scripts/bench_doc.sh makes tables of them. */
#ifndef PF_BENCH_H
#define PF_BENCH_H

#include <stdint.h>

#include "problem.h"

/* Prints it on standard error and ends the program, status 2. */
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A whole number from low to high, or bench_die. */
int64_t bench_number(const char *name, const char *text, int64_t low, int64_t high);

double bench_now(void);  /* seconds since some moment; does not jump */
/* Seconds of a processor that this thread has had: what others do on the machine counts little. */
double bench_used(void);
void bench_sample(const char *table, const char *row, const char *column, int repetition,
                  double value);

typedef struct bench_task {
  char row[32], column[24];
  void (*run)(void *state);
  void *state;
  double units;   /* what one call does; the sample is nanoseconds a unit */
  int64_t calls;  /* a repetition; set by bench_interleave */
} bench_task;

typedef struct bench_effort {
  int repetitions;
  double seconds;  /* of one task in one repetition, at least */
} bench_effort;

/* From the arguments REPETITIONS MILLISECONDS. */
bench_effort bench_effort_read(int argc, char **argv);
/* All tasks in turn, over and over, so that what else the machine does falls on all alike. */
void bench_interleave(const bench_effort *effort, const char *table, bench_task *task, int count);

typedef struct bench_case {
  pf_arena arena;
  pf_case what;
  pf_problem problem;
} bench_case;

/* The case of a text, finished and built, or bench_die. */
void bench_case_open(bench_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void bench_case_close(bench_case *c);

/* The vectors behind an output element of a case without batches. */
const double *bench_x(const pf_problem *p, int64_t element);
const double *bench_y(const pf_problem *p, int64_t element);

#endif
