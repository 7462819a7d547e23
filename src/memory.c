/* The arena: a chain of blocks, those in use up to `current` and the idle ones behind it.

   Blocks have sizes of powers of two, so that a long run of cases of all sizes ends with a few
   blocks per size instead of one per case, and the limit counts what the case asked for, not what
   blocks it happened to meet: whether an allocation succeeds depends on the case alone.  The layout
   is the same with and without AddressSanitizer for the same reason. */
#include "memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#endif

#ifdef ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#define POISON(at, bytes) ASAN_POISON_MEMORY_REGION(at, bytes)
#define UNPOISON(at, bytes) ASAN_UNPOISON_MEMORY_REGION(at, bytes)
#else
#define POISON(at, bytes) ((void)(at), (void)(bytes))
#define UNPOISON(at, bytes) ((void)(at), (void)(bytes))
#endif

#define ALIGNMENT ((size_t)64)
#define GAP ((size_t)64)
#define SMALLEST_BLOCK ((size_t)1 << 16)
#define LARGEST_BLOCK (SIZE_MAX / 4 + 1)

/* Stands in the first ALIGNMENT bytes of its block. */
struct pf_block {
  struct pf_block *next;
  size_t size;  /* bytes that can be given out */
};

_Static_assert(sizeof(struct pf_block) <= ALIGNMENT, "the header fits before the first allocation");

static unsigned char *block_payload(struct pf_block *b)
{
  return (unsigned char *)b + ALIGNMENT;
}

static struct pf_block *block_new(size_t need)
{
  size_t whole = SMALLEST_BLOCK;
  while (whole - ALIGNMENT < need) {
    if (whole >= LARGEST_BLOCK) {
      return NULL;
    }
    whole *= 2;
  }
  struct pf_block *b = aligned_alloc(ALIGNMENT, whole);
  if (b != NULL) {
    b->next = NULL;
    b->size = whole - ALIGNMENT;
    POISON(block_payload(b), b->size);
  }
  return b;
}

/* Takes the smallest idle block that is large enough out of the chain; NULL if there is none.  A
   large one taken for a small need would be missed later in the case. */
static struct pf_block *block_reuse(pf_arena *a, size_t need)
{
  struct pf_block **best = NULL;
  for (struct pf_block **link = a->current != NULL ? &a->current->next : &a->first; *link != NULL;
       link = &(*link)->next) {
    if ((*link)->size >= need && (best == NULL || (*link)->size < (*best)->size)) {
      best = link;
    }
  }
  struct pf_block *b = best != NULL ? *best : NULL;
  if (b != NULL) {
    *best = b->next;
  }
  return b;
}

/* Makes a block with room for need bytes the current one. */
static bool arena_extend(pf_arena *a, size_t need)
{
  struct pf_block *b = block_reuse(a, need);
  if (b == NULL) {
    b = block_new(need);
    if (b == NULL) {
      return false;
    }
    a->total += b->size + ALIGNMENT;
  }
  struct pf_block **link = a->current != NULL ? &a->current->next : &a->first;
  b->next = *link;
  *link = b;
  a->current = b;
  a->used = 0;
  return true;
}

void *pf_alloc_raw(pf_arena *a, size_t bytes)
{
  if (bytes > LARGEST_BLOCK) {
    return NULL;
  }
  const size_t need = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + GAP;
  if (a->limit != 0 && (a->given > a->limit || need > a->limit - a->given)) {
    return NULL;
  }
  if ((a->current == NULL || a->current->size - a->used < need) && !arena_extend(a, need)) {
    return NULL;
  }
  unsigned char *at = block_payload(a->current) + a->used;
  a->used += need;
  a->given += need;
  UNPOISON(at, bytes);
  return at;
}

void *pf_alloc(pf_arena *a, size_t bytes)
{
  void *at = pf_alloc_raw(a, bytes);
  if (at != NULL) {
    memset(at, 0, bytes);
  }
  return at;
}

void *pf_alloc_array(pf_arena *a, size_t count, size_t size)
{
  return size != 0 && count > SIZE_MAX / size ? NULL : pf_alloc(a, count * size);
}

void *pf_alloc_array_raw(pf_arena *a, size_t count, size_t size)
{
  return size != 0 && count > SIZE_MAX / size ? NULL : pf_alloc_raw(a, count * size);
}

pf_arena_mark pf_arena_mark_here(const pf_arena *a)
{
  return (pf_arena_mark){a->current, a->used, a->given};
}

/* The blocks taken since the mark stand behind the one that was current then. */
void pf_arena_release(pf_arena *a, pf_arena_mark mark)
{
  struct pf_block *b = mark.current;
  size_t from = mark.used;
  while (b != a->current) {
    if (b != NULL) {
      POISON(block_payload(b) + from, b->size - from);
    }
    b = b != NULL ? b->next : a->first;
    from = 0;
  }
  if (b != NULL) {
    POISON(block_payload(b) + from, a->used - from);
  }
  a->current = mark.current;
  a->used = mark.used;
  a->given = mark.given;
}

void pf_arena_reset(pf_arena *a)
{
  pf_arena_release(a, (pf_arena_mark){NULL, 0, 0});
}

void pf_arena_free(pf_arena *a)
{
  struct pf_block *b = a->first;
  while (b != NULL) {
    struct pf_block *next = b->next;
    UNPOISON(block_payload(b), b->size);
    free(b);
    b = next;
  }
  *a = (pf_arena){.limit = a->limit};
}
