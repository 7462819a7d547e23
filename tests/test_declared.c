/* What engines declare: a habit is a finding where it is not declared, and none where it is; what
   certified arithmetic settles for such engines the exact oracle would have settled so, too.

   What was planted and seen: a hundredth of what flushed sums may lose, c left out of what flushed
   operands may lose, the flushed interval alone where flushing is only possible, results not flushed,
   negative ones not, a skipped zero that takes part, exactness kept under flushing, an alpha whose
   product is flushed to zero before it meets infinity, what was widened flushed at the range of what
   it was, blocks walked where c comes last, where the flushed sum is another, or where the sum is
   weak for what is flushed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plugin_fixture.h"
#include "plugin_parts.h"
#include "random_cases.h"

#define HABITS(ARGUMENT) PLUGIN("habits") ":" ARGUMENT

static const uint64_t SEED = 0x6465636c;
static const pf_plugin_options here = {.threads = 1};

static void check_difference(const char *engine)
{
  const pf_difference *d = &session.difference;
  if (session.differing)
    fail_msg("%s: element %lld: certified [%a, %a], block [%a, %a], exact [%a, %a]", engine,
             (long long)d->element, d->inside.lo, d->inside.hi, d->lo, d->hi, d->exact.lo,
             d->exact.hi);
}

/* Findings in random cases of f32 of one kind of values. */
static int findings(const char *engine, uint32_t kinds, int cases)
{
  const pf_filter filter = {.dtypes = 1u << PF_F32, .kinds = kinds, .max_work = 1 << 9,
                            .graphs = 1u << PF_MATMUL_PLAIN | 1u << PF_ADDMM | 1u << PF_LINEAR};
  random_source r = {SEED};
  seen s = {0};
  pf_error e = {0};
  select_engines(engine, &here);
  session.options.oracle = PF_ORACLE_BOTH;
  session.differing = 0;
  assert_int_equal(pf_options_strategies(&session.options, "eager", &e), PF_OK);
  for (int i = 0; i < cases; i++) {
    pf_case c;
    random_case(&r, &filter, &session.cases, &c);
    assert_int_equal(pf_session_examine(&session, &c, note, &s), PF_OK);
    check_difference(engine);
  }
  pf_options_close(&session.options);
  assert_int_equal(s.machinery, PF_OK);
  assert_in_range(s.verdict[PF_VERDICT_UNSUPPORTED], 0, cases / 2);
  return s.verdict[PF_VERDICT_IMPOSSIBLE] + s.verdict[PF_VERDICT_SPECIAL];
}

enum { CASES = 400 };

#define KIND(NAME) (1u << PF_##NAME)

static void check_habit(const char *deeds, const char *const *says, uint32_t kinds)
{
  char engine[200];
  snprintf(engine, sizeof engine, HABITS("%s"), deeds);
  if (!findings(engine, kinds, CASES))
    fail_msg("%s: no finding", engine);
  for (; *says; says++) {
    snprintf(engine, sizeof engine, HABITS("%s/%s"), deeds, *says);
    const int n = findings(engine, kinds, CASES);
    if (n)
      fail_msg("%s: %d findings", engine, n);
  }
}

#define SAYS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_flushed_operands(void **state)
{
  (void)state;
  check_habit("daz", SAYS("daz", "may-daz", "may-daz+may-ftz+may-flush"), KIND(SUBNORMAL));
  check_habit("daz", SAYS("daz", "may-daz"), KIND(BITS) | KIND(SUBNORMAL));
}

static void test_flushed_sums(void **state)
{
  (void)state;
  check_habit("ftz", SAYS("ftz", "may-ftz"), KIND(SUBNORMAL) | KIND(WIDE) | KIND(CORNER));
  check_habit("daz+ftz", SAYS("daz+ftz", "may-daz+may-ftz"), KIND(SUBNORMAL) | KIND(WIDE));
}

static void test_flushed_results(void **state)
{
  (void)state;
  check_habit("flush", SAYS("flush", "may-flush"), KIND(SUBNORMAL) | KIND(WIDE) | KIND(CORNER));
}

static void test_narrow_accumulator(void **state)
{
  (void)state;
  check_habit("bf16", SAYS("bf16"), KIND(NORMAL) | KIND(CANCEL));
}

static void check_case(const char *text, const char *engine, pf_verdict verdict)
{
  const seen s = examine_opened(text, engine, "eager", &here);
  if (s.machinery || s.verdict[verdict] != 1)
    fail_msg("%s on %s: not %s: %s", text, engine, pf_verdict_name(verdict), s.why);
}

/* Rounding c may take all of it, and more. */
static void test_c_below_a_narrow_accumulator(void **state)
{
  (void)state;
  const char *text = "addmm x=f32[1,1] y=f32[1,1] c=f32[1,1] x.bits=0 y.bits=0 c.bits=00000200";
  check_case(text, HABITS("bf16/bf16"), PF_VERDICT_VACUOUS);
  check_case(text, HABITS("/bf16"), PF_VERDICT_VACUOUS);
  check_case(text, HABITS(""), PF_VERDICT_OK);
}

/* 1 + 2^-8 + 2^-40 is stored in f32 before it is rounded to bf16. */
static void test_wide_accumulator_behind_a_store(void **state)
{
  (void)state;
  check_case("matmul x=bf16[1,3] y=bf16[3,1] x.bits=3f80,3b80,2b80 y.bits=3f80,3f80,3f80",
             HABITS("/f64"), PF_VERDICT_OK);
}

/* Partial sums are enclosed where they overflow to infinity. */
static void test_accumulators_have_infinities(void **state)
{
  (void)state;
  for (int32_t t = PFE_F64; t <= PFE_S32; t++) {
    const pfe_settings s = {.accumulator = t};
    const char *why = "";
    pf_declared d;
    assert_true(pf_declared_from(&s, &d, &why) == pf_format_of((pf_dtype)t)->has_infinity);
  }
}

static void test_skipped_zeros(void **state)
{
  (void)state;
  check_habit("skip", SAYS("skip", "may-skip"), KIND(BITS) | KIND(INTEGER));
}

/* alpha times 2^-100 is 0 in f32, and it is multiplied by NaN. */
static void test_skipped_zeros_of_alpha(void **state)
{
  (void)state;
  const char *text = "addmm x=f32[1,1] y=f32[1,1] c=f32[1] x.bits=0d800000 y.bits=7fc00000 "
                     "alpha=0x1p-100";
  check_case(text, HABITS("skip-scaled"), PF_VERDICT_SPECIAL);
  check_case(text, HABITS("skip-scaled/skip"), PF_VERDICT_OK);
  check_case(text, HABITS("skip-scaled/may-skip"), PF_VERDICT_OK);
  check_case(text, HABITS("/skip"), PF_VERDICT_ORDER);
  check_case(text, HABITS("/may-skip"), PF_VERDICT_ORDER);
  /* a subnormal is no zero, but where it is flushed */
  text = "addmm x=f32[1,1] y=f32[1,1] c=f32[1] x.bits=30800000 y.bits=7fc00000 alpha=0x1p-100";
  check_case(text, HABITS("ftz+skip-scaled/may-skip"), PF_VERDICT_SPECIAL);
  check_case(text, HABITS("ftz+skip-scaled/may-ftz+may-skip"), PF_VERDICT_OK);
}

/* Engines that have none of the habits fit everything that only may be. */
static void test_what_may_be_need_not(void **state)
{
  (void)state;
  static const char *const says[] = {"", "may-daz", "may-ftz", "may-flush", "may-skip",
                                     "may-daz+may-ftz+may-flush+may-skip", "c-last"};
  for (size_t i = 0; i < sizeof says / sizeof *says; i++) {
    char engine[200];
    snprintf(engine, sizeof engine, HABITS("/%s"), says[i]);
    assert_int_equal(findings(engine, 0, CASES), 0);
  }
}

/* What certainly happens must. */
static void test_what_is_declared_for_certain_is_wanted(void **state)
{
  (void)state;
  assert_true(findings(HABITS("/flush"), KIND(SUBNORMAL) | KIND(WIDE), CASES) > 0);
  assert_true(findings(HABITS("/daz"), KIND(SUBNORMAL), CASES) > 0);
  assert_true(findings(HABITS("/skip"), KIND(BITS) | KIND(INTEGER), CASES) > 0);
}

static void test_both_signs_are_flushed(void **state)
{
  (void)state;
  check_case("matmul x=f32[1,1] y=f32[1,1] x.bits=00000005 y.bits=3f800000", HABITS("/flush"),
             PF_VERDICT_IMPOSSIBLE);
  check_case("matmul x=f32[1,1] y=f32[1,1] x.bits=80000005 y.bits=3f800000", HABITS("/flush"),
             PF_VERDICT_IMPOSSIBLE);
}

/* A subnormal of f16 is none of f32, which the engine gets. */
static void test_what_is_widened_is_not_flushed(void **state)
{
  (void)state;
  check_case("matmul x=f16[1,1] y=f16[1,1] x.bits=0005 y.bits=3c00",
             HABITS("daz+flush/daz+flush"), PF_VERDICT_OK);
}

static void test_alpha_zero(void **state)
{
  (void)state;
  const char *text = "addmm x=f32[1,2] y=f32[2,1] c=f32[1,1] x.bits=7fc00000,3f800000 alpha=0";
  check_case(text, HABITS(""), PF_VERDICT_OK);
  check_case(text, HABITS("reads"), PF_VERDICT_ORDER);
  check_case(text, HABITS("/skips-alpha"), PF_VERDICT_OK);
  check_case(text, HABITS("reads/skips-alpha"), PF_VERDICT_SPECIAL);
  check_case(text, HABITS("reads/reads"), PF_VERDICT_OK);
  check_case(text, HABITS("/reads"), PF_VERDICT_SPECIAL);
}

/* 131073 times 128 * 128 is 2^31 + 2^14. */
static void test_saturating_integers(void **state)
{
  (void)state;
  const char *one = "matmul x=s8[1,1] y=s8[1,1] x.bits=80 y.bits=80";
  const char *many = "matmul x=s8[1,131073](0,0) y=s8[131073,1](0,0) x.set=0:80 y.set=0:80";
  check_case(one, HABITS("saturate/saturate"), PF_VERDICT_OK);
  check_case(one, HABITS("saturate"), PF_VERDICT_OK);
  check_case(many, HABITS(""), PF_VERDICT_OK);
  check_case(many, HABITS("/either"), PF_VERDICT_VACUOUS);
  check_case(many, HABITS("saturate/saturate"), PF_VERDICT_VACUOUS);
  check_case(many, HABITS("saturate"), PF_VERDICT_IMPOSSIBLE);
}

/* What an f8 result of 448 * 448 may be. */
static pf_set stored_overflow(pf_overflows f8)
{
  const char *text = "matmul x=f8_e4m3fn[1,1] y=f8_e4m3fn[1,1] x.bits=7e y.bits=7e";
  const pf_declared declared = {.f8 = f8};
  pf_arena a = {0};
  pf_case c;
  pf_problem p;
  pf_plan plan;
  pf_encloser *e;
  pf_enclosure found;
  const char *why;
  assert_int_equal(pf_text_parse(text, strlen(text), &a, &c, NULL), PF_OK);
  assert_int_equal(pf_problem_build(&c, &a, &p), PF_OK);
  assert_int_equal(pf_plan_parse("eager", pf_row_find(c.graph, "eager")->text, &c, &plan, NULL),
                   PF_OK);
  const pf_ask ask = {.plan = &plan, .declared = &declared};
  assert_int_equal(pf_encloser_new(&p, &session.oracle, &ask, 1, &a, &e, &why), PF_OK);
  pf_enclose(e, 0, &found);
  pf_arena_free(&a);
  return found.set;
}

static void test_stored_overflow(void **state)
{
  (void)state;
  const pf_set usual = stored_overflow(PF_OVERFLOWS_USUAL);
  const pf_set clamped = stored_overflow(PF_OVERFLOWS_SATURATE);
  const pf_set either = stored_overflow(PF_OVERFLOWS_EITHER);
  assert_true(usual.nan && !pf_set_allows(&usual, 448));
  assert_true(!clamped.nan && pf_set_allows(&clamped, 448));
  assert_true(either.nan && pf_set_allows(&either, 448) && !pf_set_allows(&either, 416));
}

/* 2^24 and 4096 ones: started from, c loses them all. */
static void test_c_comes_last(void **state)
{
  (void)state;
  const char *text = "addmm x=f32[1,4096] y=f32[4096,1] c=f32[1,1] x.values=equal:0 "
                     "y.values=equal:0 c.bits=4b800000";
  check_case(text, HABITS(""), PF_VERDICT_OK);
  check_case(text, HABITS("/c-last"), PF_VERDICT_OK);
  check_case(text, HABITS("c-first"), PF_VERDICT_OK);
  check_case(text, HABITS("c-first/c-last"), PF_VERDICT_IMPOSSIBLE);
}

int main(void)
{
  printf("seed %llx\n", (unsigned long long)SEED);
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_flushed_operands),
    cmocka_unit_test(test_flushed_sums),
    cmocka_unit_test(test_flushed_results),
    cmocka_unit_test(test_narrow_accumulator),
    cmocka_unit_test(test_c_below_a_narrow_accumulator),
    cmocka_unit_test(test_wide_accumulator_behind_a_store),
    cmocka_unit_test(test_accumulators_have_infinities),
    cmocka_unit_test(test_skipped_zeros),
    cmocka_unit_test(test_skipped_zeros_of_alpha),
    cmocka_unit_test(test_what_may_be_need_not),
    cmocka_unit_test(test_what_is_declared_for_certain_is_wanted),
    cmocka_unit_test(test_both_signs_are_flushed),
    cmocka_unit_test(test_what_is_widened_is_not_flushed),
    cmocka_unit_test(test_alpha_zero),
    cmocka_unit_test(test_saturating_integers),
    cmocka_unit_test(test_stored_overflow),
    cmocka_unit_test(test_c_comes_last),
  };
  return cmocka_run_group_tests(tests, open_session, close_session);
}
