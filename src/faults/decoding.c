/* Faults in how operands are read. */
#include "faults/faults.h"
#include "faults/kernel.h"

/* The encodings are those of f8_e4m3fnuz but for a bias of one less, -0 and the NaNs. */
static float load_as_fnuz(const pf_view *v, int64_t row, int64_t column)
{
  if (v->dtype != PF_F8_E4M3FN) return pf_gemm_load(v, row, column);
  const void *at = pf_gemm_at(v, row, column);
  return (float)pf_decode(PF_F8_E4M3FNUZ, pf_load_bits(PF_F8_E4M3FNUZ, at));
}

static float decoded_as_fnuz(const pf_gemm *g, int64_t row, int64_t column)
{
  float sum = 0;
  for (int64_t k = 0; k < g->k; k++) {
    const float product = load_as_fnuz(&g->a, row, k) * load_as_fnuz(&g->b, k, column);
    sum += product;
  }
  return pf_gemm_finish(g, row, column, sum);
}

const pf_engine pf_fault_M32 =
    PF_KERNEL_ENGINE("M32", "decodes f8_e4m3fn as f8_e4m3fnuz", decoded_as_fnuz, pf_gemm_rows);
