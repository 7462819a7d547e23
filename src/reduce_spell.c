/* Values spelled out, for reductions; and told as shortly as may be, for people and files. */
#include <string.h>

#include "problem_parts.h"
#include "reduce_parts.h"

/* --- spelling ------------------------------------------------------------------------------ */

static int64_t place_of(const pf_operand *o, int64_t index)
{
  int64_t place = o->offset;
  for (int i = o->rank - 1; i >= 0; i--) {
    place += index % o->dim[i] * o->stride[i];
    index /= o->dim[i];
  }
  return place;
}

/* What the storage holds, where elements may share a place. */
static pf_status spell_values(const pf_problem *p, pf_role role, pf_arena *a, pf_operand *o)
{
  const int64_t count = pf_operand_count(o);
  const size_t each = (size_t)pf_dtype_of(o->dtype)->bytes;
  const uint8_t *from = p->storage[role];
  uint8_t *to = pf_alloc_raw(a, (size_t)count * each);
  if (!to)
    return PF_NO_MEMORY;
  for (int64_t i = 0; i < count; i++)
    memcpy(to + (size_t)i * each, from + (size_t)place_of(o, i) * each, each);
  o->values = (pf_values){.kind = PF_VERBATIM, .verbatim = to};
  return PF_OK;
}

static pf_status spell_scales(const pf_case *c, pf_role role, pf_arena *a, pf_scale *s)
{
  const int64_t count = pf_scale_count(s, pf_operand_lines(c, role), pf_case_shape(c).k);
  float *values = pf_alloc_array(a, (size_t)count, sizeof *values);
  if (!values)
    return PF_NO_MEMORY;
  for (int64_t i = 0; i < count; i++)
    values[i] = pf_scale_value(s, role == PF_X, i);
  s->seed = 0;
  s->count = count;
  s->values = count ? values : NULL;
  return PF_OK;
}

pf_status pf_case_spell(const pf_case *c, pf_arena *a, pf_case *out)
{
  pf_problem p;
  PF_TRY(pf_problem_build(c, a, &p));
  *out = *c;
  for (pf_role r = PF_X; r < PF_OUT; r++)
    if (c->operand[r].present) {
      PF_TRY(spell_values(&p, r, a, &out->operand[r]));
      PF_TRY(spell_scales(c, r, a, &out->operand[r].scale));
    }
  return PF_OK;
}

/* --- telling ------------------------------------------------------------------------------- */

enum {
  EDIT = 12,   /* bytes of an archive */
  SHORT = 64   /* bytes that people would rather read than a seed */
};

/* The elements that `v` does not give, as edits of it; false where that would be no shorter than
   all elements. */
static pf_status tell_by(const pf_values *v, const uint8_t *given, pf_operand *o, pf_arena *a,
                         bool *shorter)
{
  const int64_t count = pf_operand_count(o), each = pf_dtype_of(o->dtype)->bytes;
  const int64_t most = count * each / EDIT;
  pf_edit *edit = pf_alloc_array(a, (size_t)most, sizeof *edit);
  int64_t edits = 0;
  if (!edit)
    return PF_NO_MEMORY;
  *shorter = false;
  for (int64_t i = 0; i < count; i++) {
    const uint64_t bits = pf_load_bits(o->dtype, o->values.verbatim + i * each);
    if (bits == pf_load_bits(o->dtype, given + i * each))
      continue;
    if (edits == most)
      return PF_OK;
    edit[edits++] = (pf_edit){i, bits};
  }
  *shorter = true;
  o->values = *v;
  o->values.edit_count = edits;
  o->values.edits = edits ? edit : NULL;
  return PF_OK;
}

/* What `v` gives without edits. */
static pf_status generate(const pf_case *c, pf_role role, const pf_values *v, pf_arena *a,
                          const uint8_t **out)
{
  const pf_problem p = {.what = c, .shape = pf_case_shape(c)};
  const pf_operand *o = &c->operand[role];
  const int64_t count = pf_operand_count(o);
  uint8_t *to = pf_alloc_raw(a, (size_t)count * (size_t)pf_dtype_of(o->dtype)->bytes);
  *out = to;
  if (!to)
    return PF_NO_MEMORY;
  pf_values_generate(v, o->dtype, pf_problem_walk(&p, role), count, to);
  return PF_OK;
}

static pf_status tell_operand(const pf_values *told, pf_role role, pf_arena *a, pf_case *c)
{
  const pf_values ones = {.kind = PF_EQUAL};
  const pf_values *const way[] = {&ones, told};
  const pf_operand *o = &c->operand[role];
  const int64_t bytes = pf_operand_count(o) * pf_dtype_of(o->dtype)->bytes;
  bool shorter = false;
  if (!bytes)
    c->operand[role].values = (pf_values){0};
  for (int i = 0; i < (bytes > SHORT ? 2 : bytes > 0) && !shorter; i++) {
    const pf_values v = {.kind = way[i]->kind, .other = way[i]->other, .mix = way[i]->mix,
                         .seed = way[i]->seed};
    const uint8_t *given;
    if (v.kind == PF_VERBATIM)
      continue;
    PF_TRY(generate(c, role, &v, a, &given));
    PF_TRY(tell_by(&v, given, &c->operand[role], a, &shorter));
  }
  return PF_OK;
}

static void tell_scale(pf_scale *s)
{
  for (int64_t i = 0; i < s->count; i++)
    if (s->values[i] != 1)
      return;
  s->count = 0;
  s->values = NULL;
}

pf_status pf_case_tell(const pf_values told[PF_OUT], pf_arena *a, pf_case *spelled)
{
  for (pf_role r = PF_X; r < PF_OUT; r++)
    if (spelled->operand[r].present) {
      PF_TRY(tell_operand(&told[r], r, a, spelled));
      tell_scale(&spelled->operand[r].scale);
    }
  return pf_case_finish(spelled, NULL);
}
