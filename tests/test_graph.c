/* The tables of graphs and roles, and torch's promotion of each graph's result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "graph.h"

/* Names and numbers are part of the archive form: stated here once more, so that neither a swapped
   row nor a renumbered enum passes. */
static const struct {
  const char *name;
  bool has_c, has_bias, bias_optional, weight, scaled;
  const char *promises;
} graphs[] = {
  { "matmul_out_f32_add", false, true, false, false, false, "eager" },
  { "matmul_add", false, true, false, false, false, "eager" },
  { "matmul_cast_f32_add", false, true, false, false, false, "eager" },
  { "matmul", false, false, false, false, false, "eager" },
  { "linear", false, true, true, true, false, "eager" },
  { "addmm", true, false, false, false, false, "eager" },
  { "scaled_matmul", false, true, true, false, true, "dequantize" },
};

static void test_graph_table(void **state)
{
  (void)state;
  assert_int_equal(PF_GRAPH_COUNT, sizeof graphs / sizeof graphs[0]);
  for (int g = 0; g < PF_GRAPH_COUNT; g++) {
    const pf_graph_info *info = pf_graph_of((pf_graph)g);
    assert_string_equal(info->name, graphs[g].name);
    assert_int_equal(info->has_c, graphs[g].has_c);
    assert_int_equal(info->has_bias, graphs[g].has_bias);
    assert_int_equal(info->bias_optional, graphs[g].bias_optional);
    assert_int_equal(info->weight, graphs[g].weight);
    assert_int_equal(info->scaled, graphs[g].scaled);
    assert_string_equal(info->promises, graphs[g].promises);
    assert_true(strlen(info->torch) > 0);
  }
}

/* "matmul" begins "matmul_add": a search that compares only the given or only the known length
   finds the wrong graph, or finds one in "matmul_" and "matmu". */
static void test_graph_find(void **state)
{
  (void)state;
  pf_graph found;
  for (int g = 0; g < PF_GRAPH_COUNT; g++) {
    const char *name = graphs[g].name;
    const size_t length = strlen(name);
    char longer[64];
    assert_true(length + 2 <= sizeof longer);
    memcpy(longer, name, length);
    memcpy(longer + length, " x", 2);
    assert_true(pf_graph_find(longer, length, &found));
    assert_int_equal(found, g);
    assert_false(pf_graph_find(longer, length + 1, &found));
    assert_false(pf_graph_find(name, length - 1, &found));
  }
  found = PF_ADDMM;
  assert_false(pf_graph_find("", 0, &found));
  assert_false(pf_graph_find("MATMUL", 6, &found));
  assert_int_equal(found, PF_ADDMM);
}

static void test_roles(void **state)
{
  (void)state;
  static const char *const names[] = { "x", "y", "c", "bias", "out" };
  assert_int_equal(PF_ROLE_COUNT, sizeof names / sizeof names[0]);
  pf_role found;
  for (int r = 0; r < PF_ROLE_COUNT; r++) {
    assert_string_equal(pf_role_name((pf_role)r), names[r]);
    assert_true(pf_role_find(names[r], strlen(names[r]), &found));
    assert_int_equal(found, r);
    assert_false(pf_role_find(names[r], strlen(names[r]) - 1, &found));
  }
  assert_false(pf_role_find("xy", 2, &found));
  assert_false(pf_role_find("biased", 6, &found));
}

/* Written out from torch's promotion, one line for each pair that some graph tells apart. */
static const struct {
  pf_dtype in, addend, out_f32_add, add, cast_f32_add;
} results[] = {
  { PF_BF16, PF_BF16, PF_F32, PF_BF16, PF_F32 },
  { PF_F16, PF_F16, PF_F32, PF_F16, PF_F32 },
  { PF_F32, PF_F32, PF_F32, PF_F32, PF_F32 },
  { PF_F64, PF_F64, PF_F64, PF_F64, PF_F32 },
  { PF_BF16, PF_F16, PF_F32, PF_F32, PF_F32 },
  { PF_BF16, PF_F32, PF_F32, PF_F32, PF_F32 },
  { PF_F32, PF_F16, PF_F32, PF_F32, PF_F32 },
  { PF_BF16, PF_F64, PF_F64, PF_F64, PF_F32 },
  { PF_F64, PF_BF16, PF_F32, PF_F64, PF_F32 },
};

static void test_graph_result(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
    const pf_dtype in = results[i].in, addend = results[i].addend;
    assert_int_equal(pf_graph_result(PF_MATMUL_OUT_F32_ADD, in, addend), results[i].out_f32_add);
    assert_int_equal(pf_graph_result(PF_MATMUL_ADD, in, addend), results[i].add);
    assert_int_equal(pf_graph_result(PF_LINEAR, in, addend), results[i].add);
    assert_int_equal(pf_graph_result(PF_ADDMM, in, addend), results[i].add);
    assert_int_equal(pf_graph_result(PF_MATMUL_CAST_F32_ADD, in, addend), results[i].cast_f32_add);
    assert_int_equal(pf_graph_result(PF_MATMUL_PLAIN, in, addend), in);
    assert_int_equal(pf_graph_result(PF_SCALED_MATMUL, in, addend), PF_F32);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_graph_table),
    cmocka_unit_test(test_graph_find),
    cmocka_unit_test(test_roles),
    cmocka_unit_test(test_graph_result),
  };
  return cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}
