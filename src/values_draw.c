/* Draws of many streams at once, in copies for several instruction sets: integer arithmetic, so
   that all of them give the same bits. */
#include "values_draw.h"

#include <string.h>

void pf_draw_portable(int count, int draws, pf_draws *to)
{
  for (int i = 0; i < count; i++) {
    const uint64_t s = to->start[i] = hash(to->start[i]);
    for (int j = 0; j < draws; j++)
      to->draw[j][i] = hash(s + (uint64_t)j * PF_GOLDEN_GAMMA);
  }
}

#if defined(__x86_64__)
#define HASH(x)                            \
  do {                                     \
    x += PF_GOLDEN_GAMMA;                  \
    x = (x ^ x >> 30) * PF_HASH_FIRST;     \
    x = (x ^ x >> 27) * PF_HASH_SECOND;    \
    x ^= x >> 31;                          \
  } while (0)

/* The loop above on vectors of `width` bytes. */
#define DRAW_VECTORS(name, set, width)                                                         \
  _Static_assert(PF_RUN % (width / sizeof(uint64_t)) == 0, "a run is whole vectors");          \
  __attribute__((target(set))) void name(int count, int draws, pf_draws *to)                   \
  {                                                                                            \
    typedef uint64_t words __attribute__((vector_size(width)));                                \
    for (int i = 0; i < count; i += width / (int)sizeof(uint64_t)) {                           \
      words s, x;                                                                              \
      memcpy(&s, to->start + i, sizeof s);                                                     \
      HASH(s);                                                                                 \
      memcpy(to->start + i, &s, sizeof s);                                                     \
      for (int j = 0; j < draws; j++, s += PF_GOLDEN_GAMMA) {                                  \
        x = s;                                                                                 \
        HASH(x);                                                                               \
        memcpy(to->draw[j] + i, &x, sizeof x);                                                 \
      }                                                                                        \
    }                                                                                          \
  }

DRAW_VECTORS(pf_draw_avx2, "avx2", 32)
DRAW_VECTORS(pf_draw_avx512, "avx512f,avx512dq", 64)
#endif

void pf_draw(int count, int draws, pf_draws *to)
{
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512dq")) {
    pf_draw_avx512(count, draws, to);
    return;
  }
  if (__builtin_cpu_supports("avx2")) {
    pf_draw_avx2(count, draws, to);
    return;
  }
#endif
  pf_draw_portable(count, draws, to);
}

/* As many as vectors take. */
static int whole(int count)
{
  return (count + 7) & ~7;
}

void pf_draw_elements(uint64_t key, int64_t index, int count, int draws, pf_draws *to)
{
  for (int i = 0; i < whole(count); i++)
    to->start[i] = key ^ (uint64_t)(index + i);
  pf_draw(count, draws, to);
}

void pf_draw_lines(uint64_t key, pf_walk at, int count, int draws, pf_draws *to)
{
  for (int i = 0; i < whole(count); i++, pf_walk_on(&at))
    to->start[i] = key ^ (uint64_t)at.place.line;
  pf_draw(count, draws, to);
}
