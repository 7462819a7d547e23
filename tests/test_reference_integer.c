/* Reference sums of integers: in s32 the exact sum modulo 2^32 in every order, by MPFR; saturating
   ones step by step.

   Planted and seen: partial sums in double (wrong from 2^53 on), products of s32 that round,
   saturation that wraps, flushing that takes integers for subnormals, start c that is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dtype.h"
#include "format_reference.h"
#include "reference.h"

enum { MOST_TERMS = 300 };

typedef struct problem {
  double x[MOST_TERMS], y[MOST_TERMS];
  pf_sum terms;
  pf_accumulator acc;
  pf_summation order;
  pf_format out;
} problem;

static double element(pf_dtype t)
{
  static const double ends[] = {-0x1p31, 0x1p31 - 1, -128, 127, 255, -1, 0, 1};
  if (next_random() % 8 == 0)
    return pf_round(pf_format_of(t), ends[next_random() % 8]);
  return pf_decode(t, next_random() >> (64 - 8 * pf_dtype_of(t)->bytes));
}

static pf_summation random_order(void)
{
  pf_summation s = {.order = (pf_order)random_between(PF_FORWARD, PF_LANES),
                    .fused = next_random() & 1};
  if (s.order == PF_BLOCKED || s.order == PF_LANES)
    s.width = random_between(1, 64);
  return s;
}

static void random_problem(problem *p)
{
  static const pf_dtype operand[] = {PF_S8, PF_U8, PF_S32};
  static const pf_dtype result[] = {PF_S32, PF_S8, PF_U8, PF_F32, PF_BF16, PF_F8_E4M3FN};
  const pf_dtype x = operand[next_random() % 3], y = operand[next_random() % 3];
  *p = (problem){.order = random_order(), .out = *pf_format_of(result[next_random() % 6])};
  p->acc.format = p->acc.product = *pf_format_of(PF_S32);
  const int k = next_random() % 8 ? random_between(0, 20) : random_between(0, MOST_TERMS);
  for (int i = 0; i < k; i++) {
    p->x[i] = element(x);
    p->y[i] = element(y);
  }
  p->terms = (pf_sum){.k = k, .x = p->x, .y = p->y, .alpha = 1};
  if (next_random() & 1)
    p->terms.alpha = element(PF_S8);
  if (next_random() & 1) {
    p->terms.beta = element(PF_S8);
    p->terms.c = element(PF_S32);
  }
  if (next_random() & 1)
    p->terms.bias = element(PF_S32);
  if (next_random() % 3 == 0)
    p->out.overflow = pf_is_integer(&p->out) ? PF_OVERFLOW_SATURATE : p->out.overflow;
}

static double exact_sum(const problem *p, int64_t k)
{
  mpfr_t sum, term;
  mpfr_inits2(EXACT_BITS, sum, term, (mpfr_ptr)NULL);
  mpfr_set_zero(sum, 1);
  for (int64_t i = 0; i < k; i++) {
    mpfr_set_d(term, p->x[i], MPFR_RNDN);
    mpfr_mul_d(term, term, p->y[i], MPFR_RNDN);
    mpfr_add(sum, sum, term, MPFR_RNDN);
  }
  mpfr_mul_d(sum, sum, p->terms.alpha, MPFR_RNDN);
  mpfr_set_d(term, p->terms.beta, MPFR_RNDN);
  mpfr_mul_d(term, term, p->terms.c, MPFR_RNDN);
  mpfr_add(sum, sum, term, MPFR_RNDN);
  mpfr_add_d(sum, sum, p->terms.bias, MPFR_RNDN);
  mpfr_set_d(term, reference_round(pf_format_of(PF_S32), sum), MPFR_RNDN);
  const double v = reference_round(&p->out, term);
  mpfr_clears(sum, term, (mpfr_ptr)NULL);
  return v;
}

static void check(const problem *p, const char *what, double want)
{
  const double got = pf_reference_sum(&p->acc, &p->order, false, &p->out, &p->terms);
  const double summed = pf_reference_sum(&p->acc, &p->order, true, &p->out, &p->terms);
  if (!same(got + 0.0, want + 0.0) || !same(summed, got))
    fail_msg("%s, K %lld, order %d fused %d alpha %g beta %g c %g bias %g: %a and %a, not %a", what,
             (long long)p->terms.k, (int)p->order.order, p->order.fused, p->terms.alpha,
             p->terms.beta, p->terms.c, p->terms.bias, got, summed, want);
}

static void test_wrapping(void **unused)
{
  (void)unused;
  for (int i = 0; i < 30000; i++) {
    problem p;
    random_problem(&p);
    const double want = exact_sum(&p, p.terms.k);
    check(&p, "engine's order", want);
    p.acc.sum = random_order();
    check(&p, "stated order", want);
    p.acc.ftz_in = p.acc.ftz_out = true;
    check(&p, "flushed", want);
    if (p.terms.alpha == 1) {
      p.acc.start_c = true;
      check(&p, "from c", want);
    }
    p.acc.drop = random_between(0, 3);
    check(&p, "dropped", exact_sum(&p, p.terms.k > p.acc.drop ? p.terms.k - p.acc.drop : 0));
  }
}

/* Parts are rounded to the output: modulo 2^8, modulo 2^32, that is no loss. */
static void test_split(void **unused)
{
  (void)unused;
  for (int i = 0; i < 5000; i++) {
    problem p;
    random_problem(&p);
    p.out = *pf_format_of(i & 1 ? PF_S32 : PF_S8);
    p.acc.sum = random_order();
    p.acc.split = random_between(2, 5);
    check(&p, "split", exact_sum(&p, p.terms.k));
  }
}

static int64_t hold(int64_t v, const pf_format *f)
{
  const int64_t max = (int64_t)f->max, lowest = (int64_t)pf_lowest(f);
  return v > max ? max : v < lowest ? lowest : v;
}

/* First to last or back; each product, unless fused, and each sum stays at the end it reached. */
static void test_saturating(void **unused)
{
  (void)unused;
  const pf_format s16 = {.precision = 16, .emin = 15, .max = 32767,
                         .overflow = PF_OVERFLOW_SATURATE, .range = PF_TWOS_COMPLEMENT};
  int held = 0;
  for (int i = 0; i < 20000; i++) {
    problem p;
    random_problem(&p);
    p.acc.format = i & 1 ? s16 : with(pf_format_of(PF_S32), PF_NEAREST_EVEN, PF_OVERFLOW_SATURATE);
    p.acc.product = p.acc.format;
    p.acc.sum = (pf_summation){.order = i & 2 ? PF_FORWARD : PF_BACKWARD, .fused = i & 4};
    p.acc.ftz_in = p.acc.ftz_out = i & 8;
    p.out = *pf_format_of(PF_S32);
    p.terms.alpha = 1;
    p.terms.beta = p.terms.bias = 0;
    int64_t sum = 0;
    double plain = 0;
    for (int64_t j = 0; j < p.terms.k; j++) {
      const int64_t at = i & 2 ? j : p.terms.k - 1 - j;
      const int64_t product = (int64_t)p.x[at] * (int64_t)p.y[at];
      sum = hold(sum + (i & 4 ? product : hold(product, &p.acc.format)), &p.acc.format);
      plain += (double)product;
    }
    const double got = pf_reference_sum(&p.acc, &p.order, false, &p.out, &p.terms);
    if (got != (double)sum)
      fail_msg("K %lld: %.17g, not %lld", (long long)p.terms.k, got, (long long)sum);
    plain = fmin(fmax(plain, pf_lowest(&p.acc.format)), p.acc.format.max);
    held += fabs(plain - got) > 1;
  }
  assert_true(held > 1000);  /* where it matters that partial sums are held, too */
}

static void test_plain_numbers(void **unused)
{
  (void)unused;
  const pf_format s32 = *pf_format_of(PF_S32);
  const pf_summation forward = {.order = PF_FORWARD};
  pf_accumulator acc = {.format = s32, .product = s32};
  const double x[] = {0x1p31 - 1, 1, -0x1p31}, y[] = {1, 1, -0x1p31};
  const pf_sum two = {.k = 2, .x = x, .y = y, .alpha = 1};
  const pf_sum three = {.k = 3, .x = x, .y = y, .alpha = 1};
  assert_true(pf_reference_sum(&acc, &forward, false, &s32, &two) == -0x1p31);
  assert_true(pf_reference_sum(&acc, &forward, false, &s32, &three) == -0x1p31);
  assert_true(pf_reference_sum(&acc, &forward, false, pf_format_of(PF_S8), &two) == 0);
  acc.format.overflow = acc.product.overflow = PF_OVERFLOW_SATURATE;
  acc.sum = forward;
  assert_true(pf_reference_sum(&acc, &forward, false, &s32, &two) == 0x1p31 - 1);
  assert_true(pf_reference_sum(&acc, &forward, false, &s32, &three) == 0x1p31 - 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_wrapping),
    cmocka_unit_test(test_split),
    cmocka_unit_test(test_saturating),
    cmocka_unit_test(test_plain_numbers),
  };
  print_message("seed %#llx\n", (unsigned long long)RANDOM_SEED);
  const int failed = cmocka_run_group_tests_name("reference sums of integers", tests, NULL, NULL);
  mpfr_free_cache();
  return failed;
}
