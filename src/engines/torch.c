/* libtorch, PyTorch's library for the processor, by its interface for C: mm, bmm, addmm, baddbmm
   and oneDNN's linear. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines.h"
#include "library.h"
#include "measure.h"
#include "onednn_abi.h"
#include "quiet.h"
#include "torch_parts.h"

/* --- the library --------------------------------------------------------------------------- */

const char *const pf_torch_files[] = {"libtorch_cpu.so.2.6", "libtorch_cpu.so", NULL};
const char *const pf_torch_modes[] = {"matmul", "bmm", "raw", "linear", NULL};
static const char package[] = "libtorch2.6 of Debian 13";

static pfe_status find_functions(pf_torch *t, const char *const *files, char text[192])
{
  pf_torch_functions *f = &t->f;
#define AT(FIELD) (void **)&f->FIELD
#define SHIM(NAME) "aoti_torch_" NAME
  const pf_symbol symbols[] = {
    {AT(cpu), SHIM("device_type_cpu"), 0}, {AT(f64), SHIM("dtype_float64"), 0},
    {AT(f32), SHIM("dtype_float32"), 0}, {AT(f16), SHIM("dtype_float16"), 0},
    {AT(bf16), SHIM("dtype_bfloat16"), 0}, {AT(s32), SHIM("dtype_int32"), 0},
    {AT(from_blob), SHIM("create_tensor_from_blob"), 0},
    {AT(drop), SHIM("delete_tensor_object"), 0}, {AT(copy), SHIM("copy_"), 0},
    {AT(dtype_of), SHIM("get_dtype"), 0}, {AT(set_grad_mode), SHIM("grad_mode_set_enabled"), 0},
    {AT(mm), SHIM("cpu_mm_out"), 0},
    {AT(bmm), SHIM("cpu_bmm_out"), 0}, {AT(addmm), SHIM("cpu_addmm_out"), 0},
    {AT(baddbmm), SHIM("cpu_baddbmm_out"), 0}, {AT(linear), SHIM("cpu__linear_pointwise"), 1},
    {AT(set_threads), "_ZN2at15set_num_threadsEi", 1},
    {AT(dnnl_isa), "dnnl_get_effective_cpu_isa", 1},
    {AT(dnnl_isa_name), "dnnl_cpu_isa2str", 1},
    {AT(openblas_config), "openblas_get_config", 1},
    {AT(openblas_core), "openblas_get_corename", 1}, {0}};
#undef SHIM
#undef AT
  return pf_library_open(files, package, symbols, &t->library, text);
}

/* Its number stands in the file's name, "libtorch_cpu.so.2.6.0", or in Python's package in the
   folder above: __version__ = '2.6.0+cpu'. */
static void find_version(const pf_torch *t, char version[64], char path[512])
{
  Dl_info where;
  char line[256], *file = NULL;
  if (dladdr((void *)t->f.cpu, &where) && where.dli_fname)
    file = realpath(where.dli_fname, NULL);
  if (!file)
    return;
  snprintf(path, 512, "%s", file);
  const char *number = strstr(file, ".so.");
  if (number)
    snprintf(version, 64, "%s", number + 4);
  free(file);
  char *slash = strrchr(path, '/');
  if (number || !slash)
    return;
  snprintf(line, sizeof line, "%.*s/../version.py", (int)(slash - path), path);
  FILE *f = fopen(line, "r");
  while (f && fgets(line, sizeof line, f))
    sscanf(line, "__version__ = '%63[^']", version);
  if (f)
    fclose(f);
}

/* --- opening ------------------------------------------------------------------------------- */

#define SAME(T) {T, T, T, T, T, T}
#define NARROW(T) {T, T, PFE_F32, T, T, T}

/* What eager PyTorch has: results are of the operands' dtype. */
static const pfe_types types[] = {
  SAME(PFE_F32), SAME(PFE_F64), NARROW(PFE_BF16), NARROW(PFE_F16),
  {PFE_S32, PFE_S32, PFE_S32, PFE_S32, PFE_NONE, PFE_NONE},
};

_Static_assert(sizeof types / sizeof *types <= PF_TORCH_TYPES, "no room");

/* Of which dtypes oneDNN has a linear, depends on the processor. */
static void set_types(pf_torch *t)
{
  pf_quiet quiet;
  char last[128];
  const bool linear = t->mode == PF_TORCH_LINEAR;
  pf_quiet_begin(&quiet);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (!linear || pf_torch_has_linear(t, types[i].x))
      t->types[t->types_count++] = types[i];
  pf_quiet_end(&quiet, last);
}

static void set_numbers(pf_torch *t)
{
  const pf_torch_functions *f = &t->f;
  t->cpu = f->cpu();
  t->dtype[PFE_F64] = f->f64();
  t->dtype[PFE_F32] = f->f32();
  t->dtype[PFE_F16] = f->f16();
  t->dtype[PFE_BF16] = f->bf16();
  t->dtype[PFE_S32] = f->s32();
}

/* As the adapter of oneDNN has it; where its functions cannot be seen, by the processor. */
static void find_flushing(pf_torch *t)
{
#if defined(__x86_64__) || defined(__i386__)
  const int isa = t->f.dnnl_isa ? t->f.dnnl_isa() : 0;
  t->flushes_bf16 = t->f.dnnl_isa
                      ? (isa & PF_DNNL_AVX512_CORE_BF16) == PF_DNNL_AVX512_CORE_BF16
                      : !strcmp(pf_measure_isa(), "avx512bf16");
  t->flushes_f16 = (isa & PF_DNNL_AVX512_CORE_AMX) == PF_DNNL_AVX512_CORE_AMX;
#else
  t->flushes_bf16 = true;
#endif
}

/* "avx512_core_bf16, OpenBLAS 0.3.29 SkylakeX, /usr/lib/libtorch_cpu.so.2.6.0": oneDNN's name for
   the instructions, the library that multiplies f32 and f64, the file. */
void pf_torch_describe(const pf_torch *t, int threads, pfe_info *info)
{
  const pf_torch_functions *f = &t->f;
  char path[512] = "";
  const char *isa = f->dnnl_isa && f->dnnl_isa_name ? f->dnnl_isa_name(f->dnnl_isa()) : NULL;
  char blas[64] = "";
  find_version(t, info->version, path);
  info->settings.threads = f->set_threads ? threads : 0;
  if (f->openblas_config)
    sscanf(f->openblas_config(), "OpenBLAS %31s", blas);
  snprintf(info->details, sizeof info->details, "%s%s%s%s%s, %.100s",
           isa ? isa + strlen("cpu_isa_") : pf_measure_isa(), blas[0] ? ", OpenBLAS " : "", blas,
           blas[0] && f->openblas_core ? " " : "",
           blas[0] && f->openblas_core ? f->openblas_core() : "", path);
}

pfe_status pf_torch_load(pf_torch *t, const char *const *files, int threads, char text[192])
{
  const pfe_status status = find_functions(t, files, text);
  if (status)
    return status;
  set_numbers(t);
  find_flushing(t);
  t->f.set_grad_mode(false);
  if (t->f.set_threads)
    t->f.set_threads(threads);
  return PFE_OK;
}

static pfe_status start(pf_torch *t, const pfe_request *request, char text[192])
{
  char path[512];
  const char *const named[] = {path, NULL};
  pfe_answer answer = {.text = ""};
  int mode = PF_TORCH_MATMUL;
  if (pf_library_argument(request->argument, pf_torch_modes, &mode, path, text))
    return PFE_ERROR;
  t->mode = (pf_torch_mode)mode;
  const char *const *files = path[0] ? named : pf_torch_files;
  const pfe_status status = pf_torch_load(t, files, request->threads, text);
  if (status)
    return status;
  if (t->mode == PF_TORCH_LINEAR && !t->f.linear) {
    snprintf(text, 192, "the library has no aoti_torch_cpu__linear_pointwise: built without it");
    return PFE_ERROR;
  }
  if (t->mode == PF_TORCH_LINEAR || !pf_measure_f16(&pf_torch_engine, t, &t->narrow_f16, &answer))
    return PFE_OK;
  snprintf(text, 192, "a first product failed: %.160s", answer.text);
  return PFE_ERROR;
}

/* The library stays loaded: it registers what it does not take back. */
static void close_torch(void *state)
{
  free(state);
}

static pfe_status open_torch(const pfe_engine *self, const pfe_request *request, pfe_info *info,
                             void **state, char text[192])
{
  pf_torch *t = calloc(1, sizeof *t);
  (void)self;
  if (!t) {
    snprintf(text, 192, "out of memory");
    return PFE_ERROR;
  }
  const pfe_status status = start(t, request, text);
  if (status) {
    close_torch(t);
    return status;
  }
  pf_torch_describe(t, request->threads, info);
  set_types(t);
  info->types = t->types;
  info->types_count = t->types_count;
  *state = t;
  return PFE_OK;
}

const pfe_engine pf_torch_engine = {
  .version = PFE_VERSION, .size = sizeof(pfe_engine), .name = "torch",
  .note = "PyTorch's libtorch: mm, bmm, addmm, baddbmm; or torch:bmm, torch:linear",
  .open = open_torch, .supports = pf_torch_supports, .run = pf_torch_run, .close = close_torch};
