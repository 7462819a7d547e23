/* Reference sums: one output element, in a stated order, by an accumulator's rules. */
#ifndef PF_REFERENCE_H
#define PF_REFERENCE_H

#include "row.h"
#include "truth.h"

/* What an accumulator's partial sums are computed by. */
typedef enum pf_arithmetic {
  PF_BY_FLOAT, PF_BY_DOUBLE,  /* the machine's own */
  PF_BY_WORD,                 /* integers modulo 2^32 */
  PF_BY_RULES,                /* doubles, rounded after each operation */
  PF_ARITHMETIC_COUNT
} pf_arithmetic;

pf_arithmetic pf_arithmetic_of(const pf_accumulator *acc);

/* The order that is followed: the accumulator's, or s where that states none. */
pf_summation pf_reference_order(const pf_accumulator *acc, const pf_summation *s,
                                bool elementwise);

/* The sum rounded to `out`.  In s32 it wraps, whatever the order; operands, c, bias, alpha and beta
   are integers then.  s: the order, used where the accumulator states none; elementwise:
   products are rounded before they are added (MULSUM), so that nothing is fused. */
double pf_reference_sum(const pf_accumulator *acc, const pf_summation *s, bool elementwise,
                        const pf_format *out, const pf_sum *terms);

#endif
