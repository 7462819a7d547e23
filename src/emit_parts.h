/* What the targets of emit.h share. */
#ifndef PF_EMIT_PARTS_H
#define PF_EMIT_PARTS_H

#include "emit.h"
#include "tensor_case.h"

typedef struct pf_emitter {
  const pf_problem *problem;
  const pf_case *what;
  pf_case_tensors tensors;
  const char *engine;
  const char *const *environment;
  pf_arena *arena;
  FILE *to;
} pf_emitter;

/* Each writes a program, or returns PF_UNSUPPORTED before it writes anything. */
pf_status pf_emit_pytorch(const pf_emitter *m, pf_error *e);
pf_status pf_emit_numpy(const pf_emitter *m, pf_error *e);
pf_status pf_emit_c(const pf_emitter *m, pf_error *e);

/* A string of C or Python. */
void pf_emit_quoted(FILE *to, const char *text, size_t length);

/* --- Python (emit_python.c) ---------------------------------------------------------------- */

/* What modules of Python call by different names. */
typedef struct pf_emit_module {
  const char *name;                  /* "torch" */
  const char *f64;                   /* behind a tensor: the same in f64 */
  const char *repeat;                /* function: each element so many times along an axis */
  pf_dtype (*held)(pf_dtype t);      /* the dtype in which the script holds it: t, or a wider one */
  const char *(*dtype)(pf_dtype t);  /* as the script writes a dtype that `held` gives */
} pf_emit_module;

/* "[3, 1]" */
void pf_emit_sizes(FILE *to, int rank, const int64_t *size);
/* As Python reads it back exactly; without a fraction where whole is asked and right. */
void pf_emit_number(FILE *to, double value, bool whole);
/* The top: a comment on what the script is of, imports, "np" say, behind the environment. */
void pf_emit_head(const pf_emitter *m, const char *says, const char *module);
/* x = tensor(DTYPE, SIZES, STRIDES, OFFSET, HEX), and so on.  c of a call in place is a function
   that makes it anew. */
void pf_emit_operands(const pf_emitter *m, const pf_emit_module *module);
/* "x, y, bias"; by_call: as arguments that may be changed. */
void pf_emit_names(const pf_emitter *m, bool by_call);
/* Behind `answers`, a dict of lists of floats: works out the exact values, prints the elements that
   are furthest from them. */
void pf_emit_exact(const pf_emitter *m, const pf_emit_module *module);

#endif
