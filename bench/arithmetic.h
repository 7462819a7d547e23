/* What precfuzz is measured against: sums as fast as a compiler makes them.  Compiled for the
   machine at hand (-O3 -march=native), with fused multiply-adds where it has them. */
#ifndef PF_BENCH_ARITHMETIC_H
#define PF_BENCH_ARITHMETIC_H

#include <stdint.h>

/* The sum of x[i] * y[i] and of their absolute values, in 16 accumulators each. */
void bench_dot_absolute(const double *x, const double *y, int64_t k, double *sum,
                        double *absolute);
/* The sum of x[i] * y[i] in 32 accumulators. */
float bench_dot_f32(const float *x, const float *y, int64_t k);

#endif
