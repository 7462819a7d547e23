/* The loops over blocks, once for every set of instructions, chosen at run time. */
#include <math.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "enclosure_block_parts.h"

#define ISA ISA_PORTABLE
#include "isa_target.h"
#include "enclosure_block_dots.h"
#include "enclosure_block_loops.h"
#undef ISA
#if defined(__x86_64__)
#define ISA ISA_AVX2
#include "isa_target.h"
#include "enclosure_block_dots.h"
#include "enclosure_block_loops.h"
#undef ISA
#define ISA ISA_AVX512
#include "isa_target.h"
#include "enclosure_block_dots.h"
#include "enclosure_block_loops.h"
#undef ISA
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
