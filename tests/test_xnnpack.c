/* The adapter of XNNPACK: its numbers against the header where there is one, and its calls against
   a library that takes no liberties. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engines/xnnpack_abi.h"
#include "plugin_fixture.h"

#if defined(__has_include)
#if __has_include(<xnnpack.h>) && __has_include(<pthreadpool.h>)
#include <xnnpack.h>
#if defined(XNN_FLAG_TRANSPOSE_B)  /* Debian 12's has no such product */
#define HAS_HEADER 1
#endif
#endif
#endif

#define FAKE "xnnpack:" PLUGIN("fake_xnnpack")

static const pf_plugin_options opening = {.threads = 1};

static void test_numbers_are_those_of_the_header(void **state)
{
  (void)state;
#ifdef HAS_HEADER
  assert_int_equal(PF_XNN_SUCCESS, xnn_status_success);
  assert_int_equal(PF_XNN_TRANSPOSE_B, XNN_FLAG_TRANSPOSE_B);
  assert_true(PF_XNN_EXTRA_BYTES >= XNN_EXTRA_BYTES);  /* what it is depends on the processor */
  /* not called, so that nothing is linked: are these the functions' arguments? */
  assert_true(_Generic(&xnn_create_batch_matrix_multiply_nc_f32,
                       enum xnn_status (*)(uint32_t, xnn_operator_t *): 1, default: 0));
  assert_true(_Generic(&xnn_reshape_batch_matrix_multiply_nc_f32,
                       enum xnn_status (*)(xnn_operator_t, size_t, const size_t *, const size_t *,
                                           size_t, size_t, size_t, size_t *, size_t *,
                                           pthreadpool_t): 1, default: 0));
  assert_true(_Generic(&xnn_setup_batch_matrix_multiply_nc_f32,
                       enum xnn_status (*)(xnn_operator_t, void *, const float *, const float *,
                                           float *): 1, default: 0));
#else
  puts("SKIPPED XNNPACK's numbers: no header with batch_matrix_multiply (package libxnnpack-dev of "
       "Debian 13)");
#endif
}

static const char *const right[] = {
  "matmul x=f32[3,8] y=f32[8,5]",
  "matmul x=f32[8] y=f32[8]",
  "matmul x=f32[3,8](1,3) y=f32[8,5](1,9) out=(1,4)",
  "matmul x=f32[3,8](17,2) y=f32[8,5](2,17)",
  "matmul x=f32[2,1,3,4,5](60,60,20,1,4) y=f32[6,1,5,7](35,35,1,5)",
  "matmul x=f32[6,3,4](4,24,1) y=f32[4,4]",
  "matmul x=f32[3,4](0,1) y=f32[4,4]",
  "matmul x=f32[2,3,1,1,4](0,0,0,4,1) y=f32[4,10]",  /* both repeat */
};

static void test_calls_are_right(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    const seen s = examine_opened(right[i], FAKE, "eager", &opening);
    if (s.results != 1 || s.verdict[PF_VERDICT_OK] != 1)
      fail_msg("%s: %s", right[i], s.why);
  }
}

static void test_transposed_operands(void **state)
{
  (void)state;
  assert_string_equal(examine_opened("matmul x=f32[3,8] y=f32[8,5](1,8)", FAKE, "eager",
                                     &opening).kernel,
                      "batch_matrix_multiply_nc_f32, b transposed");
  assert_string_equal(examine_opened("matmul x=f32[3,8] y=f32[8,5]", FAKE, "eager",
                                     &opening).kernel,
                      "batch_matrix_multiply_nc_f32");
}

static void check_declined(const char *text, const char *says)
{
  const seen s = examine_opened(text, FAKE, "eager", &opening);
  assert_int_equal(s.verdict[PF_VERDICT_UNSUPPORTED], 1);
  if (!strstr(s.why, says))
    fail_msg("%s: '%s' does not say '%s'", text, s.why, says);
}

static void test_what_it_has_not_is_declined(void **state)
{
  (void)state;
  check_declined("matmul x=f32[3,0] y=f32[0,5]", "k = 0");
  check_declined("matmul x=f32[0,3] y=f32[3,5]", "empty output");
  check_declined("matmul x=f64[3,3] y=f64[3,5]", "not in its table");
}

static void test_flushing_is_declared(void **state)
{
  (void)state;
  const seen s = examine_opened("matmul x=f32[3,8] y=f32[8,5]", FAKE, "eager", &opening);
  assert_int_equal(s.declared.flush_inputs, PF_DOES);
  assert_int_equal(s.declared.flush_sums, PF_DOES);
  assert_int_equal(s.declared.flush_outputs, PF_DOES);
}

static void test_what_cannot_be_opened_says_why(void **state)
{
  (void)state;
  check_refusal_opened("xnnpack:fast", "a path to a library is expected", &opening);
  check_refusal_opened("xnnpack:./nothing.so", "not installed (package libxnnpack0.20241108",
                       &opening);
  check_refusal_opened("xnnpack:" PLUGIN("fake_blas"), "the library has no xnn_initialize",
                       &opening);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_numbers_are_those_of_the_header),
    cmocka_unit_test(test_calls_are_right),
    cmocka_unit_test(test_transposed_operands),
    cmocka_unit_test(test_what_it_has_not_is_declined),
    cmocka_unit_test(test_flushing_is_declared),
    cmocka_unit_test(test_what_cannot_be_opened_says_why),
  };
  return cmocka_run_group_tests(tests, open_session, close_session);
}
