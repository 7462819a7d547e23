/* Which asks can be walked in blocks, and what their elements have in common. */
#include <math.h>

#include "bound.h"
#include "directed.h"
#include "enclosure_block_parts.h"
#include "interpret.h"

static bool integers_for_lanes(const pf_format *f, pf_block_format *to)
{
  if (f->overflow != PF_OVERFLOW_WRAP)
    return false;
  const double modulus = f->max - pf_lowest(f) + 1;
  *to = (pf_block_format){.modulus = modulus, .per_modulus = 1 / modulus, .lowest = pf_lowest(f)};
  return true;
}

static bool format_for_lanes(const pf_format *f, pf_block_format *to)
{
  if (pf_is_integer(f))
    return integers_for_lanes(f, to);
  if (f->rounding != PF_NEAREST_EVEN || (f->precision > 26 && f->precision != 53))
    return false;
  if (f->has_infinity && f->overflow == PF_OVERFLOW_NAN)
    return false;  /* overflow and infinity come to different things */
  *to = (pf_block_format){
    .shift = 53 - f->precision, .saturates = f->overflow == PF_OVERFLOW_SATURATE, .max = f->max,
    .smallest_normal = pf_smallest_normal(f), .most = f->max * (1 - pf_power(2 - f->precision)),
    .above = f->overflow == PF_OVERFLOW_INFINITY ? INFINITY : -INFINITY, .beyond = INFINITY,
  };
  if (to->saturates)
    to->most = f->max;
  if (to->shift)
    to->magic = 1.5 * pf_power(52 + pf_quantum(f));
  return true;
}

static void set_losses(const pf_group *g, const pf_sum *like, pf_block_rates *r)
{
  const double k = (double)like->k, rho0 = k > 1 ? (k - 1) * 0x1p-53 : 0;
  const double units = (k + 32) * 0x1p-53;
  r->rho = g->narrow ? rho0 * (1 + 0x1p-20) : 0;
  r->shrink = 1 - 8 * (g->narrow ? rho0 : units) - 0x1p-49;
  r->t_lost = g->narrow ? 0 : k * 0x1p-1073;
  r->alpha_loss = fabs(like->alpha) == 1 || like->alpha == 0 ? 0 : 0x1.8p-53;
  r->beta_loss = like->beta == 0 || fabs(like->beta) == 1 ? 0 : 0x1.8p-53;
}

/* What a sum may be off by without a word from any later rounding: a share of the least range. */
static double least_margin(const pf_encloser *e)
{
  double least = INFINITY;
  for (int i = 0; i < e->count; i++)
    for (int j = 0; j < e->ask[i].plan->count; j++) {
      const pf_format *f = &e->ask[i].plan->step[j].out;
      least = fmin(least, f->max * pf_power(-f->precision));
    }
  return least;
}

/* The last places of a few factors of about 1 are 2^-precision and less, their sum is about K. */
static bool mostly_rounds(const pf_group *g, int64_t k)
{
  const int bits = g->step->acc.format.precision - g->x.precision - g->y.precision;
  return k >= 32 && (double)k >= pf_power(bits);
}

static bool rates_of(const pf_encloser *e, const pf_group *g, pf_block_rates *r)
{
  const pf_format *acc = &g->step->acc.format;
  pf_sum like = {.k = e->problem->shape.k, .alpha = g->step->alpha ? e->problem->what->alpha : 1,
                 .beta = g->step->c ? e->problem->what->beta : 0};
  if (acc->rounding != PF_NEAREST_EVEN || (acc->precision > 26 && acc->precision != 53))
    return false;
  const bool scaled = like.k && fabs(like.alpha) != 1, none = like.alpha == 0;
  const double quantum = pf_power(pf_quantum(acc));
  r->alpha = like.alpha;
  r->abs_alpha = fabs(like.alpha);
  r->quantum = quantum;
  r->exact_scale = pf_power(acc->precision);
  r->max = acc->max;
  r->most_products = fmin(acc->max / 4, 0x1p900);
  r->most_exposed =
      scaled ? fmin(acc->max / 4 / fabs(like.alpha), least_margin(e) / quantum) : INFINITY;
  /* also where alpha is 0: K may be too great for it to tell that nothing overflows */
  r->unscaled = scaled ? pf_gamma((double)(pf_summation_depth(&g->order, like.k) + 2),
                                  pf_unit_roundoff(acc)) + (double)like.k * quantum / acc->max
                       : 0;
  r->no_products = none ? -1 : 0;
  r->scaled = scaled ? -1 : 0;
  r->plain_alpha = scaled && !none ? 0 : -1;
  r->one_product = like.k == 1 ? -1 : 0;
  r->narrow = g->narrow ? -1 : 0;
  r->bare = g->narrow && like.alpha == 1 && like.beta == 0 && !g->step->bias;
  r->rounds = r->bare && mostly_rounds(g, like.k);
  set_losses(g, &like, r);
  like.k = none ? 0 : like.k;
  r->relative[1] = 0;
  for (int with = 0; with <= g->step->bias; with++) {
    like.bias = with;
    const pf_bound_rates b =
        pf_bound_rates_of(acc, &g->order, g->x.precision, g->y.precision, &like);
    r->relative[with] = b.relative;
    const double times[2] = {b.underflows, b.underflows_fitting};
    for (int i = 0; i < 2; i++) {
      r->lost[i] = pf_down(times[i] / 2 * quantum);
      r->lost_most[i] = times[i] * quantum;
    }
  }
  return r->relative[g->step->bias] < 0.25 && r->unscaled < 0.5 && r->shrink > 0.5;
}

static bool is_small_integer(double v)
{
  return v == rint(v) && fabs(v) < 0x1p53;
}

/* Can the sums be taken modulo 2^64, and then modulo what the accumulator wraps at? */
static bool are_integers(const pf_encloser *e, const pf_step *s)
{
  const pf_case *c = e->problem->what;
  return s->acc.format.overflow == PF_OVERFLOW_WRAP && (!s->alpha || is_small_integer(c->alpha)) &&
         (!s->c || is_small_integer(c->beta));
}

/* How far an end of a step's subset may lie inside that of its exact interval, besides a share of the
   subset's width.  A rounding may take the two to different sides of a tie: that is a place, a share
   of what is normal, or the smallest subnormal. */
typedef struct pf_block_gap {
  double places;    /* share of the value */
  double absolute;  /* value units */
  double range;     /* the largest value */
} pf_block_gap;

static double largest_factor(const pf_problem *p, const pf_step *s)
{
  if (s->b == PF_REF_ALPHA || s->b == PF_REF_BETA)
    return fabs(s->b == PF_REF_ALPHA ? p->what->alpha : p->what->beta);
  const bool by_x = s->b == PF_REF_SCALE_X;
  double most = 0;
  for (int64_t i = 0; i < (by_x ? p->x_lines : p->y_lines); i++) {
    const double v = fabs(pf_scale_at(by_x ? &p->x_scales : &p->y_scales, i, 0));
    most = v > most && v < INFINITY ? v : most;  /* others are for the careful paths */
  }
  return most;
}

/* Of what a step reads; c and the bias are known. */
static pf_block_gap gap_of(const pf_block_gap *gap, int ref)
{
  return ref >= PF_REF_STEP ? gap[ref - PF_REF_STEP] : (pf_block_gap){0, 0, 0};
}

/* Before step i rounds to its format.  An addition may take the leading digits away. */
static pf_block_gap gap_before(const pf_encloser *e, const pf_prepared *q, int i,
                               const pf_block_gap *gap)
{
  const pf_step *s = &q->plan->step[i];
  if (s->kind <= PF_MULSUM) {
    const pf_block_rates *r = &e->block->sum[q->group[i]].rates;
    const bool scaled = !pf_is_integer(&s->acc.format) && r->scaled;
    return (pf_block_gap){.absolute = (double)e->problem->shape.k * 0x1p-1070 +
                                      (scaled ? r->most_exposed * r->quantum : 0) +
                                      (q->declared ? pf_declared_gap(e, q, i) : 0)};
  }
  pf_block_gap g = gap_of(gap, s->a);
  if (s->kind == PF_SCALE) {
    g.absolute *= largest_factor(e->problem, s);
  } else if (s->kind == PF_ADD) {
    const pf_block_gap b = gap_of(gap, s->b);
    g.absolute += b.absolute + g.places * g.range + b.places * b.range;
    g.places = 0;
  }
  return g;
}

/* From where on a subset [L, H] with L >= H / 2 tells that all of the exact interval overflows, whose
   near end may lie below L, and up to where that none of it does.  Of a sum the end does by twice the
   radius, 2 (K - 1) 2^-53 T and little more: the width, at most L, is twice E, which is at least
   2^-26 T where anything rounds, so that this is below K 2^-25 L.  With an alpha it does by what
   is exposed, too; and then by what steps since have made of it.  What is declared may
   widen it. */
static void bound_overflow(const pf_encloser *e, const pf_prepared *q, pf_block_plan *to)
{
  pf_block_gap gap[PF_MAX_STEPS];
  const double share = (double)e->problem->shape.k * 0x1p-24;
  for (int i = 0; i < q->plan->count; i++) {
    const pf_step *s = &q->plan->step[i];
    pf_block_format *f = &to->format[i];
    if (to->skipped[i]) {
      gap[i] = q->replayed[i] ? (pf_block_gap){0, 0, s->out.max} : gap_of(gap, s->a);
      continue;
    }
    gap[i] = gap_before(e, q, i, gap);
    const double slack = 0x1p-8 + share + gap[i].places + (q->declared ? 1 : 0);
    f->beyond = (s->out.max + pf_ulp(&s->out, s->out.max) / 2 + gap[i].absolute) * (1 + slack);
    if (!f->saturates)
      f->most -= s->out.max * (share + gap[i].places) + gap[i].absolute;
    if (s->kind > PF_MULSUM || !pf_format_equal(&s->out, &s->acc.format)) {
      gap[i].places += pf_power(2 - s->out.precision);
      gap[i].absolute += 2 * pf_power(pf_quantum(&s->out));
    }
    gap[i].range = s->out.max;
  }
}

/* Is the radius of a sum no small part of E, as it may be with factors in an accumulator of double's
   own precision, and then rounded? */
static bool is_blurred(const pf_encloser *e, const pf_prepared *q, int i)
{
  const pf_step *s = &q->plan->step[i];
  const pf_group *g = &e->group[q->group[i]];
  const pf_block_rates *r = &e->block->sum[q->group[i]].rates;
  return g->step->acc.format.precision > 26 && (r->alpha_loss > 0 || r->beta_loss > 0) &&
         (i + 1 < q->plan->count || !pf_format_equal(&s->out, &g->step->acc.format));
}

static bool plan_for_lanes(const pf_encloser *e, const pf_prepared *q, pf_block_plan *to)
{
  if (q->declared && !pf_declared_in_blocks(e, q))
    return false;
  for (int i = 0; i < q->plan->count; i++) {
    const pf_step *s = &q->plan->step[i];
    bool x_side;
    to->skipped[i] =
        q->plan->exact[i] || q->replayed[i] || pf_plan_is_operand(q->plan, i, &x_side);
    if (to->skipped[i])
      continue;
    if (s->kind <= PF_MULSUM &&
        (!e->block->sum[q->group[i]].possible ||
         (!pf_is_integer(&s->acc.format) && is_blurred(e, q, i))))
      return false;
    if (!format_for_lanes(&s->out, &to->format[i]))
      return false;
  }
  bound_overflow(e, q, to);
  return true;
}

pf_status pf_block_prepare(pf_encloser *e)
{
  pf_block *b = pf_alloc_raw(e->arena, sizeof *b);
  if (!b)
    return PF_NO_MEMORY;
  e->block = b;
  b->loops = pf_block_loops_of(pf_isa_best());
  b->plan = pf_alloc_array_raw(e->arena, (size_t)e->count, sizeof *b->plan);
  b->sum = pf_alloc_array_raw(e->arena, (size_t)e->groups, sizeof *b->sum);
  if (!b->plan || !b->sum)
    return PF_NO_MEMORY;
  for (int i = 0; i < e->groups; i++)
    b->sum[i].possible = pf_is_integer(&e->group[i].step->acc.format)
                             ? are_integers(e, e->group[i].step)
                             : rates_of(e, &e->group[i], &b->sum[i].rates);
  for (int i = 0; i < e->count; i++)
    if (e->ask[i].same_as < 0)
      b->plan[i].possible = plan_for_lanes(e, &e->ask[i], &b->plan[i]);
  return PF_OK;
}

void pf_encloser_restrict(pf_encloser *e, pf_isa isa)
{
  e->block->loops = pf_block_loops_of(isa);
}
