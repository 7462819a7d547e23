/* Engines that take whole cases follow one row, which they may name. */
#ifndef PF_SESSION_WHOLE_H
#define PF_SESSION_WHOLE_H

#include "session.h"

/* Before judging: results of rows that the engine says it does not follow get
   PF_VERDICT_UNSUPPORTED.  All are of one engine and one run. */
void pf_whole_claim(pf_result *const *results, int count);

/* After judging by PF_RULE_CONTRACT: where the engine named no row, some row must fit the whole
   tensor.  Then rows that do not fit are PF_VERDICT_UNSUPPORTED; if none does the closest, with the
   fewest wrong elements, is the finding. */
void pf_whole_settle(pf_result *const *results, int count);

#endif
