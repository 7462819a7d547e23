/* Faults in addressing: a leading dimension that is not believed, an output that is an operand. */
#include "faults/faults.h"
#include "faults/kernel.h"

/* b with the leading dimension that it would have were it dense: N for rows, K for columns.
   Bound to be inside b's extent: what lies beyond is read as the last element. */
static float load_as_dense(const pf_gemm *g, int64_t k, int64_t column)
{
  const ptrdiff_t bytes = pf_dtype_of(g->b.dtype)->bytes;
  pf_view dense = g->b;
  if (dense.row == bytes && dense.column != bytes) {
    dense.column = g->k * bytes;
  } else {
    dense.row = g->n * bytes;
  }
  if (pf_gemm_beyond(&dense, k, column) > 0) return (float)pf_load(dense.dtype, dense.last);
  return pf_gemm_load(&dense, k, column);
}

static float leading_dimension_ignored(const pf_gemm *g, int64_t row, int64_t column)
{
  float sum = 0;
  for (int64_t k = 0; k < g->k; k++) {
    const float product = pf_gemm_load(&g->a, row, k) * load_as_dense(g, k, column);
    sum += product;
  }
  return pf_gemm_finish(g, row, column, sum);
}

static void output_started_first(const pf_gemm *g, pf_gemm_element *element)
{
  for (int64_t row = 0; row < g->m; row++) {
    for (int64_t column = 0; column < g->n; column++) {
      pf_gemm_store(g, row, column, g->has_bias ? pf_gemm_load(&g->bias, row, column) : 0);
    }
  }
  pf_gemm_rows(g, element);
}

const pf_engine pf_fault_M17 =
    PF_KERNEL_ENGINE("M17", "takes b's leading dimension to be dense", leading_dimension_ignored,
                     pf_gemm_rows);
const pf_engine pf_fault_M19 =
    PF_KERNEL_ENGINE("M19", "overwrites the output before it reads c", pf_gemm_correct,
                     output_started_first);
