/* Conversions by MPFR against pf_round and the oracle's nearest: all encodings of 8 and 16 bits
   into every format, random f32 and f64, and what lies at and beside each kind of midpoint.

   Planted and seen: no mpfr_subnormalize, ties to even in place of away, an infinity that saturates
   under every policy, 480 for a value of e4m3fn, a modulus of 2^bits - 1, the exponent range left
   narrow, fnuz's NaN read as -0. */
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

#include "cast.h"
#include "format_reference.h"
#include "oracle_fixture.h"
#include "random_source.h"

enum { STRIDE = 10 / FEWER(10) };

static void check(const pf_format *f, double x)
{
  const double got = pf_round(f, x), want = pf_mpfr_round(f, x);
  if (!same(got, want)) {
    char name[PF_CAST_NAME];
    pf_format_print(f, name, sizeof name);
    fail_msg("%a to %s: pf_round gives %a, MPFR %a", x, name, got, want);
  }
}

static void check_nearest(const pf_format *f, double x)
{
  const pf_sum ask = {.alpha = 1, .bias = x};
  pf_truth truth;
  oracle.sum(oracle.state, &ask, &truth);
  const double nearest = oracle.nearest(oracle.state, f), want = pf_mpfr_round(f, x);
  assert_true(isnan(want) ? isnan(nearest) : nearest == want);
}

/* Each format with each of its roundings and policies. */
static int list_formats(pf_format to[256])
{
  int n = 0;
  for (int i = 0; i < pf_cast_pool(); i++) {
    const pf_format f = pf_cast_format(i);
    for (int j = 0; j < pf_cast_variants(&f); j++) {
      assert_true(n < 256);
      to[n++] = pf_cast_variant(&f, j);
    }
  }
  return n;
}

static void test_every_encoding(void **unused)
{
  (void)unused;
  pf_format format[256];
  const int formats = list_formats(format);
  int64_t checked = 0;
  for (int t = 0; t < PF_DTYPE_COUNT; t++) {
    const int bytes = pf_dtype_of((pf_dtype)t)->bytes;
    if (bytes > 2) {
      continue;
    }
    for (uint32_t bits = 0; bits < UINT32_C(1) << 8 * bytes; bits += bytes == 2 ? STRIDE : 1) {
      const double x = pf_decode((pf_dtype)t, bits);
      for (int i = 0; i < formats; i++, checked++) {
        check(&format[i], x);
      }
    }
  }
  print_message("%d formats, %" PRId64 " conversions\n", formats, checked);
  assert_true(formats > 100);
}

/* The point, its neighbours in f64 and those in f32, of both signs. */
static void check_around(const pf_format *f, double x)
{
  const float narrow = (float)x;
  const double points[] = {x, nextafter(x, INFINITY), nextafter(x, 0), narrow,
                           nextafterf(narrow, INFINITY), nextafterf(narrow, 0)};
  for (int i = 0; i < 6; i++) {
    check(f, points[i]);
    check(f, -points[i]);
  }
}

static void test_midpoints(void **unused)
{
  (void)unused;
  pf_format format[256];
  const int formats = list_formats(format);
  for (int i = 0; i < formats; i++) {
    const pf_format *f = &format[i];
    const int low = pf_quantum(f) - 2, high = ilogb(f->max);
    const double ends[] = {f->max, ldexp(1, pf_quantum(f)), pf_smallest_normal(f), -pf_lowest(f)};
    for (int j = 0; j < 4; j++) {
      for (int k = -4; k <= 6; k++) {
        check_around(f, ends[j] + k * pf_ulp(f, ends[j]) / 4);
      }
    }
    for (int j = 0; j < FEWER(4000); j++) {
      pf_format plain = *f;
      plain.overflow = PF_OVERFLOW_SATURATE;
      const double v = fabs(pf_round(&plain, random_double(low, high)));
      check_around(f, v + pf_ulp(f, v) / 2);
      check_around(f, v);
    }
  }
}

static void test_random(void **unused)
{
  (void)unused;
  pf_format format[256];
  const int formats = list_formats(format);
  for (int i = 0; i < formats; i++) {
    const pf_format *f = &format[i];
    const int low = pf_quantum(f) - 2 < -1022 ? -1022 : pf_quantum(f) - 2;
    const int high = ilogb(f->max) + 2 > 1023 ? 1023 : ilogb(f->max) + 2;
    for (int j = 0; j < FEWER(6000); j++) {
      const double near = random_double(low, high), far = random_double(-1022, 1023);
      uint64_t bits = next_random();
      double raw;
      memcpy(&raw, &bits, sizeof raw);
      check(f, near);
      check(f, (double)(float)near);
      check(f, far);
      check(f, raw);
      check_nearest(f, near);
      check_nearest(f, far);
    }
  }
}

/* Said once in plain numbers, so that no error of one can hide one of the other. */
static void test_numbers(void **unused)
{
  (void)unused;
  static const struct {
    pf_dtype to;
    pf_rounding rounding;
    pf_overflow overflow;
    double x, due;
  } cases[] = {
    {PF_F16, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, 2049, 2048},
    {PF_F16, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, 2051, 2052},
    {PF_F16, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, 0x1.002000000001p11, 2050},
    {PF_F16, PF_NEAREST_AWAY, PF_OVERFLOW_INFINITY, -2049, -2050},
    {PF_F16, PF_TOWARD_ZERO, PF_OVERFLOW_INFINITY, 2049.999, 2048},
    {PF_F16, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, 65520, INFINITY},
    {PF_F16, PF_TOWARD_ZERO, PF_OVERFLOW_INFINITY, 1e300, 65504},
    /* rounded to 11 bits first it would be a tie, and then down */
    {PF_F16, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, 0x1.80001p-24, 0x1p-23},
    {PF_F16, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, 0x1p-25, 0},
    {PF_F16, PF_NEAREST_AWAY, PF_OVERFLOW_INFINITY, 0x1p-25, 0x1p-24},
    {PF_F8_E4M3FN, PF_NEAREST_EVEN, PF_OVERFLOW_NAN, 464, 448},
    {PF_F8_E4M3FN, PF_NEAREST_EVEN, PF_OVERFLOW_NAN, 464.5, NAN},
    {PF_F8_E4M3FN, PF_NEAREST_AWAY, PF_OVERFLOW_SATURATE, -464, -448},
    {PF_F8_E4M3FNUZ, PF_NEAREST_EVEN, PF_OVERFLOW_NAN, -0.0, 0},
    {PF_F8_E4M3FNUZ, PF_NEAREST_EVEN, PF_OVERFLOW_NAN, -0x1p-11, 0},
    {PF_F8_E5M2, PF_NEAREST_EVEN, PF_OVERFLOW_SATURATE, INFINITY, 57344},
    {PF_F8_E5M2, PF_NEAREST_EVEN, PF_OVERFLOW_NAN, -INFINITY, -INFINITY},
    {PF_F32, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, 0x1p-150, 0},
    {PF_F32, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, -0x1.8p-150, -0x1p-149},
    {PF_F64, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, 0x1p-1074, 0x1p-1074},
    {PF_S8, PF_NEAREST_EVEN, PF_OVERFLOW_WRAP, 300, 44},
    {PF_S8, PF_NEAREST_EVEN, PF_OVERFLOW_WRAP, -0x1p80, 0},
    {PF_S8, PF_NEAREST_EVEN, PF_OVERFLOW_WRAP, NAN, 0},
    {PF_U8, PF_NEAREST_EVEN, PF_OVERFLOW_WRAP, -1, 255},
    {PF_U8, PF_NEAREST_AWAY, PF_OVERFLOW_SATURATE, -0.5, 0},
    {PF_S32, PF_NEAREST_EVEN, PF_OVERFLOW_SATURATE, -INFINITY, -0x1p31},
    {PF_S32, PF_NEAREST_EVEN, PF_OVERFLOW_WRAP, 2.5, 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const pf_format f = with(pf_format_of(cases[i].to), cases[i].rounding, cases[i].overflow);
    const double got = pf_mpfr_round(&f, cases[i].x);
    if (!same(got, cases[i].due)) {
      fail_msg("case %zu: %a gives %a, not %a", i, cases[i].x, got, cases[i].due);
    }
  }
}

static void test_decode(void **unused)
{
  (void)unused;
  for (int t = 0; t < PF_DTYPE_COUNT; t++) {
    const int width = 8 * pf_dtype_of((pf_dtype)t)->bytes;
    for (uint32_t i = 0; i < 65536; i++) {
      const uint64_t bits = width <= 16 ? i & ((1u << width) - 1) : next_random() >> (64 - width);
      assert_true(same(pf_mpfr_decode((pf_dtype)t, bits), pf_decode((pf_dtype)t, bits)));
    }
  }
  for (int i = 0; i < 100000; i++) {
    const uint64_t bits64 = i % 2 ? next_random() : next_random() & UINT64_C(0x800fffffffffffff);
    const uint32_t bits32 = (uint32_t)(bits64 >> 32);
    double d;
    float s;
    memcpy(&d, &bits64, sizeof d);
    memcpy(&s, &bits32, sizeof s);
    assert_true(same(pf_mpfr_decode(PF_F64, bits64), d));
    assert_true(same(pf_mpfr_decode(PF_F32, bits32), (double)s));
  }
  assert_true(isnan(pf_mpfr_decode(PF_F8_E4M3FN, 0xff)) &&
              isnan(pf_mpfr_decode(PF_F8_E5M2FNUZ, 0x80)));
  assert_true(pf_mpfr_decode(PF_F8_E5M2, 0xfc) == -(double)INFINITY);
  assert_true(pf_mpfr_decode(PF_S8, 0x80) == -128 && pf_mpfr_decode(PF_U8, 0x80) == 128);
}

static void test_exponent_range(void **unused)
{
  (void)unused;
  const mpfr_exp_t emin = mpfr_get_emin();
  assert_int_equal(mpfr_set_emin(-3000), 0);
  assert_true(pf_mpfr_round(pf_format_of(PF_F16), 0x1p-25) == 0);
  assert_int_equal(mpfr_get_emin(), -3000);
  assert_int_equal(mpfr_set_emin(emin), 0);
}

int main(void)
{
  printf("seed 0x%" PRIx64 "\n", RANDOM_SEED);
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_every_encoding), cmocka_unit_test(test_midpoints),
    cmocka_unit_test(test_random),         cmocka_unit_test(test_numbers),
    cmocka_unit_test(test_decode),         cmocka_unit_test(test_exponent_range),
  };
  return cmocka_run_group_tests(tests, open_oracle, close_oracle);
}
