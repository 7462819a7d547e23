/* A tensor's layout: sizes, strides, the storage they reach. */
#include <string.h>

#include "case.h"

int64_t pf_volume(int n, const int64_t *size)
{
  int64_t volume = 1;
  for (int i = 0; i < n; i++)
    if (size[i] > 1 && __builtin_mul_overflow(volume, size[i], &volume))
      return INT64_MAX;
  return volume;
}

int64_t pf_product(int n, const int64_t *size)
{
  for (int i = 0; i < n; i++)
    if (size[i] == 0)
      return 0;
  return pf_volume(n, size);
}

void pf_dense_strides(int rank, const int64_t *dim, int64_t *stride)
{
  for (int i = 0; i < rank; i++)
    stride[i] = pf_volume(rank - 1 - i, dim + i + 1);
}

int64_t pf_operand_count(const pf_operand *o)
{
  return pf_product(o->rank, o->dim);
}

int64_t pf_operand_lines(const pf_case *c, pf_role role)
{
  const pf_operand *o = &c->operand[role];
  const bool k_is_last = role == PF_X || o->rank == 1 || pf_graph_of(c->graph)->weight;
  const int k = k_is_last ? o->rank - 1 : o->rank - 2;
  int64_t size[PF_MAX_RANK];
  int n = 0;
  for (int i = 0; i < o->rank; i++)
    if (i != k)
      size[n++] = o->dim[i];
  return pf_product(n, size);
}

int64_t pf_storage_size(const pf_operand *o)
{
  int64_t last = o->offset;
  if (pf_operand_count(o) == 0)
    return o->offset;
  for (int i = 0; i < o->rank; i++)
    last += (o->dim[i] - 1) * o->stride[i];
  return last + 1;
}

bool pf_operand_dense(const pf_operand *o)
{
  int64_t stride[PF_MAX_RANK];
  pf_dense_strides(o->rank, o->dim, stride);
  return o->offset == 0 && memcmp(stride, o->stride, o->rank * sizeof *stride) == 0;
}

bool pf_operand_overlaps(const pf_operand *o)
{
  int by_stride[PF_MAX_RANK], n = 0;
  int64_t reach = 0;
  if (pf_operand_count(o) == 0)
    return false;
  for (int i = 0; i < o->rank; i++) {
    if (o->dim[i] == 1)
      continue;
    int at = n++;
    for (; at > 0 && o->stride[by_stride[at - 1]] > o->stride[i]; at--)
      by_stride[at] = by_stride[at - 1];
    by_stride[at] = i;
  }
  for (int j = 0; j < n; j++) {
    const int i = by_stride[j];
    if (o->stride[i] <= reach)
      return true;
    reach += (o->dim[i] - 1) * o->stride[i];
  }
  return false;
}
