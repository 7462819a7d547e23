/* Eight doubles at a time.  The compiler makes of them what the target has: one register of AVX-512,
   two of AVX2, four of SSE2; the numbers are the same. */
#ifndef PF_LANES_H
#define PF_LANES_H

#include <stdint.h>
#include <string.h>

enum { PF_LANES_WIDTH = 8 };

typedef double pf_lanes __attribute__((vector_size(64)));
typedef int64_t pf_masks __attribute__((vector_size(64)));  /* of a comparison: 0 or -1 a lane */

#define PF_LANES_INLINE static inline __attribute__((always_inline))

/* By pointer: how vectors are passed by value depends on the target. */
#define PF_LANES_LOAD(to, from) memcpy(&(to), (from), sizeof(pf_lanes))
#define PF_LANES_STORE(to, from) memcpy((to), &(from), sizeof(pf_lanes))

/* Lane by lane: where the mask is set a, elsewhere b. */
#define PF_LANES_SELECT(mask, a, b) \
  ((pf_lanes)(((pf_masks)(a) & (mask)) | ((pf_masks)(b) & ~(mask))))
#define PF_LANES_ABS(v) ((pf_lanes)((pf_masks)(v) & INT64_MAX))
#define PF_LANES_OF(v) ((pf_lanes){0} + (v))

#endif
