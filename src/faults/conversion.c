/* Faults in the last rounding.  Each rounds in its own wrong way to a value that the correct store
   then leaves as it is, or rounds a second time. */
#include <math.h>

#include "faults/faults.h"
#include "faults/kernel.h"

static float ties_away(const pf_gemm *g, int64_t row, int64_t column)
{
  const float value = pf_gemm_correct(g, row, column);
  pf_format away = *g->to;
  if (away.rounding == PF_NEAREST_EVEN) away.rounding = PF_NEAREST_AWAY;
  return (float)pf_round(&away, value);
}

static float bf16_in_f32(const pf_gemm *g, int64_t row, int64_t column)
{
  const float value = pf_gemm_correct(g, row, column);
  return pf_format_equal(g->to, pf_format_of(PF_F32)) ? pf_gemm_narrow(PF_BF16, value) : value;
}

static float through_f16(const pf_gemm *g, int64_t row, int64_t column)
{
  return pf_gemm_narrow(PF_F16, pf_gemm_correct(g, row, column));
}

/* NaN where the result's format saturates, the end of its range where it has NaN instead. */
static float overflow_swapped(const pf_gemm *g, int64_t row, int64_t column)
{
  const float value = pf_gemm_correct(g, row, column);
  pf_format swapped = *g->to;
  if (pf_is_integer(&swapped) || isnan(value)) return value;
  if (swapped.overflow == PF_OVERFLOW_NAN) swapped.overflow = PF_OVERFLOW_SATURATE;
  else if (swapped.overflow == PF_OVERFLOW_SATURATE) swapped.overflow = PF_OVERFLOW_NAN;
  return (float)pf_round(&swapped, value);
}

const pf_engine pf_fault_M10 =
    PF_KERNEL_ENGINE("M10", "rounds ties away from zero at the end", ties_away, pf_gemm_rows);
const pf_engine pf_fault_M11 =
    PF_KERNEL_ENGINE("M11", "stores values of bf16 in an f32 result", bf16_in_f32, pf_gemm_rows);
const pf_engine pf_fault_M12 =
    PF_KERNEL_ENGINE("M12", "stores by way of f16", through_f16, pf_gemm_rows);
const pf_engine pf_fault_M31 =
    PF_KERNEL_ENGINE("M31", "saturates where NaN is due, and the reverse", overflow_swapped,
                     pf_gemm_rows);
