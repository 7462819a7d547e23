/* Storages, views and dense copies against naive indexing (place_checks.h). */
#include "place_checks.h"

#include <inttypes.h>

#include "problem.h"

enum { RANDOM_CASES = 6000 };

static const pf_filter small = {.max_work = 1500};
static const pf_filter small_strided = {.max_work = 1500, .strided_only = true};

static const uint8_t *storage_at(const pf_problem *p, pf_role r, int64_t place)
{
  const pf_operand *o = &p->what->operand[r];
  return (const uint8_t *)p->storage[r] + place * pf_dtype_of(o->dtype)->bytes;
}

static const uint8_t *view_at(const pf_problem *p, const pf_matrix *m, int64_t b, int64_t row,
                              int64_t column)
{
  const int64_t at = pf_batch_offset(p, m, b) + row * m->row_stride + column * m->column_stride;
  return (const uint8_t *)m->data + at * pf_dtype_of(m->dtype)->bytes;
}

/* The place in its storage of x[..., row, k] or y[..., k, column] for output batch b. */
static int64_t factor_place(const pf_problem *p, pf_role r, int64_t b, int64_t line, int64_t k)
{
  const pf_operand *o = &p->what->operand[r];
  const pf_shape *s = &p->shape;
  const bool weight = r == PF_Y && pf_graph_of(p->what->graph)->weight;
  int64_t at[PF_MAX_RANK];
  if (o->rank == 1) {
    at[0] = k;
    return storage_place(o, 1, at);
  }
  split_index(s->batch_rank, s->batch, b, at);
  at[s->batch_rank] = r == PF_X || weight ? line : k;
  at[s->batch_rank + 1] = r == PF_X || weight ? k : line;
  return storage_place(o, s->batch_rank + 2, at);
}

static void check_factor(const pf_problem *p, pf_role r, int64_t b, int64_t line, int64_t k)
{
  const bool x = r == PF_X;
  const pf_operand *o = &p->what->operand[r];
  const uint8_t *at = storage_at(p, r, factor_place(p, r, b, line, k));
  const int64_t first = x ? p->x_line[b] : p->y_line[b], lines = x ? p->x_lines : p->y_lines;
  const double *vectors = x ? p->x_vectors : p->y_vectors;
  assert_ptr_equal(x ? view_at(p, &p->x, b, line, k) : view_at(p, &p->y, b, k, line), at);
  assert_in_range(first + line, 0, lines - 1);
  assert_true(same_value(vectors[(first + line) * p->shape.k + k], pf_load(o->dtype, at)));
}

static void check_addend(const pf_problem *p, pf_role r, int64_t b, int64_t row, int64_t column)
{
  const pf_shape *s = &p->shape;
  const pf_operand *o = &p->what->operand[r];
  const int64_t element = (b * s->m + row) * s->n + column;
  int64_t at[PF_MAX_RANK];
  split_index(s->out_rank, s->out, element, at);
  const uint8_t *where = storage_at(p, r, storage_place(o, s->out_rank, at));
  assert_ptr_equal(view_at(p, r == PF_C ? &p->c : &p->bias, b, row, column), where);
  const double *values = r == PF_C ? p->c_values : p->bias_values;
  assert_true(same_value(values[element], pf_load(o->dtype, where)));
}

static void check_gather(const pf_problem *p)
{
  const pf_shape *s = &p->shape;
  for (int64_t b = 0; b < s->batches; b++) {
    for (int64_t k = 0; k < s->k; k++) {
      for (int64_t row = 0; row < s->m; row++)
        check_factor(p, PF_X, b, row, k);
      for (int64_t column = 0; column < s->n; column++)
        check_factor(p, PF_Y, b, column, k);
    }
    for (int64_t row = 0; row < s->m; row++)
      for (int64_t column = 0; column < s->n; column++) {
        if (p->has_c)
          check_addend(p, PF_C, b, row, column);
        if (p->has_bias)
          check_addend(p, PF_BIAS, b, row, column);
      }
  }
}

/* One vector per line that the operand itself has: repeating a batch does not copy it. */
static void check_lines(const pf_problem *p)
{
  const pf_operand *x = &p->what->operand[PF_X], *y = &p->what->operand[PF_Y];
  const bool weight = pf_graph_of(p->what->graph)->weight;
  const int y_batch = weight || y->rank < 2 ? 0 : y->rank - 2;
  assert_int_equal(p->x_lines, pf_product(x->rank - 1, x->dim));
  assert_int_equal(p->y_lines, pf_product(y_batch, y->dim) * p->shape.n);
}

static void test_gather(void **unused)
{
  (void)unused;
  uint64_t seed = 21;
  int broadcast = 0, overlap = 0, vectors = 0;
  pf_arena a = {0};
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < RANDOM_CASES; i++) {
    pf_case c;
    pf_problem p;
    check_random_case(&seed, i % 2 ? &small : &small_strided, &a, &c);
    assert_int_equal(pf_problem_build(&c, &a, &p), PF_OK);
    assert_ptr_equal(p.what, &c);
    assert_true(p.has_c == c.operand[PF_C].present && p.has_bias == c.operand[PF_BIAS].present);
    check_gather(&p);
    check_lines(&p);
    broadcast += p.x_lines < p.shape.batches * p.shape.m;
    overlap += pf_operand_overlaps(&c.operand[PF_X]);
    vectors += c.operand[PF_X].rank == 1;
  }
  /* The cases were of the kinds that this test is about. */
  assert_true(broadcast > RANDOM_CASES / 50 && overlap > RANDOM_CASES / 50 &&
              vectors > RANDOM_CASES / 50);
  pf_arena_free(&a);
}

/* Storages: what is generated, by its place in the matmul, in row-major order, the last write of a
   place winning, edits after all; NaN where no element is. */

static pf_place expected_place(const pf_case *c, pf_role r, const int64_t *at, int64_t index)
{
  const pf_operand *o = &c->operand[r];
  const bool weight = pf_graph_of(c->graph)->weight;
  pf_place place = {.index = index, .line = index, .negate = r == PF_X};
  if (r == PF_C || r == PF_BIAS)
    return place;
  place.k_count = pf_case_shape(c).k;
  if (o->rank == 1) {
    place.line = 0;
    place.k = at[0];
    return place;
  }
  const bool k_last = r == PF_X || weight;
  const int64_t lines = o->dim[o->rank - (k_last ? 2 : 1)];
  int64_t batch = 0;
  for (int i = 0; i < o->rank - 2; i++)
    batch = batch * o->dim[i] + at[i];
  place.line = batch * lines + at[o->rank - (k_last ? 2 : 1)];
  place.k = at[o->rank - (k_last ? 1 : 2)];
  return place;
}

static void check_storage(const pf_problem *p, pf_role r)
{
  const pf_operand *o = &p->what->operand[r];
  const pf_values *v = &o->values;
  const int bytes = pf_dtype_of(o->dtype)->bytes;
  const int64_t size = pf_storage_size(o), count = pf_operand_count(o);
  uint64_t *expected = malloc((size_t)(size + 1) * sizeof *expected);
  assert_non_null(expected);
  assert_int_equal(p->storage_bytes[r], size * bytes);
  for (int64_t i = 0; i < size; i++)
    expected[i] = pf_marker_bits(o->dtype);
  for (int64_t i = 0; i < count + v->edit_count; i++) {
    int64_t at[PF_MAX_RANK];
    const int64_t index = i < count ? i : v->edits[i - count].index;
    split_index(o->rank, o->dim, index, at);
    const pf_place place = expected_place(p->what, r, at, index);
    expected[storage_place(o, o->rank, at)] =
        i >= count ? v->edits[i - count].bits
        : v->kind == PF_VERBATIM ? pf_load_bits(o->dtype, v->verbatim + index * bytes)
                                 : pf_value_bits(v, o->dtype, &place);
  }
  for (int64_t i = 0; i < size; i++)
    assert_int_equal(pf_load_bits(o->dtype, storage_at(p, r, i)), expected[i]);
  free(expected);
}

static void test_storages(void **unused)
{
  (void)unused;
  uint64_t seed = 22;
  pf_arena a = {0};
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < RANDOM_CASES; i++) {
    pf_case c;
    pf_problem p;
    check_random_case(&seed, i % 2 ? &small : &small_strided, &a, &c);
    assert_int_equal(pf_problem_build(&c, &a, &p), PF_OK);
    for (pf_role r = PF_X; r < PF_OUT; r++)
      if (c.operand[r].present)
        check_storage(&p, r);
  }
  pf_arena_free(&a);
}

/* Overlap by hand: rows one element apart share all but one of their values. */
static void test_overlap_reads_back(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  pf_case c;
  pf_problem p;
  check_parse("matmul x=f32[2,3](1,1) y=f32[3] x.bits=3f800000,40000000,40400000,40800000,"
              "40a00000,40c00000", &a, &c);
  assert_int_equal(pf_problem_build(&c, &a, &p), PF_OK);
  const double expected[6] = {1, 4, 5, 4, 5, 6};
  assert_memory_equal(p.x_vectors, expected, sizeof expected);
  check_parse("matmul x=f32[2,3](0,1) y=f32[3] x.set=4:40000000", &a, &c);
  assert_int_equal(pf_problem_build(&c, &a, &p), PF_OK);
  assert_true(p.x_vectors[1] == 2 && p.x_vectors[4] == 2);
  assert_int_equal(p.x.row_stride, 0);
  pf_arena_free(&a);
}

/* A stride along a size of one reaches libraries as the case has it. */
static void test_odd_strides_survive(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  pf_case c;
  pf_problem p;
  pf_output out;
  check_parse("matmul_add x=f32[1,1,3](77,55,1) y=f32[3,1](1,66) bias=f32[1,1](44,33) out=(9,8,7)",
              &a, &c);
  assert_int_equal(pf_problem_build(&c, &a, &p), PF_OK);
  assert_int_equal(pf_output_new(&p, PF_F32, &a, &out), PF_OK);
  assert_int_equal(p.x.batch_stride[0], 77);
  assert_int_equal(p.x.row_stride, 55);
  assert_int_equal(p.y.batch_stride[0], 0);
  assert_int_equal(p.y.column_stride, 66);
  assert_int_equal(p.bias.row_stride, 44);
  assert_int_equal(p.bias.column_stride, 33);
  assert_int_equal(out.view.batch_stride[0], 9);
  assert_int_equal(out.view.row_stride, 8);
  assert_int_equal(out.view.column_stride, 7);
  pf_arena_free(&a);
}

static void test_index_text(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  pf_case c;
  char text[64], cut[4];
  check_parse("matmul x=f32[4,5,2,3] y=f32[5,3,7]", &a, &c);
  pf_shape s = pf_case_shape(&c);
  pf_print_index(&s, ((3 * 5 + 0) * 2 + 1) * 7 + 6, text, sizeof text);
  assert_string_equal(text, "[3,0,1,6]");
  pf_print_index(&s, 279, cut, sizeof cut);
  assert_string_equal(cut, "[3,");
  check_parse("matmul x=f32[3] y=f32[3,7]", &a, &c);
  s = pf_case_shape(&c);
  pf_print_index(&s, 5, text, sizeof text);
  assert_string_equal(text, "[5]");
  check_parse("matmul x=f32[3] y=f32[3]", &a, &c);
  s = pf_case_shape(&c);
  pf_print_index(&s, 0, text, sizeof text);
  assert_string_equal(text, "[]");
  pf_arena_free(&a);
}

/* Whatever allocation fails, the answer is PF_NO_MEMORY. */
static void test_no_memory(void **unused)
{
  (void)unused;
  pf_arena a = {0}, limited = {0};
  pf_case c;
  bool built = false;
  check_parse("addmm x=f32[20,30] y=f32[30,40] c=f32[20,40] out=(41,1)", &a, &c);
  for (size_t limit = 64; !built; limit += 512) {
    pf_problem p;
    pf_output out;
    limited.limit = limit;
    pf_arena_reset(&limited);
    pf_status s = pf_problem_build(&c, &limited, &p);
    if (s == PF_OK)
      s = pf_output_new(&p, PF_F32, &limited, &out);
    built = s == PF_OK;
    assert_true(built || s == PF_NO_MEMORY);
    assert_true(limit < 1 << 20);
  }
  assert_true(limited.limit > 20000);
  pf_arena_free(&limited);
  pf_arena_free(&a);
}

/* The largest cases build in a blink: nothing is worse than linear. */
static void test_large(void **unused)
{
  (void)unused;
  static const char *const lines[] = {
    "matmul x=bf16[262144,16](0,1) y=bf16[16,4]",
    "matmul x=bf16[4096,1,0,1024] y=bf16[1024,1]",
    "matmul x=bf16[1024,1024,1,1] y=bf16[1,4]",
    "matmul x=bf16[262144,0] y=bf16[0,16]",
    "matmul x=bf16[3,2](1000001,2000003) y=bf16[2,2] out=(1000001,2000003)",
  };
  pf_arena a = {0};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    pf_case c;
    pf_problem p;
    pf_output out;
    int64_t at;
    pf_arena_reset(&a);
    check_parse(lines[i], &a, &c);
    assert_int_equal(pf_problem_build(&c, &a, &p), PF_OK);
    assert_int_equal(pf_output_new(&p, PF_BF16, &a, &out), PF_OK);
    assert_false(pf_output_stray(&p, &out, &at));
  }
  pf_arena_free(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_gather),
    cmocka_unit_test(test_storages),
    cmocka_unit_test(test_overlap_reads_back),
    cmocka_unit_test(test_odd_strides_survive),
    cmocka_unit_test(test_index_text),
    cmocka_unit_test(test_no_memory),
    cmocka_unit_test(test_large),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
