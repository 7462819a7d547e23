/* Sets in integer formats against all of their members: an interval within one period of what wraps
   keeps its ends, one across a border becomes the whole range, and nothing not finite remains.

   Planted and seen: intervals that wrap as if rounding were monotone, each overflow taken for the
   whole range, a NaN that stays one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <math.h>

#include "dtype.h"
#include "set.h"
#include "values.h"

static uint64_t state = 0x736574696e74;

static int random_between(int low, int high)
{
  return low + (int)(pf_hash(state++) % (uint64_t)(high - low + 1));
}

/* s8 and u8 with each rounding, wrapping and saturating. */
enum { FORMATS = 12 };

static pf_format format_number(int i)
{
  pf_format f = *pf_format_of(i & 1 ? PF_U8 : PF_S8);
  f.rounding = (pf_rounding)(i / 2 % 3);
  f.overflow = i / 6 ? PF_OVERFLOW_SATURATE : PF_OVERFLOW_WRAP;
  return f;
}

static void gather(pf_set *s, double v)
{
  assert_true(isfinite(v));
  s->lo = fmin(s->lo, v);
  s->hi = fmax(s->hi, v);
}

static void assert_image(const char *what, const pf_format *f, double lo, double hi,
                         const pf_set *got, const pf_set *expected)
{
  if (!pf_set_equal(got, expected))
    fail_msg("[%g, %g] %s, max %g rounding %d overflow %d: [%g, %g], members [%g, %g]", lo, hi,
             what, f->max, (int)f->rounding, (int)f->overflow, got->lo, got->hi, expected->lo,
             expected->hi);
}

/* Ends between -1000 and 1000 in quarters; half of the intervals shorter than a period. */
static void random_interval(double *lo, double *hi)
{
  const int from = random_between(-4000, 4000);
  const int length = random_between(0, random_between(0, 1) ? 2000 : 30);
  *lo = from / 4.0;
  *hi = (from + length) / 4.0;
}

static void test_round(void **unused)
{
  (void)unused;
  int whole = 0, part = 0;
  for (int i = 0; i < 24000; i++) {
    const pf_format f = format_number(i % FORMATS);
    pf_set s = pf_set_empty(), expected = pf_set_empty();
    random_interval(&s.lo, &s.hi);
    for (double x = s.lo; x <= s.hi; x += 0.25)
      gather(&expected, pf_round(&f, x));
    const pf_set got = pf_set_round(&f, &s);
    assert_image("rounded", &f, s.lo, s.hi, &got, &expected);
    whole += got.lo == pf_lowest(&f) && got.hi == f.max;
    part += f.overflow == PF_OVERFLOW_WRAP && (s.lo > f.max || s.hi < pf_lowest(&f)) &&
            got.hi - got.lo < 100;
  }
  assert_true(whole > 500 && part > 500);
}

static void test_add(void **unused)
{
  (void)unused;
  for (int i = 0; i < 24000; i++) {
    const pf_format f = format_number(i % FORMATS);
    pf_set a = pf_set_empty(), b = pf_set_empty(), expected = pf_set_empty();
    random_interval(&a.lo, &a.hi);
    random_interval(&b.lo, &b.hi);
    if (i % 3 == 0)
      b.hi = b.lo;
    for (double x = a.lo + b.lo; x <= a.hi + b.hi; x += 0.25)
      gather(&expected, pf_round(&f, x));
    const pf_set got = pf_set_add(&f, &a, &b);
    assert_image("added", &f, a.lo, a.hi, &got, &expected);
  }
}

static void test_scale(void **unused)
{
  (void)unused;
  for (int i = 0; i < 8000; i++) {
    const pf_format f = format_number(i % FORMATS);
    const double factor = random_between(-5, 5);
    pf_set s = pf_set_empty(), expected = pf_set_empty();
    random_interval(&s.lo, &s.hi);
    const double from = fmin(factor * s.lo, factor * s.hi), to = fmax(factor * s.lo, factor * s.hi);
    for (double x = from; x <= to; x += 0.25)
      gather(&expected, pf_round(&f, x));
    const pf_set got = pf_set_scale(&f, &s, factor);
    assert_image("scaled", &f, s.lo, s.hi, &got, &expected);
  }
}

/* Far from zero, where the ends of an interval are all that is known of it. */
static void test_far(void **unused)
{
  (void)unused;
  const pf_format s32 = *pf_format_of(PF_S32);
  const pf_set point = pf_set_point(0x1p40 + 3), one = pf_set_point(0x1p62);
  const pf_set near_zero = {.lo = 0x1p40 - 1, .hi = 0x1p40};
  const pf_set border = {.lo = 0x1p40 + 0x1p31 - 1, .hi = 0x1p40 + 0x1p31};
  const pf_set wide = {.lo = 0x1p60, .hi = 0x1.0000000000001p60};
  const pf_set open = {.lo = -INFINITY, .hi = INFINITY};
  pf_set got = pf_set_round(&s32, &point);
  assert_true(got.lo == 3 && got.hi == 3);
  got = pf_set_round(&s32, &near_zero);
  assert_true(got.lo == -1 && got.hi == 0);
  got = pf_set_round(&s32, &border);
  assert_true(got.lo == -0x1p31 && got.hi == 0x1p31 - 1);
  got = pf_set_round(&s32, &open);
  assert_true(got.lo == -0x1p31 && got.hi == 0x1p31 - 1);
  got = pf_set_round(&s32, &one);
  assert_true(got.lo == 0 && got.hi == 0);
  got = pf_set_round(&s32, &wide);
  assert_true(got.lo == -0x1p31 && got.hi == 0x1p31 - 1);
  const pf_set most = pf_set_point(0x1p31 - 1);
  got = pf_set_scale(&s32, &most, 0x1p31 - 1);
  assert_true(got.lo == 1 && got.hi == 1);
  got = pf_set_add(&s32, &most, &most);
  assert_true(got.lo == -2 && got.hi == -2);
}

/* In integers infinities are ends, NaN is zero. */
static void test_special(void **unused)
{
  (void)unused;
  const double inf = INFINITY;
  for (int i = 0; i < FORMATS; i++) {
    const pf_format f = format_number(i);
    const pf_set up = pf_set_point(inf), down = pf_set_point(-inf), nan = pf_set_point(NAN);
    const pf_set zero = pf_set_point(0), top = pf_set_point(f.max);
    const pf_set bottom = pf_set_point(pf_lowest(&f));
    const pf_set images[] = {
      pf_set_round(&f, &up),        pf_set_round(&f, &down),      pf_set_round(&f, &nan),
      pf_set_add(&f, &up, &zero),   pf_set_add(&f, &down, &zero), pf_set_add(&f, &up, &down),
      pf_set_scale(&f, &up, -2),    pf_set_scale(&f, &down, -2),  pf_set_scale(&f, &up, 0),
    };
    const pf_set *const expected[] = {&top, &bottom, &zero, &top, &bottom,
                                      &zero, &bottom, &top, &zero};
    for (int j = 0; j < 9; j++)
      assert_true(pf_set_equal(&images[j], expected[j]));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_round), cmocka_unit_test(test_add),     cmocka_unit_test(test_scale),
    cmocka_unit_test(test_far),   cmocka_unit_test(test_special),
  };
  print_message("sets of integers: seed %#" PRIx64 "\n", state);
  return cmocka_run_group_tests_name("sets of integers", tests, NULL, NULL);
}
