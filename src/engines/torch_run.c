/* Calls put as libtorch's mm, bmm, addmm, baddbmm or linear.  A call that libtorch refuses costs it
   milliseconds and a stack trace on standard error, so that all is checked before. */
#include <stdio.h>

#include "blas.h"
#include "torch_parts.h"

const char *const pf_torch_call_names[] = {"mm", "bmm", "addmm", "baddbmm", "linear"};

enum {
  A = PF_TORCH_A, B = PF_TORCH_B, OUT = PF_TORCH_OUT, SELF = PF_TORCH_SELF, ROLES = PF_TORCH_ROLES
};

/* --- views --------------------------------------------------------------------------------- */

/* All batch dimensions as one: is there such a stride? */
static bool fold_batches(const pfe_call *call, const pfe_tensor *t, int64_t *stride)
{
  int64_t next = 0;
  bool first = true;
  *stride = 0;
  for (int d = call->batch_rank; call->batches && d-- > 0;) {
    if (call->batch[d] == 1)
      continue;
    if (!first && t->batch_stride[d] != next)
      return false;
    if (first)
      *stride = t->batch_stride[d];
    first = false;
    next = t->batch_stride[d] * call->batch[d];
  }
  return true;
}

/* Batches and rows as one dimension. */
static bool fold_rows(const pfe_call *call, const pfe_tensor *t, int64_t *stride)
{
  int64_t batch;
  const bool folds = fold_batches(call, t, &batch);
  *stride = call->m == 1 && call->batches > 1 ? batch : t->row_stride;
  return folds && (call->m <= 1 || call->batches <= 1 || batch == t->row_stride * call->m);
}

void pf_torch_enclose(pf_torch_view *v)
{
  int64_t extent = 1;
  for (int d = v->rank; d-- > 0;)
    if (v->size[d] == 1)
      v->stride[d] = extent;
    else if (v->size[d] > 1)
      extent += (v->size[d] - 1) * v->stride[d];
}

/* The second operand is the same matrix for all batches, and all else folds into rows. */
static bool folds(const pfe_call *call, const pf_torch_plan *p)
{
  int64_t stride;
  if (call->batches <= 1 || !fold_batches(call, p->tensor[B], &stride) || stride)
    return false;
  for (int r = A; r < ROLES; r++)
    if (r != B && p->tensor[r] && !fold_rows(call, p->tensor[r], &stride))
      return false;
  return true;
}

static pf_torch_view matrix(const pfe_tensor *t, int64_t rows, int64_t columns, int64_t row_stride)
{
  return (pf_torch_view){.data = t->data, .dtype = t->dtype, .rank = 2, .size = {rows, columns},
                         .stride = {row_stride, t->column_stride}};
}

static void set_matrices(const pfe_call *call, pf_torch_plan *p)
{
  const int64_t rows = call->batch_rank ? call->batches * call->m : call->m;
  for (int r = A; r < ROLES; r++) {
    int64_t stride;
    if (r == B || !p->tensor[r])
      continue;
    fold_rows(call, p->tensor[r], &stride);
    p->view[r] = matrix(p->tensor[r], rows, r == A ? call->k : call->n, stride);
  }
  p->view[B] = matrix(p->tensor[B], call->k, call->n, p->tensor[B]->row_stride);
}

static bool set_batches(const pfe_call *call, pf_torch_plan *p)
{
  for (int r = A; r < ROLES; r++) {
    const pfe_tensor *t = p->tensor[r];
    int64_t stride;
    if (!t)
      continue;
    if (!fold_batches(call, t, &stride))
      return false;
    p->view[r] = (pf_torch_view){
      .data = t->data, .dtype = t->dtype, .rank = 3,
      .size = {call->batches, r == B ? call->k : call->m, r == A ? call->k : call->n},
      .stride = {stride, t->row_stride, t->column_stride}};
  }
  return true;
}

/* Weights come transposed, and the bias is a vector. */
static const char *make_linear(pf_torch_plan *p)
{
  pf_torch_view *b = &p->view[B], *self = &p->view[SELF];
  *b = (pf_torch_view){.data = b->data, .dtype = b->dtype, .rank = 2,
                       .size = {b->size[1], b->size[0]}, .stride = {b->stride[1], b->stride[0]}};
  p->what = PF_AT_LINEAR;
  if (!p->tensor[SELF])
    return NULL;
  if (self->size[0] > 1 && self->stride[0])
    return "linear takes one bias for all rows";
  if (self->size[1] > 1 && self->stride[1] != 1)
    return "linear reads a bias densely, whatever its stride";
  *self = (pf_torch_view){.data = self->data, .dtype = self->dtype, .rank = 1,
                          .size = {self->size[1]}, .stride = {self->stride[1]}};
  return NULL;
}

/* --- plans --------------------------------------------------------------------------------- */

/* With beta = 0 c is there, and not to be read. */
static void set_tensors(const pfe_call *call, pf_torch_plan *p)
{
  const pfe_step *s = call->steps;
  *p = (pf_torch_plan){
    .tensor = {[A] = pf_blas_a(call), [B] = pf_blas_b(call), [OUT] = call->out,
               [SELF] = s->has_c && call->in_place ? call->out
                        : s->has_c                 ? call->tensor[PFE_C]
                        : s->has_bias              ? call->tensor[PFE_BIAS]
                                                   : NULL},
    .alpha = pf_blas_alpha(call), .beta = s->has_c ? call->beta : 1};
  if (!p->tensor[SELF] && p->alpha != 1) {
    p->tensor[SELF] = call->out;
    p->beta = 0;
  }
}

static const char *declined(pf_torch_mode mode, const pfe_call *call)
{
  const pfe_step *s = call->steps;
  if (s->has_c && s->has_bias)
    return "it adds c or a bias, not both";
  if (s->acc == PFE_S32 && pf_blas_alpha(call) != 1)
    return "its products of integers have no alpha";
  if (mode == PF_TORCH_LINEAR && (s->has_c || pf_blas_alpha(call) != 1))
    return "linear has no alpha or c";
  if (mode == PF_TORCH_LINEAR && !call->k)
    return "linear fails for a sum of nothing (k = 0)";
  return NULL;
}

static const char *shape(pf_torch_mode mode, const pfe_call *call, pf_torch_plan *p)
{
  if (mode != PF_TORCH_BMM && (!call->batch_rank || folds(call, p))) {
    set_matrices(call, p);
    p->what = p->tensor[SELF] ? PF_AT_ADDMM : PF_AT_MM;
    return mode == PF_TORCH_LINEAR ? make_linear(p) : NULL;
  }
  if (mode == PF_TORCH_LINEAR)
    return "its batches and rows do not fold into rows";
  p->what = p->tensor[SELF] ? PF_AT_BADDBMM : PF_AT_BMM;
  return set_batches(call, p) ? NULL : "its batches do not fold into one dimension";
}

static bool is_sixteen_bits(const pf_torch_plan *p)
{
  return p->tensor[A]->dtype == PFE_BF16 || p->tensor[A]->dtype == PFE_F16;
}

bool pf_torch_is_large(const pfe_call *call)
{
  const double most = 16 * 16 * 16;
  return (double)call->batches * (double)call->m * (double)call->n * (double)call->k > most;
}

static bool may_be_onednn(const pfe_call *call, const pf_torch_plan *p)
{
  return p->what == PF_AT_LINEAR || (is_sixteen_bits(p) && pf_torch_is_large(call));
}

/* What comes out wrong, always: docs/findings.md. */
static const char *known_to_fail(const pfe_call *call, const pf_torch_plan *p)
{
  if (!call->k && call->steps->has_c && is_sixteen_bits(p))
    return "with k = 0 it rounds beta to 16 bits (torch:raw shows it)";
  if (p->what == PF_AT_BADDBMM && call->alpha == 0 && p->beta != 1 && may_be_onednn(call, p))
    return "with alpha = 0 it forgets beta (torch:raw shows it)";
  if ((p->what == PF_AT_MM || p->what == PF_AT_ADDMM) && p->view[OUT].size[1] == 1 &&
      may_be_onednn(call, p)) {
    if (call->k > 1 && p->view[B].stride[0] != 1)
      return "it reads a column densely, whatever its stride (torch:raw shows it)";
    if (p->view[OUT].size[0] > 1 && p->view[OUT].stride[0] != 1)
      return "it writes a column densely, whatever its stride (torch:raw shows it)";
  }
  return NULL;
}

const char *pf_torch_plan_of(pf_torch_mode mode, const pfe_call *call, pf_torch_plan *p)
{
  const char *why = declined(mode, call);
  if (why)
    return why;
  set_tensors(call, p);
  why = shape(mode, call, p);
  if (why || mode == PF_TORCH_RAW)
    return why;
  for (int r = A; r < ROLES; r++)
    if (p->tensor[r])
      pf_torch_enclose(&p->view[r]);
  return known_to_fail(call, p);
}

void pf_torch_declare(const pf_torch *t, int32_t dtype, pfe_settings *s)
{
  if (dtype == PFE_BF16 && t->flushes_bf16)
    s->flush_inputs = s->flush_sums = s->flush_outputs = PFE_MAY;
  if (dtype == PFE_F16 && t->flushes_f16)
    s->flush_sums = PFE_MAY;
}

pfe_status pf_torch_supports(void *state, const pfe_call *call, pfe_answer *answer)
{
  const pf_torch *t = state;
  pf_torch_plan p;
  const char *why = pf_torch_plan_of(t->mode, call, &p);
  snprintf(answer->text, sizeof answer->text, "%s", why ? why : "");
  if (why)
    return PFE_UNSUPPORTED;
  const int32_t dtype = p.view[A].dtype;
  const bool onednn = may_be_onednn(call, &p);
  snprintf(answer->kernel, sizeof answer->kernel, "%s%s", pf_torch_call_names[p.what],
           onednn && p.what != PF_AT_LINEAR ? " above 4096" : "");
  if (onednn)
    pf_torch_declare(t, dtype, &answer->settings);
  else if (dtype == PFE_F16 && t->narrow_f16)
    answer->settings.accumulator = PFE_F16;
  return PFE_OK;
}

/* --- calls --------------------------------------------------------------------------------- */

int pf_torch_make(const pf_torch *t, const pf_torch_view *v, pf_torch_tensor *out)
{
  return t->f.from_blob(v->data, v->rank, v->size, v->stride, 0, t->dtype[v->dtype], t->cpu, 0,
                        out);
}

/* Its result is a tensor of its own. */
static int run_linear(const pf_torch *t, pf_torch_tensor *tensor)
{
  pf_torch_tensor result = NULL;
  int failed = t->f.linear(tensor[A], tensor[B], tensor[SELF] ? &tensor[SELF] : NULL, "none", NULL,
                           0, NULL, &result);
  if (!failed)
    failed = t->f.copy(tensor[OUT], result, 0);
  if (result)
    t->f.drop(result);
  return failed;
}

static void drop(const pf_torch *t, pf_torch_tensor *tensor)
{
  for (int r = A; r < ROLES; r++)
    if (tensor[r])
      t->f.drop(tensor[r]);
}

static int multiply(const pf_torch *t, const pf_torch_plan *p, pf_torch_tensor *tensor)
{
  const pf_torch_functions *f = &t->f;
  pf_torch_tensor self = p->tensor[SELF] == p->tensor[OUT] ? tensor[OUT] : tensor[SELF];
  switch (p->what) {
  case PF_AT_MM: return f->mm(tensor[OUT], tensor[A], tensor[B]);
  case PF_AT_BMM: return f->bmm(tensor[OUT], tensor[A], tensor[B]);
  case PF_AT_ADDMM: return f->addmm(tensor[OUT], self, tensor[A], tensor[B], p->beta, p->alpha);
  case PF_AT_BADDBMM: return f->baddbmm(tensor[OUT], self, tensor[A], tensor[B], p->beta, p->alpha);
  case PF_AT_LINEAR: break;
  }
  return run_linear(t, tensor);
}

/* Is there a linear of this dtype?  One product is run to see. */
bool pf_torch_has_linear(const pf_torch *t, int32_t dtype)
{
  double number[3] = {0};
  pf_torch_tensor tensor[ROLES] = {NULL};
  int failed = 0;
  for (int r = A; r < SELF && !failed; r++) {
    const pf_torch_view one = {.data = &number[r], .dtype = dtype, .rank = 2, .size = {1, 1},
                               .stride = {1, 1}};
    failed = pf_torch_make(t, &one, &tensor[r]);
  }
  if (!failed)
    failed = run_linear(t, tensor);
  drop(t, tensor);
  return !failed;
}

pfe_status pf_torch_run(void *state, const pfe_call *call, pfe_answer *answer)
{
  const pf_torch *t = state;
  pf_torch_plan p;
  pf_torch_tensor tensor[ROLES] = {NULL};
  const char *why = pf_torch_plan_of(t->mode, call, &p);
  if (why) {
    snprintf(answer->text, sizeof answer->text, "%s", why);
    return PFE_ERROR;
  }
  int failed = 0;
  for (int r = A; r < ROLES && !failed; r++)
    if (p.tensor[r] && (r != SELF || p.tensor[r] != p.tensor[OUT]))
      failed = pf_torch_make(t, &p.view[r], &tensor[r]);
  if (!failed)
    failed = multiply(t, &p, tensor);
  drop(t, tensor);
  if (failed)
    snprintf(answer->text, sizeof answer->text, "%s failed (--isolate shows what it says)",
             pf_torch_call_names[p.what]);
  return failed ? PFE_ERROR : PFE_OK;
}
