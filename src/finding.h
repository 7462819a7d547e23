/* Which finding is it?  Two results are the same finding where signature and failing step are. */
#ifndef PF_FINDING_H
#define PF_FINDING_H

#include "report.h"

enum { PF_FINDING_AT = 96 };  /* bytes */

typedef struct pf_finding {
  char signature[PF_SIGNATURE_TEXT];
  /* Under PF_RULE_CONTRACT the name of the first step whose result lies outside what the row allows
     so far; under the other rules on results that of the step that adds the greatest error.  Steps
     that the engine took in one call count as the last of them.  Of PF_VERDICT_DIED how it did
     ("it died of signal (Aborted)"), without numbers.  "" for other misdeeds, and under
     PF_RULE_AGREE, where two rows part and neither is wrong. */
  char at[PF_FINDING_AT];
} pf_finding;

/* Of a result that is a finding, while its problem lives.  a: for what it takes to know, beside
   what the result points to.  PF_OK, or PF_NO_MEMORY: all but the step is known then. */
pf_status pf_finding_of(const pf_result *r, const pf_oracle *oracle, pf_arena *a, pf_finding *out);
bool pf_finding_equal(const pf_finding *a, const pf_finding *b);
/* The same for the same finding, in every build. */
uint64_t pf_finding_hash(const pf_finding *f);

/* What else a result must be, where signature and step leave two faults the same: told apart by
   kernel, say. */
typedef struct pf_finding_filter {
  bool (*passes)(void *user, const pf_result *r);
  void *user;
} pf_finding_filter;

/* Looks at each result of a finished case.  wanted: the finding that is looked for; filter: NULL,
   none; *shown tells whether some result is it.  Under the session's options.  PF_NO_MEMORY, or
   PF_OK. */
pf_status pf_finding_look(pf_session *s, const pf_case *c, const pf_finding *wanted,
                          const pf_finding_filter *filter, bool *shown);

/* Is the result of an engine that takes whole cases and names no row?  Then all rows decide whether
   it is a finding, as it is one where none fits, and the one that is named is but the closest. */
bool pf_result_has_any_row(const pf_result *r);
/* Options that run no more than this result takes: its engine, its strategies. */
void pf_options_narrow(pf_options *o, const pf_result *r);

#endif
