/* From layers to cases. */
#include "seed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *pf_partner_name(pf_partner p)
{
  static const char *const names[] = {"normal values", "activations", "embeddings", "next layer"};
  return names[p];
}

/* What a layer meets: PF_SEED_MOST_M vectors of the layer's K, as far as it is looked at. */
typedef struct partner {
  pf_partner kind;
  const char *name;
  int64_t row[PF_SEED_MOST_M];
  double *value;
} partner;

typedef struct maker {
  pf_weights *w;
  const pf_layers *layers;
  const pf_seed_options *o;
  pf_arena arena;            /* of the layer in hand */
  const pf_layer *layer;
  int64_t length;            /* pf_seed_length */
  partner partners[PF_PARTNER_COUNT];
  int partner_count;
  double *bias;              /* [n]; NULL: none */
  pf_seed_pick pick[PF_SEED_PICKS];
  int pick_count;
  bool stopped;
} maker;

static int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static double *numbers(maker *m, int64_t count)
{
  return pf_alloc_array_raw(&m->arena, (size_t)count, sizeof(double));
}

/* --- partners ------------------------------------------------------------------------------ */

/* Vectors of a matrix with the layer's K, of which `from` has `lines`. */
static pf_status add_rows(maker *m, pf_partner kind, const pf_tensor_entry *t,
                          const pf_seed_matrix *from)
{
  partner *p = &m->partners[m->partner_count];
  *p = (partner){.kind = kind, .name = t->name,
                 .value = numbers(m, PF_SEED_MOST_M * m->length)};
  if (!p->value)
    return PF_NO_MEMORY;
  for (int i = 0; i < PF_SEED_MOST_M; i++) {
    const uint64_t draw = pf_hash(m->o->seed ^ m->layer->weight << 8 ^ (uint64_t)i << 4 ^ kind);
    const int64_t row = p->row[i] = (int64_t)(draw % (uint64_t)from->n);
    pf_weight_read(t, from->rows ? row * from->k : row, from->rows ? 1 : from->n, m->length,
                   p->value + i * m->length);
  }
  m->partner_count++;
  return PF_OK;
}

static pf_status add_normal(maker *m)
{
  partner *p = &m->partners[m->partner_count];
  const pf_values v = {.kind = PF_NORMAL, .seed = (uint32_t)m->o->seed};
  *p = (partner){.kind = PF_PARTNER_NORMAL, .value = numbers(m, PF_SEED_MOST_M * m->length)};
  if (!p->value)
    return PF_NO_MEMORY;
  for (int64_t i = 0; i < PF_SEED_MOST_M * m->length; i++)
    p->value[i] = pf_decode(PF_F32, pf_value_bits(&v, PF_F32, &(pf_place){.index = i}));
  m->partner_count++;
  return PF_OK;
}

static pf_status add_activations(maker *m)
{
  pf_weights *a = m->o->activations;
  pf_dtype dtype;
  for (size_t i = 0; a && i < a->count; i++) {
    const pf_tensor_entry *t = &a->weight[i].entry;
    if (t->rank < 1 || t->elements == 0 || t->dim[t->rank - 1] != m->layer->matrix.k ||
        !pf_weight_dtype(t, &dtype) || pf_weights_load(a, i, NULL))
      continue;
    const int64_t k = m->layer->matrix.k;
    const pf_seed_matrix rows = {.n = t->elements / k, .k = k, .rows = true};
    return add_rows(m, PF_PARTNER_ACTIVATIONS, t, &rows);
  }
  return PF_OK;
}

static pf_status add_embedding(maker *m)
{
  const int64_t k = m->layer->matrix.k;
  pf_dtype dtype;
  for (size_t i = 0; i < m->w->count; i++) {
    const pf_tensor_entry *t = &m->w->weight[i].entry;
    if (i == m->layer->weight || !pf_is_embedding(t) || t->dim[1] != k || t->elements == 0 ||
        !pf_weight_dtype(t, &dtype) || pf_weights_load(m->w, i, NULL))
      continue;
    const pf_seed_matrix rows = {.n = t->dim[0], .k = k, .rows = true};
    return add_rows(m, PF_PARTNER_EMBEDDING, t, &rows);
  }
  return PF_OK;
}

/* The first one behind this layer that reads vectors of the same K. */
static pf_status add_next(maker *m)
{
  for (const pf_layer *l = m->layer + 1; l < m->layers->layer + m->layers->count; l++) {
    const pf_tensor_entry *t = &m->w->weight[l->weight].entry;
    if (l->matrix.k != m->layer->matrix.k || pf_is_embedding(t) ||
        pf_weights_load(m->w, l->weight, NULL))
      continue;
    return add_rows(m, PF_PARTNER_NEXT, t, &l->matrix);
  }
  return PF_OK;
}

static pf_status find_partners(maker *m)
{
  m->partner_count = 0;
  PF_TRY(add_activations(m));
  PF_TRY(add_embedding(m));
  PF_TRY(add_next(m));
  return add_normal(m);
}

static pf_status read_bias(maker *m)
{
  m->bias = NULL;
  if (m->layer->bias < 0)
    return PF_OK;
  const size_t i = (size_t)m->layer->bias;
  const int64_t vectors = pf_seed_vectors(&m->layer->matrix);
  pf_dtype dtype;
  if (!pf_weight_dtype(&m->w->weight[i].entry, &dtype) || pf_weights_load(m->w, i, NULL))
    return PF_OK;
  m->bias = numbers(m, vectors);
  if (!m->bias)
    return PF_NO_MEMORY;
  pf_weight_read(&m->w->weight[i].entry, 0, 1, vectors, m->bias);
  return PF_OK;
}

static pf_status pick_vectors(maker *m)
{
  const pf_seed_matrix *x = &m->layer->matrix;
  const int64_t vectors = pf_seed_vectors(x);
  pf_vector_stats *stats = pf_alloc_array_raw(&m->arena, (size_t)vectors, sizeof *stats);
  if (!stats)
    return PF_NO_MEMORY;
  m->stopped = !pf_seed_scan(m->w, m->layer->weight, x, m->partners[0].value, &m->o->watch, stats);
  m->pick_count = pf_seed_choose(stats, vectors, m->o->seed ^ m->layer->weight, m->pick);
  return PF_OK;
}

/* --- cases --------------------------------------------------------------------------------- */

/* Sizes drawn within the limit: few vectors of long sums, more of short ones. */
static void draw_sizes(const maker *m, uint64_t draw, pf_seed *s)
{
  const int64_t most = m->o->max_k, k = m->length, pairs = PF_FUZZ_WORK / least(k, most);
  const int64_t last = k - least(k, most);
  const int64_t from[] = {0, last, last > 0 ? (int64_t)(draw >> 16) % last : 0};
  s->slice.k = least(k, most);
  s->slice.n = least(least((int64_t)1 << draw % 4, m->pick_count), pairs);
  s->slice.m = least((int64_t)1 << (draw >> 2) % 3, pairs / s->slice.n);
  s->k_from = from[(draw >> 8) % 3 % (uint64_t)(last > 0 ? 3 : 1)];
}

/* The picks from `first` on, round and round. */
static double *gather_y(maker *m, int first, pf_seed *s)
{
  const pf_seed_matrix *x = &m->layer->matrix;
  const pf_tensor_entry *t = &m->w->weight[m->layer->weight].entry;
  double *y = numbers(m, s->slice.n * s->slice.k);
  for (int64_t i = 0; y && i < s->slice.n; i++) {
    s->pick[i] = m->pick[(first + i) % m->pick_count];
    const int64_t v = s->pick[i].vector;
    pf_weight_read(t, x->rows ? v * x->k + s->k_from : s->k_from * x->n + v, x->rows ? 1 : x->n,
                   s->slice.k, y + i * s->slice.k);
  }
  return y;
}

static double *gather_bias(maker *m, const pf_seed *s)
{
  double *bias = numbers(m, s->slice.n);
  for (int64_t i = 0; bias && i < s->slice.n; i++)
    bias[i] = m->bias[s->pick[i].vector];
  return bias;
}

static double *gather_x(maker *m, const partner *p, const pf_seed *s)
{
  double *x = numbers(m, s->slice.m * s->slice.k);
  for (int64_t i = 0; x && i < s->slice.m; i++)
    memcpy(x + i * s->slice.k, p->value + i * m->length + s->k_from,
           (size_t)s->slice.k * sizeof *x);
  return x;
}

static void draw_form(const maker *m, int number, uint64_t draw, pf_seed *s)
{
  pf_dtype stored, dtype[PF_SEED_DTYPES];
  pf_graph graph[PF_GRAPH_COUNT];
  pf_weight_dtype(&m->w->weight[m->layer->weight].entry, &stored);
  const int dtypes = pf_seed_dtypes(stored, dtype);
  const pf_dtype t = dtype[number % dtypes];
  const int graphs = pf_seed_graphs(t, m->bias != NULL, graph);
  s->form = (pf_seed_form){.graph = graph[number / dtypes % graphs], .dtype = t,
                           .stored = t == stored, .batched = (draw >> 32) % 4 == 0,
                           .padded = (draw >> 34) % 4 == 0};
}

static pf_status make_case(maker *m, int number)
{
  const uint64_t draw = pf_hash(m->o->seed ^ m->layer->weight << 16 ^ (uint64_t)number);
  const partner *p = &m->partners[(draw >> 40) % (uint64_t)m->partner_count];
  const pf_arena_mark mark = pf_arena_mark_here(&m->arena);
  pf_seed s = {.layer = m->layer, .partner = p->kind, .partner_name = p->name,
               .full_n = m->layer->matrix.n, .full_k = m->layer->matrix.k};
  draw_sizes(m, draw, &s);
  draw_form(m, number, draw, &s);
  memcpy(s.partner_row, p->row, sizeof s.partner_row);
  s.slice.rows = m->layer->matrix.rows;
  s.slice.seed = (uint32_t)(draw >> 8);
  s.slice.y = gather_y(m, number % m->pick_count, &s);
  s.slice.x = p->kind == PF_PARTNER_NORMAL ? NULL : gather_x(m, p, &s);
  s.slice.bias = m->bias ? gather_bias(m, &s) : NULL;
  if (!s.slice.y || (p->kind != PF_PARTNER_NORMAL && !s.slice.x) || (m->bias && !s.slice.bias))
    return PF_NO_MEMORY;
  pf_status status = pf_seed_case(&s.slice, &s.form, &m->arena, &s.what, NULL);
  if (status == PF_OK)
    status = m->o->take(m->o->user, &s);
  pf_arena_release(&m->arena, mark);
  return status == PF_BAD_INPUT ? PF_OK : status; /* a form that this slice cannot have */
}

static pf_status make_layer(maker *m)
{
  pf_error why = {0};
  pf_arena_reset(&m->arena);
  m->length = pf_seed_length(&m->layer->matrix);
  PF_TRY(find_partners(m));
  PF_TRY(read_bias(m));
  const pf_status status = pf_weights_load(m->w, m->layer->weight, &why);
  if (status != PF_OK) {
    m->o->skip(m->o->user, m->layer->weight, why.text);
    return status == PF_NO_MEMORY ? status : PF_OK;
  }
  PF_TRY(pick_vectors(m));
  for (int i = 0; i < m->o->tries && !m->stopped; i++)
    PF_TRY(make_case(m, i));
  return PF_OK;
}

pf_status pf_seed_layers(pf_weights *w, const pf_layers *l, const pf_seed_options *o)
{
  maker m = {.w = w, .layers = l, .o = o};
  pf_status status = PF_OK;
  for (size_t i = 0; i < l->count && status == PF_OK && !m.stopped; i++) {
    m.layer = &l->layer[i];
    status = make_layer(&m);
  }
  pf_arena_free(&m.arena);
  return status;
}
