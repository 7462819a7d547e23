/* The vectors of one instruction set, of the width of its registers: wider ones are taken apart by
   the compilers, and comparisons of them, by gcc 12, lane by lane.  The includer defines ISA, one
   of ISA_PORTABLE and ISA_AVX2, and gets
     TARGET        the attribute that says what a function may be compiled to
     ISA_NAME(f)   how this set's copy of f is called
     DOUBLES, FLOATS, MASKS, WORDS   vectors; a comparison of DOUBLES gives MASKS, 0 or -1 a lane
     SPLAT(v)      a double in every lane of DOUBLES
     SELECT(mask, a, b)   lane by lane a where the mask is set, else b
     GREATER(a, b) lane by lane a > b ? a : b
     FMA_FLOATS(x, y, s), FMA_DOUBLES(x, y, s)   x * y + s rounded once; x is one number
   Vectors are passed by value among functions of one target only.  No include guard: on purpose. */
#undef TARGET
#undef ISA_NAME
#undef VECTOR_BYTES
#undef SPLAT
#undef SELECT
#undef GREATER
#undef FMA_FLOATS
#undef FMA_DOUBLES

#ifndef ISA_PORTABLE
#define ISA_PORTABLE 0
#define ISA_AVX2 1
#define DOUBLES ISA_NAME(doubles)
#define FLOATS ISA_NAME(floats)
#define MASKS ISA_NAME(masks)
#define WORDS ISA_NAME(words)
#define LANES_OF(vector, scalar) ((int64_t)(sizeof(vector) / sizeof(scalar)))
#define INLINE static inline __attribute__((always_inline)) TARGET
#endif

#if ISA == ISA_AVX2
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
#else
#define TARGET
#define ISA_NAME(f) portable_##f
#define VECTOR_BYTES 16
#define SPLAT(v) ((DOUBLES){(v), (v)})
#define SELECT(mask, a, b) ((DOUBLES)(((MASKS)(a) & (mask)) | ((MASKS)(b) & ~(mask))))
#define GREATER(a, b) SELECT((a) > (b), a, b)
#define FMA_FLOATS(x, y, s) portable_fma_floats(x, y, s)
#define FMA_DOUBLES(x, y, s) portable_fma_doubles(x, y, s)
#endif

typedef double DOUBLES __attribute__((vector_size(VECTOR_BYTES)));
typedef float FLOATS __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t MASKS __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t WORDS __attribute__((vector_size(VECTOR_BYTES)));

#if ISA == ISA_PORTABLE
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
