/* Rounding to any format, by integer work on the bits of the double.

   Claim: pf_round is the correctly rounded value for each of the three roundings, and depends on
   neither the rounding mode nor flush-to-zero.  A double is significand * 2^last with an integer
   significand below 2^53, and its magnitude is monotone in its bits.  Where the format's last place
   is 2^(last + shift), adding just under half a place (half a place, nothing) to the bits and
   clearing the low `shift` of them rounds.  The carry into the exponent field is the right one: the
   end of a binade is the start of the next.  Overflow is judged on that result, as IEEE 754-2019,
   7.4 asks: rounded as if the exponent had no upper end.

   Sums are rounded once by way of round-to-odd: with two more bits than the target the odd last bit
   tells "exactly at a midpoint" from "just beside it", so the second rounding sees all it needs
   (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, IEEE Trans. Computers 57(4),
   2008).  The exact error of a double sum comes from TwoSum (Knuth, TAOCP 2, 4.2.2, Theorem B).

   Integers round to their grid of 1 in the same way.  The short way, for magnitudes from 2^emin to
   max, has none of them.  Wrapping takes a residue, and that of a sum is the residue of the sum of
   residues: so the two doubles that make up an exact product may wrap one by one. */
#include "format.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define FRACTION_BITS 52
#define HIDDEN_BIT (UINT64_C(1) << FRACTION_BITS)
#define SIGN_BIT (UINT64_C(1) << 63)
#define INFINITY_BITS (UINT64_C(0x7ff) << FRACTION_BITS)

const pf_format pf_tf32 = {.precision = 11,
                           .emin = -126,
                           .max = 0x1.ffcp127,
                           .has_infinity = true,
                           .has_negative_zero = true};

bool pf_is_integer(const pf_format *f)
{
  return f->range != PF_SYMMETRIC;
}

double pf_lowest(const pf_format *f)
{
  switch (f->range) {
  case PF_UNSIGNED: return 0;
  case PF_TWOS_COMPLEMENT: return -f->max - 1;
  case PF_SYMMETRIC: break;
  }
  return -f->max;
}

pf_format pf_conversion(const pf_format *to, const pf_format *from)
{
  pf_format f = *to;
  if (f.overflow == PF_OVERFLOW_WRAP && !pf_is_integer(from)) {
    f.overflow = PF_OVERFLOW_SATURATE;
  }
  return f;
}

static uint64_t double_to_bits(double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static double bits_to_double(uint64_t bits)
{
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* 2^e for e in [-1074, 1023]. */
static uint64_t power_bits(int e)
{
  return e >= -1022 ? (uint64_t)(e + 1023) << FRACTION_BITS : UINT64_C(1) << (e + 1074);
}

/* Exponent of the last place of f at a magnitude; zero counts as smaller than anything. */
static int last_place(const pf_format *f, uint64_t magnitude)
{
  if (pf_is_integer(f)) {
    return 0;
  }
  const int field = (int)(magnitude >> FRACTION_BITS);
  const int e = field != 0 ? field - 1023 : 63 - __builtin_clzll(magnitude | 1) - 1074;
  return (e > f->emin ? e : f->emin) - (f->precision - 1);
}

/* Rounds a finite magnitude to f's places, as if f had no largest value. */
static uint64_t round_magnitude(const pf_format *f, pf_rounding rounding, uint64_t magnitude)
{
  const int field = (int)(magnitude >> FRACTION_BITS);
  const uint64_t fraction = magnitude & (HIDDEN_BIT - 1);
  const uint64_t significand = field != 0 ? fraction | HIDDEN_BIT : fraction;
  const int place = last_place(f, magnitude);
  const int shift = place - (field != 0 ? field - 1075 : -1074);
  if (shift <= 0) {
    return magnitude;
  }
  if (shift > FRACTION_BITS) {
    /* Below one place: half a place is the power of two whose significand is the hidden bit. */
    const bool half_or_more = shift == FRACTION_BITS + 1 && significand >= HIDDEN_BIT;
    const bool up = half_or_more && (rounding == PF_NEAREST_AWAY ||
                                     (rounding == PF_NEAREST_EVEN && fraction != 0));
    return up ? power_bits(place) : 0;
  }
  const uint64_t half = UINT64_C(1) << (shift - 1);
  uint64_t addend = 0;
  if (rounding == PF_NEAREST_EVEN) {
    addend = half - 1 + (significand >> shift & 1);
  } else if (rounding == PF_NEAREST_AWAY) {
    addend = half;
  }
  return (magnitude + addend) & ~(2 * half - 1);
}

/* The end of f's range on the side of a sign. */
static double end_of_range(const pf_format *f, uint64_t sign)
{
  return sign != 0 ? pf_lowest(f) : f->max;
}

static double apply_overflow(const pf_format *f, uint64_t sign)
{
  switch (f->overflow) {
  case PF_OVERFLOW_SATURATE: return end_of_range(f, sign);
  case PF_OVERFLOW_NAN: return (double)NAN;
  case PF_OVERFLOW_INFINITY:
  case PF_OVERFLOW_WRAP: break;
  }
  return bits_to_double(INFINITY_BITS | sign);
}

/* The integer of f that is v modulo 2^bits.  fmod is exact, and so are sums below 2^53. */
static double wrap(const pf_format *f, double v)
{
  const double lowest = pf_lowest(f), modulus = f->max - lowest + 1;
  const double rest = fmod(v, modulus);
  return rest < lowest ? rest + modulus : rest > f->max ? rest - modulus : rest == 0 ? 0 : rest;
}

static double round_integer(const pf_format *f, uint64_t magnitude, uint64_t sign)
{
  if (magnitude >= INFINITY_BITS) {
    return magnitude > INFINITY_BITS ? 0 : end_of_range(f, sign);
  }
  const uint64_t rounded = round_magnitude(f, f->rounding, magnitude);
  const double v = rounded == 0 ? 0 : bits_to_double(rounded | sign);
  if (v >= pf_lowest(f) && v <= f->max) {
    return v;
  }
  return f->overflow == PF_OVERFLOW_WRAP ? wrap(f, v) : end_of_range(f, sign);
}

/* All that is no normal number of f rounded to nearest even. */
static double round_uncommon(const pf_format *f, uint64_t magnitude, uint64_t sign)
{
  if (pf_is_integer(f)) {
    return round_integer(f, magnitude, sign);
  }
  if (magnitude >= INFINITY_BITS) {
    const bool stays = f->has_infinity && f->overflow != PF_OVERFLOW_SATURATE;
    return magnitude > INFINITY_BITS || stays ? bits_to_double(magnitude | sign)
                                              : apply_overflow(f, sign);
  }
  const uint64_t rounded = round_magnitude(f, f->rounding, magnitude);
  if (rounded > double_to_bits(f->max)) {
    return f->rounding == PF_TOWARD_ZERO ? end_of_range(f, sign) : apply_overflow(f, sign);
  }
  return bits_to_double(rounded == 0 && !f->has_negative_zero ? 0 : rounded | sign);
}

/* The smallest magnitude that is a normal number both of f and of double. */
static uint64_t normal_bits(const pf_format *f)
{
  return power_bits(f->emin > DBL_MIN_EXP - 1 ? f->emin : DBL_MIN_EXP - 1);
}

/* Half a place of f in the bits of such a number; a precision of 53 has none. */
static uint64_t half_place(const pf_format *f)
{
  return UINT64_C(1) << (DBL_MANT_DIG - 1 - f->precision);
}

double pf_round(const pf_format *f, double x)
{
  const uint64_t bits = double_to_bits(x);
  const uint64_t sign = bits & SIGN_BIT;
  const uint64_t magnitude = bits & ~SIGN_BIT;
  if (magnitude == 0) {
    return f->has_negative_zero ? x : 0;
  }
  if (magnitude >= normal_bits(f) && f->precision == DBL_MANT_DIG) {
    if (magnitude <= double_to_bits(f->max)) {
      return x;
    }
  } else if (magnitude >= normal_bits(f) && f->rounding == PF_NEAREST_EVEN) {
    const uint64_t half = half_place(f);
    const uint64_t odd = (magnitude & 2 * half) != 0;
    const uint64_t rounded = (magnitude + half - 1 + odd) & ~(2 * half - 1);
    if (rounded <= double_to_bits(f->max)) {
      return bits_to_double(rounded | sign);
    }
  }
  return round_uncommon(f, magnitude, sign);
}

/* The error of s = a + b.  Subtracting one operand from s overflows only where the other one is
   +-DBL_MAX (Boldo, Graillat, Muller, ACM TOMS 44(1), 2017), so that one is subtracted itself. */
static double sum_error(double a, double b, double s)
{
  const double first = fabs(b) == DBL_MAX ? b : a;
  const double second = fabs(b) == DBL_MAX ? a : b;
  const double second_part = s - first;
  const double first_part = s - second_part;
  return (first - first_part) + (second - second_part);
}

double pf_sum_to_odd(double a, double b)
{
  const double s = a + b;
  if (!isfinite(s)) {
    /* A finite sum above DBL_MAX: toward zero that is DBL_MAX, and its last bit is set. */
    return isfinite(a) && isfinite(b) ? copysign(DBL_MAX, s) : s;
  }
  const double error = sum_error(a, b, s);
  const uint64_t bits = double_to_bits(s);
  if (error == 0 || (bits & 1) != 0) {
    return s;
  }
  /* s is even and the exact sum lies between it and one neighbour, which is odd.  An inexact sum is
     no zero and no power of two at the lower end of the range, so that bits - 1 stays in range. */
  return bits_to_double((error > 0) == (s > 0) ? bits + 1 : bits - 1);
}

/* Whether rounding s = RN(exact) gives what rounding the exact value gives.  Midpoints of f are
   doubles, and RN is monotone: s and the exact value lie on the same side of each midpoint unless s
   is one.  Toward zero the values of f take the midpoints' part. */
static bool is_decided(const pf_format *f, double s)
{
  const uint64_t magnitude = double_to_bits(s) & ~SIGN_BIT;
  const uint64_t half = half_place(f);
  const uint64_t border = f->rounding == PF_TOWARD_ZERO ? 0 : half;
  return magnitude >= normal_bits(f) && magnitude < INFINITY_BITS &&
         (magnitude & (2 * half - 1)) != border && !pf_is_integer(f);
}

double pf_round_sum(const pf_format *f, double a, double b)
{
  const double s = a + b;
  if (f->precision == DBL_MANT_DIG) {
    return s;
  }
  return pf_round(f, is_decided(f, s) ? s : pf_sum_to_odd(a, b));
}

double pf_round_product(const pf_format *f, double a, double b)
{
  const double p = a * b;
  if (f->overflow == PF_OVERFLOW_WRAP) {
    /* From 2^53 on p itself may be rounded; its error is an integer, and exact. */
    return pf_round(f, pf_round(f, p) + (fabs(p) >= 0x1p53 ? pf_round(f, fma(a, b, -p)) : 0));
  }
  return f->precision == DBL_MANT_DIG ? p : pf_round(f, p);
}

double pf_round_fma(const pf_format *f, double a, double b, double c)
{
  if (f->overflow == PF_OVERFLOW_WRAP) {
    return pf_round_sum(f, fabs(a * b) >= 0x1p52 ? pf_round_product(f, a, b) : a * b, c);
  }
  /* A product of integers that is no double has saturated: c is no match for it. */
  return f->precision == DBL_MANT_DIG ? fma(a, b, c) : pf_round_sum(f, a * b, c);
}

double pf_unit_roundoff(const pf_format *f)
{
  return bits_to_double(power_bits(f->rounding == PF_TOWARD_ZERO ? 1 - f->precision
                                                                 : -f->precision));
}

double pf_smallest_normal(const pf_format *f)
{
  return pf_is_integer(f) ? 1 : bits_to_double(power_bits(f->emin));
}

int pf_quantum(const pf_format *f)
{
  return f->emin - (f->precision - 1);
}

double pf_ulp(const pf_format *f, double x)
{
  return bits_to_double(power_bits(last_place(f, double_to_bits(x) & ~SIGN_BIT)));
}

/* The least value of f beyond a magnitude, away from zero; infinity beyond `end`. */
static double step_out(const pf_format *f, double magnitude, double end)
{
  if (magnitude >= end) {
    return (double)INFINITY;
  }
  const uint64_t inner = round_magnitude(f, PF_TOWARD_ZERO, double_to_bits(magnitude));
  return bits_to_double(inner) + bits_to_double(power_bits(last_place(f, inner)));
}

/* The largest value of f below a magnitude above zero; at most `end`. */
static double step_in(const pf_format *f, double magnitude, double end)
{
  if (magnitude > end) {
    return end;
  }
  return bits_to_double(round_magnitude(f, PF_TOWARD_ZERO, double_to_bits(magnitude) - 1));
}

double pf_next_up(const pf_format *f, double x)
{
  if (!(x < 0)) {
    return isnan(x) ? x : step_out(f, fabs(x), f->max);
  }
  const double inner = step_in(f, -x, -pf_lowest(f));
  return inner == 0 && !f->has_negative_zero ? 0.0 : -inner;
}

double pf_next_down(const pf_format *f, double x)
{
  return x > 0 ? step_in(f, x, f->max) : isnan(x) ? x : -step_out(f, fabs(x), -pf_lowest(f));
}

bool pf_format_equal(const pf_format *a, const pf_format *b)
{
  return a->precision == b->precision && a->emin == b->emin && a->max == b->max &&
         a->has_infinity == b->has_infinity && a->has_negative_zero == b->has_negative_zero &&
         a->rounding == b->rounding && a->overflow == b->overflow && a->range == b->range;
}

/* Each value of inner is m * 2^k with |m| < 2^precision and k >= quantum, and some value needs each
   of these limits in full, so that comparing them is necessary and sufficient.  Integers need a bit
   less than their format says: max is below 2^emin, and -2^emin, the lowest one, is a power of
   two. */
bool pf_format_contains(const pf_format *outer, const pf_format *inner)
{
  const int needed = inner->precision - (pf_is_integer(inner) ? 1 : 0);
  return needed <= outer->precision && pf_quantum(inner) >= pf_quantum(outer) &&
         inner->max <= outer->max && pf_lowest(inner) >= pf_lowest(outer) &&
         (outer->has_infinity || !inner->has_infinity) &&
         (outer->has_negative_zero || !inner->has_negative_zero) &&
         (pf_is_integer(inner) || !pf_is_integer(outer));
}

bool pf_conversion_exact(const pf_format *to, const pf_format *from)
{
  return pf_format_contains(to, from) &&
         !(from->has_infinity && to->overflow == PF_OVERFLOW_SATURATE);
}
