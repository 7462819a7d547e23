/* Faults in the sum over K: what a partial sum, or a term, is kept in. */
#include <math.h>

#include "faults/faults.h"
#include "faults/kernel.h"

/* Each sum is rounded to t before the next term is added. */
static float sum_in(pf_dtype t, const pf_gemm *g, int64_t row, int64_t column)
{
  float sum = 0;
  for (int64_t k = 0; k < g->k; k++) {
    const float product = pf_gemm_load(&g->a, row, k) * pf_gemm_load(&g->b, k, column);
    sum = pf_gemm_narrow(t, sum + product);
  }
  return sum;
}

static float bf16_accumulator(const pf_gemm *g, int64_t row, int64_t column)
{
  return pf_gemm_finish(g, row, column, sum_in(PF_BF16, g, row, column));
}

static float f16_accumulator(const pf_gemm *g, int64_t row, int64_t column)
{
  return pf_gemm_finish(g, row, column, sum_in(PF_F16, g, row, column));
}

static float parts_in_result_format(const pf_gemm *g, int64_t row, int64_t column)
{
  enum { PARTS = 4 };
  float sum = 0;
  for (int64_t i = 0; i < PARTS; i++) {
    const float part = pf_gemm_sum(g, row, column, i * g->k / PARTS, (i + 1) * g->k / PARTS);
    sum += (float)pf_round(g->to, part);
  }
  return pf_gemm_finish(g, row, column, sum);
}

static float flushed(pf_dtype t, float value)
{
  return fabsf(value) < pf_smallest_normal(pf_format_of(t)) ? 0 : value;
}

static float without_subnormals(const pf_gemm *g, int64_t row, int64_t column)
{
  float sum = 0;
  for (int64_t k = 0; k < g->k; k++) {
    const float a = flushed(g->a.dtype, pf_gemm_load(&g->a, row, k));
    const float b = flushed(g->b.dtype, pf_gemm_load(&g->b, k, column));
    sum += flushed(PF_F32, a * b);
  }
  return pf_gemm_finish(g, row, column, sum);
}

/* TF32 keeps 10 bits behind the point and the exponents of f32. */
static float cut(float value)
{
  static const pf_format tf32 = {.precision = 11,
                                 .emin = -126,
                                 .max = 0x1.ffcp127,
                                 .has_infinity = true,
                                 .has_negative_zero = true,
                                 .rounding = PF_TOWARD_ZERO,
                                 .overflow = PF_OVERFLOW_INFINITY};
  return (float)pf_round(&tf32, value);
}

static float cut_operands(const pf_gemm *g, int64_t row, int64_t column)
{
  float sum = 0;
  for (int64_t k = 0; k < g->k; k++) {
    const float product = cut(pf_gemm_load(&g->a, row, k)) * cut(pf_gemm_load(&g->b, k, column));
    sum += product;
  }
  return pf_gemm_finish(g, row, column, sum);
}

const pf_engine pf_fault_M01 =
    PF_KERNEL_ENGINE("M01", "accumulates in bf16", bf16_accumulator, pf_gemm_rows);
const pf_engine pf_fault_M02 =
    PF_KERNEL_ENGINE("M02", "accumulates in f16", f16_accumulator, pf_gemm_rows);
const pf_engine pf_fault_M04 =
    PF_KERNEL_ENGINE("M04", "splits K in 4 and rounds the parts' sums to the result's format",
                     parts_in_result_format, pf_gemm_rows);
const pf_engine pf_fault_M29 =
    PF_KERNEL_ENGINE("M29", "flushes subnormal operands and products", without_subnormals,
                     pf_gemm_rows);
const pf_engine pf_fault_M33 =
    PF_KERNEL_ENGINE("M33", "cuts operands to TF32", cut_operands, pf_gemm_rows);
