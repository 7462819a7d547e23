/* Operands in their storages.

   Values go there in row-major order of their logical index, then the edits; where a layout lets
   elements share storage the last one written wins, and everything after that (views, dense copies,
   the oracle by way of these) reads what the storage then holds.

   Each operand has a block of its own that ends with its last element, so that AddressSanitizer
   sees a read past it. */
#include <string.h>

#include "problem_parts.h"

static int64_t offset_of(const pf_operand *o, int64_t index)
{
  int64_t offset = o->offset;
  for (int i = o->rank - 1; i >= 0; i--) {
    offset += index % o->dim[i] * o->stride[i];
    index /= o->dim[i];
  }
  return offset;
}

pf_walk pf_problem_walk(const pf_problem *p, pf_role role)
{
  const bool along_k = role == PF_X || pf_graph_of(p->what->graph)->weight;
  pf_walk walk = {.place.negate = role == PF_X, .columns = along_k ? 1 : p->shape.n};
  if (role == PF_X || role == PF_Y)
    walk.place.k_count = p->shape.k;
  return walk;
}

/* The elements in row-major order, one behind the other; edits are left out. */
static void write_dense(const pf_problem *p, pf_role role, void *to)
{
  const pf_operand *o = &p->what->operand[role];
  const int64_t count = pf_operand_count(o);
  if (o->values.kind == PF_VERBATIM && count > 0)
    memcpy(to, o->values.verbatim, (size_t)count * (size_t)pf_dtype_of(o->dtype)->bytes);
  else
    pf_values_generate(&o->values, o->dtype, pf_problem_walk(p, role), count, to);
}

static inline __attribute__((always_inline)) void copy_row(size_t bytes, const uint8_t *from,
                                                           int64_t count, int64_t stride,
                                                           uint8_t *to)
{
  for (int64_t i = 0; i < count; i++)
    memcpy(to + (size_t)(i * stride) * bytes, from + (size_t)i * bytes, bytes);
}

/* From the dense order to the places that the layout gives. */
static void scatter(const pf_operand *o, const uint8_t *from, void *storage)
{
  const int64_t count = pf_operand_count(o);
  const int last = o->rank - 1;
  const int64_t run = last < 0 ? 1 : o->dim[last], stride = last < 0 ? 1 : o->stride[last];
  const size_t bytes = (size_t)pf_dtype_of(o->dtype)->bytes;
  int64_t at[PF_MAX_RANK] = {0}, offset = o->offset;
  for (int64_t i = 0; i < count; i += run, from += (size_t)run * bytes) {
    uint8_t *to = element(o->dtype, storage, offset);
    switch (bytes) {
    case 8: copy_row(8, from, run, stride, to); break;
    case 4: copy_row(4, from, run, stride, to); break;
    case 2: copy_row(2, from, run, stride, to); break;
    default: copy_row(1, from, run, stride, to); break;
    }
    next_index(last, o->dim, o->stride, at, &offset);
  }
}

/* The marked part doubles until it is all. */
void pf_fill_marked(pf_dtype t, void *data, int64_t count)
{
  const size_t bytes = (size_t)count * (size_t)pf_dtype_of(t)->bytes;
  size_t done = (size_t)pf_dtype_of(t)->bytes;
  if (count == 0)
    return;
  pf_store_bits(t, data, pf_marker_bits(t));
  for (; done < bytes; done *= 2)
    memcpy((uint8_t *)data + done, data, done < bytes - done ? done : bytes - done);
}

static void write_edits(const pf_operand *o, void *storage)
{
  const pf_values *v = &o->values;
  for (int64_t i = 0; i < v->edit_count; i++)
    pf_store_bits(o->dtype, element(o->dtype, storage, offset_of(o, v->edits[i].index)),
                  v->edits[i].bits);
}

pf_status pf_problem_store(pf_problem *p, pf_role role, pf_arena *a)
{
  const pf_operand *o = &p->what->operand[role];
  const int64_t size = pf_storage_size(o);
  const size_t each = (size_t)pf_dtype_of(o->dtype)->bytes, bytes = (size_t)size * each;
  const bool dense = pf_operand_dense(o);
  void *storage = pf_alloc_raw(a, bytes);
  void *elements = dense ? storage : pf_alloc_raw(a, (size_t)pf_operand_count(o) * each);
  if (!storage || !elements)
    return PF_NO_MEMORY;
  write_dense(p, role, elements);
  if (!dense) {
    pf_fill_marked(o->dtype, storage, size);
    scatter(o, elements, storage);
  }
  write_edits(o, storage);
  p->storage[role] = storage;
  p->storage_bytes[role] = bytes;
  return PF_OK;
}
