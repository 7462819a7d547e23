/* Programs of cases: every case has a script for PyTorch, under 40 lines; what has no program for a
   target says why, and nothing is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "emit.h"
#include "form_text.h"
#include "random_cases.h"

enum { CASES = 300 };

static const char *const environment[] = {"DNNL_MAX_CPU_ISA=AVX2", "B=\"\\=", NULL};

/* The program, which is the caller's to free. */
static char *emit_with(const pf_case *c, const pf_emit_wish *wish, pf_status *status, pf_error *e)
{
  pf_arena a = {0};
  pf_problem p;
  char *text = NULL;
  size_t size;
  FILE *to = open_memstream(&text, &size);
  assert_non_null(to);
  assert_int_equal(pf_problem_build(c, &a, &p), PF_OK);
  *status = pf_emit(&p, wish, &a, to, e);
  assert_int_equal(fclose(to), 0);
  pf_arena_free(&a);
  return text;
}

static char *emit(const pf_case *c, pf_emit_target t, const char *engine, pf_status *status,
                  pf_error *e)
{
  const pf_emit_wish wish = {.target = t, .engine = engine};
  return emit_with(c, &wish, status, e);
}

static int lines_of(const char *text)
{
  int lines = 0;
  for (; *text; text++)
    lines += *text == '\n';
  return lines;
}

static void test_every_case_has_a_script(void **state)
{
  (void)state;
  random_source r = {.state = 20};
  pf_arena a = {0};
  for (int i = 0; i < CASES; i++) {
    const pf_filter filter = random_filter(&r);
    pf_case c;
    pf_status status;
    pf_error e = {0};
    random_case(&r, &filter, &a, &c);
    const pf_emit_wish wish = {.target = PF_EMIT_PYTORCH, .environment = environment};
    char *text = emit_with(&c, &wish, &status, &e);
    assert_int_equal(status, PF_OK);
    assert_true(lines_of(text) > 25 && lines_of(text) < 40);
    free(text);
  }
  pf_arena_free(&a);
}

static void test_a_program_or_a_reason(void **state)
{
  (void)state;
  static const char *const engines[] = {"openblas", "openblas:gemm_batch", "onednn",
                                        "onednn:runtime", "onednn:gemm", "onnxruntime", "xnnpack",
                                        "torch", "torch:bmm", "torch:raw", "torch:linear"};
  random_source r = {.state = 21};
  pf_arena a = {0};
  int written[sizeof engines / sizeof *engines] = {0};
  for (int i = 0; i < CASES; i++) {
    const pf_filter filter = random_filter(&r);
    pf_case c;
    random_case(&r, &filter, &a, &c);
    for (size_t j = 0; j < sizeof engines / sizeof *engines; j++) {
      pf_status status;
      pf_error e = {0};
      char *text = emit(&c, PF_EMIT_C, engines[j], &status, &e);
      assert_true(status == PF_OK || status == PF_UNSUPPORTED);
      assert_int_equal(status == PF_OK, text[0] != 0);
      assert_int_equal(status != PF_OK, e.text[0] != 0);
      written[j] += status == PF_OK;
      free(text);
    }
  }
  for (size_t j = 0; j < sizeof engines / sizeof *engines; j++)
    assert_true(written[j] > 0);
  pf_arena_free(&a);
}

static void refused(const char *text, pf_emit_target t, const char *engine, const char *why)
{
  pf_arena a = {0};
  pf_case c;
  pf_status status;
  pf_error e = {0};
  assert_int_equal(pf_text_parse(text, strlen(text), &a, &c, &e), PF_OK);
  char *program = emit(&c, t, engine, &status, &e);
  assert_int_equal(status, PF_UNSUPPORTED);
  if (!strstr(e.text, why))
    fail_msg("'%s' does not say '%s'", e.text, why);
  assert_string_equal(program, "");
  free(program);
  pf_arena_free(&a);
}

static void has(const char *text, const char *part)
{
  if (!strstr(text, part))
    fail_msg("no '%s' in\n%s", part, text);
}

/* What it needs is in the program itself. */
static void test_environment(void **state)
{
  (void)state;
  static const char line[] = "matmul x=f32[3,9] y=f32[9,5]";
  pf_arena a = {0};
  pf_case c;
  pf_status status;
  pf_error e = {0};
  assert_int_equal(pf_text_parse(line, strlen(line), &a, &c, &e), PF_OK);
  for (int t = 0; t < PF_EMIT_TARGETS; t++) {
    const pf_emit_wish wish = {(pf_emit_target)t, "onednn", environment};
    char *text = emit_with(&c, &wish, &status, &e);
    assert_int_equal(status, PF_OK);
    has(text, t == PF_EMIT_C ? "{{\"DNNL_MAX_CPU_ISA\", \"AVX2\"}, {\"B\", \"\\042\\134=\"}};"
                             : "({\"DNNL_MAX_CPU_ISA\": \"AVX2\", \"B\": \"\\042\\134=\", **os.environ})\nimport ");
    free(text);
  }
  pf_arena_free(&a);
}

static void test_a_library_by_its_path(void **state)
{
  (void)state;
  static const char line[] = "matmul x=bf16[3,9] y=bf16[9,5](1,9)";
  pf_arena a = {0};
  pf_case c;
  pf_status status;
  pf_error e = {0};
  assert_int_equal(pf_text_parse(line, strlen(line), &a, &c, &e), PF_OK);
  char *text = emit(&c, PF_EMIT_C, "torch:/opt/lib/libtorch_cpu.so:linear", &status, &e);
  has(text, " -o case /opt/lib/libtorch_cpu.so -Wl,-rpath,/opt/lib -lm && ./case */");
  has(text, "aoti_torch_cpu__linear_pointwise(x_tensor, y_tensor, NULL, ");
  free(text);
  text = emit(&c, PF_EMIT_C, "onednn:/opt/lib/libdnnl.so", &status, &e);
  has(text, " -o case /opt/lib/libdnnl.so -Wl,-rpath,/opt/lib -lm && ./case */");
  free(text);
  pf_arena_free(&a);
}

static void test_refusals(void **state)
{
  (void)state;
  refused("scaled_matmul x=f32[3,9] y=f32[9,5] x.scale=row:3", PF_EMIT_NUMPY, NULL,
          "no product with scales by row");
  refused("matmul x=f32[3,9] y=f32[9,5]", PF_EMIT_C, "nobody:gemm", "for engine 'nobody:gemm'");
  refused("matmul x=f16[3,9] y=f16[9,5]", PF_EMIT_C, "openblas", "CBLAS multiplies");
  refused("matmul x=f8_e5m2[3,9] y=f8_e5m2[9,5]", PF_EMIT_C, "onednn", "a program in C is");
  refused("matmul x=f64[3,9] y=f64[9,5]", PF_EMIT_C, "onednn", "it has no f64");
  refused("matmul x=f64[3,9] y=f64[9,5]", PF_EMIT_C, "xnnpack", "f16 by f16");
  refused("matmul x=s8[3,9] y=s8[9,5]", PF_EMIT_C, "torch", "of the operands' dtype");
  refused("matmul x=f32[3,9] y=f32[9,5]", PF_EMIT_C, "inductor", "the script for PyTorch");
  refused("matmul x=f32[3,9] y=f32[9,5]", PF_EMIT_C, "torch:dot", "no mode");
  refused("addmm x=f32[3,9] y=f32[9,5] c=f32[5] alpha=2", PF_EMIT_C, "torch:linear", "no alpha");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_every_case_has_a_script),
    cmocka_unit_test(test_a_program_or_a_reason),
    cmocka_unit_test(test_environment),
    cmocka_unit_test(test_a_library_by_its_path),
    cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
