/* What to run and how to judge it: the same for every command line and environment form. */
#ifndef PF_OPTIONS_H
#define PF_OPTIONS_H

#include "check.h"
#include "plugin.h"

enum { PF_MAX_ENGINES = 48, PF_MAX_STRATEGIES = 16 };

typedef struct pf_strategy {
  char name[64];
  const char *text;  /* a row given as text; NULL: the row of that name */
} pf_strategy;

/* Who decides.  The two never differ: certified arithmetic settles what is certainly right and
   passes the rest on. */
typedef enum pf_oracle_use {
  PF_ORACLE_CERTIFIED,  /* certified double arithmetic, then the exact oracle */
  PF_ORACLE_MPFR,       /* the exact oracle for every element */
  PF_ORACLE_BOTH        /* the exact oracle; what certified arithmetic says is held against it */
} pf_oracle_use;

typedef struct pf_options {
  const pf_engine *engine[PF_MAX_ENGINES];
  int engine_count;
  pf_plugin *plugin[PF_MAX_ENGINES];  /* those of the engines that were opened */
  int plugin_count;
  pf_plugin_options opening;          /* how they are */
  void (*notice)(const char *text);   /* takes one line that is no error; NULL: nobody */
  pf_strategy strategy[PF_MAX_STRATEGIES];
  int strategy_count;   /* 0: every row of the case's graph but those taken by name only */
  pf_rule rule;
  bool only_equal;      /* PF_RULE_AGREE: judge only where the two enclosures are equal */
  bool repeat;          /* run foreign engines twice: the same call must give the same bits */
  pf_oracle_use oracle;
  bool measure;         /* find the worst element also where nothing is wrong */
  bool no_models;       /* do not look for a model that explains a finding */
} pf_options;

/* Every listed engine, every row not taken by name only, PF_RULE_CONTRACT. */
void pf_options_default(pf_options *o);

/* Closes what was opened; no engine is selected then. */
void pf_options_close(pf_options *o);

/* Takes these engines instead, comma-separated:
     NAME         one of ours; a name that ends before a ':' ("reference") takes the whole family
     NAME[:ARGUMENT], PATH[:ARGUMENT]  as pf_plugin_open has it
     installed    every adapter whose library is there; others are a notice */
pf_status pf_options_engines(pf_options *o, const char *names, pf_error *e);
/* The same, beside those that are selected. */
pf_status pf_options_add_engines(pf_options *o, const char *names, pf_error *e);
/* Takes this one engine instead, by its full name.  PF_UNSUPPORTED where what it needs is not
   installed. */
pf_status pf_options_engine(pf_options *o, const char *name, pf_error *e);
/* How many of the names are of foreign engines; "installed" counts as two. */
int pf_options_foreign(const char *names);
/* Adds to the selection: comma-separated names, or one row as "NAME: STEPS" or just STEPS.  A row's
   text must outlive the options. */
pf_status pf_options_strategies(pf_options *o, const char *text, pf_error *e);
/* "certified", "mpfr" or "both". */
pf_status pf_options_oracle(pf_options *o, const char *text, pf_error *e);
/* As pf_rule_parse; nothing changes on an error. */
pf_status pf_options_rule(pf_options *o, const char *text, pf_error *e);

#endif
