/* The interval walk: from the enclosed sum through each later step of a plan. */
#include "enclosure.h"

#include <math.h>

#include "enclosure_parts.h"
#include "interpret.h"

/* What a rounding to f adds to the radius: half an ulp of the largest value in reach, or half the
   smallest subnormal. */
double pf_rounding_radius(const pf_encloser *e, const pf_format *f, const pf_set *s, double radius)
{
  if (e->inside)
    return 0;
  const double most = pf_set_has_finite(s) ? fmax(fabs(s->lo), fabs(s->hi)) : 0;
  return radius + fmax(pf_unit_roundoff(f) * most, ldexp(1, pf_quantum(f) - 1));
}

static pf_enclosure value_of(const pf_encloser *e, int ref, int64_t element,
                             const pf_enclosure *step)
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
  a.radius = pf_rounding_radius(e, &s->out, &a.set, a.radius);
  return a;
}

static pf_enclosure walk(pf_encloser *e, const pf_prepared *q, int64_t element)
{
  pf_enclosure step[PF_MAX_STEPS];
  for (int i = 0; i < q->plan->count; i++) {
    const pf_step *s = &q->plan->step[i];
    bool x_side;
    if (s->kind <= PF_MULSUM) {
      step[i] = pf_enclose_sum(e, q, i, element);
      if (q->declared && !q->replayed[i]) {
        pf_declared_round(e, q, i, &step[i]);
      } else if (!q->replayed[i] && !pf_format_equal(&s->out, &s->acc.format)) {
        step[i].set = pf_set_round(&s->out, &step[i].set);
        step[i].radius = pf_rounding_radius(e, &s->out, &step[i].set, step[i].radius);
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
