/* The list of adapters: the one place that names them all. */
#include "engines.h"

const pfe_engine *const pf_adapters[] = {
  NULL
};
