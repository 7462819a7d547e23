/* CBLAS: gemm, or gemm_batch where the engine's name ends so.  Of vectors the adapter calls dot and
   gemv, the program gemm. */
#include <string.h>

#include "emit_c.h"
#include "engines/blas.h"

static const char *prefix_of(const pfe_call *c)
{
  const int32_t x = c->tensor[PFE_X]->dtype, y = c->tensor[PFE_Y]->dtype;
  return x != y                                      ? NULL
         : x == PFE_F32 && c->out->dtype == PFE_F32  ? "s"
         : x == PFE_F64 && c->out->dtype == PFE_F64  ? "d"
         : x == PFE_BF16 && c->out->dtype == PFE_F32 ? "sb"
                                                     : NULL;
}

static void print_factor(FILE *to, const char *type, const char *name)
{
  fprintf(to, "(const %s *)%s + %s_batch[b]", type, name, name);
}

static const char *op(bool transposed)
{
  return transposed ? "CblasTrans" : "CblasNoTrans";
}

static void print_scalar(const pf_emit_call *c, const char *real, double value)
{
  fprintf(c->to, "(%s)", real);
  pf_emit_constant(c->to, value);
}

static void print_gemm(const pf_emit_call *c, const pf_blas_gemm *g, const char *prefix)
{
  const char *real = *prefix == 'd' ? "double" : "float";
  const char *in = prefix[1] ? "bfloat16" : real;
  fprintf(c->to, "    cblas_%sgemm(CblasRowMajor, %s, %s, %lld, %lld, K, ", prefix,
          op(g->left_transposed), op(g->right_transposed), (long long)g->m, (long long)g->n);
  print_scalar(c, real, pf_blas_alpha(c->call));
  fputs(", ", c->to);
  print_factor(c->to, in, g->swapped ? "y" : "x");
  fprintf(c->to, ", %lld, ", (long long)g->left_ld);
  print_factor(c->to, in, g->swapped ? "x" : "y");
  fprintf(c->to, ", %lld, ", (long long)g->right_ld);
  print_scalar(c, real, pf_blas_beta(c->call));
  fprintf(c->to, ", (%s *)out + out_batch[b], %lld);\n", real, (long long)g->out_ld);
}

/* One group of one product: that is what the adapter calls. */
static void print_batch(const pf_emit_call *c, const pf_blas_gemm *g, const char *prefix)
{
  const char *real = *prefix == 'd' ? "double" : "float";
  fprintf(c->to,
          "    const CBLAS_TRANSPOSE ta = %s, tb = %s;\n"
          "    const blasint m = %lld, n = %lld, k = K, lda = %lld, ldb = %lld, ldc = %lld,\n"
          "                  one = 1;\n"
          "    const %s alpha = ", op(g->left_transposed), op(g->right_transposed),
          (long long)g->m, (long long)g->n, (long long)g->left_ld, (long long)g->right_ld,
          (long long)g->out_ld, real);
  pf_emit_constant(c->to, pf_blas_alpha(c->call));
  fputs(", beta = ", c->to);
  pf_emit_constant(c->to, pf_blas_beta(c->call));
  fprintf(c->to, ";\n    const %s *left = ", real);
  print_factor(c->to, real, g->swapped ? "y" : "x");
  fputs(", *right = ", c->to);
  print_factor(c->to, real, g->swapped ? "x" : "y");
  fprintf(c->to,
          ";\n    %s *to = (%s *)out + out_batch[b];\n"
          "    cblas_%sgemm_batch(CblasRowMajor, &ta, &tb, &m, &n, &k, &alpha, &left, &lda, "
          "&right, &ldb,\n                       &beta, &to, &ldc, 1, &one);\n",
          real, real, prefix);
}

const char *pf_emit_cblas(const pf_emit_call *c)
{
  const char *prefix = prefix_of(c->call);
  const size_t length = strlen(c->mode);
  const bool batch = length >= 10 && !strcmp(c->mode + length - 10, "gemm_batch");
  pf_blas_gemm g;
  const char *why = prefix ? pf_blas_gemm_of(c->call, &g)
                           : "CBLAS multiplies f32, f64 and bf16 to f32";
  if (!why && (pf_blas_has_two_addends(c->call) || (batch && prefix[1])))
    why = "there is no such product";
  if (why)
    return why;
  fputs("static int run(void)\n{\n", c->to);
  pf_emit_start(c);
  fputs("  for (long b = 0; b < BATCHES; b++) {\n", c->to);
  if (batch)
    print_batch(c, &g, prefix);
  else
    print_gemm(c, &g, prefix);
  fputs("  }\n  return 0;\n}\n\n", c->to);
  return NULL;
}
