/* Rules, verdicts and what one run of a row on an engine came to. */
#ifndef PF_CHECK_H
#define PF_CHECK_H

#include "enclosure.h"
#include "interpret.h"
#include "rule.h"

typedef enum pf_verdict {
  PF_VERDICT_OK,
  PF_VERDICT_VACUOUS,      /* nothing could have failed */
  PF_VERDICT_UNSUPPORTED,  /* with a reason */
  PF_VERDICT_ORDER,        /* some order of summation overflows: the class is open, and used */
  PF_VERDICT_IMPOSSIBLE,   /* outside what the rule allows: for PF_RULE_CONTRACT, outside what any
                              correct execution gives */
  PF_VERDICT_SPECIAL,      /* NaN, infinity or a number where another of them is due */
  PF_VERDICT_GUARD,        /* wrote outside its output */
  PF_VERDICT_INPUT,        /* changed an operand */
  PF_VERDICT_FENV,         /* left another rounding mode, FTZ or DAZ */
  PF_VERDICT_UNREPEATABLE, /* the same call again gave other bits */
  PF_VERDICT_DIED,         /* crashed, hung, or answered what is no answer */
  PF_VERDICT_COUNT
} pf_verdict;

const char *pf_verdict_name(pf_verdict v);
bool pf_verdict_is_finding(pf_verdict v);

/* One result against one enclosure, gathered over the elements of a tensor. */
typedef struct pf_tally {
  int64_t judged;       /* elements compared */
  int64_t wrong, special, order, weak;
  int64_t skipped;      /* elements not judged: their two enclosures differ (PF_RULE_AGREE) */
  int64_t worst;        /* the element farthest out, wrong ones first; -1: none was measured */
  double worst_share;   /* its distance from the exact value over the radius, dimensionless; for
                           PF_RULE_NMSE, which has none, the distance */
  bool worst_is_wrong;
  bool predicted;       /* PF_RULE_AGREE: a wrong element whose two enclosures do not meet */
  pf_nmse nmse;         /* PF_RULE_NMSE */
} pf_tally;

void pf_tally_start(pf_tally *t);
/* Counts one comparison; true if the enclosure allows it. */
bool pf_tally_element(pf_tally *t, const pf_enclosure *e, double got);
/* Does a subset (pf_enclose_inside) tell all that the enclosure would?  Then it may be counted. */
bool pf_tally_settles(const pf_enclosure *subset, double got);
pf_verdict pf_tally_verdict(const pf_tally *t);

#endif
