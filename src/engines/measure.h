/* What numbers depend on and a library does not say of itself. */
#ifndef PF_MEASURE_H
#define PF_MEASURE_H

#include <stdbool.h>

#include <precfuzz/engine.h>

/* The widest set of instructions that the processor has, of those that libraries choose by. */
const char *pf_measure_isa(void);

/* Runs one sum of three products of f16, stored as f16, that is 2^-11 in f32 and something else
   wherever a product or a partial sum is rounded to f16, in whatever order.  *narrow: it is not
   2^-11.  The engine's own status otherwise. */
pfe_status pf_measure_f16(const pfe_engine *engine, void *state, bool *narrow,
                          pfe_answer *answer);

#endif
