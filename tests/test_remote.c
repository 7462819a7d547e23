/* Engines in other processes: the same answers as here, and whatever the process does, a verdict or an
   error, and a process that lives for the next call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plugin_fixture.h"

#define SMALL "matmul x=f32[3,8] y=f32[8,5]"

/* Frames for printf(1): lengths of head and data, then the head. */
#define HELLO "\\032\\0\\0\\0\\0\\0\\0\\0{\"precfuzz\":1,\"name\":\"sh\"}"
#define UNSUPPORTED "\\024\\0\\0\\0\\0\\0\\0\\0{\"unsupported\":\"no\"}"
#define SAYS(FRAMES) "exec:printf '" FRAMES "'; cat >/dev/null"

static const pf_plugin_options isolated = {.isolate = true, .milliseconds = 5000};
static const pf_plugin_options hasty = {.isolate = true, .milliseconds = 400};

static seen examine(const char *text, const char *engine)
{
  return examine_opened(text, engine, "eager,inductor", &isolated);
}

static void test_same_results_as_here(void **state)
{
  (void)state;
  static const char *const cases[] = {
    "matmul_out_f32_add x=bf16[32,7,1,8] y=bf16[32,7,8,1] bias=bf16[32,7,1,1]",
    "matmul x=bf16[2,1,3,4,5](60,60,20,1,4) y=bf16[6,1,5,7](35,35,1,5)",
    "matmul x=bf16[3,5](11,2)+3 y=bf16[5,4](9,2)+1 out=(50,2)+5",
    "matmul x=f32[5] y=f32[2,5,3]",
    "linear x=f32[4,6] y=f32[3,6] bias=f32[3]",
    "addmm x=bf16[3,0] y=bf16[0,5] c=bf16[3,5] alpha=2 beta=-0.5",
    "addmm x=f32[3,9] y=f32[9,5] c=f32[5] alpha=0.1 beta=3",
    "addmm x=f32[3,9] y=f32[9,5] c=f32[3,5](7,1) out=c alpha=0.1 beta=3",
    "matmul x=f32[0,9] y=f32[9,5]",
    "scaled_matmul x=f32[3,9] y=f32[9,5] bias=f32[5] x.scale=row:3 y.scale=block4:5",
    "scaled_matmul x=f32[3,0] y=f32[0,5] bias=f32[5] x.scale=row:3 y.scale=block4:5",
    "scaled_matmul x=f32[3,0] y=f32[0,5] bias=f32[5] x.scale=tensor:3 y.scale=row:5",
    "scaled_matmul x=f32[0,9] y=f32[9,5] bias=f32[5] x.scale=row:3 y.scale=tensor:5",
    "scaled_matmul x=f32[2,3,9] y=f32[9,0] x.scale=block4:3 y.scale=row:5",
    "scaled_matmul x=f32[2,3,9] y=f32[2,9,5] x.scale=block4:3 y.scale=row:5",
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const seen there = examine(cases[i], PLUGIN("engine_naive"));
    const pf_plugin_options plain = {.threads = 1};
    const seen here =
        examine_opened(cases[i], PLUGIN("engine_naive"), "eager,inductor", &plain);
    if (there.machinery || memcmp(there.verdict, here.verdict, sizeof here.verdict))
      fail_msg("%s: another verdict: %s", cases[i], there.why);
    assert_string_equal(there.legalised, here.legalised);
  }
}

static void test_what_it_says_comes_over(void **state)
{
  (void)state;
  const seen s = examine_opened(SMALL, MISBEHAVING("flushes"), "eager", &isolated);
  assert_int_equal(s.verdict[PF_VERDICT_OK], 1);
  assert_string_equal(s.kernel, "kernel 1");
  assert_int_equal(s.declared.flush_outputs, PF_MAY);
  assert_int_equal(s.declared.threads, 1);
}

static void test_whole_graphs_come_over(void **state)
{
  (void)state;
  const seen s = examine_opened("matmul_out_f32_add x=bf16[32,1,8] y=bf16[32,8,1] bias=f32[32,1,1]",
                                PLUGIN("graphs") ":rounds;claims=aot_eager", "eager,aot_eager",
                                &isolated);
  assert_int_equal(s.verdict[PF_VERDICT_OK], 1);
  assert_int_equal(s.verdict[PF_VERDICT_UNSUPPORTED], 1);
}

static void test_deeds_are_seen_from_here(void **state)
{
  (void)state;
  static const struct { const char *engine; pf_verdict verdict; } deeds[] = {
    {MISBEHAVING(""), PF_VERDICT_OK},
    {MISBEHAVING("wrong"), PF_VERDICT_IMPOSSIBLE},
    {MISBEHAVING("writes-before"), PF_VERDICT_GUARD},
    {MISBEHAVING("changes-input"), PF_VERDICT_INPUT},
    {MISBEHAVING("run-rounds"), PF_VERDICT_FENV},
    {MISBEHAVING("run-declines"), PF_VERDICT_UNSUPPORTED},
    {MISBEHAVING("run-crashes"), PF_VERDICT_DIED},
    {MISBEHAVING("run-exits"), PF_VERDICT_DIED},
  };
  for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++) {
    const seen s = examine_opened(SMALL, deeds[i].engine, "eager", &isolated);
    if (s.machinery || s.verdict[deeds[i].verdict] != 1)
      fail_msg("%s: not %s", deeds[i].engine, pf_verdict_name(deeds[i].verdict));
  }
  const seen s = examine_opened(SMALL, MISBEHAVING("run-fails"), "eager", &isolated);
  assert_int_equal(s.machinery, PF_ENGINE_ERROR);
  assert_string_equal(s.why, "out of luck");
}

static void test_death_says_how(void **state)
{
  (void)state;
  seen s = examine_opened(SMALL, MISBEHAVING("run-crashes"), "eager", &isolated);
  assert_non_null(strstr(s.why, "signal 11"));
  assert_string_equal(s.said, "misbehaving: about to crash\n");
  s = examine_opened(SMALL, MISBEHAVING("run-exits"), "eager", &isolated);
  assert_string_equal(s.why, "it ended with status 7");
  s = examine_opened(SMALL, MISBEHAVING("run-hangs"), "eager", &hasty);
  assert_int_equal(s.verdict[PF_VERDICT_DIED], 1);
  assert_string_equal(s.why, "no answer within 0.4 s");
}

/* The third call of each process dies; the others are right. */
static void test_a_new_process_follows(void **state)
{
  (void)state;
  int ok = 0, died = 0;
  select_engines(MISBEHAVING("run-crashes-third"), &isolated);
  for (int i = 0; i < 7; i++) {
    const seen s = examine_selected(SMALL, "eager");
    ok += s.verdict[PF_VERDICT_OK];
    died += s.verdict[PF_VERDICT_DIED];
  }
  pf_options_close(&session.options);
  assert_int_equal(ok, 5);
  assert_int_equal(died, 2);
}

/* --- opening ------------------------------------------------------------------------------- */

static void test_what_cannot_be_opened_says_why(void **state)
{
  (void)state;
  check_refusal_opened("./nothing.so", "No such file", &isolated);
  check_refusal_opened(PLUGIN("no_symbol"), "no symbol precfuzz_engine", &isolated);
  check_refusal_opened(PLUGIN("old_version"), "version 1001", &isolated);
  check_refusal_opened(MISBEHAVING("open-fails"), "this is why", &isolated);
  check_refusal_opened(MISBEHAVING("open-absent"), "install libmine", &isolated);
  check_refusal_opened(MISBEHAVING("open-settings"), "flush_sums", &isolated);
  check_refusal_opened(MISBEHAVING("open-aborts"), "DIED when it was opened", &isolated);
  check_refusal_opened("exec:exit 3", "it ended with status 3", &isolated);
  check_refusal_opened("exec:echo oh dear >&2; exit 3", "oh dear", &isolated);
  check_refusal_opened("exec:/no/such/program", "it ended with status 127", &isolated);
  check_refusal_opened(SAYS("hello there!"), "no frame, it begins with 'hello th'", &isolated);
  check_refusal_opened(SAYS("\\003\\0\\0\\0\\0\\0\\0\\0abc"), "no JSON object", &isolated);
  check_refusal_opened(SAYS("\\002\\0\\0\\0\\0\\0\\0\\0{}"), "does not say \"precfuzz\": 1", &isolated);
  check_refusal_opened(SAYS("\\016\\0\\0\\0\\0\\0\\0\\0{\"precfuzz\":2}"),
                       "does not say \"precfuzz\": 1", &isolated);
  check_refusal_opened(SAYS("\\020\\0\\0\\0\\0\\0\\0\\0{\"error\":\"nope\"}"), "nope", &isolated);
  check_refusal_opened(SAYS("\\016\\0\\0\\0\\0\\0\\0\\0{\"precfuzz\":1}"), "its name", &isolated);
}

/* Opening has six times as long as a call. */
static void test_hanging_open_dies(void **state)
{
  (void)state;
  check_refusal_opened(MISBEHAVING("open-hangs"), "no answer within 2.4 s", &hasty);
}

/* --- answers that are none ----------------------------------------------------------------- */

static void check_answer(const char *engine, pf_verdict verdict, const char *why)
{
  const seen s = examine_opened(SMALL, engine, "eager", &hasty);
  if (s.machinery || s.verdict[verdict] != 1)
    fail_msg("%s: not %s: %s", engine, pf_verdict_name(verdict), s.why);
  if (!strstr(s.why, why))
    fail_msg("%s: '%s' does not say '%s'", engine, s.why, why);
}

static void test_nonsense_is_death(void **state)
{
  (void)state;
  check_answer(SAYS(HELLO "what was that?"), PF_VERDICT_DIED, "no frame, it begins with 'what was'");
  check_answer(SAYS(HELLO "\\002\\0\\0\\0\\0\\0\\0\\0{}"), PF_VERDICT_DIED, "neither ok nor");
  check_answer(SAYS(HELLO "\\013\\0\\0\\0\\0\\0\\0\\0{\"ok\":true}"), PF_VERDICT_DIED,
               "its result has 0 bytes, 60 expected");
  check_answer(SAYS(HELLO "\\013\\0\\0\\0\\377\\377\\377\\377{\"ok\":true}"), PF_VERDICT_DIED,
               "no frame");
  check_answer(SAYS(HELLO "\\013\\0\\0\\0\\074\\0\\0\\0{\"ok\":true}short"), PF_VERDICT_DIED,
               "no answer within 0.4 s");
  check_answer("exec:printf '" HELLO "\\013\\0\\0'", PF_VERDICT_DIED, "it ended with status 0");
  /* asked again with y copied, and with the result dense */
  check_answer(SAYS(HELLO UNSUPPORTED UNSUPPORTED UNSUPPORTED), PF_VERDICT_UNSUPPORTED, "no");
  check_answer(SAYS(HELLO), PF_VERDICT_DIED, "no answer within 0.4 s");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_same_results_as_here),
    cmocka_unit_test(test_what_it_says_comes_over),
    cmocka_unit_test(test_whole_graphs_come_over),
    cmocka_unit_test(test_deeds_are_seen_from_here),
    cmocka_unit_test(test_death_says_how),
    cmocka_unit_test(test_a_new_process_follows),
    cmocka_unit_test(test_what_cannot_be_opened_says_why),
    cmocka_unit_test(test_hanging_open_dies),
    cmocka_unit_test(test_nonsense_is_death),
  };
  return cmocka_run_group_tests(tests, open_session, close_session);
}
