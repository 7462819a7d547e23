/* Results as JSON: values, and documents on standard output.  docs/json.schema.json says what each
   document holds.

   A json_t that a function returns is the caller's; NULL: no memory.  A function that takes one
   keeps it, and takes that NULL, too: it then fails itself. */
#ifndef PF_JSON_H
#define PF_JSON_H

#include <jansson.h>

#include "cli.h"
#include "explain.h"

enum { PF_JSON_SCHEMA = 1 };  /* grows when a document changes so that old readers fail */

extern const struct argp pf_json_argp;  /* --json; its input is a bool */

/* --- documents (json_write.c) -------------------------------------------------------------- */

/* A document on stdout, written member by member: only one value at a time is in memory. */
typedef struct pf_json {
  bool line;       /* the whole document on one line; else at most 100 columns where that can be */
  bool more;       /* a member stands before the next one */
  bool failed;     /* no memory: nothing is written any more */
  int depth;
  char close[16];  /* what ends each open container */
} pf_json;

/* Begins an object with the version and the command. */
void pf_json_start(pf_json *j, const char *command, bool line);
/* key: an identifier; NULL in arrays.  bracket: '{' or '['. */
void pf_json_open(pf_json *j, const char *key, char bracket);
void pf_json_put(pf_json *j, const char *key, json_t *value);
void pf_json_close(pf_json *j);
/* Ends the document and returns an exit code: `code`, or PF_EXIT_MACHINERY where memory ran out,
   which it says. */
int pf_json_end(pf_json *j, int code);

/* --- foreign engines (foreign.c) ------------------------------------------------------------ */

/* Version, declared settings and dtypes of one, or that it is missing: a line or more, or a member of
   an array.  An exit code: where it cannot be opened, which is told. */
int pf_foreign_print(const char *spec);
int pf_foreign_put(pf_json *j, const char *spec);

/* --- values (json_value.c) ----------------------------------------------------------------- */

/* {"value": 3.0, "hex": "0x1.8p+1"}; the value of what is not finite is null, its hex "inf", "-inf"
   or "nan". */
json_t *pf_json_number(double v);
/* A number; beyond 2^53, which readers with doubles would round, a string of its digits. */
json_t *pf_json_whole(uint64_t n);
/* Bytes that are no UTF-8 become U+FFFD.  NULL gives null. */
json_t *pf_json_text(const char *s);
json_t *pf_json_sizes(int count, const int64_t *size);
/* Of an output element as an array, from its row-major number; null for -1. */
json_t *pf_json_index(const pf_shape *s, int64_t element);
json_t *pf_json_allowed(const pf_enclosure *e);
json_t *pf_json_rule(const pf_rule *r);
json_t *pf_json_counts(const pf_counts *c);

/* Add a member; the container becomes NULL where that fails. */
void pf_json_append(json_t **array, json_t *value);
void pf_json_set(json_t **object, const char *key, json_t *value);

/* Text of functions that print to a stream. */
typedef struct pf_json_print {
  FILE *to;        /* NULL: no memory */
  char *text;
  size_t size;
} pf_json_print;

bool pf_json_print_start(pf_json_print *p);
json_t *pf_json_print_end(pf_json_print *p);

/* --- results (json_result.c) --------------------------------------------------------------- */

/* Where a result comes from. */
typedef struct pf_json_place {
  const char *file;  /* NULL: no file holds the case */
  const char *form;  /* for the command that shows the result again; NULL: told by the file */
  uint64_t index;    /* number of the case */
} pf_json_place;

/* known: the entry that it is one of, so that it does not count; NULL.  "reproduce" names precfuzz
   check. */
json_t *pf_json_result(const pf_settings *s, const pf_result *r, const pf_json_place *where,
                       const pf_regression *known);
/* Closes a document's list of cases and ends it with what was judged on the whole: table (may be
   NULL), rule, counts, exit status.  Returns an exit code as pf_json_end. */
int pf_json_judged(pf_json *j, const pf_settings *s, const pf_counts *counts, const pf_table *table,
                   int code);
/* The members case (the text form), graph and sizes; and file and form before them. */
void pf_json_put_case(pf_json *j, const pf_case *c);
void pf_json_put_file(pf_json *j, const pf_case_file *f, const char *path);

/* --- what commands have of their own ------------------------------------------------------- */

json_t *pf_table_json(const pf_table *t);  /* table.c */

/* The lines of random (json_random.c); exit codes.  file: where the case is, or NULL. */
int pf_json_finding(const pf_settings *s, const pf_result *r, uint64_t index, const char *file);
typedef struct pf_json_run {
  const pf_settings *settings;
  const pf_counts *counts;
  uint64_t seed, signatures;
  bool interrupted;
} pf_json_run;
int pf_json_summary(const pf_json_run *run, int code);

/* A row of explain (json_explain.c).  why: NULL where nothing was measured; same_as: an earlier row
   with the same steps, or NULL. */
json_t *pf_json_explained(const pf_result *r, const pf_explanation *why, const char *note,
                          const char *same_as);
/* The element where such a row's result is farthest out; r's problem need not live any more. */
json_t *pf_json_explained_worst(const pf_result *r, const pf_explanation *why,
                                const pf_exact_results *exact, const pf_shape *shape);

#endif
