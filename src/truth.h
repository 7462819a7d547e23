/* The exact value behind one output element, and the narrow door to whoever computes it. */
#ifndef PF_TRUTH_H
#define PF_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "format.h"

/* alpha * sum over k of x[k] * y[k], plus beta * c, plus bias.  Terms, c or bias that are not
   finite are left out: infinities follow rules, not sums. */
typedef struct pf_sum {
  int64_t k;
  const double *x, *y;  /* k each */
  double alpha;         /* 1 where the call has none; finite */
  double beta, c;       /* beta = 0: c is absent */
  double bias;          /* 0 where there is none */
} pf_sum;

/* Everything times 2^-scale; scale is 0 unless a sum would leave double's range. */
typedef struct pf_truth {
  double positive, negative;  /* sums of the positive and of the absolute negative terms, alpha
                                 applied, rounded up; v = positive - negative before rounding */
  double products;            /* S: sum of |x[k] * y[k]|, without alpha, rounded up */
  int scale;
} pf_truth;

/* An oracle keeps the exact v of its last sum for the questions below; value units throughout. */
typedef struct pf_oracle {
  const char *name;
  void *state;
  void (*sum)(void *state, const pf_sum *ask, pf_truth *out);
  double (*below)(void *state, double e);  /* v - e rounded down; +inf if v - e >= 2^1024(1-2^-54) */
  double (*above)(void *state, double e);  /* v + e rounded up; -inf likewise */
  double (*nearest)(void *state, const pf_format *f);  /* RN_f(v), rounded once */
  double (*distance)(void *state, double got);         /* |got - v| rounded up; got finite */
  /* The least and the greatest finite double x with |x - v| <= abs + rel |v|, 0 <= rel < 1, the
     inequality being one of real numbers; *lo > *hi where there is none. */
  void (*within)(void *state, double abs, double rel, double *lo, double *hi);
} pf_oracle;

#endif
