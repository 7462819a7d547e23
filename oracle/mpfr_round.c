/* Conversions by MPFR.

   Claim: one rounding.  MPFR rounds the double to the format's precision and says to which side;
   knowing that, mpfr_subnormalize takes off what lies below the last place of a subnormal as if it
   rounded the double itself (MPFR manual, mpfr_subnormalize).  The oracle's `nearest` scales to an
   integer instead, and format.c moves bits: three ways to one answer, and a test holds them equal.

   Numbers lie on the stack: nothing is allocated. */
#include "mpfr_round.h"

#include <float.h>
#include <limits.h>
#include <math.h>

#include <mpfr.h>

enum {
  BITS = 64,  /* of the widest number here: the sum of two neighbours in f64 has 54 */
  LIMBS = (BITS - 1) / (int)(sizeof(mp_limb_t) * CHAR_BIT) + 1
};

typedef struct number {
  mpfr_t value;
  mp_limb_t limb[LIMBS];
} number;

static mpfr_ptr make(number *n, int precision)
{
  mpfr_custom_init_set(n->value, MPFR_ZERO_KIND, 0, precision, n->limb);
  return n->value;
}

/* A finite x to f's places, as if f had no largest value.  Narrowing the range with a number
   outside it is undefined until mpfr_check_range has seen that number. */
static void to_places(mpfr_ptr r, const pf_format *f, double x, mpfr_rnd_t direction)
{
  int side = mpfr_set_d(r, x, direction);
  const mpfr_exp_t emin = mpfr_get_emin();
  mpfr_set_emin(pf_quantum(f) + 1);  /* MPFR's significands lie in [1/2, 1) */
  side = mpfr_check_range(r, side, direction);
  mpfr_subnormalize(r, side, direction);
  mpfr_set_emin(emin);
}

/* Of the two neighbours the nearer one, the outer one where x is halfway. */
static void to_places_away(mpfr_ptr r, const pf_format *f, double x)
{
  number inner, middle, given;
  mpfr_ptr in = make(&inner, f->precision), half = make(&middle, BITS);
  to_places(in, f, x, MPFR_RNDZ);
  to_places(r, f, x, MPFR_RNDA);
  mpfr_add(half, in, r, MPFR_RNDN);
  mpfr_div_2ui(half, half, 1, MPFR_RNDN);
  mpfr_ptr exact = make(&given, DBL_MANT_DIG);
  mpfr_set_d(exact, x, MPFR_RNDN);
  if (mpfr_cmpabs(exact, half) < 0)
    mpfr_set(r, in, MPFR_RNDN);
}

static double round_float(const pf_format *f, double x)
{
  number rounded;
  mpfr_ptr r = make(&rounded, f->precision);
  switch (f->rounding) {
  case PF_NEAREST_EVEN: to_places(r, f, x, MPFR_RNDN); break;
  case PF_NEAREST_AWAY: to_places_away(r, f, x); break;
  case PF_TOWARD_ZERO: to_places(r, f, x, MPFR_RNDZ); break;
  }
  return mpfr_get_d(r, MPFR_RNDN);  /* exact, or 2^1024, which is past all formats */
}

/* Whether a finite number or an infinity overflows is the caller's matter. */
static double overflowed(const pf_format *f, double x)
{
  switch (f->overflow) {
  case PF_OVERFLOW_NAN: return (double)NAN;
  case PF_OVERFLOW_SATURATE: return x < 0 ? pf_lowest(f) : f->max;
  case PF_OVERFLOW_INFINITY:
  case PF_OVERFLOW_WRAP: break;
  }
  return copysign((double)INFINITY, x);
}

/* The integer r modulo 2^bits. */
static double wrapped(const pf_format *f, mpfr_srcptr r)
{
  const double lowest = pf_lowest(f), modulus = f->max - lowest + 1;
  number rest, divisor;
  mpfr_ptr m = make(&divisor, DBL_MANT_DIG), left = make(&rest, DBL_MANT_DIG);
  mpfr_set_d(m, modulus, MPFR_RNDN);
  mpfr_fmod(left, r, m, MPFR_RNDN);
  const double v = mpfr_get_d(left, MPFR_RNDN);
  return v < lowest ? v + modulus : v > f->max ? v - modulus : v;
}

static double round_integer(const pf_format *f, double x)
{
  number given, rounded;
  mpfr_ptr exact = make(&given, DBL_MANT_DIG), r = make(&rounded, DBL_MANT_DIG);
  mpfr_set_d(exact, x, MPFR_RNDN);
  switch (f->rounding) {
  case PF_NEAREST_EVEN: mpfr_rint(r, exact, MPFR_RNDN); break;
  case PF_NEAREST_AWAY: mpfr_round(r, exact); break;
  case PF_TOWARD_ZERO: mpfr_trunc(r, exact); break;
  }
  if (mpfr_cmp_d(r, pf_lowest(f)) >= 0 && mpfr_cmp_d(r, f->max) <= 0)
    return mpfr_get_d(r, MPFR_RNDN);
  return f->overflow == PF_OVERFLOW_WRAP ? wrapped(f, r) : x < 0 ? pf_lowest(f) : f->max;
}

double pf_mpfr_round(const pf_format *f, double x)
{
  if (pf_is_integer(f)) {
    if (isfinite(x))
      return round_integer(f, x) + 0.0;  /* no negative zero */
    return isnan(x) ? 0 : x < 0 ? pf_lowest(f) : f->max;
  }
  if (isnan(x))
    return x;
  if (isinf(x))
    return f->has_infinity && f->overflow != PF_OVERFLOW_SATURATE ? x : overflowed(f, x);
  const double r = x == 0 ? x : round_float(f, x);
  if (fabs(r) > f->max)
    return f->rounding == PF_TOWARD_ZERO ? copysign(f->max, x) : overflowed(f, x);
  return r == 0 && !f->has_negative_zero ? 0 : r;
}

/* (-1)^sign * significand * 2^exponent, exactly. */
static double assemble(bool sign, uint64_t significand, int exponent)
{
  number n;
  mpfr_ptr r = make(&n, BITS);
  mpfr_set_ui(r, (unsigned long)(significand >> 32), MPFR_RNDN);
  mpfr_mul_2ui(r, r, 32, MPFR_RNDN);
  mpfr_add_ui(r, r, (unsigned long)(significand & 0xffffffff), MPFR_RNDN);
  mpfr_mul_2si(r, r, exponent, MPFR_RNDN);
  mpfr_setsign(r, r, sign, MPFR_RNDN);
  return mpfr_get_d(r, MPFR_RNDN);
}

double pf_mpfr_decode(pf_dtype t, uint64_t bits)
{
  const pf_dtype_info *d = pf_dtype_of(t);
  const pf_format *f = &d->format;
  const uint64_t top = (uint64_t)1 << (8 * d->bytes - 1);
  const bool sign = (bits & top) != 0;
  const uint64_t low = bits & (top - 1);
  if (f->range == PF_UNSIGNED)
    return assemble(false, bits & (2 * top - 1), 0);
  if (f->range == PF_TWOS_COMPLEMENT)
    return sign ? assemble(true, top - low, 0) : assemble(false, low, 0);

  const uint64_t hidden = (uint64_t)1 << (f->precision - 1);
  const uint64_t field = low / hidden, fraction = low % hidden;
  if (sign && low == 0 && !f->has_negative_zero)
    return (double)NAN;
  if (f->has_infinity && field == ((uint64_t)1 << d->exponent_bits) - 1)
    return fraction != 0 ? (double)NAN : sign ? -(double)INFINITY : (double)INFINITY;
  const double v = field == 0 ? assemble(sign, fraction, pf_quantum(f))
                              : assemble(sign, hidden + fraction, pf_quantum(f) + (int)field - 1);
  return fabs(v) > f->max ? (double)NAN : v;
}
