/* Rules as text, and what the familiar ones allow: their ends against MPFR in a precision that
   holds everything, ulps against the order of the encodings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mpfr.h>

#include "mpfr_oracle.h"
#include "rule.h"

enum { SEED = 20240607, DRAWS = 20000, BITS = 6000 };

static pf_oracle oracle;

static int open_oracle(void **state)
{
  (void)state;
  print_message("seed %d\n", SEED);
  return pf_mpfr_oracle_new(&oracle);
}

static int close_oracle(void **state)
{
  (void)state;
  pf_mpfr_oracle_free(&oracle);
  return 0;
}

static pf_rule rule_of(const char *text)
{
  pf_rule r;
  pf_error e = {0};
  if (pf_rule_parse(text, &r, &e))
    fail_msg("%s: %s", text, e.text);
  return r;
}

/* --- text ---------------------------------------------------------------------------------- */

static void test_text_round_trips(void **state)
{
  (void)state;
  static const struct {
    const char *text, *printed;
  } cases[] = {
    {"contract", "contract"}, {"graph", "graph"}, {"agree", "agree"}, {"torch", "torch"},
    {"ulp:0", "ulp:0"}, {"ulp:0004", "ulp:4"}, {"ulp:65536", "ulp:65536"},
    {"abs:1e-5,rel:1e-3", "abs:1e-05,rel:0.001"}, {"rel:1e-3,abs:1e-5", "abs:1e-05,rel:0.001"},
    {"rel:0.5", "rel:0.5"}, {"abs:3", "abs:3"}, {"abs:0", "abs:0"}, {"rel:0", "abs:0"},
    {"abs:.1", "abs:0.1"}, {"abs:0x1p-30", "abs:9.31322574615479e-10"},
    {"rel:0x1.fffffffffffffp-1", "rel:0.9999999999999999"}, {"nmse:5e-4", "nmse:0.0005"},
    {"nmse:2", "nmse:2"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char printed[PF_RULE_TEXT], again[PF_RULE_TEXT];
    const pf_rule r = rule_of(cases[i].text);
    pf_rule_print(&r, printed, sizeof printed);
    const pf_rule back = rule_of(printed);
    pf_rule_print(&back, again, sizeof again);
    assert_string_equal(printed, again);
    assert_int_equal(back.kind, r.kind);
    assert_true(back.abs == r.abs && back.rel == r.rel && back.nmse == r.nmse);
    assert_int_equal(back.ulps, r.ulps);
    if (strncmp(cases[i].text, "abs:0x", 6))
      assert_string_equal(printed, cases[i].printed);
  }
}

static void test_bad_text_is_refused_where_it_is(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    size_t offset;
  } cases[] = {
    {"", 0}, {"torc", 0}, {"torch ", 0}, {"Torch", 0}, {"ulp", 0}, {"ulp:", 4}, {"ulp:-1", 4},
    {"ulp:+1", 4}, {"ulp: 1", 4}, {"ulp:1.5", 4}, {"ulp:65537", 4}, {"ulp:99999999999999999999", 4},
    {"ulp:4,abs:1", 4}, {"abs:", 4}, {"abs:x", 4}, {"abs:-1", 4}, {"abs:inf", 4}, {"abs:nan", 4},
    {"abs: 1", 4}, {"abs:1e999", 4}, {"abs:1,", 6}, {"abs:1;rel:.1", 4}, {"abs:1,abs:2", 6},
    {"abs:1,rel:1", 10}, {"rel:1", 4}, {"rel:.1,rel:.1", 7}, {"abs:1,rel:.1,abs:1", 13},
    {"abs:1,ulp:1", 6}, {"nmse:", 5}, {"nmse:-1", 5}, {"nmse:1,", 5}, {"nmse:1x", 5}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pf_rule r;
    pf_error e = {.offset = 999};
    if (pf_rule_parse(cases[i].text, &r, &e) != PF_BAD_INPUT)
      fail_msg("'%s' was taken", cases[i].text);
    assert_true(e.text[0]);
    if (e.offset != cases[i].offset)
      fail_msg("'%s': offset %zu, not %zu", cases[i].text, e.offset, cases[i].offset);
  }
}

/* --- intervals ----------------------------------------------------------------------------- */

static uint64_t draw(uint64_t *state)
{
  return pf_hash((*state)++);
}

/* Of dtype t, any exponent but infinity and NaN. */
static double draw_number(uint64_t *state, pf_dtype t)
{
  double v;
  do
    v = pf_decode(t, draw(state) & (((uint64_t)1 << (8 * pf_dtype_of(t)->bytes - 1) << 1) - 1));
  while (!isfinite(v));
  return v;
}

static void ask(const double *x, const double *y, int64_t k)
{
  const pf_sum sum = {.k = k, .x = x, .y = y, .alpha = 1};
  pf_truth truth;
  oracle.sum(oracle.state, &sum, &truth);
}

/* |x - v| <= abs + rel |v|, by exact arithmetic. */
static bool satisfies(mpfr_srcptr v, double x, double abs, double rel)
{
  mpfr_t apart, width;
  mpfr_inits2(BITS, apart, width, (mpfr_ptr)NULL);
  int inexact = mpfr_sub_d(apart, v, x, MPFR_RNDN);
  mpfr_abs(apart, apart, MPFR_RNDN);
  inexact |= mpfr_mul_d(width, v, rel, MPFR_RNDN);
  mpfr_abs(width, width, MPFR_RNDN);
  inexact |= mpfr_add_d(width, width, abs, MPFR_RNDN);
  const bool ok = mpfr_cmp(apart, width) <= 0;
  mpfr_clears(apart, width, (mpfr_ptr)NULL);
  assert_int_equal(inexact, 0);
  return ok;
}

static void sum_exactly(mpfr_ptr v, const double *x, const double *y, int64_t k)
{
  mpfr_t p;
  int inexact = 0;
  mpfr_init2(p, BITS);
  mpfr_set_zero(v, 1);
  for (int64_t i = 0; i < k; i++) {
    inexact |= mpfr_set_d(p, x[i], MPFR_RNDN);
    inexact |= mpfr_mul_d(p, p, y[i], MPFR_RNDN);
    inexact |= mpfr_add(v, v, p, MPFR_RNDN);
  }
  mpfr_clear(p);
  assert_int_equal(inexact, 0);
}

/* Each end is inside, the double beside it is not; where no double is inside, neither end's
   neighbour is.  Catches ends rounded outwards or to nearest, tolerances rounded on their way, and
   rel with the wrong sign for a negative v. */
static void test_ends_are_exact(void **state)
{
  (void)state;
  static const double tolerances[][2] = {{1e-5, 1.3e-6}, {1e-7, 1e-7}, {0, 0},   {1e-5, 0},
                                         {0, 1e-3},      {0, 0x1p-1074}, {0x1p-1074, 0},
                                         {1e300, 0.999}, {0x1p-24, 0x1.fffffffffffffp-1}};
  uint64_t random = SEED;
  mpfr_t v;
  mpfr_init2(v, BITS);
  for (int i = 0; i < DRAWS / 4; i++) {
    const pf_dtype t = i % 3 ? PF_F32 : PF_F64;
    const double *tolerance = tolerances[draw(&random) % 9];
    const double abs = tolerance[0], rel = tolerance[1];
    const int64_t k = 1 + (int64_t)(draw(&random) % 4);
    double x[4], y[4], lo, hi;
    for (int64_t j = 0; j < k; j++) {
      x[j] = draw_number(&random, t);
      y[j] = i & 4 ? draw_number(&random, t) : 1;
    }
    ask(x, y, k);
    sum_exactly(v, x, y, k);
    oracle.within(oracle.state, abs, rel, &lo, &hi);
    if (lo <= hi) {
      assert_true(satisfies(v, lo, abs, rel) && satisfies(v, hi, abs, rel));
      assert_true(lo == -0x1.fffffffffffffp1023 ||
                  !satisfies(v, nextafter(lo, -INFINITY), abs, rel));
      assert_true(hi == 0x1.fffffffffffffp1023 || !satisfies(v, nextafter(hi, INFINITY), abs, rel));
    } else {
      assert_true(nextafter(hi, INFINITY) == lo || isinf(lo) || isinf(hi));
      assert_false((isfinite(lo) && satisfies(v, lo, abs, rel)) ||
                   (isfinite(hi) && satisfies(v, hi, abs, rel)));
    }
  }
  mpfr_clear(v);
}

static pf_step last_of(pf_dtype t)
{
  return (pf_step){.out = *pf_format_of(t), .storage = t};
}

/* Of the output's own numbers around both ends exactly those that satisfy torch's inequality. */
static void test_torch_takes_its_table(void **state)
{
  (void)state;
  static const struct {
    pf_dtype dtype;
    double abs, rel;
  } table[] = {{PF_F64, 1e-7, 1e-7}, {PF_F32, 1e-5, 1.3e-6}, {PF_F16, 1e-5, 1e-3},
               {PF_BF16, 1e-5, 1.6e-2}};
  const pf_rule torch = rule_of("torch");
  uint64_t random = SEED;
  mpfr_t v;
  mpfr_init2(v, BITS);
  for (int i = 0; i < DRAWS / 4; i++) {
    const pf_dtype t = table[i % 4].dtype;
    const pf_step last = last_of(t);
    const double x[2] = {draw_number(&random, PF_BF16), draw_number(&random, PF_BF16)};
    const double y[2] = {1, draw(&random) % 2 ? 0x1p-20 : 0};
    ask(x, y, 2);
    sum_exactly(v, x, y, 2);
    if (!isfinite(oracle.nearest(oracle.state, &last.out)))
      continue;
    const pf_set s = pf_rule_allows(&torch, &last, &oracle).set;
    for (int side = 0; side < 2; side++) {
      double got = pf_round(&last.out, side ? s.hi : s.lo);
      got = pf_next_down(&last.out, pf_next_down(&last.out, got));
      for (int step = 0; step < 5; step++, got = pf_next_up(&last.out, got))
        if (isfinite(got))
          assert_int_equal(pf_set_allows(&s, got),
                           satisfies(v, got, table[i % 4].abs, table[i % 4].rel));
    }
  }
  mpfr_clear(v);
}

/* Place of a 16-bit encoding among all numbers; both zeros are 0. */
static int ordinal(uint64_t bits)
{
  const int magnitude = (int)(bits & 0x7fff);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/* Of all encodings exactly those within N steps, infinities as the steps beyond the largest. */
static void test_ulps_count_encodings(void **state)
{
  (void)state;
  static const char *const texts[] = {"ulp:0", "ulp:1", "ulp:4", "ulp:300"};
  static const double one[1] = {1};
  uint64_t random = SEED;
  for (int i = 0; i < 120; i++) {
    const pf_dtype t = i % 2 ? PF_BF16 : PF_F16;
    const pf_step last = last_of(t);
    const pf_rule rule = rule_of(texts[i / 2 % 4]);
    /* near zero, near the largest number, anywhere */
    const double scale = i % 3 == 0 ? ldexp(1, pf_quantum(&last.out) + 2)
                         : i % 3 == 1 ? last.out.max : pf_decode(t, draw(&random) & 0x7bff);
    const double x[1] = {scale * (0.99 + 0.02 * (double)(draw(&random) >> 40) * 0x1p-24) *
                         (draw(&random) % 2 ? 1 : -1)};
    ask(x, one, 1);
    const double nearest = oracle.nearest(oracle.state, &last.out);
    const int at = ordinal(pf_encode(t, nearest));
    const pf_set s = pf_rule_allows(&rule, &last, &oracle).set;
    for (uint64_t bits = 0; bits < 0x10000; bits++) {
      const double got = pf_decode(t, bits);
      const bool expected = !isnan(got) && llabs(ordinal(bits) - at) <= rule.ulps;
      if (pf_set_allows(&s, got) != expected)
        fail_msg("%s around %a: %a", texts[i / 2 % 4], x[0], got);
    }
  }
}

/* A greater v never gives a lesser end. */
static void test_ends_are_monotone(void **state)
{
  (void)state;
  static const char *const texts[] = {"torch", "ulp:0", "ulp:3", "abs:1e-3,rel:0.9", "rel:0.25",
                                      "abs:1"};
  static const pf_dtype dtypes[] = {PF_BF16, PF_F16, PF_F32, PF_F64};
  uint64_t random = SEED;
  for (int i = 0; i < DRAWS; i++) {
    const pf_rule rule = rule_of(texts[i % 6]);
    const pf_step last = last_of(dtypes[i / 6 % 4]);
    const double one = 1, a = draw_number(&random, PF_F64) * (i & 1 ? 1 : 0x1p-900);
    const double b = i & 2 ? nextafter(a, INFINITY) : a + fabs(a) * 0x1p-12;
    ask(&a, &one, 1);
    const pf_set low = pf_rule_allows(&rule, &last, &oracle).set;
    ask(&b, &one, 1);
    const pf_set high = pf_rule_allows(&rule, &last, &oracle).set;
    assert_true(low.lo <= high.lo && low.hi <= high.hi);
    assert_true(low.plus_infinity <= high.plus_infinity);
    assert_true(low.minus_infinity >= high.minus_infinity);
  }
}

/* --- nmse ---------------------------------------------------------------------------------- */

static void test_nmse_is_a_ratio_of_squares(void **state)
{
  (void)state;
  for (int scale = -500; scale <= 500; scale += 250) {
    pf_nmse n = {0};
    assert_true(pf_nmse_of(&n) == 0);
    pf_nmse_add(&n, ldexp(3, scale), ldexp(-4, scale));
    pf_nmse_add(&n, 0, ldexp(12, scale));
    pf_nmse_add(&n, ldexp(4, scale), 0);
    assert_true(fabs(pf_nmse_of(&n) / (25.0 / 160) - 1) < 1e-15);
    pf_nmse_add(&n, INFINITY, 1);
    pf_nmse_add(&n, 1, NAN);
    assert_true(fabs(pf_nmse_of(&n) / (25.0 / 160) - 1) < 1e-15);
  }
  pf_nmse none = {0};
  pf_nmse_add(&none, 0, 0);
  assert_true(pf_nmse_of(&none) == 0);
  pf_nmse_add(&none, 0x1p-1074, 0);
  assert_true(isinf(pf_nmse_of(&none)));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_text_round_trips),
    cmocka_unit_test(test_bad_text_is_refused_where_it_is),
    cmocka_unit_test(test_ends_are_exact),
    cmocka_unit_test(test_torch_takes_its_table),
    cmocka_unit_test(test_ulps_count_encodings),
    cmocka_unit_test(test_ends_are_monotone),
    cmocka_unit_test(test_nmse_is_a_ratio_of_squares),
  };
  return cmocka_run_group_tests(tests, open_oracle, close_oracle);
}
