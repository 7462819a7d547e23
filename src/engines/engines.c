/* The list of adapters: the one place that names them all. */
#include "engines.h"

const pfe_engine *const pf_adapters[] = {
  &pf_openblas, &pf_blis, &pf_refblas, &pf_cblas_any, &pf_onednn, &pf_onnxruntime,
  &pf_xnnpack, &pf_torch_engine, &pf_torch_ops_engine,
  &pf_inductor_engine,
  NULL
};
