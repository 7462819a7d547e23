/* Random numbers from a seed that the tests print: splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
   Where the order of evaluation is open, one draw an expression: every compiler sees the same
   cases. */
#ifndef PF_TESTS_RANDOM_SOURCE_H
#define PF_TESTS_RANDOM_SOURCE_H

#include <stdint.h>

/* Under AddressSanitizer a tenth of the work. */
#if defined(__SANITIZE_ADDRESS__)
#define FEWER(n) ((n) / 10)
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FEWER(n) ((n) / 10)
#endif
#endif
#ifndef FEWER
#define FEWER(n) (n)
#endif

typedef struct random_source {
  uint64_t state;
} random_source;

static inline uint64_t draw_bits(random_source *r)
{
  uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static inline int draw_below(random_source *r, int n)
{
  return (int)((draw_bits(r) >> 32) * (uint64_t)n >> 32);
}

static inline int draw_between(random_source *r, int low, int high)
{
  return low + draw_below(r, high - low + 1);
}

#endif
