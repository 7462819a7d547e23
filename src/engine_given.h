/* An engine that has its answer already: the result of a graph, computed elsewhere. */
#ifndef PF_ENGINE_GIVEN_H
#define PF_ENGINE_GIVEN_H

#include "engine.h"
#include "tensorfile.h"

typedef struct pf_given {
  pf_engine engine;               /* points at this struct: it stays where it was filled in */
  const pf_tensor_entry *tensor;
  char name[64];                  /* of the engine: "given:" and what the tensor is called */
  char why[PF_DTYPE_COUNT][64];   /* by a row's dtype: why the tensor is no result of it */
} pf_given;

/* The tensor has a dtype and the shape of the results of all cases that the engine is to run; it
   must outlive *out.  The engine answers rows whose result is stored in the tensor's dtype, in one
   run of all steps, and states no order of summation.  label: ends its name; may be "". */
void pf_engine_give(const pf_tensor_entry *tensor, const char *label, pf_given *out);

#endif
