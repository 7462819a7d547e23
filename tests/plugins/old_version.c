/* An engine made for a version of the interface that never was. */
#include <precfuzz/engine.h>

static const pfe_engine engine = {.version = PFE_VERSION + 1000, .size = 8, .name = "old"};

const pfe_engine *precfuzz_engine(void)
{
  return &engine;
}
