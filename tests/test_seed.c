/* Seeds: which vectors are hard, slices bit for bit, and what is worth keeping. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model_files.h"
#include "mpfr_oracle.h"
#include "safetensors.h"
#include "seed.h"
#include "seed_keep.h"

enum { N = 6, K = 8 };

static bool always(void *user, const char *doing, uint64_t done, uint64_t all)
{
  (void)user;
  (void)doing;
  return done <= all;
}

static const pf_watch watch = {always, NULL};

/* Vector 0 is long, 1 wide, 2 cancels, 3 has subnormals of f16; 4 is zero; 5 is ordinary. */
static void fill(float w[N][K])
{
  for (int i = 0; i < K; i++) {
    w[0][i] = 100;
    w[1][i] = i ? 1 : 0x1p-13f;
    w[2][i] = i % 2 ? -1.5f : 1.5f;
    w[3][i] = i < 4 ? 0x1p-15f : 0x1p-14f;
    w[4][i] = 0;
    w[5][i] = 1 + (float)i / 8;
  }
}

/* A model of one matrix, as vectors that lie one behind the other, or as columns. */
static void write_model(const char *path, bool rows, bool biased)
{
  float w[N][K], turned[K][N], bias[N];
  pf_tensor_entry t[2];
  pf_error e = {0};
  fill(w);
  for (int i = 0; i < N; i++) {
    bias[i] = (float)i;
    for (int k = 0; k < K; k++)
      turned[k][i] = w[i][k];
  }
  assert_true(pf_tensor_describe("a.weight", PF_F32, 2,
                                 rows ? (int64_t[]){N, K} : (int64_t[]){K, N},
                                 rows ? (void *)w : (void *)turned, &t[0]));
  assert_true(pf_tensor_describe("a.bias", PF_F32, 1, (int64_t[]){N}, bias, &t[1]));
  assert_int_equal(pf_safetensors_write(path, t, biased ? 2 : 1, NULL, 0, &e), PF_OK);
}

static void open_model(const char *folder, bool rows, bool biased, pf_weights *w, pf_layers *l)
{
  const char *path = in_folder(folder, "m");
  pf_error e = {0};
  write_model(path, rows, biased);
  assert_int_equal(pf_weights_open(path, w, &e), PF_OK);
  assert_int_equal(pf_layers_find(w, l), PF_OK);
}

static void close_model(char *folder, pf_weights *w, pf_layers *l)
{
  pf_layers_close(l);
  pf_weights_close(w);
  unlink(in_folder(folder, "m"));
  folder_remove(folder);
}

static void test_vectors(void **unused)
{
  (void)unused;
  for (int rows = 0; rows < 2; rows++) {
    char *folder = folder_new();
    pf_weights w;
    pf_layers l;
    pf_vector_stats stats[N];
    pf_seed_pick pick[PF_SEED_PICKS];
    double partner[K];
    for (int k = 0; k < K; k++)
      partner[k] = 1;
    open_model(folder, rows, true, &w, &l);
    assert_true(l.count == 1 && l.skipped_count == 0 && l.layer[0].bias >= 0);
    const pf_seed_matrix *m = &l.layer[0].matrix;
    assert_true(m->n == N && m->k == K && m->rows == rows && m->least == 0x1p-14);
    assert_true(pf_seed_scan(&w, l.layer[0].weight, m, partner, &watch, stats));
    assert_true(stats[0].square == 80000 && stats[2].sum == 0 && stats[2].terms == 12);
    assert_true(stats[1].low == -13 && stats[1].high == 0 && stats[3].subnormals == 4);
    assert_int_equal(pf_seed_choose(stats, N, 1, pick), N);
    for (int i = 0; i < 4; i++)
      assert_true(pick[i].vector == i && pick[i].why == (pf_seed_why)i);
    assert_int_equal(pick[N - 1].why, PF_SEED_RANDOM); /* nothing speaks for all zeros */
    close_model(folder, &w, &l);
  }
}

/* Without a bias nothing tells columns from rows: rows are taken. */
static void test_layers(void **unused)
{
  (void)unused;
  char *folder = folder_new();
  pf_weights w;
  pf_layers l;
  open_model(folder, false, false, &w, &l);
  assert_true(l.count == 1 && l.layer[0].matrix.rows && l.layer[0].matrix.n == K &&
              l.layer[0].bias == -1);
  close_model(folder, &w, &l);
}

typedef struct taken {
  float w[N][K];
  int count, whole, with_bias;
  unsigned dtypes, graphs, partners;
} taken;

static const pf_operand *operand(const pf_seed *s, pf_role r)
{
  return &s->what.operand[r];
}

/* Element k of the slice's vector i, as the case has it. */
static double element(const pf_seed *s, int64_t i, int64_t k)
{
  const pf_operand *y = operand(s, PF_Y);
  const int64_t at = pf_graph_of(s->what.graph)->weight ? i * s->slice.k + k : k * s->slice.n + i;
  return pf_load(y->dtype, y->values.verbatim + at * pf_dtype_of(y->dtype)->bytes);
}

static pf_status take(void *user, const pf_seed *s)
{
  taken *t = user;
  const double scale =
      s->form.graph == PF_SCALED_MATMUL ? (double)operand(s, PF_Y)->scale.values[0] : 1;
  for (int64_t i = 0; i < s->slice.n; i++)
    for (int64_t k = 0; k < s->slice.k; k++) {
      const double w = (double)t->w[s->pick[i].vector][s->k_from + k];
      assert_true(element(s, i, k) ==
                  pf_decode(s->form.dtype, pf_encode(s->form.dtype, w / scale)));
    }
  const pf_operand *bias = operand(s, pf_graph_of(s->what.graph)->has_c ? PF_C : PF_BIAS);
  for (int64_t i = 0; bias->present && i < s->slice.n; i++)
    assert_true(pf_load(bias->dtype, bias->values.verbatim + i * pf_dtype_of(bias->dtype)->bytes) ==
                (double)s->pick[i].vector);
  t->count++;
  t->with_bias += bias->present;
  t->whole += s->slice.k == K;
  t->dtypes |= 1u << s->form.dtype;
  t->graphs |= 1u << s->form.graph;
  t->partners |= 1u << s->partner;
  return PF_OK;
}

static void no_skip(void *user, size_t weight, const char *why)
{
  (void)user;
  fail_msg("%zu: %s", weight, why);
}

static void test_slices(void **unused)
{
  (void)unused;
  for (int rows = 0; rows < 2; rows++)
    for (int max_k = 3; max_k <= 16; max_k += 13) {
      char *folder = folder_new();
      pf_weights w, a;
      pf_layers l;
      taken t = {.count = 0};
      pf_error e = {0};
      fill(t.w);
      open_model(folder, rows, true, &w, &l);
      assert_int_equal(pf_weights_open(in_folder(folder, "m"), &a, &e), PF_OK);
      const pf_seed_options o = {.seed = 1, .max_k = max_k, .tries = 200, .watch = watch,
                                 .activations = rows ? &a : NULL, .take = take, .skip = no_skip,
                                 .user = &t};
      assert_int_equal(pf_seed_layers(&w, &l, &o), PF_OK);
      assert_int_equal(t.count, 200);
      assert_int_equal(t.whole, max_k > K ? 200 : 0);
      assert_int_equal(t.dtypes, 1u << PF_F32 | 1u << PF_BF16 | 1u << PF_F16 | 1u << PF_F8_E4M3FN |
                                     1u << PF_F8_E5M2);
      assert_int_equal(t.graphs, (1u << PF_GRAPH_COUNT) - 1);
      assert_int_equal(t.partners, rows ? 3 : 1);
      assert_in_range(t.with_bias, 60, 140);
      pf_weights_close(&a);
      close_model(folder, &w, &l);
    }
}

static pf_status take_shape(void *user, const pf_seed *s)
{
  int *count = user;
  const pf_shape shape = pf_case_shape(&s->what);
  assert_null(s->layer);
  assert_true(shape.work <= (*count ? PF_SEED_SHAPE_WORK : PF_FUZZ_WORK));
  assert_true(*count ? shape.n == s->full_n && shape.k == s->full_k
                     : shape.n % 64 == s->full_n % 64 && shape.k % 64 == s->full_k % 64);
  ++*count;
  return PF_OK;
}

static void test_shapes(void **unused)
{
  (void)unused;
  pf_layer layer[] = {{.matrix = {.n = 1000, .k = 777, .rows = true}},
                      {.matrix = {.n = 1000, .k = 777, .rows = true}}};
  const pf_layers l = {.count = 2, .layer = layer};
  int count = 0;
  const pf_seed_options o = {.seed = 1, .max_k = 4096, .watch = watch, .take = take_shape,
                             .user = &count};
  assert_int_equal(pf_seed_shapes(&l, &o), PF_OK);
  assert_int_equal(count, 2);
}

static void test_origin(void **unused)
{
  (void)unused;
  char *folder = folder_new();
  pf_weights w;
  pf_layers l;
  char text[PF_ORIGIN_TEXT];
  open_model(folder, true, true, &w, &l);
  const pf_seed s = {.layer = l.layer, .form = {.dtype = PF_BF16}, .slice = {.n = 2, .k = 3},
                     .pick = {{4, PF_SEED_NORM}, {1, PF_SEED_RANDOM}}, .k_from = 5, .full_k = K,
                     .partner = PF_PARTNER_NEXT, .partner_name = "b\xff"};
  pf_seed_print(&s, &w, "0123456789abcdef", text, sizeof text);
  assert_string_equal(text, "m sha256 0123456789ab a.weight F32 as bf16, k 5-7 of 8, x next layer b?"
                            " vector 4 (largest norm), 1 (random)");
  for (size_t size = 1; size < sizeof text; size++) {
    char shorter[PF_ORIGIN_TEXT];
    pf_seed_print(&s, &w, "0123456789abcdef", shorter, size);
    assert_true(strlen(shorter) < size);
  }
  close_model(folder, &w, &l);
}

/* The same case is new once; another dtype is new; the same shape with other values mostly is not. */
static void test_keeper(void **unused)
{
  (void)unused;
  pf_oracle oracle;
  pf_keeper k;
  pf_arena a = {0};
  bool fresh;
  assert_int_equal(pf_mpfr_oracle_new(&oracle), PF_OK);
  pf_keeper_open(&k, &oracle);
  int kept = 0;
  for (int i = 0; i < 200; i++) {
    const pf_seed_slice s = {.m = 2, .n = 2, .k = 50, .rows = true, .seed = (uint32_t)(2 * i)};
    const pf_seed_form f = {.graph = PF_MATMUL_PLAIN, .dtype = i < 100 ? PF_F32 : PF_BF16};
    pf_case c;
    assert_int_equal(pf_seed_case(&s, &f, &a, &c, NULL), PF_OK);
    assert_int_equal(pf_keeper_look(&k, &c, &fresh), PF_OK);
    if (i % 100 == 0)
      assert_true(fresh);
    if (!fresh)
      continue;
    kept++;
    assert_int_equal(pf_keeper_look(&k, &c, &fresh), PF_OK); /* looking alone changes nothing */
    assert_true(fresh && k.share > 0 && k.share < 1);
    assert_int_equal(pf_keeper_take(&k), PF_OK);
    assert_int_equal(pf_keeper_look(&k, &c, &fresh), PF_OK);
    assert_false(fresh);
    pf_arena_reset(&a);
  }
  assert_in_range(kept, 3, 30);
  pf_keeper_close(&k);
  pf_mpfr_oracle_free(&oracle);
  pf_arena_free(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_vectors), cmocka_unit_test(test_layers), cmocka_unit_test(test_slices),
    cmocka_unit_test(test_shapes),  cmocka_unit_test(test_origin), cmocka_unit_test(test_keeper),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
