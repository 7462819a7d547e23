/* Rounding toward a side, one ulp at a time: what is computed to nearest lies within one. */
#ifndef PF_DIRECTED_H
#define PF_DIRECTED_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* nextafter(v, +inf) for v >= 0 or NaN. */
static inline double pf_up(double v)
{
  uint64_t bits;
  if (!(v < INFINITY))
    return v;
  v += 0.0;  /* -0 */
  memcpy(&bits, &v, sizeof bits);
  bits++;
  memcpy(&v, &bits, sizeof v);
  return v;
}

/* 2^e; 0 or infinite where that is no double. */
static inline double pf_power(int e)
{
  if (e > 1023 || e < -1074)
    return e > 0 ? INFINITY : 0;
  const uint64_t bits = e >= -1022 ? (uint64_t)(e + 1023) << 52 : (uint64_t)1 << (e + 1074);
  double v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

/* nextafter(v, 0). */
static inline double pf_down(double v)
{
  uint64_t bits;
  if (v == 0 || v != v)
    return v;
  memcpy(&bits, &v, sizeof bits);
  bits--;
  memcpy(&v, &bits, sizeof v);
  return v;
}

#endif
