/* OpenBLAS, BLIS, the reference BLAS, or whatever else has CBLAS's entry points: gemm, gemv, dot
   and batches of gemm, in f32, f64, and from bf16 to f32 where the library has it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cblas_parts.h"
#include "engines.h"
#include "library.h"

/* --- the library --------------------------------------------------------------------------- */

/* One for each name. */
typedef struct pf_cblas_kind {
  const char *package;
  const char *const *files;    /* NULL: the argument names it */
  const char *needs;           /* a symbol without which it is another library; NULL: none */
} pf_cblas_kind;

static void *find(const pf_cblas *l, const char *name)
{
  char whole[96];
  snprintf(whole, sizeof whole, "%s%s%s", l->before, name, l->after);
  void *found = dlsym(l->library, whole);
  return found ? found : dlsym(l->library, name);
}

/* Builds with integers of 64 bits, and those for one program's own use, decorate their names. */
static bool find_names(pf_cblas *l)
{
  static const char *const around[][2] = {
    {"", ""}, {"", "64_"}, {"", "_64"}, {"scipy_", ""}, {"scipy_", "64_"}};
  for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
    l->before = around[i][0];
    l->after = around[i][1];
    if (find(l, "cblas_sgemm"))
      return true;
  }
  return false;
}

static void find_entries(pf_cblas *l)
{
  char name[48];
  for (int t = 0; t < PF_CBLAS_TYPES; t++)
    for (int p = 0; p < PF_CBLAS_PRODUCTS; p++) {
      snprintf(name, sizeof name, "cblas_%s%s", pf_cblas_type_names[t], pf_cblas_product_names[p]);
      l->entry[t][p] = find(l, name);
    }
}

/* A length whose lower half is 3 and that is negative as a whole: with narrow integers the largest
   of three elements is found, with wide ones nothing is looked at.  Names do not tell: Debian's
   64-bit builds have the plain ones.  (libblastrampoline tells them apart so, too.) */
static bool has_wide_integers(const pf_cblas *l)
{
  typedef size_t index_of_largest(int64_t n, const float *x, int64_t step);
  const float x[] = {1, 2, 3};
  index_of_largest *largest = (index_of_largest *)find(l, "cblas_isamax");
  const int64_t length = INT64_MIN + 3;
  return largest && (uint32_t)largest(length, x, 1) != 2;
}

/* --- opening ------------------------------------------------------------------------------- */

static void set_openblas(const pf_cblas *l, const pfe_request *request, pfe_info *info,
                         char *set, size_t size)
{
  typedef char *text_of(void);
  typedef void set_number(int);
  typedef int get_number(void);
  text_of *config = (text_of *)find(l, "openblas_get_config");
  text_of *core = (text_of *)find(l, "openblas_get_corename");
  set_number *set_threads = (set_number *)find(l, "openblas_set_num_threads");
  get_number *threads = (get_number *)find(l, "openblas_get_num_threads");
  if (config)  /* "OpenBLAS 0.3.29 DYNAMIC_ARCH ..." */
    sscanf(config(), "%63[^ ] %63s", info->version, info->version);
  snprintf(set, size, ", %s", core ? core() : "unknown core");
  if (set_threads)
    set_threads(request->threads);
  info->settings.threads = threads ? threads() : 0;
}

static void set_blis(const pf_cblas *l, const pfe_request *request, pfe_info *info, char *set,
                     size_t size)
{
  typedef const char *text_of(void);
  typedef const char *name_of(int);
  typedef int get_number(void);
  text_of *version = (text_of *)find(l, "bli_info_get_version_str");
  get_number *architecture = (get_number *)find(l, "bli_arch_query_id");
  name_of *name = (name_of *)find(l, "bli_arch_string");
  get_number *width = (get_number *)find(l, "bli_info_get_int_type_size");
  void *threads = find(l, "bli_thread_set_num_threads");
  snprintf(info->version, sizeof info->version, "%s", version());
  snprintf(set, size, ", %s", architecture && name ? name(architecture()) : "unknown kernels");
  if (!threads || !width)
    return;
  if (width() == 64)
    ((void (*)(int64_t))threads)(request->threads);
  else
    ((void (*)(int32_t))threads)(request->threads);
  info->settings.threads = request->threads;
}

/* vdpbf16ps reads subnormals as zero and stores none; other machines' instructions for bf16 may. */
static bool may_flush_bf16(void)
{
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("avx512bf16");
#else
  return true;
#endif
}

static void describe(pf_cblas *l, const pfe_request *request, pfe_info *info)
{
  char set[64] = "";
  Dl_info where;
  if (find(l, "openblas_get_config"))
    set_openblas(l, request, info, set, sizeof set);
  else if (find(l, "bli_info_get_version_str"))
    set_blis(l, request, info, set, sizeof set);
  const bool known = dladdr(find(l, "cblas_sgemm"), &where) && where.dli_fname;
  snprintf(info->details, sizeof info->details, "%.120s%s%s", known ? where.dli_fname : "",
           l->wide ? ", 64-bit integers" : "", set);
}

static const pfe_types types[] = {
  {PFE_F32, PFE_F32, PFE_F32, PFE_F32, PFE_F32, PFE_F32},
  {PFE_F64, PFE_F64, PFE_F64, PFE_F64, PFE_F64, PFE_F64},
  {PFE_BF16, PFE_BF16, PFE_F32, PFE_F32, PFE_F32, PFE_F32},
};

/* "gemm", "gemv", "dot" and "gemm_batch" choose what is used for everything. */
static int find_product(const char *name)
{
  for (int p = 0; p < PF_CBLAS_PRODUCTS; p++)
    if (!strcmp(name, pf_cblas_product_names[p]))
      return p;
  return -1;
}

/* Splits "PATH:PRODUCT", "PATH" or, where the kind has files of its own, "PRODUCT". */
static pfe_status read_argument(const pf_cblas_kind *kind, const char *argument, char path[512],
                                int *only, char text[192])
{
  const char *colon = argument ? strrchr(argument, ':') : NULL;
  const char *product = kind->files ? argument : colon ? colon + 1 : NULL;
  *only = product ? find_product(product) : -1;
  path[0] = 0;
  if (kind->files && product && *only < 0) {
    snprintf(text, 192, "'%.60s' is none of gemm, gemv, dot, gemm_batch", product);
    return PFE_ERROR;
  }
  if (kind->files)
    return PFE_OK;
  if (!argument || !*argument) {
    snprintf(text, 192, "a library's path is needed: cblas:PATH or cblas:PATH:gemm");
    return PFE_ABSENT;
  }
  snprintf(path, 512, "%.*s", (int)(*only < 0 ? strlen(argument) : (size_t)(colon - argument)),
           argument);
  return PFE_OK;
}

static pfe_status load(pf_cblas *l, const pf_cblas_kind *kind, const char *path, char text[192])
{
  static const pf_symbol none[] = {{0}};
  if (kind->files) {
    const pfe_status status = pf_library_open(kind->files, kind->package, none, &l->library, text);
    if (status)
      return status;
  } else if (!(l->library = dlopen(path, RTLD_NOW | RTLD_LOCAL))) {
    snprintf(text, 192, "%.180s", dlerror());
    return PFE_ERROR;
  }
  if (!find_names(l)) {
    snprintf(text, 192, "the library has no cblas_sgemm");
    return PFE_ERROR;
  }
  if (kind->needs && !find(l, kind->needs)) {
    snprintf(text, 192, "not installed (package %s): what is there is another library",
             kind->package);
    return PFE_ABSENT;
  }
  find_entries(l);
  l->wide = has_wide_integers(l);
  l->flushes = may_flush_bf16();
  /* BLIS's gemv sums multiples of the matrix's lines, and returns at once from a multiple by 0. */
  l->skips_zeros = find(l, "bli_info_get_version_str") != NULL;
  return PFE_OK;
}

/* The library stays loaded: its threads would not survive that it goes. */
static void close_cblas(void *state)
{
  pf_cblas *l = state;
  free(l->as);
  free(l->bs);
  free(l->outs);
  free(l);
}

static pfe_status open_cblas(const pfe_engine *self, const pfe_request *request, pfe_info *info,
                             void **state, char text[192])
{
  const pf_cblas_kind *kind = self->user;
  char path[512];
  pf_cblas *l = calloc(1, sizeof *l);
  if (!l) {
    snprintf(text, 192, "out of memory");
    return PFE_ERROR;
  }
  pfe_status status = read_argument(kind, request->argument, path, &l->only, text);
  if (!status)
    status = load(l, kind, path, text);
  if (status) {
    close_cblas(l);
    return status;
  }
  describe(l, request, info);
  info->types = types;
  info->types_count = l->entry[PF_CBLAS_SB][PF_CBLAS_GEMM] ? 3 : 2;
  *state = l;
  return PFE_OK;
}

/* --- the list ------------------------------------------------------------------------------ */

/* Debian's and others' names.  What stands under libblas.so.3 is what the system's owner chose, so
   that the reference BLAS is looked for where Debian keeps it, first. */
static const char *const openblas_files[] = {"libopenblas.so.0", "libopenblas.so", NULL};
static const char *const blis_files[] = {"libblis.so.4", "libblis.so.3", "libblis.so", NULL};
static const char *const reference_files[] = {
  "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3", "/usr/lib/aarch64-linux-gnu/blas/libblas.so.3",
  "libcblas.so.3", "libblas.so.3", NULL};

static const pf_cblas_kind openblas = {"libopenblas0-pthread", openblas_files,
                                       "openblas_get_config"};
static const pf_cblas_kind blis = {"libblis4-pthread", blis_files, "bli_info_get_version_str"};
static const pf_cblas_kind reference = {"libblas3", reference_files, "CBLAS_CallFromC"};
static const pf_cblas_kind any = {"", NULL, NULL};

#define ENGINE(NAME, NOTE, KIND)                                                                \
  {.version = PFE_VERSION, .size = sizeof(pfe_engine), .name = NAME, .note = NOTE,              \
   .user = &KIND, .open = open_cblas, .supports = pf_cblas_supports,            \
   .run = pf_cblas_run, .close = close_cblas}

const pfe_engine pf_openblas = ENGINE("openblas", "OpenBLAS, by CBLAS", openblas);
const pfe_engine pf_blis = ENGINE("blis", "BLIS, by CBLAS", blis);
const pfe_engine pf_refblas = ENGINE("refblas", "netlib's reference BLAS, by CBLAS", reference);
const pfe_engine pf_cblas_any = ENGINE("cblas", "any library with CBLAS's names: cblas:PATH", any);
