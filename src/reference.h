/* Reference sums: one output element, in a stated order, by an accumulator's rules. */
#ifndef PF_REFERENCE_H
#define PF_REFERENCE_H

#include "row.h"
#include "truth.h"

/* The sum rounded to `out`.  In s32 it wraps, whatever the order; operands, c, bias, alpha and beta
   are integers then.  s: the order, used where the accumulator states none; elementwise:
   products are rounded before they are added (MULSUM), so that nothing is fused. */
double pf_reference_sum(const pf_accumulator *acc, const pf_summation *s, bool elementwise,
                        const pf_format *out, const pf_sum *terms);

#endif
