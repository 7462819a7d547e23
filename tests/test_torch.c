/* The adapter of libtorch: its calls against a library that takes no liberties. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plugin_fixture.h"

#define FAKE "torch:" PLUGIN("fake_torch")

static const pf_plugin_options opening = {.threads = 1};

static seen examine(const char *text, const char *engine)
{
  return examine_opened(text, engine, "eager", &opening);
}

static void check_right(const char *text, const char *engine, const char *kernel)
{
  const seen s = examine(text, engine);
  if (s.results != 1 || s.verdict[PF_VERDICT_OK] != 1)
    fail_msg("%s: %s", text, s.why);
  assert_string_equal(s.kernel, kernel);
  assert_string_equal(s.legalised, "");
}

static const struct { const char *text, *kernel; } right[] = {
  {"matmul x=f32[3,8] y=f32[8,5]", "mm"},
  {"matmul x=f32[8] y=f32[8]", "mm"},
  {"matmul x=f32[3,8](1,3) y=f32[8,5](1,9) out=(1,4)", "mm"},
  {"matmul x=f32[3,8](17,2) y=f32[8,5](0,2) out=(11,2)", "mm"},
  {"matmul x=bf16[3,8] y=bf16[8,5]", "mm"},
  {"addmm x=f32[3,8] y=f32[8,5] c=f32[5] alpha=2 beta=3", "addmm"},
  {"addmm x=f32[3,8] y=f32[8,5] c=f32[5] beta=0 c.values=bits:1", "addmm"},
  {"addmm x=f32[3,8] y=f32[8,5] c=f32[3,5] alpha=2 out=c", "addmm"},
  {"linear x=f32[3,8] y=f32[5,8] bias=f32[5](2)", "addmm"},
  /* batches of x are rows where y has none */
  {"matmul x=f32[2,3,8] y=f32[8,5]", "mm"},
  {"linear x=f32[2,4,3,8] y=f32[5,8] bias=f32[5]", "addmm"},
  {"matmul x=f32[2,3,8](8,16,1) y=f32[8,5]", "bmm"},
  {"matmul x=f32[2,3,8] y=f32[8,5] out=(20,5,1)", "bmm"},
  {"matmul x=f32[2,1,8](9,1,1) y=f32[8,5]", "mm"},
  {"matmul x=f32[2,3,8] y=f32[2,8,5]", "bmm"},
  {"matmul x=f32[3,8] y=f32[2,8,5]", "bmm"},
  {"matmul x=f32[2,1,3,3,8] y=f32[2,1,3,8,5]", "bmm"},
  {"addmm x=f32[2,3,8] y=f32[2,8,5] c=f32[2,1,5] alpha=2 beta=3", "baddbmm"},
  {"matmul x=f32[3,0] y=f32[0,5]", "mm"},
};

static void test_calls_are_right(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof right / sizeof *right; i++)
    check_right(right[i].text, FAKE, right[i].kernel);
}

static void test_modes(void **state)
{
  (void)state;
  check_right("matmul x=f32[3,8] y=f32[8,5]", FAKE ":bmm", "bmm");
  check_right("matmul x=f32[2,3,8] y=f32[8,5]", FAKE ":bmm", "bmm");
  check_right("addmm x=f32[8] y=f32[8,5] c=f32[5]", FAKE ":raw", "addmm");
  check_right("addmm x=bf16[3,0] y=bf16[0,5] c=bf16[5]", FAKE ":raw", "addmm");
  check_right("matmul x=bf16[2,4000] y=bf16[4000,1] out=(3,1)", FAKE ":raw", "mm above 4096");
  check_right("matmul x=f32[2,3,8] y=f32[8,5] out=(15,5,1)", FAKE ":linear", "linear");
  check_right("linear x=bf16[3,8] y=bf16[5,8] bias=bf16[5]", FAKE ":linear", "linear");
}

static void test_batches_that_do_not_fold_are_copied(void **state)
{
  (void)state;
  const seen s = examine("matmul x=f32[2,3,4,8] y=f32[3,8,5]", FAKE);
  assert_int_equal(s.verdict[PF_VERDICT_OK], 1);
  assert_string_equal(s.legalised, "y copied");
}

static void check_declined(const char *text, const char *engine, const char *says)
{
  const seen s = examine(text, engine);
  assert_int_equal(s.verdict[PF_VERDICT_UNSUPPORTED], 1);
  if (!strstr(s.why, says))
    fail_msg("%s: '%s' does not say '%s'", text, s.why, says);
}

static void test_what_it_has_not_is_declined(void **state)
{
  (void)state;
  check_declined("addmm x=s32[3,3] y=s32[3,5] c=s32[5]", FAKE, "not in its table");
  check_declined("matmul x=f32[3,0] y=f32[0,5]", FAKE ":linear", "k = 0");
  check_declined("addmm x=f32[3,3] y=f32[3,5] c=f32[5]", FAKE ":linear", "no alpha or c");
  check_declined("matmul x=f64[3,3] y=f64[3,5]", FAKE ":linear", "not in its table");
}

static void check_widened(const char *text, const char *engine)
{
  const seen s = examine(text, engine);
  assert_int_equal(s.verdict[PF_VERDICT_OK], 1);
  assert_non_null(strstr(s.legalised, "c bf16 -> f32"));
}

static void check_copied(const char *text, const char *says)
{
  const seen s = examine(text, FAKE);
  assert_int_equal(s.verdict[PF_VERDICT_OK], 1);
  assert_string_equal(s.legalised, says);
}

/* f32 is put in place of what would come out wrong, and only there. */
static void test_known_faults_are_kept_out(void **state)
{
  (void)state;
  check_widened("addmm x=bf16[3,0] y=bf16[0,5] c=bf16[5]", FAKE);
  check_widened("addmm x=bf16[1,64] y=bf16[64,65] c=bf16[65] alpha=0 beta=2", FAKE ":bmm");
  check_copied("matmul x=bf16[2,4000] y=bf16[4000,1] out=(3,1)", "y copied, result copied");
  check_copied("matmul x=bf16[2,4000] y=bf16[4000,1](2,1)", "y copied");
  check_right("matmul x=bf16[2,4000] y=bf16[4000,1] out=(1,1)", FAKE, "mm above 4096");
  check_right("addmm x=bf16[1,64] y=bf16[64,64] c=bf16[64] alpha=0 beta=2", FAKE ":bmm", "baddbmm");
  check_right("addmm x=bf16[1,64] y=bf16[64,65] c=bf16[65] alpha=0 beta=2", FAKE,
              "addmm above 4096");
}

/* A strided bias is copied first, one that differs by row is not to be had. */
static void test_the_bias_of_linear(void **state)
{
  (void)state;
  assert_string_equal(examine("linear x=f32[3,8] y=f32[5,8] bias=f32[5](2)", FAKE ":linear").why,
                      "linear reads a bias densely, whatever its stride");
  const seen s = examine_opened("linear x=f32[3,8] y=f32[5,8] bias=f32[3,1]", FAKE ":linear",
                                "eager", &opening);
  assert_string_equal(s.why, "linear takes one bias for all rows");
}

/* Where oneDNN may be at work. */
static void test_flushing_is_declared(void **state)
{
  (void)state;
  seen s = examine("matmul x=bf16[16,16] y=bf16[16,16]", FAKE);
  assert_string_equal(s.kernel, "mm");
  assert_int_equal(s.declared.flush_inputs, PF_NEVER);
  s = examine("matmul x=bf16[16,16] y=bf16[16,17]", FAKE);
  assert_string_equal(s.kernel, "mm above 4096");
  assert_int_equal(s.declared.flush_inputs, PF_MAY);
  assert_int_equal(s.declared.flush_sums, PF_MAY);
  assert_int_equal(s.declared.flush_outputs, PF_MAY);
  s = examine("matmul x=f32[16,16] y=f32[16,17]", FAKE);
  assert_string_equal(s.kernel, "mm");
  assert_int_equal(s.declared.flush_inputs, PF_NEVER);
  s = examine("matmul x=bf16[1,1] y=bf16[1,1]", FAKE ":linear");
  assert_int_equal(s.declared.flush_inputs, PF_MAY);
}

static void test_what_cannot_be_opened_says_why(void **state)
{
  (void)state;
  check_refusal_opened("torch:fast", "'fast' is none of matmul, bmm, raw, linear", &opening);
  check_refusal_opened("torch:./nothing.so", "not installed (package libtorch2.6", &opening);
  check_refusal_opened("torch:" PLUGIN("fake_blas"), "has no aoti_torch_device_type_cpu", &opening);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_calls_are_right),
    cmocka_unit_test(test_modes),
    cmocka_unit_test(test_batches_that_do_not_fold_are_copied),
    cmocka_unit_test(test_what_it_has_not_is_declined),
    cmocka_unit_test(test_known_faults_are_kept_out),
    cmocka_unit_test(test_the_bias_of_linear),
    cmocka_unit_test(test_flushing_is_declared),
    cmocka_unit_test(test_what_cannot_be_opened_says_why),
  };
  return cmocka_run_group_tests(tests, open_session, close_session);
}
