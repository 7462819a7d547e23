/* What the parts of the session share: session_rows.c binds rows, session.c runs them,
   session_judge.c holds the results against what is allowed. */
#ifndef PF_SESSION_PARTS_H
#define PF_SESSION_PARTS_H

#include "reference_lanes.h"
#include "session.h"

/* A row bound to the case. */
typedef struct pf_bound_row {
  pf_strategy strategy;
  const char *text;        /* NULL: the graph has no such row */
  pf_plan plan;
  pf_status status;
  pf_error error;
  int same;                /* the first row with the same steps: its own number where there is
                              none, or where it could not be bound */
} pf_bound_row;

/* The rows of a case, and the one that the graph promises. */
typedef struct pf_row_set {
  int rows;
  pf_bound_row promise;
  pf_bound_row row[];
} pf_row_set;

/* A run against an enclosure; under PF_RULE_AGREE also the other run against the other one. */
typedef struct pf_comparison {
  int run, ask, other_run, other_ask;  /* the last two are -1 elsewhere */
  int same_as;                         /* an earlier one with the same steps; -1 */
  pf_result result;
} pf_comparison;

typedef struct pf_bench {
  pf_session *session;
  const pf_case *what;
  pf_problem problem;
  pf_kept kept;            /* sums that rows have in common */
  int rows;
  const pf_bound_row *row;
  const pf_bound_row *promise;
  int runs;                /* engine_count * rows; run e * rows + r */
  pf_run *run;
  pf_status *status;
  int asks;
  pf_ask *ask;             /* the promise's come after those of the runs */
  pf_encloser *encloser;
  bool judgeable;          /* some run has something to be held against */
  int comparisons;
  pf_comparison *comparison;
} pf_bench;

/* The rows that the options ask for, bound to the case; *out lives until the next call.  PF_OK or
   PF_NO_MEMORY: a row that does not bind says so itself. */
pf_status pf_rows_bind(pf_session *s, const pf_case *c, const pf_row_set **out);
void pf_rows_free(pf_session *s);

/* Comparisons come to their verdicts.  PF_OK or PF_NO_MEMORY. */
pf_status pf_judge_all(pf_bench *b);

#endif
