/* A case as a program of its own, for who has no precfuzz: it rebuilds the operands bit for bit,
   with their strides and offsets, computes the graph, and prints the answers beside the exact
   values, which it works out itself. */
#ifndef PF_EMIT_H
#define PF_EMIT_H

#include "problem.h"

typedef enum pf_emit_target {
  PF_EMIT_PYTORCH,  /* Python; needs torch; answers of its backends */
  PF_EMIT_NUMPY,    /* Python; needs numpy; dtypes that NumPy has not are cast to f32, exactly */
  PF_EMIT_C,        /* C11; calls a library's own interface as its adapter does; of the graph the
                       product alone, with what is inside the call */
  PF_EMIT_TARGETS
} pf_emit_target;

typedef struct pf_emit_wish {
  pf_emit_target target;
  const char *engine;  /* the name under which it is opened, "onednn:runtime"; C needs it */
  /* "NAME=VALUE"s, the last behind them NULL: what libraries choose their kernels by, which the
     program sets for itself where it is not set; NULL: nothing. */
  const char *const *environment;
} pf_emit_wish;

/* What tensors take is in the arena, the program goes to `to`, whose errors are the caller's to see.
   PF_NO_MEMORY; PF_UNSUPPORTED, with the reason, where the target has no call for the case: nothing
   is written then. */
pf_status pf_emit(const pf_problem *p, const pf_emit_wish *w, pf_arena *a, FILE *to, pf_error *e);

#endif
