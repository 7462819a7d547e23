/* Strategies as data: the row keyed (graph, strategy) is a list of steps, written as text.

     t0 = MATMUL(x, y; acc f32, out bf16)
     t1 = CAST(t0; f32)
     out = ADD(t1, bias; f32)

   Steps:  MATMUL(A, B [, alpha] [, c, beta] [, bias]; ...)   library call, order its own affair
           MULSUM(same; ...)                                  elementwise products, then a sum
           CAST(V; F)  SCALE(V, alpha|beta|scale_x|scale_y; F)  ADD(V, W; F)
   beta = 0 never reads what it multiplies.  SCALE by scale_x or scale_y rounds each product to F:
   of x (or casts of it) by scale_x, of y by scale_y, of results by either, unless it varies along K.
   A bias or a scale that the case does not have leaves the rounding.
   Options of MATMUL and MULSUM: acc F (partial sums), out F (defaults to acc), product F (each
   product is rounded to it; defaults to acc), order any|forward|backward|pairwise|blockedN|lanesN,
   fused|unfused, start zero|c, split N (partials rounded to out), drop N (last N terms lost),
   ftz_in, ftz_out.  A row with a stated order fixes the bits and is replayed, not enclosed.
   Formats F: any dtype's name, tf32, pN:E:MAX (precision 2 to 26, emin -500 to 500, largest value
   below 2^511); or one that the case decides:
     in      promotion of x and y (pf_case_in)          in+f32      that promoted with f32
     result  the graph's result by torch's promotion    result+f32  likewise
   An integer stays what it is under +f32: sums of integers are exact in s32, modulo 2^32; in+f32 is
   f64 for an s32 beside a float, which holds both.
   Behind any of them /rz /rna say how to round, /sat /nan /inf what becomes of overflow where not
   the usual.  Only a stated order can truncate or saturate partial sums.  An integer accumulator
   wraps, and takes integer operands only; a conversion of floats to integers saturates. */
#ifndef PF_ROW_H
#define PF_ROW_H

#include "case.h"
#include "format.h"

typedef enum pf_order {
  PF_ANY_ORDER, PF_FORWARD, PF_BACKWARD, PF_PAIRWISE, PF_BLOCKED, PF_LANES
} pf_order;

/* How an engine, or a row that says so, adds. */
typedef struct pf_summation {
  pf_order order;
  int width;   /* PF_BLOCKED: terms a block; PF_LANES: lanes; else 0 */
  bool fused;  /* product and addition round once */
} pf_summation;

typedef struct pf_accumulator {
  pf_format format;       /* of partial sums */
  pf_format product;      /* a product is rounded to it before it is added; unused where fused */
  pf_summation sum;       /* PF_ANY_ORDER: the engine's own */
  bool start_c;           /* beta * c is the first partial sum; else added last */
  int split;              /* parts of K whose sums are rounded to the output; 0 or 1: none */
  int drop;               /* last terms left out */
  bool ftz_in, ftz_out;   /* subnormal operands, subnormal products and sums read as zero */
} pf_accumulator;

typedef enum pf_step_kind { PF_MATMUL, PF_MULSUM, PF_CAST, PF_SCALE, PF_ADD } pf_step_kind;

/* What a step reads. */
typedef enum pf_ref {
  PF_REF_NONE = -1,
  PF_REF_X, PF_REF_Y, PF_REF_C, PF_REF_BIAS, PF_REF_ALPHA, PF_REF_BETA, PF_REF_SCALE_X,
  PF_REF_SCALE_Y,
  PF_REF_STEP  /* PF_REF_STEP + i: result of step i */
} pf_ref;

enum { PF_MAX_STEPS = 12 };

typedef struct pf_step {
  pf_step_kind kind;
  char name[8];            /* of its result: "t0", "out" */
  int a, b;                /* pf_ref; for CAST b is PF_REF_NONE */
  bool alpha, c, bias;     /* MATMUL and MULSUM: what the call contains besides the product;
                              beta goes with c */
  pf_accumulator acc;      /* MATMUL and MULSUM */
  pf_format out;           /* format of the result */
  pf_dtype storage;        /* dtype that holds it */
} pf_step;

/* A row bound to a case: formats resolved, steps that change nothing marked by `exact`. */
typedef struct pf_plan {
  const char *strategy;
  int count;
  pf_step step[PF_MAX_STEPS];
  bool exact[PF_MAX_STEPS];  /* a CAST that changes no value of its operand's format */
  bool replayed;             /* some step states its order: the bits are fixed */
} pf_plan;

typedef struct pf_row {
  pf_graph graph;
  const char *strategy;
  const char *text;
  const char *note;  /* one line for people */
  bool by_name;      /* taken only where it is named: it computes less than the graph promises */
} pf_row;

extern const pf_row pf_rows[];  /* ends with text == NULL */

/* The row of a graph by name; NULL if there is none. */
const pf_row *pf_row_find(pf_graph g, const char *strategy);

/* Parses text and resolves it for the case.  The error's offset is that of the offending word, or
   of what follows a step whose parts do not go together. */
pf_status pf_plan_parse(const char *strategy, const char *text, const pf_case *c, pf_plan *out,
                        pf_error *e);
bool pf_plan_equal(const pf_plan *a, const pf_plan *b);  /* same steps; names do not count */

/* One format as rows write it.  PF_BAD_INPUT with an offset of 0. */
pf_status pf_format_parse(const char *word, size_t length, const pf_case *c, pf_format *out,
                          pf_error *e);
void pf_format_print(const pf_format *f, char *to, size_t size);   /* as rows write it */
void pf_summation_print(const pf_summation *s, char *to, size_t size);
void pf_step_print(const pf_step *s, const pf_plan *p, char *to, size_t size);

/* Additions on the longest path from a term to the sum of k terms (k >= 1). */
int64_t pf_summation_depth(const pf_summation *s, int64_t k);

#endif
