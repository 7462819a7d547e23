/* What the files of precfuzz report share: from a folder to a page in HTML.

   Children look at the cases and leave what they saw as JSON in a folder of this run; all that is
   summed up, drawn and written from there on is JSON, too. */
#ifndef PF_PAGE_H
#define PF_PAGE_H

#include "json.h"
#include "triage_pool.h"

enum {
  PF_PAGE_BINS = 20,     /* of the share of the enclosure used, from 0 to 1; one more: outside */
  PF_PAGE_SERIES = 8     /* colours that can be told apart */
};

/* A case to look at. */
typedef struct pf_page_item {
  char *path;            /* of its file; NULL: cases drawn for comparison, of the user's graph */
  char *bundle;          /* the folder of the bundle that it is of; NULL: none */
  json_t *facts;         /* that bundle's finding.json */
  json_t *seen;          /* what a child saw; NULL: nothing */
  int code;              /* what came of looking; PF_POOL_LEFT: not done, for want of time */
} pf_page_item;

typedef struct pf_page {
  pf_settings settings;  /* closed: each child opens its own */
  pf_form form;
  const char *folder, *output;
  int jobs;
  double total;          /* seconds for everything; 0: no limit */
  pf_page_item *item;
  size_t items, passed_over;
  char *work;            /* a folder for what passes between processes */
  json_t *bad;           /* [{file, why}]: what could not be read or run */
  json_t *status;        /* lines of status.jsonl; empty: none */
  json_t *sum;           /* page_sum.c */
  pf_progress progress;
  int code;              /* the worst so far */
} pf_page;

/* --- what is in the folder (page_files.c) ----------------------------------------------------- */

/* Adds the folder's bundles, cases and status.jsonl.  What cannot be read is told and listed.  An
   exit code, not 0 where there is nothing to make a page of. */
int pf_page_collect(pf_page *p);
/* Tells of a file that is no good, lists it, and lets the command go on. */
void pf_page_bad(pf_page *p, const char *file, const char *why);
void pf_page_free(pf_page *p);
/* Reads DIR/status.jsonl, where there is one. */
void pf_page_read_status(pf_page *p);

/* --- looking (page_look.c), for a child ------------------------------------------------------- */

/* Item number `index`: leaves WORK/INDEX.json, and what there is to say in WORK/INDEX.err. */
int pf_page_look(void *page, pf_settings *s, size_t index);

/* What a child saw of a case whose results are there, page_seen.c; the session's work arena holds
   them.  NULL: no memory.  wanted: the only finding that counts; NULL: all. */
json_t *pf_page_seen(pf_settings *s, const pf_result *const *result, int count, const char *path,
                     const json_t *wanted);

/* --- a picture of a result (page_picture.c) --------------------------------------------------- */

/* One output element, or several in a row that it stands for. */
typedef struct pf_dot {
  int64_t first, end;    /* elements that it stands for; end is the first behind them */
  int64_t element;
  double got, exact;     /* exact: NaN where the result follows no sum */
  double magnitude;      /* T, value units */
  pf_set allowed;
  bool wrong, worst;     /* outside; the worst of all */
} pf_dot;

/* Columns for gnuplot: what is allowed and what came, as shares of T from the exact result. */
json_t *pf_picture(const pf_dot *dot, int count, int64_t elements);
/* Of the one element that a bundle tells of; null where it tells of none. */
json_t *pf_picture_of_facts(const json_t *facts);

/* --- the sum of it all (page_sum.c) ----------------------------------------------------------- */

/* Takes in what the children left; fills p->sum:
     engines   {NAME: {version, isa, cases, results, findings}}
     verdicts  {NAME: results}
     cells     {ENGINE: {DTYPE: {STRATEGY: [findings, results]}}}
     shares    {ENGINE: {DTYPE: {bins, elements, largest}}}
     parted    {file: [[k, pair, share]], drawn: the same}
     findings  [{signature, at, ..., files, bundle, picture}], known likewise
     cases, results, nothing
   PF_NO_MEMORY, or PF_OK. */
pf_status pf_page_sum(pf_page *p);

/* --- plots (page_plot.c) ---------------------------------------------------------------------- */

extern const char *const pf_page_pairs[3];  /* of strategies whose results are compared */

/* Draws all plots with one gnuplot, as WORK/NAME.svg: shares-N (N: an engine's place in
   sum.shares), parted, executions, largest, picture-N (a finding's place in sum.findings). */
void pf_page_draw(pf_page *p);
/* False where the plot is not there.  title and description are for those who cannot see it. */
bool pf_page_put_plot(const pf_page *p, const char *name, const char *title,
                      const char *description, FILE *to);

/* --- the page (page_write.c, page_findings.c, page_parts.c) ----------------------------------- */

void pf_page_write(const pf_page *p, FILE *to);
void pf_page_write_verdicts(const pf_page *p, FILE *to);
void pf_page_write_findings(const pf_page *p, FILE *to);
void pf_page_write_plots(const pf_page *p, FILE *to);

extern const char pf_page_style[];  /* page_style.c */

/* Text as HTML, also inside quotes. */
void pf_html(const char *text, FILE *to);
/* "" where there is none. */
const char *pf_page_text(const json_t *o, const char *key);
int64_t pf_page_number(const json_t *o, const char *key);
/* The address of a file, from where the page lies, quoted for an attribute. */
void pf_page_link(const pf_page *p, const char *path, FILE *to);
/* 12345 as "12 345". */
void pf_page_count(uint64_t n, FILE *to);

#endif
