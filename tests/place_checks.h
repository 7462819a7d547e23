/* Naive indexing, the reference for problems and outputs.  It knows one thing, torch's
   broadcasting: given a multi-index of the result it finds the element of an operand by its dims,
   from the right, and its place by stride. */
#ifndef PF_PLACE_CHECKS_H
#define PF_PLACE_CHECKS_H

#include "case_checks.h"

#include <math.h>

static inline void split_index(int rank, const int64_t *dim, int64_t index, int64_t *at)
{
  for (int i = rank - 1; i >= 0; i--) {
    at[i] = index % dim[i];
    index /= dim[i];
  }
}

/* Place in o's storage of the element that a multi-index of `rank` dimensions broadcasts to. */
static inline int64_t storage_place(const pf_operand *o, int rank, const int64_t *at)
{
  int64_t place = o->offset;
  for (int i = 0; i < o->rank; i++) {
    const int64_t index = at[rank - o->rank + i];
    place += (o->dim[i] == 1 ? 0 : index) * o->stride[i];
  }
  return place;
}

static inline bool same_value(double a, double b)
{
  return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

#endif
