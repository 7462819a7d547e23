/* What a case exercises, as a set of hashes. */
#include "seed_keep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRESH = sizeof ((pf_keeper *)0)->fresh / sizeof (uint64_t), DEEPEST_RUNG = 16 };

/* What the first number of a hash says. */
enum { RUNG = 1, DTYPES, LAYOUT, SHAPE };

void pf_keeper_open(pf_keeper *k, const pf_oracle *oracle)
{
  pf_options *o = &k->session.options;
  *k = (pf_keeper){.session.oracle = *oracle};
  pf_options_default(o);
  o->engine[0] = pf_engine_find("reference:forward", strlen("reference:forward"));
  o->engine_count = 1;
  o->measure = true;
  o->no_models = true;
}

static uint64_t hash_of(const int64_t *number, int count)
{
  uint64_t hash = 0;
  for (int i = 0; i < count; i++)
    hash = pf_hash(hash ^ (uint64_t)number[i]);
  return hash;
}

static bool is_seen(const pf_keeper *k, uint64_t hash)
{
  size_t low = 0, high = k->seen_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (k->seen[middle] < hash)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < k->seen_count && k->seen[low] == hash)
    return true;
  for (int i = 0; i < k->fresh_count; i++)
    if (k->fresh[i] == hash)
      return true;
  return false;
}

static void note(pf_keeper *k, const int64_t *number, int count)
{
  const uint64_t hash = hash_of(number, count);
  if (k->fresh_count < (int)FRESH && !is_seen(k, hash))
    k->fresh[k->fresh_count++] = hash;
}

/* 0: no error; one more for each halving of the radius; infinite and NaN results are one rung. */
static int64_t rung_of(const pf_result *r)
{
  const double share = r->worst.share;
  if (r->worst.element < 0 || r->worst.special)
    return -1;
  if (!isfinite(share) || share <= 0)
    return 0;
  const int below = -ilogb(share);
  return 1 + (below < 0 ? 0 : below > DEEPEST_RUNG ? DEEPEST_RUNG : below);
}

static int64_t text_number(const char *text)
{
  uint64_t hash = 0;
  for (const char *p = text; *p; p++)
    hash = pf_hash(hash ^ (uint8_t)*p);
  return (int64_t)hash;
}

static void on_result(void *user, const pf_result *r)
{
  pf_keeper *k = user;
  const pf_case *c = r->problem->what;
  if (r->machinery || r->verdict == PF_VERDICT_UNSUPPORTED)
    return;
  note(k, (int64_t[]){RUNG, c->graph, text_number(r->strategy), c->operand[PF_X].dtype,
                      c->operand[PF_Y].dtype, rung_of(r)}, 6);
  if (r->worst.element >= 0 && isfinite(r->worst.share) && r->worst.share > k->share)
    k->share = r->worst.share;
}

static int64_t layout_of(const pf_operand *o)
{
  if (!o->present || pf_operand_dense(o))
    return 0;
  return o->rank >= 2 && o->stride[o->rank - 2] == 1 ? 1 : 2;
}

static int64_t magnitude(int64_t size)
{
  return size > 0 ? 64 - __builtin_clzll((uint64_t)size) : 0;
}

static void note_case(pf_keeper *k, const pf_case *c)
{
  const pf_shape s = pf_case_shape(c);
  const pf_operand *o = c->operand;
  note(k, (int64_t[]){DTYPES, o[PF_X].dtype, o[PF_Y].dtype, o[PF_C].present, o[PF_C].dtype,
                      o[PF_BIAS].present, o[PF_BIAS].dtype, o[PF_OUT].dtype}, 8);
  note(k, (int64_t[]){LAYOUT, c->graph, layout_of(&o[PF_X]), layout_of(&o[PF_Y]),
                      layout_of(&o[PF_C]), layout_of(&o[PF_OUT])}, 6);
  note(k, (int64_t[]){SHAPE, c->graph, o[PF_X].rank, o[PF_Y].rank, magnitude(s.batches),
                      magnitude(s.m), magnitude(s.n), magnitude(s.k)}, 8);
}

pf_status pf_keeper_look(pf_keeper *k, const pf_case *c, bool *fresh)
{
  k->fresh_count = 0;
  k->share = 0;
  note_case(k, c);
  PF_TRY(pf_session_examine(&k->session, c, on_result, k));
  *fresh = k->fresh_count > 0;
  return PF_OK;
}

static int by_value(const void *a, const void *b)
{
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

pf_status pf_keeper_take(pf_keeper *k)
{
  const size_t count = k->seen_count + (size_t)k->fresh_count;
  if (count > k->seen_room) {
    const size_t room = 2 * count;
    uint64_t *more = realloc(k->seen, room * sizeof *more);
    if (!more)
      return PF_NO_MEMORY;
    k->seen = more;
    k->seen_room = room;
  }
  memcpy(k->seen + k->seen_count, k->fresh, (size_t)k->fresh_count * sizeof *k->fresh);
  k->seen_count = count;
  k->fresh_count = 0;
  qsort(k->seen, count, sizeof *k->seen, by_value);
  return PF_OK;
}

void pf_keeper_close(pf_keeper *k)
{
  pf_session_free(&k->session);
  free(k->seen);
  *k = (pf_keeper){0};
}
