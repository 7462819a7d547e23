/* The arithmetics of reference_lanes.c for one target, behind isa_target.h.  No include guard: on
   purpose. */
#include "rounding_lanes.h"

#if ISA == ISA_AVX2
/* Of four lines four elements each, transposed. */
INLINE void avx2_pack_doubles(const double *const *line, int64_t i, double *to)
{
  const __m256d a = _mm256_loadu_pd(line[0] + i), b = _mm256_loadu_pd(line[1] + i);
  const __m256d c = _mm256_loadu_pd(line[2] + i), d = _mm256_loadu_pd(line[3] + i);
  const __m256d ab0 = _mm256_unpacklo_pd(a, b), ab1 = _mm256_unpackhi_pd(a, b);
  const __m256d cd0 = _mm256_unpacklo_pd(c, d), cd1 = _mm256_unpackhi_pd(c, d);
  _mm256_store_pd(to, _mm256_permute2f128_pd(ab0, cd0, 0x20));
  _mm256_store_pd(to + 4, _mm256_permute2f128_pd(ab1, cd1, 0x20));
  _mm256_store_pd(to + 8, _mm256_permute2f128_pd(ab0, cd0, 0x31));
  _mm256_store_pd(to + 12, _mm256_permute2f128_pd(ab1, cd1, 0x31));
}

/* Lines l and l + 4 side by side, as floats. */
INLINE __m256 avx2_pair(const double *const *line, int64_t i, int l)
{
  const __m128 low = _mm256_cvtpd_ps(_mm256_loadu_pd(line[l] + i));
  const __m128 high = _mm256_cvtpd_ps(_mm256_loadu_pd(line[l + 4] + i));
  return _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
}

/* Of eight lines four elements each, transposed. */
INLINE void avx2_pack_floats(const double *const *line, int64_t i, float *to)
{
  const __m256 a = avx2_pair(line, i, 0), b = avx2_pair(line, i, 1);
  const __m256 c = avx2_pair(line, i, 2), d = avx2_pair(line, i, 3);
  const __m256 ab0 = _mm256_unpacklo_ps(a, b), ab2 = _mm256_unpackhi_ps(a, b);
  const __m256 cd0 = _mm256_unpacklo_ps(c, d), cd2 = _mm256_unpackhi_ps(c, d);
  _mm256_store_ps(to, _mm256_shuffle_ps(ab0, cd0, 0x44));
  _mm256_store_ps(to + 8, _mm256_shuffle_ps(ab0, cd0, 0xee));
  _mm256_store_ps(to + 16, _mm256_shuffle_ps(ab2, cd2, 0x44));
  _mm256_store_ps(to + 24, _mm256_shuffle_ps(ab2, cd2, 0xee));
}
#define PACK_DOUBLES(line, i, to) avx2_pack_doubles(line, i, to)
#define PACK_FLOATS(line, i, to) avx2_pack_floats(line, i, to)
#else
#define PACK_DOUBLES(line, i, to) PACK_ONE_BY_ONE(line, i, to)
#define PACK_FLOATS(line, i, to) PACK_ONE_BY_ONE(line, i, to)
#endif
#define PACK_ONE_BY_ONE(line, i, to)                          \
  for (int64_t n = 0; n < 4; n++)                             \
    for (int64_t l = 0; l < LANES_OF(REAL, SCALAR); l++)      \
      (to)[n * LANES_OF(REAL, SCALAR) + l] = ENCODE(line[l][i + n])

#define LANES
#define RULES pf_lane_format
#define FACTOR(v) (v)
#define X_TYPE SCALAR
#define Y_TYPE REAL

#define REAL FLOATS
#define SCALAR float
#define NAME(f) ISA_NAME(float_##f)
#define MUL(x, y) ((x) * (y))
#define ADD(a, b) ((a) + (b))
#define FMA(x, y, s) FMA_FLOATS(x, y, s)
#define PACK PACK_FLOATS
#define ENCODE(v) ((float)(v))
#define DECODE(v) ((double)(v))
#include "reference_lanes_loops.h"
#undef REAL
#undef SCALAR
#undef NAME
#undef FMA
#undef PACK
#undef ENCODE
#undef DECODE

#define REAL WORDS
#define SCALAR uint32_t
#define NAME(f) ISA_NAME(word_##f)
#define FMA(x, y, s) ((x) * (y) + (s))
#define PACK PACK_ONE_BY_ONE
#define ENCODE(v) word_of(v)
#define DECODE(v) ((double)(int32_t)(v))
#include "reference_lanes_loops.h"
#undef REAL
#undef SCALAR
#undef NAME
#undef FMA
#undef PACK
#undef ENCODE
#undef DECODE

#define REAL DOUBLES
#define SCALAR double
#define NAME(f) ISA_NAME(double_##f)
#define FMA(x, y, s) FMA_DOUBLES(x, y, s)
#define PACK PACK_DOUBLES
#define ENCODE(v) (v)
#define DECODE(v) (v)
#include "reference_lanes_loops.h"
#undef NAME
#undef MUL
#undef ADD
#undef FMA

#define NAME(f) ISA_NAME(narrow_##f)
#define MUL(x, y) ISA_NAME(round)(f, (x) * (y))
#define ADD(a, b) ISA_NAME(round)(f, (a) + (b))
#define FMA(x, y, s) ISA_NAME(round)(f, ISA_NAME(sum_to_odd)((x) * (y), s))
#include "reference_lanes_loops.h"
#undef REAL
#undef SCALAR
#undef NAME
#undef MUL
#undef ADD
#undef FMA
#undef PACK
#undef ENCODE
#undef DECODE

#undef PACK_FLOATS
#undef PACK_DOUBLES
#undef PACK_ONE_BY_ONE
#undef LANES
#undef RULES
#undef FACTOR
#undef X_TYPE
#undef Y_TYPE
