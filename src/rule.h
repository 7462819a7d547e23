/* Rules: what a result is held against.  Three are our own and look at rows; the familiar ones are
   those of well-known test suites and look at a result and the graph's exact result v alone:

     torch                    |got - v| <= atol + rtol |v|, with the tolerances that
                              torch.testing.assert_close takes for the dtype of the output
     ulp:N                    got in [pred^N(RN_o(v)), succ^N(RN_o(v))] in the output's format o
     abs:X  rel:Y  abs:X,rel:Y   |got - v| <= X + Y |v|, Y < 1; what is not named is 0
     nmse:X                   sum of (got - v)^2 <= X * sum of v^2 over the tensor, as ggml's
                              tests/test-backend-ops.cpp has it for a backend against another

   The inequalities are those of real numbers, with v unrounded and the constants as doubles: what
   they allow is an interval [lo(v), hi(v)] of doubles, both ends monotone in v.  nmse is computed
   in double from |got - v| rounded up and v rounded to nearest, in the order of the elements.

   Infinities: where v rounds to one in the output's format, or follows no sum and is one, that
   infinity is right; elsewhere none is, but for ulp:N where it is a step beyond the largest number.
   NaN: where it is due it is right for ulp, abs and rel; torch (equal_nan is False by default) and
   nmse never take one.  Elements whose v is infinite are left out of nmse's sums. */
#ifndef PF_RULE_H
#define PF_RULE_H

#include <stdint.h>

#include "enclosure.h"
#include "status.h"

typedef enum pf_rule_kind {
  PF_RULE_CONTRACT,  /* a row against its own enclosure */
  PF_RULE_GRAPH,     /* a row against what the graph as written promises */
  PF_RULE_AGREE,     /* two rows: each result in the other's enclosure */
  PF_RULE_TORCH,     /* the familiar ones, from here on */
  PF_RULE_ULP,
  PF_RULE_CLOSE,     /* abs, rel */
  PF_RULE_NMSE,
  PF_RULE_COUNT
} pf_rule_kind;

typedef struct pf_rule {
  pf_rule_kind kind;
  int64_t ulps;     /* PF_RULE_ULP: N */
  double abs, rel;  /* PF_RULE_CLOSE: X in value units, Y dimensionless */
  double nmse;      /* PF_RULE_NMSE: X, dimensionless */
} pf_rule;

enum { PF_RULE_TEXT = 80, PF_MAX_ULPS = 1 << 16 };

/* The error's offset is that of the offending word; *out is of no use then. */
pf_status pf_rule_parse(const char *text, pf_rule *out, pf_error *e);
/* The text that parses to the same rule; PF_RULE_TEXT bytes are enough. */
void pf_rule_print(const pf_rule *r, char *to, size_t size);

bool pf_rule_is_familiar(const pf_rule *r);
/* What a familiar rule does not see, one line for people; NULL for our own. */
const char *pf_rule_blind_spot(const pf_rule *r);

typedef struct pf_tolerance {
  double abs, rel;
} pf_tolerance;

/* torch.testing.assert_close's defaults: PyTorch, torch/testing/_comparison.py, _DTYPE_PRECISIONS
   (seen at commit 539f6ce).  0, 0 for all dtypes that are not in it, among them the integers and
   the 8-bit floats (for which later versions refuse any other, pull request 150002). */
pf_tolerance pf_torch_tolerance(pf_dtype out);

/* What a familiar rule allows for the finite v that the oracle holds.  last: the step that gives
   the output.  radius: how far from v an allowed number lies at most; infinite for nmse. */
pf_enclosure pf_rule_allows(const pf_rule *r, const pf_step *last, const pf_oracle *oracle);
/* The same for any element: asks the oracle for it, and knows the rules of infinity and NaN.
   e: an encloser of p with the same oracle. */
pf_enclosure pf_rule_enclose(const pf_rule *r, const pf_problem *p, const pf_step *last,
                             pf_encloser *e, const pf_oracle *oracle, int64_t element);

/* A sum of squares as scale^2 * sum, so that no square overflows or vanishes. */
typedef struct pf_squares {
  double scale, sum;
} pf_squares;

typedef struct pf_nmse {
  pf_squares error, value;
} pf_nmse;

/* One element: |got - v| and v; not counted unless both are finite. */
void pf_nmse_add(pf_nmse *n, double error, double value);
/* 0 where there is no error, infinite where there is one and every v is 0. */
double pf_nmse_of(const pf_nmse *n);

#endif
