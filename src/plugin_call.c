/* Calls and settings, from our types to the public ones and back. */
#include "plugin_parts.h"

#include <string.h>

_Static_assert((int)PFE_F64 == PF_F64 && (int)PFE_S32 == PF_S32 && (int)PFE_U8 == PF_U8 &&
                   (int)PFE_F8_E5M2FNUZ == PF_F8_E5M2FNUZ && PF_DTYPE_COUNT == PFE_S32 + 1,
               "dtypes have the same numbers");
_Static_assert((int)PFE_STEP == PF_REF_STEP && (int)PFE_BETA == PF_REF_BETA &&
                   (int)PFE_SCALE_Y == PF_REF_SCALE_Y && (int)PFE_BIAS == PF_REF_BIAS,
               "references have the same numbers");
_Static_assert((int)PFE_MAX_STEPS == PF_MAX_STEPS && (int)PFE_MAX_BATCH == PF_MAX_BATCH,
               "limits are the same");
_Static_assert((int)PFE_ADD == PF_ADD && (int)PFE_ORDER_LANES == PF_LANES,
               "kinds and orders have the same numbers");
_Static_assert(PF_TOWARD_ZERO == 2 && PF_OVERFLOW_WRAP == 3 && PF_UNSIGNED == 2,
               "as pfe_format numbers them");

static pfe_tensor tensor_of(const pf_matrix *m, pfe_shape shape)
{
  pfe_tensor t = {.data = m->data, .dtype = (int32_t)m->dtype, .shape = (int32_t)shape,
                  .row_stride = m->row_stride,
                  .column_stride = m->column_stride};
  memcpy(t.batch_stride, m->batch_stride, sizeof t.batch_stride);
  return t;
}

static pfe_format format_of(const pf_format *f)
{
  pf_dtype t;
  const bool whole = pf_dtype_for(f, &t) && pf_format_equal(f, pf_format_of(t));
  return (pfe_format){
    .dtype = whole ? (int32_t)t : PFE_NONE, .precision = f->precision, .emin = f->emin,
    .has_infinity = f->has_infinity, .has_negative_zero = f->has_negative_zero,
    .rounding = (int32_t)f->rounding, .overflow = (int32_t)f->overflow,
    .range = (int32_t)f->range, .max = f->max};
}

/* Products are kept in the accumulator's format, nothing is stated, every format is a dtype's. */
static bool is_plain(const pf_step *s, const pfe_step *to)
{
  if (to->result.dtype != to->out)
    return false;
  if (s->kind > PF_MULSUM)
    return true;
  const pf_accumulator *a = &s->acc;
  return to->acc != PFE_NONE && pf_format_equal(&a->format, &a->product) &&
         a->sum.order == PF_ANY_ORDER && !a->start_c && a->split <= 1 && !a->drop && !a->ftz_in &&
         !a->ftz_out;
}

static void set_step(const pf_step *s, pfe_step *to)
{
  *to = (pfe_step){.kind = (int32_t)s->kind, .a = s->a, .b = s->b, .acc = PFE_NONE,
                   .out = (int32_t)s->storage, .result = format_of(&s->out)};
  if (s->kind <= PF_MULSUM) {
    to->has_alpha = s->alpha;
    to->has_c = s->c;
    to->has_bias = s->bias;
    to->accumulator = format_of(&s->acc.format);
    to->product = format_of(&s->acc.product);
    to->acc = to->accumulator.dtype;
    to->order = (int32_t)s->acc.sum.order;
    to->width = s->acc.sum.width;
    to->fused = s->acc.sum.fused;
    to->start_c = s->acc.start_c;
    to->split = s->acc.split;
    to->drop = s->acc.drop;
    to->ftz_in = s->acc.ftz_in;
    to->ftz_out = s->acc.ftz_out;
  }
  to->plain = is_plain(s, to);
}

/* Strides of the scales follow from where the vectors of the batches begin. */
static pfe_scales scales_of(const pf_problem *p, const pf_scale *what, const pf_scales *s,
                            const int64_t *line, int64_t lines)
{
  const int64_t k = p->shape.k ? p->shape.k : 1;  /* a block is no less */
  pfe_scales to = {.data = s->value, .block = k};
  if (!pf_scale_count(what, lines, p->shape.k))
    to.data = NULL;
  if (!to.data || !s->per_line || !p->shape.batches)
    return to;
  to.block = s->block < k ? s->block : k;
  to.line_stride = s->per_line;
  to.block_stride = s->per_line > 1;
  int64_t below = 1;
  for (int d = p->shape.batch_rank; d-- > 0; below *= p->shape.batch[d])
    if (p->shape.batch[d] > 1)
      to.batch_stride[d] = (line[below] - line[0]) * s->per_line;
  return to;
}

/* Results of steps that are laid out are casts of operands. */
static pfe_shape shape_of(const pf_call *call, int ref)
{
  if (ref == PF_REF_X || ref == PF_REF_Y)
    return ref == PF_REF_X ? PFE_SHAPE_X : PFE_SHAPE_Y;
  if (ref < PF_REF_STEP)
    return PFE_SHAPE_OUT;
  return call->y_side >> (ref - PF_REF_STEP) & 1 ? PFE_SHAPE_Y : PFE_SHAPE_X;
}

void pf_public_call_set(const pf_call *call, pf_public_call *to)
{
  const pf_problem *p = call->problem;
  const pf_shape *s = &p->shape;
  pfe_call *c = &to->call;
  *c = (pfe_call){
    .graph = pf_graph_of(p->what->graph)->name, .batch_rank = s->batch_rank,
    .in_place = call->in_place, .batches = s->batches, .m = s->m, .n = s->n, .k = s->k,
    .alpha = p->what->alpha, .beta = p->what->beta, .first = call->first, .count = call->count,
    .steps = to->step, 
    .scale_x = scales_of(p, &p->what->operand[PF_X].scale, &p->x_scales, p->x_line, p->x_lines),
    .scale_y = scales_of(p, &p->what->operand[PF_Y].scale, &p->y_scales, p->y_line, p->y_lines),
    .out = &to->out};
  memcpy(c->batch, s->batch, sizeof c->batch);
  for (int i = 0; i < call->count; i++)
    set_step(&call->steps[i], &to->step[i]);
  for (int r = 0; r < PF_REF_STEP + PF_MAX_STEPS; r++)
    if (call->value[r]) {
      to->tensor[r] = tensor_of(call->value[r], shape_of(call, r));
      c->tensor[r] = &to->tensor[r];
    }
  to->out = tensor_of(call->out, PFE_SHAPE_OUT);
}

static bool holds(const pfe_types *t, const pf_public_call *call)
{
  const pfe_call *c = &call->call;
  const pfe_step *s = c->steps;
  return t->x == c->tensor[s->a]->dtype && t->y == c->tensor[s->b]->dtype && t->acc == s->acc &&
         t->out == s->out && (!s->has_c || t->c == c->tensor[PFE_C]->dtype) &&
         (!s->has_bias || t->bias == c->tensor[PFE_BIAS]->dtype);
}

bool pf_public_types_hold(const pfe_types *types, int count, const pf_public_call *call)
{
  const pfe_step *s = call->call.steps;
  if (!call->call.tensor[s->a] || !call->call.tensor[s->b])
    return false;
  for (int i = 0; i < count; i++)
    if (holds(&types[i], call))
      return true;
  return false;
}

static bool within(int32_t value, int32_t most, const char *name, const char **why)
{
  if (value < 0 || value > most)
    *why = name;
  return value >= 0 && value <= most;
}

bool pf_declared_from(const pfe_settings *s, pf_declared *out, const char **why)
{
  if (!within(s->order, PFE_ORDER_LANES, "order", why) ||
      !within(s->width, 1 << 20, "width", why) ||
      !within(s->accumulator + 1, PFE_S32 + 1, "accumulator", why) ||
      !within(s->flush_inputs, PFE_DOES, "flush_inputs", why) ||
      !within(s->flush_sums, PFE_DOES, "flush_sums", why) ||
      !within(s->flush_outputs, PFE_DOES, "flush_outputs", why) ||
      !within(s->alpha_zero, PFE_ALPHA_ZERO_READS, "alpha_zero", why) ||
      !within(s->zero_skip, PFE_DOES, "zero_skip", why) ||
      !within(s->s32_overflow, PFE_OVERFLOW_EITHER, "s32_overflow", why) ||
      !within(s->f8_overflow, PFE_OVERFLOW_EITHER, "f8_overflow", why) ||
      !within(s->threads, 1 << 16, "threads", why))
    return false;
  if ((s->order == PFE_ORDER_BLOCKED || s->order == PFE_ORDER_LANES) != (s->width > 0)) {
    *why = "width";
    return false;
  }
  /* what overflows must stay infinite: the bound says when it may */
  if (s->accumulator != PFE_NONE && !pf_format_of((pf_dtype)s->accumulator)->has_infinity) {
    *why = "accumulator";
    return false;
  }
  *out = (pf_declared){
    .sum = {(pf_order)s->order, s->width, false},
    .has_accumulator = s->accumulator != PFE_NONE,
    .accumulator = s->accumulator == PFE_NONE ? PF_F64 : (pf_dtype)s->accumulator,
    .flush_inputs = (pf_maybe)s->flush_inputs, .flush_sums = (pf_maybe)s->flush_sums,
    .flush_outputs = (pf_maybe)s->flush_outputs, .alpha_zero = (pf_alpha_zero)s->alpha_zero,
    .zero_skip = (pf_maybe)s->zero_skip, .s32 = (pf_overflows)s->s32_overflow,
    .f8 = (pf_overflows)s->f8_overflow, .c_last = s->c_last != 0, .threads = s->threads};
  return true;
}
