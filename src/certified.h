/* Sums bounded by double arithmetic: what settles most elements before the oracle is asked. */
#ifndef PF_CERTIFIED_H
#define PF_CERTIFIED_H

#include "truth.h"

/* What is known of v = alpha * sum + beta * c + bias: |v - (value + tail)| <= radius, in value
   units. */
typedef struct pf_certified {
  double value, tail, radius;  /* tail and radius 0: v is exactly this double */
  double magnitude;            /* at most T = |alpha| S + |beta c| + |bias| */
} pf_certified;

/* A double not below v - e, and one not above v + e; e >= 0.  NaN or infinite where double's range
   does not reach. */
double pf_certified_low(const pf_certified *v, double e);
double pf_certified_high(const pf_certified *v, double e);

/* All terms, c, bias, alpha and beta finite; x and y of at most 24 bits, so that products are exact
   in double.  quantum: exponent that every product is a multiple of 2^ of.  False where an
   intermediate is not finite. */
bool pf_certify(const pf_sum *s, int quantum, pf_certified *out);
/* The same for x and y of up to 53 bits, in about twice the precision. */
bool pf_certify_f64(const pf_sum *s, int quantum, pf_certified *out);

/* Not below the sum of the positive terms of v, or of the absolute negative ones; alpha 1 or -1. */
double pf_one_sided(const pf_sum *s, bool negative);

#endif
