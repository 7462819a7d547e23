/* What the parts of the adapter of ONNX Runtime share. */
#ifndef PF_ORT_PARTS_H
#define PF_ORT_PARTS_H

#include <stdbool.h>

#include <precfuzz/engine.h>

#include "dense.h"
#include "ort_abi.h"
#include "ort_model.h"

typedef enum pf_ort_mode {
  PF_ORT_USUAL,      /* MatMul where that does it, else Gemm */
  PF_ORT_ALL_GEMM,
  PF_ORT_EMPTY       /* PF_ORT_USUAL, and sums of nothing are not declined */
} pf_ort_mode;

enum { PF_ORT_KEPT = 128, PF_ORT_TYPES = 16 };

/* A session, or why there is none. */
typedef struct pf_ort_kept {
  bool used;
  pf_ort_model model;
  void *session;             /* NULL: `why` */
  char why[128];
} pf_ort_kept;

/* Tensors of a call. */
typedef enum pf_ort_role { PF_ORT_X, PF_ORT_Y, PF_ORT_C, PF_ORT_OUT, PF_ORT_ROLES } pf_ort_role;

typedef struct pf_ort {
  pf_ort_functions f;
  void *library, *env, *options, *memory_info;
  pf_ort_mode mode;
  bool narrow_f16;           /* sums of f16 are in f16 */
  pfe_types types[PF_ORT_TYPES];
  int32_t types_count;
  pf_ort_kept kept[PF_ORT_KEPT];  /* by hash; what falls on a used place takes it */
  pf_dense dense[PF_ORT_ROLES];
} pf_ort;

/* Is there a kernel of the provider for the model?  The session is kept.  NULL: *why. */
void *pf_ort_session(pf_ort *o, const pf_ort_model *model, const char **why);
void pf_ort_drop_sessions(pf_ort *o);
/* The model of a product of these dtypes; the out of integers is that of their sums. */
pf_ort_model pf_ort_model_for(pf_ort_product product, int32_t x, int32_t y, int32_t out);
/* The model for a call; NULL, or why there is none. */
const char *pf_ort_model_of(const pfe_call *call, bool all_gemm, pf_ort_model *m);
/* The text of a status, which is released; false: all is well. */
bool pf_ort_failed(const pf_ort *o, void *status, char *text, size_t size);

/* As the functions of pfe_engine. */
pfe_status pf_ort_supports(void *state, const pfe_call *call, pfe_answer *answer);
pfe_status pf_ort_run(void *state, const pfe_call *call, pfe_answer *answer);

#endif
