/* A call that an engine declines, put as it may take it without a change of meaning: operands copied
   to dense tensors, or cast to the dtype of the accumulator, which holds all their values; then the
   result is rounded by us, once, from that dtype to the step's.  Partial sums are the same numbers
   in the same format. */
#ifndef PF_LEGALISE_H
#define PF_LEGALISE_H

#include "engine.h"

typedef struct pf_legal {
  pf_call call;
  pf_step step;
  pf_matrix x, y, c, bias;
  bool own_out;      /* the result goes to a dense tensor, not to the case's output layout */
  pf_output fenced;  /* it goes here, else */
  pf_matrix out;
  char says[96];     /* what was changed, for people */
} pf_legal;

/* The ways to try, the one that changes least first; each cast only where `wide` says so. */
typedef struct pf_legal_way {
  bool wide, own_out;
} pf_legal_way;

enum { PF_LEGAL_WAYS = 4 };
extern const pf_legal_way pf_legal_ways[PF_LEGAL_WAYS];

/* For a call of one step, which has its x_vectors and y_vectors.  Everything but *out lives in the
   arena.  PF_UNSUPPORTED where the way does not suit the step, or changes nothing. */
pf_status pf_legalise(const pf_call *call, const pf_legal_way *way, pf_arena *a, pf_legal *out);
/* The results rounded to the step's format, one double per output element. */
void pf_legal_read(const pf_legal *l, const pf_step *step, double *got);

/* A typed copy of the vectors of x or y: those of a batch are contiguous. */
pf_status pf_lay_out(const pf_problem *p, pf_dtype t, bool x_side, const double *vectors,
                     pf_arena *a, pf_matrix *out);

#endif
