/* Operands and outputs as dense row-major tensors, for libraries that take no strides.  What lies so
   already is used where it is; all else is copied, byte by byte. */
#ifndef PF_DENSE_H
#define PF_DENSE_H

#include <stdbool.h>

#include <precfuzz/engine.h>

enum {
  PF_DENSE_RANK = PFE_MAX_BATCH + 2,
  PF_DENSE_BEHIND = 128  /* bytes behind a copy's end that may be read, too; all bits are set */
};

/* Starts zeroed; the copy's memory is used again. */
typedef struct pf_dense {
  int rank;
  int64_t dims[PF_DENSE_RANK];  /* batches, rows, columns; 1 along batches that repeat */
  size_t bytes;
  void *data;                   /* the view's own or the copy; never NULL */
  void *copy;
  size_t room;
} pf_dense;

/* What of a view is wanted. */
typedef struct pf_dense_want {
  int batch_rank;               /* of `batch`; 0: one matrix, the first */
  const int64_t *batch;
  int64_t rows, columns;
  bool transposed;              /* columns, rows of the view become rows, columns */
  bool copied;                  /* a copy also where the view is dense */
  bool repeated;                /* batches that repeat are copied as often as they do */
} pf_dense_want;

/* Is there a batch dimension along which both operands repeat?  Libraries that broadcast would make
   it 1 in the output, so that one of them is wanted repeated. */
bool pf_dense_both_repeat(const pfe_call *call, const pfe_tensor *a, const pfe_tensor *b);
/* Nonzero: out of memory. */
int pf_dense_take(const pfe_tensor *t, const pf_dense_want *want, pf_dense *d);
/* Elements of a copy back to where the view has them; nothing where there is none. */
void pf_dense_give(const pfe_tensor *t, const pf_dense_want *want, const pf_dense *d);
void pf_dense_free(pf_dense *d);

#endif
