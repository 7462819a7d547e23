/* Every row of the case's graph, on every engine, against the oracle. */
#include "harness.h"

static const pf_target target = {.name = "fuzz_matmul", .rule = PF_RULE_CONTRACT};

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc;
  (void)argv;
  return pf_harness_open(&target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  return pf_harness_examine(data, size);
}
