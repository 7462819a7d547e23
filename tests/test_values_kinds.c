/* What each kind of values that works element by element promises, by statistics of samples; the
   kinds that shape whole sums are in test_values_sums.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "value_checks.h"

enum { COUNT = 1 << 16, LINE = 64, SEED = 20240607 };

/* Element i of a sample: x with K = LINE. */
static double sample(const pf_values *v, pf_dtype t, int64_t i)
{
  return value_of(v, t, true, i / LINE, i % LINE, LINE);
}

/* The significand's last bit, among values that are not subnormal. */
static bool last_bit_set(pf_dtype t, double x)
{
  const double ulps = fabs(x) / pf_ulp(pf_format_of(t), x);
  return fmod(ulps, 2) == 1;
}

/* Mean and variance of N(0, 1), tails, and significands filled to their last bit.  What is just
   beyond 2 was rounded to it. */
static bool looks_normal(pf_kind kind, pf_dtype t)
{
  const pf_values v = of_kind(kind, SEED);
  double sum = 0, squares = 0;
  int64_t beyond = 0, last = 0;
  for (int64_t i = 0; i < COUNT; i++) {
    const double x = sample(&v, t, i);
    if (!isfinite(x))
      return false;
    sum += x;
    squares += x * x;
    beyond += fabs(x) > 2;
    last += last_bit_set(t, x);
  }
  const double n = COUNT, mean = sum / n, variance = squares / n - mean * mean;
  const double tail = (2 + pf_ulp(pf_format_of(t), 2) / 2) * sqrt(0.5);
  return near(mean, 0, 1 / sqrt(n)) && near(variance, 1, sqrt(2 / n))
         && share_is(beyond, COUNT, erfc(tail)) && share_is(last, COUNT, 0.5);
}

/* Every bit set in half of the encodings; hence infinities, NaNs and subnormals. */
static bool looks_bits(pf_kind kind, pf_dtype t)
{
  const pf_values v = of_kind(kind, SEED);
  const pf_format *f = pf_format_of(t);
  int64_t set[64] = { 0 }, subnormal = 0, infinite = 0, nan = 0;
  for (int64_t i = 0; i < COUNT; i++) {
    const uint64_t bits = bits_of(&v, t, true, i / LINE, i % LINE, LINE);
    const double x = pf_decode(t, bits);
    for (int b = 0; b < 64; b++)
      set[b] += (int64_t)(bits >> b & 1);
    subnormal += x != 0 && fabs(x) < pf_smallest_normal(f);
    infinite += isinf(x) != 0;
    nan += isnan(x) != 0;
  }
  const int width = 8 * pf_dtype_of(t)->bytes;
  for (int b = 0; b < 64; b++)
    if (b < width ? !share_is(set[b], COUNT, 0.5) : set[b] != 0)
      return false;
  const bool short_format = width <= 16;  /* infinity is one of 2^24 encodings of f32 */
  return subnormal > 0 && nan > 0 && (infinite > 0 || !short_format || !f->has_infinity);
}

/* The corners by their description, independent of how they are assembled. */
enum { EXPONENTS = 20, FRACTIONS = 7 };

static int corner_exponent(pf_dtype t, int i)
{
  const pf_format *f = pf_format_of(t);
  const int p = f->precision, emin = f->emin, emax = ilogb(f->max), q = pf_quantum(f);
  const int list[EXPONENTS] = {
    emin, emin + 1, -1, 0, 1, emin / 2 - 1, emin / 2, emin / 2 + 1, q / 2 - 1, q / 2, q / 2 + 1,
    emax / 2 - 1, emax / 2, emax / 2 + 1, -p, -(p - 1), p - 1, p, emax - 1, emax,
  };
  return list[i];
}

static double corner_fraction(pf_dtype t, int i)
{
  const double all = ldexp(1, pf_format_of(t)->precision - 1);
  const double list[FRACTIONS] = { 0, 1, all - 1, all - 2, all / 2, all / 2 + 1, all / 2 - 1 };
  return list[i];
}

typedef struct corners {
  int64_t grid[EXPONENTS + 1][FRACTIONS + 1];  /* last row: subnormals; last column: one bit */
  int64_t zero, infinite, nan, ordinary, negative;
} corners;

/* False for a value that is at no corner. */
static bool corner_count(corners *c, pf_dtype t, double x)
{
  const pf_format *f = pf_format_of(t);
  c->zero += x == 0;
  c->infinite += isinf(x) != 0;
  c->nan += isnan(x) != 0;
  if (x == 0 || !isfinite(x))
    return true;
  c->ordinary++;
  c->negative += x < 0;
  const bool subnormal = fabs(x) < pf_smallest_normal(f);
  const double ulps = ldexp(fabs(x), subnormal ? -pf_quantum(f) : f->precision - 1 - ilogb(x));
  const double fraction = subnormal ? ulps : ulps - ldexp(1, f->precision - 1);
  int column = 0, rows = 0;
  while (column < FRACTIONS && fraction != corner_fraction(t, column))
    column++;
  if (column == FRACTIONS && exp2(floor(log2(fraction))) != fraction)
    return false;
  if (subnormal)
    rows = ++c->grid[EXPONENTS][column] > 0;
  for (int i = 0; i < EXPONENTS && !subnormal; i++)
    if (ilogb(x) == corner_exponent(t, i)) {
      c->grid[i][column]++;
      rows++;
    }
  return rows > 0;
}

/* Whether anything can be counted there: zero is no subnormal, e4m3fn ends before a significand of
   all ones, and with 3 bits some descriptions mean one corner and no single bit is left over. */
static bool corner_exists(pf_dtype t, int row, int column)
{
  const pf_format *f = pf_format_of(t);
  if (column == FRACTIONS)
    return f->precision > 3;
  const double fraction = corner_fraction(t, column);
  for (int i = 0; i < column; i++)
    if (corner_fraction(t, i) == fraction)
      return false;
  if (row == EXPONENTS)
    return fraction != 0;
  const double one = ldexp(1, f->precision - 1);
  return ldexp(one + fraction, corner_exponent(t, row) - f->precision + 1) <= f->max;
}

static bool looks_corner(pf_kind kind, pf_dtype t)
{
  const pf_values v = of_kind(kind, SEED);
  corners c = { 0 };
  for (int64_t i = 0; i < COUNT; i++)
    if (!corner_count(&c, t, sample(&v, t, i)))
      return false;
  for (int i = 0; i <= EXPONENTS; i++)
    for (int j = 0; j <= FRACTIONS; j++)
      if (c.grid[i][j] == 0 && corner_exists(t, i, j))
        return false;
  return c.zero > 0 && c.nan > 0 && (c.infinite > 0 || !pf_format_of(t)->has_infinity)
         && c.nan + c.infinite < COUNT / 64 && share_is(c.negative, c.ordinary, 0.5);
}

static bool looks_integer(pf_kind kind, pf_dtype t)
{
  const pf_values v = of_kind(kind, SEED);
  int64_t seen[17] = { 0 };
  for (int64_t i = 0; i < COUNT; i++) {
    const double x = sample(&v, t, i);
    if (!(fabs(x) <= 8) || x != floor(x) || (x == 0 && signbit(x)))
      return false;
    seen[(int)x + 8]++;
  }
  for (int i = 0; i < 17; i++)
    if (!share_is(seen[i], COUNT, 1.0 / 17))
      return false;
  return true;
}

static bool looks_equal(pf_kind kind, pf_dtype t)
{
  const pf_values ones = of_kind(kind, 0), v = of_kind(kind, SEED), w = of_kind(kind, SEED + 1);
  for (int64_t i = 0; i < COUNT; i++)
    if (sample(&ones, t, i) != 1 || !(sample(&v, t, i) == sample(&v, t, 0)))
      return false;
  return sample(&v, t, 0) != sample(&w, t, 0) && addend_of(&ones, t, 5) == 1;
}

/* Every normal exponent equally often. */
static bool looks_wide(pf_kind kind, pf_dtype t)
{
  const pf_values v = of_kind(kind, SEED);
  const pf_format *f = pf_format_of(t);
  const int exponents = ilogb(f->max) - f->emin + 1;
  int64_t seen[2048] = { 0 }, negative = 0, last = 0;
  for (int64_t i = 0; i < COUNT; i++) {
    const double x = sample(&v, t, i);
    if (!isfinite(x) || fabs(x) < pf_smallest_normal(f))
      return false;
    seen[ilogb(x) - f->emin]++;
    negative += signbit(x) != 0;
    last += last_bit_set(t, x);
  }
  for (int i = 0; i < exponents; i++)
    if (seen[i] == 0 || !share_is(seen[i], COUNT, 1.0 / exponents))
      return false;
  return share_is(negative, COUNT, 0.5) && share_is(last, COUNT, 0.5);
}

/* One in eight a smallest normal; the others subnormal, from the longest to the shortest. */
static bool looks_subnormal(pf_kind kind, pf_dtype t)
{
  const pf_values v = of_kind(kind, SEED);
  const pf_format *f = pf_format_of(t);
  const double smallest = pf_smallest_normal(f);
  int64_t normal = 0, negative = 0, lengths[64] = { 0 };
  for (int64_t i = 0; i < COUNT; i++) {
    const double x = sample(&v, t, i);
    if (x == 0 || !(fabs(x) < 2 * smallest))
      return false;
    normal += fabs(x) >= smallest;
    negative += signbit(x) != 0;
    lengths[ilogb(x) - pf_quantum(f)]++;
  }
  for (int i = 0; i < f->precision; i++)
    if (lengths[i] == 0)
      return false;
  return share_is(normal, COUNT, 0.125) && share_is(negative, COUNT, 0.5);
}

static void test_kinds_are_what_they_say(void **state)
{
  (void)state;
  static const value_check checks[] = {
    { PF_NORMAL, looks_normal },   { PF_BITS, looks_bits },   { PF_CORNER, looks_corner },
    { PF_INTEGER, looks_integer }, { PF_EQUAL, looks_equal }, { PF_WIDE, looks_wide },
    { PF_SUBNORMAL, looks_subnormal },
  };
  assert_only_own_kind_passes(checks, sizeof checks / sizeof checks[0], 0, FLOAT_DTYPES);
}

/* In every dtype the same normal number, rounded once: a truncating generator leaves numbers of
   more than half an ulp between them. */
static void test_normal_is_rounded(void **state)
{
  (void)state;
  const pf_values v = of_kind(PF_NORMAL, SEED);
  for (int t = 0; t < FLOAT_DTYPES; t++)
    for (int64_t i = 0; i < COUNT; i++) {
      const double number = sample(&v, PF_F64, i);
      const double half_ulp = pf_ulp(pf_format_of((pf_dtype)t), number) / 2;
      assert_true(fabs(sample(&v, (pf_dtype)t, i) - number) <= half_ulp);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_kinds_are_what_they_say),
    cmocka_unit_test(test_normal_is_rounded),
  };
  print_message("kinds of values: seed %d\n", SEED);
  return cmocka_run_group_tests_name("kinds of values", tests, NULL, NULL);
}
