/* Scales of the fuzz form. */
#include <math.h>

#include "form_fuzz_head.h"

uint32_t pf_fuzz_scalable(void)
{
  uint32_t set = 0;
  for (int t = 0; t < PF_DTYPE_COUNT; t++)
    if (pf_format_of((pf_dtype)t)->precision <= 24)
      set |= UINT32_C(1) << t;
  return set;
}

static int block_size(const uint8_t *at)
{
  static const uint8_t common[8] = {32, 16, 8, 4, 2, 1, 3, 128};
  return at[0] < 0xfc ? common[at[0] & 7] : 1 + ((at[0] & 3) << 8 | at[1]);
}

void pf_fuzz_scale(const uint8_t *at, pf_scale *s)
{
  *s = (pf_scale){
    .kind = (pf_scale_kind)pf_scale_slots[at[0] & 7],
    .block = block_size(at + 1),
    .seed = (uint32_t)at[3] | (uint32_t)at[4] << 8 | (uint32_t)at[5] << 16 | (uint32_t)at[6] << 24,
  };
}

pf_status pf_fuzz_scale_values(pf_reader *tail, int64_t lines, int64_t k, pf_arena *a,
                               pf_scale *s)
{
  if (s->kind == PF_SCALE_NONE)
    return PF_OK;
  s->count = pf_scale_count(s, lines, k);
  float *to = pf_alloc_array(a, (size_t)s->count, sizeof *to);
  if (!to)
    return PF_NO_MEMORY;
  for (int64_t i = 0; i < s->count; i++) {
    const double value = fabs(pf_decode(PF_F32, pf_read_le(tail, 4)));
    to[i] = value > 0 && isfinite(value) ? (float)value : 1;
  }
  s->values = to;
  return PF_OK;
}
