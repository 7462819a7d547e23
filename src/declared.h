/* In what engines may differ by right, as they declare it. */
#ifndef PF_DECLARED_H
#define PF_DECLARED_H

#include "row.h"

typedef enum pf_maybe { PF_NEVER, PF_MAY, PF_DOES } pf_maybe;

typedef enum pf_alpha_zero { PF_ALPHA_ZERO_OPEN, PF_ALPHA_ZERO_SKIPS, PF_ALPHA_ZERO_READS }
    pf_alpha_zero;

typedef enum pf_overflows { PF_OVERFLOWS_USUAL, PF_OVERFLOWS_SATURATE, PF_OVERFLOWS_EITHER }
    pf_overflows;

/* All zero: nothing declared. */
typedef struct pf_declared {
  pf_summation sum;
  bool has_accumulator;
  pf_dtype accumulator;       /* of partial sums, in place of the step's, where has_accumulator */
  pf_maybe flush_inputs;      /* subnormal operands read as zero */
  pf_maybe flush_sums;        /* subnormal products and partial sums become zero */
  pf_maybe flush_outputs;     /* subnormal results stored as zero */
  pf_alpha_zero alpha_zero;   /* alpha = 0 with operands that are NaN or infinite */
  pf_maybe zero_skip;         /* zero times anything counts as zero */
  pf_overflows s32, f8;       /* partial sums in s32; results in an f8 */
  bool c_last;                /* beta * c and the bias are added to the finished sum */
  int threads;                /* 0: not known */
} pf_declared;

/* Something that changes what is allowed, beside the order. */
bool pf_declared_matters(const pf_declared *d);
bool pf_declared_equal(const pf_declared *a, const pf_declared *b);
/* "any order, inputs flushed, 1 thread"; "" where there is nothing to say. */
void pf_declared_print(const pf_declared *d, char *to, size_t size);

#endif
