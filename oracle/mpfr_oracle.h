/* The MPFR oracle: exact sums, however far the terms lie apart. */
#ifndef PF_MPFR_ORACLE_H
#define PF_MPFR_ORACLE_H

#include "status.h"
#include "truth.h"

/* PF_NO_MEMORY or PF_OK.  To be used on the thread that made it, under the default rounding mode;
   sets that thread's MPFR exponent range to the widest.  Before its first sum v is 0. */
pf_status pf_mpfr_oracle_new(pf_oracle *out);
/* Frees the thread's MPFR caches too. */
void pf_mpfr_oracle_free(pf_oracle *o);

#endif
