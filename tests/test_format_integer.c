/* Integers as formats: rounding, wrapping and saturation against MPFR and GMP, and against the
   machine's own two's complement; what converts to what without loss.

   Planted and seen: a place of the float kind for what lies beyond the range (wrong residues from
   2^9 on), s8 that saturates at -127, a u8 that keeps the sign, products of s32 rounded to double
   before they wrap, a conversion from float that wraps, NaN kept. */
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

#include "dtype.h"
#include "format_reference.h"

static const pf_rounding roundings[] = {PF_NEAREST_EVEN, PF_NEAREST_AWAY, PF_TOWARD_ZERO};
static const pf_overflow policies[] = {PF_OVERFLOW_WRAP, PF_OVERFLOW_SATURATE};

/* No dtype: an accumulator between s8 and s32. */
static const pf_format s16 = {.precision = 16, .emin = 15, .max = 32767,
                              .overflow = PF_OVERFLOW_WRAP, .range = PF_TWOS_COMPLEMENT};

enum { INTEGERS = 4, KINDS = 6 * INTEGERS };

/* Each integer with each rounding and policy. */
static pf_format format_number(int i)
{
  const pf_format *const plain[INTEGERS] = {pf_format_of(PF_S8), pf_format_of(PF_U8),
                                            pf_format_of(PF_S32), &s16};
  return with(plain[i % INTEGERS], roundings[i / INTEGERS % 3], policies[i / INTEGERS / 3]);
}

typedef struct operands {
  mpfr_t exact, a, b;
} operands;

static operands m;

static int open_operands(void **unused)
{
  (void)unused;
  mpfr_inits2(EXACT_BITS, m.exact, m.a, m.b, (mpfr_ptr)NULL);
  return 0;
}

static int close_operands(void **unused)
{
  (void)unused;
  mpfr_clears(m.exact, m.a, m.b, (mpfr_ptr)NULL);
  return 0;
}

static void check(const pf_format *f, const char *what, double a, double b, double got)
{
  const double want = reference_round(f, m.exact);
  if (!same(got, want)) {
    fail_msg("%s: max %g rounding %d overflow %d: %a, %a give %a, not %a", what, f->max,
             (int)f->rounding, (int)f->overflow, a, b, got, want);
  }
}

static void check_round(const pf_format *f, double x)
{
  mpfr_set_d(m.exact, x, MPFR_RNDN);
  check(f, "round", x, 0, pf_round(f, x));
}

static void test_round(void **unused)
{
  (void)unused;
  for (int i = 0; i < KINDS; i++) {
    const pf_format f = format_number(i);
    const double period = f.max - pf_lowest(&f) + 1;
    /* Quarters over several periods; around the ends of far ones; anything; what is not finite. */
    for (double x = -3 * 256; x <= 3 * 256; x += 0.25) {
      check_round(&f, x);
      check_round(&f, nextafter(x, INFINITY));
      check_round(&f, f.max + x);
      check_round(&f, pf_lowest(&f) + x);
      check_round(&f, x * period + f.max + 0.5);
    }
    for (int j = 0; j < 20000; j++) {
      check_round(&f, random_double(-10, 60));
      check_round(&f, random_double(-1022, 1023));
    }
    const double special[] = {0.0, -0.0, DBL_MAX, -DBL_MAX, 0x1p-1074, INFINITY, -INFINITY, NAN};
    for (size_t j = 0; j < sizeof special / sizeof *special; j++) {
      check_round(&f, special[j]);
    }
  }
}

/* Said once in plain numbers, so that no error of the reference can hide one of the code. */
static void test_plain_numbers(void **unused)
{
  (void)unused;
  const pf_format s8 = *pf_format_of(PF_S8), u8 = *pf_format_of(PF_U8), s32 = *pf_format_of(PF_S32);
  const pf_format f32 = *pf_format_of(PF_F32);
  const pf_format s8_sat = with(&s8, PF_NEAREST_EVEN, PF_OVERFLOW_SATURATE);
  const pf_format u8_sat = with(&u8, PF_NEAREST_EVEN, PF_OVERFLOW_SATURATE);
  assert_true(pf_lowest(&s8) == -128 && pf_lowest(&u8) == 0 && pf_lowest(&s32) == -0x1p31);
  assert_true(s8.max == 127 && u8.max == 255 && s32.max == 0x1p31 - 1);
  assert_true(pf_lowest(&f32) == -FLT_MAX);
  assert_true(pf_round(&s8, 2.5) == 2 && pf_round(&s8, 3.5) == 4 && pf_round(&s8, -2.5) == -2);
  assert_true(pf_round(&s8, 128) == -128 && pf_round(&s8, -129) == 127 && pf_round(&s8, 301) == 45);
  assert_true(pf_round(&u8, -1) == 255 && pf_round(&u8, 256) == 0 && pf_round(&u8, 511.5) == 0);
  assert_true(pf_round(&s8_sat, 127.5) == 127 && pf_round(&s8_sat, -128.6) == -128);
  assert_true(pf_round(&u8_sat, -7) == 0 && pf_round(&u8_sat, 255.5) == 255);
  assert_true(pf_round(&s8, INFINITY) == 127 && pf_round(&s8, -INFINITY) == -128);
  assert_true(same(pf_round(&s8, NAN), 0.0) && same(pf_round(&u8_sat, -0.25), 0.0));
  assert_true(pf_round_sum(&s32, 0x1p31 - 1, 1) == -0x1p31);
  assert_true(pf_round_product(&s32, -0x1p31, -0x1p31) == 0);
  assert_true(pf_round_product(&s32, 0x1p31 - 1, 0x1p31 - 1) == 1);
  assert_true(pf_unit_roundoff(&s8) == 0x1p-8 && pf_smallest_normal(&s32) == 1);
  assert_true(pf_quantum(&s8) == 0 && pf_quantum(&u8) == 0 && pf_quantum(&s32) == 0);
  assert_true(pf_ulp(&s8, 100) == 1 && pf_ulp(&u8, 1e6) == 1);
}

/* Any value of f, its ends more often than chance has them. */
static double value(const pf_format *f)
{
  const double lowest = pf_lowest(f);
  const double near_end[] = {lowest, lowest + 1, f->max, f->max - 1, 0, 1, pf_round(f, -1)};
  if (next_random() % 3 == 0) {
    return near_end[next_random() % 7];
  }
  return lowest + (double)(next_random() % (uint64_t)(f->max - lowest + 1));
}

static void test_arithmetic(void **unused)
{
  (void)unused;
  for (int i = 0; i < KINDS; i++) {
    const pf_format f = format_number(i);
    for (int j = 0; j < 30000; j++) {
      const double a = value(&f), b = value(&f), c = value(&f);
      mpfr_set_d(m.a, a, MPFR_RNDN);
      mpfr_add_d(m.exact, m.a, b, MPFR_RNDN);
      check(&f, "sum", a, b, pf_round_sum(&f, a, b));
      mpfr_mul_d(m.exact, m.a, b, MPFR_RNDN);
      check(&f, "product", a, b, pf_round_product(&f, a, b));
      mpfr_add_d(m.exact, m.exact, c, MPFR_RNDN);
      check(&f, "fma", a, b, pf_round_fma(&f, a, b, c));
    }
    /* Factors that are no integers: their product is rounded once. */
    for (int j = 0; j < 5000; j++) {
      const double a = (double)(float)random_double(-6, 8), b = (double)(float)random_double(-6, 8);
      mpfr_set_d(m.a, a, MPFR_RNDN);
      mpfr_mul_d(m.exact, m.a, b, MPFR_RNDN);
      check(&f, "product", a, b, pf_round_product(&f, a, b));
      mpfr_add_d(m.exact, m.exact, 0.5, MPFR_RNDN);
      check(&f, "fma", a, b, pf_round_fma(&f, a, b, 0.5));
      /* ties, or beside one by less than a double shows */
      const double tie = random_between(-1000, 1000) + 0.5, speck = random_double(-90, -60);
      mpfr_set_d(m.a, tie, MPFR_RNDN);
      mpfr_add_d(m.exact, m.a, speck, MPFR_RNDN);
      check(&f, "sum", tie, speck, pf_round_sum(&f, tie, speck));
    }
  }
}

/* What the machine's registers do, for the dtypes that they have. */
static void test_machine(void **unused)
{
  (void)unused;
  const pf_format *s8 = pf_format_of(PF_S8), *u8 = pf_format_of(PF_U8), *s32 = pf_format_of(PF_S32);
  for (int a = -128; a < 128; a++) {
    for (int b = -128; b < 128; b++) {
      assert_true(pf_round_sum(s8, a, b) == (int8_t)(a + b));
      assert_true(pf_round_product(s8, a, b) == (int8_t)(a * b));
      assert_true(pf_round_sum(u8, a + 128, b + 128) == (uint8_t)(a + b));
      assert_true(pf_round_product(u8, a + 128, b + 128) == (uint8_t)((a + 128) * (b + 128)));
    }
  }
  for (int i = 0; i < 1000000; i++) {
    const uint64_t draw = next_random();
    const uint32_t a = (uint32_t)draw, b = (uint32_t)(draw >> 32), c = (uint32_t)(draw >> 16);
    assert_true(pf_round_sum(s32, (int32_t)a, (int32_t)b) == (int32_t)(a + b));
    assert_true(pf_round_product(s32, (int32_t)a, (int32_t)b) == (int32_t)(a * b));
    assert_true(pf_round_fma(s32, (int32_t)a, (int32_t)b, (int32_t)c) == (int32_t)(a * b + c));
  }
}

static void test_neighbours(void **unused)
{
  (void)unused;
  for (int i = 0; i < KINDS; i++) {
    const pf_format f = format_number(i);
    const double lowest = pf_lowest(&f);
    for (int j = 0; j < 2000; j++) {
      const double x = value(&f), inside = x + 0.25;
      const double above = x == f.max ? INFINITY : x + 1, below = x == lowest ? -INFINITY : x - 1;
      assert_true(same(pf_next_up(&f, x), above == 0 ? 0.0 : above));
      assert_true(same(pf_next_down(&f, x), below == 0 ? 0.0 : below));
      assert_true(pf_next_up(&f, inside) == above && pf_next_down(&f, inside) == x);
    }
    assert_true(pf_next_up(&f, -1e300) == lowest && pf_next_up(&f, -INFINITY) == lowest);
    assert_true(pf_next_up(&f, lowest - 0.5) == lowest && pf_next_down(&f, f.max + 0.5) == f.max);
    assert_true(pf_next_down(&f, 1e300) == f.max && pf_next_down(&f, -1e300) == -INFINITY);
  }
}

/* Contained is what survives a trip: the ends, the smallest step and a sample of inner's values. */
static bool survives(const pf_format *outer, const pf_format *inner)
{
  const pf_format f = pf_conversion(outer, inner);
  const double ends[] = {pf_lowest(inner), inner->max, ldexp(1, pf_quantum(inner)),
                         pf_next_down(inner, inner->max),
                         inner->has_infinity ? (double)INFINITY : 0,
                         inner->has_negative_zero ? -0.0 : 0,
                         pf_is_integer(inner) ? 0 : (double)NAN};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    if (!same(pf_round(&f, ends[i]), ends[i])) {
      return false;
    }
  }
  for (int i = 0; i < 3000; i++) {
    const double x = pf_is_integer(inner) ? value(inner) : pf_round(inner, random_double(-9, 6));
    if (!same(pf_round(&f, x), x)) {
      return false;
    }
  }
  return true;
}

/* Every pair of dtypes and s16. */
static void test_contains(void **unused)
{
  (void)unused;
  for (int i = 0; i <= PF_DTYPE_COUNT; i++) {
    for (int j = 0; j <= PF_DTYPE_COUNT; j++) {
      const pf_format *outer = i < PF_DTYPE_COUNT ? pf_format_of((pf_dtype)i) : &s16;
      const pf_format *inner = j < PF_DTYPE_COUNT ? pf_format_of((pf_dtype)j) : &s16;
      assert_int_equal(pf_format_contains(outer, inner), survives(outer, inner));
      assert_int_equal(pf_format_equal(outer, inner), i == j);
    }
  }
  pf_format other = s16;
  other.range = PF_UNSIGNED;
  assert_false(pf_format_equal(&s16, &other));
  assert_true(pf_format_contains(&s16, &other) && !pf_format_contains(&other, &s16));
  /* A float of whole numbers still has its NaN. */
  const pf_format whole = {.precision = 2, .emin = 1, .max = 6, .overflow = PF_OVERFLOW_NAN};
  assert_false(pf_format_contains(&s16, &whole));
}

static void test_conversion(void **unused)
{
  (void)unused;
  const pf_format *s8 = pf_format_of(PF_S8), *s32 = pf_format_of(PF_S32);
  const pf_format *f32 = pf_format_of(PF_F32), *fn = pf_format_of(PF_F8_E4M3FN);
  const pf_format narrowing = pf_conversion(s8, s32), from_float = pf_conversion(s8, f32);
  const pf_format to_float = pf_conversion(fn, f32);
  assert_true(pf_format_equal(&narrowing, s8) && pf_format_equal(&to_float, fn));
  assert_true(pf_round(&narrowing, 300) == 44 && pf_round(&from_float, 300) == 127);
  assert_true(pf_round(&from_float, -1e30) == -128 && pf_round(&from_float, NAN) == 0);
  assert_true(pf_round(&from_float, 1.5) == 2 && from_float.overflow == PF_OVERFLOW_SATURATE);
}

int main(void)
{
  printf("seed 0x%" PRIx64 "\n", RANDOM_SEED);
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_round),      cmocka_unit_test(test_plain_numbers),
    cmocka_unit_test(test_arithmetic), cmocka_unit_test(test_machine),
    cmocka_unit_test(test_neighbours), cmocka_unit_test(test_contains),
    cmocka_unit_test(test_conversion),
  };
  const int failed = cmocka_run_group_tests(tests, open_operands, close_operands);
  mpfr_free_cache();
  return failed;
}
