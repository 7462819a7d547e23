/* Simpler cases than a given one, for whoever makes cases smaller or changes them with their
   structure in view.

   A reduction is a way to simplify (fewer rows, a plain layout, ...) with a number of candidates;
   which they are depends on the case alone.  Each candidate is a case by itself, strictly simpler
   than what it was made from: a walk from case to candidate ends, whoever chooses. */
#ifndef PF_REDUCE_H
#define PF_REDUCE_H

#include "case.h"

/* How far from simple a case is: the smaller the simpler, the first of these that differs decides.
   No candidate is greater in any that comes before the one that it makes smaller. */
enum {
  PF_BURDEN_ELEMENTS,  /* of operands and output together */
  PF_BURDEN_SIZES,     /* sum of the sizes of all dimensions, with their number */
  PF_BURDEN_TENSORS,   /* operands and scales there are */
  PF_BURDEN_LAYOUTS,   /* tensors that are not dense; in place counts as one more */
  PF_BURDEN_STRIDES,   /* of these: offset and how far strides are from dense ones, elements */
  PF_BURDEN_SCALARS,   /* of alpha and beta, by pf_burden_of_value */
  PF_BURDEN_DTYPES,    /* f32 is the simplest, then s8, f64, bf16, f16, s32, u8, fp8 */
  PF_BURDEN_VALUES,    /* of all elements and scales, by pf_burden_of_value */
  PF_BURDENS
};

typedef struct pf_burden {
  uint64_t part[PF_BURDENS];
} pf_burden;

/* A case with every element and scale spelled out (PF_VERBATIM), as reductions take it. */
typedef struct pf_reducible {
  pf_case what;
  pf_burden burden;
  pf_values told[PF_OUT];  /* how the archive told the values: may stay the shortest way */
} pf_reducible;

typedef struct pf_reduction {
  const char *name;
  int part;  /* for the functions: which dimension or operand */
  int64_t (*count)(const pf_case *c, int part);
  /* Turns c, which is spelled out, into candidate `index`; PF_UNSUPPORTED where there is none. */
  pf_status (*make)(int part, int64_t index, pf_arena *a, pf_case *c);
} pf_reduction;

/* In the order in which they pay off; ends with name == NULL. */
extern const pf_reduction pf_reductions[];

/* 0: zero; 1: one; 2: minus one; then powers of two, small exponents first; then significands with
   more and more bits, of as many those with fewer set; infinity; NaN, and last a NaN with another
   payload or sign than pf_encode gives. */
uint64_t pf_burden_of_value(pf_dtype t, uint64_t bits);
pf_burden pf_burden_of(const pf_case *spelled);
/* < 0: a is simpler, > 0: b is; 0: neither. */
int pf_burden_compare(const pf_burden *a, const pf_burden *b);

/* Reads an archive; everything lives in the arena, which data must outlive, too.  Fails as
   pf_archive_decode does. */
pf_status pf_reduce_open(const uint8_t *data, size_t size, pf_arena *a, pf_reducible *out,
                         pf_error *e);
/* Candidate `index` (from 0) of a reduction, as an archive in the arena.  PF_UNSUPPORTED where it
   is no case, or none that is simpler; PF_NO_MEMORY. */
pf_status pf_reduce_make(const pf_reducible *from, const pf_reduction *how, int64_t index,
                         pf_arena *a, uint8_t **out, size_t *size);

#endif
