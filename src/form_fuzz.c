/* Any bytes to a case; form_fuzz_head.h has the table of what each byte means.

   Every choice reads its own byte at its own place and nothing decides how many bytes the next one
   takes, so a mutated byte changes one thing; what cannot be had (a size beyond the limit, an
   output that would overlap itself) is replaced by its nearest kin, never refused.  A filter maps
   what it forbids onto what it allows and leaves everything else as it was. */
#include "form_fuzz.h"

#include <string.h>

#include "form_fuzz_head.h"
#include "reader.h"

typedef struct decoder {
  pf_filter filter;
  int64_t work, storage;  /* limits */
  uint8_t head[PF_HEAD_BYTES];
  pf_reader tail;
  pf_arena *arena;
  pf_case *c;
  pf_shape shape;
} decoder;

/* `value` where the set allows it or is empty, else the member that `byte` picks. */
static unsigned allow(uint32_t set, unsigned value, unsigned byte)
{
  if (set == 0 || set >> value & 1)
    return value;
  unsigned skip = byte % (unsigned)__builtin_popcount(set);
  for (; skip > 0; skip--)
    set &= set - 1;
  return (unsigned)__builtin_ctz(set);
}

static uint32_t known_bits(uint32_t set, int count)
{
  return set & ((UINT32_C(1) << count) - 1);
}

static pf_dtype pick_dtype(const decoder *d, uint8_t byte)
{
  return (pf_dtype)allow(d->filter.dtypes, pf_dtype_slots[byte & 15], byte);
}

static pf_kind pick_kind(const decoder *d, uint8_t byte)
{
  return (pf_kind)allow(d->filter.kinds, pf_kind_slots[byte & 15], byte);
}

static bool is_own(uint8_t byte)
{
  return (byte & PF_OWN) == PF_OWN;
}

static const uint8_t *tensor_head(const decoder *d, pf_role role)
{
  return d->head + PF_HEAD_TENSORS + role * PF_HEAD_TENSOR_BYTES;
}

static const uint8_t *layout_head(const decoder *d, pf_role role)
{
  return role == PF_OUT ? d->head + PF_HEAD_OUT_LAYOUT : tensor_head(d, role) + PF_HEAD_LAYOUT;
}

/* A filter of dtypes that a scaled graph cannot have leaves the other graphs, where it can. */
static pf_graph pick_graph(const decoder *d)
{
  const uint32_t scaled = UINT32_C(1) << PF_SCALED_MATMUL;
  const uint8_t byte = d->head[PF_HEAD_GRAPH];
  uint32_t graphs = d->filter.graphs;
  if (d->filter.dtypes != 0 && !(d->filter.dtypes & pf_fuzz_scalable())) {
    graphs = graphs ? graphs : known_bits(UINT32_MAX, PF_GRAPH_COUNT);
    graphs = graphs & ~scaled ? graphs & ~scaled : graphs;
  }
  return (pf_graph)allow(graphs, pf_graph_slots[byte & 15], byte);
}

/* Shapes */

static void append(pf_operand *o, int64_t size)
{
  o->dim[o->rank++] = size;
}

static void append_batch(pf_operand *o, const pf_sizes *z, int batch_rank, uint8_t ones)
{
  for (int i = batch_rank - 1; i >= 0; i--)
    append(o, is_own(ones) && ones >> i & 1 ? 1 : z->size[PF_SIZE_BATCH + i]);
}

static void shape_factors(decoder *d)
{
  const pf_sizes z = pf_fuzz_sizes(d->head, d->work, pf_graph_of(d->c->graph)->weight);
  const int64_t m = z.size[PF_SIZE_M], n = z.size[PF_SIZE_N], k = z.size[PF_SIZE_K];
  const bool weight = pf_graph_of(d->c->graph)->weight;
  pf_operand *x = &d->c->operand[PF_X], *y = &d->c->operand[PF_Y];
  x->present = y->present = true;
  append_batch(x, &z, z.x_batch, d->head[PF_HEAD_X_RANK + 1]);
  if (!z.x_vector)
    append(x, m);
  append(x, k);
  append_batch(y, &z, z.y_batch, d->head[PF_HEAD_Y_RANK + 1]);
  if (weight && !z.y_vector)
    append(y, n);
  append(y, k);
  if (!weight && !z.y_vector)
    append(y, n);
}

static void shape_addend(decoder *d, pf_role role, bool optional)
{
  const uint8_t *at = d->head + (role == PF_C ? PF_HEAD_C_RANK : PF_HEAD_BIAS_RANK);
  const int slot = pf_addend_slots[at[0] & 15], out_rank = d->shape.out_rank;
  pf_operand *o = &d->c->operand[role];
  o->present = !(optional && (at[0] & 0x30) == 0x30);
  if (slot == PF_ADDEND_VECTOR)
    o->rank = out_rank > 0 ? 1 : 0;
  else
    o->rank = out_rank > slot ? out_rank - slot : 0;
  for (int i = 0; i < o->rank; i++) {
    const bool one = at[1] & 0x80 && at[1] >> i & 1;
    o->dim[o->rank - 1 - i] = one ? 1 : d->shape.out[out_rank - 1 - i];
  }
}

/* dtypes and scalars */

/* A dtype that x and y of a scaled graph cannot have gives way to one that they can. */
static pf_dtype pick_factor_dtype(const decoder *d, uint8_t byte)
{
  const pf_dtype t = pick_dtype(d, byte);
  const uint32_t scalable = pf_fuzz_scalable(), wanted = d->filter.dtypes & scalable;
  if (!pf_graph_of(d->c->graph)->scaled)
    return t;
  return (pf_dtype)allow(scalable >> t & 1 || !wanted ? scalable : wanted, t, byte);
}

/* What multiplies with what in practice, one byte away. */
static pf_dtype pick_partner(const decoder *d, pf_dtype t)
{
  const pf_dtype partner = pf_fuzz_partner(t);
  const bool wanted = (d->head[PF_HEAD_DTYPE] & 0x30) == 0x30;
  return wanted && (!d->filter.dtypes || d->filter.dtypes >> partner & 1) ? partner : t;
}

static void read_dtypes(decoder *d)
{
  for (pf_role r = PF_X; r < PF_OUT; r++) {
    const uint8_t own = tensor_head(d, r)[0], byte = is_own(own) ? own : d->head[PF_HEAD_DTYPE];
    pf_operand *o = &d->c->operand[r];
    if (!o->present)
      continue;
    o->dtype = r <= PF_Y ? pick_factor_dtype(d, byte) : pick_dtype(d, byte);
    if (r == PF_Y && !is_own(own))
      o->dtype = pick_partner(d, o->dtype);
  }
}

static const uint8_t *scale_head(const decoder *d, pf_role role)
{
  return d->head + PF_HEAD_SCALES + role * PF_HEAD_SCALE_BYTES;
}

static void read_scales(decoder *d)
{
  if (!pf_graph_of(d->c->graph)->scaled)
    return;
  d->c->operand[PF_OUT].dtype = (pf_dtype)pf_result_slots[d->head[PF_HEAD_RESULT] & 15];
  for (pf_role r = PF_X; r <= PF_Y; r++)
    pf_fuzz_scale(scale_head(d, r), &d->c->operand[r].scale);
}

static pf_status read_scale_values(decoder *d)
{
  pf_status s = PF_OK;
  for (pf_role r = PF_X; r <= PF_Y && s == PF_OK; r++)
    if (scale_head(d, r)[0] >= PF_SCALE_EXPLICIT)
      s = pf_fuzz_scale_values(&d->tail, pf_operand_lines(d->c, r), d->shape.k, d->arena,
                               &d->c->operand[r].scale);
  return s;
}

static double read_scalar(const decoder *d, int place)
{
  const uint8_t *at = d->head + place;
  const pf_case *c = d->c;
  if (at[0] < 0xf0)
    return pf_common_scalars[at[0] & 15];
  if (c->operand[PF_X].dtype == PF_F64 || c->operand[PF_Y].dtype == PF_F64)
    return pf_load(PF_F64, at + 1);
  return pf_load(PF_F32, at + 1);
}

/* In place, c has the result's shape and dtype; it takes them where the filter has nothing
   against it. */
static void read_in_place(decoder *d)
{
  pf_operand *o = &d->c->operand[PF_C];
  if (!o->present || d->filter.dense_only || (d->head[PF_HEAD_IN_PLACE] & 7) != 7)
    return;
  if (pf_case_result(d->c) != o->dtype) {
    const pf_dtype in = pf_case_in(d->c);
    if (d->filter.dtypes && !(d->filter.dtypes >> in & 1))
      return;
    o->dtype = in;
  }
  d->c->out_is_c = true;
  o->rank = d->shape.out_rank;
  memcpy(o->dim, d->shape.out, sizeof o->dim);
}

/* Values */

static void read_kinds(decoder *d)
{
  const pf_kind base = pick_kind(d, d->head[PF_HEAD_KIND]);
  for (pf_role r = PF_X; r < PF_OUT; r++) {
    const uint8_t *at = tensor_head(d, r);
    pf_values *v = &d->c->operand[r].values;
    if (!d->c->operand[r].present)
      continue;
    v->kind = is_own(at[1]) ? pick_kind(d, at[1]) : base;
    v->seed = (uint32_t)at[4] | (uint32_t)at[5] << 8 | (uint32_t)at[6] << 16 |
              (uint32_t)at[7] << 24;
    /* Neither with the filter nor without it: a filter must not make a mixture of what is none. */
    const pf_kind other = pick_kind(d, at[2]);
    if (is_own(at[2]) && v->kind != PF_VERBATIM && other != PF_VERBATIM &&
        pf_kind_slots[at[2] & 15] != PF_VERBATIM) {
      v->other = other;
      v->mix = at[3];
    }
  }
}

static pf_status read_edits(decoder *d)
{
  const int n = pf_head_edits(d->head);
  pf_role role[PF_OUT];
  int roles = 0;
  for (pf_role r = PF_X; r < PF_OUT; r++)
    if (d->c->operand[r].present && pf_operand_count(&d->c->operand[r]) > 0)
      role[roles++] = r;
  if (n == 0 || roles == 0)
    return PF_OK;
  pf_edit *edits = pf_alloc_array(d->arena, (size_t)(n * PF_OUT), sizeof *edits);
  if (!edits)
    return PF_NO_MEMORY;
  for (int i = 0; i < n; i++) {
    const pf_role r = role[pf_read_u8(&d->tail) % roles];
    pf_operand *o = &d->c->operand[r];
    const int bits = 8 * pf_dtype_of(o->dtype)->bytes;
    pf_edit *to = edits + r * n;
    o->values.edits = to;
    to += o->values.edit_count++;
    to->index = (int64_t)(pf_read_le(&d->tail, 3) % (uint64_t)pf_operand_count(o));
    to->bits = pf_read_le(&d->tail, 8) & UINT64_MAX >> (64 - bits);
  }
  return PF_OK;
}

static pf_status read_verbatim(decoder *d)
{
  for (pf_role r = PF_X; r < PF_OUT; r++) {
    pf_operand *o = &d->c->operand[r];
    if (!o->present || o->values.kind != PF_VERBATIM)
      continue;
    const size_t bytes = (size_t)pf_operand_count(o) * (size_t)pf_dtype_of(o->dtype)->bytes;
    uint8_t *to = pf_alloc_raw(d->arena, bytes);
    if (!to)
      return PF_NO_MEMORY;
    pf_read_bytes(&d->tail, to, bytes);
    o->values.verbatim = to;
  }
  return PF_OK;
}

/* Layouts */

static void read_layout(decoder *d, pf_role role)
{
  pf_operand *o = &d->c->operand[role];
  const bool input = role != PF_OUT && !(role == PF_C && d->c->out_is_c);
  if (d->filter.dense_only)
    pf_fuzz_dense(o);
  else
    pf_fuzz_layout(layout_head(d, role), &d->tail, input, d->storage, o);
}

static void read_layouts(decoder *d)
{
  pf_operand *out = &d->c->operand[PF_OUT];
  bool dense = true;
  for (pf_role r = PF_X; r < PF_OUT; r++)
    if (d->c->operand[r].present) {
      read_layout(d, r);
      dense = dense && pf_operand_dense(&d->c->operand[r]);
    }
  out->present = true;
  out->rank = d->shape.out_rank;
  memcpy(out->dim, d->shape.out, sizeof out->dim);
  if (!d->c->out_is_c)
    read_layout(d, PF_OUT);
  if (d->filter.strided_only && dense && (d->c->out_is_c || pf_operand_dense(out)))
    pf_fuzz_strided(layout_head(d, PF_X), d->storage, &d->c->operand[PF_X]);
}

/* Origin */

size_t pf_fuzz_origin(const uint8_t *data, size_t size)
{
  if (size < PF_ORIGIN_END || memcmp(data + size - 4, PF_ORIGIN_MAGIC, 4))
    return size;
  const size_t end = size - PF_ORIGIN_END;
  const size_t length = (size_t)(data[end] | data[end + 1] << 8);
  return length <= end && pf_origin_is(data + end - length, length) ? end - length : size;
}

static pf_status read_origin(decoder *d, size_t size)
{
  const size_t length = size > d->tail.size ? size - d->tail.size - PF_ORIGIN_END : 0;
  if (length == 0)
    return PF_OK;
  char *copy = pf_alloc(d->arena, length + 1);
  if (!copy)
    return PF_NO_MEMORY;
  memcpy(copy, d->tail.data + d->tail.size, length);
  d->c->origin = copy;
  return PF_OK;
}

static void set_limits(decoder *d, const pf_filter *filter)
{
  if (filter)
    d->filter = *filter;
  d->filter.dtypes = known_bits(d->filter.dtypes, PF_DTYPE_COUNT);
  d->filter.graphs = known_bits(d->filter.graphs, PF_GRAPH_COUNT);
  d->filter.kinds = known_bits(d->filter.kinds, PF_KIND_COUNT);
  d->work = d->filter.max_work > 0 ? d->filter.max_work : PF_FUZZ_WORK;
  if (d->work > PF_MAX_WORK)
    d->work = PF_MAX_WORK;
  d->storage = pf_fuzz_storage(d->work);
}

pf_status pf_fuzz_decode(const uint8_t *data, size_t size, const pf_filter *filter, pf_arena *a,
                         pf_case *out)
{
  decoder d = {.tail = {.data = data, .size = pf_fuzz_origin(data, size)}, .arena = a, .c = out};
  pf_read_bytes(&d.tail, d.head, sizeof d.head);
  set_limits(&d, filter);
  *out = (pf_case){.op = PF_OP_MATMUL};
  out->graph = pick_graph(&d);
  const pf_graph_info *g = pf_graph_of(out->graph);
  shape_factors(&d);
  d.shape = pf_case_shape(out);
  if (g->has_c)
    shape_addend(&d, PF_C, false);
  if (g->has_bias)
    shape_addend(&d, PF_BIAS, g->bias_optional);
  read_dtypes(&d);
  read_scales(&d);
  out->alpha = read_scalar(&d, PF_HEAD_ALPHA);
  out->beta = read_scalar(&d, PF_HEAD_BETA);
  read_in_place(&d);
  read_kinds(&d);
  read_layouts(&d);
  pf_status s = read_edits(&d);
  if (s == PF_OK)
    s = read_verbatim(&d);
  if (s == PF_OK)
    s = read_scale_values(&d);
  if (s == PF_OK)
    s = read_origin(&d, size);
  return s == PF_OK ? pf_case_finish(out, NULL) : s;
}
