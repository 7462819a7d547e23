/* Where element values come from: a kind and a seed, then sparse edits; or verbatim bytes.
   Integer arithmetic only, each element a pure function of (seed, place): the same bits from every
   compiler and libm, and cutting a shape leaves the rest as it was.  A change to what a kind
   generates changes every archived case: the tests hold hashes of all of them. */
#ifndef PF_VALUES_H
#define PF_VALUES_H

#include "dtype.h"

/* The numbers are part of the archive form.  What integers make of a kind: values_integer.h. */
typedef enum pf_kind {
  PF_NORMAL = 0,    /* about N(0, 1): sum of twelve uniform integers */
  PF_BITS = 1,      /* raw encodings: NaN, infinity, subnormals included */
  PF_CORNER = 2,    /* exponent corner x significand corner */
  PF_INTEGER = 3,   /* -8..8: sums are exact in every order */
  PF_CANCEL = 4,    /* pairs along K whose products nearly cancel */
  PF_EQUAL = 5,     /* one value everywhere; seed 0: one */
  PF_MIDPOINT = 6,  /* sums that land on ties of the operand's own format, or one step beside */
  PF_WIDE = 7,      /* exponents all over the format */
  PF_SUBNORMAL = 8, /* subnormals, some smallest normals */
  PF_VERBATIM = 9,  /* bytes given with the case */
  PF_KIND_COUNT
} pf_kind;

typedef struct pf_edit {
  int64_t index;  /* row-major logical index, elements */
  uint64_t bits;
} pf_edit;

typedef struct pf_values {
  pf_kind kind, other;      /* an element is of the kind `other` with probability mix/256; neither
                               is PF_VERBATIM if the other one is used */
  uint8_t mix;              /* 0: kind only */
  uint32_t seed;
  const uint8_t *verbatim;  /* PF_VERBATIM: count * bytes of the dtype, row-major, little endian */
  int64_t edit_count;
  const pf_edit *edits;     /* applied in order, after generation */
} pf_values;

/* Where an element sits in its matmul: what the kinds that shape whole sums need. */
typedef struct pf_place {
  int64_t index;  /* row-major logical index in its tensor */
  int64_t line;   /* which dot-product vector of the tensor it belongs to; any for c and bias */
  int64_t k;      /* place along K; 0 for c and bias */
  int64_t k_count;  /* K; 0 for c and bias, which so are told from y */
  bool negate;    /* true for x: its half of a cancelling pair carries the sign */
} pf_place;

/* The elements of a tensor in row-major order. */
typedef struct pf_walk {
  pf_place place;
  int64_t columns;  /* elements from one place along K to the next: 1, or N in y's [K, N] */
  int64_t column;   /* of them, where the walk is */
} pf_walk;

const char *pf_kind_name(pf_kind k);
bool pf_kind_find(const char *name, size_t length, pf_kind *out);

/* The encoding of the generated (not edited, not verbatim) element. */
uint64_t pf_value_bits(const pf_values *v, pf_dtype t, const pf_place *place);
/* The same for `count` elements from `at` on, stored densely: count * bytes of the dtype. */
void pf_values_generate(const pf_values *v, pf_dtype t, pf_walk at, int64_t count, void *to);

uint64_t pf_hash(uint64_t x);  /* splitmix64's finalizer on x + 0x9e3779b97f4a7c15 */

#endif
