/* Calls as BLAS takes them. */
#include "blas.h"

#include <string.h>

typedef struct pf_blas_view {
  int64_t rows, columns, row_stride, column_stride;
} pf_blas_view;

static pf_blas_view view(const pfe_tensor *t, int64_t rows, int64_t columns)
{
  return (pf_blas_view){rows, columns, t->row_stride, t->column_stride};
}

static pf_blas_view flipped(pf_blas_view v)
{
  return (pf_blas_view){v.columns, v.rows, v.column_stride, v.row_stride};
}

static bool by_rows(pf_blas_view v, int64_t *ld)
{
  const int64_t least = v.columns > 1 ? v.columns : 1;
  if (v.rows && v.columns &&
      ((v.columns > 1 && v.column_stride != 1) || (v.rows > 1 && v.row_stride < least)))
    return false;
  *ld = v.row_stride > least ? v.row_stride : least;
  return true;
}

static bool by_rows_or_columns(pf_blas_view v, bool *by_columns, int64_t *ld)
{
  *by_columns = !by_rows(v, ld);
  return !*by_columns || by_rows(flipped(v), ld);
}

bool pf_blas_lines(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride,
                   bool *by_columns, int64_t *ld)
{
  const pf_blas_view v = {rows, columns, row_stride, column_stride};
  return by_rows_or_columns(v, by_columns, ld);
}

/* Of a vector.  An increment of 0 is none that BLAS takes, and one element needs none. */
static bool step_of(int64_t size, int64_t stride, int64_t *step)
{
  *step = size > 1 ? stride : 1;
  return *step > 0;
}

const char *pf_blas_gemm_of(const pfe_call *call, pf_blas_gemm *to)
{
  pf_blas_view a = view(pf_blas_a(call), call->m, call->k);
  pf_blas_view b = view(pf_blas_b(call), call->k, call->n);
  pf_blas_view out = view(call->out, call->m, call->n);
  *to = (pf_blas_gemm){.m = call->m, .n = call->n, .k = call->k};
  if (!by_rows_or_columns(out, &to->swapped, &to->out_ld))
    return "no stride of the output is 1, or its lines overlap: gemm takes no such matrix";
  if (to->swapped) {
    const pf_blas_view left = flipped(b);
    b = flipped(a);
    a = left;
    to->m = call->n;
    to->n = call->m;
  }
  if (!by_rows_or_columns(a, &to->left_transposed, &to->left_ld) ||
      !by_rows_or_columns(b, &to->right_transposed, &to->right_ld))
    return "no stride of an operand is 1, or its lines overlap: gemm takes no such matrix";
  return NULL;
}

const char *pf_blas_gemv_of(const pfe_call *call, pf_blas_gemv *to)
{
  const pfe_tensor *a = pf_blas_a(call), *b = pf_blas_b(call), *out = call->out;
  *to = (pf_blas_gemv){.matrix_is_b = call->n != 1, .k = call->k};
  if (call->m != 1 && call->n != 1)
    return "gemv gives a vector";
  if (!call->k || !call->m || !call->n)
    return "gemv of an empty matrix leaves its output as it is";
  const pf_blas_view matrix = to->matrix_is_b ? flipped(view(b, call->k, call->n))
                                              : view(a, call->m, call->k);
  to->rows = matrix.rows;
  if (!by_rows_or_columns(matrix, &to->transposed, &to->ld))
    return "no stride of the matrix is 1, or its lines overlap: gemv takes no such matrix";
  if (!step_of(call->k, to->matrix_is_b ? a->column_stride : b->row_stride, &to->vector_step) ||
      !step_of(to->rows, to->matrix_is_b ? out->column_stride : out->row_stride, &to->out_step))
    return "gemv takes no vector with an increment of 0";
  return NULL;
}

const char *pf_blas_dot_of(const pfe_call *call, pf_blas_dot *to)
{
  to->k = call->k;
  if (call->m != 1 || call->n != 1)
    return "dot gives one number";
  if (pf_blas_alpha(call) != 1 || pf_blas_beta(call) != 0)
    return "dot has no alpha, c or bias";
  if (!step_of(call->k, pf_blas_a(call)->column_stride, &to->a_step) ||
      !step_of(call->k, pf_blas_b(call)->row_stride, &to->b_step))
    return "dot takes no vector with an increment of 0";
  return NULL;
}

double pf_blas_alpha(const pfe_call *call)
{
  return call->steps->has_alpha ? call->alpha : 1;
}

static bool reads_c(const pfe_call *call)
{
  return call->steps->has_c && call->beta != 0;
}

const pfe_tensor *pf_blas_addend(const pfe_call *call)
{
  return reads_c(call)                ? call->tensor[PFE_C]
         : call->steps->has_bias ? call->tensor[PFE_BIAS]
                                     : NULL;
}

double pf_blas_beta(const pfe_call *call)
{
  return reads_c(call) ? call->beta : call->steps->has_bias ? 1 : 0;
}

bool pf_blas_has_two_addends(const pfe_call *call)
{
  return reads_c(call) && call->steps->has_bias;
}

void pf_blas_start(const pfe_call *call, const pfe_tensor *addend, int64_t batch)
{
  const pfe_tensor *from = addend, *to = call->out;
  if (!from || (from == call->tensor[PFE_C] && call->in_place))
    return;
  const int64_t bytes = (int64_t)pfe_dtype_bytes(to->dtype);
  const char *source = pfe_batch(call, from, batch);
  char *target = pfe_batch(call, to, batch);
  for (int64_t i = 0; i < call->m; i++)
    for (int64_t j = 0; j < call->n; j++)
      memcpy(target + (i * to->row_stride + j * to->column_stride) * bytes,
             source + (i * from->row_stride + j * from->column_stride) * bytes, (size_t)bytes);
}
