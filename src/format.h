/* Number formats as values: what is representable and how a real number is rounded to it.
   A format is no enum: toy accumulators, TF32 or a saturating fp8 are other structs.  Every value
   of every format here is exactly a double; how bytes encode it is dtype.h's matter. */
#ifndef PF_FORMAT_H
#define PF_FORMAT_H

#include <stdbool.h>

typedef enum pf_rounding { PF_NEAREST_EVEN, PF_NEAREST_AWAY, PF_TOWARD_ZERO } pf_rounding;

/* What becomes of a finite value above the largest one, once rounded, and of infinity in a format
   that has none.  PF_OVERFLOW_INFINITY needs has_infinity; PF_OVERFLOW_SATURATE takes infinity to
   the end of the range even where the format has it, as conversions that saturate do (OCP 8-bit
   Floating Point Specification 1.0).  PF_OVERFLOW_WRAP, for integers only, is the rounded value
   modulo 2^bits: what a machine's integer addition and multiplication do, and a store of the low
   bits.  Integers wrap or saturate; either way infinity gives the end of the range, and NaN 0. */
typedef enum pf_overflow {
  PF_OVERFLOW_INFINITY, PF_OVERFLOW_SATURATE, PF_OVERFLOW_NAN, PF_OVERFLOW_WRAP
} pf_overflow;

/* The lowest value: -max, or for integers -max - 1 or 0. */
typedef enum pf_range { PF_SYMMETRIC = 0, PF_TWOS_COMPLEMENT, PF_UNSIGNED } pf_range;

/* In an integer format max is just below 2^emin and precision = emin + 1, so that all values lie
   where a float has its subnormals: on a grid of 1. */
typedef struct pf_format {
  int precision;          /* significand bits with the hidden one: f64 53, bf16 8; at least 2 */
  int emin;               /* the smallest normal number is 2^emin; subnormals are below it */
  double max;             /* largest finite value */
  bool has_infinity;
  bool has_negative_zero; /* false in integers and the fnuz formats: -0 becomes +0 */
  pf_rounding rounding;
  pf_overflow overflow;
  pf_range range;         /* integers are the formats that are not symmetric */
} pf_format;

/* A precision of computation that no dtype stores: f32's range with f16's significand. */
extern const pf_format pf_tf32;

bool pf_is_integer(const pf_format *f);
double pf_lowest(const pf_format *f);  /* the least finite value */

/* `to` as it rounds what is converted from values of `from`: integers wrap among each other, but a
   float beyond an integer's range has no low bits to keep and saturates. */
pf_format pf_conversion(const pf_format *to, const pf_format *from);

/* RN_f(x), the correctly rounding store: one rounding, with f's rounding and overflow policy. */
double pf_round(const pf_format *f, double x);

/* RN_f of the exact a + b, a * b, a * b + c: rounded once, whatever f is.  The operands are values
   of formats of at most 53 bits; f's precision is at most 51, or f is f64 itself.
   pf_round_product and pf_round_fma want a * b exact in double unless f is f64, or unless f, a and
   b are integers.  Where f wraps, sums and what is added to a product stay below 2^52. */
double pf_round_sum(const pf_format *f, double a, double b);
double pf_round_product(const pf_format *f, double a, double b);
double pf_round_fma(const pf_format *f, double a, double b, double c);

/* The double nearest a + b toward zero with its last bit set if inexact ("round to odd"): rounding
   it to at most 51 bits gives what one rounding of the exact sum gives.
   Boldo and Melquiond, IEEE Trans. Computers 57(4), 2008. */
double pf_sum_to_odd(double a, double b);

double pf_unit_roundoff(const pf_format *f);    /* 2^-precision, twice that where rounding is toward
                                                   zero; dimensionless */
double pf_smallest_normal(const pf_format *f);  /* value units; 1 for integers, none of which is
                                                   flushed to zero */
int pf_quantum(const pf_format *f);             /* exponent of the smallest subnormal: f64 -1074 */
double pf_ulp(const pf_format *f, double x);    /* spacing of f at |x|, value units; x finite */
double pf_next_up(const pf_format *f, double x);   /* least value of f above x; +inf above max */
double pf_next_down(const pf_format *f, double x); /* likewise; -inf below the lowest */
bool pf_format_equal(const pf_format *a, const pf_format *b);
/* Every value of inner, an infinity, -0 or NaN too, is one of outer. */
bool pf_format_contains(const pf_format *outer, const pf_format *inner);
/* Rounding to `to` leaves every value of `from` as it is.  Not the same: a format that saturates
   contains infinity, but does not leave it. */
bool pf_conversion_exact(const pf_format *to, const pf_format *from);

#endif
