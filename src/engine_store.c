/* Where an engine's results go. */
#include "engine.h"

void pf_call_store(const pf_call *call, const double *results)
{
  const pf_problem *p = call->problem;
  const pf_matrix *out = call->out;
  const int bytes = pf_dtype_of(out->dtype)->bytes;
  for (int64_t b = 0; b < p->shape.batches; b++)
    for (int64_t row = 0; row < p->shape.m; row++) {
      char *at = (char *)out->data + (pf_batch_offset(p, out, b) + row * out->row_stride) * bytes;
      for (int64_t column = 0; column < p->shape.n; column++, at += out->column_stride * bytes)
        pf_store(out->dtype, at, *results++);
    }
}
