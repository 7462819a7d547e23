/* What the files of the adapter of compiled graphs share. */
#ifndef PF_INDUCTOR_PARTS_H
#define PF_INDUCTOR_PARTS_H

#include <stdbool.h>

#include "dense.h"
#include "torch_parts.h"

typedef enum pf_inductor_size {
  PF_IND_B, PF_IND_M, PF_IND_N, PF_IND_K, PF_IND_SIZES
} pf_inductor_size;

/* One compiled graph: a line of the manifest, and what was loaded of it. */
typedef struct pf_inductor_model {
  char file[96], graph[32], row[64];  /* row: the strategy that it claims, or empty */
  int32_t dtype;                      /* pfe_dtype of all its inputs */
  bool batched;
  int64_t size[PF_IND_SIZES];         /* 0: any from 2 on */
  void *library, *container;
  pf_torch_model f;
} pf_inductor_model;

typedef struct pf_inductor {
  pf_torch torch;
  char folder[512];
  char compiled_by[64], library[512], isa[32];  /* as the manifest says */
  pf_inductor_model *model;
  int count;
  pf_dense dense[4];
} pf_inductor;

/* Reads folder/manifest.  PFE_ERROR: text names file and line. */
pfe_status pf_inductor_read(pf_inductor *d, char text[192]);

pfe_status pf_inductor_supports(void *state, const pfe_call *call, pfe_answer *answer);
pfe_status pf_inductor_run(void *state, const pfe_call *call, pfe_answer *answer);

#endif
