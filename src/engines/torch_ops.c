/* libtorch's operators that its interface for C has not, by way of a shim in C++
   (torch_ops_shim.cpp): matmul and linear of tensors of any rank, dot, mv and addmv. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "blas.h"
#include "dense.h"
#include "engines.h"
#include "library.h"
#include "measure.h"
#include "torch_parts.h"

typedef enum pf_ops_mode {
  PF_OPS_MATMUL, PF_OPS_DOT, PF_OPS_MV,
  PF_OPS_MV_RAW  /* with what is known to come out wrong */
} pf_ops_mode;

typedef int32_t pf_ops_call(const char *op, pf_torch_tensor out, pf_torch_tensor self,
                            pf_torch_tensor a, pf_torch_tensor b, double beta, double alpha,
                            char *text, size_t size);

typedef struct pf_ops {
  pf_torch torch;
  pf_ops_mode mode;
  pf_ops_call *call;
  bool narrow_f16;  /* sums of f16 are in f16 */
} pf_ops;

typedef enum pf_ops_role { A, B, OUT, SELF, ROLES } pf_ops_role;

typedef struct pf_ops_plan {
  const char *op;
  const pfe_tensor *self;
  pf_torch_view view[ROLES];
} pf_ops_plan;

/* --- plans --------------------------------------------------------------------------------- */

/* Of all batches; 1 where they repeat. */
static pf_torch_view whole(const pfe_call *call, const pfe_tensor *t, int64_t rows, int64_t columns)
{
  const int r = call->batch_rank;
  pf_torch_view v = {.data = t->data, .dtype = t->dtype, .rank = r + 2};
  for (int d = 0; d < r; d++) {
    v.size[d] = t->batch_stride[d] || !call->batch[d] || t == call->out ? call->batch[d] : 1;
    v.stride[d] = t->batch_stride[d];
  }
  v.size[r] = rows;
  v.stride[r] = t->row_stride;
  v.size[r + 1] = columns;
  v.stride[r + 1] = t->column_stride;
  return v;
}

static pf_torch_view vector(const pfe_tensor *t, int64_t size, int64_t stride)
{
  return (pf_torch_view){.data = t->data, .dtype = t->dtype, .rank = 1, .size = {size},
                         .stride = {stride}};
}

static pf_torch_view matrix(const pfe_tensor *t, int64_t rows, int64_t columns, int64_t row_stride,
                            int64_t column_stride)
{
  return (pf_torch_view){.data = t->data, .dtype = t->dtype, .rank = 2, .size = {rows, columns},
                         .stride = {row_stride, column_stride}};
}

/* With a bias linear, of matrices: of more dimensions it rounds before it adds the bias where x is
   not dense, and not elsewhere. */
static const char *plan_matmul(const pfe_call *call, pf_ops_plan *p)
{
  const pfe_tensor *a = pf_blas_a(call), *b = pf_blas_b(call), *self = p->self;
  p->op = self ? "linear" : "matmul";
  p->view[A] = whole(call, a, call->m, call->k);
  p->view[B] = whole(call, b, call->k, call->n);
  p->view[OUT] = whole(call, call->out, call->m, call->n);
  if (pf_dense_both_repeat(call, a, b))
    return "a batch dimension that neither operand has";
  if (!self)
    return NULL;
  if (call->batch_rank || call->steps->has_c || (call->m > 1 && self->row_stride))
    return "linear has no batches and no c here, and one bias for all rows";
  p->view[B] = matrix(b, call->n, call->k, b->column_stride, b->row_stride);
  p->view[SELF] = vector(self, call->n, self->column_stride);
  return NULL;
}

static const char *plan_dot(const pfe_call *call, pf_ops_plan *p)
{
  const pfe_tensor *a = pf_blas_a(call), *b = pf_blas_b(call);
  p->op = "dot";
  if (call->m != 1 || call->n != 1 || call->batches != 1 || p->self)
    return "dot gives one number, and has no c or bias";
  p->view[A] = vector(a, call->k, a->column_stride);
  p->view[B] = vector(b, call->k, b->row_stride);
  p->view[OUT] = (pf_torch_view){.data = call->out->data, .dtype = call->out->dtype};
  return NULL;
}

/* A factor that the operator takes in its operands' dtype. */
static bool is_held(double factor, int32_t dtype)
{
  int exponent;
  const double digits = frexp(factor, &exponent) * (dtype == PFE_BF16 ? 1 << 8 : 1 << 11);
  const bool sixteen = dtype == PFE_BF16 || dtype == PFE_F16;
  return !sixteen || factor == 0 ||
         (digits == floor(digits) && (dtype == PFE_BF16 || (exponent > -14 && exponent <= 16)));
}

static bool may_be_onednn(const pfe_call *call)
{
  const int32_t x = pf_blas_a(call)->dtype;
  return (x == PFE_BF16 || x == PFE_F16) && pf_torch_is_large(call);
}

static const char *plan_mv(pf_ops_mode mode, const pfe_call *call, pf_ops_plan *p)
{
  const pfe_tensor *a = pf_blas_a(call), *b = pf_blas_b(call), *out = call->out;
  const bool row = call->m == 1 && call->n != 1;  /* b's columns times a */
  const int64_t rows = row ? call->n : call->m;
  p->op = p->self ? "addmv" : "mv";
  if ((call->m != 1 && call->n != 1) || call->batches != 1)
    return "mv gives one vector";
  if (!is_held(pf_blas_alpha(call), a->dtype) ||
      (call->steps->has_c && !is_held(call->beta, a->dtype)))
    return "addmv rounds alpha and beta to its operands' dtype";
  p->view[A] = row ? matrix(b, rows, call->k, b->column_stride, b->row_stride)
                   : matrix(a, rows, call->k, a->row_stride, a->column_stride);
  p->view[B] = row ? vector(a, call->k, a->column_stride) : vector(b, call->k, b->row_stride);
  p->view[OUT] = vector(out, rows, row ? out->column_stride : out->row_stride);
  if (p->self)
    p->view[SELF] = vector(p->self, rows, row ? p->self->column_stride : p->self->row_stride);
  if (mode == PF_OPS_MV && may_be_onednn(call) && rows > 1 && p->view[OUT].stride[0] != 1)
    return "it writes a vector densely, whatever its stride (torch-ops:mv-raw shows it)";
  return NULL;
}

/* Of a result of one column, whose rows may be batches. */
static int64_t column_stride(const pfe_call *call)
{
  if (call->m > 1)
    return call->out->row_stride;
  for (int d = call->batch_rank; d-- > 0;)
    if (call->batch[d] > 1)
      return call->out->batch_stride[d];
  return 1;
}

static const char *plan(const pf_ops *o, const pfe_call *call, pf_ops_plan *p)
{
  const pfe_step *s = call->steps;
  *p = (pf_ops_plan){.self = s->has_c      ? call->tensor[PFE_C]
                             : s->has_bias ? call->tensor[PFE_BIAS]
                                           : NULL};
  if (s->has_c && s->has_bias)
    return "it adds c or a bias, not both";
  if (!s->has_c && pf_blas_alpha(call) != 1)
    return "without c it has no alpha";
  if (o->mode == PF_OPS_DOT)
    return plan_dot(call, p);
  if (o->mode != PF_OPS_MATMUL)
    return plan_mv(o->mode, call, p);
  if (call->n == 1 && may_be_onednn(call)) {
    if (call->k > 1 && pf_blas_b(call)->row_stride != 1)
      return "it reads a column densely, whatever its stride (torch:raw shows it)";
    if (column_stride(call) != 1)
      return "it writes a column densely, whatever its stride (torch:raw shows it)";
  }
  return plan_matmul(call, p);
}

/* --- calls --------------------------------------------------------------------------------- */

static pfe_status supports(void *state, const pfe_call *call, pfe_answer *answer)
{
  const pf_ops *o = state;
  const int32_t x = pf_blas_a(call)->dtype;
  pf_ops_plan p;
  const char *why = plan(o, call, &p);
  snprintf(answer->text, sizeof answer->text, "%s", why ? why : "");
  if (why)
    return PFE_UNSUPPORTED;
  const bool above = may_be_onednn(call);
  snprintf(answer->kernel, sizeof answer->kernel, "%s%s", p.op, above ? " above 4096" : "");
  if (above)
    pf_torch_declare(&o->torch, x, &answer->settings);
  else if ((x == PFE_F16 && o->narrow_f16) ||
           (o->mode != PF_OPS_MATMUL && (x == PFE_F16 || x == PFE_BF16)))
    answer->settings.accumulator = x;  /* loops of dot and mv add in it */
  return PFE_OK;
}

static pfe_status run(void *state, const pfe_call *call, pfe_answer *answer)
{
  const pf_ops *o = state;
  pf_ops_plan p;
  pf_torch_tensor tensor[ROLES] = {NULL};
  const char *why = plan(o, call, &p);
  snprintf(answer->text, sizeof answer->text, "%s", why ? why : "");
  int failed = why != NULL;
  for (int r = A; r < ROLES && !failed; r++)
    if (r != SELF || (p.self && !(call->in_place && call->steps->has_c))) {
      pf_torch_enclose(&p.view[r]);
      failed = pf_torch_make(&o->torch, &p.view[r], &tensor[r]);
    }
  if (!failed)
    failed = o->call(p.op, tensor[OUT], tensor[SELF] || !p.self ? tensor[SELF] : tensor[OUT],
                     tensor[A], tensor[B], call->steps->has_c ? call->beta : 1,
                     pf_blas_alpha(call), answer->text, sizeof answer->text);
  for (int r = A; r < ROLES; r++)
    if (tensor[r])
      o->torch.f.drop(tensor[r]);
  return failed ? PFE_ERROR : PFE_OK;
}

/* --- opening ------------------------------------------------------------------------------- */

#define SAME(T) {T, T, T, T, T, T}
#define NARROW(T) {T, T, PFE_F32, T, T, T}

static const pfe_types types[] = {
  SAME(PFE_F32), SAME(PFE_F64), NARROW(PFE_BF16), NARROW(PFE_F16),
  {PFE_S32, PFE_S32, PFE_S32, PFE_S32, PFE_NONE, PFE_NONE},
};

/* As installed, and in the tree that precfuzz is built in. */
static const char *const places[] = {"../lib/precfuzz/torch", "../../lib/precfuzz/torch", "torch",
                                     "../torch", NULL};

static pfe_status start(pf_ops *o, const pfe_request *request, char text[192])
{
  static const char *const modes[] = {"matmul", "dot", "mv", "mv-raw", NULL};
  char path[512], ops[512];
  const char *const named[] = {path, NULL}, *const shim[] = {ops, NULL};
  const pf_symbol symbols[] = {{(void **)&o->call, "precfuzz_torch_op", 0}, {0}};
  void *library;
  int mode = PF_OPS_MATMUL;
  if (pf_library_argument(request->argument, modes, &mode, path, text))
    return PFE_ERROR;
  o->mode = (pf_ops_mode)mode;
  if (pf_library_beside(places, "ops.so", ops)) {
    snprintf(text, 192, "not installed (package libtorch-dev of Debian 13, then make torch-ops)");
    return PFE_ABSENT;
  }
  pfe_status status =
    pf_torch_load(&o->torch, path[0] ? named : pf_torch_files, request->threads, text);
  if (!status)
    status = pf_library_open(shim, "libtorch-dev, then make torch-ops", symbols, &library, text);
  pfe_answer answer = {.text = ""};
  if (status || !pf_measure_f16(&pf_torch_ops_engine, o, &o->narrow_f16, &answer))
    return status;
  snprintf(text, 192, "a first product failed: %.160s", answer.text);
  return PFE_ERROR;
}

static void close_ops(void *state)
{
  free(state);
}

static pfe_status open_ops(const pfe_engine *self, const pfe_request *request, pfe_info *info,
                           void **state, char text[192])
{
  pf_ops *o = calloc(1, sizeof *o);
  (void)self;
  if (!o) {
    snprintf(text, 192, "out of memory");
    return PFE_ERROR;
  }
  const pfe_status status = start(o, request, text);
  if (status) {
    close_ops(o);
    return status;
  }
  pf_torch_describe(&o->torch, request->threads, info);
  info->types = types;
  info->types_count = sizeof types / sizeof *types;
  *state = o;
  return PFE_OK;
}

const pfe_engine pf_torch_ops_engine = {
  .version = PFE_VERSION, .size = sizeof(pfe_engine), .name = "torch-ops",
  .note = "PyTorch's matmul and linear, by C++ (make torch-ops); or torch-ops:dot, torch-ops:mv",
  .open = open_ops, .supports = supports, .run = run, .close = close_ops};
