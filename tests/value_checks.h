/* Generated values for the tests of values: places, decoding, and the matrix of kinds and checks.

   A check is a predicate on what some kind generates.  It must hold for its own kind and fail for
   all the others: so each check is seen to fail, and a kind that silently became another one is,
   too. */
#ifndef PF_TESTS_VALUE_CHECKS_H
#define PF_TESTS_VALUE_CHECKS_H

#include <math.h>

#include "values.h"

/* The dtypes before the integers. */
enum { FLOAT_DTYPES = PF_F8_E5M2FNUZ + 1 };

static inline pf_values of_kind(pf_kind kind, uint32_t seed)
{
  return (pf_values){ .kind = kind, .other = kind, .seed = seed };
}

static inline pf_place place_of(bool x, int64_t line, int64_t k, int64_t k_count)
{
  return (pf_place){ .index = line * k_count + k, .line = line, .k = k, .k_count = k_count,
                     .negate = x };
}

static inline uint64_t bits_of(const pf_values *v, pf_dtype t, bool x, int64_t line, int64_t k,
                        int64_t k_count)
{
  const pf_place place = place_of(x, line, k, k_count);
  return pf_value_bits(v, t, &place);
}

static inline double value_of(const pf_values *v, pf_dtype t, bool x, int64_t line, int64_t k,
                       int64_t k_count)
{
  return pf_decode(t, bits_of(v, t, x, line, k, k_count));
}

static inline double addend_of(const pf_values *v, pf_dtype t, int64_t index)
{
  const pf_place place = { .index = index };
  return pf_decode(t, pf_value_bits(v, t, &place));
}

static inline bool near(double got, double expected, double deviation)
{
  return fabs(got - expected) <= 6 * deviation;
}

/* Share of hits among n draws of probability p. */
static inline bool share_is(int64_t hits, int64_t n, double p)
{
  return near((double)hits / (double)n, p, sqrt(p * (1 - p) / (double)n));
}

typedef struct value_check {
  pf_kind kind;
  bool (*holds)(pf_kind, pf_dtype);
} value_check;

static inline void assert_only_own_kind_passes(const value_check *checks, int count, int first,
                                               int end)
{
  for (int t = first; t < end; t++)
    for (int c = 0; c < count; c++)
      for (int k = 0; k < PF_VERBATIM; k++) {
        const bool expected = checks[c].kind == (pf_kind)k;
        if (checks[c].holds((pf_kind)k, (pf_dtype)t) != expected)
          fail_msg("%s values of %s %s the check for %s", pf_dtype_of((pf_dtype)t)->name,
                   pf_kind_name((pf_kind)k), expected ? "fail" : "pass",
                   pf_kind_name(checks[c].kind));
      }
}

#endif
