/* What the parts of problem.h share. */
#ifndef PF_PROBLEM_PARTS_H
#define PF_PROBLEM_PARTS_H

#include "problem.h"

static inline uint8_t *element(pf_dtype t, void *data, int64_t index)
{
  return (uint8_t *)data + index * pf_dtype_of(t)->bytes;
}

/* Adds one to a row-major index over dim and keeps *offset = the dot product with stride.  False
   once the index has wrapped to zero. */
static inline bool next_index(int rank, const int64_t *dim, const int64_t *stride, int64_t *index,
                              int64_t *offset)
{
  for (int i = rank - 1; i >= 0; i--) {
    *offset += stride[i];
    if (++index[i] < dim[i])
      return true;
    *offset -= dim[i] * stride[i];
    index[i] = 0;
  }
  return false;
}

/* An operand's elements in row-major order, from the first on; reads the case and the shape. */
pf_walk pf_problem_walk(const pf_problem *p, pf_role role);

/* pf_marker_bits in each of count elements. */
void pf_fill_marked(pf_dtype t, void *data, int64_t count);

/* Parts of pf_problem_build.  The storage of an operand that is there; */
pf_status pf_problem_store(pf_problem *p, pf_role role, pf_arena *a);
/* scales and scaled vectors, the last part. */
pf_status pf_problem_scale(pf_problem *p, pf_arena *a);

#endif
