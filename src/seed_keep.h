/* Which cases are worth a place among the seeds: those that exercise what none before them did. */
#ifndef PF_SEED_KEEP_H
#define PF_SEED_KEEP_H

#include "session.h"

/* What cases are told apart by, on reference:forward:
     rung      graph, strategy, dtypes, and the binary order of magnitude of the largest share of the
               enclosure's radius that the result uses
     dtypes    of all operands
     layout    graph, and which operands are dense, transposed or otherwise strided
     shape     graph, ranks, and the binary orders of magnitude of B, M, N and K */
typedef struct pf_keeper {
  pf_session session;
  uint64_t *seen;        /* hashes of all that was exercised, sorted */
  size_t seen_count, seen_room;
  uint64_t fresh[64];    /* what the case in hand brings */
  int fresh_count;
  double share;          /* of the case in hand, the largest */
} pf_keeper;

/* oracle: the caller's, as in pf_session. */
void pf_keeper_open(pf_keeper *k, const pf_oracle *oracle);
/* *fresh: the case exercises something new.  Nothing is remembered before pf_keeper_take. */
pf_status pf_keeper_look(pf_keeper *k, const pf_case *c, bool *fresh);
/* The case that was looked at last is a seed.  PF_NO_MEMORY. */
pf_status pf_keeper_take(pf_keeper *k);
void pf_keeper_close(pf_keeper *k);

#endif
