/* What the files of precfuzz judge share. */
#ifndef PF_JUDGE_H
#define PF_JUDGE_H

#include "engine_given.h"
#include "json.h"

/* --- what is to be judged (judge_list.c) --------------------------------------------------- */

/* The row that a tensor follows, whatever its name says. */
typedef struct pf_claim {
  const char *tensor, *row;
} pf_claim;

typedef struct pf_judge_item {
  const char *path;       /* of the case */
  const char *got;        /* of its results; NULL: they are in the case's own file */
  const pf_claim *claim;
  size_t claims;
} pf_judge_item;

typedef struct pf_judge_list {
  pf_judge_item *item;
  size_t count;
  pf_arena memory;        /* texts and claims */
} pf_judge_list;

/* A file, or a folder: the cases that its index.json lists, all files in it where there is none.
   Exit codes. */
int pf_judge_list_add(pf_judge_list *l, const char *path);
/* --got: the file with the results of the only case, or a folder with one for each. */
int pf_judge_list_pair(pf_judge_list *l, const char *got);
void pf_judge_list_free(pf_judge_list *l);

/* --- the results of a case (judge_outputs.c) ----------------------------------------------- */

typedef struct pf_judge_output {
  const pf_tensor_entry *tensor;
  pf_graph graph;
  const char *row;        /* that it claims to follow; NULL: any, or one of --strategy */
  pf_given given;
} pf_judge_output;

typedef struct pf_judge_case {
  const pf_judge_item *item;
  const char *got;        /* the file that holds the results, for messages */
  pf_case_file file;
  pf_tensor_file tensors; /* of item->got */
  pf_judge_output *output;
  size_t outputs;
} pf_judge_case;

typedef struct pf_judge_choice {
  pf_form form;
  const char *tensor;     /* --tensor; NULL: all that are results */
  const pf_options *options;
} pf_judge_choice;

/* Reads both files and holds the operands that stand beside results against the case's.  An exit
   code; pf_judge_case_close is due in any case. */
int pf_judge_case_open(const pf_judge_item *item, const pf_judge_choice *choice, pf_arena *a,
                       pf_judge_case *out);
void pf_judge_case_close(pf_judge_case *c);

/* --- judging (judge_graph.c) --------------------------------------------------------------- */

typedef struct pf_judge_command {
  pf_settings settings;
  pf_judge_choice choice;
  const char *got;
  bool quiet, table_wanted, json_wanted;
  pf_json json;
  pf_judge_list list;
  pf_counts counts;
  pf_table *table;
  pf_session closer;      /* looks again at one result */
  int code;
} pf_judge_command;

/* Judges those results of the case that are of the graph, and shows what came of them; an exit
   code. */
int pf_judge_graph(pf_judge_command *c, const pf_judge_case *in, pf_graph graph);

/* --- what came of it (judge_report.c) ------------------------------------------------------ */

/* A result held against the row that it claims, or against each of several. */
typedef struct pf_judgement {
  const pf_judge_case *in;
  const pf_judge_output *output;
  const pf_result *row;   /* one a row */
  int rows;
  const pf_result *best;  /* the only row; of several the first that fits, else the closest */
  pf_result result;       /* the best, its strategy "any" where several rows were tried and none
                             fits; with the model */
  bool several;           /* rows were tried, none claimed */
  int others;             /* of a finding: rows that were not tried and fit */
  const char *other[PF_MAX_STRATEGIES];
} pf_judgement;

/* Judged, and no finding. */
bool pf_judge_fits(const pf_result *r);
void pf_judgement_print(const pf_judgement *j, const pf_settings *s, pf_form form,
                        const pf_regression *known, FILE *to);
/* The command that shows it again. */
void pf_judgement_command(const pf_judgement *j, const pf_settings *s, pf_form form, FILE *to);

/* --- the same as JSON (judge_json.c) ------------------------------------------------------- */

/* Opens the object of a case and its list of results; both are to be closed. */
void pf_judge_json_heading(pf_json *json, const pf_judge_case *in, const pf_case *what);
/* index: number of the case. */
void pf_judgement_json(pf_json *json, const pf_judgement *j, const pf_settings *s, pf_form form,
                       uint64_t index, const pf_regression *known);

#endif
