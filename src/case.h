/* The case: what is asked, never how it is computed. */
#ifndef PF_CASE_H
#define PF_CASE_H

#include <stdint.h>
#include <stdio.h>

#include "graph.h"
#include "memory.h"
#include "origin.h"
#include "scale.h"
#include "status.h"
#include "values.h"

enum {
  PF_MAX_BATCH = 4,             /* batch dimensions */
  PF_MAX_RANK = PF_MAX_BATCH + 2
};

/* A tensor as torch would describe it.  For PF_OUT values are unused, and dim follows from the
   operands; so does dtype but in scaled graphs, where the case chooses f32, bf16, f16 or fp8: there
   it counts even where PF_OUT is not present, and f64, the zero, stands for f32
   (pf_case_finish fills them in). */
typedef struct pf_operand {
  bool present;
  pf_dtype dtype;
  int rank;                      /* 0 for a scalar bias or c */
  int64_t dim[PF_MAX_RANK];      /* elements; 0 is a size */
  int64_t stride[PF_MAX_RANK];   /* elements, >= 0; 0 only repeats */
  int64_t offset;                /* elements before element (0, ..., 0) in the storage */
  pf_values values;
  pf_scale scale;                /* of x and y in scaled graphs; none elsewhere */
} pf_operand;

typedef struct pf_case {
  pf_op op;
  pf_graph graph;
  double alpha, beta;            /* values of f32; of f64 where x or y is f64 */
  bool out_is_c;                 /* in place: out and c are one tensor (addmm_) */
  pf_operand operand[PF_ROLE_COUNT];
  const char *origin;            /* where its values come from (origin.h), or NULL */
} pf_case;

/* Limits that every case keeps, so that no input is slow. */
enum {
  PF_MAX_SIZE = 1 << 18,         /* elements along one dimension */
  PF_MAX_STRIDE = 1 << 22,       /* elements */
  PF_MAX_OFFSET = 1 << 12,       /* elements */
  PF_MAX_STORAGE = 1 << 22,      /* elements of one tensor's storage */
  PF_MAX_WORK = 1 << 24          /* B*M*N*K, and elements of each operand and of the output */
  /* An empty tensor's sizes, zeros counted as ones, multiply to at most PF_MAX_STORAGE. */
};
enum { PF_FUZZ_WORK = 1 << 14 }; /* the same limit for the fuzz form */

/* What a case is once its shapes are resolved by torch.matmul's rules. */
typedef struct pf_shape {
  int batch_rank;
  int64_t batch[PF_MAX_BATCH];   /* broadcast batch dimensions */
  int64_t batches, m, n, k;      /* batches: product of batch[] */
  int out_rank;
  int64_t out[PF_MAX_RANK];      /* dimensions of the result as torch gives them */
  int64_t outputs;               /* batches * m * n */
  int64_t work;                  /* outputs * k */
} pf_shape;

/* Product of n sizes; INT64_MAX where it is greater. */
int64_t pf_product(int n, const int64_t *size);
/* The same with zeros counted as ones. */
int64_t pf_volume(int n, const int64_t *size);
/* Row-major strides of dim, as torch has them: zeros counted as ones. */
void pf_dense_strides(int rank, const int64_t *dim, int64_t *stride);
/* Elements of the storage up to and with the last element; offset alone for an empty tensor. */
int64_t pf_storage_size(const pf_operand *o);
int64_t pf_operand_count(const pf_operand *o);  /* elements */
/* Vectors along K of x or y, over all of its own batches. */
int64_t pf_operand_lines(const pf_case *c, pf_role role);
bool pf_operand_dense(const pf_operand *o);     /* row-major strides and offset 0 */
/* Can two elements share storage?  False where each stride along a size above one is greater than
   the reach of all smaller ones together, else true: strict, but right for every layout that
   slicing and permuting a dense tensor gives. */
bool pf_operand_overlaps(const pf_operand *o);

/* Checks everything a case must be (shapes that multiply and broadcast, strides, an output that
   does not overlap itself, aliasing that torch allows, alpha and beta representable, edits in
   range, limits) and brings it to its normal form: PF_OUT's dims and dtype filled in, its layout
   dense where it was not present and c's where it is in place, alpha = beta = 1 where the graph has
   no c, what is unused zeroed.  The error says what is wrong with which operand; its offset is 0.
   Finishing a finished case changes nothing. */
pf_status pf_case_finish(pf_case *c, pf_error *e);
/* Of a finished case. */
pf_shape pf_case_shape(const pf_case *c);
/* Promotion of x and y; s32 for two integers, as integer GEMMs have it (PyTorch would keep s8). */
pf_dtype pf_case_in(const pf_case *c);
pf_dtype pf_case_result(const pf_case *c);  /* dtype of the graph's result */
/* What graph g makes of a finished case's operands, layout of the output included; fails as
   pf_case_finish does. */
pf_status pf_case_retarget(const pf_case *c, pf_graph g, pf_case *out, pf_error *e);
/* Same meaning, field by field, edits and verbatim bytes included; whatever the origins. */
bool pf_case_equal(const pf_case *a, const pf_case *b);

#endif
