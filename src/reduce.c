/* The list of reductions, and what holds for all of them: a candidate is a case, and simpler. */
#include "reduce.h"

#include "form_archive.h"
#include "reduce_parts.h"

#define CUT(name, axis) {name, axis, pf_cut_count, pf_cut_make}
#define BY_OPERAND(name, count, make) \
  {"x " name, PF_X, count, make}, {"y " name, PF_Y, count, make}
#define BY_ADDEND(name, count, make) \
  {"c " name, PF_C, count, make}, {"bias " name, PF_BIAS, count, make}

const pf_reduction pf_reductions[] = {
  CUT("batches", PF_AXIS_BATCH + 3), CUT("batches", PF_AXIS_BATCH + 2),
  CUT("batches", PF_AXIS_BATCH + 1), CUT("batches", PF_AXIS_BATCH),
  CUT("rows", PF_AXIS_M), CUT("columns", PF_AXIS_N), CUT("terms", PF_AXIS_K),
  BY_OPERAND("batches", pf_share_count, pf_share_make),
  BY_ADDEND("sizes", pf_share_count, pf_share_make),
  {"dimensions", 0, pf_rank_count, pf_rank_make},
  {"bias", 0, pf_bias_count, pf_bias_make},
  BY_OPERAND("layout", pf_layout_count, pf_layout_make),
  BY_ADDEND("layout", pf_layout_count, pf_layout_make),
  {"out layout", PF_OUT, pf_layout_count, pf_layout_make},
  {"alpha", 0, pf_scalar_count, pf_scalar_make},
  {"beta", 1, pf_scalar_count, pf_scalar_make},
  {"dtypes", 0, pf_dtype_ways, pf_dtype_make},
  BY_OPERAND("scale", pf_scale_ways, pf_scale_make),
  BY_OPERAND("values", pf_values_count, pf_values_make),
  BY_ADDEND("values", pf_values_count, pf_values_make),
  {0}
};

pf_status pf_reduce_open(const uint8_t *data, size_t size, pf_arena *a, pf_reducible *out,
                         pf_error *e)
{
  pf_case c;
  PF_TRY(pf_archive_decode(data, size, a, &c, e));
  PF_TRY(pf_case_spell(&c, a, &out->what));
  for (int r = PF_X; r < PF_OUT; r++)
    out->told[r] = c.operand[r].values;
  out->burden = pf_burden_of(&out->what);
  return PF_OK;
}

/* What the machinery cannot take is no candidate. */
static pf_status unless_no_memory(pf_status s)
{
  return s == PF_OK || s == PF_NO_MEMORY ? s : PF_UNSUPPORTED;
}

/* Elements that share storage are what was written last. */
static pf_status settle(pf_arena *a, pf_case *c)
{
  const pf_case loose = *c;
  for (pf_role r = PF_X; r < PF_OUT; r++)
    if (c->operand[r].present && pf_operand_overlaps(&c->operand[r]))
      return pf_case_spell(&loose, a, c);
  return PF_OK;
}

pf_status pf_reduce_make(const pf_reducible *from, const pf_reduction *how, int64_t index,
                         pf_arena *a, uint8_t **out, size_t *size)
{
  pf_case c = from->what;
  PF_TRY(how->make(how->part, index, a, &c));
  PF_TRY(unless_no_memory(pf_case_finish(&c, NULL)));
  PF_TRY(unless_no_memory(settle(a, &c)));
  const pf_burden burden = pf_burden_of(&c);
  if (pf_burden_compare(&burden, &from->burden) >= 0)
    return PF_UNSUPPORTED;
  PF_TRY(unless_no_memory(pf_case_tell(from->told, a, &c)));
  return unless_no_memory(pf_archive_encode(&c, a, out, size, NULL));
}
