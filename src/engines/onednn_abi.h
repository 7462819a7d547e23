/* What is used of oneDNN's C interface, version 3, written down by hand, so that building needs no
   headers of it; tests/test_onednn.c holds the numbers against the headers where there are some.
   Handles are pointers; every function answers 0 or what went wrong. */
#ifndef PF_ONEDNN_ABI_H
#define PF_ONEDNN_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { PF_DNNL_SUCCESS = 0, PF_DNNL_INVALID_ARGUMENTS = 2, PF_DNNL_UNIMPLEMENTED = 3 };

enum { PF_DNNL_CPU = 1, PF_DNNL_STREAM_IN_ORDER = 1, PF_DNNL_QUERY_IMPL_INFO_STR = 8 };

enum {
  PF_DNNL_UNDEF = 0, PF_DNNL_F16 = 1, PF_DNNL_BF16 = 2, PF_DNNL_F32 = 3, PF_DNNL_S32 = 4,
  PF_DNNL_S8 = 5, PF_DNNL_U8 = 6, PF_DNNL_F8_E5M2 = 9, PF_DNNL_F8_E4M3 = 10
};

enum {
  PF_DNNL_ARG_SRC = 1, PF_DNNL_ARG_DST = 17, PF_DNNL_ARG_WEIGHTS = 33, PF_DNNL_ARG_BIAS = 41,
  PF_DNNL_ARG_ATTR_SCALES = 4096
};

/* Sets of instructions, bits; a set holds those that it builds upon. */
enum { PF_DNNL_AVX512_CORE_BF16 = 0xe7, PF_DNNL_AVX512_CORE_AMX = 0xfef };

enum { PF_DNNL_MAX_DIMS = 12 };
#define PF_DNNL_RUNTIME INT64_MIN

typedef int64_t pf_dnnl_dims[PF_DNNL_MAX_DIMS];

typedef struct pf_dnnl_exec_arg {
  int arg;
  void *memory;
} pf_dnnl_exec_arg;

typedef struct pf_dnnl_version {
  int major, minor, patch;
  const char *hash;
  unsigned cpu_runtime, gpu_runtime;
} pf_dnnl_version;

/* The functions, NULL where an optional one is missing. */
typedef struct pf_dnnl_functions {
  const pf_dnnl_version *(*version)(void);
  int (*effective_isa)(void);
  const char *(*isa_name)(int isa);
  int (*engine_create)(void **engine, int kind, size_t index);
  int (*engine_destroy)(void *engine);
  int (*stream_create)(void **stream, void *engine, unsigned flags);
  int (*stream_wait)(void *stream);
  int (*stream_destroy)(void *stream);
  int (*desc_create)(void **desc, int ndims, const pf_dnnl_dims dims, int type,
                     const pf_dnnl_dims strides);
  int (*desc_destroy)(void *desc);
  int (*memory_create)(void **memory, const void *desc, void *engine, void *data);
  int (*memory_set_data)(void *memory, void *data);
  int (*memory_destroy)(void *memory);
  int (*attr_create)(void **attr);
  int (*attr_destroy)(void *attr);
  int (*attr_set_scales_mask)(void *attr, int arg, int mask);
  int (*attr_set_post_ops)(void *attr, const void *post_ops);
  int (*post_ops_create)(void **post_ops);
  int (*post_ops_destroy)(void *post_ops);
  int (*post_ops_append_sum)(void *post_ops, float scale, int32_t zero_point, int type);
  int (*matmul_create)(void **primitive_desc, void *engine, const void *source,
                       const void *weights, const void *bias, const void *destination,
                       const void *attr);
  int (*primitive_desc_query)(const void *primitive_desc, int what, int index, void *result);
  int (*primitive_desc_destroy)(void *primitive_desc);
  int (*primitive_create)(void **primitive, const void *primitive_desc);
  int (*primitive_destroy)(void *primitive);
  int (*primitive_execute)(const void *primitive, void *stream, int count,
                           const pf_dnnl_exec_arg *args);
  /* row-major, each dimension an int64_t */
  int (*sgemm)(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a,
               int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
  int (*gemm_s8s8s32)(char ta, char tb, char offset_c, int64_t m, int64_t n, int64_t k,
                      float alpha, const int8_t *a, int64_t lda, int8_t offset_a,
                      const int8_t *b, int64_t ldb, int8_t offset_b, float beta, int32_t *c,
                      int64_t ldc, const int32_t *offsets_c);
  int (*gemm_u8s8s32)(char ta, char tb, char offset_c, int64_t m, int64_t n, int64_t k,
                      float alpha, const uint8_t *a, int64_t lda, uint8_t offset_a,
                      const int8_t *b, int64_t ldb, int8_t offset_b, float beta, int32_t *c,
                      int64_t ldc, const int32_t *offsets_c);
  /* exported, but in no header */
  int (*gemm_bf16bf16f32)(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha,
                          const uint16_t *a, int64_t lda, const uint16_t *b, int64_t ldb,
                          float beta, float *c, int64_t ldc);
} pf_dnnl_functions;

#endif
