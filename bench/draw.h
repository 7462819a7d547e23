/* The cases that precfuzz and the scripts of today are given: matmul(x, y) + bias. */
#ifndef PF_BENCH_DRAW_H
#define PF_BENCH_DRAW_H

#include "bench.h"
#include "session.h"

typedef enum bench_draw_kind {
  BENCH_VARYING,    /* shapes as a fuzzer draws them; bf16, f16 or f32; finite values */
  BENCH_ONE_SHAPE   /* batch 2, M 4, N 4, K 16, bf16, normal values */
} bench_draw_kind;

/* "varying" or "one_shape", or bench_die. */
bench_draw_kind bench_draw_kind_of(const char *name);
/* Case number `index` of a seed, finished and built; everything lives in the arena. */
void bench_draw(bench_draw_kind kind, uint64_t seed, int64_t index, pf_arena *a, pf_case *what,
                pf_problem *problem);

#endif
