/* Dense copies of views. */
#include "dense.h"

#include <stdlib.h>
#include <string.h>

static void set_dims(const pfe_tensor *t, const pf_dense_want *w, pf_dense *d)
{
  d->rank = w->batch_rank + 2;
  for (int i = 0; i < w->batch_rank; i++)
    d->dims[i] = w->repeated || t->batch_stride[i] || !w->batch[i] ? w->batch[i] : 1;
  d->dims[w->batch_rank] = w->transposed ? w->columns : w->rows;
  d->dims[w->batch_rank + 1] = w->transposed ? w->rows : w->columns;
  d->bytes = pfe_dtype_bytes(t->dtype);
  for (int i = 0; i < d->rank; i++)
    d->bytes *= (size_t)d->dims[i];
}

static void strides_of(const pfe_tensor *t, const pf_dense_want *w, int64_t *strides)
{
  memcpy(strides, t->batch_stride, (size_t)w->batch_rank * sizeof *strides);
  strides[w->batch_rank] = w->transposed ? t->column_stride : t->row_stride;
  strides[w->batch_rank + 1] = w->transposed ? t->row_stride : t->column_stride;
}

static bool is_dense(const pf_dense *d, const int64_t *strides)
{
  int64_t elements = 1;
  for (int i = d->rank; i-- > 0; elements *= d->dims[i])
    if (d->bytes && d->dims[i] > 1 && strides[i] != elements)
      return false;
  return true;
}

/* All elements, line by line: from the view to the copy, or back. */
static void copy(const pfe_tensor *t, const pf_dense *d, const int64_t *strides, bool back)
{
  const size_t size = pfe_dtype_bytes(t->dtype);
  const int64_t length = d->dims[d->rank - 1], step = strides[d->rank - 1] * (int64_t)size;
  const int64_t lines = d->bytes ? (int64_t)(d->bytes / size) / length : 0;
  char *dense = d->copy;
  for (int64_t line = 0; line < lines; line++) {
    int64_t offset = 0, rest = line;
    for (int i = d->rank - 1; i-- > 0; rest /= d->dims[i])
      offset += rest % d->dims[i] * strides[i];
    char *element = (char *)t->data + offset * (int64_t)size;
    for (int64_t i = 0; i < length; i++, element += step, dense += size)
      memcpy(back ? element : dense, back ? dense : element, size);
  }
}

bool pf_dense_both_repeat(const pfe_call *call, const pfe_tensor *a, const pfe_tensor *b)
{
  for (int i = 0; i < call->batch_rank; i++)
    if (call->batch[i] > 1 && !a->batch_stride[i] && !b->batch_stride[i])
      return true;
  return false;
}

int pf_dense_take(const pfe_tensor *t, const pf_dense_want *want, pf_dense *d)
{
  int64_t strides[PF_DENSE_RANK];
  set_dims(t, want, d);
  strides_of(t, want, strides);
  d->data = t->data;
  if (!want->copied && t->data && is_dense(d, strides))
    return 0;
  if (!d->copy || d->room < d->bytes + PF_DENSE_BEHIND) {
    free(d->copy);
    d->room = 2 * d->bytes + PF_DENSE_BEHIND;
    d->copy = malloc(d->room);
  }
  if (!d->copy)
    return 1;
  copy(t, d, strides, false);
  memset((char *)d->copy + d->bytes, 0xff, PF_DENSE_BEHIND);
  d->data = d->copy;
  return 0;
}

void pf_dense_give(const pfe_tensor *t, const pf_dense_want *want, const pf_dense *d)
{
  int64_t strides[PF_DENSE_RANK];
  strides_of(t, want, strides);
  if (d->data == d->copy)
    copy(t, d, strides, true);
}

void pf_dense_free(pf_dense *d)
{
  free(d->copy);
  *d = (pf_dense){.copy = NULL};
}
