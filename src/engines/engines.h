/* The adapters: engines of the public kind (precfuzz/engine.h) that come with precfuzz, one file for
   each interface of a library.  They see nothing else of precfuzz and link with nothing: what they
   drive is loaded when they are opened (library.h). */
#ifndef PF_ENGINES_H
#define PF_ENGINES_H

#include <precfuzz/engine.h>

/* One for each name that --engine takes; a line here and a line in engines.c. */
extern const pfe_engine pf_openblas, pf_blis, pf_refblas, pf_cblas_any;  /* cblas.c */
extern const pfe_engine pf_onednn, pf_onnxruntime, pf_xnnpack, pf_torch_engine,
  pf_torch_ops_engine, pf_inductor_engine;

extern const pfe_engine *const pf_adapters[];  /* ends with NULL */

#endif
