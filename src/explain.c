/* Errors step by step.

   A step's own error is what it computed minus the exact result of the same operation on what was
   computed before it.  Sums, casts, additions and scalings are all sums of products, so the oracle
   gives each of them exactly and the distance rounded up.  The errors of the steps of a row do not
   add up to its whole error: later steps pass on what earlier ones did, and signs may cancel. */
#include "explain.h"

#include <math.h>

#include "engine_reference.h"
#include "special.h"

/* What measuring a step needs. */
typedef struct pf_measuring {
  const pf_problem *problem;
  const pf_plan *plan;
  const pf_run *run;
  const pf_exact_results *exact;
  const pf_oracle *oracle;
  pf_arena *arena;
  const pf_format *out;  /* of the row's result: what ulps are of */
} pf_measuring;

pf_status pf_exact_results_of(const pf_problem *p, const pf_oracle *oracle, pf_arena *a,
                              pf_exact_results *out, const char **why)
{
  const size_t n = (size_t)p->shape.outputs;
  double *value = pf_alloc_array(a, n, sizeof *value);
  double *rest = pf_alloc_array(a, n, sizeof *rest);
  double *magnitude = pf_alloc_array(a, n, sizeof *magnitude);
  pf_encloser *e;
  *why = NULL;
  if (!value || !rest || !magnitude)
    return PF_NO_MEMORY;
  PF_TRY(pf_encloser_new(p, oracle, NULL, 0, a, &e, why));
  for (size_t i = 0; i < n; i++) {
    bool special;
    magnitude[i] = pf_exact(e, (int64_t)i, &special);
    value[i] = special ? NAN : oracle->nearest(oracle->state, pf_format_of(PF_F64));
    rest[i] = isfinite(value[i]) ? oracle->below(oracle->state, value[i]) : 0;
  }
  *out = (pf_exact_results){.value = value, .rest = rest, .magnitude = magnitude};
  return PF_OK;
}

/* --- the greatest share -------------------------------------------------------------------- */

pf_worst_error pf_worst_error_start(void)
{
  return (pf_worst_error){.element = -1, .first_special = -1};
}

static void leave_out(pf_worst_error *w, int64_t element)
{
  if (!w->special++)
    w->first_special = element;
}

void pf_worst_error_take(pf_worst_error *w, const pf_format *out, int64_t element, double error,
                         double value, double magnitude)
{
  const double share = error / fmax(magnitude, pf_smallest_normal(out));
  if (w->element >= 0 && !(share > w->share))
    return;
  w->element = element;
  w->error = error;
  w->share = share;
  w->ulps = error / pf_ulp(out, value);
}

static void take(pf_worst_error *w, const pf_exact_results *exact, const pf_format *out,
                 int64_t element, double error)
{
  pf_worst_error_take(w, out, element, error, exact->value[element], exact->magnitude[element]);
}

static bool is_measurable(const pf_exact_results *exact, int64_t element)
{
  return isfinite(exact->value[element]) && isfinite(exact->magnitude[element]);
}

/* a - b, away from zero unless it is exact (Knuth's TwoSum). */
static double difference_outward(double a, double b)
{
  const double d = a - b, bb = a - d;
  const double rest = (a - (d + bb)) + (bb - b);
  return d == 0 || rest == 0 || (rest > 0) != (d > 0) ? d : nextafter(d, copysign(INFINITY, d));
}

pf_worst_error pf_result_error(const pf_problem *p, const pf_exact_results *exact,
                               const pf_format *out, const double *got)
{
  pf_worst_error w = pf_worst_error_start();
  for (int64_t i = 0; i < p->shape.outputs; i++) {
    if (!isfinite(got[i]) || !is_measurable(exact, i)) {
      leave_out(&w, i);
      continue;
    }
    const double d = difference_outward(got[i], exact->value[i]);
    take(&w, exact, out, i, fabs(difference_outward(d, exact->rest[i])));
  }
  return w;
}

/* --- steps --------------------------------------------------------------------------------- */

/* What an operand, c, bias or an earlier step holds at an output element; NULL where the engine
   kept it to itself. */
static const double *values_of(const pf_measuring *m, int ref)
{
  return ref == PF_REF_C      ? m->problem->c_values
         : ref == PF_REF_BIAS ? m->problem->bias_values
         : ref >= PF_REF_STEP ? m->run->step[ref - PF_REF_STEP]
                              : NULL;
}

static const double *vectors_of(const pf_measuring *m, int ref, bool x_side)
{
  if (ref >= PF_REF_STEP)
    return (x_side ? m->run->x_vectors : m->run->y_vectors)[ref - PF_REF_STEP];
  return x_side ? m->problem->x_vectors : m->problem->y_vectors;
}

/* Is everything that the step reads at hand? */
static bool has_inputs(const pf_measuring *m, const pf_step *s)
{
  if (s->kind <= PF_MULSUM)
    return vectors_of(m, s->a, true) && vectors_of(m, s->b, false);
  return values_of(m, s->a) && (s->kind != PF_ADD || values_of(m, s->b));
}

/* An elementwise step as a sum of at most two products in x and y. */
static pf_sum elementwise_terms(const pf_measuring *m, const pf_step *s, int64_t element,
                                double x[2], double y[2])
{
  const bool scales = s->kind == PF_SCALE;
  const bool reads_nothing = scales && s->b == PF_REF_BETA && m->problem->what->beta == 0;
  x[0] = values_of(m, s->a)[element];
  x[1] = s->kind == PF_ADD ? values_of(m, s->b)[element] : 0;
  y[0] = scales ? pf_step_factor(s, m->problem, element) : 1;
  y[1] = 1;
  return (pf_sum){.k = reads_nothing ? 0 : s->kind == PF_ADD ? 2 : 1, .x = x, .y = y, .alpha = 1};
}

static pf_worst_error step_error(const pf_measuring *m, int i)
{
  const pf_step *s = &m->plan->step[i];
  const double *got = m->run->step[i];
  pf_worst_error w = pf_worst_error_start();
  double x[2], y[2];
  for (int64_t e = 0; e < m->problem->shape.outputs; e++) {
    const pf_sum terms =
        s->kind <= PF_MULSUM
            ? pf_step_terms(m->problem, s, vectors_of(m, s->a, true), vectors_of(m, s->b, false), e)
            : elementwise_terms(m, s, e, x, y);
    if (!isfinite(got[e]) || !is_measurable(m->exact, e) || pf_sum_is_special(&terms)) {
      leave_out(&w, e);
      continue;
    }
    pf_truth truth;
    m->oracle->sum(m->oracle->state, &terms, &truth);
    take(&w, m->exact, m->out, e, m->oracle->distance(m->oracle->state, got[e]));
  }
  return w;
}

/* Is the operand that step i gives scaled already, by i or before? */
static bool is_scaled(const pf_plan *plan, int i)
{
  const pf_step *s = &plan->step[i];
  return s->kind == PF_SCALE || (s->a >= PF_REF_STEP && is_scaled(plan, s->a - PF_REF_STEP));
}

/* By how much step i moves the scaled operand.  All exact in double: a product of 24 bits each, the
   error of rounding it, and that of a cast times a scale that is still to come. */
static pf_status operand_moves(const pf_measuring *m, int i, bool x_side, const double **out)
{
  const pf_problem *p = m->problem;
  const pf_scales *scales = x_side ? &p->x_scales : &p->y_scales;
  const bool scales_now = m->plan->step[i].kind == PF_SCALE;
  const bool scales_later = !is_scaled(m->plan, i);
  const int64_t lines = x_side ? p->x_lines : p->y_lines, k = p->shape.k;
  const double *before = vectors_of(m, m->plan->step[i].a, x_side);
  const double *after = vectors_of(m, PF_REF_STEP + i, x_side);
  double *moved = pf_alloc_array(m->arena, (size_t)(lines * k), sizeof *moved);
  if (!moved)
    return PF_NO_MEMORY;
  for (int64_t j = 0; j < lines * k; j++) {
    const double scale = pf_scale_at(scales, j / k, j % k);
    moved[j] = (after[j] - (scales_now ? scale : 1) * before[j]) * (scales_later ? scale : 1);
  }
  *out = moved;
  return PF_OK;
}

/* A cast of x or y moves every sum by that of (cast - operand) times the other operand. */
static pf_status operand_error(const pf_measuring *m, int i, bool x_side, pf_worst_error *out)
{
  const pf_problem *p = m->problem;
  const pf_step all = {.kind = PF_MATMUL, .alpha = p->has_c};
  const double *moved;
  PF_TRY(operand_moves(m, i, x_side, &moved));
  *out = pf_worst_error_start();
  for (int64_t e = 0; e < p->shape.outputs; e++) {
    const pf_sum terms = pf_step_terms(p, &all, x_side ? moved : p->x_scaled,
                                       x_side ? p->y_scaled : moved, e);
    if (!is_measurable(m->exact, e) || pf_sum_is_special(&terms)) {
      leave_out(out, e);
      continue;
    }
    pf_truth truth;
    m->oracle->sum(m->oracle->state, &terms, &truth);
    take(out, m->exact, m->out, e, m->oracle->distance(m->oracle->state, 0));
  }
  return PF_OK;
}

/* A cast to a format that holds every value adds nothing, special values included. */
static pf_worst_error no_error(const pf_problem *p)
{
  pf_worst_error w = pf_worst_error_start();
  w.element = p->shape.outputs ? 0 : -1;
  return w;
}

static pf_status explain_step(const pf_measuring *m, int i, pf_explanation *out)
{
  bool x_side;
  out->step[i] = pf_worst_error_start();
  out->known[i] = true;
  if (m->plan->exact[i])
    out->step[i] = no_error(m->problem);
  else if (pf_plan_is_operand(m->plan, i, &x_side))
    return operand_error(m, i, x_side, &out->step[i]);
  else if (!m->run->step[i] || !has_inputs(m, &m->plan->step[i]))
    out->known[i] = false;
  else
    out->step[i] = step_error(m, i);
  return PF_OK;
}

/* What the row allows where its result is farthest out. */
static pf_status allowed_there(const pf_result *r, const pf_measuring *m, int64_t element,
                               pf_enclosure *out)
{
  const pf_ask ask = pf_ask_of(r->plan, r->engine, r->run);
  const char *why;
  pf_encloser *e;
  PF_TRY(pf_encloser_new(m->problem, m->oracle, &ask, 1, m->arena, &e, &why));
  pf_enclose(e, element, out);
  return PF_OK;
}

pf_status pf_explain(const pf_result *r, const pf_exact_results *exact, const pf_oracle *oracle,
                     pf_arena *a, pf_explanation *out)
{
  const pf_measuring m = {.problem = r->problem, .plan = r->plan, .run = r->run, .exact = exact,
                          .oracle = oracle, .arena = a,
                          .out = &r->plan->step[r->plan->count - 1].out};
  *out = (pf_explanation){.largest = -1};
  out->total = pf_result_error(m.problem, exact, m.out, r->run->got);
  if (out->total.element >= 0)
    PF_TRY(allowed_there(r, &m, out->total.element, &out->allowed));
  for (int i = 0; i < r->plan->count; i++) {
    PF_TRY(explain_step(&m, i, out));
    if (out->step[i].share > (out->largest < 0 ? 0 : out->step[out->largest].share))
      out->largest = i;
  }
  return PF_OK;
}
