/* Shapes by torch.matmul's rules, the normal form, and what is refused and why. */
#include "case_checks.h"

#include <inttypes.h>
#include <math.h>

typedef struct expected_shape {
  const char *line;
  int64_t b, m, n, k;
  const char *out;
} expected_shape;

/* As torch answers for the same shapes; a wrong K dimension, a batch aligned from the left, or a
   vector's dimension that stays in the result each break several. */
static const expected_shape shapes[] = {
  {"matmul x=f32[2,3] y=f32[3,4]", 1, 2, 4, 3, "[2,4]"},
  {"matmul x=f32[3] y=f32[3]", 1, 1, 1, 3, "[]"},
  {"matmul x=f32[3] y=f32[3,4]", 1, 1, 4, 3, "[4]"},
  {"matmul x=f32[2,3] y=f32[3]", 1, 2, 1, 3, "[2]"},
  {"matmul x=f32[3] y=f32[5,3,4]", 5, 1, 4, 3, "[5,4]"},
  {"matmul x=f32[5,2,3] y=f32[3]", 5, 2, 1, 3, "[5,2]"},
  {"matmul x=f32[32,7,1,8] y=f32[32,7,8,1]", 224, 1, 1, 8, "[32,7,1,1]"},
  {"matmul x=f32[5,2,3] y=f32[3,4]", 5, 2, 4, 3, "[5,2,4]"},
  {"matmul x=f32[2,3] y=f32[7,5,3,4]", 35, 2, 4, 3, "[7,5,2,4]"},
  {"matmul x=f32[7,1,2,3] y=f32[5,3,4]", 35, 2, 4, 3, "[7,5,2,4]"},
  {"matmul x=f32[1,5,2,3] y=f32[7,1,3,4]", 35, 2, 4, 3, "[7,5,2,4]"},
  {"matmul x=f32[2,3,4,5,6,7] y=f32[2,3,4,5,7,8]", 120, 6, 8, 7, "[2,3,4,5,6,8]"},
  {"matmul x=f32[2,1,4,1,6,7] y=f32[3,1,5,7,8]", 120, 6, 8, 7, "[2,3,4,5,6,8]"},
  {"matmul x=f32[0,2,3] y=f32[1,3,4]", 0, 2, 4, 3, "[0,2,4]"},
  {"matmul x=f32[1,2,3] y=f32[0,3,4]", 0, 2, 4, 3, "[0,2,4]"},
  {"matmul x=f32[2,0] y=f32[0,4]", 1, 2, 4, 0, "[2,4]"},
  {"matmul x=f32[0] y=f32[0]", 1, 1, 1, 0, "[]"},
  {"matmul x=f32[0,3] y=f32[3,0]", 1, 0, 0, 3, "[0,0]"},
  {"linear x=f32[3] y=f32[4,3]", 1, 1, 4, 3, "[4]"},
  {"linear x=f32[3] y=f32[3]", 1, 1, 1, 3, "[]"},
  {"linear x=f32[5,2,3] y=f32[4,3] bias=f32[4]", 5, 2, 4, 3, "[5,2,4]"},
  {"linear x=f32[5,2,3] y=f32[3] bias=f32[]", 5, 2, 1, 3, "[5,2]"},
  {"linear x=f32[9,8,5,7,2,3] y=f32[4,3]", 2520, 2, 4, 3, "[9,8,5,7,2,4]"},
  {"addmm x=f32[2,3] y=f32[3,4] c=f32[4]", 1, 2, 4, 3, "[2,4]"},
  {"addmm x=f32[7,2,3] y=f32[7,3,4] c=f32[2,1]", 7, 2, 4, 3, "[7,2,4]"},
  {"addmm x=f32[2,3] y=f32[3] c=f32[2]", 1, 2, 1, 3, "[2]"},
  {"addmm x=f32[3] y=f32[3] c=f32[]", 1, 1, 1, 3, "[]"},
  {"matmul_add x=f32[5,2,3] y=f32[3,4] bias=f32[5,1,1]", 5, 2, 4, 3, "[5,2,4]"},
  {"matmul_add x=f32[2,3] y=f32[3,0] bias=f32[1]", 1, 2, 0, 3, "[2,0]"},
};

static void print_dims(char *to, size_t size, int rank, const int64_t *dim)
{
  size_t used = 0;
  for (int i = 0; i < rank; i++)
    used += (size_t)snprintf(to + used, size - used, "%s%" PRId64, i ? "," : "[", dim[i]);
  snprintf(to + used, size - used, "%s", rank ? "]" : "[]");
}

static void test_shapes(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    const expected_shape *want = &shapes[i];
    char out[128], shape[128];
    pf_case c;
    print_message("%s\n", want->line);
    check_parse(want->line, &a, &c);
    const pf_shape s = pf_case_shape(&c);
    print_dims(shape, sizeof shape, s.out_rank, s.out);
    print_dims(out, sizeof out, c.operand[PF_OUT].rank, c.operand[PF_OUT].dim);
    assert_string_equal(shape, want->out);
    assert_string_equal(out, want->out);
    assert_int_equal(s.batches, want->b);
    assert_int_equal(s.m, want->m);
    assert_int_equal(s.n, want->n);
    assert_int_equal(s.k, want->k);
    assert_int_equal(s.outputs, want->b * want->m * want->n);
    assert_int_equal(s.work, want->b * want->m * want->n * want->k);
    assert_true(pf_operand_dense(&c.operand[PF_OUT]));
  }
  pf_arena_free(&a);
}

/* What a case must not be, and what the error has to say. */

typedef struct bad_case {
  const char *line, *says;
} bad_case;

static const bad_case bad_lines[] = {
  {"matmul x=f32[2,3] y=f32[4,5]", "x and y: K is 3 in x and 4 in y"},
  {"matmul x=f32[3] y=f32[4]", "x and y: K is 3 in x and 4 in y"},
  {"linear x=f32[2,3] y=f32[3,4]", "x and y: K is 3 in x and 4 in y"},
  {"matmul x=f32[2,2,3] y=f32[3,3,4]", "do not broadcast"},
  {"matmul x=f32[2,0,2,3] y=f32[2,2,3,4]", "do not broadcast"},
  {"matmul x=f32[] y=f32[3,4]", "x: rank 0 is not in 1..6"},
  {"matmul x=f32[3] y=f32[]", "y: rank 0 is not in 1..6"},
  {"linear x=f32[2,3] y=f32[1,4,3]", "y: rank 3 is not in 1..2"},
  {"matmul x=f32[2,3]", "y: missing"},
  {"matmul_add x=f32[2,3] y=f32[3,4]", "bias: missing"},
  {"addmm x=f32[2,3] y=f32[3,4]", "c: missing"},
  {"matmul x=f32[2,3] y=f32[3,4] bias=f32[4]", "bias: matmul takes none"},
  {"matmul_add x=f32[2,3] y=f32[3,4] bias=f32[4] c=f32[4]", "c: matmul_add takes none"},
  {"addmm x=f32[2,3] y=f32[3,4] c=f32[4] bias=f32[4]", "bias: addmm takes none"},
  {"matmul_add x=f32[2,3] y=f32[3,4] bias=f32[3]", "bias: size 3 of dimension 0"},
  {"matmul_add x=f32[2,3] y=f32[3,4] bias=f32[4,1]", "bias: size 4 of dimension 0"},
  {"matmul_add x=f32[2,3] y=f32[3,4] bias=f32[1,2,4]", "bias: rank 3, but the result's is 2"},
  {"matmul_add x=f32[1,3] y=f32[3,4] bias=f32[2,4]", "bias: size 2 of dimension 0"},
  {"matmul_add x=f32[2,3] y=f32[3,4] bias=f32[0]", "bias: size 0 of dimension 0"},
  {"addmm x=f32[2,3] y=f32[3] c=f32[2,1]", "c: rank 2, but the result's is 1"},
  {"matmul x=f32[2,3] y=f32[3,4] out=(0,1)", "out: overlaps itself"},
  {"matmul x=f32[2,3] y=f32[3,4] out=(3,1)", "out: overlaps itself"},
  {"matmul x=f32[2,3] y=f32[3,4] out=(1,1)", "out: overlaps itself"},
  {"matmul x=f32[2,3] y=f32[3,4] out=(4,0)", "out: overlaps itself"},
  {"matmul x=f32[2,3] y=f32[3,4] out=c", "out: in place needs a graph with c"},
  {"addmm x=f32[2,3] y=f32[3,4] c=f32[4] out=c", "c has not the result's shape"},
  {"addmm x=f32[2,3] y=f32[3,4] c=f32[2,1] out=c", "c has not the result's shape"},
  {"addmm x=bf16[2,3] y=f32[3,4] c=bf16[2,4] out=c", "c is bf16 and the result f32"},
  {"addmm x=f32[2,3] y=f32[3,4] c=f32[2,4](0,1) out=c", "in place, c overlaps itself"},
  {"addmm x=f32[2,3] y=f32[3,4] c=f32[4] alpha=0x1.0000001p0", "alpha: 0x1.0000001p+0 is not"},
  {"addmm x=bf16[2,3] y=bf16[3,4] c=f64[4] beta=0x1p200", "beta: 0x1p+200 is not"},
  {"matmul x=f32[4096,64] y=f32[64,64]", NULL},
  {"matmul x=f32[4096,64] y=f32[64,65]", "B*M*N*K is above"},
  {"matmul x=f32[262144,64](0,1) y=f32[64]", NULL},
  {"matmul x=f32[262144,65](0,0) y=f32[65]", "x: more than 16777216 elements"},
  {"matmul x=f32[65536,64] y=f32[64]", NULL},
  {"matmul x=f32[65536,64]+1 y=f32[64]", "x: 4194305 elements of storage"},
  {"matmul x=f32[3,2](4194304,1) y=f32[2]", "x: 8388610 elements of storage"},
  {"matmul x=f32[262144,0] y=f32[0]", NULL},
  {"matmul x=f32[262144,262144,0] y=f32[0]", "x: sizes beside its zeros"},
  {"matmul x=f32[262144,262144,262144,262144,262144,0] y=f32[0]", "x: sizes beside its zeros"},
  {"matmul x=f32[4096,1,0,1] y=f32[4096,1,1]", "out: sizes beside its zeros"},
};

static void test_refusals(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  for (size_t i = 0; i < sizeof bad_lines / sizeof *bad_lines; i++) {
    const bad_case *bad = &bad_lines[i];
    pf_error e = {.text = "accepted"};
    pf_case c;
    const pf_status s = pf_text_parse(bad->line, strlen(bad->line), &a, &c, &e);
    if ((s == PF_OK) != !bad->says || (bad->says && !strstr(e.text, bad->says)))
      fail_msg("%s: %s: %s, expected %s", bad->line, pf_status_name(s), e.text,
               bad->says ? bad->says : "a case");
  }
  pf_arena_free(&a);
}

/* What the text form cannot even say. */

typedef void (*spoil)(pf_case *c);

static const pf_edit edit_beyond = {.index = 6}, edit_before = {.index = -1},
                     edit_wide = {.bits = 0x10000};

static void spoil_op(pf_case *c) { c->op = PF_OP_COUNT; }
static void spoil_graph(pf_case *c) { c->graph = (pf_graph)99; }
static void spoil_dtype(pf_case *c) { c->operand[PF_X].dtype = PF_DTYPE_COUNT; }
static void spoil_rank(pf_case *c) { c->operand[PF_C].rank = 7; }
static void spoil_negative_rank(pf_case *c) { c->operand[PF_C].rank = -1; }
static void spoil_size(pf_case *c) { c->operand[PF_X].dim[0] = -1; }
static void spoil_large(pf_case *c) { c->operand[PF_X].dim[0] = PF_MAX_SIZE + 1; }
static void spoil_huge(pf_case *c) { c->operand[PF_X].dim[1] = INT64_MAX; }
static void spoil_stride(pf_case *c) { c->operand[PF_X].stride[1] = -1; }
static void spoil_wide(pf_case *c) { c->operand[PF_X].stride[1] = INT64_MAX; }
static void spoil_offset(pf_case *c) { c->operand[PF_X].offset = PF_MAX_OFFSET + 1; }
static void spoil_before(pf_case *c) { c->operand[PF_X].offset = -1; }
static void spoil_kind(pf_case *c) { c->operand[PF_X].values.kind = PF_KIND_COUNT; }
static void spoil_other(pf_case *c)
{
  c->operand[PF_X].values.mix = 1;
  c->operand[PF_X].values.other = (pf_kind)-1;
}
static void spoil_mix(pf_case *c)
{
  c->operand[PF_X].values.mix = 1;
  c->operand[PF_X].values.other = PF_VERBATIM;
}
static void spoil_bytes(pf_case *c) { c->operand[PF_X].values.kind = PF_VERBATIM; }
static void set_edit(pf_case *c, const pf_edit *edit)
{
  c->operand[PF_X].values.edits = edit;
  c->operand[PF_X].values.edit_count = 1;
}
static void spoil_edit(pf_case *c) { set_edit(c, &edit_beyond); }
static void spoil_edit_sign(pf_case *c) { set_edit(c, &edit_before); }
static void spoil_edit_bits(pf_case *c) { set_edit(c, &edit_wide); }
static void spoil_edit_count(pf_case *c) { c->operand[PF_X].values.edit_count = -1; }
static void spoil_edits(pf_case *c) { c->operand[PF_X].values.edit_count = 1; }
static void spoil_out_rank(pf_case *c) { c->operand[PF_OUT].rank = 1; }
static void spoil_out_stride(pf_case *c) { c->operand[PF_OUT].stride[0] = -4; }
static void spoil_out_offset(pf_case *c) { c->operand[PF_OUT].offset = -4; }

static const struct {
  spoil change;
  const char *says;
} spoilers[] = {
  {spoil_op, "unknown operation"},
  {spoil_graph, "unknown graph"},
  {spoil_dtype, "x: unknown dtype"},
  {spoil_rank, "c: rank 7"},
  {spoil_negative_rank, "c: rank -1"},
  {spoil_size, "x: size -1 of dimension 0"},
  {spoil_large, "x: size 262145 of dimension 0"},
  {spoil_huge, "x: size 9223372036854775807"},
  {spoil_stride, "x: stride -1 of dimension 1"},
  {spoil_wide, "x: stride 9223372036854775807"},
  {spoil_offset, "x: offset 4097"},
  {spoil_before, "x: offset -1"},
  {spoil_kind, "x: unknown kind"},
  {spoil_other, "x: unknown kind"},
  {spoil_mix, "x: verbatim values do not mix"},
  {spoil_bytes, "x: verbatim values without bytes"},
  {spoil_edit, "x: edit of element 6 of 6"},
  {spoil_edit_sign, "x: edit of element -1 of 6"},
  {spoil_edit_bits, "x: edit with bits 10000, wider than bf16"},
  {spoil_edit_count, "x: -1 edits"},
  {spoil_edits, "x: 1 edits"},
  {spoil_out_rank, "out: 1 strides"},
  {spoil_out_stride, "out: stride -4"},
  {spoil_out_offset, "out: offset -4"},
};

static void test_spoiled(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  for (size_t i = 0; i < sizeof spoilers / sizeof *spoilers; i++) {
    pf_error e = {.text = "accepted", .offset = 77};
    pf_case c;
    check_parse("addmm x=bf16[2,3] y=bf16[3,4] c=f32[4]", &a, &c);
    assert_int_equal(pf_case_finish(&c, NULL), PF_OK);
    spoilers[i].change(&c);
    assert_int_equal(pf_case_finish(&c, NULL), PF_BAD_INPUT);
    pf_case_finish(&c, &e);
    if (!strstr(e.text, spoilers[i].says) || e.offset != 0)
      fail_msg("%s, expected %s", e.text, spoilers[i].says);
  }
  pf_arena_free(&a);
}

/* The normal form */

static void test_scalars(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  pf_case c;
  check_parse("addmm x=f64[2,3] y=bf16[3,4] c=bf16[4]", &a, &c);
  c.alpha = 0.1;
  c.beta = -NAN;
  assert_int_equal(pf_case_finish(&c, NULL), PF_OK);
  assert_true(c.alpha == 0.1);
  assert_true(isnan(c.beta) && !signbit(c.beta));
  c.operand[PF_X].dtype = PF_F32;
  assert_int_equal(pf_case_finish(&c, NULL), PF_BAD_INPUT);
  c.alpha = (double)0.1F;
  c.beta = -INFINITY;
  assert_int_equal(pf_case_finish(&c, NULL), PF_OK);
  check_parse("matmul x=f32[2,3] y=f32[3,4]", &a, &c);
  c.alpha = 0.1;
  c.beta = NAN;
  assert_int_equal(pf_case_finish(&c, NULL), PF_OK);
  assert_true(c.alpha == 1 && c.beta == 1);
  pf_arena_free(&a);
}

static void test_output_layout(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  pf_case c;
  check_parse("addmm x=bf16[2,3] y=bf16[3,4] c=bf16[2,4](1,2)+5 out=c", &a, &c);
  assert_true(c.out_is_c);
  const pf_operand *out = &c.operand[PF_OUT];
  assert_int_equal(out->stride[0], 1);
  assert_int_equal(out->stride[1], 2);
  assert_int_equal(out->offset, 5);
  assert_int_equal(out->dtype, PF_BF16);
  /* An output that is absent is dense; one that is present keeps its strides. */
  check_parse("matmul x=bf16[2,3] y=bf16[3,4] out=(9,2)+7", &a, &c);
  assert_int_equal(pf_case_finish(&c, NULL), PF_OK);
  assert_int_equal(out->stride[0], 9);
  assert_int_equal(pf_storage_size(out), 7 + 9 + 3 * 2 + 1);
  c.operand[PF_OUT] = (pf_operand){0};
  assert_int_equal(pf_case_finish(&c, NULL), PF_OK);
  assert_true(out->present && pf_operand_dense(out));
  pf_arena_free(&a);
}

static void test_unused_is_zeroed(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  pf_case c, d;
  check_parse("linear x=bf16[2,3] y=bf16[4,3]", &a, &c);
  d = c;
  d.operand[PF_BIAS].rank = 9;
  d.operand[PF_X].dim[5] = 9;
  d.operand[PF_X].values.other = PF_BITS;
  d.operand[PF_X].values.edits = &edit_wide;
  d.operand[PF_X].values.verbatim = (const uint8_t *)"unused";
  assert_int_equal(pf_case_finish(&d, NULL), PF_OK);
  check_equal(&d, &c, "unused fields");
  assert_int_equal(d.operand[PF_BIAS].rank, 0);
  assert_int_equal(d.operand[PF_X].dim[5], 0);
  assert_int_equal(d.operand[PF_X].values.other, PF_NORMAL);
  assert_null(d.operand[PF_X].values.edits);
  assert_null(d.operand[PF_X].values.verbatim);
  d.operand[PF_X].values = (pf_values){.kind = PF_VERBATIM, .seed = 9,
                                       .verbatim = (const uint8_t *)"six elements"};
  assert_int_equal(pf_case_finish(&d, NULL), PF_OK);
  assert_int_equal(d.operand[PF_X].values.seed, 0);
  pf_arena_free(&a);
}

static void test_dtypes(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  pf_case c;
  check_parse("matmul x=bf16[2] y=f16[2]", &a, &c);
  assert_int_equal(pf_case_in(&c), PF_F32);
  check_parse("matmul_add x=bf16[2] y=bf16[2] bias=f64[]", &a, &c);
  assert_int_equal(pf_case_in(&c), PF_BF16);
  assert_int_equal(pf_case_result(&c), PF_F64);
  check_parse("addmm x=bf16[2] y=bf16[2] c=f32[]", &a, &c);
  assert_int_equal(pf_case_result(&c), PF_F32);
  check_parse("linear x=f16[2] y=f16[2]", &a, &c);
  assert_int_equal(pf_case_result(&c), PF_F16);
  check_parse("matmul_out_f32_add x=bf16[2] y=bf16[2] bias=bf16[]", &a, &c);
  assert_int_equal(pf_case_result(&c), PF_F32);
  pf_arena_free(&a);
}

/* Finishing a finished case changes nothing, whatever the case. */
static void test_idempotent(void **unused)
{
  (void)unused;
  uint64_t seed = 11;
  pf_arena a = {0};
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < 20000; i++) {
    pf_case c, d;
    check_random_case(&seed, NULL, &a, &c);
    d = c;
    assert_int_equal(pf_case_finish(&d, NULL), PF_OK);
    check_equal(&d, &c, "finished twice");
    assert_int_equal(pf_operand_count(&c.operand[PF_OUT]), pf_case_shape(&c).outputs);
  }
  pf_arena_free(&a);
}

/* Equality sees every field: a form that loses one would pass its round trip otherwise. */

static void differ(const pf_case *c, const pf_case *changed, const char *what)
{
  if (pf_case_equal(c, changed) || pf_case_equal(changed, c))
    fail_msg("a change of %s goes unnoticed", what);
}

static void test_equality(void **unused)
{
  (void)unused;
  static const uint8_t one[2] = {1, 0}, two[2] = {1, 2};
  static const pf_edit edits[3] = {{0, 5}, {0, 6}, {1, 5}};
  pf_arena a = {0};
  pf_case c, d;
  check_parse("addmm x=bf16[1,1] y=bf16[1,2] c=bf16[1,2] alpha=-0 y.values=corner+bits/3:4 "
              "c.set=0:5 x.bits=1", &a, &c);
  d = c;
  d.operand[PF_X].values.verbatim = one;
  d.operand[PF_C].values.edits = edits;
  check_equal(&d, &c, "equal bytes elsewhere");
#define DIFFER(field, value) \
  do { \
    d = c; \
    d.field = (value); \
    differ(&c, &d, #field); \
  } while (0)
  DIFFER(graph, PF_LINEAR);
  DIFFER(op, PF_OP_COUNT);
  DIFFER(alpha, 0);
  DIFFER(alpha, NAN);
  DIFFER(beta, 2);
  DIFFER(out_is_c, true);
  for (pf_role r = PF_X; r < PF_ROLE_COUNT; r++) {
    DIFFER(operand[r].present, r == PF_BIAS);
    if (r == PF_BIAS)
      continue;
    DIFFER(operand[r].dtype, PF_F16);
    DIFFER(operand[r].rank, 1);
    DIFFER(operand[r].dim[0], 3);
    DIFFER(operand[r].stride[0], 7);
    DIFFER(operand[r].stride[1], 7);
    DIFFER(operand[r].offset, 1);
  }
  DIFFER(operand[PF_Y].values.kind, PF_WIDE);
  DIFFER(operand[PF_Y].values.other, PF_WIDE);
  DIFFER(operand[PF_Y].values.mix, 9);
  DIFFER(operand[PF_Y].values.seed, 9);
  DIFFER(operand[PF_X].values.verbatim, two);
  DIFFER(operand[PF_C].values.edit_count, 0);
  DIFFER(operand[PF_C].values.edits, edits + 1);
  DIFFER(operand[PF_C].values.edits, edits + 2);
#undef DIFFER
  c.alpha = NAN;
  d = c;
  d.alpha = -NAN;
  check_equal(&d, &c, "NaN is NaN");
  pf_arena_free(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_shapes),
    cmocka_unit_test(test_refusals),
    cmocka_unit_test(test_spoiled),
    cmocka_unit_test(test_scalars),
    cmocka_unit_test(test_output_layout),
    cmocka_unit_test(test_unused_is_zeroed),
    cmocka_unit_test(test_dtypes),
    cmocka_unit_test(test_idempotent),
    cmocka_unit_test(test_equality),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
