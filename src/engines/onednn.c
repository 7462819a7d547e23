/* oneDNN 3: its matmul primitive, the same with sizes told at run time, and its plain gemm
   functions. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines.h"
#include "library.h"
#include "onednn_parts.h"

/* --- dtypes -------------------------------------------------------------------------------- */

int pf_dnnl_type(int32_t dtype)
{
  switch (dtype) {
  case PFE_F32: return PF_DNNL_F32;
  case PFE_F16: return PF_DNNL_F16;
  case PFE_BF16: return PF_DNNL_BF16;
  case PFE_F8_E4M3FN: return PF_DNNL_F8_E4M3;
  case PFE_F8_E5M2: return PF_DNNL_F8_E5M2;
  case PFE_S32: return PF_DNNL_S32;
  case PFE_S8: return PF_DNNL_S8;
  case PFE_U8: return PF_DNNL_U8;
  default: return PF_DNNL_UNDEF;
  }
}

#define SUMS(X, Y) {X, Y, PFE_F32, PFE_F32, PFE_F32, PFE_F32}
#define FLOATS(X, Y, OUT)                                                                       \
  {X, Y, PFE_F32, OUT, OUT, OUT}, {X, Y, PFE_F32, OUT, PFE_NONE, PFE_F32}
#define F8(X, Y)                                                                                \
  SUMS(X, Y), FLOATS(X, Y, PFE_BF16), FLOATS(X, Y, PFE_F16),                                    \
  FLOATS(X, Y, PFE_F8_E4M3FN), FLOATS(X, Y, PFE_F8_E5M2)
#define INTEGERS(X, Y, OUT) {X, Y, PFE_S32, OUT, PFE_NONE, PFE_NONE}
#define BYTES(X, Y)                                                                             \
  INTEGERS(X, Y, PFE_S32), INTEGERS(X, Y, PFE_F32), INTEGERS(X, Y, PFE_BF16),                   \
  INTEGERS(X, Y, PFE_F16), INTEGERS(X, Y, PFE_S8), INTEGERS(X, Y, PFE_U8)

/* Which of these a processor has, the library is asked. */
static const pfe_types primitive_types[] = {
  SUMS(PFE_F32, PFE_F32),
  SUMS(PFE_BF16, PFE_BF16), FLOATS(PFE_BF16, PFE_BF16, PFE_BF16),
  {PFE_BF16, PFE_BF16, PFE_F32, PFE_F32, PFE_F32, PFE_BF16},
  SUMS(PFE_F16, PFE_F16), FLOATS(PFE_F16, PFE_F16, PFE_F16),
  {PFE_F16, PFE_F16, PFE_F32, PFE_F32, PFE_F32, PFE_F16},
  F8(PFE_F8_E4M3FN, PFE_F8_E4M3FN), F8(PFE_F8_E5M2, PFE_F8_E5M2),
  F8(PFE_F8_E4M3FN, PFE_F8_E5M2), F8(PFE_F8_E5M2, PFE_F8_E4M3FN),
  BYTES(PFE_S8, PFE_S8), BYTES(PFE_U8, PFE_S8), BYTES(PFE_S8, PFE_U8), BYTES(PFE_U8, PFE_U8),
};

_Static_assert(sizeof primitive_types / sizeof *primitive_types <= PF_DNNL_TYPES, "no room");

static const pfe_types gemm_types[] = {
  SUMS(PFE_F32, PFE_F32), SUMS(PFE_BF16, PFE_BF16),
  INTEGERS(PFE_S8, PFE_S8, PFE_S32), INTEGERS(PFE_U8, PFE_S8, PFE_S32),
};

/* --- opening ------------------------------------------------------------------------------- */

/* Version 3's name, which Debian's has a digit more than; then 2's, to say that it is too old. */
static const char *const usual_files[] = {"libdnnl.so.3", "libdnnl.so.3.6", "libdnnl.so",
                                          "libdnnl.so.2", NULL};
static const char package[] = "libdnnl3.6 of Debian 13";

/* Version 2 has other functions of these names. */
static pfe_status check_version(void *library, pf_dnnl_functions *f, char text[192])
{
  *(void **)&f->version = dlsym(library, "dnnl_version");
  const pf_dnnl_version *v = f->version ? f->version() : NULL;
  if (v && v->major == 3)
    return PFE_OK;
  if (v)
    snprintf(text, 192, "oneDNN %d.%d.%d is not version 3 (package %s)",
             v->major, v->minor, v->patch, package);
  else
    snprintf(text, 192, "the library has no dnnl_version");
  return v ? PFE_ABSENT : PFE_ERROR;
}

static pfe_status find_functions(pf_dnnl *d, const char *const *files, char text[192])
{
  pf_dnnl_functions *f = &d->f;
#define AT(FIELD) (void **)&f->FIELD
  const pf_symbol symbols[] = {
    {AT(effective_isa), "dnnl_get_effective_cpu_isa", 0}, {AT(isa_name), "dnnl_cpu_isa2str", 1},
    {AT(engine_create), "dnnl_engine_create", 0}, {AT(engine_destroy), "dnnl_engine_destroy", 0},
    {AT(stream_create), "dnnl_stream_create", 0}, {AT(stream_wait), "dnnl_stream_wait", 0},
    {AT(stream_destroy), "dnnl_stream_destroy", 0},
    {AT(desc_create), "dnnl_memory_desc_create_with_strides", 0},
    {AT(desc_destroy), "dnnl_memory_desc_destroy", 0},
    {AT(memory_create), "dnnl_memory_create", 0},
    {AT(memory_set_data), "dnnl_memory_set_data_handle", 0},
    {AT(memory_destroy), "dnnl_memory_destroy", 0},
    {AT(attr_create), "dnnl_primitive_attr_create", 0},
    {AT(attr_destroy), "dnnl_primitive_attr_destroy", 0},
    {AT(attr_set_scales_mask), "dnnl_primitive_attr_set_scales_mask", 0},
    {AT(attr_set_post_ops), "dnnl_primitive_attr_set_post_ops", 0},
    {AT(post_ops_create), "dnnl_post_ops_create", 0},
    {AT(post_ops_destroy), "dnnl_post_ops_destroy", 0},
    {AT(post_ops_append_sum), "dnnl_post_ops_append_sum", 0},
    {AT(matmul_create), "dnnl_matmul_primitive_desc_create", 0},
    {AT(primitive_desc_query), "dnnl_primitive_desc_query", 0},
    {AT(primitive_desc_destroy), "dnnl_primitive_desc_destroy", 0},
    {AT(primitive_create), "dnnl_primitive_create", 0},
    {AT(primitive_destroy), "dnnl_primitive_destroy", 0},
    {AT(primitive_execute), "dnnl_primitive_execute", 0},
    {AT(sgemm), "dnnl_sgemm", 0}, {AT(gemm_s8s8s32), "dnnl_gemm_s8s8s32", 0},
    {AT(gemm_u8s8s32), "dnnl_gemm_u8s8s32", 0},
    {AT(gemm_bf16bf16f32), "dnnl_gemm_bf16bf16f32", 1}, {0}};
#undef AT
  return pf_library_open(files, package, symbols, &d->library, text);
}

/* AVX512_BF16's dot products read subnormals as zero and store none, nor does its rounding to bf16;
   AMX is like it.  Of other processors' it is not known. */
static void find_flushing(pf_dnnl *d, int isa)
{
#if defined(__x86_64__) || defined(__i386__)
  d->flushes_bf16 = (isa & PF_DNNL_AVX512_CORE_BF16) == PF_DNNL_AVX512_CORE_BF16;
  d->flushes_f16 = (isa & PF_DNNL_AVX512_CORE_AMX) == PF_DNNL_AVX512_CORE_AMX;
#else
  (void)isa;
  d->flushes_bf16 = true;
#endif
}

static void set_types(pf_dnnl *d)
{
  const bool gemm = d->mode == PF_DNNL_GEMM;
  const pfe_types *from = gemm ? gemm_types : primitive_types;
  const size_t count = gemm ? sizeof gemm_types / sizeof *gemm_types
                            : sizeof primitive_types / sizeof *primitive_types;
  for (size_t i = 0; i < count; i++)
    if (gemm ? from[i].x != PFE_BF16 || d->f.gemm_bf16bf16f32 : pf_dnnl_primitive_has(d, &from[i]))
      d->types[d->types_count++] = from[i];
}

static void describe(pf_dnnl *d, const pfe_request *request, pfe_info *info)
{
  typedef void set_number(int);
  const pf_dnnl_version *v = d->f.version();
  const int isa = d->f.effective_isa();
  const char *name = d->f.isa_name ? d->f.isa_name(isa) : "cpu_isa_unknown";
  set_number *set_threads;
  *(void **)&set_threads = dlsym(d->library, "omp_set_num_threads");
  if (set_threads)
    set_threads(request->threads);
  info->settings.threads = set_threads ? request->threads : 0;
  find_flushing(d, isa);
  snprintf(info->version, sizeof info->version, "%d.%d.%d", v->major, v->minor, v->patch);
  snprintf(info->details, sizeof info->details, "%s", name + strlen("cpu_isa_"));
  set_types(d);
  info->types = d->types;
  info->types_count = d->types_count;
}

static pfe_status start(pf_dnnl *d, const pfe_request *request, char text[192])
{
  static const pf_symbol none[] = {{0}};
  static const char *const names[] = {"matmul", "runtime", "gemm", "faulty", "runtime-faulty", NULL};
  static const pf_dnnl_mode modes[] = {PF_DNNL_MATMUL, PF_DNNL_RUNTIME_DIMS, PF_DNNL_GEMM,
                                       PF_DNNL_MATMUL, PF_DNNL_RUNTIME_DIMS};
  char path[512];
  const char *const named[] = {path, NULL};
  int mode = 0;
  if (pf_library_argument(request->argument, names, &mode, path, text))
    return PFE_ERROR;
  d->mode = modes[mode];
  d->faulty = strstr(names[mode], "faulty") != NULL;
  const char *const *files = path[0] ? named : usual_files;
  pfe_status status = pf_library_open(files, package, none, &d->library, text);
  if (!status)
    status = check_version(d->library, &d->f, text);
  if (!status)
    status = find_functions(d, files, text);
  if (status)
    return status;
  d->kept = calloc(PF_DNNL_KEPT, sizeof *d->kept);
  const int failed = !d->kept || d->f.engine_create(&d->engine, PF_DNNL_CPU, 0) ||
                     d->f.stream_create(&d->stream, d->engine, PF_DNNL_STREAM_IN_ORDER);
  if (failed)
    snprintf(text, 192, "an engine for the processor cannot be made");
  return failed ? PFE_ERROR : PFE_OK;
}

/* The library stays loaded: its threads would not survive that it goes. */
static void close_dnnl(void *state)
{
  pf_dnnl *d = state;
  for (int i = 0; d->kept && i < PF_DNNL_KEPT; i++)
    pf_dnnl_drop(d, &d->kept[i]);
  if (d->stream)
    d->f.stream_destroy(d->stream);
  if (d->engine)
    d->f.engine_destroy(d->engine);
  free(d->kept);
  free(d);
}

static pfe_status open_dnnl(const pfe_engine *self, const pfe_request *request, pfe_info *info,
                            void **state, char text[192])
{
  pf_dnnl *d = calloc(1, sizeof *d);
  (void)self;
  if (!d) {
    snprintf(text, 192, "out of memory");
    return PFE_ERROR;
  }
  const pfe_status status = start(d, request, text);
  if (status) {
    close_dnnl(d);
    return status;
  }
  describe(d, request, info);
  *state = d;
  return PFE_OK;
}

/* --- calls --------------------------------------------------------------------------------- */

static void declare(const pf_dnnl *d, const pfe_call *call, pfe_settings *s)
{
  const int32_t x = call->tensor[call->steps->a]->dtype;
  const bool bf16 = x == PFE_BF16 && d->flushes_bf16;
  if (bf16)
    s->flush_inputs = PFE_MAY;
  if (bf16 || (x == PFE_F16 && d->flushes_f16))
    s->flush_sums = PFE_MAY;
  if (call->out->dtype == PFE_BF16 && d->flushes_bf16)
    s->flush_outputs = PFE_MAY;
}

static pfe_status supports(void *state, const pfe_call *call, pfe_answer *answer)
{
  pf_dnnl *d = state;
  declare(d, call, &answer->settings);
  return d->mode == PF_DNNL_GEMM ? pf_dnnl_gemm_supports(d, call, answer)
                                 : pf_dnnl_primitive_supports(d, call, answer);
}

static pfe_status run(void *state, const pfe_call *call, pfe_answer *answer)
{
  pf_dnnl *d = state;
  return d->mode == PF_DNNL_GEMM ? pf_dnnl_gemm_run(d, call, answer)
                                 : pf_dnnl_primitive_run(d, call, answer);
}

const pfe_engine pf_onednn = {
  .version = PFE_VERSION, .size = sizeof(pfe_engine), .name = "onednn",
  .note = "oneDNN 3: matmul primitive; or onednn:runtime, onednn:gemm", .open = open_dnnl,
  .supports = supports, .run = run, .close = close_dnnl};
