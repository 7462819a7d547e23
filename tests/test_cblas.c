/* The adapter of CBLAS, driving a library that writes down how it is called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "engines/blas.h"
#include "engines/engines.h"
#include "form_text.h"
#include "mpfr_oracle.h"
#include "session.h"

#define FAKE "./build/plugin/fake_blas.so"
#define FAKE64 "./build/plugin/fake_blas64.so"

typedef struct seen {
  pf_verdict verdict;
  pf_status machinery;
  char why[200], kernel[96];
  pf_declared declared;
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
  pf_options_close(&session.options);
  pf_session_free(&session);
  pf_mpfr_oracle_free(&session.oracle);
  return 0;
}

static void note(void *user, const pf_result *r)
{
  seen *s = user;
  s->verdict = r->verdict;
  s->machinery = r->machinery;
  if (r->why)
    snprintf(s->why, sizeof s->why, "%s", r->why);
  if (!r->run)
    return;
  snprintf(s->kernel, sizeof s->kernel, "%s", r->run->kernel ? r->run->kernel : "");
  if (r->run->declared)
    s->declared = *r->run->declared;
}

static void take_engine(const char *engine)
{
  pf_error e = {0};
  pf_options_close(&session.options);
  pf_options_default(&session.options);
  if (pf_options_engines(&session.options, engine, &e) ||
      pf_options_strategies(&session.options, "eager", &e))
    fail_msg("%s", e.text);
}

static seen examine(const char *text)
{
  pf_case c;
  pf_error e = {0};
  seen s = {0};
  pf_arena_reset(&session.cases);
  if (pf_text_parse(text, strlen(text), &session.cases, &c, &e))
    fail_msg("%s: %s", text, e.text);
  assert_int_equal(pf_session_examine(&session, &c, note, &s), PF_OK);
  return s;
}

/* What the library wrote down since the last question. */
static const char *calls(const char *path)
{
  typedef const char *calls_of(void);
  calls_of *ask;
  void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  assert_non_null(library);
  *(void **)&ask = dlsym(library, "fake_blas_calls");
  assert_non_null(ask);
  const char *text = ask();
  dlclose(library);
  return text;
}

static void expect(const char *text, const char *called)
{
  calls(FAKE);
  const seen s = examine(text);
  const char *got = calls(FAKE);
  if (s.verdict != PF_VERDICT_OK)
    fail_msg("%s: %s %s", text, pf_verdict_name(s.verdict), s.why);
  if (strcmp(got, called))
    fail_msg("%s:\n'%s' instead of\n'%s'", text, got, called);
}

/* --- how it is called ---------------------------------------------------------------------- */

static void test_products_follow_shapes(void **state)
{
  (void)state;
  take_engine("cblas:" FAKE);
  expect("matmul x=f32[3,8] y=f32[8,5]", "sgemm row NN 3 5 8 ld 8 5 5 alpha 1 beta 0;");
  expect("matmul x=f64[3,8] y=f64[8,5]", "dgemm row NN 3 5 8 ld 8 5 5 alpha 1 beta 0;");
  expect("matmul x=f32[3,8] y=f32[8]", "sgemv row N 3 8 ld 8 inc 1 1 alpha 1 beta 0;");
  expect("matmul x=f32[8] y=f32[8,5]", "sgemv row T 8 5 ld 5 inc 1 1 alpha 1 beta 0;");
  expect("matmul x=f64[8] y=f64[8]", "ddot 8 inc 1 1;");
  expect("matmul x=f64[2,3,8] y=f64[8,5]", "dgemm row NN 3 5 8 ld 8 5 5 alpha 1 beta 0;"
                                           "dgemm row NN 3 5 8 ld 8 5 5 alpha 1 beta 0;");
  /* a sum of nothing, which gemv leaves alone */
  expect("matmul x=f32[3,0] y=f32[0]", "sgemm row NN 3 1 0 ld 1 1 1 alpha 1 beta 0;");
}

static void test_transposes_follow_strides(void **state)
{
  (void)state;
  take_engine("cblas:" FAKE);
  expect("matmul x=f32[3,8](1,3) y=f32[8,5](1,9)", "sgemm row TT 3 5 8 ld 3 9 5 alpha 1 beta 0;");
  expect("matmul x=f32[3,8](11,1) y=f32[8,5](7,1) out=(6,1)",
         "sgemm row NN 3 5 8 ld 11 7 6 alpha 1 beta 0;");
  expect("matmul x=f32[3,8] y=f32[8,5](1,8) out=(1,4)",
         "sgemm column TN 3 5 8 ld 8 8 4 alpha 1 beta 0;");
  /* where a size is 1 any stride may stand, and is kept if it can be a leading dimension */
  expect("matmul x=f32[3,1](1,1) y=f32[1,5](9,1)", "sgemm row NN 3 5 1 ld 1 9 5 alpha 1 beta 0;");
  expect("matmul x=f32[3,1](7,5) y=f32[1,5](2,1)", "sgemm row NN 3 5 1 ld 7 5 5 alpha 1 beta 0;");
  expect("matmul x=f32[3,8](8,1) y=f32[8](3)", "sgemv row N 3 8 ld 8 inc 3 1 alpha 1 beta 0;");
  expect("matmul x=f32[8](2) y=f32[8,5](1,8) out=(4)",
         "sgemv row N 5 8 ld 8 inc 2 4 alpha 1 beta 0;");
  expect("matmul x=f32[8](2) y=f32[8](5)", "sdot 8 inc 2 5;");
}

static void test_addends(void **state)
{
  (void)state;
  take_engine("cblas:" FAKE);
  expect("addmm x=f32[3,8] y=f32[8,5] c=f32[5] alpha=0.5 beta=-2",
         "sgemm row NN 3 5 8 ld 8 5 5 alpha 0.5 beta -2;");
  expect("addmm x=f32[3,8] y=f32[8,5] c=f32[3,5] alpha=2 beta=3 out=c",
         "sgemm row NN 3 5 8 ld 8 5 5 alpha 2 beta 3;");
  expect("addmm x=f32[3,8] y=f32[8,5] c=f32[3,5] c.set=0:7fc00000 beta=0",
         "sgemm row NN 3 5 8 ld 8 5 5 alpha 1 beta 0;");
  expect("linear x=f32[3,8] y=f32[5,8] bias=f32[5]",
         "sgemm row NT 3 5 8 ld 8 8 5 alpha 1 beta 1;");
  expect("linear x=f32[1,8] y=f32[1,8] bias=f32[1]",  /* dot has no addend */
         "sgemv row N 1 8 ld 8 inc 1 1 alpha 1 beta 1;");
}

static void test_bf16(void **state)
{
  (void)state;
  take_engine("cblas:" FAKE);
  expect("matmul_out_f32_add x=bf16[3,8] y=bf16[8,5] bias=bf16[5]",
         "sbgemm row NN 3 5 8 ld 8 5 5 alpha 1 beta 0;");
  const seen s = examine("matmul_out_f32_add x=bf16[3,8] y=bf16[8,1] bias=bf16[1]");
  assert_string_equal(s.kernel, "cblas_sbgemv N");
#if defined(__x86_64__)
  const pf_maybe flush = __builtin_cpu_supports("avx512bf16") ? PF_MAY : PF_NEVER;
#else
  const pf_maybe flush = PF_MAY;
#endif
  assert_int_equal(s.declared.flush_inputs, flush);
  assert_int_equal(s.declared.flush_sums, flush);
  assert_int_equal(s.declared.flush_outputs, PF_NEVER);
  assert_int_equal(examine("matmul x=f32[3,8] y=f32[8,5]").declared.flush_inputs, PF_NEVER);
}

static void test_product_can_be_chosen(void **state)
{
  (void)state;
  take_engine("cblas:" FAKE ":gemm");
  expect("matmul x=f32[8] y=f32[8]", "sgemm row NN 1 1 8 ld 8 1 1 alpha 1 beta 0;");
  take_engine("cblas:" FAKE ":gemm_batch");
  expect("matmul x=f32[8] y=f32[8]", "sgemm_batch 1 of 1;");
  expect("matmul x=f32[2,3,8] y=f32[8,5]", "sgemm_batch 1 of 2;");
  take_engine("cblas:" FAKE ":gemv");
  expect("matmul x=f32[8] y=f32[8]", "sgemv row N 1 8 ld 8 inc 1 1 alpha 1 beta 0;");
  assert_string_equal(examine("matmul x=f32[2,8] y=f32[8,2]").why, "gemv gives a vector");
  assert_string_equal(examine("matmul x=f32[2,0] y=f32[0]").why,
                      "gemv of an empty matrix leaves its output as it is");
  take_engine("cblas:" FAKE ":dot");
  assert_string_equal(examine("matmul x=f32[2,8] y=f32[8]").why, "dot gives one number");
}

static void test_wide_integers(void **state)
{
  (void)state;
  take_engine("cblas:" FAKE64);
  calls(FAKE64);
  seen s = examine("matmul x=f32[3,8](1,3) y=f32[8,5](6,1)");
  assert_int_equal(s.verdict, PF_VERDICT_OK);
  assert_string_equal(calls(FAKE64), "sgemm row TN 3 5 8 ld 3 6 5 alpha 1 beta 0;");
  s = examine("matmul x=f32[8] y=f32[8]");
  assert_string_equal(calls(FAKE64), "sdot 8 inc 1 1;");
  take_engine("cblas:" FAKE64 ":gemm_batch");
  s = examine("matmul x=f32[2,3,8] y=f32[8,5]");
  assert_int_equal(s.verdict, PF_VERDICT_OK);
  assert_string_equal(calls(FAKE64), "sgemm_batch 1 of 2;");
}

/* --- every layout is right ----------------------------------------------------------------- */

enum { LAYOUTS = 6 };

/* "f32[R,C](...)": by rows or columns, dense or padded, or with no stride of 1. */
static void put_layout(char *to, size_t size, int layout, int r, int c)
{
  const int strides[LAYOUTS][2] = {{c, 1}, {c + 2, 1}, {1, r}, {1, r + 3}, {2 * c + 1, 2},
                                   {3, 3 * r}};
  snprintf(to, size, "(%d,%d)", strides[layout][0], strides[layout][1]);
}

static void check_layouts(int m, int n, int k)
{
  for (int i = 0; i < LAYOUTS * LAYOUTS * LAYOUTS; i++) {
    char x[32], y[32], out[32], text[240];
    put_layout(x, sizeof x, i % LAYOUTS, m, k);
    put_layout(y, sizeof y, i / LAYOUTS % LAYOUTS, k, n);
    put_layout(out, sizeof out, i / LAYOUTS / LAYOUTS, m, n);
    snprintf(text, sizeof text, "addmm x=f32[%d,%d]%s y=f32[%d,%d]%s c=f32[%d,%d] beta=%d out=%s "
             "x.values=integer:1 y.values=integer:2 c.values=integer:3", m, k, x, k, n, y, m, n,
             i % 2, out);
    const seen s = examine(text);
    if (s.verdict != PF_VERDICT_OK || strstr(calls(FAKE), "illegal"))
      fail_msg("%s: %s %s %s", text, pf_verdict_name(s.verdict), s.why, s.kernel);
  }
}

static void test_every_layout_is_right(void **state)
{
  (void)state;
  static const int sizes[][3] = {{3, 4, 5}, {1, 4, 5}, {3, 1, 5}, {3, 4, 1}, {1, 1, 5},
                                 {1, 4, 1}, {3, 1, 1}, {1, 1, 1}, {3, 4, 0}, {1, 1, 0}};
  take_engine("cblas:" FAKE);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    check_layouts(sizes[i][0], sizes[i][1], sizes[i][2]);
}

/* --- what BLAS cannot take ----------------------------------------------------------------- */

typedef struct request {
  pfe_step step;
  pfe_tensor x, y, out;
  pfe_call call;
} request;

static void make_request(request *r, int64_t m, int64_t n, int64_t k)
{
  *r = (request){.step = {.kind = PFE_MATMUL, .a = PFE_X, .b = PFE_Y, .acc = PFE_F32,
                          .out = PFE_F32, .plain = 1},
                 .x = {.dtype = PFE_F32, .row_stride = k, .column_stride = 1},
                 .y = {.dtype = PFE_F32, .row_stride = n, .column_stride = 1},
                 .out = {.dtype = PFE_F32, .row_stride = n, .column_stride = 1},
                 .call = {.batches = 1, .m = m, .n = n, .k = k, .alpha = 1, .count = 1}};
  r->call.steps = &r->step;
  r->call.tensor[PFE_X] = &r->x;
  r->call.tensor[PFE_Y] = &r->y;
  r->call.out = &r->out;
}

static void test_views_that_are_no_matrices(void **state)
{
  (void)state;
  request r;
  pf_blas_gemm gemm;
  pf_blas_gemv gemv;
  pf_blas_dot dot;
  make_request(&r, 3, 4, 5);
  assert_null(pf_blas_gemm_of(&r.call, &gemm));
  r.x.row_stride = 0;  /* the same row three times */
  assert_non_null(strstr(pf_blas_gemm_of(&r.call, &gemm), "of an operand"));
  r.x.row_stride = 4;  /* rows that overlap */
  assert_non_null(strstr(pf_blas_gemm_of(&r.call, &gemm), "of an operand"));
  make_request(&r, 3, 4, 5);
  r.out.column_stride = 2;
  assert_non_null(strstr(pf_blas_gemm_of(&r.call, &gemm), "of the output"));
  make_request(&r, 3, 1, 5);
  r.y.row_stride = 0;
  assert_non_null(strstr(pf_blas_gemv_of(&r.call, &gemv), "increment of 0"));
  make_request(&r, 1, 1, 5);
  r.y.row_stride = 0;
  assert_non_null(strstr(pf_blas_dot_of(&r.call, &dot), "increment of 0"));
  make_request(&r, 1, 1, 5);
  r.step.has_alpha = 1;
  r.call.alpha = 2;
  assert_non_null(strstr(pf_blas_dot_of(&r.call, &dot), "no alpha"));
  r.step.has_c = r.step.has_bias = 1;
  r.call.beta = 0;
  assert_false(pf_blas_has_two_addends(&r.call));
  r.call.beta = 1;
  assert_true(pf_blas_has_two_addends(&r.call));
}

static pfe_status open_library(const char *argument, void **state, char text[192])
{
  const pfe_request wish = {.argument = argument, .threads = 1};
  pfe_info info = {.settings.accumulator = PFE_NONE};
  text[0] = 0;
  return pf_cblas_any.open(&pf_cblas_any, &wish, &info, state, text);
}

static void check_width(const char *path, int64_t m, int64_t ld, pfe_status expected)
{
  request r;
  void *library;
  pfe_answer answer = {.text = ""};
  assert_int_equal(open_library(path, &library, answer.text), PFE_OK);
  make_request(&r, m, 3, 4);
  r.x.row_stride = ld;
  const pfe_status status = pf_cblas_any.supports(library, &r.call, &answer);
  assert_int_equal(status, expected);
  if (status)
    assert_non_null(strstr(answer.text, "32-bit"));
  pf_cblas_any.close(library);
}

static void test_sizes_beyond_32_bits(void **state)
{
  (void)state;
  const int64_t beyond = (int64_t)INT32_MAX + 1;
  check_width(FAKE, INT32_MAX, INT32_MAX, PFE_OK);
  check_width(FAKE, beyond, 4, PFE_UNSUPPORTED);
  check_width(FAKE, 3, beyond, PFE_UNSUPPORTED);
  check_width(FAKE64, beyond, beyond, PFE_OK);
}

static void check_refusal(const char *argument, pfe_status status, const char *says)
{
  void *library;
  char text[192];
  assert_int_equal(open_library(argument, &library, text), status);
  if (!strstr(text, says))
    fail_msg("%s: '%s' does not say '%s'", argument, text, says);
}

static void test_what_is_no_blas_says_why(void **state)
{
  (void)state;
  check_refusal(NULL, PFE_ABSENT, "path is needed");
  check_refusal("", PFE_ABSENT, "path is needed");
  check_refusal("./nothing.so", PFE_ERROR, "No such file");
  check_refusal("./nothing.so:gemm", PFE_ERROR, "./nothing.so: cannot open");
  check_refusal("./build/plugin/engine_naive.so", PFE_ERROR, "no cblas_sgemm");
  void *library;
  char text[192];
  const pfe_request wish = {.argument = "gem", .threads = 1};
  pfe_info info = {.settings.accumulator = PFE_NONE};
  assert_int_equal(pf_openblas.open(&pf_openblas, &wish, &info, &library, text), PFE_ERROR);
  assert_non_null(strstr(text, "'gem' is none of gemm"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_products_follow_shapes),
    cmocka_unit_test(test_transposes_follow_strides),
    cmocka_unit_test(test_addends),
    cmocka_unit_test(test_bf16),
    cmocka_unit_test(test_product_can_be_chosen),
    cmocka_unit_test(test_wide_integers),
    cmocka_unit_test(test_every_layout_is_right),
    cmocka_unit_test(test_views_that_are_no_matrices),
    cmocka_unit_test(test_sizes_beyond_32_bits),
    cmocka_unit_test(test_what_is_no_blas_says_why),
  };
  return cmocka_run_group_tests(tests, open_session, close_session);
}
