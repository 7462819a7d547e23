/* Normal elements of a run, in copies for several instruction sets: integer arithmetic, so that all
   of them give the same bits. */
#include "values_pack.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

void pf_pack_normals_portable(const encoding *e, const pf_draws *d, int count, uint64_t *to)
{
  const encoding own = *e;
  for (int i = 0; i < count; i++)
    to[i] = value_normal(&own, stream_of(d, i));
}

#if defined(__x86_64__)
#define TARGET __attribute__((target("avx512f,avx512dq,avx512cd")))

/* draw_normal of eight streams. */
static inline TARGET __m512i normals(const pf_draws *d, int i)
{
  const __m512i even = _mm512_set1_epi64(INT64_C(0x0000ffff0000ffff));
  const __m512i low = _mm512_set1_epi64(UINT32_MAX);
  __m512i sums = _mm512_setzero_si512();
  for (int j = 0; j < NORMAL_DRAWS - 1; j++) {
    const __m512i draw = _mm512_loadu_si512(d->draw[j] + i);
    sums = _mm512_add_epi64(sums, _mm512_and_si512(draw, even));
    sums = _mm512_add_epi64(sums, _mm512_and_si512(_mm512_srli_epi64(draw, 16), even));
  }
  sums = _mm512_add_epi64(_mm512_and_si512(sums, low), _mm512_srli_epi64(sums, 32));
  sums = _mm512_sub_epi64(sums, _mm512_set1_epi64(12 * 65535 / 2));
  const __m512i rest = _mm512_loadu_si512(d->draw[NORMAL_DRAWS - 1] + i);
  return _mm512_add_epi64(_mm512_slli_epi64(sums, 43), _mm512_srli_epi64(rest, 21));
}

/* pack without a branch: a shift by 64 or more, or by a negative number, gives zero. */
static inline TARGET __m512i pack_eight(const encoding *e, __m512i x)
{
  const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi64(1);
  const __m512i quantum = _mm512_set1_epi64(e->quantum), max = _mm512_set1_epi64((int64_t)e->max);
  const __m512i m = _mm512_abs_epi64(x);
  const __m512i top = _mm512_sub_epi64(_mm512_set1_epi64(63), _mm512_lzcnt_epi64(m));
  const __m512i last = _mm512_max_epi64(
      _mm512_add_epi64(top, _mm512_set1_epi64(NORMAL_QUANTUM - (e->precision - 1))), quantum);
  const __m512i shift = _mm512_sub_epi64(last, _mm512_set1_epi64(NORMAL_QUANTUM));
  const __m512i half = _mm512_and_si512(_mm512_srlv_epi64(m, _mm512_sub_epi64(shift, one)), one);
  const __m512i down = _mm512_add_epi64(_mm512_srlv_epi64(m, shift), half);
  const __m512i up = _mm512_sllv_epi64(m, _mm512_sub_epi64(zero, shift));
  const __m512i rounded = _mm512_mask_blend_epi64(_mm512_cmpgt_epi64_mask(shift, zero), up, down);
  const __m512i field = _mm512_sll_epi64(_mm512_sub_epi64(last, quantum),
                                         _mm_cvtsi32_si128(e->precision - 1));
  const __m512i magnitude = _mm512_min_epu64(_mm512_add_epi64(rounded, field), max);
  const __m512i sign = _mm512_sll_epi64(_mm512_srli_epi64(x, 63), _mm_cvtsi32_si128(e->sign_at));
  const __mmask8 there = _mm512_test_epi64_mask(m, m);
  const __mmask8 signed_too = e->has_negative_zero
                                  ? there : there & _mm512_test_epi64_mask(magnitude, magnitude);
  return _mm512_mask_or_epi64(_mm512_maskz_mov_epi64(there, magnitude), signed_too, magnitude, sign);
}

TARGET void pf_pack_normals_avx512(const encoding *e, const pf_draws *d, int count, uint64_t *to)
{
  for (int i = 0; i < count; i += 8)
    _mm512_storeu_si512(to + i, pack_eight(e, normals(d, i)));
}
#endif

void pf_pack_normals(const encoding *e, const pf_draws *d, int count, uint64_t *to)
{
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd")) {
    pf_pack_normals_avx512(e, d, count, to);
    return;
  }
#endif
  pf_pack_normals_portable(e, d, count, to);
}
