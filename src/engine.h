/* Who does the arithmetic.  One const struct per engine, in one NULL-terminated list; engines from
   elsewhere become one, too (plugin.h). */
#ifndef PF_ENGINE_H
#define PF_ENGINE_H

#include "declared.h"
#include "problem.h"

typedef enum pf_misdeed {
  PF_MISDEED_NONE,
  PF_WROTE_OUTSIDE,   /* changed a byte outside its output */
  PF_CHANGED_INPUT,   /* changed an operand */
  PF_CHANGED_FENV,    /* left another rounding mode or flush-to-zero */
  PF_UNREPEATABLE,    /* gave other bits for the same call */
  PF_DIED             /* crashed, hung, or answered what is no answer */
} pf_misdeed;

/* What an engine may say of a call beside its status. */
typedef struct pf_answer {
  const char *why;               /* not PF_OK, and PF_DIED: why; holds until the next call */
  const char *kernel;            /* what did the work; NULL: unknown.  Holds likewise */
  const char *said;              /* what it wrote to standard error, in another process; NULL */
  const char *row;               /* whole_graph: the strategy followed; NULL: unknown */
  const pf_declared *declared;   /* for this call; NULL: nothing but the engine's order */
  bool as_matmul;                /* ran a MULSUM as the MATMUL that it is but for order */
  pf_misdeed misdeed;            /* seen where the interpreter cannot look */
  int64_t stray;                 /* PF_WROTE_OUTSIDE: as in pf_run */
} pf_answer;

/* A run of steps offered to an engine, and where its parts are. */
typedef struct pf_call {
  const pf_problem *problem;
  const pf_step *steps;     /* the run; results of earlier steps are in value */
  int count;                /* 0: whole_graph */
  int first;                /* number of steps[0] in its plan: its result is PF_REF_STEP + first */
  const pf_matrix *value[PF_REF_STEP + PF_MAX_STEPS];  /* by pf_ref; NULL where absent */
  uint32_t y_side;          /* bit i: value of step i is a cast of y, not of x */
  const double *x_vectors, *y_vectors;  /* dense copies of the first step's a and b, as the
                                           problem lays them out (after operand casts) */
  const pf_matrix *out;     /* takes the result of the last step, in its storage dtype */
  bool in_place;            /* out is c */
  pf_answer *answer;        /* the engine's to fill in */
  double *results;          /* gives_doubles: takes it instead, one a output, row-major */
} pf_call;

typedef struct pf_engine {
  const char *name;
  const char *note;            /* one line for people */
  const char *version;         /* one line: of what library, and on what; NULL: precfuzz's own */
  const char *release;         /* the library's version alone; NULL: unknown, or precfuzz's own */
  const char *details;         /* what else its numbers depend on: ISA, ...; NULL likewise */
  pf_summation sum;            /* its stated order; PF_ANY_ORDER where it states none */
  bool listed;                 /* part of the default set */
  bool reads_vectors;          /* reads x_vectors and y_vectors only: the interpreter need not lay
                                  out casts of operands for it */
  bool foreign;                /* not our code: out is laid out before it is asked, and what it
                                  declines may be legalised */
  bool one_step;               /* never takes more than one step */
  bool whole_graph;            /* takes cases, not steps */
  bool as_is;                  /* foreign: what it declines is not legalised */
  bool replays;                /* runs a sum whose order is stated as enclosures replay it */
  bool gives_doubles;          /* our own loops: values of the last step's format, and no tensor
                                  that would have to be guarded and read */
  const void *data;            /* the engine's own */
  /* Can it run these steps?  PF_OK, or PF_UNSUPPORTED with *why set to a text that holds until the
     next call. */
  pf_status (*supports)(const struct pf_engine *e, const pf_call *call, const char **why);
  /* Of a foreign engine also PF_UNSUPPORTED. */
  pf_status (*run)(const struct pf_engine *e, const pf_call *call, pf_arena *scratch);
} pf_engine;

extern const pf_engine *const pf_engines[];  /* ends with NULL */

const pf_engine *pf_engine_find(const char *name, size_t length);

#endif
