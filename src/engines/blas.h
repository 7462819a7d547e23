/* A call as BLAS's three products take it: which operand is transposed, which leading dimension or
   increment it has.  Follows from the strides where a size is above 1, and is stated wherever more
   than one answer would do, so that a call is always put the same way.  For all libraries whose
   matrices are a pointer and a leading dimension. */
#ifndef PF_BLAS_H
#define PF_BLAS_H

#include <stdbool.h>

#include <precfuzz/engine.h>

/* Row-major: out[m,n] = op(left)[m,k] * op(right)[k,n], where left and right are a and b, or, if
   swapped, b and a and everything is the call's transposed: so an output that is stored by columns
   becomes one that is stored by rows.  Leading dimensions are in elements, and at least 1. */
typedef struct pf_blas_gemm {
  bool swapped, left_transposed, right_transposed;
  int64_t m, n, k, left_ld, right_ld, out_ld;
} pf_blas_gemm;

/* out[rows] = op(matrix) * vector[k], op(matrix) [rows,k], matrix row-major.  The matrix is a, or
   where m = 1, b; then b is transposed first. */
typedef struct pf_blas_gemv {
  bool matrix_is_b, transposed;
  int64_t rows, k, ld, vector_step, out_step;
} pf_blas_gemv;

typedef struct pf_blas_dot {
  int64_t k, a_step, b_step;
} pf_blas_dot;

/* Each: NULL, or why the product cannot take the call's step, one plain MATMUL. */
const char *pf_blas_gemm_of(const pfe_call *call, pf_blas_gemm *to);
const char *pf_blas_gemv_of(const pfe_call *call, pf_blas_gemv *to);
const char *pf_blas_dot_of(const pfe_call *call, pf_blas_dot *to);

static inline const pfe_tensor *pf_blas_a(const pfe_call *call)
{
  return call->tensor[call->steps->a];
}

static inline const pfe_tensor *pf_blas_b(const pfe_call *call)
{
  return call->tensor[call->steps->b];
}

/* 1 where the call has none. */
double pf_blas_alpha(const pfe_call *call);
/* What stands in the output before the product is added: c, else the bias, NULL where nothing is
   added. */
const pfe_tensor *pf_blas_addend(const pfe_call *call);
/* Of the addend: 0 where there is none, 1 for a bias. */
double pf_blas_beta(const pfe_call *call);
/* Are there c and a bias to add? */
bool pf_blas_has_two_addends(const pfe_call *call);
/* Copies an addend of the output's dtype to the output, one batch; in place it is there. */
void pf_blas_start(const pfe_call *call, const pfe_tensor *addend, int64_t batch);

/* Is a matrix stored by rows, or by columns, whose first elements lie ld >= 1 apart?  Strides along
   sizes of 1 say nothing, but that between lines is kept where it may be, since a library that
   mistakes it is to be seen.  By rows where both would do. */
bool pf_blas_lines(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride,
                   bool *by_columns, int64_t *ld);

#endif
