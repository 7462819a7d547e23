/* OpenBLAS, BLIS, the reference BLAS, or whatever else has CBLAS's entry points: gemm, gemv, dot and
   batches of gemm, in f32, f64, and from bf16 to f32 where the library has it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas.h"
#include "engines.h"
#include "library.h"

/* --- entry points -------------------------------------------------------------------------- */

typedef enum pf_cblas_type { S, D, SB, TYPES } pf_cblas_type;
typedef enum pf_cblas_product { GEMM, GEMV, DOT, BATCH, PRODUCTS_COUNT } pf_cblas_product;

static const char *const product_name[] = {"gemm", "gemv", "dot", "gemm_batch"};
static const char *const type_name[] = {"s", "d", "sb"};

enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102, AS_IS = 111, TRANSPOSED = 112 };

/* What an entry point is called with: for gemv m rows and k columns as they are stored, b the
   vector; steps are leading dimensions or increments. */
typedef struct pf_cblas_call {
  int order, a_op, b_op;
  int64_t m, n, k, a_step, b_step, out_step;
  double alpha, beta;
  const void *a, *b;
  void *out;
  int64_t count;              /* of batches, and their pointers */
  const void **as, **bs;
  void **outs;
} pf_cblas_call;

typedef void pf_cblas_caller(void *entry, const pf_cblas_call *c);

#define INTEGER int32_t
#define NAME(f) f##_32
#include "cblas_calls.h"
#define INTEGER int64_t
#define NAME(f) f##_64
#include "cblas_calls.h"

/* --- the library --------------------------------------------------------------------------- */

typedef struct pf_cblas {
  void *library;
  const char *before, *after;  /* what its names begin and end with */
  bool wide;                   /* its integers have 64 bits */
  bool flushes;                /* its bf16 products may flush subnormals */
  int only;                    /* pf_cblas_product to use for everything; -1: by shape */
  void *entry[TYPES][PRODUCTS_COUNT];
  int64_t room;                /* of the lists of pointers to batches */
  const void **as, **bs;
  void **outs;
} pf_cblas;

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
  for (int t = 0; t < TYPES; t++)
    for (int p = 0; p < PRODUCTS_COUNT; p++) {
      snprintf(name, sizeof name, "cblas_%s%s", type_name[t], product_name[p]);
      l->entry[t][p] = find(l, name);
    }
}

/* A length whose lower half is 3 and that is negative as a whole: with narrow integers the largest of
   three elements is found, with wide ones nothing is looked at.  Names do not tell: Debian's 64-bit
   builds have the plain ones.  (So does libblastrampoline tell them apart.) */
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
  for (int p = 0; p < PRODUCTS_COUNT; p++)
    if (!strcmp(name, product_name[p]))
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
    return PFE_ERROR;
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
  info->types_count = l->entry[SB][GEMM] ? 3 : 2;
  *state = l;
  return PFE_OK;
}

/* --- calls --------------------------------------------------------------------------------- */

/* What a call comes to, but for where its batches begin. */
typedef struct pf_cblas_plan {
  pf_cblas_type type;
  pf_cblas_product product;
  bool swapped;     /* the entry point's a is the step's b */
  pf_cblas_call call;
} pf_cblas_plan;

static int operation(bool transposed)
{
  return transposed ? TRANSPOSED : AS_IS;
}

/* gemm and its batches; what stands by columns is said to. */
static const char *plan_gemm(const pfe_call *call, pf_cblas_plan *to)
{
  pf_blas_gemm g;
  pf_cblas_call *c = &to->call;
  const char *why = pf_blas_gemm_of(call, &g);
  c->order = g.swapped ? COLUMN_MAJOR : ROW_MAJOR;
  c->a_op = operation(g.swapped ? g.right_transposed : g.left_transposed);
  c->b_op = operation(g.swapped ? g.left_transposed : g.right_transposed);
  c->m = call->m;
  c->n = call->n;
  c->k = call->k;
  c->a_step = g.swapped ? g.right_ld : g.left_ld;
  c->b_step = g.swapped ? g.left_ld : g.right_ld;
  c->out_step = g.out_ld;
  return why;
}

static const char *plan_gemv(const pfe_call *call, pf_cblas_plan *to)
{
  pf_blas_gemv g;
  pf_cblas_call *c = &to->call;
  const char *why = pf_blas_gemv_of(call, &g);
  to->swapped = g.matrix_is_b;
  c->order = ROW_MAJOR;
  c->a_op = operation(g.transposed);
  c->m = g.transposed ? g.k : g.rows;
  c->n = 1;
  c->k = g.transposed ? g.rows : g.k;
  c->a_step = g.ld;
  c->b_step = g.vector_step;
  c->out_step = g.out_step;
  return why;
}

static const char *plan_dot(const pfe_call *call, pf_cblas_plan *to)
{
  pf_blas_dot d;
  const char *why = pf_blas_dot_of(call, &d);
  to->call.m = to->call.n = to->call.out_step = 1;
  to->call.k = d.k;
  to->call.a_step = d.a_step;
  to->call.b_step = d.b_step;
  return why;
}

static const char *plan_product(const pf_cblas *l, const pfe_call *call, pf_cblas_product product,
                                pf_cblas_plan *to)
{
  static const char *(*const plan_of[])(const pfe_call *, pf_cblas_plan *) = {
    plan_gemm, plan_gemv, plan_dot, plan_gemm};
  const int32_t x = pf_blas_a(call)->dtype;
  *to = (pf_cblas_plan){.type = x == PFE_F64 ? D : x == PFE_BF16 ? SB : S, .product = product};
  to->call.alpha = pf_blas_alpha(call);
  to->call.beta = pf_blas_beta(call);
  to->call.count = call->batches;
  if (!l->entry[to->type][product])
    return "the library has no such entry point";
  const char *why = plan_of[product](call, to);
  const pf_cblas_call *c = &to->call;
  const int64_t sizes[] = {c->m, c->n, c->k, c->a_step, c->b_step, c->out_step, c->count};
  for (size_t i = 0; !l->wide && !why && i < sizeof sizes / sizeof *sizes; i++)
    if (sizes[i] > INT32_MAX)
      why = "a size or stride exceeds the library's 32-bit integers";
  return why;
}

/* The smallest product that does it. */
static const char *plan(const pf_cblas *l, const pfe_call *call, pf_cblas_plan *to)
{
  if (pf_blas_has_two_addends(call))
    return "it adds c or a bias, not both";
  if (l->only >= 0)
    return plan_product(l, call, (pf_cblas_product)l->only, to);
  if (!plan_product(l, call, DOT, to) || !plan_product(l, call, GEMV, to))
    return NULL;
  if (call->batches > 1 && !plan_product(l, call, BATCH, to))
    return NULL;
  return plan_product(l, call, GEMM, to);
}

/* "cblas_sgemm row-major NT" */
static void name_kernel(const pf_cblas_plan *p, pfe_answer *answer)
{
  const pf_cblas_call *c = &p->call;
  const char *name = product_name[p->product], *type = type_name[p->type];
  const char a = c->a_op == TRANSPOSED ? 'T' : 'N', b = c->b_op == TRANSPOSED ? 'T' : 'N';
  if (p->product == DOT)
    snprintf(answer->kernel, sizeof answer->kernel, "cblas_%s%s", type, name);
  else if (p->product == GEMV)
    snprintf(answer->kernel, sizeof answer->kernel, "cblas_%s%s %c", type, name, a);
  else
    snprintf(answer->kernel, sizeof answer->kernel, "cblas_%s%s %s-major %c%c", type, name,
             c->order == ROW_MAJOR ? "row" : "column", a, b);
}

static pfe_status supports(void *state, const pfe_call *call, pfe_answer *answer)
{
  const pf_cblas *l = state;
  pf_cblas_plan p;
  const char *why = plan(l, call, &p);
  if (why) {
    snprintf(answer->text, sizeof answer->text, "%s", why);
    return PFE_UNSUPPORTED;
  }
  name_kernel(&p, answer);
  if (p.type == SB && l->flushes)
    answer->settings.flush_inputs = answer->settings.flush_sums = PFE_MAY;
  return PFE_OK;
}

static bool make_room(pf_cblas *l, int64_t count)
{
  if (count <= l->room)
    return true;
  const void **as = realloc(l->as, (size_t)count * sizeof *as);
  l->as = as ? as : l->as;
  const void **bs = realloc(l->bs, (size_t)count * sizeof *bs);
  l->bs = bs ? bs : l->bs;
  void **outs = realloc(l->outs, (size_t)count * sizeof *outs);
  l->outs = outs ? outs : l->outs;
  if (!as || !bs || !outs)
    return false;
  l->room = count;
  return true;
}

static void place(const pfe_call *call, const pf_cblas_plan *p, int64_t batch, const void **a,
                  const void **b, void **out)
{
  const pfe_tensor *first = p->swapped ? pf_blas_b(call) : pf_blas_a(call);
  const pfe_tensor *second = p->swapped ? pf_blas_a(call) : pf_blas_b(call);
  pf_blas_start(call, pf_blas_addend(call), batch);
  *a = pfe_batch(call, first, batch);
  *b = pfe_batch(call, second, batch);
  *out = pfe_batch(call, call->out, batch);
}

static pfe_status run(void *state, const pfe_call *call, pfe_answer *answer)
{
  pf_cblas *l = state;
  pf_cblas_plan p;
  const char *why = plan(l, call, &p);
  pf_cblas_call *c = &p.call;
  if (!why && p.product == BATCH && !make_room(l, c->count))
    why = "out of memory";
  if (why) {
    snprintf(answer->text, sizeof answer->text, "%s", why);
    return PFE_ERROR;
  }
  pf_cblas_caller *use = (l->wide ? callers_64 : callers_32)[p.type][p.product];
  void *entry = l->entry[p.type][p.product];
  for (int64_t i = 0; p.product != BATCH && i < c->count; i++) {
    place(call, &p, i, &c->a, &c->b, &c->out);
    use(entry, c);
  }
  if (p.product != BATCH)
    return PFE_OK;
  c->as = l->as;
  c->bs = l->bs;
  c->outs = l->outs;
  for (int64_t i = 0; i < c->count; i++)
    place(call, &p, i, &l->as[i], &l->bs[i], &l->outs[i]);
  use(entry, c);
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
   .user = &KIND, .open = open_cblas, .supports = supports, .run = run, .close = close_cblas}

const pfe_engine pf_openblas = ENGINE("openblas", "OpenBLAS, by CBLAS", openblas);
const pfe_engine pf_blis = ENGINE("blis", "BLIS, by CBLAS", blis);
const pfe_engine pf_refblas = ENGINE("refblas", "the reference BLAS of netlib, by CBLAS", reference);
const pfe_engine pf_cblas_any = ENGINE("cblas", "any library with CBLAS's names, as cblas:PATH", any);
