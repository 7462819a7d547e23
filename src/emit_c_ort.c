/* ONNX Runtime's C interface: a session of a model with one product, written out byte by byte. */
#include <string.h>

#include "emit_c.h"
#include "engines/blas.h"
#include "engines/ort_parts.h"

static void print_model(const pf_emit_call *c, const pf_ort_model *m)
{
  unsigned char bytes[PF_ORT_MODEL_BYTES];
  const size_t size = pf_ort_model_write(m, bytes);
  fprintf(c->to, "/* out = %s%s(x, y%s), as ONNX writes it. */\n"
          "static const unsigned char model[] = {", m->cast ? "Cast, " : "",
          pf_ort_product_names[m->product], m->has_c ? ", c" : "");
  for (size_t i = 0; i < size; i++)
    fprintf(c->to, "%s%s%u", i ? "," : "", i % 24 ? " " : "\n  ", bytes[i]);
  fputs("};\n\n", c->to);
}

/* Batches are a dimension of MatMul's, and calls of Gemm's. */
static void print_value(const pf_emit_call *c, bool by_batch, const char *name, const char *rows,
                        const char *columns, int32_t type, const char *to)
{
  const bool batched = !by_batch && c->call->batch_rank;
  fprintf(c->to,
          "    TRY(api->CreateTensorWithDataAsOrtValue(info, dense_%s + b * %s * %s,\n"
          "        sizeof *dense_%s * %s%s * %s, (const int64_t[]){%s%s, %s}, %d,\n"
          "        (ONNXTensorElementDataType)%d, &%s));\n", name, rows, columns, name,
          batched ? "BATCHES * " : "", rows, columns, batched ? "BATCHES, " : "", rows, columns,
          batched ? 3 : 2, type, to);
}

const char *pf_emit_onnxruntime(const pf_emit_call *c)
{
  pf_ort_model m;
  const char *why = pf_ort_model_of(c->call, !strcmp(c->mode, "gemm"), &m);
  if (!why && pf_blas_has_two_addends(c->call))
    why = "it adds c or a bias, not both";
  if (why)
    return why;
  const bool by_batch = m.product == PF_ORT_GEMM;
  print_model(c, &m);
  fputs("#define TRY(call) do { OrtStatus *const failed = (call); if (failed) { \\\n"
        "  printf(\"%s\\n\", api->GetErrorMessage(failed)); return 1; } } while (0)\n\n"
        "static int run(void)\n{\n"
        "  const OrtApi *const api = OrtGetApiBase()->GetApi(ORT_API_VERSION);\n"
        "  OrtEnv *env;\n  OrtSessionOptions *options;\n  OrtSession *session;\n"
        "  OrtMemoryInfo *info;\n", c->to);
  pf_emit_dense(c);
  fputs("  TRY(api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, \"case\", &env));\n"
        "  TRY(api->CreateSessionOptions(&options));\n"
        "  TRY(api->SetIntraOpNumThreads(options, 1));\n"
        "  TRY(api->CreateSessionFromArray(env, model, sizeof model, options, &session));\n"
        "  TRY(api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &info));\n", c->to);
  fprintf(c->to, "  for (long b = 0; b < %s; b++) {\n    OrtValue *in[3], *result;\n",
          by_batch ? "BATCHES" : "1");
  print_value(c, by_batch, "x", "M", "K", m.x, "in[0]");
  print_value(c, by_batch, "y", "K", "N", m.y, "in[1]");
  if (m.has_c)
    print_value(c, by_batch, "z", "M", "N", m.out, "in[2]");
  print_value(c, by_batch, "out", "M", "N", m.out, "result");
  fprintf(c->to,
          "    TRY(api->Run(session, NULL, (const char *[]){\"x\", \"y\", \"c\"}, "
          "(const OrtValue *const *)in, %d,\n"
          "        (const char *[]){\"out\"}, 1, &result));\n  }\n", m.has_c ? 3 : 2);
  pf_emit_dense_back(c);
  fputs("  return 0;\n}\n\n", c->to);
  return NULL;
}
