/* Subsets of the enclosures for many elements at once, in double arithmetic over lanes of eight.

   What is computed is what certified.c and bound.c say, loosely on the safe side: with s and a the
   double sums of p_k and |p_k| in any order and rho0 = (K - 1) 2^-53, |s - sum p_k| <= rho0 S and
   |a - S| <= rho0 S (Rump, BIT 52, 2012); wider operands by Dot2 (Ogita, Rump and Oishi, SIAM J. Sci.
   Comput. 26(6), 2005) in 8 lanes, each of which, and the sum of the lanes, adds its own losses.
   beta * c and the bias come in by TwoSum.  From E the bound's lower estimate is taken, so that
   [lo, hi] lies inside what pf_enclose gives: lo not below its lo, hi not above its hi, each on its
   own, and so after every later step, as rounding is monotone.  lo > hi may be the outcome; nothing
   lies between then.

   A finite [lo, hi] says nothing of what the exact set may hold besides: near the end of a range,
   within 2^(2-p) of it, infinity or NaN.  [inf, inf] says that the exact set is {inf} and nothing
   else, and [inf, -inf], which holds no number, that it is {NaN}: so once an element may have
   overflowed, later steps say neither of it.  What is not known is left to the careful paths, of
   which NaN says that they have the word: rows that round otherwise than to nearest, what overflows
   in some orders only. */
#include <math.h>
#include <string.h>

#include "enclosure_block_parts.h"
#include "interpret.h"

/* Results of the steps of one plan. */
typedef struct pf_block_walk {
  pf_encloser *encloser;
  const pf_prepared *ask;
  int64_t from;
  int n;
  pf_block_ends ends[PF_MAX_STEPS];
  int precision[PF_MAX_STEPS];     /* of the ends, bits */
  uint64_t weak[PF_MAX_STEPS];     /* elements that are */
  uint64_t open[PF_MAX_STEPS];     /* elements that may, for all that is known, overflow as well */
  pf_span *out;                    /* what the last step comes to */
  pf_span span[PF_MAX_STEPS];      /* not initialized */
} pf_block_walk;

/* n values as whole lanes: themselves, or a copy with zeros behind it. */
static const double *whole_block(const double *values, int n, double *copy)
{
  if (n == pf_block_padded(n))
    return values;
  memcpy(copy, values, (size_t)n * sizeof *copy);
  for (int i = n; i < pf_block_padded(n); i++)
    copy[i] = 0;
  return copy;
}

static void copy_span(const pf_span *from, int n, pf_span *to)
{
  const size_t bytes = (size_t)pf_block_padded(n) * sizeof *to->lo;
  memcpy(to->lo, from->lo, bytes);
  memcpy(to->hi, from->hi, bytes);
  to->weak = from->weak;
}

static void copy_points(const pf_block_walk *w, const double *values, pf_span *to)
{
  double copy[PF_BLOCK];
  w->encloser->block->loops->points(whole_block(values + w->from, w->n, copy),
                                    pf_block_padded(w->n), to->lo, to->hi);
}

/* What a step reads; c or the bias is copied to *copy. */
static pf_block_ends ends_of(const pf_block_walk *w, int ref, pf_span *copy, int *precision)
{
  const pf_problem *p = w->encloser->problem;
  if (ref >= PF_REF_STEP) {
    *precision = w->precision[ref - PF_REF_STEP];
    return w->ends[ref - PF_REF_STEP];
  }
  const bool is_c = ref == PF_REF_C;
  *precision = pf_format_of(p->what->operand[is_c ? PF_C : PF_BIAS].dtype)->precision;
  copy_points(w, is_c ? p->c_values : p->bias_values, copy);
  return (pf_block_ends){copy->lo, copy->hi};
}

static uint64_t open_of(const pf_block_walk *w, int ref)
{
  return ref >= PF_REF_STEP ? w->open[ref - PF_REF_STEP] : 0;
}

static uint64_t weak_of(const pf_block_walk *w, int ref)
{
  return ref >= PF_REF_STEP ? w->weak[ref - PF_REF_STEP] : 0;
}

static pf_span *span_of(pf_block_walk *w, int i)
{
  return i == w->ask->plan->count - 1 ? w->out : &w->span[i];
}

/* Step i reads what may have overflowed: what it makes of the rest says nothing of that. */
static void inherit_open(pf_block_walk *w, int i, uint64_t read, uint64_t own)
{
  pf_span *span = span_of(w, i);
  w->open[i] = read | own;
  for (int j = 0; read; j++, read >>= 1)
    if ((read & 1) && (isinf(span->lo[j]) || isinf(span->hi[j])))
      span->lo[j] = span->hi[j] = NAN;
}

static void walk_sum(pf_block_walk *w, int i)
{
  pf_encloser *e = w->encloser;
  pf_block *b = e->block;
  const pf_step *s = &w->ask->plan->step[i];
  pf_span *span = span_of(w, i);
  w->precision[i] = s->out.precision;
  w->ends[i] = (pf_block_ends){span->lo, span->hi};
  w->open[i] = w->weak[i] = 0;
  if (w->ask->replayed[i]) {
    copy_points(w, w->ask->replayed[i], span);
    return;
  }
  const int group = w->ask->group[i];
  const pf_span *all = &b->sum[group].span;
  if (!b->sum[group].filled)
    pf_block_fill(e, group, w->from, w->n);
  const pf_block_ends sum = {all->lo, all->hi};
  w->weak[i] = all->weak;
  if (w->ask->declared) {
    copy_span(all, w->n, span);
    pf_declared_blank(e, w->ask, i, w->n, span);
  }
  const pf_block_ends from = w->ask->declared ? w->ends[i] : sum;
  if (pf_format_equal(&s->out, &e->group[group].step->acc.format)) {
    w->ends[i] = from;
    w->precision[i] = 53;
  } else {
    w->open[i] = b->loops->round(&b->plan[w->ask - e->ask].format[i], &from, pf_block_padded(w->n),
                                 span->lo, span->hi);
  }
}

static uint64_t walk_scale(pf_block_walk *w, int i, const pf_block_format *f,
                           const pf_block_ends *a, int precision)
{
  const pf_step *s = &w->ask->plan->step[i];
  double factor[PF_BLOCK];
  bool short_factors = true;
  for (int j = 0; j < w->n; j++) {
    factor[j] = pf_step_factor(s, w->encloser->problem, w->from + j);
    short_factors &= factor[j] == (double)(float)factor[j];
  }
  for (int j = w->n; j < pf_block_padded(w->n); j++)
    factor[j] = 0;
  const bool exact = (short_factors && precision + 24 <= 53) || !f->shift;
  pf_span *to = span_of(w, i);
  return w->encloser->block->loops->scale(f, a, factor, exact, pf_block_padded(w->n), to->lo,
                                          to->hi);
}

static void walk_elementwise(pf_block_walk *w, int i)
{
  const pf_encloser *e = w->encloser;
  const pf_block_loops *loops = e->block->loops;
  const pf_step *s = &w->ask->plan->step[i];
  const pf_block_format *f = &e->block->plan[w->ask - e->ask].format[i];
  pf_span *span = span_of(w, i);
  pf_span copy, other;
  int precision;
  const pf_block_ends a = ends_of(w, s->a, w->ask->plan->exact[i] ? span : &copy, &precision);
  w->weak[i] = weak_of(w, s->a);
  if (w->ask->plan->exact[i]) {
    w->ends[i] = a;
    w->precision[i] = precision;
    w->open[i] = open_of(w, s->a);
    return;
  }
  w->ends[i] = (pf_block_ends){span->lo, span->hi};
  w->precision[i] = s->out.precision;
  uint64_t read = open_of(w, s->a), own;
  if (s->kind == PF_ADD) {
    const pf_block_ends b = ends_of(w, s->b, &other, &precision);
    read |= open_of(w, s->b);
    w->weak[i] |= weak_of(w, s->b);
    own = loops->add(f, &a, &b, pf_block_padded(w->n), span->lo, span->hi);
  } else if (s->kind == PF_SCALE) {
    own = walk_scale(w, i, f, &a, precision);
    if (s->b == PF_REF_BETA && e->problem->what->beta == 0)
      w->weak[i] = 0;  /* nothing of it is read */
  } else {
    own = loops->round(f, &a, pf_block_padded(w->n), span->lo, span->hi);
  }
  inherit_open(w, i, read, own);
}

static void walk(pf_block_walk *w)
{
  const pf_plan *plan = w->ask->plan;
  pf_span *out = w->out;
  for (int i = 0; i < plan->count; i++) {
    bool x_side;
    if (plan->step[i].kind <= PF_MULSUM)
      walk_sum(w, i);
    else if (!pf_plan_is_operand(plan, i, &x_side))
      walk_elementwise(w, i);
  }
  const pf_block_ends *last = &w->ends[plan->count - 1];
  const size_t bytes = (size_t)pf_block_padded(w->n) * sizeof *out->lo;
  out->weak = w->weak[plan->count - 1];
  if (last->lo == out->lo)
    return;
  memcpy(out->lo, last->lo, bytes);
  memcpy(out->hi, last->hi, bytes);
}

void pf_enclose_block(pf_encloser *e, int64_t from, int n, pf_span *out)
{
  pf_block *b = e->block;
  for (int i = 0; i < e->groups; i++)
    b->sum[i].filled = false;
  for (int i = 0; i < e->count; i++) {
    if (e->ask[i].same_as >= 0) {
      copy_span(&out[e->ask[i].same_as], n, &out[i]);
    } else if (b->plan[i].possible) {
      pf_block_walk w;
      w.encloser = e;
      w.ask = &e->ask[i];
      w.from = from;
      w.n = n;
      w.out = &out[i];
      walk(&w);
    } else {
      for (int j = 0; j < n; j++)
        out[i].lo[j] = out[i].hi[j] = NAN;
      out[i].weak = 0;
    }
  }
}

uint64_t pf_span_compare(const pf_encloser *e, const pf_span *span, const double *got, int n)
{
  double copy[PF_BLOCK];
  const uint64_t inside = e->block->loops->compare(&(pf_block_ends){span->lo, span->hi},
                                                   whole_block(got, n, copy), pf_block_padded(n));
  return n < 64 ? inside & (((uint64_t)1 << n) - 1) : inside;
}
