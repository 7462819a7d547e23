/* XNNPACK: its batch_matrix_multiply in f32 and f16. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blas.h"
#include "dense.h"
#include "engines.h"
#include "library.h"
#include "measure.h"
#include "xnnpack_abi.h"

_Static_assert((int)PF_DENSE_BEHIND >= (int)PF_XNN_EXTRA_BYTES,
               "it reads so far behind its operands");

typedef enum pf_xnn_type { PF_XNN_F32, PF_XNN_F16, PF_XNN_TYPES } pf_xnn_type;

typedef struct pf_xnn {
  pf_xnn_functions f;
  void *library, *threads;
  void *op[PF_XNN_TYPES][2];   /* the second: b's columns come first */
  bool narrow_f16;             /* sums of f16 are in f16 */
  pf_dense a, b, out;
  void *workspace;
  size_t workspace_room;
} pf_xnn;

/* --- the library --------------------------------------------------------------------------- */

/* Another version would have other functions of these names. */
static const char *const usual_files[] = {"libXNNPACK.so.0.20241108", NULL};
static const char package[] = "libxnnpack0.20241108 of Debian 13";

static pfe_status load(pf_xnn *x, const char *const *files, char text[192])
{
  pf_xnn_functions *f = &x->f;
#define AT(FIELD) (void **)&f->FIELD
#define MATMUL(WHAT, TYPE) "xnn_" #WHAT "_batch_matrix_multiply_nc_" #TYPE
  const pf_symbol symbols[] = {
    {AT(initialize), "xnn_initialize", 0}, {AT(run), "xnn_run_operator", 0},
    {AT(delete_operator), "xnn_delete_operator", 0},
    {AT(create_f32), MATMUL(create, f32), 0}, {AT(create_f16), MATMUL(create, f16), 0},
    {AT(reshape_f32), MATMUL(reshape, f32), 0}, {AT(reshape_f16), MATMUL(reshape, f16), 0},
    {AT(setup_f32), MATMUL(setup, f32), 0}, {AT(setup_f16), MATMUL(setup, f16), 0},
    {AT(threads_create), "pthreadpool_create", 1},
    {AT(threads_destroy), "pthreadpool_destroy", 1}, {0}};
#undef MATMUL
#undef AT
  return pf_library_open(files, package, symbols, &x->library, text);
}

/* It has no number but the one in the file's name: "libXNNPACK.so.0.20241108". */
static void describe(const pf_xnn *x, pfe_info *info)
{
  Dl_info where;
  const char *digits = NULL;
  if (dladdr((void *)x->f.initialize, &where) && where.dli_fname)
    digits = strrchr(where.dli_fname, '.');
  if (digits && strlen(digits + 1) >= 8)
    snprintf(info->version, sizeof info->version, "%s", digits + 1);
  snprintf(info->details, sizeof info->details, "%s%s", pf_measure_isa(),
           x->narrow_f16 ? ", sums of f16 in f16" : "");
}

/* --- opening ------------------------------------------------------------------------------- */

static const pfe_types types[] = {
  {PFE_F32, PFE_F32, PFE_F32, PFE_F32, PFE_NONE, PFE_NONE},
  {PFE_F16, PFE_F16, PFE_F32, PFE_F16, PFE_NONE, PFE_NONE},
};

static pfe_status prepare(pf_xnn *x, int threads, char text[192])
{
  const int failed = x->f.initialize(NULL);
  if (failed) {
    snprintf(text, 192, "xnn_initialize failed with status %d", failed);
    return PFE_ERROR;
  }
  for (uint32_t flags = 0; flags <= PF_XNN_TRANSPOSE_B; flags++) {
    if (x->f.create_f32(flags, &x->op[PF_XNN_F32][flags]))
      x->op[PF_XNN_F32][flags] = NULL;
    if (x->f.create_f16(flags, &x->op[PF_XNN_F16][flags]))
      x->op[PF_XNN_F16][flags] = NULL;
  }
  if (!x->op[PF_XNN_F32][0] || !x->op[PF_XNN_F32][1]) {
    snprintf(text, 192, "its matrix product in f32 cannot be made");
    return PFE_ERROR;
  }
  if (threads > 1 && x->f.threads_create && x->f.threads_destroy)
    x->threads = x->f.threads_create((size_t)threads);
  return PFE_OK;
}

static bool has_f16(const pf_xnn *x)
{
  return x->op[PF_XNN_F16][0] && x->op[PF_XNN_F16][1];
}

static pfe_status start(pf_xnn *x, const pfe_request *request, char text[192])
{
  static const char *const modes[] = {NULL};
  char path[512];
  const char *const named[] = {path, NULL};
  pfe_answer answer = {.text = ""};
  int mode = 0;
  if (pf_library_argument(request->argument, modes, &mode, path, text))
    return PFE_ERROR;
  pfe_status status = load(x, path[0] ? named : usual_files, text);
  if (!status)
    status = prepare(x, request->threads, text);
  if (!status && has_f16(x)) {
    status = pf_measure_f16(&pf_xnnpack, x, &x->narrow_f16, &answer);
    if (status)
      snprintf(text, 192, "a first product failed: %.160s", answer.text);
  }
  return status;
}

/* The library stays loaded, as it may have threads of its own. */
static void close_xnn(void *state)
{
  pf_xnn *x = state;
  for (int t = 0; t < PF_XNN_TYPES; t++)
    for (int i = 0; i < 2; i++)
      if (x->op[t][i])
        x->f.delete_operator(x->op[t][i]);
  if (x->threads)
    x->f.threads_destroy(x->threads);
  pf_dense_free(&x->a);
  pf_dense_free(&x->b);
  pf_dense_free(&x->out);
  free(x->workspace);
  free(x);
}

static pfe_status open_xnn(const pfe_engine *self, const pfe_request *request, pfe_info *info,
                           void **state, char text[192])
{
  pf_xnn *x = calloc(1, sizeof *x);
  (void)self;
  if (!x) {
    snprintf(text, 192, "out of memory");
    return PFE_ERROR;
  }
  const pfe_status status = start(x, request, text);
  if (status) {
    close_xnn(x);
    return status;
  }
  describe(x, info);
  info->settings.threads = x->threads ? request->threads : 1;
  info->types = types;
  info->types_count = has_f16(x) ? 2 : 1;
  *state = x;
  return PFE_OK;
}

/* --- calls --------------------------------------------------------------------------------- */

/* b as its columns, one after the other, where it is stored so. */
static bool by_columns(const pfe_call *call)
{
  const pfe_tensor *b = pf_blas_b(call);
  bool columns;
  int64_t ld;
  return pf_blas_lines(call->k, call->n, b->row_stride, b->column_stride, &columns, &ld) &&
         columns;
}

/* It computes with subnormals switched off; f16 knows no such switch. */
static pfe_status supports(void *state, const pfe_call *call, pfe_answer *answer)
{
  const pf_xnn *x = state;
  const bool f16 = pf_blas_a(call)->dtype == PFE_F16;
  const char *why = pf_blas_alpha(call) != 1 || pf_blas_addend(call)
                      ? "its product of matrices has no alpha, c or bias"
                    : !call->k ? "it takes no sum of nothing (k = 0)"
                    : !call->m || !call->n || !call->batches ? "it takes no empty output"
                                                             : NULL;
  snprintf(answer->text, sizeof answer->text, "%s", why ? why : "");
  if (why)
    return PFE_UNSUPPORTED;
  snprintf(answer->kernel, sizeof answer->kernel, "batch_matrix_multiply_nc_%s%s",
           f16 ? "f16" : "f32", by_columns(call) ? ", b transposed" : "");
  if (!f16)
    answer->settings.flush_inputs = answer->settings.flush_sums =
      answer->settings.flush_outputs = PFE_DOES;
  else if (x->narrow_f16)
    answer->settings.accumulator = PFE_F16;
  return PFE_OK;
}

static int take_operands(pf_xnn *x, const pfe_call *call, bool transposed)
{
  pf_dense_want w = {.batch_rank = call->batch_rank, .batch = call->batch, .rows = call->m,
                     .columns = call->k, .copied = true};
  w.repeated = pf_dense_both_repeat(call, pf_blas_a(call), pf_blas_b(call));
  if (pf_dense_take(pf_blas_a(call), &w, &x->a))
    return 1;
  w.repeated = false;
  w.rows = call->k;
  w.columns = call->n;
  w.transposed = transposed;
  return pf_dense_take(pf_blas_b(call), &w, &x->b);
}

static void *make_workspace(pf_xnn *x, size_t bytes, size_t alignment)
{
  const size_t step = alignment > sizeof(void *) ? alignment : sizeof(void *);
  const uintptr_t mask = step - 1;
  if (!x->workspace || x->workspace_room < bytes + step) {
    free(x->workspace);
    x->workspace_room = 2 * bytes + step;
    x->workspace = malloc(x->workspace_room);
  }
  return x->workspace ? (void *)(((uintptr_t)x->workspace + mask) & ~mask) : NULL;
}

/* NULL, or which of its functions failed. */
static const char *multiply(pf_xnn *x, const pfe_call *call, bool transposed, int *status)
{
  const bool f16 = pf_blas_a(call)->dtype == PFE_F16;
  void *op = x->op[f16 ? PF_XNN_F16 : PF_XNN_F32][transposed];
  size_t a_batch[PFE_MAX_BATCH], b_batch[PFE_MAX_BATCH], bytes = 0, alignment = 1;
  for (int d = 0; d < call->batch_rank; d++) {
    a_batch[d] = (size_t)x->a.dims[d];
    b_batch[d] = (size_t)x->b.dims[d];
  }
  *status = (f16 ? x->f.reshape_f16 : x->f.reshape_f32)(
    op, (size_t)call->batch_rank, a_batch, b_batch, (size_t)call->m, (size_t)call->k,
    (size_t)call->n, &bytes, &alignment, x->threads);
  if (*status)
    return "xnn_reshape";
  void *workspace = make_workspace(x, bytes, alignment);
  if (!workspace)
    return "malloc";
  *status = (f16 ? x->f.setup_f16 : x->f.setup_f32)(op, workspace, x->a.data, x->b.data,
                                                    x->out.data);
  if (*status)
    return "xnn_setup";
  *status = x->f.run(op, x->threads);
  return *status ? "xnn_run_operator" : NULL;
}

static pfe_status run(void *state, const pfe_call *call, pfe_answer *answer)
{
  pf_xnn *x = state;
  const bool transposed = by_columns(call);
  const pf_dense_want out = {.batch_rank = call->batch_rank, .batch = call->batch,
                             .rows = call->m, .columns = call->n};
  int status = 0;
  const char *failed = "malloc";
  if (!take_operands(x, call, transposed) && !pf_dense_take(call->out, &out, &x->out))
    failed = multiply(x, call, transposed, &status);
  if (failed) {
    snprintf(answer->text, sizeof answer->text, "%s failed with status %d", failed, status);
    return PFE_ERROR;
  }
  pf_dense_give(call->out, &out, &x->out);
  return PFE_OK;
}

const pfe_engine pf_xnnpack = {
  .version = PFE_VERSION, .size = sizeof(pfe_engine), .name = "xnnpack",
  .note = "XNNPACK: batch_matrix_multiply in f32 and f16", .open = open_xnn, .supports = supports,
  .run = run, .close = close_xnn};
