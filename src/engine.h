/* Who does the arithmetic.  One const struct per engine, in one NULL-terminated list. */
#ifndef PF_ENGINE_H
#define PF_ENGINE_H

#include "problem.h"
#include "row.h"

/* A run of steps offered to an engine, and where its parts are. */
typedef struct pf_call {
  const pf_problem *problem;
  const pf_step *steps;     /* the run; results of earlier steps are in value */
  int count;
  int first;                /* number of steps[0] in its plan: its result is PF_REF_STEP + first */
  const pf_matrix *value[PF_REF_STEP + PF_MAX_STEPS];  /* by pf_ref; NULL where absent */
  const double *x_vectors, *y_vectors;  /* dense copies of the first step's a and b, as the
                                           problem lays them out (after operand casts) */
  const pf_matrix *out;     /* takes the result of the last step, in its storage dtype */
} pf_call;

typedef struct pf_engine {
  const char *name;
  const char *note;            /* one line for people */
  pf_summation sum;            /* its stated order; PF_ANY_ORDER where it states none */
  bool listed;                 /* part of the default set */
  bool reads_vectors;          /* reads x_vectors and y_vectors only: the interpreter need not lay
                                  out casts of operands for it */
  const void *data;            /* the engine's own */
  /* Can it run these steps?  PF_OK, or PF_UNSUPPORTED with *why set to a constant text. */
  pf_status (*supports)(const struct pf_engine *e, const pf_call *call, const char **why);
  pf_status (*run)(const struct pf_engine *e, const pf_call *call, pf_arena *scratch);
} pf_engine;

/* Stores results[outputs], row-major, into call->out. */
void pf_call_store(const pf_call *call, const double *results);

extern const pf_engine *const pf_engines[];  /* ends with NULL */

const pf_engine *pf_engine_find(const char *name, size_t length);

#endif
