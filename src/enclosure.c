/* The interval walk: from the exact sum through each step of a plan. */
#include "enclosure.h"

#include <math.h>
#include <string.h>

#include "bound.h"
#include "certified.h"
#include "engine_reference.h"
#include "interpret.h"
#include "special.h"

/* What the bound needs to know of one vector of x or y. */
typedef struct pf_line {
  int quantum;   /* least exponent of a last set bit among its finite elements */
  bool special;  /* holds an infinity or NaN */
} pf_line;

/* One operand after casts. */
typedef struct pf_vectors {
  const double *values;
  const pf_line *line;
  int precision;  /* of the format that holds the values, bits */
} pf_vectors;

/* A sum as the bound sees it.  Steps of several rows share one, and its enclosure for an element. */
typedef struct pf_group {
  const pf_step *step;
  pf_summation order;
  pf_vectors x, y;
  bool narrow;            /* products are exact in double */
  int64_t element;        /* that `enclosure` is of; -1 */
  bool inside;            /* a subset of it, by certified arithmetic */
  pf_enclosure enclosure;
} pf_group;

/* What the walk knows of one plan before it sees an element. */
typedef struct pf_prepared {
  const pf_plan *plan;
  pf_summation order;
  int same_as;                    /* an earlier ask with the same answers; -1 */
  pf_vectors vectors[PF_MAX_STEPS];  /* of casts of x or y */
  int group[PF_MAX_STEPS];        /* of sums in an open order */
  const double *replayed[PF_MAX_STEPS];  /* results of sums whose order is stated */
} pf_prepared;

/* The oracle's last sum: steps that share it ask once. */
typedef struct pf_asked {
  int64_t element;
  const double *x, *y;
  bool alpha, c, bias, valid, special;
  pf_sum sum;
  pf_truth truth;
} pf_asked;

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
};

/* --- preparation --------------------------------------------------------------------------- */

static const pf_line *scan_lines(const double *v, int64_t lines, int64_t k, pf_arena *a)
{
  pf_line *line = pf_alloc_array(a, (size_t)lines, sizeof *line);
  for (int64_t i = 0; line && i < lines; i++) {
    int least = PF_NO_QUANTUM;
    for (int64_t j = 0; j < k; j++, v++)
      if (isfinite(*v)) {
        const int bit = pf_last_bit(*v);
        least = bit < least ? bit : least;
      } else {
        line[i].special = true;
      }
    line[i].quantum = least;
  }
  return line;
}

static pf_vectors vectors_of(const pf_encloser *e, const pf_prepared *q, int ref)
{
  return ref == PF_REF_X ? e->x : ref == PF_REF_Y ? e->y : q->vectors[ref - PF_REF_STEP];
}

static pf_status prepare_operand(pf_encloser *e, pf_prepared *q, int i, bool x_side)
{
  const pf_problem *p = e->problem;
  const pf_vectors from = vectors_of(e, q, q->plan->step[i].a);
  pf_vectors *to = &q->vectors[i];
  *to = from;
  if (q->plan->exact[i])
    return PF_OK;
  const pf_status status = pf_cast_vectors(p, q->plan, i, from.values, e->arena, &to->values);
  if (status)
    return status;
  to->line = scan_lines(to->values, x_side ? p->x_lines : p->y_lines, p->shape.k, e->arena);
  to->precision = q->plan->step[i].out.precision;
  return to->line ? PF_OK : PF_NO_MEMORY;
}

/* Orders that the bound cannot tell apart. */
static bool same_order(const pf_problem *p, const pf_summation *a, const pf_summation *b)
{
  const bool a_chain = a->order <= PF_BACKWARD, b_chain = b->order <= PF_BACKWARD;
  return a_chain == b_chain &&
         pf_summation_depth(a, p->shape.k) == pf_summation_depth(b, p->shape.k);
}

static int group_of(pf_encloser *e, const pf_step *s, const pf_summation *order,
                    const pf_vectors *x, const pf_vectors *y)
{
  for (int i = 0; i < e->groups; i++) {
    const pf_group *g = &e->group[i];
    if (g->x.values == x->values && g->y.values == y->values && g->step->alpha == s->alpha &&
        g->step->c == s->c && g->step->bias == s->bias &&
        pf_format_equal(&g->step->acc.format, &s->acc.format) &&
        same_order(e->problem, &g->order, order))
      return i;
  }
  e->group[e->groups] =
      (pf_group){.step = s, .order = *order, .x = *x, .y = *y, .element = -1,
                 .narrow = x->precision <= 24 && y->precision <= 24};
  return e->groups++;
}

static pf_status prepare_sum(pf_encloser *e, pf_prepared *q, int i)
{
  const pf_problem *p = e->problem;
  const pf_step *s = &q->plan->step[i];
  const pf_vectors x = vectors_of(e, q, s->a), y = vectors_of(e, q, s->b);
  if (s->acc.sum.order == PF_ANY_ORDER) {
    q->group[i] = group_of(e, s, &q->order, &x, &y);
    return PF_OK;
  }
  double *results = pf_alloc_array(e->arena, (size_t)p->shape.outputs, sizeof *results);
  if (!results)
    return PF_NO_MEMORY;
  pf_reference_step(p, s, &s->acc.sum, x.values, y.values, results);
  q->replayed[i] = results;
  return PF_OK;
}

static pf_status prepare(pf_encloser *e, pf_prepared *q)
{
  for (int i = 0; i < q->plan->count; i++) {
    const pf_step *s = &q->plan->step[i];
    bool x_side;
    pf_status status = PF_OK;
    if (s->kind <= PF_MULSUM)
      status = prepare_sum(e, q, i);
    else if (pf_plan_is_operand(q->plan, i, &x_side))
      status = prepare_operand(e, q, i, x_side);
    if (status)
      return status;
  }
  return PF_OK;
}

static bool same_answers(const pf_problem *p, const pf_prepared *a, const pf_prepared *b)
{
  return pf_plan_equal(a->plan, b->plan) && same_order(p, &a->order, &b->order);
}

static const char *uncovered(const pf_problem *p)
{
  if (!pf_graph_of(p->what->graph)->has_c)
    return NULL;
  if (!isfinite(p->what->alpha))
    return "alpha is not finite: which terms it meets first is open";
  if (!isfinite(p->what->beta))
    return "beta is not finite";
  return NULL;
}

pf_status pf_encloser_new(const pf_problem *p, const pf_oracle *oracle, const pf_ask *asks,
                          int count, pf_arena *a, pf_encloser **out, const char **why)
{
  *why = uncovered(p);
  if (*why)
    return PF_UNSUPPORTED;
  pf_encloser *e = pf_alloc(a, sizeof *e);
  pf_prepared *prepared = pf_alloc_array(a, (size_t)count, sizeof *prepared);
  pf_group *groups = pf_alloc_array(a, (size_t)count * PF_MAX_STEPS, sizeof *groups);
  if (!e || !prepared || !groups)
    return PF_NO_MEMORY;
  *e = (pf_encloser){.problem = p, .oracle = oracle, .arena = a, .count = count, .ask = prepared,
                     .group = groups};
  e->x = (pf_vectors){p->x_vectors, scan_lines(p->x_vectors, p->x_lines, p->shape.k, a),
                      pf_format_of(p->what->operand[PF_X].dtype)->precision};
  e->y = (pf_vectors){p->y_vectors, scan_lines(p->y_vectors, p->y_lines, p->shape.k, a),
                      pf_format_of(p->what->operand[PF_Y].dtype)->precision};
  if (!e->x.line || !e->y.line)
    return PF_NO_MEMORY;
  for (int i = 0; i < count; i++) {
    pf_prepared *q = &prepared[i];
    q->plan = asks[i].plan;
    q->order = asks[i].order;
    q->same_as = -1;
    for (int j = 0; j < i && q->same_as < 0; j++)
      if (prepared[j].same_as < 0 && same_answers(p, &prepared[j], q))
        q->same_as = j;
    const pf_status status = q->same_as < 0 ? prepare(e, q) : PF_OK;
    if (status)
      return status;
  }
  *out = e;
  return PF_OK;
}

/* --- the walk ------------------------------------------------------------------------------ */

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
static void enclose_integers(pf_encloser *e, pf_group *g)
{
  const double v = e->oracle->nearest(e->oracle->state, &g->step->acc.format);
  g->enclosure = (pf_enclosure){.set = pf_set_point(v)};
}

static pf_bound bound_of(const pf_group *g, const pf_sum *sum, const pf_truth *truth, int64_t x,
                         int64_t y)
{
  const pf_bound_input in = {
    .acc = &g->step->acc.format, .order = g->order,
    .x_precision = g->x.precision, .y_precision = g->y.precision,
    .x_quantum = g->x.line[x].quantum, .y_quantum = g->y.line[y].quantum,
    .sum = sum, .truth = truth,
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
    const pf_bound bound = bound_of(g, sum, &either, x, y);
    no_overflow = !bound.plus_infinity && !bound.minus_infinity;
  }
  g->enclosure.whole =
      pf_special_certain(sum, &g->step->acc.format, no_overflow, &g->enclosure.set);
}

/* A subset of the interval: the bound of the least magnitude around the farthest exact values. */
static void enclose_finite_inside(pf_group *g, const pf_sum *sum, int64_t x, int64_t y)
{
  const pf_format *acc = &g->step->acc.format;
  const int x_quantum = g->x.line[x].quantum, y_quantum = g->y.line[y].quantum;
  const bool zero = x_quantum == PF_NO_QUANTUM || y_quantum == PF_NO_QUANTUM;
  pf_certified v;
  if (!(g->narrow ? pf_certify : pf_certify_f64)(sum, zero ? 0 : x_quantum + y_quantum, &v))
    return;
  const pf_truth least = {.positive = v.magnitude, .products = v.magnitude};
  const pf_bound bound = bound_of(g, sum, &least, x, y);
  pf_set *s = &g->enclosure.set;
  s->lo = pf_certified_low(&v, bound.error);
  s->hi = pf_certified_high(&v, bound.error);
  /* near overflow, and where zero would pass, the oracle has the word */
  const bool weak = bound.error > 0 && bound.error >= v.magnitude;
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
  if (g->x.line[x].special || g->y.line[y].special || addends_special(&sum))
    enclose_special_inside(g, &sum, x, y);
  else
    enclose_finite_inside(g, &sum, x, y);
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
    enclose_integers(e, g);
    return;
  }
  const pf_bound bound = bound_of(g, &k->sum, &k->truth, x, y);
  const bool special =
      g->x.line[x].special || g->y.line[y].special || addends_special(&k->sum);
  g->enclosure = (pf_enclosure){.set = finite_set(e, acc, &bound), .radius = bound.error,
                                .weak = bound.weak && !special};
  if (special)
    g->enclosure.set = pf_special_set(&k->sum, acc, &bound, &g->enclosure.set);
}

static pf_enclosure enclose_sum(pf_encloser *e, const pf_prepared *q, int i, int64_t element)
{
  if (q->replayed[i])
    return (pf_enclosure){.set = pf_set_point(q->replayed[i][element]), .radius = INFINITY,
                          .whole = true};
  pf_group *g = &e->group[q->group[i]];
  if (g->element != element || g->inside != e->inside)
    (e->inside ? enclose_inside : enclose_group)(e, g, element);
  return g->enclosure;
}

/* What a rounding to f adds to the radius: half an ulp of the largest value in reach, or half the
   smallest subnormal. */
static double rounding_radius(const pf_encloser *e, const pf_format *f, const pf_set *s,
                              double radius)
{
  if (e->inside)
    return 0;
  const double most = pf_set_has_finite(s) ? fmax(fabs(s->lo), fabs(s->hi)) : 0;
  return radius + fmax(pf_unit_roundoff(f) * most, ldexp(1, pf_quantum(f) - 1));
}

static pf_enclosure value_of(const pf_encloser *e, int ref, int64_t element, const pf_enclosure *step)
{
  const pf_problem *p = e->problem;
  if (ref >= PF_REF_STEP)
    return step[ref - PF_REF_STEP];
  const double v = (ref == PF_REF_C ? p->c_values : p->bias_values)[element];
  return (pf_enclosure){.set = pf_set_point(v), .whole = true};
}

static pf_enclosure enclose_elementwise(const pf_encloser *e, const pf_step *s, int64_t element,
                                        const pf_enclosure *step)
{
  const pf_case *c = e->problem->what;
  /* beta = 0 reads nothing, however special c is */
  if (s->kind == PF_SCALE && s->b == PF_REF_BETA && c->beta == 0)
    return (pf_enclosure){.set = pf_set_point(0), .whole = true};
  pf_enclosure a = value_of(e, s->a, element, step);
  if (s->kind == PF_ADD) {
    const pf_enclosure b = value_of(e, s->b, element, step);
    a.set = pf_set_add(&s->out, &a.set, &b.set);
    a.radius += b.radius;
    a.weak |= b.weak;
    a.whole &= b.whole;
  } else if (s->kind == PF_SCALE) {
    const double factor = pf_step_factor(s, e->problem, element);
    a.set = pf_set_scale(&s->out, &a.set, factor);
    a.radius = factor == 0 ? 0 : a.radius * fabs(factor);  /* a replayed step's is infinite */
  } else {
    a.set = pf_set_round(&s->out, &a.set);
  }
  a.radius = rounding_radius(e, &s->out, &a.set, a.radius);
  return a;
}

static pf_enclosure walk(pf_encloser *e, const pf_prepared *q, int64_t element)
{
  pf_enclosure step[PF_MAX_STEPS];
  for (int i = 0; i < q->plan->count; i++) {
    const pf_step *s = &q->plan->step[i];
    bool x_side;
    if (s->kind <= PF_MULSUM) {
      step[i] = enclose_sum(e, q, i, element);
      if (!q->replayed[i] && !pf_format_equal(&s->out, &s->acc.format)) {
        step[i].set = pf_set_round(&s->out, &step[i].set);
        step[i].radius = rounding_radius(e, &s->out, &step[i].set, step[i].radius);
      }
    } else if (pf_plan_is_operand(q->plan, i, &x_side)) {
      continue;
    } else {
      step[i] = q->plan->exact[i] ? value_of(e, s->a, element, step)
                                  : enclose_elementwise(e, s, element, step);
    }
  }
  return step[q->plan->count - 1];
}

static void enclose_all(pf_encloser *e, int64_t element, pf_enclosure *out)
{
  for (int i = 0; i < e->count; i++)
    out[i] = e->ask[i].same_as >= 0 ? out[e->ask[i].same_as] : walk(e, &e->ask[i], element);
}

void pf_enclose(pf_encloser *e, int64_t element, pf_enclosure *out)
{
  e->inside = false;
  enclose_all(e, element, out);
}

void pf_enclose_inside(pf_encloser *e, int64_t element, pf_enclosure *out)
{
  e->inside = true;
  enclose_all(e, element, out);
}

double pf_exact(pf_encloser *e, int64_t element, bool *special)
{
  const pf_problem *p = e->problem;
  const pf_step all = {.kind = PF_MATMUL, .alpha = true, .c = p->has_c, .bias = p->has_bias};
  const pf_asked *k = ask_oracle(e, &all, p->x_scaled, p->y_scaled, element);
  int64_t x, y;
  lines_of(p, element, &x, &y);
  *special = e->x.line[x].special || e->y.line[y].special || addends_special(&k->sum);
  return ldexp(k->truth.positive + k->truth.negative, k->truth.scale);
}
