/* What the parts of the encloser share: enclosure_prepare.c looks at the case once,
   enclosure_sum.c encloses the sum behind an element, enclosure.c walks on from there. */
#ifndef PF_ENCLOSURE_PARTS_H
#define PF_ENCLOSURE_PARTS_H

#include "enclosure.h"

/* What the bound needs to know of one vector of x or y. */
typedef struct pf_line {
  int quantum;   /* least exponent of a last set bit among its finite elements */
  bool special;  /* holds an infinity or NaN */
  double unit;      /* 2^quantum */
  double absolute;  /* not below the sum of the absolute values of its finite elements */
} pf_line;

/* The vectors of an operand.  They are only scanned where someone asks. */
typedef struct pf_lines {
  const double *values;
  int64_t count, k;
  bool scanned;
  pf_line *line;
} pf_lines;

/* One operand after casts. */
typedef struct pf_vectors {
  const double *values;
  pf_lines *lines;
  int precision;  /* of the format that holds the values, bits */
} pf_vectors;

/* A sum as the bound sees it.  Steps of several rows share one, and what it is for an element. */
typedef struct pf_group {
  const pf_step *step;
  pf_summation order;
  pf_vectors x, y;
  const pf_declared *declared;  /* NULL: nothing */
  bool widened;
  bool narrow;            /* products are exact in double, and what their sums in it lose is little
                             beside E */
  int64_t element;        /* that `enclosure` is of; -1 */
  bool inside;            /* a subset of it, by certified arithmetic */
  pf_enclosure enclosure;
} pf_group;

/* What the walk knows of one plan before it sees an element. */
typedef struct pf_prepared {
  const pf_plan *plan;
  pf_summation order;
  const pf_declared *declared;    /* NULL: nothing */
  bool widened;
  const double *const *given;     /* replays that are known: pf_ask */
  int same_as;                    /* an earlier ask with the same answers; -1 */
  pf_vectors vectors[PF_MAX_STEPS];  /* of casts of x or y */
  int group[PF_MAX_STEPS];        /* of sums in an open order */
  int flushed[PF_MAX_STEPS];      /* declared: the group of operands that may be flushed; -1 */
  const double *replayed[PF_MAX_STEPS];  /* results of sums whose order is stated */
} pf_prepared;

/* The oracle's last sum: steps that share it ask once. */
typedef struct pf_asked {
  int64_t element;
  const double *x, *y;
  bool alpha, c, bias, valid;
  pf_sum sum;
  pf_truth truth;
} pf_asked;

typedef struct pf_block pf_block;

struct pf_encloser {
  const pf_problem *problem;
  const pf_oracle *oracle;
  pf_arena *arena;
  int count;
  pf_prepared *ask;
  pf_asked asked;
  pf_vectors x, y;  /* the operands as given */
  int groups;
  pf_group *group;
  bool inside;      /* pf_enclose_inside is at work */
  pf_block *block;  /* for pf_enclose_block */
};

/* --- enclosure_prepare.c ------------------------------------------------------------------- */

pf_vectors pf_vectors_of(const pf_encloser *e, const pf_prepared *q, int ref);
/* count vectors of k numbers; NULL: out of memory. */
pf_lines *pf_lines_new(const double *values, int64_t count, int64_t k, pf_arena *a);
const pf_line *pf_lines_scan(pf_lines *l);
static inline const pf_line *pf_line_of(const pf_vectors *v, int64_t i)
{
  return (v->lines->scanned ? v->lines->line : pf_lines_scan(v->lines)) + i;
}
/* The group of a sum: one that is there, or a new one. */
int pf_group_of(pf_encloser *e, const pf_prepared *q, const pf_step *s, const pf_vectors *x,
                const pf_vectors *y);

/* --- enclosure_declared.c: engines that declare something ---------------------------------- */

/* The groups of step i, a sum in an open order. */
pf_status pf_declared_prepare(pf_encloser *e, pf_prepared *q, int i);
/* Can the ask be walked in blocks? */
bool pf_declared_in_blocks(const pf_encloser *e, const pf_prepared *q);
/* Leaves those ends of a block of sums unknown that what is declared could make weak. */
void pf_declared_blank(const pf_encloser *e, const pf_prepared *q, int i, int n, pf_span *span);
/* How far what is flushed may move the ends of a stored sum, generously, value units. */
double pf_declared_gap(const pf_encloser *e, const pf_prepared *q, int i);
/* What flushed c, bias, alpha and beta may take from a sum, value units. */
double pf_declared_lost(const pf_encloser *e, const pf_group *g, const pf_sum *sum,
                        const pf_truth *truth);
/* Sums of integers that may saturate. */
pf_enclosure pf_declared_integers(pf_encloser *e, const pf_group *g, const pf_sum *sum,
                                  const pf_truth *truth);
/* From the enclosure of a sum's group to what the engine may hold before it is rounded... */
pf_enclosure pf_declared_sum(pf_encloser *e, const pf_prepared *q, int i, int64_t element,
                             pf_enclosure sum);
/* ...and to what it may store. */
void pf_declared_round(const pf_encloser *e, const pf_prepared *q, int i, pf_enclosure *sum);

/* --- the others ---------------------------------------------------------------------------- */

/* One group's sum for an element. */
pf_enclosure pf_enclose_group(pf_encloser *e, int group, int64_t element);
/* What a rounding to f adds to the radius. */
double pf_rounding_radius(const pf_encloser *e, const pf_format *f, const pf_set *s, double radius);

/* The last part of pf_encloser_new. */
pf_status pf_block_prepare(pf_encloser *e);

/* Step i of the plan, a MATMUL or MULSUM, before it is rounded to the step's format. */
pf_enclosure pf_enclose_sum(pf_encloser *e, const pf_prepared *q, int i, int64_t element);

#endif
