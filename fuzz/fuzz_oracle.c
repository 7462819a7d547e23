/* Every enclosure twice: by the exact oracle, and by certified double arithmetic, which must lie
   inside.  That gives no result whatever two different verdicts, right or wrong, near a border or
   not. */
#include "harness.h"

static const pf_target target = {
  .name = "fuzz_oracle", .rule = PF_RULE_CONTRACT, .oracle = PF_ORACLE_BOTH};

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
