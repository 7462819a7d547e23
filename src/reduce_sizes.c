/* Fewer batches, rows, columns and terms, fewer dimensions.  What stays keeps its values and, where
   it has any, its scales; only blocks of scales along K begin anew. */
#include <string.h>

#include "reduce_parts.h"

/* Where an operand (or the output) has a dimension of the matmul; -1. */
static int axis_of(const pf_case *c, pf_role role, int axis)
{
  const bool x_vector = c->operand[PF_X].rank == 1, y_vector = c->operand[PF_Y].rank == 1;
  const bool weight = pf_graph_of(c->graph)->weight;
  int right = -1;  /* places from the right */
  if (axis >= PF_AXIS_BATCH && !(role == PF_Y && weight))
    right = axis - PF_AXIS_BATCH +
            (role == PF_X || role == PF_Y ? 2 : (x_vector ? 0 : 1) + (y_vector ? 0 : 1));
  else if (axis == PF_AXIS_K && role <= PF_Y)
    right = role == PF_Y && !y_vector && !weight;
  else if (axis == PF_AXIS_M && role != PF_Y && !x_vector)
    right = role == PF_X || !y_vector;
  else if (axis == PF_AXIS_N && role != PF_X && !y_vector)
    right = role == PF_Y && weight;
  return right < 0 ? -1 : c->operand[role].rank - 1 - right;
}

static int64_t size_of(const pf_case *c, int axis)
{
  const pf_shape s = pf_case_shape(c);
  const int batch = s.batch_rank - 1 - (axis - PF_AXIS_BATCH);
  switch (axis) {
  case PF_AXIS_M: return axis_of(c, PF_X, axis) < 0 ? 0 : s.m;
  case PF_AXIS_N: return axis_of(c, PF_Y, axis) < 0 ? 0 : s.n;
  case PF_AXIS_K: return s.k;
  default: return batch < 0 ? 0 : s.batch[batch];
  }
}

/* --- parts of arrays ----------------------------------------------------------------------- */

/* Of [outer, size, inner] bytes those of the piece along `size`, or all others. */
static pf_status take(const void *from, int64_t outer, int64_t size, size_t inner, pf_piece piece,
                      bool keep, pf_arena *a, const void **out)
{
  const int64_t left = keep ? piece.length : size - piece.length;
  uint8_t *to = pf_alloc_raw(a, (size_t)(outer * left) * inner);
  *out = to;
  if (!to)
    return PF_NO_MEMORY;
  for (int64_t i = 0; i < outer * size; i++) {
    const int64_t j = i % size;
    if ((j >= piece.from && j < piece.from + piece.length) != keep)
      continue;
    memcpy(to, (const uint8_t *)from + (size_t)i * inner, inner);
    to += inner;
  }
  return PF_OK;
}

/* Along a dimension other than K scales go with the vectors that they belong to. */
static pf_status take_scales(pf_operand *o, int dim, int k_at, pf_piece piece, bool keep,
                             pf_arena *a)
{
  const int64_t size = o->dim[dim];
  int64_t outer = 1;  /* without K */
  const void *values;
  if (o->scale.kind <= PF_SCALE_TENSOR || !o->scale.values)
    return PF_OK;
  for (int i = 0; i < dim; i++)
    outer *= i == k_at ? 1 : o->dim[i];
  const int64_t inner = o->scale.count / (outer * size);
  PF_TRY(take(o->scale.values, outer, size, (size_t)inner * sizeof(float), piece, keep, a,
              &values));
  o->scale.count = o->scale.count / size * (keep ? piece.length : size - piece.length);
  o->scale.values = o->scale.count ? values : NULL;
  return PF_OK;
}

/* The block of an element that stays gives the scale of the block that it now begins. */
static pf_status take_blocks(pf_operand *o, int64_t lines, int64_t size, pf_piece piece, bool keep,
                             pf_arena *a)
{
  pf_scale *s = &o->scale;
  if (s->kind != PF_SCALE_BLOCK || !s->values)
    return PF_OK;
  const int64_t left = keep ? piece.length : size - piece.length;
  const int64_t before = pf_scale_blocks(s, size), after = pf_scale_blocks(s, left);
  float *values = pf_alloc_array(a, (size_t)(lines * after), sizeof *values);
  if (!values)
    return PF_NO_MEMORY;
  for (int64_t i = 0; i < lines * after; i++) {
    const int64_t at = i % after * s->block;
    const int64_t was = keep ? piece.from + at : at < piece.from ? at : at + piece.length;
    values[i] = s->values[i / after * before + was / s->block];
  }
  s->count = lines * after;
  s->values = s->count ? values : NULL;
  return PF_OK;
}

static pf_status take_operand(pf_case *c, pf_role role, int dim, pf_piece piece, bool keep,
                              pf_arena *a)
{
  pf_operand *o = &c->operand[role];
  const int64_t outer = pf_product(dim, o->dim), size = o->dim[dim];
  const int64_t inner = pf_product(o->rank - 1 - dim, o->dim + dim + 1);
  const bool dense = pf_operand_dense(o);
  const int k_at = role <= PF_Y ? axis_of(c, role, PF_AXIS_K) : -1;
  const void *bytes;
  PF_TRY(take(o->values.verbatim, outer, size,
              (size_t)inner * (size_t)pf_dtype_of(o->dtype)->bytes, piece, keep, a, &bytes));
  if (dim == k_at)
    PF_TRY(take_blocks(o, pf_operand_lines(c, role), size, piece, keep, a));
  else if (k_at >= 0)
    PF_TRY(take_scales(o, dim, k_at, piece, keep, a));
  o->values.verbatim = bytes;
  o->dim[dim] = keep ? piece.length : size - piece.length;
  pf_operand_relax(o, dense);
  return PF_OK;
}

/* A dense output's layout follows from its sizes. */
static void relax_output(pf_case *c)
{
  if (c->out_is_c || pf_operand_dense(&c->operand[PF_OUT]))
    c->operand[PF_OUT].present = false;
}

/* --- cutting ------------------------------------------------------------------------------- */

enum {
  FEWEST = 64,  /* pieces that are tried alone */
  PAIRS = 16    /* sizes up to which every two are left out together: what cancels, say */
};

/* The smallest piece that is tried alone. */
static int64_t grain(int64_t size)
{
  return (size + FEWEST - 1) / FEWEST;
}

static int64_t pairs_of(int64_t size)
{
  return size > 2 && size <= PAIRS ? size * (size - 1) / 2 : 0;
}

/* First one piece left out, all of it; then one piece kept, small ones first; then one left out,
   large ones first; then two. */
int64_t pf_cut_count(const pf_case *c, int axis)
{
  const int64_t size = size_of(c, axis);
  int64_t count = size ? pf_pieces_count(size) + pairs_of(size) : 0;
  for (int64_t length = grain(size); length && length < size; length *= 2)
    count += (size + length - 1) / length;
  return count;
}

static pf_status cut(int axis, pf_piece piece, bool keep, pf_arena *a, pf_case *c)
{
  const pf_case before = *c;
  const int64_t size = size_of(c, axis);
  for (pf_role r = PF_X; r < PF_OUT; r++) {
    const int dim = before.operand[r].present ? axis_of(&before, r, axis) : -1;
    if (dim >= 0 && before.operand[r].dim[dim] == size)
      PF_TRY(take_operand(c, r, dim, piece, keep, a));
  }
  return PF_OK;
}

static pf_status cut_pair(int axis, int64_t index, pf_arena *a, pf_case *c)
{
  int64_t second = 1;
  for (; index >= second; second++)
    index -= second;
  PF_TRY(cut(axis, (pf_piece){second, 1}, false, a, c));
  return cut(axis, (pf_piece){index, 1}, false, a, c);
}

pf_status pf_cut_make(int axis, int64_t index, pf_arena *a, pf_case *c)
{
  const int64_t size = size_of(c, axis);
  relax_output(c);
  if (!index)
    return cut(axis, (pf_piece){0, size}, false, a, c);
  index--;
  for (int64_t length = grain(size); length < size; length *= 2) {
    const int64_t pieces = (size + length - 1) / length, from = index * length;
    if (index < pieces)
      return cut(axis, (pf_piece){from, size - from < length ? size - from : length}, true, a, c);
    index -= pieces;
  }
  index++;  /* the whole came first */
  if (index < pf_pieces_count(size))
    return cut(axis, pf_pieces_at(size, index), false, a, c);
  return cut_pair(axis, index - pf_pieces_count(size), a, c);
}

/* --- dimensions ---------------------------------------------------------------------------- */

static void drop(pf_operand *o, int dim)
{
  for (int i = dim; i + 1 < o->rank; i++) {
    o->dim[i] = o->dim[i + 1];
    o->stride[i] = o->stride[i + 1];
  }
  o->rank--;
  o->dim[o->rank] = o->stride[o->rank] = 0;
}

/* Each batch dimension of all tensors; then the first dimension of each operand. */
int64_t pf_rank_count(const pf_case *c, int part)
{
  (void)part;
  return pf_case_shape(c).batch_rank + PF_OUT;
}

static pf_status drop_batch(pf_case *c, int axis)
{
  const pf_case before = *c;
  relax_output(c);
  for (pf_role r = PF_X; r < PF_ROLE_COUNT; r++) {
    const int dim = before.operand[r].present ? axis_of(&before, r, axis) : -1;
    if (dim >= 0)
      drop(&c->operand[r], dim);
  }
  return PF_OK;
}

pf_status pf_rank_make(int part, int64_t index, pf_arena *a, pf_case *c)
{
  const pf_shape s = pf_case_shape(c);
  (void)part;
  (void)a;
  if (index < s.batch_rank)
    return s.batch[s.batch_rank - 1 - index] == 1 ? drop_batch(c, PF_AXIS_BATCH + (int)index)
                                                   : PF_UNSUPPORTED;
  const pf_role role = (pf_role)(index - s.batch_rank);
  pf_operand *o = &c->operand[role];
  const int least = role <= PF_Y ? 2 : 0;
  if (!o->present || o->rank <= least || o->dim[0] != 1)
    return PF_UNSUPPORTED;
  relax_output(c);
  drop(o, 0);
  return PF_OK;
}

int64_t pf_share_count(const pf_case *c, int role)
{
  const pf_operand *o = &c->operand[role];
  const int own = role > PF_Y ? 0 : role == PF_Y && pf_graph_of(c->graph)->weight ? o->rank : 2;
  return o->present && o->rank > own ? o->rank - own : 0;
}

pf_status pf_share_make(int role, int64_t index, pf_arena *a, pf_case *c)
{
  const int64_t size = c->operand[role].dim[index];
  const pf_shape before = pf_case_shape(c);
  if (size < 2)
    return PF_UNSUPPORTED;
  PF_TRY(take_operand(c, (pf_role)role, (int)index, (pf_piece){0, 1}, true, a));
  const pf_shape after = pf_case_shape(c);
  return after.outputs == before.outputs ? PF_OK : PF_UNSUPPORTED;
}
