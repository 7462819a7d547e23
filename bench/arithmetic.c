/* Dot products in several vectors of accumulators, so that neither latency nor a reduction bounds
   them. */
#include "arithmetic.h"

#include <math.h>
#include <string.h>

enum { F64_LANES = 4, F32_LANES = 8, VECTORS = 4 };

typedef double f64_vector __attribute__((vector_size(F64_LANES * 8)));
typedef int64_t f64_bits __attribute__((vector_size(F64_LANES * 8)));
typedef float f32_vector __attribute__((vector_size(F32_LANES * 4)));

static inline f64_vector load_f64(const double *at)
{
  f64_vector v;
  memcpy(&v, at, sizeof v);
  return v;
}

static inline f32_vector load_f32(const float *at)
{
  f32_vector v;
  memcpy(&v, at, sizeof v);
  return v;
}

static inline f64_vector magnitude(f64_vector v)
{
  return (f64_vector)((f64_bits)v & INT64_MAX);
}

void bench_dot_absolute(const double *x, const double *y, int64_t k, double *sum, double *absolute)
{
  f64_vector s[VECTORS] = {{0}}, a[VECTORS] = {{0}};
  int64_t i = 0;
  for (; i + VECTORS * F64_LANES <= k; i += VECTORS * F64_LANES)
    for (int v = 0; v < VECTORS; v++) {
      const f64_vector p = load_f64(x + i + v * F64_LANES) * load_f64(y + i + v * F64_LANES);
      s[v] += p;
      a[v] += magnitude(p);
    }
  for (; i + F64_LANES <= k; i += F64_LANES) {
    const f64_vector p = load_f64(x + i) * load_f64(y + i);
    s[0] += p;
    a[0] += magnitude(p);
  }
  const f64_vector whole = (s[0] + s[1]) + (s[2] + s[3]);
  const f64_vector size = (a[0] + a[1]) + (a[2] + a[3]);
  *sum = (whole[0] + whole[1]) + (whole[2] + whole[3]);
  *absolute = (size[0] + size[1]) + (size[2] + size[3]);
  for (; i < k; i++) {
    const double p = x[i] * y[i];
    *sum += p;
    *absolute += fabs(p);
  }
}

float bench_dot_f32(const float *x, const float *y, int64_t k)
{
  f32_vector s[VECTORS] = {{0}};
  int64_t i = 0;
  for (; i + VECTORS * F32_LANES <= k; i += VECTORS * F32_LANES)
    for (int v = 0; v < VECTORS; v++)
      s[v] += load_f32(x + i + v * F32_LANES) * load_f32(y + i + v * F32_LANES);
  for (; i + F32_LANES <= k; i += F32_LANES)
    s[0] += load_f32(x + i) * load_f32(y + i);
  const f32_vector whole = (s[0] + s[1]) + (s[2] + s[3]);
  float sum = ((whole[0] + whole[1]) + (whole[2] + whole[3])) +
              ((whole[4] + whole[5]) + (whole[6] + whole[7]));
  for (; i < k; i++)
    sum += x[i] * y[i];
  return sum;
}
