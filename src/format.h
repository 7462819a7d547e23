/* Number formats as values: what is representable and how a real number is rounded to it.
   A format is no enum: toy accumulators, TF32 or a saturating fp8 are other structs.  Every value
   of every format here is exactly a double; how bytes encode it is dtype.h's matter. */
#ifndef PF_FORMAT_H
#define PF_FORMAT_H

#include <stdbool.h>

typedef enum pf_rounding { PF_NEAREST_EVEN, PF_NEAREST_AWAY, PF_TOWARD_ZERO } pf_rounding;

/* What becomes of a finite value above the largest one, once rounded, and of infinity in a format
   that has none.  PF_OVERFLOW_INFINITY needs has_infinity. */
typedef enum pf_overflow { PF_OVERFLOW_INFINITY, PF_OVERFLOW_SATURATE, PF_OVERFLOW_NAN } pf_overflow;

typedef struct pf_format {
  int precision;          /* significand bits with the hidden one: f64 53, bf16 8; at least 2 */
  int emin;               /* the smallest normal number is 2^emin; subnormals are below it */
  double max;             /* largest finite value */
  bool has_infinity;
  bool has_negative_zero; /* false in the fnuz formats: -0 becomes +0 */
  pf_rounding rounding;
  pf_overflow overflow;
} pf_format;

/* RN_f(x), the correctly rounding store: one rounding, with f's rounding and overflow policy. */
double pf_round(const pf_format *f, double x);

/* RN_f of the exact a + b, a * b, a * b + c: rounded once, whatever f is.  The operands are values
   of formats of at most 53 bits; f's precision is at most 51, or f is f64 itself.
   pf_round_product and pf_round_fma want a * b exact in double unless f is f64. */
double pf_round_sum(const pf_format *f, double a, double b);
double pf_round_product(const pf_format *f, double a, double b);
double pf_round_fma(const pf_format *f, double a, double b, double c);

/* The double nearest a + b toward zero with its last bit set if inexact ("round to odd"): rounding
   it to at most 51 bits gives what one rounding of the exact sum gives.
   Boldo and Melquiond, IEEE Trans. Computers 57(4), 2008. */
double pf_sum_to_odd(double a, double b);

double pf_unit_roundoff(const pf_format *f);    /* 2^-precision, twice that where rounding is toward
                                                   zero; dimensionless */
double pf_smallest_normal(const pf_format *f);  /* value units */
int pf_quantum(const pf_format *f);             /* exponent of the smallest subnormal: f64 -1074 */
double pf_ulp(const pf_format *f, double x);    /* spacing of f at |x|, value units; x finite */
double pf_next_up(const pf_format *f, double x);   /* least value of f above x; +inf above max */
double pf_next_down(const pf_format *f, double x);
bool pf_format_equal(const pf_format *a, const pf_format *b);
bool pf_format_contains(const pf_format *outer, const pf_format *inner);

#endif
