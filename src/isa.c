/* What the machine has. */
#include "isa.h"

pf_isa pf_isa_best(void)
{
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    return PF_ISA_AVX512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return PF_ISA_AVX2;
#endif
  return PF_ISA_PORTABLE;
}
