/* The vectors of one instruction set, of the width of its registers: wider ones are taken apart by
   the compilers, and comparisons of them, by gcc 12, lane by lane.  The includer defines ISA, one
   of ISA_PORTABLE, ISA_AVX2 and ISA_AVX512, and gets
     TARGET        the attribute that says what a function may be compiled to
     ISA_NAME(f)   how this set's copy of f is called
     DOUBLES, FLOATS, LONGS, WORDS   vectors; LONGS are the bits of DOUBLES
     MASKS         a bit a lane or, but for AVX-512, LONGS of 0 or -1, as comparisons of vectors by
                   the language's operators are; & and | go with both
     GT, GE, LT, LE, EQ, NE(a, b)   comparisons of DOUBLES that give MASKS
     NOT(mask), ALL(mask), BITS(mask)   its complement; is it set in all lanes; a bit a lane
     MASK_OF(v)    0 or -1 in every lane
     OR_LANES(v)   the bits that are set in any lane of LONGS
     SPLAT(v)      a double in every lane of DOUBLES
     SELECT(mask, a, b)   lane by lane a where the mask is set, else b
     GREATER(a, b) lane by lane a > b ? a : b
     MAGNITUDE(v)  absolute values
     FMA_FLOATS(x, y, s), FMA_DOUBLES(x, y, s)   x * y + s rounded once; x is one number
     FUSED(x, y, s)       the same of DOUBLES
     ADD_EXACT(x, y, s)   x * y + s of DOUBLES, where products are doubles
     UNROLL        before a loop of at most 16 turns whose arrays are to be registers
   FLOATS and what is said of them, WORDS and FMA_DOUBLES are not for AVX-512.  Vectors are passed by
   value among functions of one target only.  No include guard: on purpose. */
#undef TARGET
#undef ISA_NAME
#undef VECTOR_BYTES
#undef SPLAT
#undef SELECT
#undef GREATER
#undef FMA_FLOATS
#undef FMA_DOUBLES
#undef FUSED
#undef ADD_EXACT
#undef GT
#undef GE
#undef LT
#undef LE
#undef EQ
#undef NE
#undef NOT
#undef BITS
#undef MASK_OF
#undef OR_LANES

#ifndef ISA_PORTABLE
#define ISA_PORTABLE 0
#define ISA_AVX2 1
#define ISA_AVX512 2
#define DOUBLES ISA_NAME(doubles)
#define FLOATS ISA_NAME(floats)
#define LONGS ISA_NAME(longs)
#define MASKS ISA_NAME(masks)
#define WORDS ISA_NAME(words)
#define LANES_OF(vector, scalar) ((int64_t)(sizeof(vector) / sizeof(scalar)))
#define INLINE static inline __attribute__((always_inline)) TARGET
#define MAGNITUDE(v) ((DOUBLES)((LONGS)(v) & INT64_MAX))
#define ALL(mask) (BITS(mask) == (UINT64_C(1) << LANES_OF(DOUBLES, double)) - 1)
#if defined(__clang__)
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#endif

#if ISA == ISA_AVX512
#define TARGET __attribute__((target("avx512f,avx512dq")))
#define ISA_NAME(f) avx512_##f
#define VECTOR_BYTES 64
#define SPLAT(v) ((DOUBLES)_mm512_set1_pd(v))
#define SELECT(mask, a, b) \
  ((DOUBLES)_mm512_mask_blend_pd((mask), (__m512d)(b), (__m512d)(a)))
#define GREATER(a, b) ((DOUBLES)_mm512_max_pd((__m512d)(a), (__m512d)(b)))
#define FUSED(x, y, s) ((DOUBLES)_mm512_fmadd_pd((__m512d)(x), (__m512d)(y), (__m512d)(s)))
#define ADD_EXACT(x, y, s) FUSED(x, y, s)
#define GT(a, b) _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_GT_OQ)
#define GE(a, b) _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_GE_OQ)
#define LT(a, b) _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_LT_OQ)
#define LE(a, b) _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_LE_OQ)
#define EQ(a, b) _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_EQ_OQ)
#define NE(a, b) _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_NEQ_UQ)
#define NOT(mask) ((MASKS)((mask) ^ 0xff))
#define BITS(mask) ((uint64_t)(MASKS)(mask))
#define MASK_OF(v) ((MASKS)((v) & 0xff))
#define OR_LANES(v) ((uint64_t)_mm512_reduce_or_epi64((__m512i)(v)))
#elif ISA == ISA_AVX2
#define TARGET __attribute__((target("avx2,fma")))
#define ISA_NAME(f) avx2_##f
#define VECTOR_BYTES 32
#define SPLAT(v) ((DOUBLES)_mm256_set1_pd(v))
#define SELECT(mask, a, b) \
  ((DOUBLES)_mm256_blendv_pd((__m256d)(b), (__m256d)(a), (__m256d)(mask)))
#define GREATER(a, b) ((DOUBLES)_mm256_max_pd((__m256d)(a), (__m256d)(b)))
#define FMA_FLOATS(x, y, s) ((FLOATS)_mm256_fmadd_ps(_mm256_set1_ps(x), (__m256)(y), (__m256)(s)))
#define FMA_DOUBLES(x, y, s) \
  ((DOUBLES)_mm256_fmadd_pd(_mm256_set1_pd(x), (__m256d)(y), (__m256d)(s)))
#define FUSED(x, y, s) ((DOUBLES)_mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(s)))
#define ADD_EXACT(x, y, s) FUSED(x, y, s)
#define BITS(mask) ((uint64_t)_mm256_movemask_pd((__m256d)(mask)))
#define OR_LANES(v) ((uint64_t)(((v)[0] | (v)[1]) | ((v)[2] | (v)[3])))
#else
#define TARGET
#define ISA_NAME(f) portable_##f
#define VECTOR_BYTES 16
#define SPLAT(v) ((DOUBLES){(v), (v)})
#define SELECT(mask, a, b) ((DOUBLES)(((MASKS)(a) & (mask)) | ((MASKS)(b) & ~(mask))))
#define GREATER(a, b) SELECT((a) > (b), a, b)
#define FMA_FLOATS(x, y, s) portable_fma_floats(x, y, s)
#define FMA_DOUBLES(x, y, s) portable_fma_doubles(x, y, s)
#define FUSED(x, y, s) portable_fused(x, y, s)
#define ADD_EXACT(x, y, s) ((x) * (y) + (s))
#define BITS(mask) ((uint64_t)((mask)[0] & 1) | (uint64_t)((mask)[1] & 2))
#define OR_LANES(v) ((uint64_t)((v)[0] | (v)[1]))
#endif

typedef double DOUBLES __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t LONGS __attribute__((vector_size(VECTOR_BYTES)));

#if ISA == ISA_AVX512
typedef uint8_t MASKS;
#else
#define GT(a, b) ((MASKS)((a) > (b)))
#define GE(a, b) ((MASKS)((a) >= (b)))
#define LT(a, b) ((MASKS)((a) < (b)))
#define LE(a, b) ((MASKS)((a) <= (b)))
#define EQ(a, b) ((MASKS)((a) == (b)))
#define NE(a, b) ((MASKS)((a) != (b)))
#define NOT(mask) (~(mask))
#define MASK_OF(v) ((MASKS){0} + (v))
typedef LONGS MASKS;
typedef float FLOATS __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t WORDS __attribute__((vector_size(VECTOR_BYTES)));
#endif

#if ISA == ISA_PORTABLE
INLINE DOUBLES portable_fused(DOUBLES x, DOUBLES y, DOUBLES s)
{
  for (int64_t l = 0; l < LANES_OF(DOUBLES, double); l++)
    s[l] = fma(x[l], y[l], s[l]);
  return s;
}

INLINE FLOATS portable_fma_floats(float x, FLOATS y, FLOATS s)
{
  for (int64_t l = 0; l < LANES_OF(FLOATS, float); l++)
    s[l] = fmaf(x, y[l], s[l]);
  return s;
}

INLINE DOUBLES portable_fma_doubles(double x, DOUBLES y, DOUBLES s)
{
  for (int64_t l = 0; l < LANES_OF(DOUBLES, double); l++)
    s[l] = fma(x, y[l], s[l]);
  return s;
}
#endif

INLINE DOUBLES ISA_NAME(load)(const double *from)
{
  DOUBLES v;
  memcpy(&v, from, sizeof v);
  return v;
}

INLINE void ISA_NAME(store)(double *to, DOUBLES v)
{
  memcpy(to, &v, sizeof v);
}
