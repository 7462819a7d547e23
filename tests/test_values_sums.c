/* The kinds that shape whole sums: cancelling pairs and midpoints, by exact sums (MPFR). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include <math.h>
#include <mpfr.h>

#include "value_checks.h"

enum { SEED = 20240607, EXACT_BITS = 4600 };

typedef struct exact {
  mpfr_t sum, size, term;  /* size: sum of the absolute terms */
  long last;               /* exponent of the last set bit of all terms */
} exact;

static void exact_open(exact *e)
{
  mpfr_inits2(EXACT_BITS, e->sum, e->size, e->term, (mpfr_ptr)NULL);
}

static void exact_close(exact *e)
{
  mpfr_clears(e->sum, e->size, e->term, (mpfr_ptr)NULL);
}

/* The exact sum of a line of x times a line of y over k = first..end-1. */
static void exact_sum(exact *e, const pf_values *x, const pf_values *y, pf_dtype t, int64_t line,
                      int64_t first, int64_t end, int64_t k_count)
{
  mpfr_set_zero(e->sum, 1);
  mpfr_set_zero(e->size, 1);
  e->last = LONG_MAX;
  for (int64_t k = first; k < end; k++) {
    mpfr_set_d(e->term, value_of(x, t, true, line, k, k_count), MPFR_RNDN);
    mpfr_mul_d(e->term, e->term, value_of(y, t, false, 2 * line + 1, k, k_count), MPFR_RNDN);
    mpfr_add(e->sum, e->sum, e->term, MPFR_RNDN);
    mpfr_abs(e->term, e->term, MPFR_RNDN);
    mpfr_add(e->size, e->size, e->term, MPFR_RNDN);
    if (mpfr_regular_p(e->term)) {
      const long last = mpfr_get_exp(e->term) - (long)mpfr_min_prec(e->term);
      e->last = last < e->last ? last : e->last;
    }
  }
}

static double condition(exact *e)
{
  if (mpfr_nan_p(e->sum) || mpfr_inf_p(e->size) || mpfr_zero_p(e->size))
    return 0;
  mpfr_div(e->term, e->size, e->sum, MPFR_RNDN);
  return fabs(mpfr_get_d(e->term, MPFR_RNDN));
}

/* Sums are ill-conditioned, about 2^precision; in a share of them nothing at all remains, yet most
   leave something.  x and y have seeds of their own, in all four parities. */
static bool looks_cancel(pf_kind kind, pf_dtype t)
{
  enum { SUMS = 400 };
  exact e;
  exact_open(&e);
  /* Partners are off by at most 3 units of at least 2^(p-1), with fp8 by one. */
  const int p = pf_format_of(t)->precision;
  const double ill = p > 4 ? ldexp(1, p - 3) : ldexp(1, p) - 1;
  int good = 0, zero = 0;
  for (int i = 0; i < SUMS; i++) {
    const pf_values x = of_kind(kind, SEED + (uint32_t)i), y = of_kind(kind, (uint32_t)i / 2);
    const int64_t k_count = 2 + 2 * (i % 16);
    exact_sum(&e, &x, &y, t, i, 0, k_count, k_count);
    good += condition(&e) >= ill;
    zero += mpfr_zero_p(e.sum) != 0;
  }
  exact_close(&e);
  return good == SUMS && zero > 4 && zero < SUMS / 2;
}

/* Where an exact sum lies between its two neighbours of `precision` bits. */
typedef enum spot { GRID, TIE_FROM_EVEN, TIE_FROM_ODD, BESIDE, ELSEWHERE, SPOTS } spot;

static spot spot_of(exact *e, int precision)
{
  if (!mpfr_regular_p(e->sum))
    return ELSEWHERE;
  mpfr_abs(e->term, e->sum, MPFR_RNDN);
  mpfr_mul_2si(e->term, e->term, precision - mpfr_get_exp(e->term), MPFR_RNDN);  /* ulps */
  const bool odd = fmod(mpfr_get_d(e->term, MPFR_RNDZ), 2) >= 1;
  mpfr_frac(e->term, e->term, MPFR_RNDN);
  if (mpfr_zero_p(e->term))
    return GRID;
  if (mpfr_cmp_d(e->term, 0.5) == 0)
    return odd ? TIE_FROM_ODD : TIE_FROM_EVEN;
  return mpfr_cmp_d(e->term, 0.25) >= 0 && mpfr_cmp_d(e->term, 0.75) <= 0 ? BESIDE : ELSEWHERE;
}

/* Most sums are ties, seen from even and from odd neighbours alike; the rest lies beside one, or
   where an addend makes one. */
static bool midpoints_of(exact *e, pf_kind kind, pf_dtype t, int64_t k_first, int64_t k_last)
{
  enum { SUMS = 500 };
  int spots[SPOTS] = { 0 };
  for (int i = 0; i < SUMS; i++) {
    const pf_values x = of_kind(kind, SEED + (uint32_t)i), y = of_kind(kind, (uint32_t)i / 2);
    const int64_t k_count = k_first + i % (k_last - k_first + 1);
    exact_sum(e, &x, &y, t, i, 0, k_count, k_count);
    spots[spot_of(e, pf_format_of(t)->precision)]++;
  }
  return spots[TIE_FROM_EVEN] > SUMS / 5 && spots[TIE_FROM_ODD] > SUMS / 5
         && spots[BESIDE] > SUMS / 10 && spots[GRID] > SUMS / 20 && spots[ELSEWHERE] == 0;
}

/* K = 1 has no room for a second term and is built another way. */
static bool looks_midpoint(pf_kind kind, pf_dtype t)
{
  exact e;
  exact_open(&e);
  const bool result = midpoints_of(&e, kind, t, 1, 1) && midpoints_of(&e, kind, t, 2, 64);
  exact_close(&e);
  return result;
}

static void test_sums_are_what_they_say(void **state)
{
  (void)state;
  static const value_check checks[] = {
    { PF_CANCEL, looks_cancel }, { PF_MIDPOINT, looks_midpoint },
  };
  assert_only_own_kind_passes(checks, sizeof checks / sizeof checks[0], 0, FLOAT_DTYPES);
}

/* Half of the seeds of x pair the two halves of K: partial sums that are large against the total
   they cancel to, as a split K needs them.  With neighbours paired, halves are as small as all. */
static void test_cancel_in_halves(void **state)
{
  (void)state;
  enum { SUMS = 200, K = 64 };
  exact e;
  exact_open(&e);
  for (int t = 0; t < FLOAT_DTYPES; t++) {
    const int p = pf_format_of((pf_dtype)t)->precision;
    const double ratio = ldexp(1, p > 7 ? p - 5 : 2);
    int large = 0;
    for (uint32_t seed = 0; seed < SUMS; seed++) {
      const pf_values x = of_kind(PF_CANCEL, seed), y = of_kind(PF_CANCEL, seed + SUMS);
      exact_sum(&e, &x, &y, (pf_dtype)t, 3, 0, K, K);
      const double total = fabs(mpfr_get_d(e.sum, MPFR_RNDN));
      exact_sum(&e, &x, &y, (pf_dtype)t, 3, 0, K / 2, K);
      const double part = fabs(mpfr_get_d(e.sum, MPFR_RNDN));
      large += part > total * ratio;
    }
    assert_in_range(large, SUMS * 3 / 10, SUMS * 7 / 10);
  }
  exact_close(&e);
}

/* In an accumulator of 24 bits every partial sum of f16, bf16 and fp8 midpoints is exact, so a
   tie cannot be blurred before it is rounded: sum of absolute terms <= 2^24 * last place. */
static void test_midpoints_are_exact_in_f32(void **state)
{
  (void)state;
  exact e;
  exact_open(&e);
  for (int t = PF_F16; t < FLOAT_DTYPES; t++)
    for (uint32_t i = 0; i < 640; i++) {
      const pf_values x = of_kind(PF_MIDPOINT, i), y = of_kind(PF_MIDPOINT, i + 1);
      const int64_t k_count = 1 + i % 64;
      exact_sum(&e, &x, &y, (pf_dtype)t, i, 0, k_count, k_count);
      assert_true(mpfr_cmp_ui_2exp(e.size, 1, e.last + 24) <= 0);
    }
  exact_close(&e);
}

/* Addends are zero as often as not; the others turn sums on the grid into ties and take ties off
   theirs. */
static void test_midpoint_addends(void **state)
{
  (void)state;
  enum { SUMS = 4000 };
  exact e;
  exact_open(&e);
  for (int t = 0; t < FLOAT_DTYPES; t++) {
    const int p = pf_format_of((pf_dtype)t)->precision;
    const pf_values v = of_kind(PF_MIDPOINT, SEED);
    int zero = 0, grid = 0, grid_to_tie = 0, tie = 0, tie_to_other = 0;
    for (int i = 0; i < SUMS; i++) {
      exact_sum(&e, &v, &v, (pf_dtype)t, i, 0, 8, 8);
      const double addend = addend_of(&v, (pf_dtype)t, i);
      const spot before = spot_of(&e, p);
      mpfr_add_d(e.sum, e.sum, addend, MPFR_RNDN);
      const spot after = spot_of(&e, p);
      const bool was_tie = before == TIE_FROM_EVEN || before == TIE_FROM_ODD;
      const bool is_tie = after == TIE_FROM_EVEN || after == TIE_FROM_ODD;
      zero += addend == 0;
      grid += before == GRID;
      grid_to_tie += before == GRID && is_tie;
      tie += was_tie;
      tie_to_other += was_tie && !is_tie;
    }
    assert_true(share_is(zero, SUMS, 0.5));
    assert_in_range(grid_to_tie, grid / 10, grid / 2);
    assert_in_range(tie_to_other, tie / 4, tie * 3 / 4);
  }
  exact_close(&e);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_sums_are_what_they_say),
    cmocka_unit_test(test_cancel_in_halves),
    cmocka_unit_test(test_midpoints_are_exact_in_f32),
    cmocka_unit_test(test_midpoint_addends),
  };
  print_message("sums of values: seed %d\n", SEED);
  return cmocka_run_group_tests_name("sums of values", tests, NULL, NULL);
}
