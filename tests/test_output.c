/* Outputs: what they start from, and what is written beside their elements. */
#include "place_checks.h"

#include <inttypes.h>
#include <math.h>

#include "problem.h"

/* Where element i of the output is, by the case alone. */
static uint8_t *output_at(const pf_problem *p, const pf_output *out, int64_t i)
{
  const pf_shape *s = &p->shape;
  const pf_operand *o = &p->what->operand[PF_OUT];
  int64_t at[PF_MAX_RANK];
  split_index(s->out_rank, s->out, i, at);
  const int64_t place = storage_place(o, s->out_rank, at) - o->offset;
  return (uint8_t *)out->view.data + place * pf_dtype_of(out->view.dtype)->bytes;
}

static void check_prefill(const pf_problem *p, const pf_output *out)
{
  const pf_dtype t = out->view.dtype;
  const bool in_place = p->what->out_is_c && p->c.dtype == t;
  for (int64_t i = 0; i < p->shape.outputs; i++) {
    const uint8_t *at = output_at(p, out, i);
    if (in_place)
      assert_true(same_value(pf_load(t, at), p->c_values[i]));
    else
      assert_int_equal(pf_load_bits(t, at), pf_marker_bits(t));
  }
}

/* Changes each byte of the storage in turn; `element` has a one for those of elements. */
static void check_stray(const pf_problem *p, const pf_output *out, const uint8_t *element)
{
  const int64_t start = (uint8_t *)out->view.data - out->storage;
  int64_t at;
  assert_false(pf_output_stray(p, out, &at));
  for (size_t i = 0; i < out->bytes; i++) {
    out->storage[i] ^= 1;
    const bool found = pf_output_stray(p, out, &at);
    assert_true(found == !element[i]);
    if (found)
      assert_int_equal(at, (int64_t)i - start);
    out->storage[i] ^= 1;
  }
}

static void check_output(const pf_problem *p, pf_dtype t, pf_arena *a)
{
  const size_t bytes = (size_t)pf_dtype_of(t)->bytes;
  const pf_operand *o = &p->what->operand[PF_OUT];
  pf_output out;
  int64_t at;
  assert_int_equal(pf_output_new(p, t, a, &out), PF_OK);
  assert_int_equal(out.view.dtype, t);
  assert_true(out.bytes >= (size_t)(pf_storage_size(o) + 128) * bytes);
  assert_memory_equal(out.storage, out.before, out.bytes);
  assert_int_equal((uintptr_t)out.view.data % 64, (size_t)o->offset * bytes % 64);
  check_prefill(p, &out);
  uint8_t *element = calloc(out.bytes, 1);
  double *got = malloc((size_t)(p->shape.outputs + 1) * sizeof *got);
  assert_true(element && got);
  for (int64_t i = 0; i < p->shape.outputs; i++)
    memset(element + (output_at(p, &out, i) - out.storage), 1, bytes);
  check_stray(p, &out, element);
  /* All elements written, with a hundred values; nothing stray in that, one byte beside is. */
  for (int64_t i = 0; i < p->shape.outputs; i++)
    pf_store(t, output_at(p, &out, i), pf_decode(t, (uint64_t)(i % 100)));
  assert_false(pf_output_stray(p, &out, &at));
  pf_output_read(p, &out, got);
  for (int64_t i = 0; i < p->shape.outputs; i++)
    assert_true(got[i] == pf_decode(t, (uint64_t)(i % 100)));
  check_stray(p, &out, element);
  free(element);
  free(got);
}

static void test_outputs(void **unused)
{
  (void)unused;
  static const pf_filter tiny = {.max_work = 60}, tiny_strided = {.max_work = 60,
                                                                  .strided_only = true};
  uint64_t seed = 23;
  int gaps = 0, in_place = 0;
  pf_arena a = {0};
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < 2000; i++) {
    pf_case c;
    pf_problem p;
    check_random_case(&seed, i % 2 ? &tiny : &tiny_strided, &a, &c);
    assert_int_equal(pf_problem_build(&c, &a, &p), PF_OK);
    check_output(&p, pf_case_result(&c), &a);
    check_output(&p, (pf_dtype)(i / 2 % PF_DTYPE_COUNT), &a);
    const pf_operand *out = &c.operand[PF_OUT];
    gaps += pf_storage_size(out) - out->offset > p.shape.outputs;
    in_place += c.out_is_c;
  }
  assert_true(gaps > 200 && in_place > 20);
  pf_arena_free(&a);
}

/* In place c's view and the output's are one; reading c from the output finds c. */
static void test_in_place(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  pf_case c;
  pf_problem p;
  pf_output out;
  double got[8];
  check_parse("addmm x=bf16[2,3] y=bf16[3,4] c=bf16[2,4](1,3)+5 out=c c.values=integer:7", &a, &c);
  assert_int_equal(pf_problem_build(&c, &a, &p), PF_OK);
  assert_int_equal(pf_output_new(&p, PF_BF16, &a, &out), PF_OK);
  assert_int_equal(out.view.row_stride, p.c.row_stride);
  assert_int_equal(out.view.column_stride, p.c.column_stride);
  pf_output_read(&p, &out, got);
  assert_memory_equal(got, p.c_values, sizeof got);
  /* Another dtype cannot be in place. */
  assert_int_equal(pf_output_new(&p, PF_F32, &a, &out), PF_OK);
  pf_output_read(&p, &out, got);
  assert_true(isnan(got[0]) && isnan(got[7]));
  pf_arena_free(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_outputs),
    cmocka_unit_test(test_in_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
