/* Reference sums of a whole step, many output elements side by side: each element is added up in
   the same order as alone, so that the bits are those of reference.h. */
#ifndef PF_REFERENCE_LANES_H
#define PF_REFERENCE_LANES_H

#include "isa.h"
#include "memory.h"
#include "problem.h"
#include "row.h"

/* Rows of a graph differ in how they round a sum more often than in the sum: the last few different
   sums of a problem's own x and y, before they were rounded to a step's format. */
enum { PF_KEPT_SUMS = 4 };

typedef struct pf_kept_sum {
  pf_accumulator acc;
  pf_summation order;
  bool alpha, c, bias;     /* as in the step */
  double *sums;            /* [outputs]; NULL: none */
} pf_kept_sum;

typedef struct pf_kept {
  pf_arena *arena;         /* of the sums; lasts as long as the problem */
  pf_kept_sum sum[PF_KEPT_SUMS];
  int next;                /* the oldest, to be replaced */
} pf_kept;

/* The sums of a MATMUL or MULSUM step by an isa that the machine has: results[outputs], rounded to
   the step's format; s as for pf_reference_sum, vectors as in pf_problem.  What it takes of scratch
   it gives back.  False, with nothing done, where elements are better taken one by one: an
   accumulator of knobs that lanes do not have, outputs of one row and one column, no memory. */
bool pf_reference_lanes(pf_isa isa, const pf_problem *p, const pf_step *step,
                        const pf_summation *s, const double *x_vectors, const double *y_vectors,
                        pf_arena *scratch, double *results);

#endif
