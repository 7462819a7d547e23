/* Encodings of floats put together from integers. */
#ifndef PF_VALUES_PACK_H
#define PF_VALUES_PACK_H

#include "values_draw.h"

/* An encoding is a sign bit above a magnitude; magnitudes order as the values they stand for, zero
   first, then subnormals, then normals up to `max`, then whatever is not finite. */
typedef struct encoding {
  int precision;
  int emin, emax;  /* exponents of the smallest and the largest normal */
  int quantum;     /* exponent of the smallest subnormal */
  int sign_at;     /* bit */
  uint64_t max;    /* magnitude of the largest finite value */
  bool has_infinity, has_negative_zero;
} encoding;

static inline uint64_t with_sign(const encoding *e, bool negative, uint64_t magnitude)
{
  if (magnitude == 0 && !e->has_negative_zero)
    return 0;
  return magnitude | (uint64_t)negative << e->sign_at;
}

/* (-1)^negative * m * 2^exponent; rounded to nearest with ties away (one fixed rule is all that is
   needed here), saturated at the largest finite value.  m = 0 gives +0. */
static inline uint64_t pack(const encoding *e, bool negative, uint64_t m, int exponent)
{
  if (m == 0)
    return 0;
  const int top = 63 - __builtin_clzll(m);
  int last = top + exponent - (e->precision - 1);
  if (last < e->quantum)
    last = e->quantum;
  const int shift = last - exponent;
  if (shift > 63)
    m = 0;
  else if (shift > 0)
    m = (m >> shift) + (m >> (shift - 1) & 1);
  else
    m <<= -shift;
  const uint64_t magnitude = m + ((uint64_t)(last - e->quantum) << (e->precision - 1));
  return with_sign(e, negative, magnitude > e->max ? e->max : magnitude);
}

enum { NORMAL_DRAWS = 4 };

/* The element of about N(0, 1) that a stream gives. */
static inline uint64_t value_normal(const encoding *e, pf_stream s)
{
  const int64_t x = draw_normal(&s);
  return pack(e, x < 0, (uint64_t)(x < 0 ? -x : x), NORMAL_QUANTUM);
}

/* to[i] of stream i, i below count <= PF_RUN; `to` has room for PF_RUN. */
void pf_pack_normals(const encoding *e, const pf_draws *d, int count, uint64_t *to);
/* The same by one instruction set, for pf_pack_normals and for tests. */
void pf_pack_normals_portable(const encoding *e, const pf_draws *d, int count, uint64_t *to);
#if defined(__x86_64__)
void pf_pack_normals_avx512(const encoding *e, const pf_draws *d, int count, uint64_t *to);
#endif

#endif
