/* Faults for fuzz_cast to find, as engines have them for fuzz_matmul.  Included by fuzz_cast.c
   alone: they are in no other program, and there only where PRECFUZZ_CAST_FAULT names one. */
#ifndef PF_CAST_FAULTS_H
#define PF_CAST_FAULTS_H

#include <math.h>

#include "cast.h"

/* One of three: a route that is wrong, a load that is, or a claim about chains. */
typedef struct cast_fault {
  const char *name, *says;
  double (*convert)(const pf_cast_step *s, double x, double due);
  double (*load)(pf_dtype t, uint64_t bits);
  pf_cast_claim claim;
} cast_fault;

/* --- wrong roundings ----------------------------------------------------------------------- */

/* By way of a format that holds all values of the target, as if that were enough. */
static double by_way_of(const pf_cast_step *s, const pf_format *via, double x, double due)
{
  return pf_format_contains(via, &s->to) ? pf_round(&s->to, pf_round(via, x)) : due;
}

/* As machines do that have no conversion from f64 to f16. */
static double via_f32(const pf_cast_step *s, double x, double due)
{
  return pf_format_equal(&s->from, pf_format_of(PF_F64)) &&
                 pf_format_equal(&s->to, pf_format_of(PF_F16))
             ? pf_round(&s->to, (double)(float)x) : due;
}

static double via_tf32(const pf_cast_step *s, double x, double due)
{
  return by_way_of(s, &pf_tf32, x, due);
}

static double via_f16(const pf_cast_step *s, double x, double due)
{
  return by_way_of(s, pf_format_of(PF_F16), x, due);
}

static double via_bf16(const pf_cast_step *s, double x, double due)
{
  return by_way_of(s, pf_format_of(PF_BF16), x, due);
}

static double rounded_as(const pf_cast_step *s, pf_rounding r, double x, double due)
{
  pf_format f = s->to;
  if (f.rounding != PF_NEAREST_EVEN)
    return due;
  f.rounding = r;
  return pf_round(&f, x);
}

static double truncates(const pf_cast_step *s, double x, double due)
{
  return rounded_as(s, PF_TOWARD_ZERO, x, due);
}

static double ties_away(const pf_cast_step *s, double x, double due)
{
  return rounded_as(s, PF_NEAREST_AWAY, x, due);
}

/* Looks at two bits below the last place and at none behind them. */
static double no_sticky(const pf_cast_step *s, double x, double due)
{
  pf_format f = s->to;
  if (f.precision > 51 || pf_is_integer(&f) || !isfinite(x))
    return due;
  f.precision += 2;
  f.max *= 4;
  f.rounding = PF_TOWARD_ZERO;
  return pf_round(&s->to, pf_round(&f, x));
}

/* Rounds subnormals as if they were normal, and again to their places. */
static double subnormals_twice(const pf_cast_step *s, double x, double due)
{
  pf_format f = s->to;
  if (f.emin < -600 || pf_is_integer(&f) || !isfinite(x))
    return due;
  f.emin -= 400;
  return fabs(x) < pf_smallest_normal(&s->to) ? pf_round(&s->to, pf_round(&f, x)) : due;
}

static double no_carry(const pf_cast_step *s, double x, double due)
{
  int e;
  (void)s;
  return isfinite(due) && fabs(frexp(due, &e)) == 0.5 && fabs(x) < fabs(due) ? due / 2 : due;
}

static double below_normal(const pf_cast_step *s, double x, double due)
{
  const double least = pf_smallest_normal(&s->to);
  return fabs(due) == least && fabs(x) < least && !pf_is_integer(&s->to)
             ? copysign(least - ldexp(1, pf_quantum(&s->to)), x) : due;
}

/* --- subnormals, overflow and specials ------------------------------------------------------ */

static double flushes_result(const pf_cast_step *s, double x, double due)
{
  return fabs(due) < pf_smallest_normal(&s->to) ? copysign(0, x) : due;
}

static double flushes_operand(const pf_cast_step *s, double x, double due)
{
  return fabs(x) < pf_smallest_normal(&s->from) ? copysign(0, due) : due;
}

static double saturates(const pf_cast_step *s, double x, double due)
{
  return isfinite(x) && !isfinite(due) ? copysign(s->to.max, x) : due;
}

static double infinity_saturates(const pf_cast_step *s, double x, double due)
{
  return isinf(x) && isinf(due) ? copysign(s->to.max, x) : due;
}

static double past_the_end(const pf_cast_step *s, double x, double due)
{
  switch (s->to.overflow) {
  case PF_OVERFLOW_INFINITY: return copysign(INFINITY, x);
  case PF_OVERFLOW_NAN: return NAN;
  default: return due;
  }
}

/* Judges overflow before it rounds: 449 is no e4m3fn. */
static double overflows_early(const pf_cast_step *s, double x, double due)
{
  return isfinite(x) && fabs(x) > s->to.max ? past_the_end(s, x, due) : due;
}

/* Halfway from the largest value to what would come next. */
static bool is_last_tie(const pf_cast_step *s, double x)
{
  return isfinite(x) && s->to.rounding == PF_NEAREST_EVEN &&
         fabs(x) == s->to.max + pf_ulp(&s->to, s->to.max) / 2;
}

static double overflows_late(const pf_cast_step *s, double x, double due)
{
  return is_last_tie(s, x) && !isfinite(due) ? copysign(s->to.max, x) : due;
}

static double even_end_overflows(const pf_cast_step *s, double x, double due)
{
  return is_last_tie(s, x) ? past_the_end(s, x, due) : due;
}

static double nan_to_infinity(const pf_cast_step *s, double x, double due)
{
  (void)s;
  (void)x;
  return isnan(due) ? INFINITY : due;
}

static double loses_zero_sign(const pf_cast_step *s, double x, double due)
{
  (void)s;
  (void)x;
  return due == 0 ? 0 : due;
}

static double keeps_negative_zero(const pf_cast_step *s, double x, double due)
{
  (void)s;
  return due == 0 && signbit(x) ? -0.0 : due;
}

static double integers_as(const pf_cast_step *s, pf_overflow from, pf_overflow to, double x,
                          double due)
{
  pf_format f = s->to;
  if (!pf_is_integer(&f) || f.overflow != from)
    return due;
  f.overflow = to;
  return pf_round(&f, x);
}

static double wraps(const pf_cast_step *s, double x, double due)
{
  return integers_as(s, PF_OVERFLOW_SATURATE, PF_OVERFLOW_WRAP, x, due);
}

static double stops_wrapping(const pf_cast_step *s, double x, double due)
{
  return integers_as(s, PF_OVERFLOW_WRAP, PF_OVERFLOW_SATURATE, x, due);
}

static double truncates_to_integers(const pf_cast_step *s, double x, double due)
{
  return pf_is_integer(&s->to) ? truncates(s, x, due) : due;
}

/* Takes a format for wider because its significand is. */
static double left_out(const pf_cast_step *s, double x, double due)
{
  return s->from.precision <= s->to.precision ? x : due;
}

/* --- wrong loads ---------------------------------------------------------------------------- */

static double load_flushed(pf_dtype t, uint64_t bits)
{
  const double v = pf_mpfr_decode(t, bits);
  return t == PF_F32 && fabs(v) < pf_smallest_normal(pf_format_of(t)) ? copysign(0, v) : v;
}

/* e4m3fn's NaN has the bits of 480. */
static double load_480(pf_dtype t, uint64_t bits)
{
  return t == PF_F8_E4M3FN && (bits & 0x7f) == 0x7f ? 480 : pf_mpfr_decode(t, bits);
}

static double load_128(pf_dtype t, uint64_t bits)
{
  const double v = pf_mpfr_decode(t, bits);
  return t == PF_S8 && v == -128 ? 128 : v;
}

/* --- wrong claims ----------------------------------------------------------------------------- */

static bool claims_twice_and_two(const pf_format *from, const pf_format *via, const pf_format *to)
{
  return pf_cast_innocuous(from, via, to) ||
         (pf_format_contains(via, to) && via->precision >= 2 * to->precision + 2);
}

static bool claims_by_precision(const pf_format *from, const pf_format *via, const pf_format *to)
{
  return pf_cast_innocuous(from, via, to) || via->precision >= from->precision;
}

static const cast_fault cast_faults[] = {
  {"via-f32", "takes f64 to f16 by way of f32", via_f32, NULL, NULL},
  {"via-tf32", "rounds to tf32 on the way", via_tf32, NULL, NULL},
  {"via-f16", "rounds to f16 on the way", via_f16, NULL, NULL},
  {"via-bf16", "rounds to bf16 on the way", via_bf16, NULL, NULL},
  {"truncates", "rounds toward zero", truncates, NULL, NULL},
  {"ties-away", "rounds ties away from zero", ties_away, NULL, NULL},
  {"no-sticky", "sees only two bits below the last place", no_sticky, NULL, NULL},
  {"subnormals-twice", "rounds subnormals to full precision first", subnormals_twice, NULL, NULL},
  {"no-carry", "loses the carry into the next power of two", no_carry, NULL, NULL},
  {"below-normal", "never rounds a subnormal up to a normal number", below_normal, NULL, NULL},
  {"flushes-result", "gives zero for subnormals", flushes_result, NULL, NULL},
  {"flushes-operand", "reads subnormals as zero", flushes_operand, NULL, NULL},
  {"saturates", "gives the largest value where a finite one overflows", saturates, NULL, NULL},
  {"infinity-saturates", "gives the largest value for infinity", infinity_saturates, NULL, NULL},
  {"overflows-early", "judges overflow before it rounds", overflows_early, NULL, NULL},
  {"overflows-late", "keeps the tie at the end of the range", overflows_late, NULL, NULL},
  {"even-end-overflows", "takes the tie at an even end (464 in e4m3fn) past it",
   even_end_overflows, NULL, NULL},
  {"nan-to-infinity", "gives infinity for NaN", nan_to_infinity, NULL, NULL},
  {"loses-zero-sign", "gives +0 for -0", loses_zero_sign, NULL, NULL},
  {"keeps-negative-zero", "gives -0 where the format has none", keeps_negative_zero, NULL, NULL},
  {"wraps", "wraps integers that should saturate", wraps, NULL, NULL},
  {"stops-wrapping", "saturates integers that should wrap", stops_wrapping, NULL, NULL},
  {"truncates-to-integers", "rounds toward zero in integers", truncates_to_integers, NULL, NULL},
  {"left-out", "leaves out what only changes the range", left_out, NULL, NULL},
  {"load-flushed", "loads f32's subnormals as zero", NULL, load_flushed, NULL},
  {"load-480", "loads e4m3fn's NaN as 480", NULL, load_480, NULL},
  {"load-128", "loads -128 of s8 as 128", NULL, load_128, NULL},
  {"claims-2p+2", "takes 2p + 2 bits on the way to p for harmless", NULL, NULL,
   claims_twice_and_two},
  {"claims-precision", "takes as many bits as the source's for harmless", NULL, NULL,
   claims_by_precision},
};

#endif
