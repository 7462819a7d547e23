/* All memory of one case: blocks kept from case to case, so that a warm loop allocates nothing. */
#ifndef PF_MEMORY_H
#define PF_MEMORY_H

#include <stddef.h>

typedef struct pf_arena {
  struct pf_block *first, *current;
  size_t used;   /* bytes of the current block */
  size_t total;  /* bytes in all blocks */
  size_t limit;  /* on `given`, bytes; 0: none */
  size_t given;  /* bytes given out since the last reset, with alignment and gaps */
} pf_arena;

/* Zeroed, aligned to 64 bytes, with an inaccessible gap behind it under AddressSanitizer.
   NULL past the limit or where malloc fails.  bytes may be 0. */
void *pf_alloc(pf_arena *a, size_t bytes);
/* The same without zeroing. */
void *pf_alloc_raw(pf_arena *a, size_t bytes);
/* count * size, checked. */
void *pf_alloc_array(pf_arena *a, size_t count, size_t size);
void *pf_alloc_array_raw(pf_arena *a, size_t count, size_t size);
/* Takes back what was given out since the mark; what came before stays. */
typedef struct pf_arena_mark {
  struct pf_block *current;
  size_t used, given;
} pf_arena_mark;
pf_arena_mark pf_arena_mark_here(const pf_arena *a);
void pf_arena_release(pf_arena *a, pf_arena_mark mark);

void pf_arena_reset(pf_arena *a);  /* forgets everything, keeps the blocks */
void pf_arena_free(pf_arena *a);

#endif
