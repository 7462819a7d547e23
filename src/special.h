/* Sums with terms that are infinite or NaN: rules, not rounding. */
#ifndef PF_SPECIAL_H
#define PF_SPECIAL_H

#include "bound.h"
#include "declared.h"
#include "set.h"

/* True if a term, c or bias of the sum is not finite. */
bool pf_sum_is_special(const pf_sum *s);

/* The same without knowing the finite part: true, and the whole set, where it does not matter.
   no_overflow: no order of the finite terms overflows, and |alpha| is 1. */
bool pf_special_certain(const pf_sum *s, const pf_format *acc, bool no_overflow, pf_set *out);

/* The set of results given that of the finite part (bound and interval of the finite terms).
   declared: what the engine does with zeros; NULL: nothing. */
pf_set pf_special_set(const pf_sum *s, const pf_format *acc, const pf_bound *finite_bound,
                      const pf_declared *declared, const pf_set *finite);

#endif
