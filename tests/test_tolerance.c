/* The table of rules: what holds whatever is drawn, and the numbers that it is there to show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle_fixture.h"
#include "tolerance_table.h"

static pf_tolerance_ask ask_for(pf_dtype dtype, int64_t k, int64_t count)
{
  return (pf_tolerance_ask){.dtype = dtype, .k = k, .graph = PF_MATMUL_PLAIN, .strategy = "eager",
                            .count = count, .seed = 7};
}

/* Freed by the caller. */
static pf_tolerance_table *measure(const pf_tolerance_ask *ask)
{
  pf_error e = {0};
  pf_tolerance_table *t = malloc(sizeof *t);
  assert_non_null(t);
  if (pf_tolerance_measure(ask, &oracle, NULL, NULL, t, &e))
    fail_msg("%s", e.text);
  return t;
}

static int rule_named(const char *name)
{
  for (int r = 0; r < PF_TABLE_RULES; r++)
    if (!strcmp(pf_table_rule_name(r), name))
      return r;
  fail_msg("no rule %s", name);
  return -1;
}

static const pf_share *passed(const pf_tolerance_data *d, const char *fault, const char *rule)
{
  for (int f = 0; f < d->faults; f++)
    if (!strcmp(d->fault[f].name, fault))
      return &d->fault[f].passed[rule_named(rule)];
  fail_msg("no fault %s", fault);
  return NULL;
}

/* The contract takes every order, and all shares are of what was run. */
static void test_contract_rejects_nothing_correct(void **state)
{
  (void)state;
  static const struct {
    pf_dtype dtype;
    int64_t k;
    pf_graph graph;
    const char *strategy;
  } asks[] = {{PF_BF16, 1, PF_MATMUL_PLAIN, "eager"},   {PF_BF16, 33, PF_MATMUL_ADD, "inductor"},
              {PF_F16, 64, PF_ADDMM, "eager"},          {PF_F32, 200, PF_LINEAR, "aot_eager"},
              {PF_F64, 17, PF_MATMUL_PLAIN, "eager"},   {PF_F32, 3, PF_ADDMM, "inductor_graph"},
              {PF_BF16, 20, PF_MATMUL_OUT_F32_ADD, "aot_eager_bf16acc"}};
  for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
    pf_tolerance_ask ask = ask_for(asks[i].dtype, asks[i].k, 3);
    ask.graph = asks[i].graph;
    ask.strategy = asks[i].strategy;
    pf_tolerance_table *t = measure(&ask);
    assert_int_equal(t->orders, 10);
    for (int d = 0; d < PF_TABLE_DATA; d++) {
      const pf_tolerance_data *data = &t->data[d];
      assert_int_equal(data->tensors[0].hits, 0);
      assert_int_equal(data->tensors[0].of, 30);
      assert_int_equal(data->elements[0].of, 30 * PF_TABLE_SIDE * PF_TABLE_SIDE);
      for (int r = 0; r < PF_TABLE_RULES; r++) {
        int64_t of = 0, hits = 0;
        for (int f = 0; f < data->faults; f++) {
          of += data->fault[f].passed[r].of;
          hits += data->fault[f].passed[r].hits;
        }
        assert_int_equal(of, data->passed[r].of);
        assert_int_equal(hits, data->passed[r].hits);
        /* a tensor is rejected with any of its elements */
        assert_true(data->elements[r].hits >= data->tensors[r].hits || !data->elements[r].of);
      }
    }
    free(t);
  }
}

static void test_seed_decides(void **state)
{
  (void)state;
  pf_tolerance_ask ask = ask_for(PF_F32, 100, 4);
  pf_tolerance_table *first = measure(&ask), *second = measure(&ask);
  for (int d = 0; d < PF_TABLE_DATA; d++) {
    assert_memory_equal(first->data[d].tensors, second->data[d].tensors,
                        sizeof first->data[d].tensors);
    assert_memory_equal(first->data[d].elements, second->data[d].elements,
                        sizeof first->data[d].elements);
    assert_memory_equal(first->data[d].passed, second->data[d].passed,
                        sizeof first->data[d].passed);
    assert_true(first->data[d].ulps_median == second->data[d].ulps_median);
  }
  ask.seed++;
  pf_tolerance_table *other = measure(&ask);
  assert_true(first->data[0].ulps_median != other->data[0].ulps_median);
  free(first);
  free(second);
  free(other);
}

/* d u of d = K = 1024, products of f32 being rounded: 2^-14 of S, a little more by rounding up. */
static void test_width_is_the_bound(void **state)
{
  (void)state;
  const pf_tolerance_ask ask = ask_for(PF_F32, 1024, 2);
  pf_tolerance_table *t = measure(&ask);
  for (int d = 0; d < PF_TABLE_DATA; d++) {
    assert_true(t->data[d].share_median >= 0x1p-14 && t->data[d].share_95 < 0x1.001p-14);
    assert_true(t->data[d].ulps_95 > t->data[d].ulps_median);
  }
  assert_true(t->data[1].ulps_median > 1000 * t->data[0].ulps_median);
  free(t);
}

/* What other rules are worth at K = 1024: torch's rejects every correct tensor that cancels and
   many that do not; of truncated bf16 outputs it passes all, the contract none where nothing
   cancels. */
static void test_known_numbers(void **state)
{
  (void)state;
  const pf_tolerance_ask f32 = ask_for(PF_F32, 1024, 5), bf16 = ask_for(PF_BF16, 1024, 5);
  pf_tolerance_table *t = measure(&f32);
  const int torch = rule_named("PyTorch");
  assert_int_equal(t->data[1].tensors[torch].hits, t->data[1].tensors[torch].of);
  assert_true(t->data[0].tensors[torch].hits * 5 > t->data[0].tensors[torch].of);
  assert_int_equal(passed(&t->data[0], "M04", "contract")->of, 0);  /* no fault in f32 */
  assert_int_equal(passed(&t->data[0], "M11", "contract")->of, 5);
  assert_int_equal(passed(&t->data[0], "M11", "contract")->hits, 0);
  assert_int_equal(passed(&t->data[0], "M11", "ggml")->hits, 5);
  free(t);
  t = measure(&bf16);
  assert_int_equal(passed(&t->data[0], "truncation", "PyTorch")->hits, 5);
  assert_int_equal(passed(&t->data[0], "truncation", "contract")->of, 5);
  assert_int_equal(passed(&t->data[0], "truncation", "contract")->hits, 0);
  assert_false(t->covered[rule_named("BLAS tests")]);
  free(t);
}

/* --- single rules -------------------------------------------------------------------------- */

static const pf_known_rule *known(const char *name)
{
  return &pf_known_rules[rule_named(name) - 1];
}

static bool passes(const char *name, pf_dtype t, double v, double got, double magnitude)
{
  const double one = 1;
  const pf_sum sum = {.k = 1, .x = &v, .y = &one, .alpha = 1};
  const pf_step last = {.out = *pf_format_of(t), .storage = t};
  pf_truth truth;
  oracle.sum(oracle.state, &sum, &truth);
  const pf_known_element e = {.oracle = &oracle, .last = &last, .got = got,
                              .expected = oracle.nearest(oracle.state, &last.out),
                              .magnitude = magnitude};
  return known(name)->passes(&e);
}

/* Their borders, by hand. */
static void test_other_comparisons(void **state)
{
  (void)state;
  assert_true(passes("CUTLASS", PF_F32, 1, 1.105, 0));     /* 0.105 < 0.05 * 2.105 */
  assert_false(passes("CUTLASS", PF_F32, 1, 1.106, 0));
  assert_true(passes("CUTLASS", PF_F32, 0, 0x1p-13, 0));   /* below 0.05 / 256 */
  assert_false(passes("CUTLASS", PF_F32, 0, 0x1p-12, 0));
  assert_false(passes("CUTLASS", PF_F32, 1, (double)NAN, 0));
  assert_true(passes("benchdnn", PF_F32, 8, 8 * (1 + 0x1p-20), 0));
  assert_false(passes("benchdnn", PF_F32, 8, 8 * (1 + 0x1p-19), 0));
  assert_true(passes("benchdnn", PF_BF16, 8, 8 + 0x1p-4, 0));
  assert_false(passes("benchdnn", PF_BF16, 8, 8 + 0x1p-3, 0));
  assert_true(passes("benchdnn", PF_BF16, 0x1p-20, 0x1p-8, 0));  /* absolute below 1e-5 */
  assert_false(passes("benchdnn", PF_F32, 1, (double)NAN, 0));
  assert_true(passes("BLAS tests", PF_F32, 1, 1 + 15 * 0x1p-23, 1));
  assert_false(passes("BLAS tests", PF_F32, 1, 1 + 16 * 0x1p-23, 1));
  assert_true(passes("BLAS tests", PF_F32, 1, 1 + 60 * 0x1p-23, 4));
  assert_false(passes("BLAS tests", PF_F32, 1, (double)NAN, 4));
  pf_rule r;
  assert_true(known("rocBLAS")->rule(PF_F32, 1024, &r));
  assert_true(r.kind == PF_RULE_CLOSE && r.abs == 0x1p-13 && r.rel == 0);
  assert_true(known("ggml")->rule(PF_F32, 1024, &r));
  assert_true(r.kind == PF_RULE_NMSE && r.nmse == 5e-4);
}

static void test_bad_asks(void **state)
{
  (void)state;
  pf_tolerance_table *t = malloc(sizeof *t);
  assert_non_null(t);
  pf_tolerance_ask ask = ask_for(PF_BF16, 8, 1);
  pf_error e = {0};
  ask.strategy = "nobody";
  assert_int_equal(pf_tolerance_measure(&ask, &oracle, NULL, NULL, t, &e), PF_BAD_INPUT);
  assert_true(e.text[0]);
  ask.strategy = "given";
  ask.text = "out = MATMUL(x, y; acc f33)";
  assert_int_equal(pf_tolerance_measure(&ask, &oracle, NULL, NULL, t, &e), PF_BAD_INPUT);
  assert_true(e.offset > 0);
  ask.text = "out = MATMUL(x, y; acc f32, out bf16)";
  assert_int_equal(pf_tolerance_measure(&ask, &oracle, NULL, NULL, t, &e), PF_OK);
  assert_int_equal(t->out, PF_BF16);
  free(t);
}

static void count_calls(void *user, int64_t done, int64_t of)
{
  int64_t *calls = user;
  assert_int_equal(done, ++*calls);
  assert_int_equal(of, 6);
}

static void test_progress_counts_cases(void **state)
{
  (void)state;
  int64_t calls = 0;
  const pf_tolerance_ask ask = ask_for(PF_BF16, 4, 3);
  pf_tolerance_table *t = malloc(sizeof *t);
  assert_non_null(t);
  assert_int_equal(pf_tolerance_measure(&ask, &oracle, count_calls, &calls, t, NULL), PF_OK);
  assert_int_equal(calls, 6);
  free(t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_contract_rejects_nothing_correct),
    cmocka_unit_test(test_seed_decides),
    cmocka_unit_test(test_width_is_the_bound),
    cmocka_unit_test(test_known_numbers),
    cmocka_unit_test(test_other_comparisons),
    cmocka_unit_test(test_bad_asks),
    cmocka_unit_test(test_progress_counts_cases),
  };
  return cmocka_run_group_tests(tests, open_oracle, close_oracle);
}
