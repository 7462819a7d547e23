/* Faults behind the sum: alpha, beta, c and bias, and the special path for K = 0. */
#include "faults/faults.h"
#include "faults/kernel.h"

static float rounded_before_addends(const pf_gemm *g, int64_t row, int64_t column)
{
  const float sum = pf_gemm_sum(g, row, column, 0, g->k);
  return pf_gemm_finish(g, row, column, (float)pf_round(g->to, sum));
}

static float narrow_scalars(const pf_gemm *g, int64_t row, int64_t column)
{
  pf_gemm faulty = *g;
  faulty.alpha = pf_gemm_narrow(PF_BF16, g->alpha);
  faulty.beta = pf_gemm_narrow(PF_BF16, g->beta);
  return pf_gemm_correct(&faulty, row, column);
}

static float zero_for_empty_k(const pf_gemm *g, int64_t row, int64_t column)
{
  return g->k == 0 ? 0 : pf_gemm_correct(g, row, column);
}

static void nothing_for_empty_k(const pf_gemm *g, pf_gemm_element *element)
{
  if (g->k > 0) pf_gemm_rows(g, element);
}

static float beta_zero_reads_c(const pf_gemm *g, int64_t row, int64_t column)
{
  float value = pf_gemm_scale(g, pf_gemm_sum(g, row, column, 0, g->k));
  if (g->has_c) value += g->beta * pf_gemm_load(&g->c, row, column);
  if (g->has_bias) value += pf_gemm_load(&g->bias, row, column);
  return value;
}

static float beta_as_flag(const pf_gemm *g, int64_t row, int64_t column)
{
  pf_gemm faulty = *g;
  faulty.beta = g->beta != 0;
  return pf_gemm_correct(&faulty, row, column);
}

/* The same but for a zero: 0 - 0 is +0, -1 * 0 is -0. */
static float subtracted_from_zero(const pf_gemm *g, int64_t row, int64_t column)
{
  pf_gemm faulty = *g;
  faulty.alpha = -g->alpha;
  if (!(g->alpha < 0)) return pf_gemm_correct(g, row, column);
  const float product = pf_gemm_scale(&faulty, pf_gemm_sum(g, row, column, 0, g->k));
  return pf_gemm_add(g, row, column, 0 - product);
}

const pf_engine pf_fault_M07 =
    PF_KERNEL_ENGINE("M07", "rounds the sum to the result's format before alpha, c and bias",
                     rounded_before_addends, pf_gemm_rows);
const pf_engine pf_fault_M08 =
    PF_KERNEL_ENGINE("M08", "narrows alpha and beta to bf16", narrow_scalars, pf_gemm_rows);
const pf_engine pf_fault_M20 =
    PF_KERNEL_ENGINE("M20", "gives 0 for K = 0", zero_for_empty_k, pf_gemm_rows);
const pf_engine pf_fault_M21 =
    PF_KERNEL_ENGINE("M21", "writes nothing for K = 0", pf_gemm_correct, nothing_for_empty_k);
const pf_engine pf_fault_M22 =
    PF_KERNEL_ENGINE("M22", "multiplies c by beta = 0", beta_zero_reads_c, pf_gemm_rows);
const pf_engine pf_fault_M24 =
    PF_KERNEL_ENGINE("M24", "takes any beta but 0 as 1", beta_as_flag, pf_gemm_rows);
const pf_engine pf_fault_M30 =
    PF_KERNEL_ENGINE("M30", "subtracts from 0 for a negative alpha", subtracted_from_zero,
                     pf_gemm_rows);
