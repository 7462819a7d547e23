/* Faults of integer kernels.  The kernel that they are planted in keeps all in 32 bits, which wrap;
   alpha, beta, c and bias are integers there. */
#include "faults/faults.h"
#include "faults/kernel.h"

static int32_t load(const pf_view *v, int64_t row, int64_t column)
{
  return (int32_t)pf_load(v->dtype, pf_gemm_at(v, row, column));
}

static int32_t product(const pf_gemm *g, int64_t row, int64_t column, int64_t k)
{
  return load(&g->a, row, k) * load(&g->b, k, column);
}

static int32_t saturated(int32_t v)
{
  return v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : v;
}

/* As x86's vpmaddubsw has it, for a factor that is unsigned and one that is not. */
static uint32_t sum_by_pairs(const pf_gemm *g, int64_t row, int64_t column)
{
  uint32_t sum = 0;
  for (int64_t k = 0; k < g->k; k += 2) {
    const int32_t second = k + 1 < g->k ? product(g, row, column, k + 1) : 0;
    const int32_t pair = product(g, row, column, k) + second;
    sum += (uint32_t)(g->a.dtype != g->b.dtype ? saturated(pair) : pair);
  }
  return sum;
}

static void saturating_pairs(const pf_gemm *g, const void *unused)
{
  (void)unused;
  for (int64_t row = 0; row < g->m; row++) {
    for (int64_t column = 0; column < g->n; column++) {
      uint32_t v = (uint32_t)(int32_t)g->alpha * sum_by_pairs(g, row, column);
      if (g->has_c) v += (uint32_t)(int32_t)g->beta * (uint32_t)load(&g->c, row, column);
      if (g->has_bias) v += (uint32_t)load(&g->bias, row, column);
      pf_gemm_store(g, row, column, (int32_t)v);
    }
  }
}

static bool is_byte(const pf_matrix *m)
{
  return m->dtype == PF_S8 || m->dtype == PF_U8;
}

static pf_status supports(const pf_engine *e, const pf_call *call, const char **why)
{
  (void)e;
  const pf_step *s = &call->steps[0];
  *why = NULL;
  if (call->count != 1 || (s->kind != PF_MATMUL && s->kind != PF_MULSUM)) {
    *why = "runs one MATMUL or MULSUM at a time";
  } else if (!pf_gemm_plain(&s->acc, pf_format_of(PF_S32))) {
    *why = "accumulates in s32, in no stated order, without options";
  } else if (!is_byte(call->value[s->a]) || !is_byte(call->value[s->b])) {
    *why = "multiplies bytes only";
  }
  return *why == NULL ? PF_OK : PF_UNSUPPORTED;
}

static pf_status run(const pf_engine *e, const pf_call *call, pf_arena *scratch)
{
  (void)e;
  (void)scratch;
  pf_gemm_batches(call, &call->steps[0].out, saturating_pairs, NULL);
  return PF_OK;
}

const pf_engine pf_fault_M38 = {
  .name = "fault:M38", .note = "adds pairs of u8 * s8 with saturation to 16 bits",
  .sum = {.order = PF_ANY_ORDER}, .supports = supports, .run = run};
