/* What each kind promises of integers, by statistics of samples. */
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

static double lowest(pf_dtype t)
{
  return pf_lowest(pf_format_of(t));
}

static double highest(pf_dtype t)
{
  return pf_format_of(t)->max;
}

static double middle(pf_dtype t)
{
  return t == PF_U8 ? 128 : 0;
}

static double sigma(pf_dtype t)
{
  return t == PF_S32 ? 4096 : 32;
}

/* Pairs along K that add up to 0, or to 2^8 in u8. */
static int64_t opposites(const pf_values *v, pf_dtype t)
{
  int64_t n = 0;
  for (int64_t i = 0; i < COUNT; i += 2)
    n += sample(v, t, i) + sample(v, t, i + 1) == 2 * middle(t);
  return n;
}

static bool looks_normal(pf_kind kind, pf_dtype t)
{
  const pf_values v = of_kind(kind, SEED);
  double sum = 0, squares = 0;
  int64_t beyond = 0;
  for (int64_t i = 0; i < COUNT; i++) {
    const double x = sample(&v, t, i) - middle(t);
    sum += x;
    squares += x * x;
    beyond += fabs(x) > 2 * sigma(t);
  }
  const double n = COUNT, s = sigma(t);
  const double tail = erfc((2 + 0.5 / s) * sqrt(0.5));
  return near(sum / n, 0, s / sqrt(n)) && near(squares / n, s * s, s * s * sqrt(2 / n))
         && share_is(beyond, COUNT, tail) && opposites(&v, t) < COUNT / 64;
}

/* The first byte and the last one take each value equally often. */
static bool looks_bits(pf_kind kind, pf_dtype t)
{
  const pf_values v = of_kind(kind, SEED);
  const int width = 8 * pf_dtype_of(t)->bytes;
  int64_t high[256] = { 0 }, low[256] = { 0 };
  for (int64_t i = 0; i < COUNT; i++) {
    const uint64_t bits = bits_of(&v, t, true, i / LINE, i % LINE, LINE);
    if (bits >> (width - 1) > 1)
      return false;
    high[bits >> (width - 8)]++;
    low[bits & 255]++;
  }
  for (int i = 0; i < 256; i++)
    if (!share_is(high[i], COUNT, 1.0 / 256) || !share_is(low[i], COUNT, 1.0 / 256))
      return false;
  return true;
}

/* By their description; false once the list ends.  Those that are no value of the dtype count as
   the end of the range that is next to them. */
static bool corner(pf_dtype t, int i, double *out)
{
  const double ends[] = { lowest(t), lowest(t) + 1, -1, 0, 1, highest(t) - 1, highest(t) };
  double x;
  if (i < 7) {
    x = ends[i];
  } else {
    const int power = (i - 7) / 6;
    x = ldexp(1, power) + (i - 7) % 3 - 1;
    x = (i - 7) / 3 % 2 && t != PF_U8 ? -x : x;
    if (power >= 8 * pf_dtype_of(t)->bytes)
      return false;
  }
  *out = fmax(lowest(t), fmin(highest(t), x));
  return true;
}

static bool looks_corner(pf_kind kind, pf_dtype t)
{
  const pf_values v = of_kind(kind, SEED);
  int64_t seen[256] = { 0 };
  double at;
  for (int64_t i = 0; i < COUNT; i++) {
    const double x = sample(&v, t, i);
    bool found = false;
    for (int c = 0; corner(t, c, &at); c++)
      if (x == at) {
        seen[c]++;
        found = true;
      }
    if (!found)
      return false;
  }
  for (int c = 0; corner(t, c, &at); c++)
    if (seen[c] == 0)
      return false;
  return true;
}

/* Each integer up to a reach equally often, negative ones too where there are any. */
static bool is_small(pf_kind kind, pf_dtype t, int reach)
{
  const pf_values v = of_kind(kind, SEED);
  const int first = t == PF_U8 ? 0 : -reach, n = reach - first + 1;
  int64_t seen[17] = { 0 };
  for (int64_t i = 0; i < COUNT; i++) {
    const double x = sample(&v, t, i);
    if (x < first || x > reach)
      return false;
    seen[(int)x - first]++;
  }
  for (int i = 0; i < n; i++)
    if (!share_is(seen[i], COUNT, 1.0 / n))
      return false;
  return true;
}

static bool looks_integer(pf_kind kind, pf_dtype t)
{
  return is_small(kind, t, 8);
}

static bool looks_midpoint(pf_kind kind, pf_dtype t)
{
  return is_small(kind, t, 3);
}

static bool looks_subnormal(pf_kind kind, pf_dtype t)
{
  return is_small(kind, t, 1);
}

/* All pairs do, few of zeros; y repeats over a pair so that products cancel too. */
static bool looks_cancel(pf_kind kind, pf_dtype t)
{
  const pf_values v = of_kind(kind, SEED);
  int64_t zero = 0;
  for (int64_t i = 0; i < COUNT; i += 2) {
    if (value_of(&v, t, false, i / LINE, i % LINE, LINE)
        != value_of(&v, t, false, i / LINE, i % LINE + 1, LINE))
      return false;
    zero += sample(&v, t, i) == 0;
  }
  return opposites(&v, t) == COUNT / 2 && zero < COUNT / 16;
}

static bool looks_equal(pf_kind kind, pf_dtype t)
{
  const pf_values ones = of_kind(kind, 0), v = of_kind(kind, SEED), w = of_kind(kind, SEED + 1);
  for (int64_t i = 0; i < COUNT; i++)
    if (sample(&ones, t, i) != 1 || sample(&v, t, i) != sample(&v, t, 0))
      return false;
  for (uint32_t seed = 0; seed < 2000; seed++) {
    const pf_values some = of_kind(kind, seed);
    if (sample(&some, t, 0) == 0)
      return false;
  }
  return sample(&v, t, 0) != sample(&w, t, 0) && addend_of(&ones, t, 5) == 1;
}

/* Every bit length equally often, zero's too. */
static bool looks_wide(pf_kind kind, pf_dtype t)
{
  const pf_values v = of_kind(kind, SEED);
  const int lengths = ilogb(highest(t)) + 2;
  int64_t seen[40] = { 0 }, negative = 0;
  for (int64_t i = 0; i < COUNT; i++) {
    const double x = sample(&v, t, i);
    seen[x == 0 ? 0 : ilogb(x) + 1]++;
    negative += x < 0;
  }
  for (int i = 0; i < lengths; i++)
    if (!share_is(seen[i], COUNT, 1.0 / lengths))
      return false;
  return share_is(negative, COUNT - seen[0], t == PF_U8 ? 0 : 0.5);
}

static void test_kinds_are_what_they_say(void **state)
{
  (void)state;
  static const value_check checks[] = {
    { PF_NORMAL, looks_normal },     { PF_BITS, looks_bits },     { PF_CORNER, looks_corner },
    { PF_INTEGER, looks_integer },   { PF_CANCEL, looks_cancel }, { PF_EQUAL, looks_equal },
    { PF_MIDPOINT, looks_midpoint }, { PF_WIDE, looks_wide },     { PF_SUBNORMAL, looks_subnormal },
  };
  assert_only_own_kind_passes(checks, sizeof checks / sizeof checks[0], PF_S8, PF_DTYPE_COUNT);
}

/* So many pairs of s8 that some would begin with -128, which has no opposite. */
static void test_cancel_at_the_end(void **state)
{
  (void)state;
  const pf_values v = of_kind(PF_CANCEL, SEED);
  int at_the_end = 0;
  for (int64_t i = 0; i < 400000; i++) {
    const double x = value_of(&v, PF_S8, true, i, 0, 2);
    assert_true(value_of(&v, PF_S8, true, i, 1, 2) == -x);
    at_the_end += x == -127;
  }
  assert_true(at_the_end > 0);
}

/* Every encoding is one of the dtype: nothing above its bits, whatever the kind. */
static void test_in_range(void **state)
{
  (void)state;
  for (int t = PF_S8; t < PF_DTYPE_COUNT; t++)
    for (int kind = 0; kind < PF_VERBATIM; kind++) {
      const pf_values v = of_kind((pf_kind)kind, SEED);
      for (int64_t i = 0; i < 4096; i++) {
        const uint64_t bits = bits_of(&v, (pf_dtype)t, i & 1, i / LINE, i % LINE, LINE);
        assert_true(pf_encode((pf_dtype)t, pf_decode((pf_dtype)t, bits)) == bits);
      }
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_kinds_are_what_they_say),
    cmocka_unit_test(test_cancel_at_the_end),
    cmocka_unit_test(test_in_range),
  };
  print_message("values of integers: seed %d\n", SEED);
  return cmocka_run_group_tests_name("values of integers", tests, NULL, NULL);
}
