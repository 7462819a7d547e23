/* The reference engines: our own loops, one engine a stated order. */
#ifndef PF_ENGINE_REFERENCE_H
#define PF_ENGINE_REFERENCE_H

#include "engine.h"
#include "truth.h"

extern const pf_engine pf_reference_forward, pf_reference_forward_fma;
extern const pf_engine pf_reference_backward, pf_reference_backward_fma;
extern const pf_engine pf_reference_pairwise, pf_reference_pairwise_fma;
extern const pf_engine pf_reference_blocked8, pf_reference_blocked8_fma;
extern const pf_engine pf_reference_lanes8, pf_reference_lanes8_fma;

/* The same loops for those who replay a row: results[outputs], rounded to the step's format.  What
   it takes of scratch it gives back. */
void pf_reference_step(const pf_problem *p, const pf_step *step, const pf_summation *s,
                       const double *x_vectors, const double *y_vectors, pf_arena *scratch,
                       double *results);

/* The terms of one output element of a MATMUL or MULSUM step; vectors as in pf_problem. */
pf_sum pf_step_terms(const pf_problem *p, const pf_step *step, const double *x_vectors,
                     const double *y_vectors, int64_t element);

#endif
