/* oneDNN 3: the matmul primitive with the views that the adapter gives it, sizes told early or, in
   mode runtime, late; in mode gemm the plain functions. */
#include <string.h>

#include "emit_c.h"
#include "engines/blas.h"
#include "engines/onednn_parts.h"

/* --- plain functions ----------------------------------------------------------------------- */

static void print_declaration(FILE *to)
{
  fputs("/* exported, but in no header */\n"
        "dnnl_status_t dnnl_gemm_bf16bf16f32(char ta, char tb, int64_t m, int64_t n, int64_t k, "
        "float alpha,\n    const uint16_t *a, int64_t lda, const uint16_t *b, int64_t ldb, "
        "float beta, float *c, int64_t ldc);\n\n", to);
}

static const char *write_gemm(const pf_emit_call *c)
{
  const int32_t x = c->call->tensor[PFE_X]->dtype, out = c->call->out->dtype;
  const bool bytes = x == PFE_S8 || x == PFE_U8, bf16 = x == PFE_BF16;
  pf_blas_gemm g;
  const char *why = pf_blas_gemm_of(c->call, &g);
  if (!why && !(x == PFE_F32 || bf16 || bytes))
    why = "there is no such function";
  if (!why && out != (bytes ? PFE_S32 : PFE_F32))
    why = "its functions answer f32, and s32 for bytes";
  if (why)
    return why;
  if (bf16)
    print_declaration(c->to);
  const char *left = g.swapped ? "y" : "x", *right = g.swapped ? "x" : "y";
  const char *in = bf16 ? "uint16_t" : x == PFE_F32 ? "float" : "int8_t";
  const char *left_in = x == PFE_U8 ? "uint8_t" : in;
  const char *zero = bytes ? " 0," : "";
  fputs("static int run(void)\n{\n  int status = 0;\n", c->to);
  pf_emit_start(c);
  if (bytes)
    fputs("  const int32_t none = 0;\n", c->to);
  fprintf(c->to, "  for (long b = 0; b < BATCHES && !status; b++)\n"
          "    status = dnnl_%s('%c', '%c',%s %lld, %lld, K, ",
          bf16 ? "gemm_bf16bf16f32" : x == PFE_F32 ? "sgemm"
          : x == PFE_S8 ? "gemm_s8s8s32" : "gemm_u8s8s32", g.left_transposed ? 'T' : 'N',
          g.right_transposed ? 'T' : 'N', bytes ? " 'F'," : "", (long long)g.m, (long long)g.n);
  pf_emit_constant(c->to, pf_blas_alpha(c->call));
  fprintf(c->to, ", (const %s *)%s + %s_batch[b], %lld,%s (const %s *)%s + %s_batch[b], %lld,%s ",
          left_in, left, left, (long long)g.left_ld, zero, in, right, right, (long long)g.right_ld,
          zero);
  pf_emit_constant(c->to, pf_blas_beta(c->call));
  fprintf(c->to, ", (%s *)out + out_batch[b], %lld%s);\n  return status;\n}\n\n",
          bytes ? "int32_t" : "float", (long long)g.out_ld, bytes ? ", &none" : "");
  return NULL;
}

/* --- the primitive ------------------------------------------------------------------------- */

static const char *const names[PF_DNNL_TENSORS] = {
  [PF_DNNL_SOURCE] = "x", [PF_DNNL_WEIGHTS] = "y", [PF_DNNL_DESTINATION] = "out",
  [PF_DNNL_BIASES] = "z"};

static const char *type_name(int64_t type)
{
  static const char *const name[] = {
    [PF_DNNL_F16] = "f16", [PF_DNNL_BF16] = "bf16", [PF_DNNL_F32] = "f32", [PF_DNNL_S32] = "s32",
    [PF_DNNL_S8] = "s8", [PF_DNNL_U8] = "u8"};
  return name[type];
}

static void print_dims(FILE *to, int64_t ndims, const pf_dnnl_dims dims)
{
  fputc('{', to);
  for (int64_t i = 0; i < ndims; i++)
    if (dims[i] == PF_DNNL_RUNTIME)
      fprintf(to, "%sDNNL_RUNTIME_DIM_VAL", i ? ", " : "");
    else
      fprintf(to, "%s%lld", i ? ", " : "", (long long)dims[i]);
  fputc('}', to);
}

/* A descriptor called NAME_SUFFIX. */
static void print_descriptor(const pf_emit_call *c, const pf_dnnl_key *key, int t,
                             const char *suffix)
{
  const pf_dnnl_view *v = &key->view[t];
  fprintf(c->to, "  dnnl_memory_desc_t %s_%s;\n"
          "  TRY(dnnl_memory_desc_create_with_strides(&%s_%s, %lld, (dnnl_dims_t)", names[t],
          suffix, names[t], suffix, (long long)key->ndims);
  print_dims(c->to, key->ndims, v->dims);
  fprintf(c->to, ", dnnl_%s,\n      (dnnl_dims_t)", type_name(v->type));
  print_dims(c->to, key->ndims, v->strides);
  fputs("));\n", c->to);
}

static void print_memory(const pf_emit_call *c, int t, const char *suffix)
{
  fprintf(c->to, "  dnnl_memory_t %s_memory;\n"
          "  TRY(dnnl_memory_create(&%s_memory, %s_%s, engine, %s));\n", names[t], names[t],
          names[t], suffix, names[t]);
}

/* alpha is a scale of x, what beta multiplies stands in the output before. */
static void print_attributes(const pf_emit_call *c, const pf_dnnl_key *key)
{
  fputs("  dnnl_primitive_attr_t attr;\n  TRY(dnnl_primitive_attr_create(&attr));\n", c->to);
  if (key->scaled)
    fputs("  TRY(dnnl_primitive_attr_set_scales_mask(attr, DNNL_ARG_SRC, 0));\n", c->to);
  if (!key->beta_bits)
    return;
  fputs("  dnnl_post_ops_t sum;\n  TRY(dnnl_post_ops_create(&sum));\n"
        "  TRY(dnnl_post_ops_append_sum(sum, ", c->to);
  pf_emit_constant(c->to, c->call->beta);
  fputs(", 0, dnnl_data_type_undef));\n  TRY(dnnl_primitive_attr_set_post_ops(attr, sum));\n",
        c->to);
}

static void print_execution(const pf_emit_call *c, const pf_dnnl_key *key)
{
  const bool bias = key->view[PF_DNNL_BIASES].type != PF_DNNL_UNDEF;
  fprintf(c->to,
          "  dnnl_primitive_desc_t made;\n"
          "  TRY(dnnl_matmul_primitive_desc_create(&made, engine, x_made, y_made, %s, out_made,\n"
          "                                        attr));\n"
          "  const char *kernel;\n"
          "  TRY(dnnl_primitive_desc_query(made, dnnl_query_impl_info_str, 0, &kernel));\n"
          "  printf(\"kernel %%s\\n\", kernel);\n"
          "  dnnl_primitive_t product;\n  TRY(dnnl_primitive_create(&product, made));\n",
          bias ? "z_made" : "NULL");
  fputs("  const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, x_memory},\n"
        "    {DNNL_ARG_WEIGHTS, y_memory}, {DNNL_ARG_DST, out_memory}", c->to);
  if (bias)
    fputs(", {DNNL_ARG_BIAS, z_memory}", c->to);
  if (key->scaled)
    fputs(", {DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, scale_memory}", c->to);
  fputs("};\n  TRY(dnnl_primitive_execute(product, stream, sizeof args / sizeof *args, args));\n"
        "  return (int)dnnl_stream_wait(stream);\n}\n\n", c->to);
}

static void print_scale(const pf_emit_call *c)
{
  fputs("  static float alpha = ", c->to);
  pf_emit_constant(c->to, pf_blas_alpha(c->call));
  fputs(";\n  dnnl_memory_desc_t one;\n  dnnl_memory_t scale_memory;\n"
        "  TRY(dnnl_memory_desc_create_with_strides(&one, 1, (dnnl_dims_t){1}, dnnl_f32, "
        "(dnnl_dims_t){1}));\n"
        "  TRY(dnnl_memory_create(&scale_memory, one, engine, &alpha));\n", c->to);
}

static const char *write_primitive(const pf_emit_call *c)
{
  const bool late = !strncmp(c->mode, "runtime", strlen("runtime"));
  pf_dnnl_key key, told;
  const char *why = pf_dnnl_key_of(c->call, late, &key);
  if (!why)
    why = pf_dnnl_key_of(c->call, false, &told);
  if (!why && (c->call->tensor[PFE_X]->dtype == PFE_F64 || c->call->out->dtype == PFE_F64))
    why = "it has no f64";
  if (why)
    return why;
  fputs(PF_EMIT_TRY 
        "static int run(void)\n{\n"
        "  dnnl_engine_t engine;\n  dnnl_stream_t stream;\n"
        "  TRY(dnnl_engine_create(&engine, dnnl_cpu, 0));\n"
        "  TRY(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));\n", c->to);
  if (key.beta_bits)
    pf_emit_start(c);
  for (int t = 0; t < PF_DNNL_TENSORS; t++)
    if (key.view[t].type != PF_DNNL_UNDEF) {
      print_descriptor(c, &key, t, "made");
      if (late)
        print_descriptor(c, &told, t, "told");
      print_memory(c, t, late ? "told" : "made");
    }
  if (key.scaled)
    print_scale(c);
  print_attributes(c, &key);
  print_execution(c, &key);
  return NULL;
}

const char *pf_emit_onednn(const pf_emit_call *c)
{
  return strcmp(c->mode, "gemm") ? write_primitive(c) : write_gemm(c);
}
