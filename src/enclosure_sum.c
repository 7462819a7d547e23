/* The sum behind an output element: by the oracle, or from inside by certified arithmetic. */
#include <math.h>

#include "bound.h"
#include "certified.h"
#include "enclosure_parts.h"
#include "engine_reference.h"
#include "special.h"

static const pf_asked *ask_oracle(pf_encloser *e, const pf_step *s, const double *x,
                                  const double *y, int64_t element)
{
  pf_asked *k = &e->asked;
  if (k->valid && k->element == element && k->x == x && k->y == y && k->alpha == s->alpha &&
      k->c == s->c && k->bias == s->bias)
    return k;
  *k = (pf_asked){.element = element, .x = x, .y = y, .alpha = s->alpha, .c = s->c,
                  .bias = s->bias, .valid = true};
  k->sum = pf_step_terms(e->problem, s, x, y, element);
  e->oracle->sum(e->oracle->state, &k->sum, &k->truth);
  return k;
}

/* The vectors behind an output element. */
static void lines_of(const pf_problem *p, int64_t element, int64_t *x, int64_t *y)
{
  const int64_t column = element % p->shape.n, row = element / p->shape.n % p->shape.m;
  const int64_t b = element / p->shape.n / p->shape.m;
  *x = p->x_line[b] + row;
  *y = p->y_line[b] + column;
}

static bool addends_special(const pf_sum *s)
{
  return (s->beta != 0 && !isfinite(s->c)) || !isfinite(s->bias);
}

/* The interval of the finite part in the accumulator: a result that would have to lie beyond its
   range has become infinite. */
static pf_set finite_set(const pf_encloser *e, const pf_format *acc, const pf_bound *b)
{
  pf_set s = {.lo = e->oracle->below(e->oracle->state, b->error),
              .hi = e->oracle->above(e->oracle->state, b->error),
              .plus_infinity = b->plus_infinity,
              .minus_infinity = b->minus_infinity,
              .nan = b->nan};
  const double lo = pf_round(acc, s.lo), hi = pf_round(acc, s.hi);
  if (lo > acc->max || hi < -acc->max) {
    s.lo = INFINITY;
    s.hi = -INFINITY;
  } else {
    s.lo = fmax(s.lo, -acc->max);
    s.hi = fmin(s.hi, acc->max);
  }
  return s;
}

/* Residues of sums and products are those of the residues: an accumulator that wraps gives v modulo
   2^bits in every order, and wherever alpha is applied. */
static void enclose_integers(pf_encloser *e, pf_group *g, const pf_asked *k)
{
  if (g->declared && g->declared->s32) {
    g->enclosure = pf_declared_integers(e, g, &k->sum, &k->truth);
    return;
  }
  const double v = e->oracle->nearest(e->oracle->state, &g->step->acc.format);
  g->enclosure = (pf_enclosure){.set = pf_set_point(v)};
}

/* lost: what else may be missing, value units. */
static pf_bound bound_of(const pf_group *g, const pf_sum *sum, const pf_truth *truth, int64_t x,
                         int64_t y, double lost)
{
  const pf_bound_input in = {
    .acc = &g->step->acc.format, .order = g->order,
    .x_precision = g->x.precision, .y_precision = g->y.precision,
    .x_quantum = pf_line_of(&g->x, x)->quantum, .y_quantum = pf_line_of(&g->y, y)->quantum,
    .sum = sum, .truth = truth, .flushes = g->declared && g->declared->flush_sums, .lost = lost,
  };
  return pf_bound_of(&in);
}

/* Twice what the finite terms of a special sum add up to: more than their sum, however it was
   rounded. */
static double finite_magnitude(const pf_sum *s)
{
  double most = isfinite(s->bias) ? fabs(s->bias) : 0;
  if (s->beta != 0 && isfinite(s->c))
    most += fabs(s->beta * s->c);
  for (int64_t k = 0; k < s->k; k++)
    if (isfinite(s->x[k]) && isfinite(s->y[k]))
      most += fabs(s->x[k] * s->y[k]);
  return 2 * most;
}

static void enclose_special_inside(pf_group *g, const pf_sum *sum, int64_t x, int64_t y)
{
  const double most = finite_magnitude(sum);
  const pf_truth either = {.positive = most, .negative = most, .products = most};
  bool no_overflow = false;
  if (fabs(sum->alpha) == 1) {
    const pf_bound bound = bound_of(g, sum, &either, x, y, 0);
    no_overflow = !bound.plus_infinity && !bound.minus_infinity;
  }
  if (g->declared && (g->declared->zero_skip || g->declared->alpha_zero))
    return;
  g->enclosure.whole =
      pf_special_certain(sum, &g->step->acc.format, no_overflow, &g->enclosure.set) &&
      !g->declared;
}

/* The sum leaves the accumulator's range, and no partial sum can on the other side: there it is at
   most (1 + relative) times what that side's terms add up to, and what underflows (bound.c). */
static bool surely_infinite(const pf_sum *sum, const pf_format *acc, const pf_certified *v,
                            double error)
{
  const double outside = fabs(v->value) - 2 * (error + v->radius + fabs(v->tail));
  const double lost = ldexp((double)(sum->k + 2), pf_quantum(acc));
  return fabs(sum->alpha) == 1 && error < v->magnitude && outside >= 2 * acc->max &&
         2 * pf_one_sided(sum, v->value > 0) + lost < acc->max / 2;
}

/* A subset of the interval: the bound of the least magnitude around the farthest exact values. */
static void enclose_finite_inside(const pf_encloser *e, pf_group *g, const pf_sum *sum, int64_t x,
                                  int64_t y)
{
  const pf_format *acc = &g->step->acc.format;
  const int x_quantum = pf_line_of(&g->x, x)->quantum, y_quantum = pf_line_of(&g->y, y)->quantum;
  const bool zero = x_quantum == PF_NO_QUANTUM || y_quantum == PF_NO_QUANTUM;
  /* where alpha brings products near the end of double's range, or back from there, the oracle rounds
     up in units of that range, and alone knows how far */
  const double products = pf_line_of(&g->x, x)->absolute * pf_line_of(&g->y, y)->absolute;
  if (fabs(sum->alpha) != 1 && !(products < 0x1p900 && fabs(sum->alpha) * products < 0x1p900))
    return;
  /* an alpha that may be flushed takes nearly all of a sum, which zero passes for */
  if (g->declared && g->declared->flush_inputs && sum->alpha != 0 &&
      fabs(sum->alpha) < pf_smallest_normal(acc))
    return;
  pf_certified v;
  if (!(g->narrow ? pf_certify : pf_certify_f64)(sum, zero ? 0 : x_quantum + y_quantum, &v))
    return;
  const pf_truth least = {.positive = v.magnitude, .products = v.magnitude};
  const double lost = g->declared ? pf_declared_lost(e, g, sum, &least) : 0;
  const pf_bound bound = bound_of(g, sum, &least, x, y, lost);
  pf_set *s = &g->enclosure.set;
  s->lo = pf_certified_low(&v, bound.error);
  s->hi = pf_certified_high(&v, bound.error);
  /* what is declared may take a partial sum to the other side */
  if (!g->declared && surely_infinite(sum, acc, &v, bound.error)) {
    *s = pf_set_point(v.value > 0 ? INFINITY : -INFINITY);
    g->enclosure.whole = true;
    return;
  }
  /* near overflow, and where zero would pass, the oracle has the word */
  const bool weak = bound.error > 0 && bound.error * (1 + 0x1p-40) >= v.magnitude;
  if (weak || !(fabs(s->lo) <= acc->max / 2 && fabs(s->hi) <= acc->max / 2))
    *s = pf_set_empty();
}

/* What double arithmetic can tell, else the empty set. */
static void enclose_inside(pf_encloser *e, pf_group *g, int64_t element)
{
  const pf_sum sum = pf_step_terms(e->problem, g->step, g->x.values, g->y.values, element);
  int64_t x, y;
  lines_of(e->problem, element, &x, &y);
  g->element = element;
  g->inside = true;
  g->enclosure = (pf_enclosure){.set = pf_set_empty()};
  if (pf_is_integer(&g->step->acc.format))
    return;
  if (pf_line_of(&g->x, x)->special || pf_line_of(&g->y, y)->special || addends_special(&sum))
    enclose_special_inside(g, &sum, x, y);
  else
    enclose_finite_inside(e, g, &sum, x, y);
}

static void enclose_group(pf_encloser *e, pf_group *g, int64_t element)
{
  const pf_format *acc = &g->step->acc.format;
  int64_t x, y;
  lines_of(e->problem, element, &x, &y);
  const pf_asked *k = ask_oracle(e, g->step, g->x.values, g->y.values, element);
  g->element = element;
  g->inside = false;
  if (pf_is_integer(acc)) {
    enclose_integers(e, g, k);
    return;
  }
  const double lost = g->declared ? pf_declared_lost(e, g, &k->sum, &k->truth) : 0;
  const pf_bound bound = bound_of(g, &k->sum, &k->truth, x, y, lost);
  const bool special =
      pf_line_of(&g->x, x)->special || pf_line_of(&g->y, y)->special || addends_special(&k->sum);
  g->enclosure = (pf_enclosure){.set = finite_set(e, acc, &bound), .radius = bound.error,
                                .weak = bound.weak && !special};
  if (special)
    g->enclosure.set = pf_special_set(&k->sum, acc, &bound, g->declared, &g->enclosure.set);
}

pf_enclosure pf_enclose_group(pf_encloser *e, int group, int64_t element)
{
  pf_group *g = &e->group[group];
  if (g->element != element || g->inside != e->inside)
    (e->inside ? enclose_inside : enclose_group)(e, g, element);
  return g->enclosure;
}

pf_enclosure pf_enclose_sum(pf_encloser *e, const pf_prepared *q, int i, int64_t element)
{
  if (q->replayed[i])
    return (pf_enclosure){.set = pf_set_point(q->replayed[i][element]), .radius = INFINITY,
                          .whole = true};
  const pf_enclosure sum = pf_enclose_group(e, q->group[i], element);
  return q->declared ? pf_declared_sum(e, q, i, element, sum) : sum;
}

double pf_exact(pf_encloser *e, int64_t element, bool *special)
{
  const pf_problem *p = e->problem;
  const pf_step all = {.kind = PF_MATMUL, .alpha = true, .c = p->has_c, .bias = p->has_bias};
  const pf_asked *k = ask_oracle(e, &all, p->x_scaled, p->y_scaled, element);
  int64_t x, y;
  lines_of(p, element, &x, &y);
  *special = pf_line_of(&e->x, x)->special || pf_line_of(&e->y, y)->special ||
             addends_special(&k->sum);
  return ldexp(k->truth.positive + k->truth.negative, k->truth.scale);
}
