/* What can be known before an element is looked at: operands after casts, which steps share a sum,
   and the results of rows that fix their bits. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "bound.h"
#include "directed.h"
#include "enclosure_block_parts.h"
#include "engine_reference.h"
#include "interpret.h"

/* Numbers of a narrow format are multiples of a power of two not too far below.  The exponent of one
   that may be, from what size the first of k >= 1 numbers have, with 2^6 above them to spare. */
static int likely_grid(const double *v, int64_t k)
{
  uint64_t most = 0;
  for (int64_t i = 0; i < k && i < 4; i++) {
    uint64_t bits;
    memcpy(&bits, &v[i], sizeof bits);
    most = bits << 1 > most ? bits << 1 : most;
  }
  return (int)(most >> 53) - 1023 + 7 - 51;
}

static bool fits_grid(const pf_block_loops *loops, const double *v, int64_t k, int q, pf_line *to)
{
  uint64_t places;
  if (q < -1000 || q > 900 || !loops->scan_grid(v, k, 1.5 * pf_power(52 + q), &places))
    return false;
  to->special = false;
  to->quantum = places ? q + __builtin_ctzll(places) : PF_NO_QUANTUM;
  to->unit = places ? pf_power(to->quantum) : INFINITY;
  to->absolute = (double)k * pf_power(51 + q);
  return true;
}

static void scan_line(const pf_block_loops *loops, const double *v, int64_t k, pf_line *to)
{
  double absolute;
  to->special = !loops->scan(v, k, &to->unit, &absolute);
  to->quantum = to->unit < INFINITY ? pf_last_bit(to->unit) : PF_NO_QUANTUM;
  to->absolute = absolute * (1 + 0x1p-20);
}

pf_lines *pf_lines_new(const double *values, int64_t count, int64_t k, pf_arena *a)
{
  pf_lines *l = pf_alloc_raw(a, sizeof *l);
  pf_line *line = pf_alloc_array_raw(a, (size_t)count, sizeof *line);
  if (!l || !line)
    return NULL;
  *l = (pf_lines){values, count, k, false, line};
  return l;
}

const pf_line *pf_lines_scan(pf_lines *l)
{
  const pf_block_loops *loops = pf_block_loops_of(pf_isa_best());
  const int64_t k = l->k;
  const double *v = l->values;
  int q = INT_MIN, misses = k ? 0 : 2;
  for (int64_t i = 0; i < l->count; i++, v += k) {
    /* what fits one line fits most others; where two do not fit their own, few do */
    if (misses < 2 && fits_grid(loops, v, k, q, &l->line[i]))
      continue;
    const int own = misses < 2 ? likely_grid(v, k) : q;
    if (own != q && fits_grid(loops, v, k, own, &l->line[i])) {
      q = own;
      misses = 0;
    } else {
      misses++;
      scan_line(loops, v, k, &l->line[i]);
    }
  }
  l->scanned = true;
  return l->line;
}

pf_vectors pf_vectors_of(const pf_encloser *e, const pf_prepared *q, int ref)
{
  return ref == PF_REF_X ? e->x : ref == PF_REF_Y ? e->y : q->vectors[ref - PF_REF_STEP];
}

static pf_status prepare_operand(pf_encloser *e, pf_prepared *q, int i, bool x_side)
{
  const pf_problem *p = e->problem;
  const pf_vectors from = pf_vectors_of(e, q, q->plan->step[i].a);
  pf_vectors *to = &q->vectors[i];
  *to = from;
  if (q->plan->exact[i])
    return PF_OK;
  const pf_status status = pf_cast_vectors(p, q->plan, i, from.values, e->arena, &to->values);
  if (status)
    return status;
  to->lines = pf_lines_new(to->values, x_side ? p->x_lines : p->y_lines, p->shape.k, e->arena);
  to->precision = q->plan->step[i].out.precision;
  return to->lines ? PF_OK : PF_NO_MEMORY;
}

/* Orders that the bound cannot tell apart. */
static bool same_order(const pf_problem *p, const pf_summation *a, const pf_summation *b)
{
  const bool a_chain = a->order <= PF_BACKWARD, b_chain = b->order <= PF_BACKWARD;
  return a_chain == b_chain &&
         pf_summation_depth(a, p->shape.k) == pf_summation_depth(b, p->shape.k);
}

static bool same_declared(const pf_declared *a, const pf_declared *b)
{
  return a == b || (a && b && pf_declared_equal(a, b));
}

int pf_group_of(pf_encloser *e, const pf_prepared *q, const pf_step *s, const pf_vectors *x,
                const pf_vectors *y)
{
  for (int i = 0; i < e->groups; i++) {
    const pf_group *g = &e->group[i];
    if (g->x.values == x->values && g->y.values == y->values && g->step->alpha == s->alpha &&
        g->step->c == s->c && g->step->bias == s->bias &&
        pf_format_equal(&g->step->acc.format, &s->acc.format) &&
        same_order(e->problem, &g->order, &q->order) &&
        same_declared(g->declared, q->declared) && g->widened == q->widened)
      return i;
  }
  pf_group *g = &e->group[e->groups];
  g->step = s;
  g->order = q->order;
  g->x = *x;
  g->y = *y;
  g->declared = q->declared;
  g->widened = q->widened;
  g->narrow = x->precision <= 24 && y->precision <= 24 && s->acc.format.precision <= 26;
  g->element = -1;
  return e->groups++;
}

static pf_status prepare_sum(pf_encloser *e, pf_prepared *q, int i)
{
  const pf_problem *p = e->problem;
  const pf_step *s = &q->plan->step[i];
  const pf_vectors x = pf_vectors_of(e, q, s->a), y = pf_vectors_of(e, q, s->b);
  if (s->acc.sum.order == PF_ANY_ORDER && q->declared)
    return pf_declared_prepare(e, q, i);
  if (s->acc.sum.order == PF_ANY_ORDER) {
    q->group[i] = pf_group_of(e, q, s, &x, &y);
    return PF_OK;
  }
  if (q->given && q->given[i]) {
    q->replayed[i] = q->given[i];
    return PF_OK;
  }
  double *results = pf_alloc_array(e->arena, (size_t)p->shape.outputs, sizeof *results);
  if (!results)
    return PF_NO_MEMORY;
  pf_reference_step(p, s, &s->acc.sum, x.values, y.values, e->arena, results);
  q->replayed[i] = results;
  return PF_OK;
}

static pf_status prepare(pf_encloser *e, pf_prepared *q)
{
  for (int i = 0; i < q->plan->count; i++) {
    const pf_step *s = &q->plan->step[i];
    bool x_side;
    pf_status status = PF_OK;
    q->replayed[i] = NULL;
    if (s->kind <= PF_MULSUM)
      status = prepare_sum(e, q, i);
    else if (pf_plan_is_operand(q->plan, i, &x_side))
      status = prepare_operand(e, q, i, x_side);
    if (status)
      return status;
  }
  return PF_OK;
}

/* Steps that change nothing stand for what they read. */
static int through_exact(const pf_prepared *q, int ref)
{
  while (ref >= PF_REF_STEP && q->plan->exact[ref - PF_REF_STEP])
    ref = q->plan->step[ref - PF_REF_STEP].a;
  return ref;
}

/* Do two results come about in ways that the enclosure cannot tell apart? */
static bool alike(const pf_prepared *p, int p_ref, const pf_prepared *q, int q_ref)
{
  p_ref = through_exact(p, p_ref);
  q_ref = through_exact(q, q_ref);
  if (p_ref < PF_REF_STEP || q_ref < PF_REF_STEP)
    return p_ref == q_ref;
  const int i = p_ref - PF_REF_STEP, j = q_ref - PF_REF_STEP;
  const pf_step *s = &p->plan->step[i], *t = &q->plan->step[j];
  const bool sum = s->kind <= PF_MULSUM;
  if (sum != (t->kind <= PF_MULSUM) || !pf_format_equal(&s->out, &t->out))
    return false;
  /* what is declared may have taken addends out of the group, or another format into it */
  if (sum)
    return !p->replayed[i] && !q->replayed[j] && p->group[i] == q->group[j] && s->c == t->c &&
           s->bias == t->bias && pf_format_equal(&s->acc.format, &t->acc.format);
  return s->kind == t->kind && alike(p, s->a, q, t->a) && alike(p, s->b, q, t->b);
}

static int last_result(const pf_prepared *q)
{
  return PF_REF_STEP + q->plan->count - 1;
}

static bool same_answers(const pf_problem *p, const pf_prepared *a, const pf_prepared *b)
{
  return pf_plan_equal(a->plan, b->plan) && same_order(p, &a->order, &b->order) &&
         same_declared(a->declared, b->declared) && a->widened == b->widened;
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

pf_ask pf_ask_of(const pf_plan *plan, const pf_engine *engine, const pf_run *run)
{
  pf_ask ask = {.plan = plan, .order = engine->sum};
  if (!run || !run->declared)
    return ask;
  ask.order = run->declared->sum;
  ask.widened = run->widened;
  if (pf_declared_matters(run->declared))
    ask.declared = run->declared;
  return ask;
}

bool pf_encloser_alike(const pf_encloser *e, int ask, int other)
{
  const int a = e->ask[ask].same_as, b = e->ask[other].same_as;
  return (a >= 0 ? a : ask) == (b >= 0 ? b : other);
}

pf_status pf_encloser_new(const pf_problem *p, const pf_oracle *oracle, const pf_ask *asks,
                          int count, pf_arena *a, pf_encloser **out, const char **why)
{
  *why = uncovered(p);
  if (*why)
    return PF_UNSUPPORTED;
  int most = count;  /* what is declared may take two groups a step */
  for (int i = 0; i < count; i++)
    most += asks[i].declared != NULL;
  pf_encloser *e = pf_alloc_raw(a, sizeof *e);
  pf_prepared *prepared = pf_alloc_array_raw(a, (size_t)count, sizeof *prepared);
  pf_group *groups = pf_alloc_array_raw(a, (size_t)most * PF_MAX_STEPS, sizeof *groups);
  if (!e || !prepared || !groups)
    return PF_NO_MEMORY;
  *e = (pf_encloser){.problem = p, .oracle = oracle, .arena = a, .count = count, .ask = prepared,
                     .group = groups};
  e->x = (pf_vectors){p->x_vectors, pf_lines_new(p->x_vectors, p->x_lines, p->shape.k, a),
                      pf_format_of(p->what->operand[PF_X].dtype)->precision};
  e->y = (pf_vectors){p->y_vectors, pf_lines_new(p->y_vectors, p->y_lines, p->shape.k, a),
                      pf_format_of(p->what->operand[PF_Y].dtype)->precision};
  if (!e->x.lines || !e->y.lines)
    return PF_NO_MEMORY;
  for (int i = 0; i < count; i++) {
    pf_prepared *q = &prepared[i];
    q->plan = asks[i].plan;
    q->order = asks[i].order;
    q->declared = asks[i].declared;
    q->widened = q->declared && asks[i].widened;
    q->given = asks[i].replayed;
    q->same_as = -1;
    for (int j = 0; j < i && q->same_as < 0; j++)
      if (prepared[j].same_as < 0 && same_answers(p, &prepared[j], q))
        q->same_as = j;
    if (q->same_as >= 0)
      continue;
    PF_TRY(prepare(e, q));
    for (int j = 0; j < i && q->same_as < 0; j++)
      if (prepared[j].same_as < 0 && alike(&prepared[j], last_result(&prepared[j]), q,
                                           last_result(q)))
        q->same_as = j;
  }
  *out = e;
  return pf_block_prepare(e);
}
