/* Results as text. */
#ifndef PF_REPORT_H
#define PF_REPORT_H

#include <stdio.h>

#include "session.h"

/* What makes two findings the same: engine, graph, strategy, dtypes, rule and verdict, in one line
   without a newline. */
void pf_signature(const pf_result *r, char *to, size_t size);

enum { PF_SIGNATURE_TEXT = 400, PF_DTYPES_TEXT = 96 };  /* bytes that are enough */

/* Its words; only an engine's name may hold blanks. */
typedef struct pf_signature_words {
  const char *engine, *graph, *verdict;
  char strategy[136], dtypes[PF_DTYPES_TEXT], rule[PF_RULE_TEXT];
} pf_signature_words;

void pf_signature_split(const pf_result *r, pf_signature_words *out);
/* "x=bf16,y=bf16": the word for a case's dtypes. */
void pf_dtypes_print(const pf_case *c, char *to, size_t size);

/* One line: verdict, engine, strategy, and what is worth knowing of it. */
void pf_report_line(const pf_result *r, FILE *to);
/* How far out the worst element lies, without a newline: "0.5 = 2 ulp = 0.1 of S = 3 of the
   radius".  Of a result whose worst element was measured and follows a sum. */
void pf_report_error(const pf_result *r, FILE *to);
/* Several indented lines on a finding: which library and kernel; its worst element: where, got,
   exact, allowed, in decimal and hex. */
void pf_report_worst(const pf_result *r, FILE *to);
/* A line on what a familiar rule does not see; nothing for our own. */
void pf_report_rule(const pf_rule *r, FILE *to);

#endif
