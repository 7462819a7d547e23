/* The loops over blocks, once for every set of instructions, chosen at run time. */
#include <math.h>

#include "enclosure_block_parts.h"

#define TARGET
#define NAME(f) portable_##f
#include "enclosure_block_dots.h"
#include "enclosure_block_loops.h"
#undef TARGET
#undef NAME

#if defined(__x86_64__)
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(f) avx2_##f
#include "enclosure_block_dots.h"
#include "enclosure_block_loops.h"
#undef TARGET
#undef NAME

#define TARGET __attribute__((target("avx512f,avx512dq")))
#define NAME(f) avx512_##f
#include "enclosure_block_dots.h"
#include "enclosure_block_loops.h"
#undef TARGET
#undef NAME
#endif

const pf_block_loops *pf_block_loops_of(pf_isa isa)
{
  static const pf_block_loops *const loops[PF_ISA_COUNT] = {
    [PF_ISA_PORTABLE] = &portable_loops,
#if defined(__x86_64__)
    [PF_ISA_AVX2] = &avx2_loops,
    [PF_ISA_AVX512] = &avx512_loops,
#endif
  };
  return loops[isa];
}
