/* A case in memory: operands in their storages, views with broadcasting resolved, and the same
   values gathered as dense doubles for those who need no layout. */
#ifndef PF_PROBLEM_H
#define PF_PROBLEM_H

#include "case.h"

/* A view of [batches..., rows, columns]; stride 0 along what is broadcast. */
typedef struct pf_matrix {
  pf_dtype dtype;
  int64_t batch_stride[PF_MAX_BATCH];  /* elements */
  int64_t row_stride, column_stride;   /* elements */
  void *data;                          /* element (0, ..., 0) */
} pf_matrix;

/* The scales of x or y, vector by vector; value is NULL where there are none. */
typedef struct pf_scales {
  const double *value;
  int64_t per_line;   /* of one vector; 0: one for all */
  int64_t block;      /* elements along K that share one */
} pf_scales;

typedef struct pf_problem {
  const pf_case *what;
  pf_shape shape;
  pf_matrix x;        /* [batches, m, k] */
  pf_matrix y;        /* [batches, k, n] */
  pf_matrix c, bias;  /* [batches, m, n]; dtype and data only where present */
  bool has_c, has_bias;
  /* Dense copies.  Vector i of x: x_vectors + i * k; that of output (b, row, column) begins at
     x_vectors + (x_line[b] + row) * k, y likewise with column.  c and bias: one per output. */
  const double *x_vectors, *y_vectors;
  int64_t x_lines, y_lines;            /* vectors in each */
  const int64_t *x_line, *y_line;      /* by output batch: first vector */
  const double *c_values, *bias_values;
  pf_scales x_scales, y_scales;
  const double *x_scaled, *y_scaled;   /* the vectors times their scales, exactly */
  void *storage[PF_ROLE_COUNT];        /* the operands' storages */
  size_t storage_bytes[PF_ROLE_COUNT];
  struct pf_kept *kept;                /* NULL, or sums that rows share (reference_lanes.h) */
} pf_problem;

/* Everything lives in the arena; the case must outlive the problem.  Storage that belongs to no
   element (padding, base offset) holds pf_marker_bits, so that reading it shows. */
pf_status pf_problem_build(const pf_case *c, pf_arena *a, pf_problem *out);

/* What multiplies element k of a vector; 1 where there are no scales. */
double pf_scale_at(const pf_scales *s, int64_t line, int64_t k);

/* Elements from data to the first element of batch b (0 <= b < batches, row-major). */
int64_t pf_batch_offset(const pf_problem *p, const pf_matrix *m, int64_t b);

/* The index of an output element (row-major number) in the result, e.g. "[3,0,1]", for people. */
void pf_print_index(const pf_shape *s, int64_t element, char *to, size_t size);

/* An output tensor of the case's layout inside a fenced storage. */
typedef struct pf_output {
  pf_matrix view;          /* [batches, m, n] */
  uint8_t *storage;        /* fence, storage, fence */
  const uint8_t *before;   /* what the storage held before the run */
  size_t bytes;            /* fences included */
} pf_output;

/* Prefilled with pf_marker_bits, fences and gaps with a pattern.  Where the case is in place and t
   is c's dtype, prefilled with c's values: view is then c's view, too, and takes its place in a
   call. */
pf_status pf_output_new(const pf_problem *p, pf_dtype t, pf_arena *a, pf_output *out);
/* Reads the result as doubles, one per output element, row-major. */
void pf_output_read(const pf_problem *p, const pf_output *out, double *got);
/* Byte offset, relative to the first element, of the first byte changed outside the elements;
   false if there is none. */
bool pf_output_stray(const pf_problem *p, const pf_output *out, int64_t *at);

#endif
