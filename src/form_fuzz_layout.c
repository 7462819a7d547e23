/* Layouts of the fuzz form: what a torch view can have, from eight bytes or from the tail. */
#include <string.h>

#include "form_fuzz_head.h"

void pf_fuzz_dense(pf_operand *o)
{
  pf_dense_strides(o->rank, o->dim, o->stride);
  o->offset = 0;
}

/* Fills order with dimensions, outermost first. */
static void permute(const uint8_t *at, int rank, int *order)
{
  unsigned number = (unsigned)(at[1] & 0x7f) << 8 | at[2];
  for (int i = 0; i < rank; i++)
    order[i] = i;
  if (!(at[0] & 1) || rank < 2)
    return;
  if (!(at[1] & 0x80)) {
    order[rank - 2] = rank - 1;
    order[rank - 1] = rank - 2;
    return;
  }
  for (int i = 0; i < rank; i++) {
    const int from = i + (int)(number % (unsigned)(rank - i)), moved = order[from];
    number /= (unsigned)(rank - i);
    memmove(order + i + 1, order + i, (size_t)(from - i) * sizeof *order);
    order[i] = moved;
  }
}

static void make_layout(const uint8_t *at, bool input, pf_operand *o)
{
  const bool padded = at[0] & 2, stepped = at[0] & 4, odd = at[0] & 16;
  const int repeats = input && (at[0] & 0x48) == 0x48 && o->rank > 0 ? at[5] % o->rank : -1;
  int order[PF_MAX_RANK];
  int64_t step = stepped ? 2 + (at[4] & 3) : 1;
  permute(at, o->rank, order);
  for (int i = o->rank - 1; i >= 0; i--) {
    const int dim = order[i];
    const int64_t size = o->dim[dim];
    o->stride[dim] = dim == repeats ? 0 : odd && size == 1 ? at[6] * (i + 1) : step;
    if (dim != repeats && size > 1)
      step *= size;
    if (i == o->rank - 1 && padded)
      step += 1 + (at[3] & 15);
  }
  o->offset = at[0] & 32 ? 1 + (at[7] & 63) : 0;
}

static void read_explicit(pf_reader *tail, pf_operand *o)
{
  for (int i = 0; i < o->rank; i++)
    o->stride[i] = (int64_t)(pf_read_le(tail, 3) % (PF_MAX_STRIDE + 1));
  o->offset = (int64_t)(pf_read_le(tail, 2) % (PF_MAX_OFFSET + 1));
}

static bool fits(int64_t storage, bool input, const pf_operand *o)
{
  for (int i = 0; i < o->rank; i++)
    if (o->stride[i] > PF_MAX_STRIDE)
      return false;
  return pf_storage_size(o) <= storage && (input || !pf_operand_overlaps(o));
}

void pf_fuzz_layout(const uint8_t *at, pf_reader *tail, bool input, int64_t storage, pf_operand *o)
{
  pf_fuzz_dense(o);
  if (at[0] < 0x80)
    return;
  if (at[0] == PF_LAYOUT_EXPLICIT)
    read_explicit(tail, o);
  else
    make_layout(at, input, o);
  if (!fits(storage, input, o))
    pf_fuzz_dense(o);
}

void pf_fuzz_strided(const uint8_t *at, int64_t storage, pf_operand *o)
{
  uint8_t strided[PF_HEAD_TENSOR_BYTES - PF_HEAD_LAYOUT];
  memcpy(strided, at, sizeof strided);
  strided[0] = 0x80 | 1 | 2 | 32;
  make_layout(strided, true, o);
  if (fits(storage, true, o))
    return;
  pf_fuzz_dense(o);
  o->offset = 1 + (at[7] & 63);
}
