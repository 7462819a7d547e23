/* Engines as shared objects: what cannot be opened says why, what runs is judged like our own, and
   what it does besides its output is seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "control.h"
#include "plugin_fixture.h"
#include "plugin_parts.h"

static const pf_plugin_options here = {.threads = 1};

static seen examine(const char *text, const char *engines, const char *strategies)
{
  return examine_opened(text, engines, strategies, &here);
}

/* --- opening ------------------------------------------------------------------------------- */

static void check_refusal(const char *spec, const char *text)
{
  check_refusal_opened(spec, text, &here);
}

static void test_what_is_no_engine_says_why(void **state)
{
  (void)state;
  check_refusal("./nothing.so", "No such file");
  check_refusal("nothing", "no engine is called 'nothing'");
  check_refusal("./Makefile", "Makefile");
  check_refusal(PLUGIN("no_symbol"), "no symbol precfuzz_engine");
  check_refusal(PLUGIN("old_version"), "version 1001");
  check_refusal(MISBEHAVING("open-fails"), "this is why");
  check_refusal(MISBEHAVING("open-absent"), "install libmine");
  check_refusal(MISBEHAVING("open-settings"), "flush_sums");
  check_refusal(MISBEHAVING("open-aborts"), "DIED when it was opened: it died of signal 6");
}

static void test_environment_is_put_back(void **state)
{
  (void)state;
  const unsigned control = pf_control_get();
  examine("matmul x=f32[3,8] y=f32[8,5]", PLUGIN("flushing"), "eager");
#if defined(__SSE2__)
  assert_non_null(strstr(notice, "changed the rounding mode or flush-to-zero"));
#endif
  assert_int_equal(pf_control_get(), control);
  examine("matmul x=f32[3,8] y=f32[8,5]", MISBEHAVING("open-rounds"), "eager");
  assert_non_null(strstr(notice, "changed the rounding mode or flush-to-zero"));
  assert_int_equal(pf_control_get(), control);
  examine("matmul x=f32[3,8] y=f32[8,5]", MISBEHAVING(""), "eager");
  assert_string_equal(notice, "");
}

static void test_names_are_counted(void **state)
{
  (void)state;
  assert_int_equal(pf_options_foreign("reference"), 0);
  assert_int_equal(pf_options_foreign("reference,./a.so:1"), 1);
  assert_int_equal(pf_options_foreign("./a.so,reference,/b.so"), 2);
  assert_int_equal(pf_options_foreign("installed"), 2);
}

/* An engine named twice is opened once, and several stand beside each other. */
static void test_several_engines(void **state)
{
  (void)state;
  const seen s = examine("matmul x=f32[3,8] y=f32[8,5]",
                         PLUGIN("engine_naive") "," MISBEHAVING("") "," PLUGIN("engine_naive")
                         ",reference:forward", "eager");
  assert_int_equal(s.results, 3);
  assert_int_equal(s.verdict[PF_VERDICT_OK], 3);
}

/* --- running ------------------------------------------------------------------------------- */

/* Layouts, batches and empty sizes reach the engine as the case has them. */
static void test_example_is_right(void **state)
{
  (void)state;
  static const char *const cases[] = {
    "matmul_out_f32_add x=bf16[32,7,1,8] y=bf16[32,7,8,1] bias=bf16[32,7,1,1]",
    "matmul x=bf16[2,1,3,4,5](60,60,20,1,4) y=bf16[6,1,5,7](35,35,1,5)",
    "matmul x=bf16[3,5](11,2)+3 y=bf16[5,4](9,2)+1",
    "matmul x=f32[5] y=f32[5]",
    "matmul x=f32[5] y=f32[2,5,3]",
    "linear x=f32[4,6] y=f32[3,6] bias=f32[3]",
    "addmm x=bf16[3,0] y=bf16[0,5] c=bf16[3,5] alpha=2 beta=-0.5",
    "addmm x=f32[3,9] y=f32[9,5] c=f32[5] alpha=0.1 beta=3",
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const seen s = examine(cases[i], PLUGIN("engine_naive"), "eager");
    if (s.results != 1 || s.verdict[PF_VERDICT_OK] != 1)
      fail_msg("%s: not OK: %s", cases[i], s.why);
  }
}

static void test_beta_zero_reads_no_c(void **state)
{
  (void)state;
  const seen s = examine("addmm x=f32[3,9] y=f32[9,5] c=f32[3,5] c.set=0:7fc00000 beta=0",
                         PLUGIN("engine_naive"), "eager");
  assert_int_equal(s.verdict[PF_VERDICT_OK], 1);
}

static void test_what_it_cannot_do_has_a_reason(void **state)
{
  (void)state;
  seen s = examine("matmul x=f64[3,8] y=f64[8,5]", PLUGIN("engine_naive"), "eager");
  assert_int_equal(s.verdict[PF_VERDICT_UNSUPPORTED], 1);
  assert_non_null(strstr(s.why, "not in its table"));
  s = examine("matmul x=bf16[3,8] y=bf16[8,5]", PLUGIN("engine_naive"), "aot_eager_bf16acc");
  assert_non_null(strstr(s.why, "states an order"));
  s = examine("linear x=f32[4,6] y=f32[3,6] bias=f32[3]", MISBEHAVING(""), "eager");
  assert_non_null(strstr(s.why, "no alpha, c or bias"));
  s = examine("matmul x=f32[3,8] y=f32[8,5]", MISBEHAVING("run-declines"), "eager");
  assert_int_equal(s.verdict[PF_VERDICT_UNSUPPORTED], 1);
  assert_non_null(strstr(s.why, "thought better of it"));
}

static void test_mulsum_is_run_as_matmul(void **state)
{
  (void)state;
  seen s = examine("matmul x=f32[3,8] y=f32[8,5]", MISBEHAVING(""), "inductor");
  assert_int_equal(s.verdict[PF_VERDICT_OK], 1);
  assert_true(s.as_matmul);
  s = examine("matmul x=f32[3,8] y=f32[8,5]", MISBEHAVING(""), "eager");
  assert_false(s.as_matmul);
}

static void test_what_it_says_is_kept(void **state)
{
  (void)state;
  seen s = examine("matmul x=f32[3,8] y=f32[8,5]", MISBEHAVING("flushes"), "eager");
  assert_string_equal(s.kernel, "kernel 1");
  assert_int_equal(s.declared.flush_outputs, PF_MAY);
  assert_int_equal(s.declared.threads, 1);
  s = examine("matmul x=f32[3,8] y=f32[8,5]", MISBEHAVING(""), "eager");
  assert_int_equal(s.declared.flush_outputs, PF_NEVER);
}

static void check_legalised(const char *text, const char *engine, const char *row,
                            const char *says)
{
  const seen s = examine(text, engine, row);
  if (s.verdict[PF_VERDICT_OK] != 1)
    fail_msg("%s: not OK: %s", text, s.why);
  assert_string_equal(s.legalised, says);
}

/* The engine takes f32 in any layout, or f32 with a unit stride.  That results are OK says that they
   were rounded: rounding is not within the radius of a row that keeps f32. */
static void test_what_it_lacks_is_legalised(void **state)
{
  (void)state;
  check_legalised("matmul x=bf16[3,8] y=bf16[8,5]", MISBEHAVING(""), "eager",
                  "x bf16 -> f32, y bf16 -> f32, result f32 -> bf16");
  check_legalised("matmul x=bf16[2,3,8] y=f32[8,5] out=(60,20,3)", MISBEHAVING(""), "eager",
                  "x bf16 -> f32, y copied");
  check_legalised("matmul_out_f32_add x=f16[3,8] y=bf16[2,8,5] bias=f16[]", MISBEHAVING(""), "eager",
                  "x f16 -> f32, y bf16 -> f32");
  check_legalised("matmul x=f32[3,8](20,2) y=f32[8,5](5,1)", MISBEHAVING("unit-stride"), "eager",
                  "x copied, y copied");
  check_legalised("matmul x=f32[3,8] y=f32[8,5] out=(10,2)", MISBEHAVING("unit-stride"), "eager",
                  "y copied, result copied");
  check_legalised("matmul x=bf16[3,8] y=bf16[8,5] out=(10,2)", MISBEHAVING("unit-stride"), "eager",
                  "x bf16 -> f32, y bf16 -> f32, result f32 -> bf16");
}

/* Not where the row would mean something else. */
static void test_what_has_no_wider_form_is_not(void **state)
{
  (void)state;
  seen s = examine("matmul x=f64[3,8] y=f32[8,5]", MISBEHAVING(""), "eager");
  assert_int_equal(s.verdict[PF_VERDICT_UNSUPPORTED], 1);
  s = examine("matmul x=s8[3,8] y=s8[8,5]", MISBEHAVING(""), "eager");
  assert_int_equal(s.verdict[PF_VERDICT_UNSUPPORTED], 1);
  s = examine("matmul x=bf16[3,8] y=bf16[8,5]", MISBEHAVING(""), "aot_eager_bf16acc");
  assert_int_equal(s.verdict[PF_VERDICT_UNSUPPORTED], 1);
  assert_non_null(strstr(s.why, "states an order"));
}

static void test_what_is_legalised_is_judged(void **state)
{
  (void)state;
  seen s = examine("matmul x=bf16[3,8] y=bf16[8,5]", MISBEHAVING("wrong"), "eager");
  assert_int_equal(s.verdict[PF_VERDICT_IMPOSSIBLE], 1);
  s = examine("matmul x=bf16[3,8] y=bf16[8,5]", MISBEHAVING("writes-before"), "eager");
  assert_int_equal(s.verdict[PF_VERDICT_GUARD], 1);
}

static void check_deed(const char *engine, pf_verdict verdict)
{
  const unsigned control = pf_control_get();
  const seen s = examine("matmul x=f32[3,8] y=f32[8,5]", engine, "eager");
  if (s.verdict[verdict] != 1)
    fail_msg("%s: not %s", engine, pf_verdict_name(verdict));
  assert_int_equal(pf_control_get(), control);
}

static void test_deeds_are_findings(void **state)
{
  (void)state;
  check_deed(MISBEHAVING(""), PF_VERDICT_OK);
  check_deed(MISBEHAVING("wrong"), PF_VERDICT_IMPOSSIBLE);
  check_deed(MISBEHAVING("writes-before"), PF_VERDICT_GUARD);
  check_deed(MISBEHAVING("changes-input"), PF_VERDICT_INPUT);
  check_deed(MISBEHAVING("run-rounds"), PF_VERDICT_FENV);
  const seen s = examine("matmul x=f32[3,8] y=f32[8,5]", MISBEHAVING("run-fails"), "eager");
  assert_int_equal(s.machinery, PF_ENGINE_ERROR);
  assert_string_equal(s.why, "out of luck");
}

/* --- scales -------------------------------------------------------------------------------- */

static void check_scales(const pfe_call *call, const pfe_scales *s, const pf_scales *own,
                         const int64_t *first, int64_t lines)
{
  for (int64_t b = 0; b < call->batches; b++) {
    int64_t at = 0, rest = b;
    for (int d = call->batch_rank; d-- > 0; rest /= call->batch[d])
      at += rest % call->batch[d] * s->batch_stride[d];
    for (int64_t line = 0; line < lines; line++)
      for (int64_t k = 0; k < call->k; k++)
        assert_true(s->data[at + line * s->line_stride + k / s->block * s->block_stride] ==
                    pf_scale_at(own, first[b] + line, k));
  }
}

static void test_scales_are_where_they_are_said_to_be(void **state)
{
  (void)state;
  static const char *const cases[] = {
    "scaled_matmul x=f32[3,9] y=f32[9,5] x.scale=tensor:3 y.scale=tensor:4",
    "scaled_matmul x=f32[3,9] y=f32[9,5] x.scale=row:3 y.scale=block4:4",
    "scaled_matmul x=f32[2,1,3,9] y=f32[4,9,5] x.scale=block2:3 y.scale=row:4",
    "scaled_matmul x=f32[3,9] y=f32[2,3,9,5] x.scale=block16:3 y.scale=block3:4",
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pf_arena a = {0};
    pf_case c;
    pf_problem p;
    pf_matrix out = {0};
    pf_public_call to;
    assert_int_equal(pf_text_parse(cases[i], strlen(cases[i]), &a, &c, NULL), PF_OK);
    assert_int_equal(pf_problem_build(&c, &a, &p), PF_OK);
    const pf_call call = {.problem = &p, .out = &out};
    pf_public_call_set(&call, &to);
    check_scales(&to.call, &to.call.scale_x, &p.x_scales, p.x_line, p.shape.m);
    check_scales(&to.call, &to.call.scale_y, &p.y_scales, p.y_line, p.shape.n);
    pf_arena_free(&a);
  }
}

/* --- whole cases --------------------------------------------------------------------------- */

#define SCRIPT "matmul_out_f32_add x=bf16[32,1,8] y=bf16[32,8,1] bias=f32[32,1,1]"
#define ROWS "eager,inductor,aot_eager,inductor_graph"
#define GRAPHS(HABITS) PLUGIN("graphs") ":" HABITS

static void check_whole(const char *engine, int ok, int aside, int wrong)
{
  const seen s = examine(SCRIPT, engine, ROWS);
  if (s.verdict[PF_VERDICT_OK] != ok || s.verdict[PF_VERDICT_UNSUPPORTED] != aside ||
      s.verdict[PF_VERDICT_IMPOSSIBLE] != wrong)
    fail_msg("%s: %d OK, %d UNSUPPORTED, %d IMPOSSIBLE", engine, s.verdict[PF_VERDICT_OK],
             s.verdict[PF_VERDICT_UNSUPPORTED], s.verdict[PF_VERDICT_IMPOSSIBLE]);
}

static void test_some_row_must_fit_a_whole_graph(void **state)
{
  (void)state;
  check_whole(GRAPHS(""), 2, 2, 0);
  check_whole(GRAPHS("rounds"), 2, 2, 0);
  check_whole(GRAPHS("off"), 0, 3, 1);
  check_whole(GRAPHS("rounds;off"), 0, 3, 1);
}

static void test_a_claimed_row_must_fit(void **state)
{
  (void)state;
  check_whole(GRAPHS("claims=eager"), 1, 3, 0);
  check_whole(GRAPHS("rounds;claims=aot_eager"), 1, 3, 0);
  check_whole(GRAPHS("rounds;claims=eager"), 0, 3, 1);
  check_whole(GRAPHS("claims=nothing"), 0, 4, 0);
}

static void test_other_graphs_are_declined(void **state)
{
  (void)state;
  const seen s = examine("matmul x=bf16[3,8] y=bf16[8,5]", GRAPHS(""), "eager");
  assert_int_equal(s.verdict[PF_VERDICT_UNSUPPORTED], 1);
  assert_string_equal(s.why, "another graph");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_what_is_no_engine_says_why),
    cmocka_unit_test(test_environment_is_put_back),
    cmocka_unit_test(test_names_are_counted),
    cmocka_unit_test(test_several_engines),
    cmocka_unit_test(test_example_is_right),
    cmocka_unit_test(test_beta_zero_reads_no_c),
    cmocka_unit_test(test_what_it_cannot_do_has_a_reason),
    cmocka_unit_test(test_mulsum_is_run_as_matmul),
    cmocka_unit_test(test_what_it_says_is_kept),
    cmocka_unit_test(test_what_it_lacks_is_legalised),
    cmocka_unit_test(test_what_has_no_wider_form_is_not),
    cmocka_unit_test(test_what_is_legalised_is_judged),
    cmocka_unit_test(test_deeds_are_findings),
    cmocka_unit_test(test_scales_are_where_they_are_said_to_be),
    cmocka_unit_test(test_some_row_must_fit_a_whole_graph),
    cmocka_unit_test(test_a_claimed_row_must_fit),
    cmocka_unit_test(test_other_graphs_are_declined),
  };
  return cmocka_run_group_tests(tests, open_session, close_session);
}
