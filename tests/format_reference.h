/* The rounding to a format by MPFR, and random doubles to try it on: shared by the tests of formats
   and of sums. */
#ifndef PF_TESTS_FORMAT_REFERENCE_H
#define PF_TESTS_FORMAT_REFERENCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <mpfr.h>

#include "format.h"

#define EXACT_BITS 4400 /* holds the sum and the product of any two doubles */
#define RANDOM_SEED UINT64_C(0x666f726d61742031)

static uint64_t random_state = RANDOM_SEED;

static inline uint64_t next_random(void) /* splitmix64, Steele, Lea, Flood, OOPSLA 2014 */
{
  uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static inline int random_between(int low, int high)
{
  return low + (int)(next_random() % (uint64_t)(high - low + 1));
}

static inline uint64_t bits_of(double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline bool same(double a, double b)
{
  return (isnan(a) && isnan(b)) || bits_of(a) == bits_of(b);
}

/* A double whose significand ends in long runs of zeros or ones as often as in noise. */
static inline double random_double(int low, int high)
{
  uint64_t m = next_random() >> 12;
  const uint64_t tail = (UINT64_C(1) << random_between(0, 52)) - 1;
  switch (next_random() & 3) {
  case 0: m &= ~tail; break;
  case 1: m |= tail; break;
  case 2: m = (m & ~tail) + (tail / 2 + 1) + (next_random() & 3) - 1; break;
  default: break;
  }
  const double x = ldexp(1 + ldexp((double)(m & ((UINT64_C(1) << 52) - 1)), -52),
                         random_between(low, high));
  return (next_random() & 1) != 0 ? -x : x;
}

static inline pf_format with(const pf_format *f, pf_rounding rounding, pf_overflow overflow)
{
  pf_format g = *f;
  g.rounding = rounding;
  g.overflow = overflow;
  return g;
}

/* MPFR's rounding of x to f's places in one direction, without a largest value.  Lowering emin
   while a number is outside the new range is undefined: first round in the wide range, then check,
   then let subnormalize correct the rounding by what the first one did. */
static inline void mpfr_places(mpfr_t r, const pf_format *f, const mpfr_t x, mpfr_rnd_t direction)
{
  mpfr_set_prec(r, f->precision);
  int ternary = mpfr_set(r, x, direction);
  const mpfr_exp_t emin = mpfr_get_emin();
  mpfr_set_emin(pf_quantum(f) + 1); /* MPFR's significands lie in [1/2, 1) */
  ternary = mpfr_check_range(r, ternary, direction);
  mpfr_subnormalize(r, ternary, direction);
  mpfr_set_emin(emin);
}

/* Ties away: of the two directed roundings the nearer one, by an exact comparison. */
static inline void mpfr_ties_away(mpfr_t r, const pf_format *f, const mpfr_t x)
{
  mpfr_t in, to_in, to_out;
  mpfr_inits2(EXACT_BITS, in, to_in, to_out, (mpfr_ptr)NULL);
  mpfr_places(in, f, x, MPFR_RNDZ);
  mpfr_places(r, f, x, MPFR_RNDA);
  mpfr_sub(to_in, x, in, MPFR_RNDN);
  mpfr_sub(to_out, x, r, MPFR_RNDN);
  if (mpfr_cmpabs(to_in, to_out) < 0) {
    mpfr_set(r, in, MPFR_RNDN);
  }
  mpfr_clears(in, to_in, to_out, (mpfr_ptr)NULL);
}

static inline double round_places(const pf_format *f, const mpfr_t x)
{
  mpfr_t r;
  mpfr_init2(r, f->precision);
  if (f->rounding == PF_NEAREST_AWAY && mpfr_number_p(x)) {
    mpfr_ties_away(r, f, x);
  } else {
    mpfr_places(r, f, x, f->rounding == PF_TOWARD_ZERO ? MPFR_RNDZ : MPFR_RNDN);
  }
  const double result = mpfr_get_d(r, MPFR_RNDN); /* exact, or 2^1024 */
  mpfr_clear(r);
  return result;
}

/* An integer modulo 2^bits, from the binary digits of its two's complement. */
static inline double reference_wrap(const pf_format *f, const mpfr_t integer)
{
  const bool negatives = f->range == PF_TWOS_COMPLEMENT;
  const int bits = f->emin + (negatives ? 1 : 0);
  mpz_t z;
  mpz_init(z);
  mpfr_get_z(z, integer, MPFR_RNDN);
  mpz_fdiv_r_2exp(z, z, (mp_bitcnt_t)bits);
  double r = mpz_get_d(z);
  if (negatives && mpz_tstbit(z, (mp_bitcnt_t)bits - 1)) {
    r -= ldexp(1, bits);
  }
  mpz_clear(z);
  return r;
}

static inline double reference_integer(const pf_format *f, const mpfr_t x)
{
  const double lowest = f->range == PF_UNSIGNED ? 0 : -ldexp(1, f->emin);
  if (!mpfr_number_p(x)) {
    return mpfr_nan_p(x) ? 0 : mpfr_sgn(x) < 0 ? lowest : f->max;
  }
  mpfr_t r;
  mpfr_init2(r, mpfr_get_prec(x));
  if (f->rounding == PF_TOWARD_ZERO) {
    mpfr_trunc(r, x);
  } else if (f->rounding == PF_NEAREST_AWAY) {
    mpfr_round(r, x);
  } else {
    mpfr_rint(r, x, MPFR_RNDN);
  }
  double v = mpfr_get_d(r, MPFR_RNDN) + 0.0;
  if (mpfr_cmp_d(r, lowest) < 0 || mpfr_cmp_d(r, f->max) > 0) {
    v = f->overflow == PF_OVERFLOW_WRAP ? reference_wrap(f, r) : v < 0 ? lowest : f->max;
  }
  mpfr_clear(r);
  return v;
}

static inline double reference_round(const pf_format *f, const mpfr_t x)
{
  if (f->range != PF_SYMMETRIC) {
    return reference_integer(f, x);
  }
  if (mpfr_nan_p(x)) {
    return (double)NAN;
  }
  if (mpfr_zero_p(x) && mpfr_signbit(x)) {
    return f->has_negative_zero ? -0.0 : 0.0;
  }
  const double r = round_places(f, x);
  const bool keeps_infinity = f->has_infinity && f->overflow != PF_OVERFLOW_SATURATE;
  if (mpfr_inf_p(x) ? !keeps_infinity : fabs(r) > f->max) {
    const bool truncated = f->rounding == PF_TOWARD_ZERO && mpfr_number_p(x);
    if (truncated || f->overflow == PF_OVERFLOW_SATURATE) {
      return copysign(f->max, r);
    }
    return f->overflow == PF_OVERFLOW_NAN ? (double)NAN : copysign((double)INFINITY, r);
  }
  return r == 0 && !f->has_negative_zero ? 0.0 : r;
}

#endif
