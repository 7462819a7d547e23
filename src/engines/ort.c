/* ONNX Runtime, by its C interface: MatMul, MatMulInteger and Gemm of its provider for the
   processor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines.h"
#include "library.h"
#include "measure.h"
#include "ort_parts.h"
#include "quiet.h"

/* --- the library --------------------------------------------------------------------------- */

static const char *const usual_files[] = {"libonnxruntime.so.1.21", "libonnxruntime.so.1",
                                          "libonnxruntime.so", NULL};
static const char package[] = "libonnxruntime1.21 of Debian 13";

typedef const pf_ort_base *base_of(void);

static void find_functions(void *const *table, pf_ort_functions *f)
{
  const struct { void *to; int place; } all[] = {
    {&f->get_error_message, PF_ORT_GET_ERROR_MESSAGE}, {&f->create_env, PF_ORT_CREATE_ENV},
    {&f->create_session_from_array, PF_ORT_CREATE_SESSION_FROM_ARRAY}, {&f->run, PF_ORT_RUN},
    {&f->create_session_options, PF_ORT_CREATE_SESSION_OPTIONS},
    {&f->disable_mem_pattern, PF_ORT_DISABLE_MEM_PATTERN},
    {&f->disable_cpu_mem_arena, PF_ORT_DISABLE_CPU_MEM_ARENA},
    {&f->set_intra_op_num_threads, PF_ORT_SET_INTRA_OP_NUM_THREADS},
    {&f->set_inter_op_num_threads, PF_ORT_SET_INTER_OP_NUM_THREADS},
    {&f->create_tensor_with_data, PF_ORT_CREATE_TENSOR_WITH_DATA},
    {&f->create_cpu_memory_info, PF_ORT_CREATE_CPU_MEMORY_INFO},
    {&f->release_env, PF_ORT_RELEASE_ENV}, {&f->release_status, PF_ORT_RELEASE_STATUS},
    {&f->release_memory_info, PF_ORT_RELEASE_MEMORY_INFO},
    {&f->release_session, PF_ORT_RELEASE_SESSION}, {&f->release_value, PF_ORT_RELEASE_VALUE},
    {&f->release_session_options, PF_ORT_RELEASE_SESSION_OPTIONS}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    memcpy(all[i].to, &table[all[i].place], sizeof table[0]);
}

static pfe_status load(pf_ort *o, const char *const *files, const char **version, char text[192])
{
  base_of *base;
  const pf_symbol symbols[] = {{(void **)&base, "OrtGetApiBase", 0}, {0}};
  const pfe_status status = pf_library_open(files, package, symbols, &o->library, text);
  if (status)
    return status;
  void *const *table = base()->api(PF_ORT_API_VERSION);
  if (!table) {
    snprintf(text, 192, "the library has no version %d of its interface", PF_ORT_API_VERSION);
    return PFE_ERROR;
  }
  find_functions(table, &o->f);
  *version = base()->version();
  return PFE_OK;
}

/* Plans of memory are made for sizes, which change with every call. */
static void *prepare(pf_ort *o, int threads)
{
  const pf_ort_functions *f = &o->f;
  void *status = f->create_env(PF_ORT_LOGGING_FATAL, "precfuzz", &o->env);
  if (!status)
    status = f->create_session_options(&o->options);
  if (!status)
    status = f->set_intra_op_num_threads(o->options, threads);
  if (!status)
    status = f->set_inter_op_num_threads(o->options, 1);
  if (!status)
    status = f->disable_mem_pattern(o->options);
  if (!status)
    status = f->disable_cpu_mem_arena(o->options);
  if (!status)
    status = f->create_cpu_memory_info(PF_ORT_DEVICE_ALLOCATOR, PF_ORT_MEM_TYPE_DEFAULT,
                                       &o->memory_info);
  return status;
}

/* --- opening ------------------------------------------------------------------------------- */

#define SUMS(X, ACC, OUT) {X, X, ACC, OUT, OUT, OUT}
#define BYTES(X, Y) {X, Y, PFE_S32, PFE_S32, PFE_NONE, PFE_NONE}

/* Which of these the provider has, it is asked. */
static const pfe_types candidates[] = {
  SUMS(PFE_F32, PFE_F32, PFE_F32), SUMS(PFE_F64, PFE_F64, PFE_F64),
  SUMS(PFE_F16, PFE_F32, PFE_F16), SUMS(PFE_F16, PFE_F32, PFE_F32),
  SUMS(PFE_BF16, PFE_F32, PFE_BF16), SUMS(PFE_BF16, PFE_F32, PFE_F32),
  SUMS(PFE_F8_E4M3FN, PFE_F32, PFE_F32), SUMS(PFE_F8_E5M2, PFE_F32, PFE_F32),
  SUMS(PFE_F8_E4M3FNUZ, PFE_F32, PFE_F32), SUMS(PFE_F8_E5M2FNUZ, PFE_F32, PFE_F32),
  BYTES(PFE_S8, PFE_S8), BYTES(PFE_U8, PFE_S8), BYTES(PFE_S8, PFE_U8), BYTES(PFE_U8, PFE_U8),
};

_Static_assert(sizeof candidates / sizeof *candidates <= PF_ORT_TYPES, "no room");

static bool has(pf_ort *o, pf_ort_product product, const pfe_types *t)
{
  const char *why;
  const pf_ort_model m = pf_ort_model_for(product, t->x, t->y, t->out);
  return pf_ort_session(o, &m, &why);
}

static void find_types(pf_ort *o)
{
  for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
    pfe_types t = candidates[i];
    const bool integers = t.acc == PFE_S32;
    if (!has(o, integers ? PF_ORT_MATMUL_INTEGER : PF_ORT_MATMUL, &t))
      continue;
    if (!integers && !has(o, PF_ORT_GEMM, &t))
      t.c = t.bias = PFE_NONE;
    o->types[o->types_count++] = t;
  }
}

static pfe_status measure(pf_ort *o, char text[192])
{
  pfe_answer answer = {.text = ""};
  for (int32_t i = 0; i < o->types_count; i++)
    if (o->types[i].x == PFE_F16 && o->types[i].out == PFE_F16 &&
        pf_measure_f16(&pf_onnxruntime, o, &o->narrow_f16, &answer)) {
      snprintf(text, 192, "a first product failed: %.160s", answer.text);
      return PFE_ERROR;
    }
  return PFE_OK;
}

static pfe_status start(pf_ort *o, const pfe_request *request, pfe_info *info, char text[192])
{
  static const char *const modes[] = {"matmul", "gemm", "empty", NULL};
  char path[512];
  const char *const named[] = {path, NULL}, *version;
  int mode = PF_ORT_USUAL;
  if (pf_library_argument(request->argument, modes, &mode, path, text))
    return PFE_ERROR;
  o->mode = (pf_ort_mode)mode;
  const pfe_status status = load(o, path[0] ? named : usual_files, &version, text);
  if (status)
    return status;
  snprintf(info->version, sizeof info->version, "%s", version);
  if (pf_ort_failed(o, prepare(o, request->threads), text, 192))
    return PFE_ERROR;
  find_types(o);
  return measure(o, text);
}

/* The library stays loaded: it registers what it does not take back. */
static void close_ort(void *state)
{
  pf_ort *o = state;
  const pf_ort_functions *f = &o->f;
  pf_ort_drop_sessions(o);
  if (o->memory_info)
    f->release_memory_info(o->memory_info);
  if (o->options)
    f->release_session_options(o->options);
  if (o->env)
    f->release_env(o->env);
  for (int r = 0; r < PF_ORT_ROLES; r++)
    pf_dense_free(&o->dense[r]);
  free(o);
}

static void describe(const pf_ort *o, const pfe_request *request, long lines, pfe_info *info)
{
  int used = snprintf(info->details, sizeof info->details, "%s, CPUExecutionProvider%s",
                      pf_measure_isa(), o->narrow_f16 ? ", sums of f16 in f16" : "");
  if (lines)
    snprintf(info->details + used, sizeof info->details - (size_t)used,
             ", %ld lines on standard error when it was loaded", lines);
  info->settings.threads = request->threads;
  info->types = o->types;
  info->types_count = o->types_count;
}

static pfe_status open_ort(const pfe_engine *self, const pfe_request *request, pfe_info *info,
                           void **state, char text[192])
{
  pf_ort *o = calloc(1, sizeof *o);
  pf_quiet quiet;
  char last[128];
  (void)self;
  if (!o) {
    snprintf(text, 192, "out of memory");
    return PFE_ERROR;
  }
  pf_quiet_begin(&quiet);
  const pfe_status status = start(o, request, info, text);
  const long lines = pf_quiet_end(&quiet, last);
  if (status) {
    const size_t used = strlen(text);
    if (lines)
      snprintf(text + used, 192 - used, " (standard error ends with: %s)", last);
    close_ort(o);
    return status;
  }
  describe(o, request, lines, info);
  *state = o;
  return PFE_OK;
}

const pfe_engine pf_onnxruntime = {
  .version = PFE_VERSION, .size = sizeof(pfe_engine), .name = "onnxruntime",
  .note = "ONNX Runtime: MatMul, MatMulInteger, Gemm; or onnxruntime:gemm", .open = open_ort,
  .supports = pf_ort_supports, .run = pf_ort_run, .close = close_ort};
