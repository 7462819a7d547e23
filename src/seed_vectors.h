/* Which vectors of a weight are hard: their sums are long, wide or cancel. */
#ifndef PF_SEED_VECTORS_H
#define PF_SEED_VECTORS_H

#include "weights.h"

/* A weight as N vectors of K elements, each of which meets a vector of an activation. */
typedef struct pf_seed_matrix {
  int64_t n, k;
  bool rows;       /* [N, K], the K of a convolution being all but its first dimension; else [K, N] */
  double least;    /* magnitudes below it are subnormal in a format that the weight is run in */
} pf_seed_matrix;

/* Of one vector; what is not finite does not count. */
typedef struct pf_vector_stats {
  double square;       /* sum of squares */
  double sum, terms;   /* of its products with the partner, and of their magnitudes */
  int low, high;       /* exponents of its least and its greatest nonzero element */
  int64_t subnormals;
} pf_vector_stats;

typedef enum pf_seed_why {
  PF_SEED_NORM,        /* largest norm */
  PF_SEED_SPREAD,      /* widest spread of exponents */
  PF_SEED_CANCEL,      /* its sum with the partner is least beside the terms */
  PF_SEED_SUBNORMAL,   /* most subnormals */
  PF_SEED_RANDOM,
  PF_SEED_WHY_COUNT
} pf_seed_why;

const char *pf_seed_why_name(pf_seed_why w);

enum {
  PF_SEED_VECTORS = 1 << 20,   /* of a weight are looked at, the first ones */
  PF_SEED_LENGTH = 1 << 20,    /* of a vector likewise */
  PF_SEED_PICKS = 10
};

typedef struct pf_seed_pick {
  int64_t vector;
  pf_seed_why why;
} pf_seed_pick;

/* Vectors and elements that are looked at. */
int64_t pf_seed_vectors(const pf_seed_matrix *m);
int64_t pf_seed_length(const pf_seed_matrix *m);

/* Reads a loaded weight from end to end.  partner[pf_seed_length], stats[pf_seed_vectors].  false:
   ended by the watch. */
bool pf_seed_scan(const pf_weights *w, size_t weight, const pf_seed_matrix *m,
                  const double *partner, const pf_watch *watch, pf_vector_stats *stats);

/* The two hardest of each kind that are not all zero, then random ones, no vector twice: how many. */
int pf_seed_choose(const pf_vector_stats *stats, int64_t count, uint64_t seed,
                   pf_seed_pick out[PF_SEED_PICKS]);

#endif
