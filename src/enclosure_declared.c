/* Engines that declare more than an order.

     flush_inputs   v and S of operands with subnormals zeroed; where it is only possible the hull of
                    both intervals.  beta * c, bias and products with alpha may be missing where one
                    of their factors is subnormal.
     flush_sums     bound.c
     flush_outputs  what lies between 0 and the smallest normal number of the stored format may be 0
     accumulator    another format for the bound
     c_last         the sum of products, rounded, then beta * c and the bias as separate additions;
                    not used where anything inside is flushed
     zero_skip, alpha_zero  special.c
     s32, f8        saturating sums and stores

   They widen what is allowed, or shift it; nothing here runs for engines that declare nothing. */
#include <math.h>

#include "directed.h"
#include "enclosure_parts.h"

/* --- preparing ----------------------------------------------------------------------------- */

static const pf_format *operand_format(const pf_encloser *e, const pf_prepared *q, int ref)
{
  const pf_case *c = e->problem->what;
  if (ref >= PF_REF_STEP)
    return pf_format_of(q->plan->step[ref - PF_REF_STEP].storage);
  return pf_format_of(c->operand[ref == PF_REF_X ? PF_X : PF_Y].dtype);
}

static bool is_subnormal(double v, double normal)
{
  return v != 0 && fabs(v) < normal;
}

/* The vectors with subnormals zeroed; the same where there are none. */
static pf_status flush_vectors(pf_encloser *e, double normal, bool x_side, const pf_vectors *from,
                               pf_vectors *to)
{
  const pf_problem *p = e->problem;
  const int64_t k = p->shape.k, lines = x_side ? p->x_lines : p->y_lines;
  int64_t first = 0;
  *to = *from;
  while (first < lines * k && !is_subnormal(from->values[first], normal))
    first++;
  if (first == lines * k)
    return PF_OK;
  double *values = pf_alloc_array(e->arena, (size_t)(lines * k), sizeof *values);
  if (!values)
    return PF_NO_MEMORY;
  for (int64_t i = 0; i < lines * k; i++)
    values[i] = is_subnormal(from->values[i], normal) ? 0 : from->values[i];
  to->values = values;
  to->lines = pf_lines_new(values, lines, k, e->arena);
  return to->lines ? PF_OK : PF_NO_MEMORY;
}

static bool adds_c_last(const pf_declared *d, const pf_step *s)
{
  return d->c_last && (s->c || s->bias) && !d->flush_inputs && !d->flush_sums &&
         !pf_is_integer(&s->acc.format);
}

/* The step as the engine takes it. */
static pf_step *own_step(pf_encloser *e, const pf_prepared *q, int i)
{
  const pf_declared *d = q->declared;
  pf_step *s = pf_alloc_raw(e->arena, sizeof *s);
  if (!s)
    return NULL;
  *s = q->plan->step[i];
  if (adds_c_last(d, s))
    s->c = s->bias = false;
  if (d->has_accumulator && !pf_is_integer(&s->acc.format))
    s->acc.format = s->acc.product = *pf_format_of(d->accumulator);
  return s;
}

pf_status pf_declared_prepare(pf_encloser *e, pf_prepared *q, int i)
{
  const pf_step *given = &q->plan->step[i], *s = own_step(e, q, i);
  const pf_vectors x = pf_vectors_of(e, q, given->a), y = pf_vectors_of(e, q, given->b);
  const pf_format *wide = q->widened ? &given->acc.format : NULL;
  const pf_format *x_format = wide ? wide : operand_format(e, q, given->a);
  const pf_format *y_format = wide ? wide : operand_format(e, q, given->b);
  pf_vectors flat_x, flat_y;
  q->flushed[i] = -1;
  if (!s)
    return PF_NO_MEMORY;
  if (!q->declared->flush_inputs) {
    q->group[i] = pf_group_of(e, q, s, &x, &y);
    return PF_OK;
  }
  PF_TRY(flush_vectors(e, pf_smallest_normal(x_format), true, &x, &flat_x));
  PF_TRY(flush_vectors(e, pf_smallest_normal(y_format), false, &y, &flat_y));
  const bool changed = flat_x.values != x.values || flat_y.values != y.values;
  const bool always = q->declared->flush_inputs == PF_DOES;
  q->group[i] = pf_group_of(e, q, s, always ? &flat_x : &x, always ? &flat_y : &y);
  if (changed && !always)
    q->flushed[i] = pf_group_of(e, q, s, &flat_x, &flat_y);
  return PF_OK;
}

/* --- blocks -------------------------------------------------------------------------------- */

static bool has_special(const pf_vectors *v, int64_t lines)
{
  for (int64_t i = 0; i < lines; i++)
    if (pf_line_of(v, i)->special)
      return true;
  return false;
}

static double normal_of(const pf_encloser *e, const pf_group *g, pf_role role)
{
  return pf_smallest_normal(g->widened ? &g->step->acc.format
                                       : pf_format_of(e->problem->what->operand[role].dtype));
}

/* What flushing may take from a sum or an addend, generously. */
static double flushed_most(const pf_encloser *e, const pf_prepared *q, int i)
{
  const pf_declared *d = q->declared;
  const pf_group *g = &e->group[q->group[i]];
  double most = 0;
  if (d->flush_sums)
    most = 2 * ((double)e->problem->shape.k + 2) * pf_smallest_normal(&g->step->acc.format);
  if (d->flush_inputs && g->step->c)
    most += fabs(e->problem->what->beta) * normal_of(e, g, PF_C);
  if (d->flush_inputs && g->step->bias)
    most += normal_of(e, g, PF_BIAS);
  return most;
}

/* What the plain sum's subset says must hold of the wider set, too: that it is closed, and not
   weak. */
static bool sum_in_blocks(const pf_encloser *e, const pf_prepared *q, int i)
{
  const pf_declared *d = q->declared;
  const pf_group *g = &e->group[q->group[i]];
  const bool flushes = d->flush_inputs || d->flush_sums;
  /* what is left of flushed operands may be weak where the plain sum is not */
  if (adds_c_last(d, &q->plan->step[i]) || q->flushed[i] >= 0)
    return false;
  /* what is rounded on its way into or out of another accumulator */
  if (d->has_accumulator && (q->widened || g->step->c || g->step->bias))
    return false;
  if (flushes && g->step->alpha && e->problem->what->alpha != 1)
    return false;
  if (flushes && g->step->c &&
      is_subnormal(e->problem->what->beta, pf_smallest_normal(&g->step->acc.format)))
    return false;
  /* a range that what is flushed is no small part of */
  if (flushes && flushed_most(e, q, i) > g->step->acc.format.max * 0x1p-12)
    return false;
  return !flushes ||
         (!has_special(&g->x, e->problem->x_lines) && !has_special(&g->y, e->problem->y_lines));
}

bool pf_declared_in_blocks(const pf_encloser *e, const pf_prepared *q)
{
  const pf_declared *d = q->declared;
  if (d->zero_skip || d->alpha_zero || d->s32 || d->f8 || d->flush_outputs == PF_DOES)
    return false;
  for (int i = 0; i < q->plan->count; i++)
    if (q->plan->step[i].kind <= PF_MULSUM && !q->replayed[i] && !sum_in_blocks(e, q, i))
      return false;
  return true;
}

void pf_declared_blank(const pf_encloser *e, const pf_prepared *q, int i, int n, pf_span *span)
{
  const double most = flushed_most(e, q, i);
  for (int j = 0; j < n && most > 0; j++)
    if (fmax(fabs(span->lo[j]), fabs(span->hi[j])) <= 4 * most)
      span->lo[j] = span->hi[j] = NAN;
}

double pf_declared_gap(const pf_encloser *e, const pf_prepared *q, int i)
{
  const pf_step *s = &q->plan->step[i];
  const double stored = pf_smallest_normal(q->widened ? &s->acc.format : &s->out);
  return 2 * flushed_most(e, q, i) + (q->declared->flush_outputs ? 2 * stored : 0);
}

/* --- sums ---------------------------------------------------------------------------------- */

/* What rounding an addend to a narrower accumulator costs, generously. */
static double narrowed_addend(const pf_encloser *e, const pf_group *g, pf_role role, double v)
{
  const pf_format *acc = &g->step->acc.format;
  if (v == 0 || !isfinite(v) ||
      pf_format_contains(acc, pf_format_of(e->problem->what->operand[role].dtype)))
    return 0;
  return pf_up(2 * pf_unit_roundoff(acc) * fabs(v)) + ldexp(1, pf_quantum(acc));
}

static double narrowed_addends(const pf_encloser *e, const pf_group *g, const pf_sum *sum)
{
  if (!g->declared->has_accumulator)
    return 0;
  const double c = sum->beta != 0 ? narrowed_addend(e, g, PF_C, sum->beta * sum->c) : 0;
  return pf_up(c + (g->step->bias ? narrowed_addend(e, g, PF_BIAS, sum->bias) : 0));
}

double pf_declared_lost(const pf_encloser *e, const pf_group *g, const pf_sum *sum,
                        const pf_truth *truth)
{
  const double normal = pf_smallest_normal(&g->step->acc.format);
  double lost = narrowed_addends(e, g, sum);
  if (!g->declared->flush_inputs)
    return lost;
  if (sum->beta != 0 && isfinite(sum->c) &&
      (is_subnormal(sum->c, normal_of(e, g, PF_C)) || is_subnormal(sum->beta, normal)))
    lost = pf_up(lost + pf_up(fabs(sum->beta * sum->c)));
  if (g->step->bias && is_subnormal(sum->bias, normal_of(e, g, PF_BIAS)))
    lost = pf_up(lost + fabs(sum->bias));
  if (is_subnormal(sum->alpha, normal)) {
    const double products = ldexp(truth->products, truth->scale);
    lost = pf_up(lost + pf_up(fabs(sum->alpha) * products));
  }
  return lost;
}

pf_enclosure pf_declared_integers(pf_encloser *e, const pf_group *g, const pf_sum *sum,
                                  const pf_truth *truth)
{
  const pf_format *wraps = &g->step->acc.format;
  pf_format saturates = *wraps;
  saturates.overflow = PF_OVERFLOW_SATURATE;
  const pf_set wrapped = pf_set_point(e->oracle->nearest(e->oracle->state, wraps));
  const pf_set clamped = pf_set_point(e->oracle->nearest(e->oracle->state, &saturates));
  const bool fits = truth->positive <= wraps->max && truth->negative <= -pf_lowest(wraps);
  const bool single = sum->k == 1 && fabs(sum->alpha) == 1 && sum->beta == 0 && sum->bias == 0;
  if (fits && !truth->scale)
    return (pf_enclosure){.set = wrapped};
  if (single)
    return (pf_enclosure){.set = g->declared->s32 == PF_OVERFLOWS_EITHER
                                     ? pf_set_hull(&wrapped, &clamped) : clamped};
  /* in which order it saturates decides: nothing is known */
  return (pf_enclosure){.set = {.lo = pf_lowest(wraps), .hi = wraps->max}, .weak = true};
}

/* beta * c, rounded or not. */
static pf_set scaled_c(const pf_format *f, double beta, double c)
{
  pf_set s = pf_set_point(pf_round_product(f, beta, c));
  if (fabs(beta) == 1 || !pf_set_has_finite(&s) || c == 0)
    return s;
  s.lo = pf_next_down(f, s.lo);
  s.hi = pf_next_up(f, s.hi);
  return s;
}

static void add_last(const pf_encloser *e, const pf_prepared *q, int i, int64_t element,
                     pf_enclosure *sum)
{
  const pf_problem *p = e->problem;
  const pf_step *s = &q->plan->step[i];
  const pf_format *f = &e->group[q->group[i]].step->acc.format;
  sum->whole = false;
  if (s->c && p->what->beta != 0) {
    const pf_set c = scaled_c(f, p->what->beta, p->c_values[element]);
    sum->set = pf_set_add(f, &sum->set, &c);
    sum->radius = pf_rounding_radius(e, f, &sum->set, sum->radius);
  }
  if (s->bias) {
    const pf_set bias = pf_set_point(p->bias_values[element]);
    sum->set = pf_set_add(f, &sum->set, &bias);
    sum->radius = pf_rounding_radius(e, f, &sum->set, sum->radius);
  }
}

pf_enclosure pf_declared_sum(pf_encloser *e, const pf_prepared *q, int i, int64_t element,
                             pf_enclosure sum)
{
  if (q->flushed[i] >= 0) {
    const pf_enclosure flat = pf_enclose_group(e, q->flushed[i], element);
    /* a subset of either would do, if both are known not to be weak */
    if (e->inside) {
      sum.set = pf_set_has_finite(&flat.set) ? sum.set : pf_set_empty();
      sum.whole = false;
      return sum;
    }
    sum.set = pf_set_hull(&sum.set, &flat.set);
    sum.radius = fmax(sum.radius, flat.radius);
    sum.weak |= flat.weak;
  }
  if (adds_c_last(q->declared, &q->plan->step[i]))
    add_last(e, q, i, element, &sum);
  return sum;
}

/* --- stores -------------------------------------------------------------------------------- */

static bool is_f8(pf_dtype t)
{
  return pf_dtype_of(t)->bytes == 1 && !pf_is_integer(pf_format_of(t));
}

static pf_set round_set(const pf_encloser *e, const pf_prepared *q, const pf_step *s,
                        const pf_set *set)
{
  const pf_overflows f8 = is_f8(s->storage) ? q->declared->f8 : PF_OVERFLOWS_USUAL;
  const pf_set usual = pf_set_round(&s->out, set);
  if (f8 == PF_OVERFLOWS_USUAL || (f8 == PF_OVERFLOWS_EITHER && e->inside))
    return usual;
  pf_format saturates = s->out;
  saturates.overflow = PF_OVERFLOW_SATURATE;
  const pf_set clamped = pf_set_round(&saturates, set);
  return f8 == PF_OVERFLOWS_SATURATE ? clamped : pf_set_hull(&usual, &clamped);
}

/* Flushing is monotone: the ends of what is certainly flushed go to 0; of what may be, those that
   widen. */
static void flush_set(pf_maybe flushes, double normal, bool inside, pf_set *s)
{
  if (!flushes || !pf_set_has_finite(s) || (flushes == PF_MAY && inside))
    return;
  const bool lo = is_subnormal(s->lo, normal), hi = is_subnormal(s->hi, normal);
  if (lo && (s->lo > 0 || flushes == PF_DOES))
    s->lo = 0;
  if (hi && (s->hi < 0 || flushes == PF_DOES))
    s->hi = 0;
}

void pf_declared_round(const pf_encloser *e, const pf_prepared *q, int i, pf_enclosure *sum)
{
  const pf_declared *d = q->declared;
  const pf_step *s = &q->plan->step[i];
  const pf_format *acc = &e->group[q->group[i]].step->acc.format;
  const pf_format *stored = q->widened ? &s->acc.format : &s->out;
  sum->whole &= !d->f8 && !d->flush_outputs;
  if (!pf_format_equal(stored, acc)) {
    sum->set = q->widened ? pf_set_round(stored, &sum->set) : round_set(e, q, s, &sum->set);
    sum->radius = pf_rounding_radius(e, stored, &sum->set, sum->radius);
  }
  flush_set(d->flush_outputs, pf_smallest_normal(stored), e->inside, &sum->set);
  if (d->flush_outputs && !e->inside)
    sum->radius += pf_smallest_normal(stored);
  if (q->widened && !pf_format_equal(&s->out, stored)) {
    sum->set = pf_set_round(&s->out, &sum->set);
    sum->radius = pf_rounding_radius(e, &s->out, &sum->set, sum->radius);
  }
}
