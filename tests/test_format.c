/* Formats: every rounding against MPFR, on every value of the small formats and densely on the
   large ones. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <mpfr.h>

#include "format.h"
#include "format_reference.h"

static const pf_format bf16 = {8, -126, 0x1.fep127, true, true, 0, 0, 0};
static const pf_format f16 = {11, -14, 65504, true, true, 0, 0, 0};
static const pf_format f32 = {24, -126, FLT_MAX, true, true, 0, 0, 0};
static const pf_format f64 = {53, -1022, DBL_MAX, true, true, 0, 0, 0};
static const pf_format e4m3fn = {4, -6, 448, false, true, PF_NEAREST_EVEN, PF_OVERFLOW_NAN, 0};
static const pf_format e5m2 = {3, -14, 57344, true, true, 0, 0, 0};
static const pf_format e4m3fnuz = {4, -7, 240, false, false, PF_NEAREST_EVEN, PF_OVERFLOW_NAN, 0};
static const pf_format toy = {3, -2, 7, true, true, 0, 0, 0};
static const pf_format two_bits = {2, -3, 6, false, false, 0, PF_OVERFLOW_SATURATE, 0};
/* Its subnormals and some of its midpoints are subnormal doubles. */
static const pf_format deep = {5, -1060, 0x1.fp-1000, true, true, 0, 0, 0};

static const pf_format *const small_formats[] = {&bf16,     &f16, &pf_tf32,  &e4m3fn, &e5m2,
                                                 &e4m3fnuz, &toy, &two_bits, &deep};
#define SMALL_FORMATS (sizeof small_formats / sizeof *small_formats)

static const pf_rounding roundings[] = {PF_NEAREST_EVEN, PF_NEAREST_AWAY, PF_TOWARD_ZERO};

static void check_round(const pf_format *f, double x)
{
  static mpfr_t exact;
  static bool ready;
  if (!ready) {
    mpfr_init2(exact, 53);
    ready = true;
  }
  mpfr_set_d(exact, x, MPFR_RNDN);
  const double want = reference_round(f, exact);
  const double got = pf_round(f, x);
  if (!same(got, want)) {
    fail_msg("precision %d emin %d rounding %d overflow %d: %a gives %a, not %a", f->precision,
             f->emin, (int)f->rounding, (int)f->overflow, x, got, want);
  }
}

static void check_beside(const pf_format *f, double x)
{
  const double points[] = {x, nextafter(x, INFINITY), nextafter(x, 0)};
  for (int i = 0; i < 3; i++) {
    check_round(f, points[i]);
    check_round(f, -points[i]);
  }
}

/* The n-th magnitude of a format, from zero, without an upper end. */
static double nth_value(const pf_format *f, uint32_t n)
{
  const uint32_t binade = UINT32_C(1) << (f->precision - 1);
  if (n < binade) {
    return ldexp(n, pf_quantum(f));
  }
  return ldexp(n % binade + binade, pf_quantum(f) + (int)(n / binade) - 1);
}

/* Each value, each midpoint and the doubles beside them, up to the first value above max. */
static void test_every_value(void **unused)
{
  (void)unused;
  for (size_t i = 0; i < SMALL_FORMATS; i++) {
    uint32_t count = 0;
    for (int j = 0; j < 3; j++) {
      const pf_format f = with(small_formats[i], roundings[j], small_formats[i]->overflow);
      count = 0;
      for (double x = 0; x <= f.max; count++) {
        const double above = nth_value(&f, count + 1);
        check_beside(&f, x);
        check_beside(&f, x + (above - x) / 2);
        assert_true(pf_round(&f, x) == x);
        x = above;
      }
    }
    print_message("precision %d, emin %d: %" PRIu32 " magnitudes\n", small_formats[i]->precision,
                  small_formats[i]->emin, count);
  }
}

static void test_overflow(void **unused)
{
  (void)unused;
  static const pf_overflow policies[] = {PF_OVERFLOW_INFINITY, PF_OVERFLOW_SATURATE,
                                         PF_OVERFLOW_NAN, 0};
  const pf_format *const formats[] = {&bf16,   &f16,  &f32,      &pf_tf32,
                                      &e4m3fn, &e5m2, &e4m3fnuz, &toy};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    for (int j = 0; j < 9; j++) {
      const pf_format f = with(formats[i], roundings[j / 3], policies[j % 3]);
      if (f.overflow == PF_OVERFLOW_INFINITY && !f.has_infinity) {
        continue;
      }
      check_beside(&f, f.max);
      check_beside(&f, f.max + pf_ulp(&f, f.max) / 2);
      check_beside(&f, f.max + pf_ulp(&f, f.max));
      check_beside(&f, DBL_MAX);
      check_round(&f, INFINITY);
      check_round(&f, -INFINITY);
      check_round(&f, NAN);
    }
  }
  /* Said once in plain numbers, so that no error of the reference can hide one of the code. */
  const pf_format saturating = with(&e4m3fn, PF_NEAREST_EVEN, PF_OVERFLOW_SATURATE);
  const pf_format truncating = with(&e4m3fn, PF_TOWARD_ZERO, PF_OVERFLOW_NAN);
  assert_true(pf_round(&e4m3fn, 464) == 448);
  assert_true(isnan(pf_round(&e4m3fn, 465)));
  assert_true(isnan(pf_round(&e4m3fn, INFINITY)));
  assert_true(pf_round(&saturating, -465) == -448);
  assert_true(pf_round(&saturating, INFINITY) == 448);
  assert_true(pf_round(&truncating, 1e300) == 448);
  assert_true(isnan(pf_round(&truncating, INFINITY)));
  assert_true(pf_round(&e4m3fnuz, 0x1.efffp7) == 240);
  assert_true(isnan(pf_round(&e4m3fnuz, 248)));
  assert_true(same(pf_round(&e4m3fnuz, -0.0), 0.0) && same(pf_round(&e4m3fnuz, -1e-9), 0.0));
  assert_true(pf_round(&f16, nextafter(65520, 0)) == 65504 && isinf(pf_round(&f16, 65520)));
  assert_true(isinf(pf_round(&bf16, 0x1.ffp127)) && isinf(pf_round(&f32, 0x1.ffffffp127)));
  assert_true(pf_round(&e5m2, 61440) == INFINITY && pf_round(&e5m2, -INFINITY) == -INFINITY);
  const pf_format finite_e5m2 = with(&e5m2, PF_NEAREST_EVEN, PF_OVERFLOW_SATURATE);
  assert_true(pf_round(&finite_e5m2, 61440) == 57344);
  assert_true(pf_round(&finite_e5m2, -INFINITY) == -57344);
  assert_true(isnan(pf_round(&finite_e5m2, NAN)));
}

/* f32 against the hardware's conversion by the million, and against MPFR in all roundings. */
static void test_f32(void **unused)
{
  (void)unused;
  for (int i = 0; i < 6000000; i++) {
    const double x = i % 8 != 0 ? random_double(-153, 129) : random_double(-1022, 1023);
    assert_true(same(pf_round(&f32, x), (double)(float)x));
  }
  for (int j = 0; j < 3; j++) {
    const pf_format f = with(&f32, roundings[j], PF_OVERFLOW_INFINITY);
    for (int i = 0; i < 300000; i++) {
      check_round(&f, random_double(-153, 129));
    }
    for (int e = -152; e < 129; e++) {
      check_beside(&f, ldexp(1, e));
      check_beside(&f, ldexp(1.5, e));
      check_beside(&f, ldexp(0x1.ffffffp0, e));
      check_beside(&f, ldexp(0x1.fffffep0, e));
      check_beside(&f, ldexp(0x1.000001p0, e));
      check_beside(&f, ldexp(0x1.000003p0, e));
    }
  }
}

static void test_f64(void **unused)
{
  (void)unused;
  for (int i = 0; i < 2000000; i++) {
    uint64_t bits = next_random();
    bits = i % 4 == 0 ? bits & UINT64_C(0x800fffffffffffff) : bits;
    double x;
    memcpy(&x, &bits, sizeof x);
    assert_true(same(pf_round(&f64, x), x));
  }
  static const double special[] = {0.0,     -0.0,     0x1p-1074, DBL_MIN,
                                   DBL_MAX, INFINITY, -INFINITY, NAN};
  for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
    check_round(&f64, special[i]);
    assert_true(same(pf_round(&f64, special[i]), special[i]));
  }
  /* Wide formats of any precision, in and below the range of normal doubles. */
  for (int i = 0; i < 300000; i++) {
    pf_format f = with(&f64, roundings[i % 3], PF_OVERFLOW_INFINITY);
    f.precision = random_between(2, 53);
    f.emin = random_between(-1074 + f.precision - 1, -900);
    f.max = ldexp(2 - ldexp(1, 1 - f.precision), 1023);
    check_round(&f, i % 2 == 0 ? random_double(-1022, 1023) : random_double(-1022, -890));
    check_round(&f, ldexp(random_double(-10, 10), random_between(-1074, -1010)));
  }
}

static void test_neighbours(void **unused)
{
  (void)unused;
  for (size_t i = 0; i < SMALL_FORMATS; i++) {
    const pf_format *f = small_formats[i];
    double below = -INFINITY;
    uint32_t n = 0;
    for (double x = 0; x <= f->max; x = nth_value(f, ++n)) {
      const double above = nth_value(f, n + 1) > f->max ? INFINITY : nth_value(f, n + 1);
      const double inner = n == 0 ? -nth_value(f, 1) : below;
      assert_true(pf_next_up(f, x) == above && pf_next_down(f, -x) == -above);
      assert_true(pf_next_down(f, x) == inner && pf_next_up(f, -x) == -inner);
      assert_true(pf_next_up(f, nextafter(x, INFINITY)) == above);
      assert_true(pf_next_down(f, nextafter(x, -INFINITY)) == inner);
      assert_true(pf_next_up(f, nextafter(x, -INFINITY)) == x);
      assert_true(pf_next_down(f, nextafter(x, INFINITY)) == x);
      assert_true(isinf(above) || pf_ulp(f, x) == above - x);
      below = x;
    }
    assert_true(pf_next_up(f, -INFINITY) == -f->max && pf_next_down(f, INFINITY) == f->max);
    assert_true(pf_next_up(f, INFINITY) == INFINITY && pf_next_down(f, -INFINITY) == -INFINITY);
    assert_true(pf_next_up(f, 1e300) == INFINITY && pf_next_up(f, -1e300) == -f->max);
    assert_true(isnan(pf_next_up(f, NAN)) && isnan(pf_next_down(f, NAN)));
    assert_int_equal(signbit(pf_next_up(f, -nth_value(f, 1))) != 0, f->has_negative_zero);
  }
  for (int i = 0; i < 1000000; i++) {
    const double x = random_double(-1022, 1023) * (i % 3 == 0 ? 0x1p-1000 : 1);
    assert_true(same(pf_next_up(&f64, x), nextafter(x, INFINITY)));
    assert_true(same(pf_next_down(&f64, x), nextafter(x, -INFINITY)));
    const double g = (double)(float)random_double(-148, 127);
    assert_true(pf_next_up(&f32, g) == (double)nextafterf((float)g, INFINITY));
    assert_true(pf_next_down(&f32, g) == (double)nextafterf((float)g, -INFINITY));
  }
}

static void test_constants(void **unused)
{
  (void)unused;
  const pf_format truncating = with(&bf16, PF_TOWARD_ZERO, PF_OVERFLOW_INFINITY);
  assert_true(pf_unit_roundoff(&bf16) == 0x1p-8 && pf_unit_roundoff(&truncating) == 0x1p-7);
  assert_true(pf_unit_roundoff(&f64) == 0x1p-53 && pf_unit_roundoff(&e4m3fn) == 0x1p-4);
  assert_true(pf_smallest_normal(&pf_tf32) == 0x1p-126 && pf_next_up(&pf_tf32, 1) == 1 + 0x1p-10);
  assert_true(pf_next_up(&pf_tf32, pf_tf32.max) == INFINITY && pf_lowest(&pf_tf32) == -0x1.ffcp127);
  assert_true(pf_smallest_normal(&f16) == 0x1p-14 && pf_smallest_normal(&deep) == 0x1p-1060);
  assert_int_equal(pf_quantum(&f64), -1074);
  assert_int_equal(pf_quantum(&bf16), -133);
  assert_int_equal(pf_quantum(&e4m3fn), -9);
  assert_true(pf_ulp(&f64, 0) == 0x1p-1074 && pf_ulp(&f64, -1.5) == DBL_EPSILON);
  assert_true(pf_ulp(&f32, 0x1p-149) == 0x1p-149 && pf_ulp(&f32, 1e300) > 0x1p900);
}

static void test_contains(void **unused)
{
  (void)unused;
  const pf_format *const formats[] = {&f64,     &f32,    &f16,  &bf16,
                                      &pf_tf32, &e4m3fn, &e5m2, &e4m3fnuz};
  static const char *const matrix[] = {
    "11111111", /* f64 holds each of the list above */
    "01111111", /* f32 */
    "00100111", /* f16 */
    "00010111", /* bf16 */
    "00111111", /* tf32 */
    "00000100", /* e4m3fn: fnuz has a smaller subnormal */
    "00000010", /* e5m2 */
    "00000001", /* e4m3fnuz */
  };
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < 8; j++) {
      assert_int_equal(pf_format_contains(formats[i], formats[j]), matrix[i][j] == '1');
      assert_int_equal(pf_format_equal(formats[i], formats[j]), i == j);
    }
  }
  /* Each field alone decides, but for rounding and overflow, which change no value. */
  pf_format other[7] = {f16, f16, f16, f16, f16, f16, f16};
  other[0].precision++;
  other[1].emin--;
  other[2].max = 65536;
  other[3].has_infinity = false;
  other[4].has_negative_zero = false;
  other[5].rounding = PF_TOWARD_ZERO;
  other[6].overflow = PF_OVERFLOW_SATURATE;
  for (int i = 0; i < 7; i++) {
    assert_false(pf_format_equal(&f16, &other[i]));
    assert_int_equal(pf_format_contains(&f16, &other[i]), i >= 3);
    assert_int_equal(pf_format_contains(&other[i], &f16), i < 3 || i >= 5);
  }
  /* Only a format that has no infinity, or keeps it, leaves every value it contains. */
  const pf_format saturating = with(&f32, PF_TOWARD_ZERO, PF_OVERFLOW_SATURATE);
  const pf_format to_nan = with(&f32, PF_NEAREST_AWAY, PF_OVERFLOW_NAN);
  assert_true(pf_format_contains(&saturating, &f16) && !pf_conversion_exact(&saturating, &f16));
  assert_true(pf_conversion_exact(&saturating, &e4m3fn) && pf_conversion_exact(&to_nan, &f16));
  assert_true(pf_conversion_exact(&f32, &f16) && !pf_conversion_exact(&f16, &bf16));
  /* Its small normals are subnormals of f16: the quantum decides, not emin. */
  const pf_format short_f16 = {8, -17, 65280, true, true, 0, 0, 0};
  assert_true(pf_format_contains(&f16, &short_f16));
}

int main(void)
{
  printf("seed 0x%" PRIx64 "\n", RANDOM_SEED);
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_every_value), cmocka_unit_test(test_overflow),
    cmocka_unit_test(test_f32),         cmocka_unit_test(test_f64),
    cmocka_unit_test(test_neighbours),  cmocka_unit_test(test_constants),
    cmocka_unit_test(test_contains),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  mpfr_free_cache();
  return failed;
}
