/* The enclosure: every result that a row allows for an output element, on an engine of a stated (or
   unknown) order. */
#ifndef PF_ENCLOSURE_H
#define PF_ENCLOSURE_H

#include "interpret.h"
#include "isa.h"
#include "set.h"
#include "truth.h"

/* One question: which results may this plan give on an engine that adds in this order? */
typedef struct pf_ask {
  const pf_plan *plan;
  pf_summation order;
  const pf_declared *declared;  /* what else it may do by right; NULL: nothing */
  bool widened;                 /* as in pf_run */
  const double *const *replayed;  /* by step, where the reference engine ran the plan: its results,
                                     which are the replays of sums whose order is stated; or NULL */
} pf_ask;

/* What a run on an engine is held against.  run: NULL where there is none. */
pf_ask pf_ask_of(const pf_plan *plan, const pf_engine *engine, const pf_run *run);

typedef struct pf_enclosure {
  pf_set set;      /* of the output */
  double radius;   /* E plus what each later rounding may add, value units: for ratios and labels,
                      never for a verdict; infinite where the row's bits were replayed */
  bool weak;       /* the bound of a sum exceeds the sum of its magnitudes: zero would pass too */
  bool whole;      /* pf_enclose_inside: the set is all that pf_enclose would give */
} pf_enclosure;

typedef struct pf_encloser pf_encloser;

/* Scans the operands and replays the rows that fix their bits.  Everything lives in the arena.
   PF_UNSUPPORTED with *why where the case is not covered (alpha or beta not finite). */
pf_status pf_encloser_new(const pf_problem *p, const pf_oracle *oracle, const pf_ask *asks,
                          int count, pf_arena *a, pf_encloser **out, const char **why);

/* out[count]: the answers to all asks for one output element (row-major). */
void pf_enclose(pf_encloser *e, int64_t element, pf_enclosure *out);

/* The same without the oracle: sets that lie inside those of pf_enclose, mostly by very little, so
   that a result in them is allowed.  What is outside must be asked of pf_enclose.  No radius, no
   weak elements: their sets are empty here. */
void pf_enclose_inside(pf_encloser *e, int64_t element, pf_enclosure *out);

/* Elements taken at once. */
enum { PF_BLOCK = 64 };

/* Subsets for the elements of a block, by one ask: what lies in [lo[i], hi[i]] is allowed, and where
   that is finite nothing is said of infinities and NaN; [inf, inf] and [-inf, -inf] say that the
   exact set is that infinity and nothing else, [inf, -inf] that it is NaN.  Nothing is known where
   lo[i] > hi[i] otherwise, or where one of them is NaN. */
typedef struct pf_span {
  double lo[PF_BLOCK], hi[PF_BLOCK];
  uint64_t weak;  /* bit i: element i is weak, where lo[i] <= hi[i] */
} __attribute__((aligned(64))) pf_span;

/* The same for n <= PF_BLOCK elements from `from` on, out[asks], in less time and a little less
   sharply. */
void pf_enclose_block(pf_encloser *e, int64_t from, int n, pf_span *out);
/* Which of the n elements of got are in the span: bit i for got[i]. */
uint64_t pf_span_compare(const pf_encloser *e, const pf_span *span, const double *got, int n);

/* Two asks with the same answers for every element. */
bool pf_encloser_alike(const pf_encloser *e, int ask, int other);

/* Restricts an encloser's loops to an isa that the machine has, for tests: the best is the
   default. */
void pf_encloser_restrict(pf_encloser *e, pf_isa isa);

/* The exact result of the graph for an element (asked of the oracle, which then holds it):
   T, the sum of all magnitudes, rounded up, value units; *special: v follows no sum. */
double pf_exact(pf_encloser *e, int64_t element, bool *special);

#endif
