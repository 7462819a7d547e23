/* Values of integer dtypes: the same kinds, as far as integers have them. */
#ifndef PF_VALUES_INTEGER_H
#define PF_VALUES_INTEGER_H

#include "values.h"

/* The encodings of `count` elements from `at` on that mixing has made ones of `kind`.

     normal     N(0, 1) times a quarter of the largest s8, of u8 around the middle of the range; in
                s32 times 2^12, so that sums stay in range
     bits       any encoding
     corner     the ends of the range and beside them, -1, 0, 1, powers of two and beside them
     integer    -8..8, or 0..8
     cancel     pairs along K that add up to zero, in u8 to 2^8; else normal
     equal      one value everywhere, not 0; seed 0: one
     midpoint   -3..3, or 0..3: sums on ties of what a scale of 1/2 or 1/4 makes of them
     wide       every bit length equally often, zero's too
     subnormal  -1, 0, 1, or 0 and 1 */
void pf_integer_run(const pf_values *v, pf_kind kind, pf_dtype t, pf_walk at, int count,
                    uint64_t *to);

#endif
