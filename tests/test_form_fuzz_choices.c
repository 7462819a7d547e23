/* What the fuzz form makes of random bytes: every choice, in sensible proportions, and filters. */
#include "fuzz_checks.h"

#include <inttypes.h>

/* Every common shape comes out as the table has it, and no two are the same. */
static void test_common_shapes(void **unused)
{
  (void)unused;
  char *seen[64];
  pf_arena a = {0};
  for (int i = 0; i < 64; i++) {
    uint8_t head[PF_HEAD_BYTES] = {[PF_HEAD_GRAPH] = PF_MATMUL_PLAIN};
    const pf_common_shape *want = &pf_common_shapes[i];
    pf_case c;
    head[PF_HEAD_SHAPE] = (uint8_t)(0x80 | i);
    assert_int_equal(decode(head, sizeof head, &a, &c), PF_OK);
    const pf_shape s = pf_case_shape(&c);
    assert_true(s.m == want->m && s.n == want->n && s.k == want->k);
    assert_int_equal(s.batch_rank, (want->batch[0] > 0) + (want->batch[1] > 0));
    for (int b = 0; b < s.batch_rank; b++)
      assert_int_equal(s.batch[b], want->batch[b]);
    assert_int_equal(c.operand[PF_X].rank == 1, want->x_vector);
    assert_int_equal(c.operand[PF_Y].rank == 1, want->y_vector);
    seen[i] = check_text(&c);
    for (int j = 0; j < i; j++)
      assert_string_not_equal(seen[i], seen[j]);
  }
  for (int i = 0; i < 64; i++)
    free(seen[i]);
  pf_arena_free(&a);
}

/* Shares among random cases.  Loose bounds: what they catch is a choice that never or always
   happens, such as a slot table with a hole. */

enum { SAMPLES = 40000 };

static void expect_share(const char *what, int count, double low, double high)
{
  const double share = count / (double)SAMPLES;
  print_message("%-28s %.4f\n", what, share);
  if (!(share >= low && share <= high))
    fail_msg("%s: share %.4f is not in %.4f..%.4f", what, share, low, high);
}

enum layout_class { DENSE, PERMUTED, PADDED, REPEATED, STEPPED, ODD, OFFSET, LAYOUT_CLASSES };

static void count_layouts(const pf_operand *o, int *seen)
{
  int64_t dense[PF_MAX_RANK];
  bool permuted = false, repeated = false, odd = false;
  int64_t least = INT64_MAX;
  pf_dense_strides(o->rank, o->dim, dense);
  for (int i = 0; i < o->rank; i++) {
    if (o->dim[i] == 1) {
      odd = odd || o->stride[i] != dense[i];
      continue;
    }
    repeated = repeated || o->stride[i] == 0;
    least = o->stride[i] < least ? o->stride[i] : least;
    for (int j = 0; j < i; j++)
      permuted = permuted || (o->dim[j] > 1 && o->stride[j] > 0 && o->stride[j] < o->stride[i]);
  }
  const bool full = pf_operand_count(o) > 1;
  seen[DENSE] += pf_operand_dense(o);
  seen[PERMUTED] += permuted;
  seen[REPEATED] += full && repeated;
  seen[STEPPED] += full && !repeated && least > 1 && least < INT64_MAX;
  seen[PADDED] += full && !repeated && least == 1 &&
                  pf_storage_size(o) - o->offset > pf_operand_count(o);
  seen[ODD] += odd;
  seen[OFFSET] += o->offset > 0;
}

static int compare_int64(const void *a, const void *b)
{
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

typedef struct census {
  int graph[PF_GRAPH_COUNT], dtype[PF_DTYPE_COUNT], kind[PF_KIND_COUNT];
  int x_layout[LAYOUT_CLASSES], out_layout[LAYOUT_CLASSES];
  int batch_rank[PF_MAX_BATCH + 1], mixed, edited, in_place, x_vector, y_vector, broadcast;
  int no_bias, full_addend, mixed_dtypes, bytes, same_kind, zero, alpha_one, alpha_other;
} census;

static void count_case(const pf_case *c, census *n)
{
  const pf_operand *x = &c->operand[PF_X], *y = &c->operand[PF_Y];
  const pf_shape s = pf_case_shape(c);
  n->graph[c->graph]++;
  n->dtype[x->dtype]++;
  n->kind[x->values.kind]++;
  count_layouts(x, n->x_layout);
  count_layouts(&c->operand[PF_OUT], n->out_layout);
  n->batch_rank[s.batch_rank]++;
  n->mixed += x->values.mix != 0;
  n->edited += x->values.edit_count > 0;
  n->in_place += c->out_is_c;
  n->x_vector += x->rank == 1;
  n->y_vector += y->rank == 1;
  for (int b = 1; b <= x->rank - 2; b++)
    if (x->dim[x->rank - 2 - b] != s.batch[s.batch_rank - b]) {
      n->broadcast++;
      break;
    }
  n->no_bias += c->graph == PF_LINEAR && !c->operand[PF_BIAS].present;
  n->full_addend += c->operand[PF_BIAS].present &&
                    pf_operand_count(&c->operand[PF_BIAS]) == s.outputs;
  n->mixed_dtypes += x->dtype != y->dtype;
  n->bytes += (x->dtype == PF_S8 && y->dtype == PF_U8) || (x->dtype == PF_U8 && y->dtype == PF_S8);
  n->same_kind += x->values.kind == y->values.kind;
  n->zero += s.work == 0;
  n->alpha_one += c->graph == PF_ADDMM && c->alpha == 1;
  n->alpha_other += c->graph == PF_ADDMM && c->alpha != 1 && c->alpha != 0;
}

static void check_layout_shares(const char *of, const int *seen, bool repeats)
{
  static const char *const names[LAYOUT_CLASSES] = {
    [DENSE] = "dense",     [PERMUTED] = "permuted", [PADDED] = "padded", [REPEATED] = "repeated",
    [STEPPED] = "stepped", [ODD] = "odd strides",   [OFFSET] = "offset",
  };
  for (int i = 0; i < LAYOUT_CLASSES; i++) {
    char name[40];
    snprintf(name, sizeof name, "%s %s", of, names[i]);
    const bool none = i == REPEATED && !repeats;
    expect_share(name, seen[i], i == DENSE ? 0.45 : none ? 0 : 0.02,
                 i == DENSE ? 0.62 : none ? 0 : 0.4);
  }
}

static void test_shares(void **unused)
{
  (void)unused;
  static census n;
  uint64_t seed = 34;
  pf_arena a = {0};
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < SAMPLES; i++) {
    pf_case c;
    check_random_case(&seed, NULL, &a, &c);
    count_case(&c, &n);
  }
  for (int g = 0; g < PF_GRAPH_COUNT; g++)
    expect_share(pf_graph_of((pf_graph)g)->name, n.graph[g], 0.05, 0.35);
  for (int t = 0; t < PF_DTYPE_COUNT; t++)
    expect_share(pf_dtype_of((pf_dtype)t)->name, n.dtype[t], 0.03, 0.6);
  for (int k = 0; k < PF_KIND_COUNT; k++)
    expect_share(pf_kind_name((pf_kind)k), n.kind[k], 0.03, 0.3);
  for (int b = 0; b <= PF_MAX_BATCH; b++)
    expect_share("batch dimensions", n.batch_rank[b], 0.005, 0.85);
  check_layout_shares("x", n.x_layout, true);
  check_layout_shares("out", n.out_layout, false);
  expect_share("mixed kinds", n.mixed, 0.1, 0.4);
  expect_share("edits in x", n.edited, 0.05, 0.4);
  expect_share("in place", n.in_place, 0.01, 0.06);
  expect_share("x a vector", n.x_vector, 0.05, 0.3);
  expect_share("y a vector", n.y_vector, 0.05, 0.3);
  expect_share("x broadcast along a batch", n.broadcast, 0.005, 0.3);
  expect_share("linear without bias", n.no_bias, 0.02, 0.12);
  expect_share("bias as large as the result", n.full_addend, 0.05, 0.5);
  expect_share("x and y of two dtypes", n.mixed_dtypes, 0.1, 0.5);
  expect_share("s8 and u8", n.bytes, 0.01, 0.1);
  expect_share("x and y of one kind", n.same_kind, 0.5, 0.8);
  expect_share("alpha one", n.alpha_one, 0.02, 0.1);
  expect_share("alpha other than 0 and 1", n.alpha_other, 0.05, 0.25);
  expect_share("nothing to multiply", n.zero, 0.005, 0.04);
  pf_arena_free(&a);
}

/* Sizes: most cases are quick, and what they cost goes into long sums, not into many results; every
   place where kernels change comes back often, and cases at the limit do come. */

typedef struct extent {
  int64_t median;
  double mean;
} extent;

static extent extent_of(const char *what, int64_t *values)
{
  extent e = {0};
  qsort(values, SAMPLES, sizeof *values, compare_int64);
  for (int i = 0; i < SAMPLES; i++)
    e.mean += (double)values[i] / SAMPLES;
  e.median = values[SAMPLES / 2];
  print_message("%-28s median %" PRId64 ", mean %.1f\n", what, e.median, e.mean);
  return e;
}

static bool is_near(int64_t size, int64_t least, int64_t most)
{
  for (int64_t power = least; power <= most; power *= 2)
    if (size == power - 1 || size == power + 1)
      return true;
  return false;
}

static void test_sizes(void **unused)
{
  (void)unused;
  static int64_t work[SAMPLES], outputs[SAMPLES];
  int one = 0, long_sum = 0, k_tail = 0, tile = 0, tile_tail = 0, batched = 0, large = 0;
  int k_is[2] = {0};
  uint64_t seed = 37;
  pf_arena a = {0};
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < SAMPLES; i++) {
    pf_case c;
    check_random_case(&seed, NULL, &a, &c);
    const pf_shape s = pf_case_shape(&c);
    work[i] = s.work;
    outputs[i] = s.outputs;
    one += s.m == 1 && s.n == 1;
    long_sum += s.k >= 256;
    k_tail += is_near(s.k, 4, 256);
    tile += s.m >= 15 || s.n >= 15;
    tile_tail += is_near(s.m, 16, 64) || is_near(s.n, 16, 64);
    batched += s.batches > 1;
    large += s.work > PF_FUZZ_WORK / 2;
    if (s.k < 2)
      k_is[s.k]++;
  }
  const extent of_work = extent_of("B*M*N*K", work), of_outputs = extent_of("results", outputs);
  assert_in_range(of_work.median, 256, 400);
  assert_true(of_work.mean <= 2.5 * (double)of_work.median);
  assert_in_range(of_outputs.median, 8, 24);
  assert_true(of_outputs.mean <= 40);
  expect_share("M and N one", one, 0.15, 0.35);
  expect_share("K of 256 and more", long_sum, 0.05, 0.2);
  expect_share("K one beside a power of two", k_tail, 0.2, 0.5);
  expect_share("K = 0", k_is[0], 0.005, 0.03);
  expect_share("K = 1", k_is[1], 0.01, 0.1);
  expect_share("M or N as wide as a tile", tile, 0.1, 0.3);
  expect_share("M or N one beside a tile", tile_tail, 0.03, 0.2);
  expect_share("more than one batch", batched, 0.05, 0.3);
  expect_share("near the limit of work", large, 0.004, 0.02);
  pf_arena_free(&a);
}

/* Each order that six dimensions can have in memory. */
static void test_permutations(void **unused)
{
  (void)unused;
  uint8_t head[PF_HEAD_BYTES] = {[PF_HEAD_GRAPH] = PF_MATMUL_PLAIN, [PF_HEAD_BATCH] = 15};
  uint8_t *layout = head + PF_HEAD_TENSORS + PF_HEAD_LAYOUT;
  static bool seen[46656];
  pf_arena a = {0};
  layout[0] = 0x81;
  for (int i = 0; i < PF_SIZES; i++)
    head[PF_HEAD_SIZES + 3 * i] = 1; /* all sizes are two */
  for (int number = 0; number < 720; number++) {
    pf_case c;
    int order = 0;
    layout[1] = (uint8_t)(0x80 | number >> 8);
    layout[2] = (uint8_t)number;
    assert_int_equal(decode(head, sizeof head, &a, &c), PF_OK);
    const pf_operand *x = &c.operand[PF_X];
    for (int i = 0; i < 6; i++) {
      assert_int_equal(__builtin_popcountll((unsigned long long)x->stride[i]), 1);
      order = 6 * order + __builtin_ctzll((unsigned long long)x->stride[i]);
    }
    assert_false(seen[order]);
    seen[order] = true;
  }
  pf_arena_free(&a);
}

/* Filters */

static bool obeys(const pf_case *c, const pf_filter *f)
{
  bool dense = !c->out_is_c;
  for (pf_role r = PF_X; r < PF_ROLE_COUNT; r++) {
    const pf_operand *o = &c->operand[r];
    if (!o->present)
      continue;
    dense = dense && pf_operand_dense(o);
    if (r == PF_OUT)
      continue;
    if (f->dtypes && !(f->dtypes >> o->dtype & 1))
      return false;
    if (f->kinds && !(f->kinds >> o->values.kind & 1))
      return false;
    if (f->kinds && o->values.mix && !(f->kinds >> o->values.other & 1))
      return false;
  }
  return !(f->graphs && !(f->graphs >> c->graph & 1)) && !(f->dense_only && !dense) &&
         !(f->strided_only && dense);
}

static void test_filters(void **unused)
{
  (void)unused;
  uint64_t seed = 35;
  pf_arena a = {0};
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < 60000; i++) {
    static const int64_t works[] = {0, 1, 2, 100, 5000, PF_FUZZ_WORK, 300000, INT64_MAX};
    const uint64_t pick = check_random(&seed), bits = check_random(&seed);
    const pf_filter f = {
      .dtypes = pick & 1 ? (uint32_t)bits & ((1 << PF_DTYPE_COUNT) - 1) : 0,
      .graphs = pick & 2 ? (uint32_t)(bits >> 8) & ((1 << PF_GRAPH_COUNT) - 1) : 0,
      .kinds = pick & 4 ? (uint32_t)(bits >> 16) & ((1 << PF_KIND_COUNT) - 1) : 0,
      .dense_only = (pick >> 3 & 3) == 1,
      .strided_only = (pick >> 3 & 3) == 2,
      .max_work = works[i % 500 == 0 ? pick >> 8 & 7 : pick >> 8 & 3],
    };
    pf_case c;
    check_random_case(&seed, &f, &a, &c);
    const int64_t work = f.max_work > PF_MAX_WORK ? PF_MAX_WORK : f.max_work;
    check_decoded(&c, work > 0 ? work : PF_FUZZ_WORK);
    assert_true(obeys(&c, &f));
  }
  pf_arena_free(&a);
}

/* A filter that forbids nothing changes nothing, and one that does leaves alone what obeys it. */
static void test_filters_do_not_move_others(void **unused)
{
  (void)unused;
  static const pf_filter none = {0}, all = {.dtypes = UINT32_MAX, .graphs = UINT32_MAX,
                                            .kinds = UINT32_MAX, .max_work = PF_FUZZ_WORK};
  static const pf_filter some = {.dtypes = 1 << PF_BF16 | 1 << PF_F32, .graphs = 1 << PF_ADDMM,
                                 .kinds = 1 << PF_NORMAL | 1 << PF_BITS | 1 << PF_CORNER};
  uint64_t seed = 36;
  int obeyed = 0;
  pf_arena a = {0};
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < 20000; i++) {
    uint8_t bytes[CHECK_INPUT];
    pf_case c, d;
    check_bytes(&seed, bytes, sizeof bytes);
    assert_int_equal(decode(bytes, sizeof bytes, &a, &c), PF_OK);
    assert_int_equal(pf_fuzz_decode(bytes, sizeof bytes, &none, &a, &d), PF_OK);
    check_equal(&d, &c, "empty filter");
    assert_int_equal(pf_fuzz_decode(bytes, sizeof bytes, &all, &a, &d), PF_OK);
    check_equal(&d, &c, "filter that allows all");
    if (!obeys(&c, &some))
      continue;
    obeyed++;
    assert_int_equal(pf_fuzz_decode(bytes, sizeof bytes, &some, &a, &d), PF_OK);
    /* In place, c may have wanted a dtype that is not allowed. */
    if (c.out_is_c == d.out_is_c)
      check_equal(&d, &c, "filter that the case obeys");
  }
  assert_true(obeyed > 50);
  pf_arena_free(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_common_shapes),
    cmocka_unit_test(test_shares),
    cmocka_unit_test(test_sizes),
    cmocka_unit_test(test_permutations),
    cmocka_unit_test(test_filters),
    cmocka_unit_test(test_filters_do_not_move_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
