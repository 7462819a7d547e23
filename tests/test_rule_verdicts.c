/* The familiar rules through a session: infinities and NaN as the suites take them, verdicts, and
   what a report says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "form_text.h"
#include "mpfr_oracle.h"
#include "report.h"
#include "session.h"

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

static char signature[400];  /* of the last result */

static void note(void *user, const pf_result *r)
{
  *(pf_result *)user = *r;
  pf_signature(r, signature, sizeof signature);
}

static pf_result judge(const char *text, const char *engine, const char *rule)
{
  pf_case c;
  pf_error e = {0};
  pf_result r = {0};
  pf_options *o = &session.options;
  pf_options_default(o);
  assert_int_equal(pf_options_engines(o, engine, &e), PF_OK);
  assert_int_equal(pf_options_strategies(o, "eager", &e), PF_OK);
  assert_int_equal(pf_options_rule(o, rule, &e), PF_OK);
  pf_arena_reset(&session.cases);
  if (pf_text_parse(text, strlen(text), &session.cases, &c, &e))
    fail_msg("%s: %s", text, e.text);
  assert_int_equal(pf_session_examine(&session, &c, note, &r), PF_OK);
  return r;
}

static const char *const familiar[] = {"torch", "ulp:0", "abs:0.01,rel:0.01", "nmse:0.01"};

static void test_infinity_and_nan_follow_the_suites(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    pf_verdict verdict[4];  /* by rule */
  } cases[] = {
    /* infinity from the operands, and an overflow of the output's format: right for all */
    {"matmul x=f16[1,1] y=f16[1,1] x.bits=7c00 y.bits=3c00", {0}},
    {"matmul x=f16[1,1] y=f16[1,1] x.bits=7bff y.bits=4000", {0}},
    /* NaN: right, but where the suite takes none */
    {"matmul x=f16[1,1] y=f16[1,1] x.bits=7e00 y.bits=3c00",
     {PF_VERDICT_SPECIAL, PF_VERDICT_OK, PF_VERDICT_OK, PF_VERDICT_SPECIAL}},
    {"matmul x=f16[1,0] y=f16[0,1]", {0}},
    {"matmul x=f16[0,3] y=f16[3,4]",
     {PF_VERDICT_VACUOUS, PF_VERDICT_VACUOUS, PF_VERDICT_VACUOUS, PF_VERDICT_VACUOUS}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int r = 0; r < 4; r++)
      if (judge(cases[i].text, "reference:forward", familiar[r]).verdict != cases[i].verdict[r])
        fail_msg("%s: %s", cases[i].text, familiar[r]);
}

/* A kernel that leaves its output as NaN, or 0 where NaN is due, passes no rule. */
static void test_wrong_nan_is_found(void **state)
{
  (void)state;
  for (int r = 0; r < 4; r++) {
    /* nothing is written for K = 0: the output keeps its NaN */
    const pf_result nan =
        judge("addmm x=f32[2,0] y=f32[0,2] c=f32[2,2] beta=2", "fault:M21", familiar[r]);
    assert_int_equal(nan.verdict, PF_VERDICT_SPECIAL);
    /* beta = 0 reads a NaN in c */
    const pf_result read =
        judge("addmm x=f32[2,1] y=f32[1,2] c=f32[2,2] c.set=0:7fc00000 beta=0", "fault:M22",
              familiar[r]);
    assert_int_equal(read.verdict, PF_VERDICT_SPECIAL);
  }
}

/* Correct sums that cancel are rejected by all. */
static void test_verdicts_and_reports(void **state)
{
  (void)state;
  const char *cancel = "matmul x=f32[4,1024] y=f32[1024,4] x.values=cancel:1 y.values=cancel:2";
  const char *normal = "matmul x=f32[4,64] y=f32[64,4]";
  const char *exact = "matmul x=f32[4,64] y=f32[64,4] x.values=integer:1 y.values=integer:2";
  for (int r = 0; r < 4; r++) {
    assert_int_equal(judge(cancel, "reference:forward", familiar[r]).verdict,
                     PF_VERDICT_IMPOSSIBLE);
    assert_int_equal(judge(exact, "reference:pairwise", familiar[r]).verdict, PF_VERDICT_OK);
  }
  const pf_result found = judge(cancel, "reference:forward", "rel:1e-3,abs:1e-5");
  assert_string_equal(signature, "reference:forward matmul eager x=f32,y=f32 "
                                 "abs:1e-05,rel:0.001 IMPOSSIBLE");
  assert_true(found.tally.wrong > 0 && found.worst.share > 1 && !found.finer);
  assert_false(found.models_tried);
  /* bf16 values in an f32 result: 2^-9 of v is 4e-6 squared */
  assert_int_equal(judge(normal, "fault:M11", "nmse:1e-5").verdict, PF_VERDICT_OK);
  assert_int_equal(judge(normal, "fault:M11", "nmse:1e-8").verdict, PF_VERDICT_IMPOSSIBLE);
  assert_int_equal(judge(normal, "fault:M11", "torch").verdict, PF_VERDICT_IMPOSSIBLE);
}

/* nmse compares with <=: X is met exactly, and missed by one bit. */
static void test_nmse_limit_is_inclusive(void **state)
{
  (void)state;
  const char *text = "matmul x=f32[4,64] y=f32[64,4]";
  pf_result r = judge(text, "fault:M11", "nmse:1");
  const double measured = pf_nmse_of(&r.tally.nmse);
  char rule[PF_RULE_TEXT];
  pf_rule_print(&(pf_rule){.kind = PF_RULE_NMSE, .nmse = measured}, rule, sizeof rule);
  assert_int_equal(judge(text, "fault:M11", rule).verdict, PF_VERDICT_OK);
  pf_rule_print(&(pf_rule){.kind = PF_RULE_NMSE, .nmse = nextafter(measured, 0)}, rule,
                sizeof rule);
  assert_int_equal(judge(text, "fault:M11", rule).verdict, PF_VERDICT_IMPOSSIBLE);
}

static void test_blind_spots_are_told(void **state)
{
  (void)state;
  char line[256] = "";
  for (int k = 0; k < PF_RULE_COUNT; k++) {
    const pf_rule r = {.kind = (pf_rule_kind)k, .abs = 1};
    assert_int_equal(pf_rule_blind_spot(&r) != NULL, pf_rule_is_familiar(&r));
    FILE *to = fmemopen(line, sizeof line, "w");
    assert_non_null(to);
    pf_report_rule(&r, to);
    assert_int_equal(fclose(to), 0);
    if (pf_rule_is_familiar(&r))
      assert_true(strlen(line) > 20 && strlen(line) <= 101);
    else
      assert_int_equal(line[0], 0);
    memset(line, 0, sizeof line);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_infinity_and_nan_follow_the_suites),
    cmocka_unit_test(test_wrong_nan_is_found),
    cmocka_unit_test(test_verdicts_and_reports),
    cmocka_unit_test(test_nmse_limit_is_inclusive),
    cmocka_unit_test(test_blind_spots_are_told),
  };
  return cmocka_run_group_tests(tests, open_session, close_session);
}
