/* Sums, products and fused multiply-adds in a format: one rounding of the exact value, by MPFR. */
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
static const pf_format f32 = {24, -126, FLT_MAX, true, true, 0, 0, 0};
static const pf_format f64 = {53, -1022, DBL_MAX, true, true, 0, 0, 0};

static const pf_rounding roundings[] = {PF_NEAREST_EVEN, PF_NEAREST_AWAY, PF_TOWARD_ZERO};

typedef struct sums {
  mpfr_t exact, a, b;
  uint64_t differs; /* cases in which rounding the double sum would have been wrong */
} sums;

static void check_sum(sums *s, const pf_format *f, double a, double b)
{
  mpfr_set_d(s->a, a, MPFR_RNDN);
  mpfr_set_d(s->b, b, MPFR_RNDN);
  mpfr_add(s->exact, s->a, s->b, MPFR_RNDN);
  const double want = reference_round(f, s->exact);
  const double got = pf_round_sum(f, a, b);
  if (!same(got, want)) {
    fail_msg("precision %d rounding %d: %a + %a gives %a, not %a", f->precision, (int)f->rounding,
             a, b, got, want);
  }
  s->differs += !same(pf_round(f, a + b), want);
}

static void check_fma(sums *s, const pf_format *f, double a, double b, double c)
{
  mpfr_set_d(s->a, a, MPFR_RNDN);
  mpfr_set_d(s->b, c, MPFR_RNDN);
  mpfr_mul_d(s->exact, s->a, b, MPFR_RNDN);
  assert_true(f->precision == 53 || mpfr_cmp_d(s->exact, a * b) == 0);
  mpfr_add(s->exact, s->exact, s->b, MPFR_RNDN);
  const double want = reference_round(f, s->exact);
  const double got = pf_round_fma(f, a, b, c);
  if (!same(got, want)) {
    fail_msg("precision %d rounding %d: fma(%a, %a, %a) gives %a, not %a", f->precision,
             (int)f->rounding, a, b, c, got, want);
  }
  s->differs += !same(pf_round(f, a * b + c), want);
}

static void check_product(sums *s, const pf_format *f, double a, double b)
{
  mpfr_set_d(s->a, a, MPFR_RNDN);
  mpfr_mul_d(s->exact, s->a, b, MPFR_RNDN);
  const double want = reference_round(f, s->exact);
  const double got = pf_round_product(f, a, b);
  if (!same(got, want)) {
    fail_msg("precision %d: %a * %a gives %a, not %a", f->precision, a, b, got, want);
  }
}

/* Sums at a midpoint or value of f, or beside it by far less than a double's last place. */
static void check_hard_sums(sums *s, const pf_format *f)
{
  const int e = random_between(-14, 3);
  const double point = ldexp((double)(next_random() >> (63 - f->precision)), e - f->precision);
  const double speck = random_double(e - 80, e - 40);
  const double part = random_double(e - 2, e + 2);
  check_sum(s, f, point, speck);
  check_sum(s, f, -speck, -point);
  check_sum(s, f, part, point - part);
  check_sum(s, f, speck, random_double(-12, 12));
  check_sum(s, f, random_double(-40, 8), random_double(-20, 8));
}

static void check_hard_fmas(sums *s, const pf_format *f)
{
  const double a = (double)(float)random_double(-8, 4);
  const double b = (double)(float)random_double(-8, 4);
  check_fma(s, f, a, b, (double)(float)random_double(-70, 8));
  check_fma(s, f, pf_round(f, a), 0x1p-3, random_double(-90, -50));
  check_fma(s, f, random_double(-80, -60), 4, pf_round(f, b) + pf_ulp(f, b) / 2);
}

static void test_single_rounding(void **unused)
{
  (void)unused;
  sums s;
  mpfr_inits2(EXACT_BITS, s.exact, s.a, s.b, (mpfr_ptr)NULL);
  for (int p = 3; p <= 51; p = p == 24 ? 51 : p + 1) {
    for (int j = 0; j < 3; j++) {
      const pf_format f = {p, -6, ldexp(2 - ldexp(1, 1 - p), 7), true, true, roundings[j], 0, 0};
      s.differs = 0;
      for (int i = 0; i < 800; i++) {
        check_hard_sums(&s, &f);
      }
      /* Rounding by way of a double is wrong on these inputs: the checks can fail. */
      assert_true(s.differs > 20);
      s.differs = 0;
      for (int i = 0; i < 1000; i++) {
        check_hard_fmas(&s, &f);
      }
      assert_true(s.differs > 20);
    }
  }
  mpfr_clears(s.exact, s.a, s.b, (mpfr_ptr)NULL);
}

static void test_f64_and_products(void **unused)
{
  (void)unused;
  sums s;
  mpfr_inits2(EXACT_BITS, s.exact, s.a, s.b, (mpfr_ptr)NULL);
  s.differs = 0;
  for (int i = 0; i < 100000; i++) {
    check_sum(&s, &f64, random_double(-1022, 1023), random_double(-1022, 1023));
    check_sum(&s, &f64, random_double(-1022, -990), random_double(-1022, -990));
    check_fma(&s, &f64, random_double(-30, 30), random_double(-30, 30), random_double(-80, 60));
    check_fma(&s, &f64, random_double(-530, -500), random_double(-560, -490),
              random_double(-1022, -990));
    check_product(&s, &f64, random_double(-600, 520), random_double(-600, 520));
    check_product(&s, &f32, (double)(float)random_double(-149, 127),
                  (double)(float)random_double(-149, 127));
    check_product(&s, &bf16, pf_round(&bf16, random_double(-133, 127)),
                  pf_round(&bf16, random_double(-133, 127)));
  }
  assert_true(s.differs > 1000); /* a product and a sum are no fused multiply-add */
  mpfr_clears(s.exact, s.a, s.b, (mpfr_ptr)NULL);
}

static double corner(void)
{
  static const double corners[] = {DBL_MAX, 0x1.ffffffffffffep1023, 0x1p1023, 0x1p970, 0x1p969,
                                   0x1.8p970, DBL_MIN, 0x1p-1074, 0x1.8p-1022, 1, 0.0,
                                   0x1.0000000000001p970, INFINITY, NAN};
  const double x = corners[next_random() % (sizeof corners / sizeof *corners)];
  return (next_random() & 1) != 0 ? -x : x;
}

/* Round-to-odd itself against MPFR: toward zero, and the last bit set where that is inexact. */
static void test_sum_to_odd(void **unused)
{
  (void)unused;
  mpfr_t exact, a, b;
  mpfr_inits2(EXACT_BITS, exact, a, b, (mpfr_ptr)NULL);
  for (int i = 0; i < 300000; i++) {
    const double x = i % 3 == 0 ? corner() : i % 3 == 1 ? random_double(-40, 40)
                                                        : random_double(-1022, 1023);
    const double y = i % 2 == 0 ? corner() : i % 3 == 1 ? random_double(-40, 40)
                                                        : random_double(960, 1023);
    mpfr_set_d(a, x, MPFR_RNDN);
    mpfr_set_d(b, y, MPFR_RNDN);
    mpfr_add(exact, a, b, MPFR_RNDN);
    uint64_t want = bits_of(mpfr_get_d(exact, MPFR_RNDZ));
    double toward_zero;
    memcpy(&toward_zero, &want, sizeof want);
    if (mpfr_number_p(exact) && mpfr_cmp_d(exact, toward_zero) != 0) {
      want |= 1;
      memcpy(&toward_zero, &want, sizeof want);
    }
    const double got = pf_sum_to_odd(x, y);
    if (!(got == toward_zero || (isnan(got) && isnan(toward_zero)))) {
      fail_msg("%a + %a to odd gives %a, not %a", x, y, got, toward_zero);
    }
  }
  mpfr_clears(exact, a, b, (mpfr_ptr)NULL);
  const pf_format saturating = with(&bf16, PF_NEAREST_EVEN, PF_OVERFLOW_SATURATE);
  assert_true(same(pf_round_sum(&bf16, DBL_MAX, DBL_MAX), INFINITY));
  assert_true(pf_round_sum(&saturating, DBL_MAX, DBL_MAX) == bf16.max);
  assert_true(pf_round_sum(&saturating, DBL_MAX, INFINITY) == bf16.max);
  const pf_format truncating = with(&bf16, PF_TOWARD_ZERO, PF_OVERFLOW_INFINITY);
  assert_true(pf_round_sum(&truncating, -DBL_MAX, -DBL_MAX) == -bf16.max);
  assert_true(same(pf_round_sum(&bf16, 1, -1), 0.0) && same(pf_round_sum(&bf16, -0.0, -0.0), -0.0));
}

int main(void)
{
  printf("seed 0x%" PRIx64 "\n", RANDOM_SEED);
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_single_rounding),
    cmocka_unit_test(test_f64_and_products),
    cmocka_unit_test(test_sum_to_odd),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  mpfr_free_cache();
  return failed;
}
