/* The oracle against a second one that shares nothing with it: an integer of 6,656 bits in
   limbs, alpha applied to each term rather than to the sum, and no MPFR.

   What the checks catch was tried by planting it: a precision one bit short, a one-sided sum
   rounded down or to nearest, alpha's bits forgotten, c or bias on the wrong side, a term with an
   infinite factor kept, an end rounded to nearest, two roundings in nearest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "exact_integer.h"
#include "mpfr_oracle.h"

enum { CASES = 250000, MOST_TERMS = 300 };

static uint64_t random_state;

static uint64_t random_bits(void)
{
  uint64_t z = random_state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

static int random_below(int n)
{
  return (int)(random_bits() % (uint64_t)n);
}

/* ---- what the oracle should say ---- */

typedef struct model {
  big positive, negative, products;
} model;

static void model_add(model *m, double a, double x, double y)
{
  if (!isfinite(x) || !isfinite(y)) return;
  const bool minus = (a < 0) ^ (x < 0) ^ (y < 0);
  big_add(minus ? &m->negative : &m->positive, a, x, y);
}

static void model_sum(model *m, const pf_sum *ask)
{
  memset(m, 0, sizeof *m);
  for (int64_t k = 0; k < ask->k; k++) {
    model_add(m, ask->alpha, ask->x[k], ask->y[k]);
    if (isfinite(ask->x[k]) && isfinite(ask->y[k]))
      big_add(&m->products, 1, ask->x[k], ask->y[k]);
  }
  if (ask->beta != 0) model_add(m, 1, ask->beta, ask->c);
  model_add(m, 1, 1, ask->bias);
}

/* positive - negative - e, rounded down. */
static double model_below(const big *positive, const big *negative, double e)
{
  if (isinf(e)) return -INFINITY;
  big less = *negative, difference;
  big_add(&less, 1, 1, e);
  const int sign = big_subtract(positive, &less, &difference);
  if (sign < 0) return -big_double(&difference, 0, UP);
  if (isinf(big_double(&difference, 0, EVEN))) return INFINITY;
  return big_double(&difference, 0, DOWN);
}

static double model_distance(const model *m, double got)
{
  big positive = m->positive, negative = m->negative, difference;
  big_add(got < 0 ? &positive : &negative, 1, 1, got);
  big_subtract(&positive, &negative, &difference);
  return big_double(&difference, 0, UP);
}

/* (-1)^negative * v to an integer, modulo 2^bits or held at the ends. */
static double model_integer(const big *v, bool negative, const pf_format *f)
{
  const int point = -BASE, bits = f->emin + (f->range == PF_TWOS_COMPLEMENT);
  const bool half = big_bit(v, point - 1), below = big_any_below(v, point - 1);
  uint64_t whole = 0;
  for (int i = 62; i >= 0; i--) whole = whole << 1 | big_bit(v, point + i);
  if (f->rounding == PF_NEAREST_EVEN) whole += half && (below || whole & 1);
  if (f->rounding == PF_NEAREST_AWAY) whole += half;
  const double lowest = f->range == PF_UNSIGNED ? 0 : -f->max - 1;
  if (f->overflow != PF_OVERFLOW_WRAP && (big_length(v) > point + 62 || (double)whole > f->max))
    return negative ? lowest : f->max;
  if (f->overflow != PF_OVERFLOW_WRAP && negative) return fmax(-(double)whole, lowest) + 0.0;
  const uint64_t residue = (negative ? 0 - whole : whole) & ((UINT64_C(1) << bits) - 1);
  return (double)residue > f->max ? (double)residue - ldexp(1, bits) : (double)residue;
}

static double model_nearest(const model *m, const pf_format *f)
{
  static const direction directions[] = {
    [PF_NEAREST_EVEN] = EVEN, [PF_NEAREST_AWAY] = AWAY, [PF_TOWARD_ZERO] = DOWN};
  big v;
  const int sign = big_subtract(&m->positive, &m->negative, &v);
  if (f->range != PF_SYMMETRIC) return model_integer(&v, sign < 0, f);
  double x = big_round(&v, 0, f->precision, f->emin - f->precision + 1, directions[f->rounding]);
  const bool saturates = f->overflow == PF_OVERFLOW_SATURATE || f->rounding == PF_TOWARD_ZERO;
  if (x > f->max && f->overflow == PF_OVERFLOW_NAN) return NAN;
  if (x > f->max) x = saturates ? f->max : INFINITY;
  return sign < 0 && (x != 0 || f->has_negative_zero) ? -x : x;
}

/* ---- the two side by side ---- */

static const pf_format formats[] = {
  {53, -1022, DBL_MAX, true, true, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, 0},
  {53, -1022, DBL_MAX, true, true, PF_NEAREST_AWAY, PF_OVERFLOW_INFINITY, 0},
  {53, -1022, DBL_MAX, true, true, PF_TOWARD_ZERO, PF_OVERFLOW_INFINITY, 0},
  {24, -126, FLT_MAX, true, true, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, 0},
  {24, -126, FLT_MAX, true, true, PF_TOWARD_ZERO, PF_OVERFLOW_INFINITY, 0},
  {11, -14, 65504, true, true, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, 0},
  {8, -126, 0x1.fep127, true, true, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, 0},
  {8, -126, 0x1.fep127, true, true, PF_NEAREST_AWAY, PF_OVERFLOW_SATURATE, 0},
  {4, -6, 448, false, true, PF_NEAREST_EVEN, PF_OVERFLOW_NAN, 0},         /* e4m3fn */
  {4, -7, 240, false, false, PF_NEAREST_EVEN, PF_OVERFLOW_SATURATE, 0}, /* e4m3fnuz, saturating */
  {3, -4, 28, true, true, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, 0},
  {3, -4, 28, true, true, PF_NEAREST_AWAY, PF_OVERFLOW_NAN, 0},
  {3, -1022, 0x1.cp1023, true, true, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, 0},
  {51, -1022, 0x1.ffffffffffffcp1023, true, true, PF_NEAREST_AWAY, PF_OVERFLOW_NAN, 0},
  {8, 7, 127, false, false, PF_NEAREST_EVEN, PF_OVERFLOW_WRAP, PF_TWOS_COMPLEMENT},
  {9, 8, 255, false, false, PF_NEAREST_AWAY, PF_OVERFLOW_WRAP, PF_UNSIGNED},
  {9, 8, 255, false, false, PF_TOWARD_ZERO, PF_OVERFLOW_SATURATE, PF_UNSIGNED},
  {32, 31, 0x1p31 - 1, false, false, PF_TOWARD_ZERO, PF_OVERFLOW_WRAP, PF_TWOS_COMPLEMENT},
  {32, 31, 0x1p31 - 1, false, false, PF_NEAREST_EVEN, PF_OVERFLOW_SATURATE, PF_TWOS_COMPLEMENT},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static bool same(double a, double b)
{
  return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

static void expect(const pf_sum *ask, const char *what, double at, double got, double want)
{
  if (same(got, want)) return;
  print_error("alpha %a beta %a c %a bias %a, K %lld\n", ask->alpha, ask->beta, ask->c, ask->bias,
              (long long)ask->k);
  for (int64_t k = 0; k < ask->k && k < 8; k++) print_error("  %a * %a\n", ask->x[k], ask->y[k]);
  fail_msg("%s (%a): got %a, want %a", what, at, got, want);
}

static void check_truth(const model *m, const pf_sum *ask, const pf_truth *got)
{
  const double limit = 0x1p1000;
  const bool large = big_double(&m->positive, 0, UP) > limit
                     || big_double(&m->negative, 0, UP) > limit
                     || big_double(&m->products, 0, UP) > limit;
  const int scale = large ? 1100 : 0;
  expect(ask, "scale", 0, got->scale, scale);
  expect(ask, "positive", scale, got->positive, big_double(&m->positive, scale, UP));
  expect(ask, "negative", scale, got->negative, big_double(&m->negative, scale, UP));
  expect(ask, "products", scale, got->products, big_double(&m->products, scale, UP));
}

static void check_ends(const pf_oracle *o, const model *m, const pf_sum *ask, double e)
{
  /* An end that is exactly zero has the sign +. */
  const double below = model_below(&m->positive, &m->negative, e) + 0.0;
  const double above = -model_below(&m->negative, &m->positive, e) + 0.0;
  expect(ask, "below", e, o->below(o->state, e), below);
  expect(ask, "above", e, o->above(o->state, e), above);
}

static void check_distance(const pf_oracle *o, const model *m, const pf_sum *ask, double got)
{
  if (!isfinite(got)) return;
  expect(ask, "distance", got, o->distance(o->state, got), model_distance(m, got));
}

static double any_double(void)
{
  const uint64_t bits = random_bits();
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static void check_all(const pf_oracle *o, const pf_sum *ask)
{
  model m;
  model_sum(&m, ask);
  pf_truth truth;
  o->sum(o->state, ask, &truth);
  check_truth(&m, ask, &truth);
  for (int i = 0; i < FORMATS; i++)
    expect(ask, "nearest", i, o->nearest(o->state, &formats[i]), model_nearest(&m, &formats[i]));
  const double v = model_nearest(&m, &formats[0]);
  const double finite = isfinite(v) ? v : copysign(DBL_MAX, v);
  const double stray = any_double();
  check_ends(o, &m, ask, 0);
  check_ends(o, &m, ask, INFINITY);
  check_ends(o, &m, ask, fabs(finite));
  check_ends(o, &m, ask, nextafter(fabs(finite), random_bits() & 1 ? 0 : INFINITY));
  check_ends(o, &m, ask, ldexp(fabs(finite), -random_below(120)));
  check_ends(o, &m, ask, isnan(stray) ? 0x1p-1074 : fabs(stray));
  check_distance(o, &m, ask, finite);
  check_distance(o, &m, ask, nextafter(finite, random_bits() & 1 ? -INFINITY : INFINITY));
  check_distance(o, &m, ask, model_nearest(&m, &formats[6]));
  check_distance(o, &m, ask, stray);
}

/* ---- operands of all sorts ---- */

typedef enum sort {
  DOUBLE_BITS, FLOAT_BITS, BF16_BITS, HALF_VALUES, INTEGERS, ORDINARY, WIDE, SUBNORMAL, HUGE_VALUES,
  SORTS
} sort;

static double random_ordinary(void)
{
  return ldexp((double)(int64_t)random_bits(), -62);
}

static double random_value(sort s)
{
  const uint64_t r = random_bits();
  const uint32_t low = s == BF16_BITS ? (uint32_t)r & 0xffff0000 : (uint32_t)r;
  float f;
  memcpy(&f, &low, sizeof f);
  switch (s) {
    case DOUBLE_BITS: return any_double();
    case FLOAT_BITS:
    case BF16_BITS: return f;
    case HALF_VALUES: return ldexp((double)((int)(r % 4095) - 2047), (int)(r >> 32) % 30 - 24);
    case INTEGERS: return (int)(r % 17) - 8;
    case ORDINARY: return random_ordinary();
    case WIDE: return ldexp(random_ordinary(), (int)(r % 2100) - 1050);
    case SUBNORMAL: return ldexp((double)((int64_t)r >> (12 + r % 50)), -1074);
    case HUGE_VALUES: return ldexp(random_ordinary(), 1010 + (int)(r % 13));
    case SORTS: break;
  }
  return 0;
}

static double random_factor(sort s)
{
  switch (random_below(8)) {
    case 0: return 0;
    case 1: return -1;
    case 2: return random_ordinary();
    case 3: {
      const double x = random_value(s);
      return isfinite(x) ? x : 3;
    }
    default: return 1;
  }
}

/* Second half: the first with y negated, so that all cancels but an ulp here and there. */
static void make_cancel(int64_t k, double *x, double *y)
{
  for (int64_t i = k / 2; i < k; i++) {
    x[i] = x[i - k / 2];
    y[i] = -y[i - k / 2];
    if (random_below(4) == 0) y[i] = nextafter(y[i], random_bits() & 1 ? 0 : INFINITY);
  }
}

/* One bit more than a format holds, and a nudge to either side or none. */
static void make_tie(int64_t k, double *x, double *y)
{
  static const int precisions[] = {53, 24, 11, 8, 4, 3};
  const int p = precisions[random_below(6)], e = random_below(40) - 20;
  const uint64_t significand = random_bits() >> (64 - p) | (uint64_t)1 << (p - 1);
  for (int64_t i = 0; i < k; i++) x[i] = y[i] = 0;
  const double nudge[] = {0, ldexp(1, -1074), -ldexp(1, -1074), ldexp(1, e - p - 60)};
  if (k > 0) x[0] = ldexp((double)significand, e), y[0] = random_bits() & 1 ? 1 : -1;
  if (k > 1) x[1] = ldexp(y[0], e), y[1] = 0.5;
  if (k > 2) x[2] = nudge[random_below(4)], y[2] = 1;
}

static void random_case(pf_sum *ask, double *x, double *y)
{
  const sort sx = (sort)random_below(SORTS);
  const sort sy = random_bits() & 1 ? sx : (sort)random_below(SORTS);
  const int k = random_below(16) ? random_below(9) : random_below(MOST_TERMS + 1);
  for (int i = 0; i < k; i++) {
    x[i] = random_value(sx);
    y[i] = random_value(sy);
    if (random_below(32) == 0) y[i] = (double[]){0, -0.0, INFINITY, NAN}[random_below(4)];
  }
  const int shape = random_below(6);
  if (shape == 0) make_cancel(k, x, y);
  if (shape == 1) make_tie(k, x, y);
  const bool plain = random_bits() & 1;
  const pf_sum made = {k, x, y, plain ? 1 : random_factor(sx), plain ? 0 : random_factor(sy),
                       random_value(sx), random_below(3) ? 0 : random_value(sy)};
  *ask = made;
  if (random_below(8) == 0) ask->c = random_bits() & 1 ? NAN : -INFINITY;
  if (random_below(16) == 0) ask->bias = INFINITY;
}

static void test_against_integers(void **state)
{
  random_state = 0x7072656366757a7a;
  print_message("seed %#llx, %d cases\n", (unsigned long long)random_state, CASES);
  double x[MOST_TERMS], y[MOST_TERMS];
  for (int i = 0; i < CASES; i++) {
    pf_sum ask;
    random_case(&ask, x, y);
    check_all(*state, &ask);
  }
}

/* Two implementations of every store must agree where both apply. */
static void test_against_stores(void **state)
{
  const pf_oracle *o = *state;
  random_state = 1;
  for (int i = 0; i < CASES / 10; i++) {
    const double x = random_value((sort)random_below(SORTS)), y = 1;
    if (!isfinite(x) || x == 0) continue;
    const pf_sum ask = {1, &x, &y, 1, 0, 0, 0};
    pf_truth truth;
    o->sum(o->state, &ask, &truth);
    for (int f = 0; f < FORMATS; f++)
      expect(&ask, "store", f, o->nearest(o->state, &formats[f]), pf_round(&formats[f], x));
  }
}

static int make_oracle(void **state)
{
  static pf_oracle oracle;
  *state = &oracle;
  return pf_mpfr_oracle_new(&oracle) != PF_OK;
}

static int free_oracle(void **state)
{
  pf_mpfr_oracle_free(*state);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(test_against_integers, make_oracle, free_oracle),
    cmocka_unit_test_setup_teardown(test_against_stores, make_oracle, free_oracle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
