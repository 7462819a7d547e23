/* The shapes of a model's matmuls, with values that take no room. */
#include <stdio.h>
#include <string.h>

#include "seed.h"

/* Kernels care for what is left of a size beyond whole vectors and tiles. */
enum { TILE = 64 };

static int64_t cut(int64_t size, int64_t most)
{
  return size <= most ? size : most - (most - size % TILE) % TILE;
}

static bool is_first(const pf_layers *l, size_t i)
{
  const pf_seed_matrix *x = &l->layer[i].matrix;
  for (size_t j = 0; j < i; j++)
    if (l->layer[j].matrix.n == x->n && l->layer[j].matrix.k == x->k &&
        l->layer[j].matrix.rows == x->rows)
      return false;
  return true;
}

/* work: the most products. */
static pf_status take_shape(const pf_layer *l, int64_t n, int64_t k, int64_t work, int number,
                            const pf_seed_options *o)
{
  static const pf_dtype dtype[] = {PF_F32, PF_BF16, PF_F16};
  static const int64_t rows[] = {1, 2, 7, 16};
  pf_arena a = {0};
  pf_seed s = {.full_n = l->matrix.n, .full_k = l->matrix.k};
  int64_t m = rows[number % 4];
  while (m > 1 && m * n * k > work)
    m /= 2;
  s.form = (pf_seed_form){.graph = number % 2 ? PF_LINEAR : PF_MATMUL_PLAIN,
                          .dtype = dtype[number % 3]};
  s.slice = (pf_seed_slice){.m = m, .n = n, .k = k, .rows = l->matrix.rows,
                            .seed = (uint32_t)pf_hash(o->seed + (uint64_t)number)};
  pf_status status = pf_seed_case(&s.slice, &s.form, &a, &s.what, NULL);
  if (status == PF_OK)
    status = o->take(o->user, &s);
  pf_arena_free(&a);
  return status == PF_BAD_INPUT ? PF_OK : status;
}

pf_status pf_seed_shapes(const pf_layers *l, const pf_seed_options *o)
{
  int number = 0;
  for (size_t i = 0; i < l->count && number < PF_SEED_SHAPES; i++) {
    const pf_seed_matrix *x = &l->layer[i].matrix;
    if (!is_first(l, i))
      continue;
    const int64_t k = cut(x->k, PF_FUZZ_WORK / TILE), n = cut(x->n, PF_FUZZ_WORK / k);
    PF_TRY(take_shape(&l->layer[i], n, k, PF_FUZZ_WORK, number, o));
    if (x->n <= PF_SEED_SHAPE_WORK / x->k && (n != x->n || k != x->k))
      PF_TRY(take_shape(&l->layer[i], x->n, x->k, PF_SEED_SHAPE_WORK, number, o));
    number++;
  }
  return PF_OK;
}

/* --- origins ------------------------------------------------------------------------------- */

/* Text of a stranger, cut and made printable. */
static void put(char *to, size_t size, size_t *at, const char *text, size_t most)
{
  for (size_t i = 0; text[i] != '\0' && i < most && *at + 1 < size; i++)
    to[(*at)++] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
  to[*at] = '\0';
}

static void put_vectors(const pf_seed *s, char *to, size_t size, size_t *at)
{
  char text[80];
  for (int64_t i = 0; i < s->slice.n; i++) {
    snprintf(text, sizeof text, "%s%lld (%s)", i ? ", " : " vector ",
             (long long)s->pick[i].vector, pf_seed_why_name(s->pick[i].why));
    put(to, size, at, text, sizeof text);
  }
}

void pf_seed_print(const pf_seed *s, const pf_weights *w, const char *hash, char *to, size_t size)
{
  const char *path = w->file[0].path, *slash = strrchr(path, '/');
  char text[160];
  size_t at = 0;
  put(to, size, &at, slash ? slash + 1 : path, 48);
  snprintf(text, sizeof text, " sha256 %.12s ", hash);
  put(to, size, &at, text, sizeof text);
  if (!s->layer) {
    snprintf(text, sizeof text, "a shape: N %lld, K %lld", (long long)s->full_n,
             (long long)s->full_k);
    put(to, size, &at, text, sizeof text);
    return;
  }
  const pf_tensor_entry *t = &w->weight[s->layer->weight].entry;
  put(to, size, &at, t->name, 96);
  snprintf(text, sizeof text, " %s as %s, k %lld-%lld of %lld, x %s ", t->dtype_name,
           pf_dtype_of(s->form.dtype)->name, (long long)s->k_from,
           (long long)(s->k_from + s->slice.k - 1), (long long)s->full_k,
           pf_partner_name(s->partner));
  put(to, size, &at, text, sizeof text);
  put(to, size, &at, s->partner_name ? s->partner_name : "", 48);
  put_vectors(s, to, size, &at);
}
