/* What the files that parse rows share. */
#ifndef PF_ROW_PARSER_H
#define PF_ROW_PARSER_H

#include "row.h"

/* What a step's result is shaped like: operands keep x's or y's vectors, all else is the output. */
typedef enum pf_shaped { SHAPED_X, SHAPED_Y, SHAPED_OUT } pf_shaped;

typedef struct pf_parser {
  const char *text, *at;
  const char *token;  /* what was looked at last begins here: where errors point */
  const pf_case *what;
  pf_plan *plan;
  pf_error *error;
  pf_shaped shaped[PF_MAX_STEPS];
  pf_format value[PF_MAX_STEPS];  /* the tightest format known to hold a step's result */
} pf_parser;

#define REFUSE(p, status, ...) \
  pf_fail((p)->error, status, (size_t)((p)->token - (p)->text), __VA_ARGS__)
#define FAIL(p, ...) REFUSE(p, PF_BAD_INPUT, __VA_ARGS__)
#define UNSUPPORTED(p, ...) REFUSE(p, PF_UNSUPPORTED, __VA_ARGS__)

/* Each of these skips blanks, reads at p->at and moves it on. */
void pf_row_skip_space(pf_parser *p);
bool pf_row_accept(pf_parser *p, char c);
pf_status pf_row_expect(pf_parser *p, char c);
/* A word of letters, digits and what formats are written with; its length may be 0. */
size_t pf_row_word(pf_parser *p, const char **word);
pf_status pf_row_format(pf_parser *p, pf_format *out);
pf_status pf_row_ref(pf_parser *p, int *out);
/* What stands between the brackets of MATMUL and MULSUM. */
pf_status pf_row_sum(pf_parser *p, pf_step *s);

static inline bool pf_row_word_is(const char *word, size_t length, const char *what)
{
  for (size_t i = 0; i < length; i++)
    if (!what[i] || what[i] != word[i])
      return false;
  return !what[length];
}

bool pf_row_ref_absent(const pf_parser *p, int ref);  /* c or bias that the case does not have */
pf_shaped pf_row_ref_shape(const pf_parser *p, int ref);
pf_format pf_row_ref_format(const pf_parser *p, int ref);  /* of no factor */
/* Is x a value of f?  NaN and infinity are values of every format that floats. */
bool pf_row_holds(const pf_format *f, double x);

#endif
