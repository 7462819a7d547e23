/* XNNPACK of November 2024: batch_matrix_multiply on dense operands. */
#include <string.h>

#include "emit_c.h"
#include "engines/blas.h"

const char *pf_emit_xnnpack(const pf_emit_call *c)
{
  const int32_t t = c->call->tensor[PFE_X]->dtype;
  const bool known = t == PFE_F32 || t == PFE_F16;
  if (!known || c->call->tensor[PFE_Y]->dtype != t || c->call->out->dtype != t)
    return "it multiplies f32 by f32 and f16 by f16";
  if (pf_blas_alpha(c->call) != 1 || pf_blas_addend(c->call))
    return "its product of matrices has no alpha, c or bias";
  const char *name = t == PFE_F32 ? "f32" : "f16";
  fputs(PF_EMIT_TRY 
        "static int run(void)\n{\n  xnn_operator_t op;\n  size_t bytes, alignment;\n"
        "  const size_t batches = BATCHES;\n", c->to);
  pf_emit_dense(c);
  fprintf(c->to,
          "  TRY(xnn_initialize(NULL));\n"
          "  TRY(xnn_create_batch_matrix_multiply_nc_%s(0, &op));\n"
          "  TRY(xnn_reshape_batch_matrix_multiply_nc_%s(op, 1, &batches, &batches, M, K, N,\n"
          "                                              &bytes, &alignment, NULL));\n"
          "  void *const workspace = aligned_alloc(4096, (bytes / 4096 + 1) * 4096);\n"
          "  TRY(xnn_setup_batch_matrix_multiply_nc_%s(op, workspace, %sdense_x, %sdense_y, "
          "%sdense_out));\n"
          "  TRY(xnn_run_operator(op, NULL));\n", name, name, name,
          t == PFE_F32 ? "(const float *)" : "", t == PFE_F32 ? "(const float *)" : "",
          t == PFE_F32 ? "(float *)" : "");
  pf_emit_dense_back(c);
  fputs("  return 0;\n}\n\n", c->to);
  return NULL;
}
