/* One case through everything that was asked for: runs, enclosures, verdicts. */
#ifndef PF_SESSION_H
#define PF_SESSION_H

#include "model.h"
#include "options.h"

/* One element of a result, measured by the oracle. */
typedef struct pf_measured {
  int64_t element;         /* row-major; -1: nothing was measured */
  double got;
  bool special;            /* the graph's exact result follows no sum; exact and below are NaN */
  double exact;            /* the graph's exact result, rounded to nearest double */
  double error;            /* |got - exact|, rounded up, value units */
  double magnitude;        /* T of the graph: sum of the absolute terms, rounded up */
  double ulps;             /* error in ulp of the output's format at the exact value */
  double share;            /* error over the radius of what is allowed, dimensionless */
  pf_enclosure allowed;
} pf_measured;

typedef struct pf_result {
  const pf_problem *problem;
  const pf_engine *engine;
  const char *strategy;
  const char *against;     /* the other row: PF_RULE_AGREE, or the promise of PF_RULE_GRAPH */
  const pf_plan *plan;     /* NULL where it could not be bound */
  const pf_run *run;       /* NULL where it did not run */
  pf_rule rule;
  pf_verdict verdict;
  const char *why;         /* PF_VERDICT_UNSUPPORTED: a reason; PF_VERDICT_DIED: how */
  const char *said;        /* PF_VERDICT_DIED: what the engine wrote to standard error; NULL */
  pf_status machinery;     /* not PF_OK: no verdict was reached, and why says where */
  pf_tally tally;
  pf_measured worst;
  bool other_side;         /* PF_RULE_AGREE: worst.got is the result of `against`, outside the
                              enclosure of `strategy` */
  bool finer;              /* outside, but within the radius: a rounding was skipped or fused */
  bool models_tried;       /* a finding under PF_RULE_CONTRACT, small enough to replay */
  pf_match match;          /* the model that reproduces the result, if one does */
} pf_result;

typedef void (*pf_result_fn)(void *user, const pf_result *r);

/* Where certified arithmetic said more than the exact enclosure allows: never, if both are right. */
typedef struct pf_difference {
  int64_t element;
  int ask;             /* number of the run, engine * rows + row; a promise's come last */
  pf_set inside;       /* of one element */
  double lo, hi;       /* of a block */
  pf_set exact;
  bool weak;
} pf_difference;

typedef struct pf_session {
  pf_options options;
  pf_oracle oracle;        /* the caller's: opened and freed by it */
  struct pf_row_cache *rows;  /* bound so far */
  pf_arena cases;          /* for what decoders need; the caller resets it */
  pf_arena work;           /* of the case under examination; results point into it */
  pf_arena scratch;        /* for replays */
  uint64_t elements;       /* judged so far */
  uint64_t products;       /* the sum of their K */
  uint64_t compared;       /* PF_ORACLE_BOTH: enclosures held against their subsets so far */
  uint64_t differing;      /* of these, with a difference */
  pf_difference difference;  /* the first one */
} pf_session;

/* Runs a finished case and calls back once a result, in the order engine, strategy.  PF_OK,
   or PF_NO_MEMORY. */
pf_status pf_session_examine(pf_session *s, const pf_case *c, pf_result_fn each, void *user);
void pf_session_free(pf_session *s);

/* |got - exact| and what it is a share of, for one element.  out: the format to take the ulp of. */
pf_measured pf_measure(pf_encloser *e, const pf_oracle *oracle, const pf_format *out,
                       int64_t element, double got, const pf_enclosure *allowed);

#endif
