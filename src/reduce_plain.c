/* Plain alpha and beta, no bias, no scales, a simple dtype. */
#include <string.h>

#include "reduce_parts.h"

/* --- alpha and beta ------------------------------------------------------------------------ */

int64_t pf_scalar_count(const pf_case *c, int is_beta)
{
  (void)is_beta;
  return pf_graph_of(c->graph)->has_c ? 2 + PF_SIMPLER_VALUES : 0;
}

/* Here 1 is simpler than 0: it says nothing. */
pf_status pf_scalar_make(int is_beta, int64_t index, pf_arena *a, pf_case *c)
{
  const bool f64 = c->operand[PF_X].dtype == PF_F64 || c->operand[PF_Y].dtype == PF_F64;
  const pf_dtype t = f64 ? PF_F64 : PF_F32;
  double *value = is_beta ? &c->beta : &c->alpha;
  uint64_t bits;
  (void)a;
  if (index < 2)
    *value = index == 0;
  else if (pf_simpler_value(t, pf_encode(t, *value), (int)index - 2, &bits))
    *value = pf_decode(t, bits);
  else
    return PF_UNSUPPORTED;
  return PF_OK;
}

int64_t pf_bias_count(const pf_case *c, int part)
{
  (void)part;
  return c->operand[PF_BIAS].present;
}

/* Where the graph needs one, the case is refused. */
pf_status pf_bias_make(int part, int64_t index, pf_arena *a, pf_case *c)
{
  (void)part;
  (void)index;
  (void)a;
  c->operand[PF_BIAS] = (pf_operand){0};
  return PF_OK;
}

/* --- scales -------------------------------------------------------------------------------- */

enum { NO_SCALE, ONE_SCALE, WHOLE_SCALE_WAYS };

int64_t pf_scale_ways(const pf_case *c, int role)
{
  const pf_scale *s = &c->operand[role].scale;
  return s->kind == PF_SCALE_NONE
             ? 0
             : WHOLE_SCALE_WAYS + pf_pieces_count(s->count) * PF_SIMPLER_VALUES;
}

/* The first scale for all. */
static pf_status share_scale(pf_scale *s)
{
  if (s->kind == PF_SCALE_TENSOR || !s->count)
    return PF_UNSUPPORTED;
  *s = (pf_scale){.kind = PF_SCALE_TENSOR, .count = 1, .values = s->values};
  return PF_OK;
}

static pf_status simplify_scales(pf_scale *s, int64_t index, pf_arena *a)
{
  const pf_piece piece = pf_pieces_at(s->count, index / PF_SIMPLER_VALUES);
  float *to = pf_alloc_array(a, (size_t)s->count, sizeof *to);
  if (!to)
    return PF_NO_MEMORY;
  memcpy(to, s->values, (size_t)s->count * sizeof *to);
  for (int64_t i = piece.from; i < piece.from + piece.length; i++) {
    uint64_t bits;
    if (pf_simpler_value(PF_F32, pf_encode(PF_F32, (double)to[i]), (int)(index % PF_SIMPLER_VALUES),
                         &bits))
      pf_store_bits(PF_F32, &to[i], bits);
  }
  s->values = to;
  return PF_OK;
}

pf_status pf_scale_make(int role, int64_t index, pf_arena *a, pf_case *c)
{
  pf_scale *s = &c->operand[role].scale;
  switch (index) {
  case NO_SCALE: *s = (pf_scale){0}; return PF_OK;
  case ONE_SCALE: return share_scale(s);
  default: return simplify_scales(s, index - WHOLE_SCALE_WAYS, a);
  }
}

/* --- dtypes -------------------------------------------------------------------------------- */

/* f32 or s8 for all operands, then for each. */
static const pf_dtype simple[] = {PF_F32, PF_S8};
enum { SIMPLE = sizeof simple / sizeof *simple };

int64_t pf_dtype_ways(const pf_case *c, int part)
{
  (void)c;
  (void)part;
  return SIMPLE * (1 + PF_OUT);
}

static pf_status convert(pf_operand *o, pf_dtype t, pf_arena *a)
{
  const int64_t count = pf_operand_count(o);
  const size_t from = (size_t)pf_dtype_of(o->dtype)->bytes, to = (size_t)pf_dtype_of(t)->bytes;
  uint8_t *values = pf_alloc_raw(a, (size_t)count * to);
  if (!values)
    return PF_NO_MEMORY;
  for (int64_t i = 0; i < count; i++)
    pf_store(t, values + (size_t)i * to, pf_load(o->dtype, o->values.verbatim + (size_t)i * from));
  o->values.verbatim = values;
  o->dtype = t;
  return PF_OK;
}

pf_status pf_dtype_make(int part, int64_t index, pf_arena *a, pf_case *c)
{
  const pf_dtype t = simple[index % SIMPLE];
  const int64_t only = index / SIMPLE - 1;
  (void)part;
  for (int r = PF_X; r < PF_OUT; r++) {
    pf_operand *o = &c->operand[r];
    if (o->present && o->dtype != t && (only < 0 || only == r))
      PF_TRY(convert(o, t, a));
  }
  return PF_OK;
}
