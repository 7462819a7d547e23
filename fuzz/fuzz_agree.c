/* Two rows of the case's graph against each other: do eager and inductor agree? */
#include "harness.h"

static const pf_target target = {
  .name = "fuzz_agree", .rule = PF_RULE_AGREE, .strategies = "eager,inductor", .only_equal = true};

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
