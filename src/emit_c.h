/* What programs in C share, whatever interface they call (emit_c.c and its like). */
#ifndef PF_EMIT_C_H
#define PF_EMIT_C_H

#include <precfuzz/engine.h>

#include "emit_parts.h"

/* The step that an engine is asked for first, one plain MATMUL, as the public interface has it. */
typedef struct pf_emit_call {
  const pf_emitter *m;
  const pfe_call *call;
  const char *mode;     /* what followed the engine's name, or the library's path, and a ':'; "" */
  const char *library;  /* its path where the engine's name has one; ends at path_length */
  int path_length;      /* 0: it has none */
  FILE *to;
} pf_emit_call;

/* One interface of libraries. */
typedef struct pf_emit_interface {
  const char *engine;   /* "onednn" */
  const char *include;  /* "dnnl.h"; NULL: write() declares what it calls */
  const char *link;     /* "-ldnnl" */
  /* Writes run(), which answers 0 or what failed; or returns why there is no such call.  x, y, z (c
     or bias) and out are in scope, BATCHES, M, N and K; x_batch[b] and so on are elements to the
     first of batch b.  NULL: only Python has a way to ask. */
  const char *(*write)(const pf_emit_call *c);
} pf_emit_interface;

extern const pf_emit_interface pf_emit_interfaces[];  /* ends with engine == NULL */

const char *pf_emit_cblas(const pf_emit_call *c);
const char *pf_emit_onednn(const pf_emit_call *c);
const char *pf_emit_onnxruntime(const pf_emit_call *c);
const char *pf_emit_torch(const pf_emit_call *c);
const char *pf_emit_xnnpack(const pf_emit_call *c);

/* Ends run() where something failed. */
#define PF_EMIT_TRY                                                                          \
  "#define TRY(call) do { const int failed = (int)(call); if (failed) return failed; } while (0)" \
  "\n\n"

/* "x[x_batch[b] + 2 * m + 1 * k]" for row "m" and column "k". */
void pf_emit_index(FILE *to, const char *name, const pfe_tensor *t, const char *row,
                   const char *column);
/* distance(), set_environment() where it sets anything, and main(). */
void pf_emit_main(const pf_emit_call *c);
/* Writes the loops that put z into out before the call, if there is one. */
void pf_emit_start(const pf_emit_call *c);
/* Lines of run() that make dense_x, dense_y, dense_out and, where there is a z, dense_z: copies of
   [BATCHES, rows, columns], 128 bytes and more behind them; and those that put dense_out into
   out. */
void pf_emit_dense(const pf_emit_call *c);
void pf_emit_dense_back(const pf_emit_call *c);
/* A float or double of C, exactly. */
void pf_emit_constant(FILE *to, double value);

#endif
