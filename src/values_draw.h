/* Random draws for the generators of values; integer arithmetic only. */
#ifndef PF_VALUES_DRAW_H
#define PF_VALUES_DRAW_H

#include "values.h"

#define PF_GOLDEN_GAMMA UINT64_C(0x9e3779b97f4a7c15)
#define PF_HASH_FIRST UINT64_C(0xbf58476d1ce4e5b9)
#define PF_HASH_SECOND UINT64_C(0x94d049bb133111eb)

/* Purposes keep the streams of kinds, and of mixing, apart; the roles x, y and addend keep operands
   that share a seed from being copies of each other. */
enum { PURPOSE_MIX = 255, PURPOSE_LINE = 1 << 8, PURPOSE_ROLE = 1 << 9 };

static inline uint64_t hash(uint64_t x)
{
  x += PF_GOLDEN_GAMMA;
  x = (x ^ x >> 30) * PF_HASH_FIRST;
  x = (x ^ x >> 27) * PF_HASH_SECOND;
  return x ^ x >> 31;
}

/* Of all streams of one tensor and purpose. */
static inline uint64_t stream_key(const pf_values *v, const pf_place *place, int purpose)
{
  const int role = place->negate ? 0 : place->k_count > 0 ? 1 : 2;
  const uint64_t what = (uint64_t)(purpose + role * PURPOSE_ROLE);
  return hash(what << 32 | v->seed);
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

enum {
  PF_RUN = 64,      /* elements generated at a time */
  PF_MAX_DRAWS = 4  /* that one element can need */
};

/* The streams of a run of elements: where each one starts, and what it gives then. */
typedef struct pf_draws {
  uint64_t start[PF_RUN];
  uint64_t draw[PF_MAX_DRAWS][PF_RUN];
} pf_draws;

/* Makes of start[i] hash(start[i]), i below count <= PF_RUN, and fills draw[j][i] with
   hash(start[i] + j * gamma), j below draws.  What lies behind `count` may be used, too. */
void pf_draw(int count, int draws, pf_draws *to);
/* The same by one instruction set, for pf_draw and for tests. */
void pf_draw_portable(int count, int draws, pf_draws *to);
#if defined(__x86_64__)
void pf_draw_avx2(int count, int draws, pf_draws *to);
void pf_draw_avx512(int count, int draws, pf_draws *to);
#endif

/* Of elements that know only their index. */
void pf_draw_elements(uint64_t key, int64_t index, int count, int draws, pf_draws *to);
/* Of elements that know only their line. */
void pf_draw_lines(uint64_t key, pf_walk at, int count, int draws, pf_draws *to);

/* One stream. */
typedef struct pf_stream {
  const uint64_t *next;
} pf_stream;

static inline pf_stream stream_of(const pf_draws *d, int i)
{
  return (pf_stream){d->draw[0] + i};
}

static inline uint64_t next(pf_stream *s)
{
  const uint64_t draw = *s->next;
  s->next += PF_RUN;
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
static inline int64_t draw_normal(pf_stream *s)
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
