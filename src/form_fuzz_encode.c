/* A case to the bytes that decode to it: free sizes, every layout that is not dense spelled out in
   the tail, nothing left to wrap around. */
#include "form_fuzz.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "form_fuzz_head.h"

static void put_le(uint8_t *to, uint64_t value, int bytes)
{
  for (int i = 0; i < bytes; i++)
    to[i] = (uint8_t)(value >> 8 * i);
}

static uint8_t own(int slot)
{
  return (uint8_t)(PF_OWN | slot);
}

/* The first slot that holds `value`; 16 where none does. */
static int slot_of(const uint8_t slots[16], int value)
{
  int i = 0;
  while (i < 16 && slots[i] != value)
    i++;
  return i;
}

static void put_wide_size(uint8_t *at, int64_t size)
{
  at[0] = (uint8_t)(0xfc | size >> 16);
  at[1] = (uint8_t)(size >> 8);
  at[2] = (uint8_t)size;
}

/* Small ones as the byte that leads to their neighbours. */
static void put_size(uint8_t *at, int64_t size)
{
  if (size >= 1 && size <= 4)
    at[0] = (uint8_t)(size - 1);
  else if (size >= 1 && size <= 8)
    at[0] = (uint8_t)(0xa0 + size - 1);
  else if (size >= 1 && size <= 16)
    at[0] = (uint8_t)(0xe0 + size - 1);
  else
    put_wide_size(at, size);
}

static void put_sum_size(uint8_t *at, int64_t size)
{
  const int near = pf_fuzz_near_power(size);
  if (size >= 1 && size <= 64)
    at[0] = (uint8_t)(size - 1);
  else if (near >= 0)
    at[0] = (uint8_t)near;
  else
    put_wide_size(at, size);
}

static void put_batch_size(uint8_t *at, int64_t size)
{
  if (size >= 1 && size <= 2)
    at[0] = (uint8_t)(size - 1);
  else if (size >= 1 && size <= 4)
    at[0] = (uint8_t)(0xa0 + size - 1);
  else if (size >= 1 && size <= 16)
    at[0] = (uint8_t)(0xe0 + size - 1);
  else
    put_wide_size(at, size);
}

static void put_sizes(uint8_t *head, const pf_shape *s, const int64_t size[PF_SIZES])
{
  for (int i = 0; i < PF_SIZES; i++) {
    uint8_t *at = head + PF_HEAD_SIZES + 3 * i;
    if (i < PF_SIZE_K)
      put_size(at, size[i]);
    else if (i == PF_SIZE_K)
      put_sum_size(at, size[i]);
    else
      put_batch_size(at, size[i]);
  }
  head[PF_HEAD_BATCH] = (uint8_t)slot_of(pf_batch_slots, s->batch_rank);
}

/* The usual limit of work where the sizes allow it, so that a mutant of a small case is no large
   one.  Last of all: the limit applies to sizes and ranks that are there. */
static void put_work(uint8_t *head, const pf_case *c, const int64_t size[PF_SIZES])
{
  for (head[PF_HEAD_WORK] = 0; head[PF_HEAD_WORK] < 16; head[PF_HEAD_WORK]++) {
    const pf_sizes z = pf_fuzz_sizes(head, PF_FUZZ_WORK, pf_graph_of(c->graph)->weight);
    if (!memcmp(z.size, size, sizeof z.size))
      return;
  }
  head[PF_HEAD_WORK] = PF_WORK_ALL;
}

/* Which of the last `rank` of `like` an operand has as ones of its own. */
static uint8_t ones(const int64_t *dim, int rank, const int64_t *like, int like_rank)
{
  unsigned mask = 0;
  for (int i = 0; i < rank; i++)
    if (dim[rank - 1 - i] != like[like_rank - 1 - i])
      mask |= 1U << i;
  return (uint8_t)mask;
}

static void put_factor(uint8_t *at, const pf_operand *o, const pf_shape *s)
{
  const int rank = o->rank - 2;
  at[0] = (uint8_t)slot_of(pf_drop_slots, s->batch_rank - rank);
  at[1] = ones(o->dim, rank, s->batch, s->batch_rank);
  if (at[1] != 0)
    at[1] = own(at[1]);
}

static void put_addend(uint8_t *at, const pf_operand *o, const pf_shape *s)
{
  if (!o->present) {
    at[0] = 0x30;
    return;
  }
  at[0] = (uint8_t)slot_of(pf_addend_slots, s->out_rank - o->rank);
  at[1] = ones(o->dim, o->rank, s->out, s->out_rank);
  if (at[1] != 0)
    at[1] |= 0x80;
}

static void put_shape(uint8_t *head, const pf_case *c, const pf_shape *s)
{
  const pf_operand *x = &c->operand[PF_X], *y = &c->operand[PF_Y];
  head[PF_HEAD_VECTORS] = (uint8_t)((x->rank == 1 ? 7 : 0) | (y->rank == 1 ? 7 << 3 : 0));
  if (x->rank > 1)
    put_factor(head + PF_HEAD_X_RANK, x, s);
  if (y->rank > 1 && !pf_graph_of(c->graph)->weight)
    put_factor(head + PF_HEAD_Y_RANK, y, s);
  put_addend(head + PF_HEAD_C_RANK, &c->operand[PF_C], s);
  put_addend(head + PF_HEAD_BIAS_RANK, &c->operand[PF_BIAS], s);
}

static void put_scalar(uint8_t *at, double value, bool f64)
{
  for (int i = 0; i < 16; i++)
    if (value == pf_common_scalars[i] && !signbit(value) == !signbit(pf_common_scalars[i])) {
      at[0] = (uint8_t)i;
      return;
    }
  at[0] = 0xf0;
  pf_store(f64 ? PF_F64 : PF_F32, at + 1, value);
}

static void put_tensor(uint8_t *at, const pf_operand *o, const pf_operand *x)
{
  const pf_values *v = &o->values;
  if (o->dtype != x->dtype)
    at[0] = own(slot_of(pf_dtype_slots, o->dtype));
  if (v->kind != x->values.kind)
    at[1] = own(slot_of(pf_kind_slots, v->kind));
  if (v->mix != 0) {
    at[2] = own(slot_of(pf_kind_slots, v->other));
    at[3] = v->mix;
  }
  put_le(at + 4, v->seed, 4);
}

/* Numbers that are not common are spelt out. */
static void put_scale(uint8_t *at, const pf_scale *s)
{
  const int slot = s->kind;  /* the first slots are the kinds in order */
  const int block = s->block ? s->block - 1 : 0;
  at[0] = (uint8_t)(s->values ? PF_SCALE_EXPLICIT | slot : slot);
  at[1] = (uint8_t)(0xfc | block >> 8);
  at[2] = (uint8_t)block;
  put_le(at + 3, s->seed, 4);
}

static size_t scale_bytes(const pf_scale *s)
{
  return (size_t)s->count * sizeof *s->values;
}

static uint8_t *put_scales(uint8_t *to, const pf_scale *s)
{
  for (int64_t i = 0; i < s->count; i++, to += sizeof *s->values)
    pf_store(PF_F32, to, (double)s->values[i]);
  return to;
}

static size_t explicit_bytes(const pf_operand *o)
{
  return o->present && !pf_operand_dense(o) ? (size_t)(3 * o->rank + 2) : 0;
}

static size_t verbatim_bytes(const pf_operand *o)
{
  return o->present && o->values.kind == PF_VERBATIM
             ? (size_t)pf_operand_count(o) * (size_t)pf_dtype_of(o->dtype)->bytes : 0;
}

static uint8_t *put_explicit(uint8_t *to, const pf_operand *o)
{
  for (int i = 0; i < o->rank; i++, to += 3)
    put_le(to, (uint64_t)o->stride[i], 3);
  put_le(to, (uint64_t)o->offset, 2);
  return to + 2;
}

/* The decoder counts roles among the tensors that have elements. */
static uint8_t *put_edits(uint8_t *to, const pf_case *c)
{
  uint8_t role = 0;
  for (pf_role r = PF_X; r < PF_OUT; r++) {
    const pf_values *v = &c->operand[r].values;
    if (!c->operand[r].present || pf_operand_count(&c->operand[r]) == 0)
      continue;
    for (int64_t i = 0; i < v->edit_count; i++, to += PF_EDIT_BYTES) {
      to[0] = role;
      put_le(to + 1, (uint64_t)v->edits[i].index, 3);
      put_le(to + 4, v->edits[i].bits, 8);
    }
    role++;
  }
  return to;
}

static int64_t all_edits(const pf_case *c)
{
  int64_t edits = 0;
  for (pf_role r = PF_X; r < PF_OUT; r++)
    edits += c->operand[r].present ? c->operand[r].values.edit_count : 0;
  return edits;
}

/* The output's layout is spelled out unless it is c's. */
static bool has_layout(const pf_case *c, pf_role r)
{
  return !(r == PF_OUT && c->out_is_c) && explicit_bytes(&c->operand[r]) > 0;
}

static pf_status check_limits(const pf_case *c, const int64_t size[PF_SIZES], pf_error *e)
{
  if (pf_volume(PF_SIZES, size) > PF_FUZZ_WORK)
    return pf_fail(e, PF_UNSUPPORTED, 0, "fuzz form: B*M*N*K, zeros as ones, is above %d",
                   PF_FUZZ_WORK);
  if (all_edits(c) > PF_FUZZ_EDITS)
    return pf_fail(e, PF_UNSUPPORTED, 0, "fuzz form: %" PRId64 " edits, at most %d", all_edits(c),
                   PF_FUZZ_EDITS);
  for (pf_role r = PF_X; r < PF_ROLE_COUNT; r++)
    if (c->operand[r].present && pf_storage_size(&c->operand[r]) > pf_fuzz_storage(PF_FUZZ_WORK))
      return pf_fail(e, PF_UNSUPPORTED, 0,
                     "fuzz form: %s has %" PRId64 " elements of storage, at most %" PRId64,
                     pf_role_name(r), pf_storage_size(&c->operand[r]),
                     pf_fuzz_storage(PF_FUZZ_WORK));
  return PF_OK;
}

static void put_head(uint8_t *head, const pf_case *c, const pf_shape *s,
                     const int64_t size[PF_SIZES])
{
  const pf_operand *x = &c->operand[PF_X], *y = &c->operand[PF_Y];
  const bool f64 = x->dtype == PF_F64 || y->dtype == PF_F64;
  const int64_t edits = all_edits(c);
  head[PF_HEAD_GRAPH] = (uint8_t)slot_of(pf_graph_slots, c->graph);
  put_shape(head, c, s);
  put_sizes(head, s, size);
  head[PF_HEAD_DTYPE] = (uint8_t)slot_of(pf_dtype_slots, x->dtype);
  head[PF_HEAD_KIND] = (uint8_t)slot_of(pf_kind_slots, x->values.kind);
  put_scalar(head + PF_HEAD_ALPHA, c->alpha, f64);
  put_scalar(head + PF_HEAD_BETA, c->beta, f64);
  put_work(head, c, size);
  head[PF_HEAD_IN_PLACE] = c->out_is_c ? 7 : 0;
  head[PF_HEAD_EDITS] = edits > 0 ? 0xff : 0;
  head[PF_HEAD_EDITS + 1] = (uint8_t)edits;
  if (pf_graph_of(c->graph)->scaled) {
    head[PF_HEAD_RESULT] = (uint8_t)slot_of(pf_result_slots, c->operand[PF_OUT].dtype);
    for (pf_role r = PF_X; r <= PF_Y; r++)
      put_scale(head + PF_HEAD_SCALES + r * PF_HEAD_SCALE_BYTES, &c->operand[r].scale);
  }
  for (pf_role r = PF_X; r < PF_OUT; r++)
    if (c->operand[r].present)
      put_tensor(head + PF_HEAD_TENSORS + r * PF_HEAD_TENSOR_BYTES, &c->operand[r], x);
}

static void put_tail(uint8_t *head, uint8_t *to, const pf_case *c)
{
  for (pf_role r = PF_X; r < PF_ROLE_COUNT; r++)
    if (has_layout(c, r)) {
      head[r == PF_OUT ? PF_HEAD_OUT_LAYOUT
                       : PF_HEAD_TENSORS + r * PF_HEAD_TENSOR_BYTES + PF_HEAD_LAYOUT] =
          PF_LAYOUT_EXPLICIT;
      to = put_explicit(to, &c->operand[r]);
    }
  to = put_edits(to, c);
  for (pf_role r = PF_X; r < PF_OUT; r++) {
    const size_t bytes = verbatim_bytes(&c->operand[r]);
    if (bytes > 0)
      memcpy(to, c->operand[r].values.verbatim, bytes);
    to += bytes;
  }
  for (pf_role r = PF_X; r <= PF_Y; r++)
    to = put_scales(to, &c->operand[r].scale);
}

static void put_origin(uint8_t *end, const char *origin, size_t length)
{
  memcpy(end - 4, PF_ORIGIN_MAGIC, 4);
  put_le(end - PF_ORIGIN_END, length, 2);
  memcpy(end - PF_ORIGIN_END - length, origin, length);
}

pf_status pf_fuzz_encode(const pf_case *c, pf_arena *a, uint8_t **out, size_t *size, pf_error *e)
{
  const pf_shape s = pf_case_shape(c);
  int64_t sizes[PF_SIZES] = {s.m, s.n, s.k, 1, 1, 1, 1};
  for (int i = 0; i < s.batch_rank; i++)
    sizes[PF_SIZE_BATCH + i] = s.batch[s.batch_rank - 1 - i];
  const pf_status status = check_limits(c, sizes, e);
  if (status != PF_OK)
    return status;
  size_t bytes = PF_HEAD_BYTES + (size_t)all_edits(c) * PF_EDIT_BYTES;
  for (pf_role r = PF_X; r < PF_ROLE_COUNT; r++)
    bytes += (has_layout(c, r) ? explicit_bytes(&c->operand[r]) : 0) +
             (r == PF_OUT ? 0 : verbatim_bytes(&c->operand[r]));
  for (pf_role r = PF_X; r <= PF_Y; r++)
    bytes += scale_bytes(&c->operand[r].scale);
  const size_t origin = c->origin ? strlen(c->origin) : 0;
  if (origin > 0)
    bytes += origin + PF_ORIGIN_END;
  uint8_t *to = pf_alloc(a, bytes);
  if (!to)
    return pf_fail(e, PF_NO_MEMORY, 0, "fuzz form: no memory for %zu bytes", bytes);
  put_head(to, c, &s, sizes);
  put_tail(to, to + PF_HEAD_BYTES, c);
  if (origin > 0)
    put_origin(to + bytes, c->origin, origin);
  *out = to;
  *size = bytes;
  return PF_OK;
}
