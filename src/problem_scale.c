/* Scales laid out densely, and the operands' vectors multiplied by them: exactly, since factors of
   at most 24 bits have products of at most 48, far inside double's range. */
#include "problem_parts.h"

static pf_status build(const pf_scale *s, bool of_x, int64_t lines, int64_t k, pf_arena *a,
                       pf_scales *out)
{
  const int64_t count = pf_scale_count(s, lines, k);
  *out = (pf_scales){.per_line = pf_scale_blocks(s, k), .block = s->block ? s->block : INT64_MAX};
  if (s->kind == PF_SCALE_NONE)
    return PF_OK;
  double *value = pf_alloc_raw(a, (size_t)count * sizeof *value);
  if (!value)
    return PF_NO_MEMORY;
  for (int64_t i = 0; i < count; i++)
    value[i] = (double)pf_scale_value(s, of_x, i);
  out->value = value;
  return PF_OK;
}

double pf_scale_at(const pf_scales *s, int64_t line, int64_t k)
{
  return s->value ? s->value[line * s->per_line + k / s->block] : 1;
}

/* The vectors themselves where nothing scales them. */
static pf_status multiply(const pf_scales *s, const double *vectors, int64_t lines, int64_t k,
                          pf_arena *a, const double **out)
{
  *out = vectors;
  if (!s->value)
    return PF_OK;
  double *to = pf_alloc_raw(a, (size_t)(lines * k) * sizeof *to);
  if (!to)
    return PF_NO_MEMORY;
  *out = to;
  for (int64_t i = 0; i < lines; i++) {
    const double *scale = s->value + i * s->per_line;
    for (int64_t j = 0; j < k; scale++) {
      const int64_t end = s->block < k - j ? j + s->block : k;
      for (; j < end; j++)
        *to++ = *scale * *vectors++;
    }
  }
  return PF_OK;
}

pf_status pf_problem_scale(pf_problem *p, pf_arena *a)
{
  const pf_scale *x = &p->what->operand[PF_X].scale, *y = &p->what->operand[PF_Y].scale;
  const int64_t k = p->shape.k;
  pf_status s = build(x, true, p->x_lines, k, a, &p->x_scales);
  if (s == PF_OK)
    s = build(y, false, p->y_lines, k, a, &p->y_scales);
  if (s == PF_OK)
    s = multiply(&p->x_scales, p->x_vectors, p->x_lines, k, a, &p->x_scaled);
  if (s == PF_OK)
    s = multiply(&p->y_scales, p->y_vectors, p->y_lines, k, a, &p->y_scaled);
  return s;
}
