/* What to run and how to judge it: the same for every command line and environment form. */
#ifndef PF_OPTIONS_H
#define PF_OPTIONS_H

#include "check.h"

enum { PF_MAX_ENGINES = 48, PF_MAX_STRATEGIES = 16 };

typedef struct pf_strategy {
  char name[64];
  const char *text;  /* a row given as text; NULL: the row of that name */
} pf_strategy;

typedef struct pf_options {
  const pf_engine *engine[PF_MAX_ENGINES];
  int engine_count;
  pf_strategy strategy[PF_MAX_STRATEGIES];
  int strategy_count;   /* 0: every row of the case's graph but those taken by name only */
  pf_rule rule;
  bool only_equal;      /* PF_RULE_AGREE: judge only where the two enclosures are equal */
  bool measure;         /* find the worst element also where nothing is wrong */
  bool no_models;       /* do not look for a model that explains a finding */
} pf_options;

/* Every listed engine, every row not taken by name only, PF_RULE_CONTRACT. */
void pf_options_default(pf_options *o);

/* Comma-separated names; a name that ends before a ':' ("reference") takes the whole family. */
pf_status pf_options_engines(pf_options *o, const char *names, pf_error *e);
/* Adds to the selection: comma-separated names, or one row as "NAME: STEPS" or just STEPS.  A row's
   text must outlive the options. */
pf_status pf_options_strategies(pf_options *o, const char *text, pf_error *e);
/* As pf_rule_parse; nothing changes on an error. */
pf_status pf_options_rule(pf_options *o, const char *text, pf_error *e);

#endif
