/* How far a correct sum may lie from the exact value: the accumulation part of the enclosure. */
#ifndef PF_BOUND_H
#define PF_BOUND_H

#include "row.h"
#include "truth.h"

/* An exponent no quantum reaches: that of a sum without nonzero terms. */
enum { PF_NO_QUANTUM = 1 << 20 };

/* The exponent of the last set bit of a finite nonzero double; PF_NO_QUANTUM for zero. */
int pf_last_bit(double v);

/* What the bound needs to know of one sum beyond the sum itself. */
typedef struct pf_bound_input {
  const pf_format *acc;
  pf_summation order;          /* the engine's */
  int x_precision, y_precision;  /* of the formats that hold the operands' values, bits */
  int x_quantum, y_quantum;    /* least exponents of last set bits in the two vectors */
  const pf_sum *sum;
  const pf_truth *truth;
  bool flushes;                /* subnormal products and partial sums may become zero */
  double lost;                 /* what else may be missing, value units */
} pf_bound_input;

typedef struct pf_bound {
  double error;    /* E, value units, rounded up; +inf: nothing is known */
  bool exact;      /* every partial sum in every order is representable: E is 0 */
  bool weak;       /* E >= T > 0: zero would pass too */
  bool plus_infinity, minus_infinity, nan;  /* some order may overflow that way */
} pf_bound;

/* For finite terms, c, bias, alpha and beta. */
pf_bound pf_bound_of(const pf_bound_input *in);

/* What E is made of where nothing is exact: E >= relative * T + underflows * eta, eta half of the
   smallest subnormal.  Of the underflows those that depend on single operands are left out. */
typedef struct pf_bound_rates {
  double relative;             /* dimensionless */
  double underflows;
  double underflows_fitting;   /* where all products are multiples of the smallest subnormal */
} pf_bound_rates;

/* x_precision, y_precision: of the operands' formats, bits.  like: k (0 also where alpha is), alpha,
   beta, and whether there is a bias; its vectors are not read. */
pf_bound_rates pf_bound_rates_of(const pf_format *acc, const pf_summation *order, int x_precision,
                                 int y_precision, const pf_sum *like);

/* gamma(d, u) = d*u / (1 - d*u), rounded up; +inf where d*u >= 1.  Dimensionless. */
double pf_gamma(double d, double u);

#endif
