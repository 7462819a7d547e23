/* The fuzz form: no magic, every byte string is a case; short input wraps around.  A fixed head
   (so that a mutated byte keeps its meaning), then edits and verbatim bytes. */
#ifndef PF_FORM_FUZZ_H
#define PF_FORM_FUZZ_H

#include "case.h"

/* What a decoder may produce; zero in a field: no restriction. */
typedef struct pf_filter {
  uint32_t dtypes;    /* bit set of pf_dtype */
  uint32_t graphs;    /* bit set of pf_graph */
  uint32_t kinds;     /* bit set of pf_kind */
  bool dense_only;    /* row-major, offset 0, no aliasing */
  bool strided_only;  /* at least one operand or the output is not dense */
  int64_t max_work;   /* B*M*N*K and elements of a tensor; 0: PF_FUZZ_WORK */
} pf_filter;

/* An input may end in its origin; see form_fuzz_head.h.

   Total: fails only for want of memory.  What the case points to lives in the arena.
   filter may be NULL. */
pf_status pf_fuzz_decode(const uint8_t *data, size_t size, const pf_filter *filter, pf_arena *a,
                         pf_case *out);

/* The inverse for every finished case with B*M*N*K (zeros counted as ones) up to PF_FUZZ_WORK, 255
   edits and at most 4 * PF_FUZZ_WORK + PF_MAX_OFFSET elements of storage a tensor; PF_UNSUPPORTED
   with a reason beyond.  *out lives in the arena. */
pf_status pf_fuzz_encode(const pf_case *c, pf_arena *a, uint8_t **out, size_t *size, pf_error *e);

#endif
