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

/* nextafter(v, 0). */
static inline double pf_down(double v)
{
  return nextafter(v, 0);
}

#endif
