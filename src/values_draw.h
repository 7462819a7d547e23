/* Random draws for the generators of values; integer arithmetic only. */
#ifndef PF_VALUES_DRAW_H
#define PF_VALUES_DRAW_H

#include "values.h"

#define PF_GOLDEN_GAMMA UINT64_C(0x9e3779b97f4a7c15)

/* Purposes keep the streams of kinds, and of mixing, apart; the roles x, y and addend keep operands
   that share a seed from being copies of each other. */
enum { PURPOSE_MIX = 255, PURPOSE_LINE = 1 << 8, PURPOSE_ROLE = 1 << 9 };

static inline uint64_t hash(uint64_t x)
{
  x += PF_GOLDEN_GAMMA;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* Of all streams of one tensor and purpose. */
static inline uint64_t stream_key(const pf_values *v, const pf_place *place, int purpose)
{
  const int role = place->negate ? 0 : place->k_count > 0 ? 1 : 2;
  const uint64_t what = (uint64_t)(purpose + role * PURPOSE_ROLE);
  return hash(what << 32 | v->seed);
}

static inline uint64_t stream(uint64_t key, int64_t at)
{
  return hash(key ^ (uint64_t)at);
}

/* What all elements of one tensor and kind have in common. */
typedef struct streams {
  uint64_t elements, lines;  /* keys */
  uint32_t seed;
  bool by_halves;            /* PF_CANCEL: how partners lie along K */
} streams;

static inline streams streams_of(const pf_values *v, pf_kind kind, const pf_place *place)
{
  return (streams){
    .elements = stream_key(v, place, (int)kind),
    .lines = stream_key(v, place, (int)kind + PURPOSE_LINE),
    .seed = v->seed,
    .by_halves = hash(v->seed) & 1,
  };
}

/* To the next element. */
static inline void pf_walk_on(pf_walk *at)
{
  pf_place *p = &at->place;
  p->index++;
  p->line++;
  if (p->k_count <= 0 || ++at->column < at->columns)
    return;
  at->column = 0;
  p->line -= at->columns;
  if (++p->k < p->k_count)
    return;
  p->k = 0;
  p->line += at->columns;
}

static inline uint64_t next(uint64_t *s)
{
  const uint64_t draw = hash(*s);
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
  const uint64_t even = UINT64_C(0x0000ffff0000ffff);
  uint64_t sums = 0;  /* two of six draws each */
  for (int i = 0; i < 3; i++) {
    const uint64_t draw = next(s);
    sums += (draw & even) + (draw >> 16 & even);
  }
  const int64_t sum = (int64_t)((sums & UINT32_MAX) + (sums >> 32)) - 12 * 65535 / 2;
  return sum * (INT64_C(1) << 43) + (int64_t)(next(s) >> 21);
}

#endif
