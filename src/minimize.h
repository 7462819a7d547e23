/* From a case that shows a finding to a small and simple one that shows the same. */
#ifndef PF_MINIMIZE_H
#define PF_MINIMIZE_H

#include "finding.h"
#include "reduce.h"

/* How far it has come; data lives until the next candidate is taken. */
typedef struct pf_minimized {
  const uint8_t *data;   /* the simplest case so far that showed the finding: an archive */
  size_t size;           /* bytes */
  pf_burden burden;
  const char *reduction; /* being tried */
  uint64_t candidates;   /* made and not refused before they were run */
  uint64_t runs;         /* of them */
  uint64_t taken;        /* that showed the finding */
  uint64_t passes;       /* over all reductions, complete */
  bool finished;         /* no candidate shows the finding: a fixed point */
} pf_minimized;

typedef struct pf_minimize {
  pf_session *session;       /* its options run the finding, and little else (pf_options_narrow) */
  const pf_finding *finding;
  const pf_finding_filter *filter;  /* NULL: none */
  int tries;                 /* runs of a candidate until it has shown the finding; more than one
                                where it does not show every time */
  bool (*stop)(void *user, const pf_minimized *now);   /* asked before each candidate */
  void (*better)(void *user, const pf_minimized *now); /* told of each one taken */
  void *user;
} pf_minimize;

/* data: an archive that shows the finding.  Deterministic where the engine is and nothing stops it.
   Every case taken has the finding's signature and failing step.  *out points into *keep, which
   the caller frees.  PF_NO_MEMORY; as pf_archive_decode; or PF_OK. */
pf_status pf_minimize_case(const pf_minimize *how, const uint8_t *data, size_t size, pf_arena *keep,
                           pf_minimized *out);

#endif
