/* A case from a slice of a model. */
#ifndef PF_SEED_CASE_H
#define PF_SEED_CASE_H

#include "case.h"

/* Numbers as the model has them; the case has them rounded to its dtypes. */
typedef struct pf_seed_slice {
  int64_t m, n, k;
  const double *x;       /* [m, k]; NULL: normal values from `seed` */
  const double *y;       /* [n, k]; NULL: likewise, whatever the orientation */
  const double *bias;    /* [n]; NULL: the layer has none */
  bool rows;             /* the weight is [N, K] in the model, else [K, N] */
  uint32_t seed;
} pf_seed_slice;

/* How it is run. */
typedef struct pf_seed_form {
  pf_graph graph;
  pf_dtype dtype;        /* of the weight; x has the one that kernels pair with it */
  bool stored;           /* that is the model's own dtype: the weight stays as it is, unscaled */
  bool batched;          /* x is [1, m, k] */
  bool padded;           /* y's rows lie farther apart than they are long, as in a larger matrix */
} pf_seed_form;

/* The dtypes that weights of a dtype are run in, itself first: how many. */
enum { PF_SEED_DTYPES = 5 };
int pf_seed_dtypes(pf_dtype stored, pf_dtype out[PF_SEED_DTYPES]);
/* The graphs that a weight is run by: how many.  Those with a bias only where the layer has one;
   8-bit floats with a scale. */
int pf_seed_graphs(pf_dtype dtype, bool bias, pf_graph out[PF_GRAPH_COUNT]);

/* A finished case in the arena.  PF_NO_MEMORY, or as pf_case_finish. */
pf_status pf_seed_case(const pf_seed_slice *s, const pf_seed_form *f, pf_arena *a, pf_case *out,
                       pf_error *e);

#endif
