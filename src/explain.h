/* Where a row loses precision: the error of the whole, and what each step adds to it. */
#ifndef PF_EXPLAIN_H
#define PF_EXPLAIN_H

#include "session.h"

/* The graph's exact results, one an output element, row-major. */
typedef struct pf_exact_results {
  const double *value;      /* rounded to nearest; NaN where the result follows no sum */
  const double *rest;       /* exact - value, rounded down: with value, 106 bits */
  const double *magnitude;  /* T, the sum of the absolute terms, rounded up, value units */
} pf_exact_results;

/* Everything lives in the arena.  PF_UNSUPPORTED with *why as pf_encloser_new; PF_NO_MEMORY. */
pf_status pf_exact_results_of(const pf_problem *p, const pf_oracle *oracle, pf_arena *a,
                              pf_exact_results *out, const char **why);

/* An error measured over all output elements, told for the one where it is the greatest share of T
   (of equals, the first).  T counts as no less than the smallest normal number of the output's
   format: what lies below has no relative precision to lose. */
typedef struct pf_worst_error {
  int64_t element;        /* row-major; -1: nothing was measured */
  double error;           /* value units; right but for its last bit, of steps rounded up */
  double ulps;            /* error in ulp of the output's format at the exact result */
  double share;           /* error over T, dimensionless */
  int64_t special;        /* elements left out: what was computed, from what, or T is not finite */
  int64_t first_special;  /* row-major; -1 */
} pf_worst_error;

/* Nothing measured yet. */
pf_worst_error pf_worst_error_start(void);
/* Takes one element's error against the graph's exact result `value`; `magnitude` is its T.  Both
   are finite.  out: the format to take the ulp of. */
void pf_worst_error_take(pf_worst_error *w, const pf_format *out, int64_t element, double error,
                         double value, double magnitude);

/* |got - exact| of a whole result.  out: its format.  Never fails. */
pf_worst_error pf_result_error(const pf_problem *p, const pf_exact_results *exact,
                               const pf_format *out, const double *got);

typedef struct pf_explanation {
  pf_worst_error total;
  pf_enclosure allowed;                /* at total.element */
  pf_worst_error step[PF_MAX_STEPS];   /* |computed - exact result of the step from what was
                                          computed before it|.  A cast of x or y: how far it alone
                                          moves the exact sums */
  bool known[PF_MAX_STEPS];            /* false: the engine took the step in one call with others */
  int largest;                         /* the step that adds the greatest share of T; -1: none adds
                                          anything */
} pf_explanation;

/* Of a result that has a run, while its problem lives.  PF_NO_MEMORY, or PF_OK. */
pf_status pf_explain(const pf_result *r, const pf_exact_results *exact, const pf_oracle *oracle,
                     pf_arena *a, pf_explanation *out);

#endif
