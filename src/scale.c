/* Scales: names, numbers of them, values by integer arithmetic from a seed. */
#include "scale.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "values.h"

static const char *const names[PF_SCALE_COUNT] = {
  [PF_SCALE_NONE] = "none", [PF_SCALE_TENSOR] = "tensor", [PF_SCALE_ROW] = "row",
  [PF_SCALE_BLOCK] = "block",
};

const char *pf_scale_kind_name(pf_scale_kind k)
{
  return names[k];
}

bool pf_scale_kind_find(const char *name, size_t length, pf_scale_kind *out)
{
  for (int k = 0; k < PF_SCALE_COUNT; k++)
    if (strlen(names[k]) == length && memcmp(names[k], name, length) == 0) {
      *out = (pf_scale_kind)k;
      return true;
    }
  return false;
}

int64_t pf_scale_blocks(const pf_scale *s, int64_t k)
{
  switch (s->kind) {
  case PF_SCALE_ROW: return 1;
  case PF_SCALE_BLOCK: return (k + s->block - 1) / s->block;
  case PF_SCALE_NONE:
  case PF_SCALE_TENSOR:
  case PF_SCALE_COUNT: break;
  }
  return 0;
}

int64_t pf_scale_count(const pf_scale *s, int64_t lines, int64_t k)
{
  return s->kind == PF_SCALE_TENSOR ? 1 : lines * pf_scale_blocks(s, k);
}

/* As e8m0 has them where the seed is even, else with a significand of f32's. */
float pf_scale_value(const pf_scale *s, bool of_x, int64_t index)
{
  if (s->values)
    return s->values[index];
  if (s->seed == 0)
    return 1;
  const uint64_t stream = pf_hash((uint64_t)s->seed << 1 | of_x);
  const uint64_t draw = pf_hash(stream ^ (uint64_t)index);
  const uint32_t exponent = 127 - 8 + (uint32_t)(draw >> 32) % 17;
  const uint32_t bits = exponent << 23 | (s->seed & 1 ? (uint32_t)draw & 0x7fffff : 0);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

bool pf_scale_equal(const pf_scale *a, const pf_scale *b)
{
  return a->kind == b->kind && a->block == b->block && a->seed == b->seed &&
         a->count == b->count && !a->values == !b->values &&
         (a->count == 0 || memcmp(a->values, b->values, (size_t)a->count * sizeof(float)) == 0);
}

static pf_status check_values(const pf_scale *s, const char *name, int64_t count, pf_error *e)
{
  if (s->count != count)
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: %" PRId64 " values of a scale, not %" PRId64, name,
                   s->count, count);
  for (int64_t i = 0; i < count; i++)
    if (!(s->values[i] > 0 && isfinite(s->values[i])))
      return pf_fail(e, PF_BAD_INPUT, 0, "%s: scale %" PRId64 " is not above 0 and finite", name,
                     i);
  return PF_OK;
}

pf_status pf_scale_finish(pf_scale *s, const char *name, int64_t lines, int64_t k, pf_error *e)
{
  if ((unsigned)s->kind >= PF_SCALE_COUNT)
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: unknown kind of scale", name);
  if (s->kind == PF_SCALE_BLOCK && (s->block < 1 || s->block > PF_MAX_SCALE_BLOCK))
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: scale block %d is not in 1..%d", name, s->block,
                   PF_MAX_SCALE_BLOCK);
  if (s->kind == PF_SCALE_NONE)
    *s = (pf_scale){0};
  if (s->kind != PF_SCALE_BLOCK)
    s->block = 0;
  const int64_t count = pf_scale_count(s, lines, k);
  const pf_status status = s->values ? check_values(s, name, count, e) : PF_OK;
  if (s->values && status == PF_OK)
    s->seed = 0;
  if (!s->values || count == 0) {
    s->values = NULL;
    s->count = 0;
  }
  return status;
}
