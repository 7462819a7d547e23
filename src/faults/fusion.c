/* Faults that span steps: a rounding that a row has between two operations is left out.  These run
   the steps together, which is what makes the fault possible; all else they do as fault:none. */
#include "faults/faults.h"
#include "faults/kernel.h"

static const pf_kernel correct = {pf_gemm_correct, pf_gemm_rows};

static bool begins_with_f32_sum(const pf_call *call)
{
  const pf_step *s = &call->steps[0];
  return s->kind <= PF_MULSUM && pf_gemm_plain(&s->acc, pf_format_of(PF_F32)) &&
         pf_gemm_fits_f32(call, s);
}

/* Is step i of the run a cast to f of what step i - 1 gave? */
static bool casts_to(const pf_call *call, int i, pf_dtype t)
{
  return call->steps[i].kind == PF_CAST && call->steps[i].a == PF_REF_STEP + call->first + i - 1 &&
         pf_format_equal(&call->steps[i].out, pf_format_of(t));
}

static bool adds_bias(const pf_call *call, int i)
{
  const pf_step *s = &call->steps[i];
  return s->kind == PF_ADD && s->a == PF_REF_STEP + call->first + i - 1 && s->b == PF_REF_BIAS;
}

/* --- M05: the sum goes into the addition unrounded ----------------------------------------- */

static bool is_sum_and_bias(const pf_call *call)
{
  const int last = call->count - 1;
  return last >= 1 && last <= 2 && begins_with_f32_sum(call) &&
         !pf_format_contains(&call->steps[0].out, pf_format_of(PF_F32)) &&
         (last == 1 || casts_to(call, 1, PF_F32)) && adds_bias(call, last);
}

static void add_unrounded(const pf_gemm *g, const void *unused)
{
  (void)unused;
  pf_gemm product = *g;
  product.has_bias = false;
  for (int64_t row = 0; row < g->m; row++) {
    for (int64_t column = 0; column < g->n; column++) {
      const float sum = pf_gemm_correct(&product, row, column);
      const double bias = pf_load(g->bias.dtype, pf_gemm_at(&g->bias, row, column));
      pf_store(g->out.dtype, pf_gemm_at(&g->out, row, column), pf_round_sum(g->to, sum, bias));
    }
  }
}

static pf_status supports_bias(const pf_engine *e, const pf_call *call, const char **why)
{
  return is_sum_and_bias(call) ? PF_OK : pf_kernel_supports(e, call, why);
}

static pf_status run_bias(const pf_engine *e, const pf_call *call, pf_arena *scratch)
{
  if (call->count == 1) return pf_kernel_run(e, call, scratch);
  pf_step with_bias = call->steps[0];
  pf_call fused = *call;
  with_bias.bias = true;
  fused.steps = &with_bias;
  pf_gemm_batches(&fused, &call->steps[call->count - 1].out, add_unrounded, NULL);
  return PF_OK;
}

/* --- M06: f32 to bf16 to f32 is nothing ---------------------------------------------------- */

static bool is_round_trip(const pf_call *call)
{
  if (call->count < 2 || !begins_with_f32_sum(call)) return false;
  const pf_format *out = &call->steps[0].out;
  if (call->count == 2) {
    return pf_format_equal(out, pf_format_of(PF_BF16)) && casts_to(call, 1, PF_F32);
  }
  return call->count == 3 && pf_format_equal(out, pf_format_of(PF_F32)) &&
         casts_to(call, 1, PF_BF16) && casts_to(call, 2, PF_F32);
}

static void store_unrounded(const pf_gemm *g, const void *unused)
{
  (void)unused;
  pf_gemm_rows(g, pf_gemm_correct);
}

static pf_status supports_round_trip(const pf_engine *e, const pf_call *call, const char **why)
{
  return is_round_trip(call) ? PF_OK : pf_kernel_supports(e, call, why);
}

static pf_status run_round_trip(const pf_engine *e, const pf_call *call, pf_arena *scratch)
{
  if (call->count == 1) return pf_kernel_run(e, call, scratch);
  pf_gemm_batches(call, pf_format_of(PF_F32), store_unrounded, NULL);
  return PF_OK;
}

const pf_engine pf_fault_M05 = {
  .name = "fault:M05", .note = "does not round between the sum and the bias",
  .sum = {.order = PF_ANY_ORDER}, .data = &correct, .supports = supports_bias, .run = run_bias};
const pf_engine pf_fault_M06 = {
  .name = "fault:M06", .note = "takes f32 to bf16 to f32 for no change",
  .sum = {.order = PF_ANY_ORDER}, .data = &correct, .supports = supports_round_trip,
  .run = run_round_trip};
