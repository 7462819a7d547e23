/* Copies and casts of operands for engines that lack a layout or a dtype. */
#include "legalise.h"

#include <stdio.h>
#include <string.h>

const pf_legal_way pf_legal_ways[PF_LEGAL_WAYS] = {
  {.wide = false, .own_out = false}, {.wide = false, .own_out = true},
  {.wide = true, .own_out = false}, {.wide = true, .own_out = true},
};

static void dense_batches(const pf_shape *s, int64_t elements, pf_matrix *m)
{
  for (int d = s->batch_rank; d-- > 0; elements *= s->batch[d])
    m->batch_stride[d] = elements;
}

pf_status pf_lay_out(const pf_problem *p, pf_dtype t, bool x_side, const double *vectors,
                     pf_arena *a, pf_matrix *out)
{
  const pf_shape *s = &p->shape;
  const int bytes = pf_dtype_of(t)->bytes;
  const int64_t lines = x_side ? s->m : s->n;
  char *data = pf_alloc_array(a, (size_t)(s->batches * lines * s->k), (size_t)bytes);
  if (!data)
    return PF_NO_MEMORY;
  *out = (pf_matrix){.dtype = t, .data = data,
                     .row_stride = x_side ? s->k : 1, .column_stride = x_side ? 1 : s->k};
  dense_batches(s, lines * s->k, out);
  for (int64_t b = 0; b < s->batches; b++) {
    const double *from = vectors + (x_side ? p->x_line : p->y_line)[b] * s->k;
    for (int64_t i = 0; i < lines * s->k; i++, data += bytes)
      pf_store(t, data, from[i]);
  }
  return PF_OK;
}

/* A dense tensor of the output's shape: of values, or of markers where there are none. */
static pf_status lay_out_result(const pf_problem *p, pf_dtype t, const double *values, pf_arena *a,
                                pf_matrix *out)
{
  const pf_shape *s = &p->shape;
  const int bytes = pf_dtype_of(t)->bytes;
  char *data = pf_alloc_array(a, (size_t)s->outputs, (size_t)bytes);
  if (!data)
    return PF_NO_MEMORY;
  *out = (pf_matrix){.dtype = t, .data = data, .row_stride = s->n, .column_stride = 1};
  dense_batches(s, s->m * s->n, out);
  for (int64_t i = 0; i < s->outputs; i++, data += bytes)
    if (values)
      pf_store(t, data, values[i]);
    else
      pf_store_bits(t, data, pf_marker_bits(t));
  return PF_OK;
}

/* A sum in a dtype's format and in no stated order, whose operands that dtype can hold. */
static bool suits(const pf_call *call, pf_dtype *acc)
{
  const pf_step *s = call->steps;
  const pf_accumulator *a = &s->acc;
  if (call->count != 1 || s->kind > PF_MULSUM || !pf_dtype_for(&a->format, acc) ||
      !pf_format_equal(pf_format_of(*acc), &a->format) ||
      !pf_format_equal(&a->product, &a->format) || a->sum.order != PF_ANY_ORDER || a->start_c ||
      a->split > 1 || a->drop || a->ftz_in || a->ftz_out)
    return false;
  const pf_matrix *const operands[] = {call->value[s->a], call->value[s->b],
                                       s->c ? call->value[PF_REF_C] : NULL,
                                       s->bias ? call->value[PF_REF_BIAS] : NULL};
  for (int i = 0; i < 4; i++)
    if (operands[i] && !pf_format_contains(&a->format, pf_format_of(operands[i]->dtype)))
      return false;
  return true;
}

static bool same_layout(const pf_shape *s, const pf_matrix *a, const pf_matrix *b)
{
  for (int d = 0; d < s->batch_rank; d++)
    if (s->batch[d] > 1 && a->batch_stride[d] != b->batch_stride[d])
      return false;
  return a->row_stride == b->row_stride && a->column_stride == b->column_stride;
}

/* "x bf16 -> f32, ": what happens to one operand, if anything. */
static bool tell(const pf_shape *s, const char *name, const pf_matrix *from, const pf_matrix *to,
                 pf_legal *l)
{
  const size_t used = strlen(l->says);
  const char *before = used ? ", " : "";
  if (from->dtype != to->dtype)
    snprintf(l->says + used, sizeof l->says - used, "%s%s %s -> %s", before, name,
             pf_dtype_of(from->dtype)->name, pf_dtype_of(to->dtype)->name);
  else if (!same_layout(s, from, to))
    snprintf(l->says + used, sizeof l->says - used, "%s%s copied", before, name);
  return strlen(l->says) > used;
}

static pf_status copy_operands(const pf_call *call, bool wide, pf_dtype acc, pf_arena *a,
                               pf_legal *l)
{
  const pf_problem *p = call->problem;
  const pf_step *s = call->steps;
  const pf_matrix *x = call->value[s->a], *y = call->value[s->b];
  PF_TRY(pf_lay_out(p, wide ? acc : x->dtype, true, call->x_vectors, a, &l->x));
  PF_TRY(pf_lay_out(p, wide ? acc : y->dtype, false, call->y_vectors, a, &l->y));
  l->call.value[s->a] = &l->x;
  l->call.value[s->b] = &l->y;
  bool changed = tell(&p->shape, "x", x, &l->x, l);
  changed |= tell(&p->shape, "y", y, &l->y, l);
  if (s->c) {
    PF_TRY(lay_out_result(p, wide ? acc : p->c.dtype, p->c_values, a, &l->c));
    l->call.value[PF_REF_C] = &l->c;
    changed |= tell(&p->shape, "c", &p->c, &l->c, l);
  }
  if (s->bias) {
    PF_TRY(lay_out_result(p, wide ? acc : p->bias.dtype, p->bias_values, a, &l->bias));
    l->call.value[PF_REF_BIAS] = &l->bias;
    changed |= tell(&p->shape, "bias", &p->bias, &l->bias, l);
  }
  return changed ? PF_OK : PF_UNSUPPORTED;
}

/* Is there anything that a cast to acc would change? */
static bool is_cast(const pf_call *call, pf_dtype acc)
{
  const pf_step *s = call->steps;
  return call->value[s->a]->dtype != acc || call->value[s->b]->dtype != acc || s->storage != acc ||
         (s->c && call->problem->c.dtype != acc) ||
         (s->bias && call->problem->bias.dtype != acc);
}

pf_status pf_legalise(const pf_call *call, const pf_legal_way *way, pf_arena *a, pf_legal *out)
{
  const pf_problem *p = call->problem;
  pf_dtype acc;
  if (!suits(call, &acc))
    return PF_UNSUPPORTED;
  out->call = *call;
  out->step = *call->steps;
  out->own_out = way->own_out;
  out->says[0] = 0;
  out->call.steps = &out->step;
  out->call.in_place = false;
  if (way->wide && !is_cast(call, acc))
    return PF_UNSUPPORTED;
  pf_status status = copy_operands(call, way->wide, acc, a, out);
  if (status == PF_NO_MEMORY)
    return status;
  if (way->wide) {
    out->step.out = *pf_format_of(acc);
    out->step.storage = acc;
  }
  if (way->own_out)
    PF_TRY(lay_out_result(p, out->step.storage, NULL, a, &out->out));
  else
    PF_TRY(pf_output_new(p, out->step.storage, a, &out->fenced));
  if (!way->own_out)
    out->out = out->fenced.view;
  out->call.out = &out->out;
  if (tell(&p->shape, "result", &out->out, call->out, out))
    status = PF_OK;
  return status;
}

void pf_legal_read(const pf_legal *l, const pf_step *step, double *got)
{
  const pf_problem *p = l->call.problem;
  if (!l->own_out)
    pf_output_read(p, &l->fenced, got);
  for (int64_t i = 0; i < p->shape.outputs; i++) {
    if (l->own_out)
      got[i] = pf_load(l->out.dtype, (const char *)l->out.data +
                                         i * pf_dtype_of(l->out.dtype)->bytes);
    got[i] = pf_round(&step->out, got[i]);
  }
}
