/* The build itself: the arithmetic that the rest relies on, seen at run time.  Operands are
   volatile: the compiler must not fold anything, since it rounds as it should whatever the flags
   say. */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dtype.h"
#include "format.h"

/* clang contracts a * b + c into one rounding where the target has fma, even with -std=c11, unless
   told otherwise.  (1 + e)(1 - e) - 1 is 0 with two roundings and -e^2 with one. */
static void test_no_contraction(void **unused)
{
  (void)unused;
  volatile double a = 1 + 0x1p-30, b = 1 - 0x1p-30, c = -1;
  volatile float d = 1 + 0x1p-13f, e = 1 - 0x1p-13f, f = -1;
  const double sum = a * b + c;
  const double difference = a * b - (-c);
  const double reversed = -c - a * b;
  const float sum32 = d * e + f;
  assert_true(sum == 0 && difference == 0 && reversed == 0);
  assert_true(sum32 == 0);
  assert_true(fma(a, b, c) == -0x1p-60); /* the inputs do tell one from the other */
  assert_true(fmaf(d, e, f) == -0x1p-26f);
}

/* The same in a loop, which the compiler may vectorise by other rules. */
static void test_no_contraction_in_loops(void **unused)
{
  (void)unused;
  volatile double source[3] = {1 + 0x1p-30, 1 - 0x1p-30, -1};
  double x[16], y[16], z[16];
  for (int i = 0; i < 16; i++) {
    x[i] = source[0];
    y[i] = source[1];
    z[i] = source[2];
  }
  for (int i = 0; i < 16; i++) {
    z[i] += x[i] * y[i];
  }
  for (int i = 0; i < 16; i++) {
    assert_true(z[i] == 0);
  }
}

/* No reassociation either, which -ffast-math and -funsafe-math-optimizations allow. */
static void test_no_reassociation(void **unused)
{
  (void)unused;
  volatile double large = 0x1p60, one = 1, tenth = 0.1, three = 3;
  assert_true((large + one) - large == 0);
  assert_true((one + large) - large == 0);
  assert_true(one / three * three == 1 && tenth * three != 0.3);
  volatile double nan = NAN, zero = 0.0, infinity = INFINITY;
  assert_true(nan != nan && isnan(nan) && isinf(infinity) && signbit(-zero));
  assert_true(isnan(zero * infinity) && isnan(infinity - infinity));
}

/* x87 registers would keep 64 bits, or floats would be computed as doubles. */
static void test_no_excess_precision(void **unused)
{
  (void)unused;
  assert_int_equal(FLT_EVAL_METHOD, 0);
  volatile double one = 1, just_above_half = 0x1p-53 + 0x1p-78, most = DBL_MAX;
  assert_true(one + just_above_half == 1 + 0x1p-52); /* 64 bits first: a tie, and then 1 */
  assert_true(isinf(most * 2 / 2));
  volatile float large = 0x1p24f, small = 1, top = FLT_MAX;
  assert_true(large + small - large == 0);
  assert_true(isinf(top * 2 / 2));
}

static void test_no_flush_to_zero(void **unused)
{
  (void)unused;
  volatile double smallest = 0x1p-1074, normal = DBL_MIN, half = 0.5, one = 1;
  assert_true(normal * half == 0x1p-1023);
  assert_true(smallest * one == 0x1p-1074 && smallest + smallest == 0x1p-1073);
  assert_true(smallest > 0);
  volatile float smallest32 = 0x1p-149f, normal32 = FLT_MIN, half32 = 0.5f;
  assert_true(normal32 * half32 == 0x1p-127f);
  assert_true(smallest32 + smallest32 == 0x1p-148f);
  assert_true((double)smallest32 == 0x1p-149 && (float)(0x1p-149 * one) == 0x1p-149f);
}

/* The library was compiled apart from this file: ask it, too. */
static void test_library(void **unused)
{
  (void)unused;
  volatile double smallest = 0x1p-1074, normal = DBL_MIN, half = 0.5;
  const pf_format *f64 = pf_format_of(PF_F64);
  const pf_format *f32 = pf_format_of(PF_F32);
  assert_true(pf_round_product(f64, normal, half) == 0x1p-1023);
  assert_true(pf_round_sum(f64, smallest, smallest) == 0x1p-1073);
  assert_true(pf_round_sum(f32, 0x1p-149, 0x1p-149) == 0x1p-148);
  assert_true(pf_round_fma(f64, smallest, 3, normal) == DBL_MIN + 0x1.8p-1073);
  assert_true(pf_next_up(f64, 0) == 0x1p-1074);
  assert_true(pf_decode(PF_F32, 1) == 0x1p-149 && pf_decode(PF_F64, 1) == 0x1p-1074);
  volatile double large = 0x1p60;
  assert_true(pf_sum_to_odd(large, -1) == 0x1.fffffffffffffp59);
}

static void test_rounding_mode(void **unused)
{
  (void)unused;
  assert_int_equal(fegetround(), FE_TONEAREST);
  volatile double one = 1, half_place = 0x1p-53, more = 0x1.8p-53;
  assert_true(one + half_place == 1 && one + more == 1 + DBL_EPSILON);
  assert_true(-one - half_place == -1 && -one - more == -1 - DBL_EPSILON);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_no_contraction),      cmocka_unit_test(test_no_contraction_in_loops),
    cmocka_unit_test(test_no_reassociation),    cmocka_unit_test(test_no_excess_precision),
    cmocka_unit_test(test_no_flush_to_zero),    cmocka_unit_test(test_library),
    cmocka_unit_test(test_rounding_mode),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
