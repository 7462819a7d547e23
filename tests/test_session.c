/* From a case to a verdict: planted faults are findings, correct engines are not, and each verdict
   that is neither has a case that earns it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "engine_reference.h"
#include "fault_triggers.h"
#include "faults/faults.h"
#include "form_text.h"
#include "mpfr_oracle.h"
#include "session.h"

#define SCRIPT "matmul_out_f32_add x=bf16[32,7,1,8] y=bf16[32,7,8,1] bias=bf16[32,7,1,1]"

typedef struct seen {
  int results, findings;
  int verdict[PF_VERDICT_COUNT];
  pf_result first;     /* the first result, and the first finding */
  pf_result finding;
} seen;

static pf_session session;

static int open_session(void **state)
{
  (void)state;
  return pf_mpfr_oracle_new(&session.oracle);
}

static int close_session(void **state)
{
  (void)state;
  pf_session_free(&session);
  pf_mpfr_oracle_free(&session.oracle);
  return 0;
}

static void note(void *user, const pf_result *r)
{
  seen *s = user;
  if (!s->results++)
    s->first = *r;
  s->verdict[r->verdict]++;
  if (pf_verdict_is_finding(r->verdict) && !s->findings++)
    s->finding = *r;
}

/* One case under the default options but for what is given; NULL: as they are. */
static seen examine(const char *text, const char *engines, const char *strategies,
                    const char *rule)
{
  pf_case c;
  pf_error e = {0};
  seen s = {0};
  pf_options *o = &session.options;
  const bool only_equal = o->only_equal;
  pf_options_default(o);
  o->only_equal = only_equal;
  if (engines && pf_options_engines(o, engines, &e))
    fail_msg("%s", e.text);
  if (strategies && pf_options_strategies(o, strategies, &e))
    fail_msg("%s", e.text);
  if (rule && pf_options_rule(o, rule, &e))
    fail_msg("%s", e.text);
  pf_arena_reset(&session.cases);
  if (pf_text_parse(text, strlen(text), &session.cases, &c, &e))
    fail_msg("%s: %s", text, e.text);
  assert_int_equal(pf_session_examine(&session, &c, note, &s), PF_OK);
  return s;
}

static void test_faults_are_findings(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof pf_fault_triggers / sizeof *pf_fault_triggers; i++) {
    const pf_fault_trigger *t = &pf_fault_triggers[i];
    const seen clean = examine(t->text, "fault:none", NULL, NULL);
    const seen s = examine(t->text, t->fault, NULL, NULL);
    if (clean.findings)
      fail_msg("%s: the correct kernel is a finding", t->text);
    if (t->shows == PF_SHOWS_ZERO_SIGN)
      assert_int_equal(s.findings, 0);
    else if (!s.findings)
      fail_msg("%s: no finding on %s", t->fault, t->text);
    if (t->shows == PF_SHOWS_STRAY)
      assert_int_equal(s.finding.verdict, PF_VERDICT_GUARD);
  }
}

static void test_script_keeps_every_contract(void **state)
{
  (void)state;
  const seen s = examine(SCRIPT, NULL, NULL, NULL);
  assert_int_equal(s.results, 50);
  assert_int_equal(s.verdict[PF_VERDICT_OK], 50);
}

static void test_script_against_its_promise(void **state)
{
  (void)state;
  const seen good = examine(SCRIPT, NULL, "eager,inductor", "graph");
  assert_int_equal(good.findings, 0);
  assert_int_equal(good.verdict[PF_VERDICT_OK], 20);
  const seen bad = examine(SCRIPT, NULL, "aot_eager", "graph");
  assert_int_equal(bad.findings, 10);
  assert_string_equal(bad.finding.against, "eager");
  assert_true(bad.finding.worst.error > 1e-3 * bad.finding.worst.magnitude);
}

static void test_rows_that_must_part(void **state)
{
  (void)state;
  const seen s = examine(SCRIPT, "reference:forward", "eager,aot_eager", "agree");
  assert_int_equal(s.results, 1);
  assert_int_equal(s.findings, 1);
  assert_true(s.finding.tally.predicted);
  const seen same = examine(SCRIPT, "reference:forward", "eager,inductor", "agree");
  assert_int_equal(same.findings, 0);
}

/* With one element of one row's result wrong the pair disagrees although the enclosures are equal. */
static void test_agree_sees_a_fault(void **state)
{
  (void)state;
  session.options.only_equal = true;
  const seen s = examine("matmul_out_f32_add x=f32[2,9] y=f32[9,3] bias=f32[3]", "fault:M13",
                         "eager,inductor", "agree");
  const char *const parting = "matmul_add x=bf16[2,9] y=bf16[9,3] bias=bf16[3]";
  const seen skipped = examine(parting, "reference:forward", "eager,inductor", "agree");
  session.options.only_equal = false;
  const seen all = examine(parting, "reference:forward", "eager,inductor", "agree");
  assert_int_equal(s.findings, 1);
  assert_false(s.finding.tally.predicted);
  assert_int_equal(skipped.findings, 0);
  assert_true(skipped.first.tally.skipped > 0);
  assert_int_equal(all.findings, 1);
  assert_true(all.finding.tally.predicted);
}

static void test_nothing_to_judge(void **state)
{
  (void)state;
  const seen empty = examine("matmul x=f32[0,4] y=f32[4,3]", NULL, NULL, NULL);
  assert_int_equal(empty.verdict[PF_VERDICT_VACUOUS], empty.results);
  /* d*u >= 1: the bound of a bf16 accumulator in an open order exceeds every sum */
  const seen weak = examine("matmul x=bf16[1,300] y=bf16[300,1]", "reference:forward",
                            "wide: out = MATMUL(x, y; acc bf16)", NULL);
  assert_int_equal(weak.verdict[PF_VERDICT_VACUOUS], 1);
  const seen strong = examine("matmul x=bf16[1,30] y=bf16[30,1]", "reference:forward",
                              "wide: out = MATMUL(x, y; acc bf16)", NULL);
  assert_int_equal(strong.verdict[PF_VERDICT_OK], 1);
}

static void test_what_is_not_covered(void **state)
{
  (void)state;
  const seen alpha = examine("addmm x=f32[2,2] y=f32[2,2] c=f32[2,2] alpha=inf", NULL, NULL, NULL);
  assert_int_equal(alpha.verdict[PF_VERDICT_UNSUPPORTED], alpha.results);
  assert_non_null(alpha.first.why);
  const seen engine = examine("matmul x=f64[2,2] y=f64[2,2]", "fault:none", "eager", NULL);
  assert_int_equal(engine.verdict[PF_VERDICT_UNSUPPORTED], 1);
  assert_non_null(engine.first.why);
  assert_int_equal(engine.first.machinery, PF_OK);
}

/* Two products of 2^127 that cancel after one of them overflowed, or before. */
static void test_overflow_of_an_open_order(void **state)
{
  (void)state;
  const char *text = "matmul x=f32[1,4] y=f32[4,1] x.bits=7f000000,7f000000,ff000000,ff000000 "
                     "y.values=equal:0";
  const seen s = examine(text, "reference:forward", "eager", NULL);
  assert_int_equal(s.verdict[PF_VERDICT_ORDER], 1);
  const seen lanes = examine(text, "reference:lanes8", "eager", NULL);
  assert_int_equal(lanes.findings, 0);
}

static void test_specials(void **state)
{
  (void)state;
  const seen nan = examine("matmul x=f32[1,2] y=f32[2,1] x.bits=7fc00000,3f800000", NULL, NULL,
                           NULL);
  assert_int_equal(nan.findings, 0);
  assert_int_equal(nan.verdict[PF_VERDICT_OK], nan.results);
  /* dropping the last of nine terms drops the infinity */
  const seen lost = examine("matmul x=f32[1,9] y=f32[9,1] x.values=equal:0 y.values=equal:0 "
                            "x.set=8:7f800000", "fault:M13", "eager", NULL);
  assert_int_equal(lost.verdict[PF_VERDICT_SPECIAL], 1);
}

/* --- engines that misbehave beside a right answer ----------------------------------------- */

static pf_status run_forward(const pf_call *call, pf_arena *scratch)
{
  return pf_fault_none.run(&pf_fault_none, call, scratch);
}

static pf_status run_touching(const pf_engine *e, const pf_call *call, pf_arena *scratch)
{
  (void)e;
  const pf_status s = run_forward(call, scratch);
  *(uint8_t *)call->problem->storage[PF_Y] ^= 1;
  return s;
}

static pf_status run_rounding_up(const pf_engine *e, const pf_call *call, pf_arena *scratch)
{
  (void)e;
  const pf_status s = run_forward(call, scratch);
  fesetround(FE_UPWARD);
  return s;
}

static pf_status run_failing(const pf_engine *e, const pf_call *call, pf_arena *scratch)
{
  (void)e;
  (void)call;
  (void)scratch;
  return PF_ENGINE_ERROR;
}

static seen examine_with(const pf_engine *e)
{
  static const char text[] = "matmul x=f32[2,3] y=f32[3,2]";
  pf_case c;
  seen s = {0};
  pf_options_default(&session.options);
  session.options.engine[0] = e;
  session.options.engine_count = 1;
  assert_int_equal(pf_options_strategies(&session.options, "eager", NULL), PF_OK);
  pf_arena_reset(&session.cases);
  assert_int_equal(pf_text_parse(text, sizeof text - 1, &session.cases, &c, NULL), PF_OK);
  assert_int_equal(pf_session_examine(&session, &c, note, &s), PF_OK);
  return s;
}

static void test_misdeeds(void **state)
{
  (void)state;
  pf_engine e = pf_fault_none;
  e.name = "test:misdeed";
  e.run = run_touching;
  assert_int_equal(examine_with(&e).verdict[PF_VERDICT_INPUT], 1);
  e.run = run_rounding_up;
  assert_int_equal(examine_with(&e).verdict[PF_VERDICT_FENV], 1);
  assert_int_equal(fegetround(), FE_TONEAREST);
  e.run = run_failing;
  const seen failed = examine_with(&e);
  assert_int_equal(failed.findings, 0);
  assert_int_equal(failed.first.machinery, PF_ENGINE_ERROR);
}

/* --- models -------------------------------------------------------------------------------- */

static void expect_model(const char *text, const char *fault, const char *strategy,
                         const char *model)
{
  const seen s = examine(text, fault, strategy, NULL);
  if (!s.findings)
    fail_msg("%s: no finding on %s", fault, text);
  assert_true(s.finding.models_tried);
  if (model) {
    assert_non_null(s.finding.match.model);
    assert_string_equal(s.finding.match.model, model);
  } else {
    assert_null(s.finding.match.model);
  }
}

static void test_models_explain(void **state)
{
  (void)state;
  expect_model("matmul x=f32[2,13] y=f32[13,2]", "fault:M13", "eager", "drop-tail-8");
  expect_model("matmul x=bf16[4,9] y=bf16[9,4] x.values=midpoint:1 y.values=midpoint:2",
               "fault:M10", "eager", "ties-away");
  expect_model("matmul x=bf16[1,600] y=bf16[600,1] x.values=equal:0 y.values=equal:0", "fault:M01",
               "inductor", "acc-bf16");
  expect_model("matmul_out_f32_add x=f32[3,5] y=f32[5,3] bias=f32[3]", "fault:M11", "eager",
               "out-bf16");
  expect_model("addmm x=f32[3,5] y=f32[5,3] c=f32[3,3] beta=0.5", "fault:M24", "eager", NULL);
}

/* The same engine without its fault is explained by no model, since there is nothing to explain. */
static void test_no_model_without_a_finding(void **state)
{
  (void)state;
  const seen s = examine("matmul x=f32[2,13] y=f32[13,2]", "fault:none", "eager", NULL);
  assert_int_equal(s.findings, 0);
  assert_false(s.first.models_tried);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_faults_are_findings),
    cmocka_unit_test(test_script_keeps_every_contract),
    cmocka_unit_test(test_script_against_its_promise),
    cmocka_unit_test(test_rows_that_must_part),
    cmocka_unit_test(test_agree_sees_a_fault),
    cmocka_unit_test(test_nothing_to_judge),
    cmocka_unit_test(test_what_is_not_covered),
    cmocka_unit_test(test_overflow_of_an_open_order),
    cmocka_unit_test(test_specials),
    cmocka_unit_test(test_misdeeds),
    cmocka_unit_test(test_models_explain),
    cmocka_unit_test(test_no_model_without_a_finding),
  };
  return cmocka_run_group_tests(tests, open_session, close_session);
}
