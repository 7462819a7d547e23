/* Findings that are known: the list of them, and whether a result is one.

   The list is a text for people:

     # a comment
     [NAME]
     signature = onednn matmul * x=bf16,y=bf16 contract IMPOSSIBLE
     version   = >=3.0 <3.8
     kernel    = brg_matmul*
     isa       = avx512_core_bf16 avx512_core_amx
     model     = daz daz+ftz
     reason    = why the library does it; a value goes on
       in lines that begin with a blank
     reported  = https://...

   NAME.case, an archive beside the list, is a case that shows the finding.  signature (as
   pf_signature has it) and reason must be there.  Graph, strategy and dtypes of a signature may be
   patterns of the shell; engine, rule and verdict are said in full.  version is a range (version.h)
   that the library's version lies in, kernel a pattern of what it says did the work, isa patterns
   with blanks between, one of which fits a word of its details; model patterns likewise, one of
   which fits the model that explains the result.  What is not there may be anything. */
#ifndef PF_REGRESSION_H
#define PF_REGRESSION_H

#include "report.h"

typedef struct pf_regression {
  const char *folder;     /* of the list and its cases; NULL: whoever read the text did not say */
  const char *name;       /* letters, digits and "_-+." */
  int line;               /* of [NAME], from 1 */
  const char *signature;  /* whole, and its words */
  const char *engine, *graph, *strategy, *dtypes, *rule;
  pf_verdict verdict;
  const char *version, *kernel, *isa, *model, *reported;  /* NULL: not given */
  const char *reason;
} pf_regression;

typedef struct pf_regressions {
  pf_regression *entry;
  size_t count;
  pf_arena memory;        /* of entries and texts */
} pf_regressions;

/* Adds the entries of a text to a list, which is all 0 at first; a name may be in several texts.
   file: what errors call the text, "FILE:LINE: why".  PF_BAD_INPUT or PF_NO_MEMORY; there is
   nothing to be freed then, whatever the list held. */
pf_status pf_regressions_parse(const char *file, const char *text, size_t size,
                               pf_regressions *list, pf_error *e);
void pf_regressions_free(pf_regressions *list);

/* The first entry that the result is one of; NULL where it is none, or no finding. */
const pf_regression *pf_regressions_find(const pf_regressions *list, const pf_result *r);
const pf_regression *pf_regressions_named(const pf_regressions *list, const char *name);

bool pf_regression_matches(const pf_regression *k, const pf_result *r);
/* The same, whatever the verdict, version, ISA, kernel and model. */
bool pf_regression_is_of(const pf_regression *k, const pf_result *r);
/* Is the case one that the signature may be of: its graph, its dtypes? */
bool pf_regression_asks(const pf_regression *k, const pf_case *c);
/* Are version and ISA of the engine those of the entry?  Else why says what is there instead. */
bool pf_regression_applies(const pf_regression *k, const pf_engine *e, char *why, size_t size);
/* kernel: NULL where it is not known, which fits only where the entry has none. */
bool pf_regression_has_kernel(const pf_regression *k, const char *kernel);

/* The word for the ISA in an engine's details: the first that is no path; "" where none is. */
void pf_isa_of(const pf_engine *e, char *to, size_t size);

#endif
