/* Which tensors of a model are weights of matmuls, with what beside them. */
#ifndef PF_SEED_LAYERS_H
#define PF_SEED_LAYERS_H

#include "seed_vectors.h"

typedef struct pf_layer {
  size_t weight;         /* of pf_weights */
  int64_t bias;          /* its number; -1: none */
  pf_seed_matrix matrix;
} pf_layer;

typedef struct pf_skipped {
  size_t weight;
  const char *why;       /* a constant text */
} pf_skipped;

typedef struct pf_layers {
  size_t count, skipped_count;
  pf_layer *layer;       /* in the order of the model, or of the file */
  pf_skipped *skipped;   /* tensors that are neither weights nor biases of such */
  pf_arena memory;
} pf_layers;

/* A model that says what its matmuls are is believed.  Of others every tensor of two dimensions or
   more is a weight [N, K], the K of a convolution being the product of all dimensions but the first;
   one of two dimensions is [K, N] if it is called "kernel", or if the bias of its name has N elements
   that way only.  PF_NO_MEMORY. */
pf_status pf_layers_find(const pf_weights *w, pf_layers *out);
void pf_layers_close(pf_layers *l);

/* Is a tensor, by its name, a table of embeddings, whose rows are what the first layer reads? */
bool pf_is_embedding(const pf_tensor_entry *t);

#endif
