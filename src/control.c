/* The floating-point environment, as far as it changes results. */
#include "control.h"

#include <fenv.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

unsigned pf_control_get(void)
{
#if defined(__SSE2__)
  return (_mm_getcsr() & 0xffc0u) | (unsigned)fegetround() << 16;
#else
  return (unsigned)fegetround();
#endif
}

void pf_control_set(unsigned control)
{
#if defined(__SSE2__)
  _mm_setcsr((_mm_getcsr() & ~0xffc0u) | (control & 0xffc0u));
  fesetround((int)(control >> 16));
#else
  fesetround((int)control);
#endif
}
