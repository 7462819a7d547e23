/* Random draws for the generators of values; integer arithmetic only. */
#ifndef PF_VALUES_DRAW_H
#define PF_VALUES_DRAW_H

#include "values.h"

#define PF_GOLDEN_GAMMA UINT64_C(0x9e3779b97f4a7c15)

/* Purposes keep the streams of kinds, and of mixing, apart; the roles x, y and addend keep operands
   that share a seed from being copies of each other. */
enum { PURPOSE_MIX = 255, PURPOSE_LINE = 1 << 8, PURPOSE_ROLE = 1 << 9 };

static inline uint64_t stream(const pf_values *v, const pf_place *place, int purpose, int64_t at)
{
  const int role = place->negate ? 0 : place->k_count > 0 ? 1 : 2;
  const uint64_t what = (uint64_t)(purpose + role * PURPOSE_ROLE);
  return pf_hash(pf_hash(what << 32 | v->seed) ^ (uint64_t)at);
}

static inline uint64_t next(uint64_t *s)
{
  const uint64_t draw = pf_hash(*s);
  *s += PF_GOLDEN_GAMMA;
  return draw;
}

static inline uint64_t below(uint64_t draw, uint64_t count)
{
  return draw % count;  /* the bias is at most count * 2^-64 */
}

/* Draws of about N(0, 1) are in units of 2^NORMAL_QUANTUM, and below 6 = 12 / 2. */
enum { NORMAL_QUANTUM = -16 - 43 };

/* Sum of twelve uniform 16-bit integers less its mean: their variance is 12 * (2^32 - 1) / 12,
   so that 2^-16 scales it to one.  43 more random bits fill long significands: without
   them f64 sums would be exact and test nothing. */
static inline int64_t draw_normal(uint64_t *s)
{
  int64_t sum = -12 * 65535 / 2;
  for (int i = 0; i < 3; i++) {
    const uint64_t draw = next(s);
    for (int j = 0; j < 64; j += 16)
      sum += (int64_t)(draw >> j & 0xffff);
  }
  return sum * (INT64_C(1) << 43) + (int64_t)(next(s) >> 21);
}

#endif
