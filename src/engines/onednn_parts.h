/* What the parts of the adapter of oneDNN share. */
#ifndef PF_ONEDNN_PARTS_H
#define PF_ONEDNN_PARTS_H

#include <stdbool.h>

#include <precfuzz/engine.h>

#include "onednn_abi.h"

typedef enum pf_dnnl_mode {
  PF_DNNL_MATMUL,        /* a primitive for each shape */
  PF_DNNL_RUNTIME_DIMS,  /* one for all shapes of the same dtypes, sizes and strides told later */
  PF_DNNL_GEMM           /* plain functions */
} pf_dnnl_mode;

enum { PF_DNNL_TENSORS = 4, PF_DNNL_KEPT = 1024, PF_DNNL_TYPES = 96 };

typedef enum pf_dnnl_tensor_role { PF_DNNL_SOURCE, PF_DNNL_WEIGHTS, PF_DNNL_DESTINATION,
                                   PF_DNNL_BIASES } pf_dnnl_tensor_role;

/* A memory descriptor; type PF_DNNL_UNDEF: none. */
typedef struct pf_dnnl_view {
  int64_t type;
  pf_dnnl_dims dims, strides;
} pf_dnnl_view;

/* All that a primitive is made from; compared as bytes, so that there is no padding. */
typedef struct pf_dnnl_key {
  int64_t ndims;
  pf_dnnl_view view[PF_DNNL_TENSORS];
  int32_t scaled;            /* an alpha is told at each call */
  uint32_t beta_bits;        /* of the float by which what is in the destination is added; 0: not */
} pf_dnnl_key;

/* A primitive, or why there is none. */
typedef struct pf_dnnl_kept {
  bool used;
  pf_dnnl_key key;
  void *primitive;           /* NULL: `why` */
  void *memory[PF_DNNL_TENSORS], *scale;  /* memory is NULL where sizes are told at each call */
  float scale_value;
  char kernel[64], why[96];
} pf_dnnl_kept;

typedef struct pf_dnnl {
  pf_dnnl_functions f;
  void *library, *engine, *stream;
  pf_dnnl_mode mode;
  bool faulty;               /* what is known to go wrong is passed on */
  bool flushes_bf16, flushes_f16;
  pfe_types types[PF_DNNL_TYPES];  /* what there are kernels for */
  int32_t types_count;
  pf_dnnl_kept *kept;        /* PF_DNNL_KEPT, by hash; what falls on a used place takes it */
} pf_dnnl;

int pf_dnnl_type(int32_t dtype);

/* What the primitive for a call is made from; runtime: sizes are told later.  NULL, or why there is
   none. */
const char *pf_dnnl_key_of(const pfe_call *call, bool runtime, pf_dnnl_key *key);

/* Each as the functions of pfe_engine; the modes' own. */
pfe_status pf_dnnl_primitive_supports(pf_dnnl *d, const pfe_call *call, pfe_answer *answer);
pfe_status pf_dnnl_primitive_run(pf_dnnl *d, const pfe_call *call, pfe_answer *answer);
/* Is there a kernel for small matrices of these dtypes? */
bool pf_dnnl_primitive_has(const pf_dnnl *d, const pfe_types *types);
void pf_dnnl_drop(pf_dnnl *d, pf_dnnl_kept *kept);
pfe_status pf_dnnl_gemm_supports(pf_dnnl *d, const pfe_call *call, pfe_answer *answer);
pfe_status pf_dnnl_gemm_run(pf_dnnl *d, const pfe_call *call, pfe_answer *answer);

#endif
