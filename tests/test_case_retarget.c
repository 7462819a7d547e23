/* The same operands under another graph. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "form_text.h"

/* The text form of what becomes of it, or of the error. */
static const char *retargeted(const char *text, pf_graph g)
{
  static char out[300];
  pf_arena a = {0};
  pf_case c, target;
  pf_error e = {0};
  if (pf_text_parse(text, strlen(text), &a, &c, &e))
    fail_msg("%s", e.text);
  memset(out, 0, sizeof out);
  if (pf_case_retarget(&c, g, &target, &e)) {
    snprintf(out, sizeof out, "%s", e.text);
  } else {
    FILE *to = fmemopen(out, sizeof out - 1, "w");
    assert_non_null(to);
    pf_text_print(&target, to);
    fclose(to);
  }
  pf_arena_free(&a);
  return out;
}

static void test_same_operands(void **state)
{
  (void)state;
  const char *layouts = " x=bf16[3,4](1,3)+2 y=bf16[4,5] bias=f32[5] out=(1,3)+1 x.values=cancel:7";
  char from[200], to[200];
  const pf_graph g[] = {PF_MATMUL_OUT_F32_ADD, PF_MATMUL_ADD, PF_MATMUL_CAST_F32_ADD};
  for (int i = 0; i < 9; i++) {
    snprintf(from, sizeof from, "%s%s", pf_graph_of(g[i / 3])->name, layouts);
    snprintf(to, sizeof to, "%s%s", pf_graph_of(g[i % 3])->name, layouts);
    assert_string_equal(retargeted(from, g[i % 3]), to);
  }
}

static void test_dtype_of_the_result_follows(void **state)
{
  (void)state;
  pf_case c = {.op = PF_OP_MATMUL, .graph = PF_MATMUL_OUT_F32_ADD}, target;
  for (pf_role r = PF_X; r <= PF_BIAS; r++)
    if (r != PF_C)
      c.operand[r] = (pf_operand){.present = true, .dtype = PF_BF16, .rank = 1, .dim = {1},
                                  .stride = {1}};
  c.operand[PF_BIAS].rank = 0;
  assert_int_equal(pf_case_finish(&c, NULL), PF_OK);
  assert_int_equal(c.operand[PF_OUT].dtype, PF_F32);
  assert_int_equal(pf_case_retarget(&c, PF_MATMUL_ADD, &target, NULL), PF_OK);
  assert_int_equal(target.operand[PF_OUT].dtype, PF_BF16);
  c = target;
  assert_int_equal(pf_case_retarget(&c, PF_SCALED_MATMUL, &target, NULL), PF_OK);
  assert_int_equal(target.operand[PF_OUT].dtype, PF_F32);
  target.operand[PF_OUT].dtype = PF_F16;
  assert_int_equal(pf_case_retarget(&target, PF_SCALED_MATMUL, &c, NULL), PF_OK);
  assert_int_equal(c.operand[PF_OUT].dtype, PF_F16);
}

static void test_other_operands_are_refused(void **state)
{
  (void)state;
  const char *add = "matmul_add x=f32[3,4] y=f32[4,5] bias=f32[5]";
  assert_string_equal(retargeted(add, PF_MATMUL_PLAIN), "bias: matmul takes none");
  assert_string_equal(retargeted(add, PF_ADDMM), "c: missing; addmm needs it");
  assert_string_equal(retargeted(add, PF_LINEAR), "x and y: K is 4 in x and 5 in y");
  assert_string_equal(retargeted("linear x=f32[3,4] y=f32[5,4]", PF_MATMUL_ADD),
                      "bias: missing; matmul_add needs it");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_same_operands),
    cmocka_unit_test(test_dtype_of_the_result_follows),
    cmocka_unit_test(test_other_operands_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
