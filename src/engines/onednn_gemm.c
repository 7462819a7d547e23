/* oneDNN's plain functions: one row-major product a call, no primitive. */
#include <stdio.h>

#include "blas.h"
#include "onednn_parts.h"

static const int32_t no_offset = 0;

static const char *plan(const pfe_call *call, pf_blas_gemm *g)
{
  const int32_t x = pf_blas_a(call)->dtype;
  if (!call->k)
    return "with k = 0 it leaves its output as it is";
  if (pf_blas_has_two_addends(call))
    return "it adds c or a bias, not both";
  if (call->steps->acc == PFE_S32 && (pf_blas_alpha(call) != 1 || pf_blas_addend(call)))
    return "it takes alpha and c in f32, which does not hold every s32";
  const char *why = pf_blas_gemm_of(call, g);
  if (!why && g->swapped && x == PFE_U8)
    return "u8 must be the left operand, and the output is stored by columns";
  return why;
}

static const char *name_of(int32_t x)
{
  return x == PFE_F32    ? "dnnl_sgemm"
         : x == PFE_BF16 ? "dnnl_gemm_bf16bf16f32"
         : x == PFE_S8   ? "dnnl_gemm_s8s8s32"
                         : "dnnl_gemm_u8s8s32";
}

pfe_status pf_dnnl_gemm_supports(pf_dnnl *d, const pfe_call *call, pfe_answer *answer)
{
  pf_blas_gemm g;
  const char *why = plan(call, &g);
  (void)d;
  snprintf(answer->text, sizeof answer->text, "%s", why ? why : "");
  if (!why)
    snprintf(answer->kernel, sizeof answer->kernel, "%s %c%c%s", name_of(pf_blas_a(call)->dtype),
             g.left_transposed ? 'T' : 'N', g.right_transposed ? 'T' : 'N',
             g.swapped ? " of the transposed" : "");
  return why ? PFE_UNSUPPORTED : PFE_OK;
}

static int product(const pf_dnnl *d, const pfe_call *call, const pf_blas_gemm *g, int64_t batch)
{
  const pfe_tensor *a = pf_blas_a(call), *b = pf_blas_b(call);
  const void *left = pfe_batch(call, g->swapped ? b : a, batch);
  const void *right = pfe_batch(call, g->swapped ? a : b, batch);
  void *out = pfe_batch(call, call->out, batch);
  const char ta = g->left_transposed ? 'T' : 'N', tb = g->right_transposed ? 'T' : 'N';
  const float alpha = (float)pf_blas_alpha(call), beta = (float)pf_blas_beta(call);
  const int64_t m = g->m, n = g->n, k = g->k, lda = g->left_ld, ldb = g->right_ld, ldc = g->out_ld;
  pf_blas_start(call, pf_blas_addend(call), batch);
  switch (a->dtype) {
  case PFE_F32:
    return d->f.sgemm(ta, tb, m, n, k, alpha, left, lda, right, ldb, beta, out, ldc);
  case PFE_BF16:
    return d->f.gemm_bf16bf16f32(ta, tb, m, n, k, alpha, left, lda, right, ldb, beta, out, ldc);
  case PFE_S8:
    return d->f.gemm_s8s8s32(ta, tb, 'F', m, n, k, alpha, left, lda, 0, right, ldb, 0, beta, out,
                             ldc, &no_offset);
  default:
    return d->f.gemm_u8s8s32(ta, tb, 'F', m, n, k, alpha, left, lda, 0, right, ldb, 0, beta, out,
                             ldc, &no_offset);
  }
}

pfe_status pf_dnnl_gemm_run(pf_dnnl *d, const pfe_call *call, pfe_answer *answer)
{
  pf_blas_gemm g;
  const char *why = plan(call, &g);
  int status = PF_DNNL_SUCCESS;
  for (int64_t i = 0; !why && !status && i < call->batches; i++)
    status = product(d, call, &g, i);
  if (why)
    snprintf(answer->text, sizeof answer->text, "%s", why);
  else if (status)
    snprintf(answer->text, sizeof answer->text, "%s failed with status %d",
             name_of(pf_blas_a(call)->dtype), status);
  return why || status ? PFE_ERROR : PFE_OK;
}
