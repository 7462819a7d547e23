/* The MPFR oracle.

   Claim: v, and the one-sided sums it is the difference of, are held without any rounding; every
   answer is one rounding of an exact number.

   A sum of n numbers that are multiples of 2^low and smaller than 2^high is a multiple of 2^low
   smaller than 2^(high + ceil(log2 n)); so are all its partial sums.  So
   high + ceil(log2 n) - low bits hold each of them exactly (the fixed-point argument of Kulisch,
   "Computer Arithmetic and Validity", 2013).  low and high come from a scan of the operands:
   seldom more than 256 bits, against some 6,400 for the worst f64 operands.

   Directed roundings compose: rounding down to 54 bits and then to a double, whose values are a
   subset, gives what rounding down once gives.  That is why below, above and distance need no
   exact sum of v and e.

   Expects the default floating-point environment. */
#include "mpfr_oracle.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpfr.h>

/* Where the bits of some numbers lie: multiples of 2^low, smaller than 2^high.  EMPTY: all zero. */
typedef struct span {
  int low, high;
} span;

static const span EMPTY = {INT_MAX, INT_MIN};

enum {
  /* From the last bit of the smallest alpha * x * y to the first of 2^63 of the largest and two
     addends more: no case needs all of it. */
  MOST_BITS = 3 * 1074 + 3 * 1024 + 63 + 2,
  OVERFLOW_BITS = 54,  /* the double overflow threshold 2^1024 (1 - 2^-54) has so many */
  SCALE = 1100
};

static const double LARGEST_UNSCALED = 0x1p1000;

typedef struct mpfr_state {
  mpfr_t plus, minus;          /* sums of the positive and absolute negative products */
  mpfr_t positive, negative;   /* the same of all terms, alpha applied */
  mpfr_t exact;                /* v */
  mpfr_t wide;                 /* a number on its way into, or made of, the above */
  mpfr_t x, y;                 /* operands of one product */
  mpfr_t narrow;               /* an answer before it becomes a double */
  mpfr_t overflow;             /* least number that rounds to infinity in double */
} mpfr_state;

static bool span_empty(span s)
{
  return s.high < s.low;
}

static span span_of(double x)
{
  if (x == 0 || !isfinite(x)) return EMPTY;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const int biased = (int)(bits >> 52 & 0x7ff);
  uint64_t significand = bits & 0xfffffffffffff;
  if (biased) significand |= (uint64_t)1 << 52;
  const int unit = (biased ? biased : 1) - 1075;
  const span s = {unit + __builtin_ctzll(significand), unit + 64 - __builtin_clzll(significand)};
  return s;
}

static span span_times(span a, span b)
{
  if (span_empty(a) || span_empty(b)) return EMPTY;
  const span s = {a.low + b.low, a.high + b.high};
  return s;
}

static span span_join(span a, span b)
{
  const span s = {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
  return s;
}

/* Of a sum of up to 2^doublings numbers. */
static span span_sum(span terms, int doublings)
{
  if (span_empty(terms)) return EMPTY;
  const span s = {terms.low, terms.high + doublings};
  return s;
}

static mpfr_prec_t span_bits(span s)
{
  return span_empty(s) ? MPFR_PREC_MIN : s.high - s.low;
}

static int log2_up(int64_t n)
{
  return n <= 1 ? 0 : 64 - __builtin_clzll((unsigned long long)n - 1);
}

/* Of all terms; *doubles says whether every product is exactly a double. */
static span scan_products(const pf_sum *ask, bool *doubles)
{
  span all = EMPTY;
  int widest = 0;
  for (int64_t k = 0; k < ask->k; k++) {
    const span x = span_of(ask->x[k]), y = span_of(ask->y[k]);
    if (span_empty(x) || span_empty(y)) continue;
    const int width = x.high - x.low + y.high - y.low;
    if (width > widest) widest = width;
    all = span_join(all, span_times(x, y));
  }
  *doubles = widest <= 53 && (span_empty(all) || (all.low >= -1074 && all.high <= 1024));
  return all;
}

static void set_zero(mpfr_ptr x, mpfr_prec_t bits)
{
  mpfr_set_prec(x, bits);  /* never beyond MOST_BITS: nothing is allocated */
  mpfr_set_zero(x, 1);
}

/* Both sums of products; wide has their precision, which MPFR adds fastest. */
static void add_products(mpfr_state *s, const pf_sum *ask, bool doubles)
{
  for (int64_t k = 0; k < ask->k; k++) {
    const double x = ask->x[k], y = ask->y[k];
    if (!isfinite(x) || !isfinite(y) || x == 0 || y == 0) continue;
    if (doubles) {
      mpfr_set_d(s->wide, fabs(x * y), MPFR_RNDN);
    } else {
      mpfr_set_d(s->x, fabs(x), MPFR_RNDN);
      mpfr_set_d(s->y, fabs(y), MPFR_RNDN);
      mpfr_mul(s->wide, s->x, s->y, MPFR_RNDN);
    }
    mpfr_ptr to = !signbit(x) == !signbit(y) ? s->plus : s->minus;
    mpfr_add(to, to, s->wide, MPFR_RNDN);
  }
}

/* factor * value joins the side that its sign says. */
static void add_term(mpfr_state *s, double factor, double value)
{
  mpfr_set_d(s->x, factor, MPFR_RNDN);
  mpfr_set_d(s->y, value, MPFR_RNDN);
  mpfr_mul(s->wide, s->x, s->y, MPFR_RNDN);
  if (mpfr_sgn(s->wide) > 0) {
    mpfr_add(s->positive, s->positive, s->wide, MPFR_RNDN);
  } else {
    mpfr_sub(s->negative, s->negative, s->wide, MPFR_RNDN);
  }
}

static double scaled_up(mpfr_state *s, mpfr_srcptr x, int scale)
{
  mpfr_set_prec(s->wide, mpfr_get_prec(x));
  mpfr_mul_2si(s->wide, x, -scale, MPFR_RNDN);
  return mpfr_get_d(s->wide, MPFR_RNDU);
}

static void give_truth(mpfr_state *s, int scale, pf_truth *out)
{
  out->positive = scaled_up(s, s->positive, scale);
  out->negative = scaled_up(s, s->negative, scale);
  out->products = scaled_up(s, s->plus, scale);
  out->scale = scale;
}

/* MPFR keeps its exponent range in a global of the thread: whoever narrowed it, here it is wide. */
static void widen_exponents(void)
{
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
}

static void oracle_sum(void *state, const pf_sum *ask, pf_truth *out)
{
  mpfr_state *s = state;
  widen_exponents();
  bool doubles;
  const span products = span_sum(scan_products(ask, &doubles), log2_up(ask->k));
  set_zero(s->plus, span_bits(products));
  set_zero(s->minus, span_bits(products));
  set_zero(s->wide, span_bits(products));
  add_products(s, ask, doubles);

  const double c = ask->beta != 0 && isfinite(ask->c) ? ask->c : 0;
  const double bias = isfinite(ask->bias) ? ask->bias : 0;
  const span addends = span_join(span_times(span_of(ask->beta), span_of(c)), span_of(bias));
  const span all = span_sum(span_join(span_times(products, span_of(ask->alpha)), addends), 2);
  set_zero(s->positive, span_bits(all));
  set_zero(s->negative, span_bits(all));
  set_zero(s->exact, span_bits(all));
  set_zero(s->wide, span_bits(all));
  mpfr_set_d(s->x, fabs(ask->alpha), MPFR_RNDN);
  mpfr_mul(s->positive, ask->alpha > 0 ? s->plus : s->minus, s->x, MPFR_RNDN);
  mpfr_mul(s->negative, ask->alpha > 0 ? s->minus : s->plus, s->x, MPFR_RNDN);
  if (c != 0) add_term(s, ask->beta, c);
  if (bias != 0) add_term(s, 1, bias);
  mpfr_sub(s->exact, s->positive, s->negative, MPFR_RNDN);

  mpfr_add(s->plus, s->plus, s->minus, MPFR_RNDN);
  give_truth(s, 0, out);
  const double largest = fmax(fmax(out->positive, out->negative), out->products);
  if (largest > LARGEST_UNSCALED) give_truth(s, SCALE, out);
}

static double oracle_below(void *state, double e)
{
  mpfr_state *s = state;
  mpfr_sub_d(s->narrow, s->exact, e, MPFR_RNDD);
  if (mpfr_cmp(s->narrow, s->overflow) >= 0) return INFINITY;
  return mpfr_get_d(s->narrow, MPFR_RNDD) + 0.0;  /* an end has no signed zero */
}

static double oracle_above(void *state, double e)
{
  mpfr_state *s = state;
  mpfr_add_d(s->narrow, s->exact, e, MPFR_RNDU);
  if (mpfr_sgn(s->narrow) < 0 && mpfr_cmpabs(s->narrow, s->overflow) >= 0) return -INFINITY;
  return mpfr_get_d(s->narrow, MPFR_RNDU) + 0.0;
}

/* The same as pf_round; said again since x may be past all doubles, where pf_round would take it
   for an infinity that was there before rounding. */
static double past_the_end(const pf_format *f, double x)
{
  const double end = x < 0 ? pf_lowest(f) : f->max;
  if (f->rounding == PF_TOWARD_ZERO || pf_is_integer(f)) return end;
  switch (f->overflow) {
    case PF_OVERFLOW_SATURATE: return end;
    case PF_OVERFLOW_NAN: return NAN;
    case PF_OVERFLOW_INFINITY:
    case PF_OVERFLOW_WRAP: break;
  }
  return copysign(INFINITY, x);
}

/* The integer in s->wide modulo 2^bits, in f's range. */
static double wrap(mpfr_state *s, const pf_format *f)
{
  const double modulus = f->max - pf_lowest(f) + 1;
  mpfr_set_d(s->x, modulus, MPFR_RNDN);
  mpfr_fmod(s->narrow, s->wide, s->x, MPFR_RNDN);
  const double rest = mpfr_get_d(s->narrow, MPFR_RNDN);
  return rest < pf_lowest(f) ? rest + modulus : rest > f->max ? rest - modulus : rest;
}

/* v in units of f's last place there, to an integer, and back. */
static double oracle_nearest(void *state, const pf_format *f)
{
  mpfr_state *s = state;
  if (mpfr_zero_p(s->exact)) return 0;
  const long leading = mpfr_get_exp(s->exact) - f->precision;
  const long quantum = pf_quantum(f);
  const long unit = leading > quantum && !pf_is_integer(f) ? leading : quantum;
  mpfr_set_prec(s->wide, mpfr_get_prec(s->exact));
  mpfr_mul_2si(s->wide, s->exact, -unit, MPFR_RNDN);
  switch (f->rounding) {
    case PF_NEAREST_EVEN: mpfr_rint(s->wide, s->wide, MPFR_RNDN); break;
    case PF_NEAREST_AWAY: mpfr_round(s->wide, s->wide); break;
    case PF_TOWARD_ZERO: mpfr_trunc(s->wide, s->wide); break;
  }
  if (f->overflow == PF_OVERFLOW_WRAP) return wrap(s, f) + 0.0;
  mpfr_mul_2si(s->narrow, s->wide, unit, MPFR_RNDN);
  const double x = mpfr_get_d(s->narrow, MPFR_RNDN);  /* exact, or past all formats */
  if (x < pf_lowest(f) || x > f->max) return past_the_end(f, x);
  return x == 0 && !f->has_negative_zero ? 0 : x;
}

static double oracle_distance(void *state, double got)
{
  mpfr_state *s = state;
  mpfr_sub_d(s->narrow, s->exact, got, MPFR_RNDA);
  mpfr_abs(s->narrow, s->narrow, MPFR_RNDN);
  return mpfr_get_d(s->narrow, MPFR_RNDU);
}

/* v * factor + addend in one rounding. */
static double line(mpfr_state *s, mpfr_srcptr factor, double addend, mpfr_rnd_t rounding)
{
  mpfr_set_d(s->x, addend, MPFR_RNDN);
  mpfr_fma(s->narrow, s->exact, factor, s->x, rounding);
  return mpfr_get_d(s->narrow, rounding) + 0.0;
}

/* The ends are v (1 -+ rel) -+ abs, rel with the sign of v: 1 +- rel is less than 2 and a multiple
   of rel's last bit, so that it is exact in wide. */
static void oracle_within(void *state, double abs, double rel, double *lo, double *hi)
{
  mpfr_state *s = state;
  const span bits = span_of(rel);
  mpfr_set_prec(s->wide, span_empty(bits) ? MPFR_PREC_MIN : 1 - bits.low);
  mpfr_set_d(s->y, mpfr_sgn(s->exact) < 0 ? -rel : rel, MPFR_RNDN);
  mpfr_ui_sub(s->wide, 1, s->y, MPFR_RNDN);
  *lo = line(s, s->wide, -abs, MPFR_RNDU);
  mpfr_add_ui(s->wide, s->y, 1, MPFR_RNDN);
  *hi = line(s, s->wide, abs, MPFR_RNDD);
}

pf_status pf_mpfr_oracle_new(pf_oracle *out)
{
  mpfr_state *s = malloc(sizeof *s);
  if (!s) return PF_NO_MEMORY;
  widen_exponents();
  mpfr_inits2(MOST_BITS, s->plus, s->minus, s->positive, s->negative, s->exact, s->wide,
              (mpfr_ptr)NULL);
  mpfr_inits2(53, s->x, s->y, (mpfr_ptr)NULL);
  mpfr_inits2(OVERFLOW_BITS, s->narrow, s->overflow, (mpfr_ptr)NULL);
  mpfr_set_zero(s->exact, 1);
  mpfr_set_ui_2exp(s->overflow, 1, 1024, MPFR_RNDN);
  mpfr_nextbelow(s->overflow);
  const pf_oracle oracle = {"mpfr", s, oracle_sum, oracle_below, oracle_above, oracle_nearest,
                            oracle_distance, oracle_within};
  *out = oracle;
  return PF_OK;
}

void pf_mpfr_oracle_free(pf_oracle *o)
{
  mpfr_state *s = o->state;
  if (!s) return;
  mpfr_clears(s->plus, s->minus, s->positive, s->negative, s->exact, s->wide, s->x, s->y,
              s->narrow, s->overflow, (mpfr_ptr)NULL);
  free(s);
  mpfr_free_cache();
  o->state = NULL;
}
