/* Faults at the ends of K and N, where vectors and tiles do not fill up. */
#include "faults/faults.h"
#include "faults/kernel.h"

enum {
  LANES = 8,
  FENCE = 64  /* elements behind an output that belong to it (pf_output) */
};

static float tail_dropped(const pf_gemm *g, int64_t row, int64_t column)
{
  const int64_t kept = g->k > LANES ? g->k - g->k % LANES : g->k;
  return pf_gemm_finish(g, row, column, pf_gemm_sum(g, row, column, 0, kept));
}

/* Lane i of 8 holds the terms i, i + 8, ...  At the masked last step the lanes from K % 8 on are
   zeroed, and all that they held is gone.  The other terms are added upwards, as in the correct
   kernel, so that no difference in order hides or mimics the fault. */
static float idle_lanes_lost(const pf_gemm *g, int64_t row, int64_t column)
{
  const int64_t busy = g->k % LANES;
  float sum = 0;
  for (int64_t k = 0; k < g->k; k++) {
    const float product = pf_gemm_load(&g->a, row, k) * pf_gemm_load(&g->b, k, column);
    if (busy == 0 || k % LANES < busy) sum += product;
  }
  return pf_gemm_finish(g, row, column, sum);
}

/* Is there an element behind the row's last one that may be written?  Among the output's elements
   always; behind the last of them as far as the fence goes.  A vector has no next column. */
static bool can_overrun(const pf_gemm *g, int64_t row)
{
  const ptrdiff_t fence = FENCE * pf_dtype_of(g->out.dtype)->bytes;
  return g->out.column != 0 && pf_gemm_beyond(&g->out, row, g->n) <= fence;
}

/* An edge tile two columns wide.  What it stores beyond N is the zero of a padded panel; the next
   row's first element, where that is the same place, is stored afterwards and hides it. */
static void column_too_many(const pf_gemm *g, pf_gemm_element *element)
{
  for (int64_t row = 0; row < g->m; row++) {
    for (int64_t column = 0; column < g->n; column++) {
      pf_gemm_store(g, row, column, element(g, row, column));
    }
    if (g->n % 2 == 1 && can_overrun(g, row)) pf_gemm_store(g, row, g->n, 0);
  }
}

const pf_engine pf_fault_M13 =
    PF_KERNEL_ENGINE("M13", "drops the last K % 8 terms if K > 8", tail_dropped, pf_gemm_rows);
const pf_engine pf_fault_M15 =
    PF_KERNEL_ENGINE("M15", "stores one column too many if N is odd", pf_gemm_correct,
                     column_too_many);
const pf_engine pf_fault_M16 =
    PF_KERNEL_ENGINE("M16", "loses the sums of lanes that the last step masks", idle_lanes_lost,
                     pf_gemm_rows);
