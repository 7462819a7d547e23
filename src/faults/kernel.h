/* The plain kernel that every planted fault is a changed copy of:

     out = RN_out(alpha * sum over k of a[row,k] * b[k,column]  +  beta * c  +  bias)

   f32 throughout, k upwards, each operation rounded, one rounding to the format of the result at
   the end.  Each operand is read in its own dtype through its own strides.  beta = 0 never reads
   c; alpha = 0 or K = 0 never reads a or b. */
#ifndef PF_FAULTS_KERNEL_H
#define PF_FAULTS_KERNEL_H

#include "engine.h"

/* One matrix of a batch.  All strides in bytes. */
typedef struct pf_view {
  pf_dtype dtype;
  ptrdiff_t row, column;
  unsigned char *at;            /* element (0, 0) */
  unsigned char *first, *last;  /* lowest and highest element of the whole batch */
} pf_view;

/* One matrix product of a batch. */
typedef struct pf_gemm {
  int64_t m, n, k;
  pf_view a, b, c, bias, out;  /* [m,k] [k,n] [m,n] [m,n] [m,n] */
  bool has_c, has_bias;
  float alpha, beta;
  const pf_format *to;         /* of the result */
} pf_gemm;

/* The value of one element of the result before its last rounding. */
typedef float pf_gemm_element(const pf_gemm *g, int64_t row, int64_t column);

/* What an engine's data points to: how one element is computed, how a matrix is walked. */
typedef struct pf_kernel {
  pf_gemm_element *element;
  void (*matrix)(const pf_gemm *g, pf_gemm_element *element);
} pf_kernel;

/* A pf_engine for a kernel; supports and run are the same for all. */
#define PF_KERNEL_ENGINE(NAME, NOTE, ELEMENT, MATRIX)                                             \
  {                                                                                               \
    .name = "fault:" NAME, .note = NOTE, .sum = {.order = PF_ANY_ORDER}, .listed = false,         \
    .data = &(const pf_kernel){ELEMENT, MATRIX}, .supports = pf_kernel_supports,                  \
    .run = pf_kernel_run                                                                          \
  }

/* The batches of a call one by one: fills *g for the first step's operands (with those that the
   step has inside), to be stored by `to`, and calls matrix(g, user). */
void pf_gemm_batches(const pf_call *call, const pf_format *to,
                     void (*matrix)(const pf_gemm *g, const void *user), const void *user);

/* A plain accumulator: partial sums and products in f, in no stated order, no options. */
bool pf_gemm_plain(const pf_accumulator *acc, const pf_format *f);
/* Can both factors of a sum be read as f32 without rounding? */
bool pf_gemm_fits_f32(const pf_call *call, const pf_step *s);

/* One MATMUL or MULSUM with an f32 accumulator in no stated order, whatever its layouts. */
pf_status pf_kernel_supports(const pf_engine *e, const pf_call *call, const char **why);
pf_status pf_kernel_run(const pf_engine *e, const pf_call *call, pf_arena *scratch);

/* The parts of the correct kernel. */
void *pf_gemm_at(const pf_view *v, int64_t row, int64_t column);
/* Bytes that the element (row, column), inside the matrix or not, lies behind v->last. */
ptrdiff_t pf_gemm_beyond(const pf_view *v, int64_t row, int64_t column);
float pf_gemm_load(const pf_view *v, int64_t row, int64_t column);  /* exact */
/* Sum of the terms from <= k < to, upwards, from zero. */
float pf_gemm_sum(const pf_gemm *g, int64_t row, int64_t column, int64_t from, int64_t to);
float pf_gemm_scale(const pf_gemm *g, float sum);  /* alpha * sum; 0 where nothing may be read */
float pf_gemm_add(const pf_gemm *g, int64_t row, int64_t column, float product);  /* c, bias */
/* Both. */
float pf_gemm_finish(const pf_gemm *g, int64_t row, int64_t column, float sum);
float pf_gemm_correct(const pf_gemm *g, int64_t row, int64_t column);  /* the correct element */
void pf_gemm_store(const pf_gemm *g, int64_t row, int64_t column, double value);
/* Every element once, row by row: the correct walk. */
void pf_gemm_rows(const pf_gemm *g, pf_gemm_element *element);

float pf_gemm_narrow(pf_dtype t, float value);  /* RN_t(value), t at most f32 */

#endif
