/* The correct kernel and what all faults share with it: views, support, the walk over a batch. */
#include "faults/kernel.h"

#include "faults/faults.h"

void *pf_gemm_at(const pf_view *v, int64_t row, int64_t column)
{
  return v->at + row * v->row + column * v->column;
}

ptrdiff_t pf_gemm_beyond(const pf_view *v, int64_t row, int64_t column)
{
  return row * v->row + column * v->column - (v->last - v->at);
}

float pf_gemm_load(const pf_view *v, int64_t row, int64_t column)
{
  return (float)pf_load(v->dtype, pf_gemm_at(v, row, column));
}

float pf_gemm_sum(const pf_gemm *g, int64_t row, int64_t column, int64_t from, int64_t to)
{
  float sum = 0;
  for (int64_t k = from; k < to; k++) {
    const float product = pf_gemm_load(&g->a, row, k) * pf_gemm_load(&g->b, k, column);
    sum += product;
  }
  return sum;
}

float pf_gemm_scale(const pf_gemm *g, float sum)
{
  return g->k > 0 && g->alpha != 0 ? g->alpha * sum : 0;
}

float pf_gemm_add(const pf_gemm *g, int64_t row, int64_t column, float product)
{
  float value = product;
  if (g->has_c && g->beta != 0) value += g->beta * pf_gemm_load(&g->c, row, column);
  if (g->has_bias) value += pf_gemm_load(&g->bias, row, column);
  return value;
}

float pf_gemm_finish(const pf_gemm *g, int64_t row, int64_t column, float sum)
{
  return pf_gemm_add(g, row, column, pf_gemm_scale(g, sum));
}

float pf_gemm_correct(const pf_gemm *g, int64_t row, int64_t column)
{
  return pf_gemm_finish(g, row, column, pf_gemm_sum(g, row, column, 0, g->k));
}

void pf_gemm_store(const pf_gemm *g, int64_t row, int64_t column, double value)
{
  pf_store(g->out.dtype, pf_gemm_at(&g->out, row, column), pf_round(g->to, value));
}

void pf_gemm_rows(const pf_gemm *g, pf_gemm_element *element)
{
  for (int64_t row = 0; row < g->m; row++) {
    for (int64_t column = 0; column < g->n; column++) {
      pf_gemm_store(g, row, column, element(g, row, column));
    }
  }
}

float pf_gemm_narrow(pf_dtype t, float value)
{
  return (float)pf_round(pf_format_of(t), value);
}

bool pf_gemm_plain(const pf_accumulator *acc, const pf_format *f)
{
  return pf_format_equal(&acc->format, f) && pf_format_equal(&acc->product, f) &&
         acc->sum.order == PF_ANY_ORDER && !acc->start_c && acc->split <= 1 && acc->drop == 0 &&
         !acc->ftz_in && !acc->ftz_out;
}

/* c, bias, alpha and beta are values of the accumulator in every row; casts of x and y may be of
   formats of their own. */
static bool fits_f32(const pf_matrix *m)
{
  return pf_format_contains(pf_format_of(PF_F32), pf_format_of(m->dtype));
}

bool pf_gemm_fits_f32(const pf_call *call, const pf_step *s)
{
  return fits_f32(call->value[s->a]) && fits_f32(call->value[s->b]);
}

pf_status pf_kernel_supports(const pf_engine *e, const pf_call *call, const char **why)
{
  (void)e;
  const pf_step *s = &call->steps[0];
  *why = NULL;
  if (call->count != 1 || (s->kind != PF_MATMUL && s->kind != PF_MULSUM)) {
    *why = "runs one MATMUL or MULSUM at a time";
  } else if (!pf_gemm_plain(&s->acc, pf_format_of(PF_F32))) {
    *why = "accumulates in f32, in no stated order, without options";
  } else if (!pf_gemm_fits_f32(call, s)) {
    *why = "an operand does not fit f32";
  }
  return *why == NULL ? PF_OK : PF_UNSUPPORTED;
}

/* The view of batch 0 of a matrix of rows x columns. */
static pf_view view_of(const pf_problem *p, const pf_matrix *m, int64_t rows, int64_t columns)
{
  const ptrdiff_t bytes = pf_dtype_of(m->dtype)->bytes;
  pf_view v = {.dtype = m->dtype,
               .row = m->row_stride * bytes,
               .column = m->column_stride * bytes,
               .at = m->data,
               .first = m->data,
               .last = m->data};
  if (rows > 0 && columns > 0) v.last += (rows - 1) * v.row + (columns - 1) * v.column;
  for (int i = 0; i < p->shape.batch_rank; i++) {
    v.last += (p->shape.batch[i] - 1) * m->batch_stride[i] * bytes;
  }
  return v;
}

static void move_to_batch(const pf_problem *p, const pf_matrix *m, int64_t b, pf_view *v)
{
  v->at = v->first + pf_batch_offset(p, m, b) * pf_dtype_of(m->dtype)->bytes;
}

static pf_gemm gemm_of(const pf_call *call, const pf_format *to)
{
  const pf_problem *p = call->problem;
  const pf_step *s = &call->steps[0];
  const pf_shape *shape = &p->shape;
  pf_gemm g = {.m = shape->m, .n = shape->n, .k = shape->k, .to = to};
  g.a = view_of(p, call->value[s->a], g.m, g.k);
  g.b = view_of(p, call->value[s->b], g.k, g.n);
  g.out = view_of(p, call->out, g.m, g.n);
  g.has_c = s->c;
  if (g.has_c) g.c = view_of(p, call->value[PF_REF_C], g.m, g.n);
  g.has_bias = s->bias;
  if (g.has_bias) g.bias = view_of(p, call->value[PF_REF_BIAS], g.m, g.n);
  g.alpha = s->alpha ? (float)p->what->alpha : 1;
  g.beta = s->c ? (float)p->what->beta : 0;
  return g;
}

void pf_gemm_batches(const pf_call *call, const pf_format *to,
                     void (*matrix)(const pf_gemm *g, const void *user), const void *user)
{
  const pf_problem *p = call->problem;
  const pf_step *s = &call->steps[0];
  if (p->shape.outputs == 0) return;
  pf_gemm g = gemm_of(call, to);
  for (int64_t b = 0; b < p->shape.batches; b++) {
    move_to_batch(p, call->value[s->a], b, &g.a);
    move_to_batch(p, call->value[s->b], b, &g.b);
    move_to_batch(p, call->out, b, &g.out);
    if (g.has_c) move_to_batch(p, call->value[PF_REF_C], b, &g.c);
    if (g.has_bias) move_to_batch(p, call->value[PF_REF_BIAS], b, &g.bias);
    matrix(&g, user);
  }
}

static void run_matrix(const pf_gemm *g, const void *user)
{
  const pf_kernel *kernel = user;
  kernel->matrix(g, kernel->element);
}

pf_status pf_kernel_run(const pf_engine *e, const pf_call *call, pf_arena *scratch)
{
  (void)scratch;
  pf_gemm_batches(call, &call->steps[0].out, run_matrix, e->data);
  return PF_OK;
}

const pf_engine pf_fault_none =
    PF_KERNEL_ENGINE("none", "the kernel that the faults are planted in", pf_gemm_correct,
                     pf_gemm_rows);
