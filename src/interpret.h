/* The interpreter: runs a plan, offering the engine the longest runs of steps that it supports and
   doing the rest itself. */
#ifndef PF_INTERPRET_H
#define PF_INTERPRET_H

#include "engine.h"

typedef struct pf_run {
  const char *why;       /* not PF_OK: a constant text */
  const double *got;     /* the result, one double per output element */
  pf_misdeed misdeed;
  int64_t stray;         /* PF_WROTE_OUTSIDE: byte offset from the first element */
  const char *kernel;    /* what did the work; NULL: unknown */
  const char *said;      /* what it wrote to standard error, where it died; NULL: nothing */
  const char *claims;    /* of a whole-graph engine: the strategy followed; NULL: unknown */
  const pf_declared *declared;  /* for this run; NULL: nothing but the engine's order */
  bool widened;          /* a sum was taken in its accumulator's dtype, and rounded by us */
  const char *legalised; /* what was changed before the engine took a sum; NULL: nothing */
  bool as_matmul;        /* a MULSUM was run as the MATMUL that it is but for order */
  const double *step[PF_MAX_STEPS];  /* each step's result where it has the output's shape */
  const double *x_vectors[PF_MAX_STEPS], *y_vectors[PF_MAX_STEPS];  /* or x's or y's */
} pf_run;

/* PF_OK, PF_UNSUPPORTED (out->why says why), PF_NO_MEMORY, PF_ENGINE_ERROR.  Steps that an engine
   took in one run have NULL in out->step but for the last. */
pf_status pf_interpret(const pf_problem *p, const pf_plan *plan, const pf_engine *e, pf_arena *a,
                       pf_run *out);

/* A step that casts or scales x or y: vectors of the operand rounded to the step's format; the
   operand's own where nothing changes.  x_side tells which. */
bool pf_plan_is_operand(const pf_plan *plan, int step, bool *x_side);
pf_status pf_cast_vectors(const pf_problem *p, const pf_plan *plan, int step, const double *from,
                          pf_arena *a, const double **out);

/* What a SCALE multiplies by at an output element. */
double pf_step_factor(const pf_step *s, const pf_problem *p, int64_t element);

#endif
