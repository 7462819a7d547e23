/* Seeds from a model: slices of its matmuls as cases, each with the story of where it comes from.

   From each layer that seed_layers.h finds: vectors that are hard and others at random, the whole of
   K where that fits and tiles of it else; beside them vectors of activations where some are given,
   of the model's embeddings, of the layer that comes next, or normal values of the scale that a
   normalized layer's input has; in the dtype of the model and in those that it is run in; by every
   graph that fits.  Of these the caller sees all and keeps what it likes. */
#ifndef PF_SEED_H
#define PF_SEED_H

#include "seed_case.h"
#include "seed_layers.h"

enum { PF_SEED_MOST_M = 4, PF_SEED_MOST_N = 8 };

typedef enum pf_partner {
  PF_PARTNER_NORMAL, PF_PARTNER_ACTIVATIONS, PF_PARTNER_EMBEDDING, PF_PARTNER_NEXT,
  PF_PARTNER_COUNT
} pf_partner;

const char *pf_partner_name(pf_partner p);

typedef struct pf_seed {
  pf_case what;              /* without an origin */
  const pf_layer *layer;     /* NULL: a shape */
  pf_seed_form form;
  pf_seed_slice slice;
  pf_seed_pick pick[PF_SEED_MOST_N];  /* the weight's vectors, slice.n of them */
  int64_t k_from;            /* the first element of each */
  pf_partner partner;
  const char *partner_name;  /* of the tensor; NULL: PF_PARTNER_NORMAL */
  int64_t partner_row[PF_SEED_MOST_M];
  int64_t full_n, full_k;    /* the matmul's own sizes: a shape may be cut, by multiples of 64 */
} pf_seed;

typedef struct pf_seed_options {
  uint64_t seed;
  int64_t max_k;             /* elements of a vector, at most PF_FUZZ_WORK */
  int tries;                 /* cases from each layer */
  pf_weights *activations;   /* NULL: none; its tensors with a last dimension of K are used */
  pf_watch watch;
  /* Takes a case, which lives until the next one; anything but PF_OK ends the work. */
  pf_status (*take)(void *user, const pf_seed *s);
  /* Tells that a layer could not be read. */
  void (*skip)(void *user, size_t weight, const char *why);
  void *user;
} pf_seed_options;

/* PF_OK, also where the watch ended it; PF_NO_MEMORY; what take returned. */
pf_status pf_seed_layers(pf_weights *w, const pf_layers *l, const pf_seed_options *o);
/* A case for each pair of N and K that the layers have, with generated values, of at most
   PF_FUZZ_WORK products; and where that is not the whole matmul, a second one that is, up to
   PF_SEED_SHAPE_WORK. */
enum { PF_SEED_SHAPES = 64, PF_SEED_SHAPE_WORK = 1 << 20 };
pf_status pf_seed_shapes(const pf_layers *l, const pf_seed_options *o);

/* An origin (origin.h).  hash: of the model's first file. */
void pf_seed_print(const pf_seed *s, const pf_weights *w, const char *hash, char *to, size_t size);

#endif
