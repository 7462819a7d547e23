/* Plainer layouts: dense, no offset, no gaps, smaller gaps; not in place. */
#include <string.h>

#include "reduce_parts.h"

/* What is more than it must be loses half of the excess, a quarter, ..., one: as many steps as it has
   bits lead to the least that still shows a finding. */
enum { LESS_WAYS = 32 };
enum { IN_PLACE, DENSE, NO_OFFSET, TIGHT, LESS_OFFSET, WHOLE_WAYS = LESS_OFFSET + LESS_WAYS };
/* And for each dimension a stride: */
enum { LEAST, LEAST_GAP, LESS_GAP, STRIDE_WAYS = LESS_GAP + LESS_WAYS };

void pf_operand_relax(pf_operand *o, bool was_dense)
{
  if (was_dense)
    pf_dense_strides(o->rank, o->dim, o->stride);
}

int64_t pf_layout_count(const pf_case *c, int role)
{
  const pf_operand *o = &c->operand[role];
  const bool plain = pf_operand_dense(o) && !(role == PF_OUT && c->out_is_c);
  return o->present && !plain ? WHOLE_WAYS + o->rank * STRIDE_WAYS : 0;
}

/* Of two dimensions, is i inside j? */
static bool is_inside(const pf_operand *o, int i, int j)
{
  return o->stride[i] < o->stride[j] || (o->stride[i] == o->stride[j] && i > j);
}

/* The stride at which dimension i just does not overlap those inside it. */
static int64_t least_stride(const pf_operand *o, int i)
{
  int64_t reach = 0;
  for (int j = 0; j < o->rank; j++)
    if (j != i && is_inside(o, j, i))
      reach += (o->dim[j] > 1 ? o->dim[j] - 1 : 0) * o->stride[j];
  return reach + 1;
}

/* Without gaps, the dimensions in the order in which they are. */
static void tighten(pf_operand *o)
{
  const pf_operand was = *o;
  for (int i = 0; i < o->rank; i++) {
    o->stride[i] = 1;
    for (int j = 0; j < o->rank; j++)
      if (j != i && is_inside(&was, j, i) && o->dim[j] > 1)
        o->stride[i] *= o->dim[j];
  }
}

static pf_status lessen(int64_t *v, int64_t least, int64_t way)
{
  const int64_t excess = *v - least, less = excess > 0 ? (excess + 1) >> (way + 1) : 0;
  *v -= less;
  return less ? PF_OK : PF_UNSUPPORTED;
}

static pf_status restride(pf_operand *o, int64_t index)
{
  const int dim = (int)(index / STRIDE_WAYS);
  const int64_t least = least_stride(o, dim), way = index % STRIDE_WAYS;
  if (way >= LESS_GAP)
    return lessen(&o->stride[dim], least, way - LESS_GAP);
  o->stride[dim] = way == LEAST ? least : least + 1;
  return PF_OK;
}

/* A candidate that is no layout is refused with the whole case. */
pf_status pf_layout_make(int role, int64_t index, pf_arena *a, pf_case *c)
{
  pf_operand *o = &c->operand[role];
  (void)a;
  if (role == PF_OUT && c->out_is_c && index != IN_PLACE)
    return PF_UNSUPPORTED;
  switch (index) {
  case IN_PLACE:
    if (role != PF_OUT || !c->out_is_c)
      return PF_UNSUPPORTED;
    c->out_is_c = false;
    return PF_OK;
  case DENSE:
    o->offset = 0;
    pf_operand_relax(o, true);
    return PF_OK;
  case NO_OFFSET: o->offset = 0; return PF_OK;
  case TIGHT: tighten(o); return PF_OK;
  default:
    return index < WHOLE_WAYS ? lessen(&o->offset, 0, index - LESS_OFFSET)
                              : restride(o, index - WHOLE_WAYS);
  }
}
