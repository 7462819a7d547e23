/* What the benchmark programs share. */
#include "bench.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include "form_text.h"

void bench_die(const char *format, ...)
{
  va_list list;
  fputs("bench: ", stderr);
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
  fputc('\n', stderr);
  exit(2);
}

int64_t bench_number(const char *name, const char *text, int64_t low, int64_t high)
{
  char *end;
  errno = 0;
  const long long n = strtoll(text, &end, 10);
  if (errno || end == text || *end || n < low || n > high)
    bench_die("%s: '%s' is no whole number from %" PRId64 " to %" PRId64, name, text, low, high);
  return n;
}

static double read_clock(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_now(void)
{
  return read_clock(CLOCK_MONOTONIC);
}

double bench_used(void)
{
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void bench_sample(const char *table, const char *row, const char *column, int repetition,
                  double value)
{
  printf("%s\t%s\t%s\t%d\t%.9g\n", table, row, column, repetition, value);
}

bench_effort bench_effort_read(int argc, char **argv)
{
  if (argc < 3)
    bench_die("usage: %s REPETITIONS MILLISECONDS", argv[0]);
  return (bench_effort){
    .repetitions = (int)bench_number("REPETITIONS", argv[1], 1, 1000),
    .seconds = 1e-3 * (double)bench_number("MILLISECONDS", argv[2], 1, 100000),
  };
}

static double seconds_of(const bench_task *t)
{
  const double begin = bench_used();
  for (int64_t i = 0; i < t->calls; i++)
    t->run(t->state);
  return bench_used() - begin;
}

/* Also what warms up caches and arenas. */
static void calibrate(bench_task *t, double seconds)
{
  for (t->calls = 1;;) {
    const double took = seconds_of(t);
    if (took >= seconds)
      return;
    const double more = took > 0 ? 1.2 * seconds / took : 16;
    t->calls = (int64_t)((double)t->calls * (more < 16 ? more : 16)) + 1;
  }
}

void bench_interleave(const bench_effort *effort, const char *table, bench_task *task, int count)
{
  for (int i = 0; i < count; i++)
    calibrate(&task[i], effort->seconds);
  for (int r = 1; r <= effort->repetitions; r++)
    for (int i = 0; i < count; i++) {
      const double units = (double)task[i].calls * task[i].units;
      bench_sample(table, task[i].row, task[i].column, r, 1e9 * seconds_of(&task[i]) / units);
    }
  fflush(stdout);
}

void bench_case_open(bench_case *c, const char *format, ...)
{
  char text[512];
  va_list list;
  pf_error e = {0};
  va_start(list, format);
  const int size = vsnprintf(text, sizeof text, format, list);
  va_end(list);
  *c = (bench_case){0};
  if (size < 0 || (size_t)size >= sizeof text ||
      pf_text_parse(text, (size_t)size, &c->arena, &c->what, &e))
    bench_die("%s: %s", text, e.text);
  if (pf_problem_build(&c->what, &c->arena, &c->problem))
    bench_die("%s: out of memory", text);
}

void bench_case_close(bench_case *c)
{
  pf_arena_free(&c->arena);
}

const double *bench_x(const pf_problem *p, int64_t element)
{
  return p->x_vectors + (p->x_line[0] + element / p->shape.n) * p->shape.k;
}

const double *bench_y(const pf_problem *p, int64_t element)
{
  return p->y_vectors + (p->y_line[0] + element % p->shape.n) * p->shape.k;
}
