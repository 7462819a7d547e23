/* What the parts of the adapter of CBLAS share. */
#ifndef PF_CBLAS_PARTS_H
#define PF_CBLAS_PARTS_H

#include <stdbool.h>

#include <precfuzz/engine.h>

typedef enum pf_cblas_type { PF_CBLAS_S, PF_CBLAS_D, PF_CBLAS_SB, PF_CBLAS_TYPES } pf_cblas_type;

typedef enum pf_cblas_product {
  PF_CBLAS_GEMM, PF_CBLAS_GEMV, PF_CBLAS_DOT, PF_CBLAS_BATCH, PF_CBLAS_PRODUCTS
} pf_cblas_product;

extern const char *const pf_cblas_type_names[PF_CBLAS_TYPES];
extern const char *const pf_cblas_product_names[PF_CBLAS_PRODUCTS];

typedef struct pf_cblas {
  void *library;
  const char *before, *after;  /* what its names begin and end with */
  bool wide;                   /* its integers have 64 bits */
  bool flushes;                /* its bf16 products may flush subnormals */
  bool skips_zeros;            /* what a zero of a vector is multiplied by may go unread */
  int only;                    /* pf_cblas_product to use for everything; -1: by shape */
  void *entry[PF_CBLAS_TYPES][PF_CBLAS_PRODUCTS];
  int64_t room;                /* of the lists of pointers to batches */
  const void **as, **bs;
  void **outs;
} pf_cblas;

/* As the functions of pfe_engine. */
pfe_status pf_cblas_supports(void *state, const pfe_call *call, pfe_answer *answer);
pfe_status pf_cblas_run(void *state, const pfe_call *call, pfe_answer *answer);

#endif
