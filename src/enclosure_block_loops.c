/* The loops over blocks, once for every set of instructions, chosen at run time. */
#include <math.h>

#include "enclosure_block_parts.h"

#define TARGET
#define NAME(f) portable_##f
#include "enclosure_block_loops.h"
#undef TARGET
#undef NAME

#if defined(__x86_64__)
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(f) avx2_##f
#include "enclosure_block_loops.h"
#undef TARGET
#undef NAME

#define TARGET __attribute__((target("avx512f,avx512dq")))
#define NAME(f) avx512_##f
#include "enclosure_block_loops.h"
#undef TARGET
#undef NAME
#endif

const pf_block_loops *pf_block_loops_of(pf_isa isa)
{
#if defined(__x86_64__)
  if (isa >= PF_ISA_AVX512 && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512dq"))
    return &avx512_loops;
  if (isa >= PF_ISA_AVX2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return &avx2_loops;
#else
  (void)isa;
#endif
  return &portable_loops;
}
