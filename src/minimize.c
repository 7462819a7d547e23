/* Passes over all reductions until one changes nothing.  Each candidate is run as the archive that
   would be kept of it. */
#include "minimize.h"

#include <string.h>

#include "form_archive.h"

enum { SEEN = 1 << 16 };

typedef struct pf_minimizer {
  const pf_minimize *how;
  pf_minimized now;
  pf_arena *keep;          /* the best archive */
  pf_arena base;           /* the best case, spelled out */
  pf_arena work;           /* a candidate */
  pf_reducible best;
  char dtypes[PF_DTYPES_TEXT];
  pf_graph graph;
  uint64_t *seen;          /* hashes of candidates that did not show the finding, by their low bits;
                              later ones take the place of earlier ones */
  bool stopped;
} pf_minimizer;

static uint64_t hash_of(const uint8_t *data, size_t size)
{
  uint64_t hash = size;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ data[i]) * 0x100000001b3u;
  return pf_hash(hash) | 1;
}

static pf_status take(pf_minimizer *m, const uint8_t *data, size_t size)
{
  pf_arena_reset(m->keep);
  uint8_t *copy = pf_alloc_raw(m->keep, size);
  if (!copy)
    return PF_NO_MEMORY;
  memcpy(copy, data, size);
  m->now.data = copy;
  m->now.size = size;
  pf_arena_reset(&m->base);
  PF_TRY(pf_reduce_open(copy, size, &m->base, &m->best, NULL));
  m->now.burden = m->best.burden;
  return PF_OK;
}

/* Graph and dtypes are part of the signature: no need to run what has others. */
static bool may_show(const pf_minimizer *m, const pf_case *c)
{
  char dtypes[PF_DTYPES_TEXT];
  pf_dtypes_print(c, dtypes, sizeof dtypes);
  return c->graph == m->graph && !strcmp(dtypes, m->dtypes);
}

static pf_status shows(pf_minimizer *m, const uint8_t *data, size_t size, bool *shown)
{
  const uint64_t hash = hash_of(data, size);
  uint64_t *seen = &m->seen[hash / 2 % SEEN];
  pf_case c;
  *shown = false;
  if (*seen == hash)
    return PF_OK;
  PF_TRY(pf_archive_decode(data, size, &m->work, &c, NULL));
  if (!may_show(m, &c))
    return PF_OK;
  m->now.candidates++;
  for (int i = 0; i < m->how->tries && !*shown; i++) {
    m->now.runs++;
    PF_TRY(pf_finding_look(m->how->session, &c, m->how->finding, m->how->filter, shown));
  }
  if (!*shown)
    *seen = hash;
  return PF_OK;
}

static pf_status try_one(pf_minimizer *m, const pf_reduction *r, int64_t index, bool *taken)
{
  uint8_t *data;
  size_t size;
  *taken = false;
  pf_arena_reset(&m->work);
  const pf_status status = pf_reduce_make(&m->best, r, index, &m->work, &data, &size);
  if (status)
    return status == PF_NO_MEMORY ? status : PF_OK;
  PF_TRY(shows(m, data, size, taken));
  if (!*taken)
    return PF_OK;
  m->now.taken++;
  PF_TRY(take(m, data, size));
  if (m->how->better)
    m->how->better(m->how->user, &m->now);
  return PF_OK;
}

/* What was taken makes others of the candidates: the same number is tried again. */
static pf_status reduce_by(pf_minimizer *m, const pf_reduction *r, bool *any)
{
  m->now.reduction = r->name;
  for (int64_t i = 0; i < r->count(&m->best.what, r->part);) {
    bool taken;
    m->stopped = m->how->stop && m->how->stop(m->how->user, &m->now);
    if (m->stopped)
      return PF_OK;
    PF_TRY(try_one(m, r, i, &taken));
    *any |= taken;
    i += !taken;
  }
  return PF_OK;
}

static pf_status reduce_all(pf_minimizer *m)
{
  while (!m->now.finished) {
    bool any = false;
    for (const pf_reduction *r = pf_reductions; r->name; r++) {
      PF_TRY(reduce_by(m, r, &any));
      if (m->stopped)
        return PF_OK;
    }
    m->now.passes++;
    m->now.finished = !any;
  }
  return PF_OK;
}

pf_status pf_minimize_case(const pf_minimize *how, const uint8_t *data, size_t size, pf_arena *keep,
                           pf_minimized *out)
{
  pf_arena seen = {0};
  pf_minimizer m = {.how = how, .keep = keep,
                    .seen = pf_alloc_array(&seen, SEEN, sizeof *m.seen)};
  pf_status status = m.seen ? take(&m, data, size) : PF_NO_MEMORY;
  if (!status) {
    m.graph = m.best.what.graph;
    pf_dtypes_print(&m.best.what, m.dtypes, sizeof m.dtypes);
    status = reduce_all(&m);
  }
  *out = m.now;
  pf_arena_free(&m.base);
  pf_arena_free(&m.work);
  pf_arena_free(&seen);
  return status;
}
