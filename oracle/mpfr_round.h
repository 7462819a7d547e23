/* One number converted by MPFR: what every conversion is held against. */
#ifndef PF_MPFR_ROUND_H
#define PF_MPFR_ROUND_H

#include "dtype.h"

/* RN_f(x), as pf_round promises it: one rounding, with f's rounding and overflow policy.  Puts the
   thread's MPFR exponent range back as it was. */
double pf_mpfr_round(const pf_format *f, double x);

/* What an encoding stands for, by the definition of its dtype; a NaN loses its payload. */
double pf_mpfr_decode(pf_dtype t, uint64_t bits);

#endif
