/* Values of float dtypes. */
#ifndef PF_VALUES_FLOAT_H
#define PF_VALUES_FLOAT_H

#include "values.h"

/* The encodings of `count` elements from `at` on that mixing has made ones of `kind`. */
void pf_float_run(const pf_values *v, pf_kind kind, pf_dtype t, pf_walk at, int count,
                  uint64_t *to);

#endif
