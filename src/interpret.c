/* The interpreter, executing.  Enclosing and explaining walk the same plans (enclosure.c,
   explain.c).
   Elementwise steps work on doubles, rounded once to the step's format. */
#include "interpret.h"

#include <string.h>

#include "control.h"
#include "legalise.h"
#include "rounding.h"

typedef struct pf_machine {
  const pf_problem *problem;
  const pf_plan *plan;
  const pf_engine *engine;
  pf_arena *arena;
  pf_run *run;
  pf_call call;
  pf_answer answer;
  pf_output out;     /* of the call in hand */
  pf_matrix in_place;
} pf_machine;

/* --- operands ------------------------------------------------------------------------------ */

bool pf_plan_is_operand(const pf_plan *plan, int step, bool *x_side)
{
  int ref = PF_REF_STEP + step;
  while (ref >= PF_REF_STEP && (plan->step[ref - PF_REF_STEP].kind == PF_CAST ||
                                plan->step[ref - PF_REF_STEP].kind == PF_SCALE))
    ref = plan->step[ref - PF_REF_STEP].a;
  *x_side = ref == PF_REF_X;
  return ref == PF_REF_X || ref == PF_REF_Y;
}

static void scale_vectors(const pf_problem *p, const pf_format *f, bool x_side, const double *from,
                          double *to)
{
  const pf_scales *s = x_side ? &p->x_scales : &p->y_scales;
  const int64_t lines = x_side ? p->x_lines : p->y_lines, k = p->shape.k;
  for (int64_t i = 0; i < lines; i++)
    for (int64_t j = 0, end; j < k; j = end) {
      const double scale = pf_scale_at(s, i, j);
      end = s->block < k - j ? j + s->block : k;
      for (int64_t l = j; l < end; l++)
        to[i * k + l] = scale;
    }
  pf_round_products(f, to, from, lines * k, to);
}

pf_status pf_cast_vectors(const pf_problem *p, const pf_plan *plan, int step, const double *from,
                          pf_arena *a, const double **out)
{
  bool x_side;
  *out = from;
  if (plan->exact[step])
    return PF_OK;
  pf_plan_is_operand(plan, step, &x_side);
  const int64_t n = (x_side ? p->x_lines : p->y_lines) * p->shape.k;
  double *to = pf_alloc_array_raw(a, (size_t)n, sizeof *to);
  if (!to)
    return PF_NO_MEMORY;
  const pf_format *f = &plan->step[step].out;
  if (plan->step[step].kind == PF_SCALE)
    scale_vectors(p, f, x_side, from, to);
  else
    pf_round_each(f, from, n, to);
  *out = to;
  return PF_OK;
}

static pf_status cast_operand(pf_machine *m, int i, bool x_side)
{
  const pf_problem *p = m->problem;
  const int from = m->plan->step[i].a;
  const double **vectors = x_side ? m->run->x_vectors : m->run->y_vectors;
  const double *source = from >= PF_REF_STEP ? vectors[from - PF_REF_STEP]
                         : x_side            ? p->x_vectors
                                             : p->y_vectors;
  PF_TRY(pf_cast_vectors(p, m->plan, i, source, m->arena, &vectors[i]));
  if (m->engine->reads_vectors)
    return PF_OK;
  pf_matrix *view = pf_alloc(m->arena, sizeof *view);
  if (!view)
    return PF_NO_MEMORY;
  m->call.value[PF_REF_STEP + i] = view;
  m->call.y_side |= x_side ? 0 : (uint32_t)1 << i;
  return pf_lay_out(p, m->plan->step[i].storage, x_side, vectors[i], m->arena, view);
}

/* --- elementwise steps --------------------------------------------------------------------- */

double pf_step_factor(const pf_step *s, const pf_problem *p, int64_t element)
{
  const int64_t column = element % p->shape.n, row = element / p->shape.n % p->shape.m;
  const int64_t b = element / p->shape.n / p->shape.m;
  switch (s->b) {
  case PF_REF_ALPHA: return p->what->alpha;
  case PF_REF_SCALE_X: return pf_scale_at(&p->x_scales, p->x_line[b] + row, 0);
  case PF_REF_SCALE_Y: return pf_scale_at(&p->y_scales, p->y_line[b] + column, 0);
  default: return p->what->beta;
  }
}

/* What a SCALE multiplies by at every output element. */
static void factors_of(const pf_step *s, const pf_problem *p, double *to)
{
  const int64_t rows = p->shape.batches * p->shape.m, columns = p->shape.n;
  const bool by_column = s->b == PF_REF_SCALE_Y;
  for (int64_t row = 0; row < rows && columns; row++) {
    const double same = pf_step_factor(s, p, row * columns);
    for (int64_t column = 0; column < columns; column++)
      *to++ = by_column && column ? pf_step_factor(s, p, row * columns + column) : same;
  }
}

/* One elementwise step on the results a and b of others; b may be NULL. */
static void apply(const pf_step *s, const pf_problem *p, const double *a, const double *b,
                  double *to)
{
  const int64_t n = p->shape.outputs;
  if (s->kind == PF_CAST) {
    pf_round_each(&s->out, a, n, to);
  } else if (s->kind == PF_ADD) {
    pf_round_sums(&s->out, a, b, n, to);
  } else if (s->b == PF_REF_BETA && p->what->beta == 0) {
    memset(to, 0, (size_t)n * sizeof *to);
  } else {
    factors_of(s, p, to);
    pf_round_products(&s->out, to, a, n, to);
  }
}

static const double *values_of(const pf_machine *m, int ref)
{
  return ref == PF_REF_C      ? m->problem->c_values
         : ref == PF_REF_BIAS ? m->problem->bias_values
         : ref >= PF_REF_STEP ? m->run->step[ref - PF_REF_STEP]
                              : NULL;
}

static pf_status run_elementwise(pf_machine *m, int i)
{
  const pf_step *s = &m->plan->step[i];
  const int64_t n = m->problem->shape.outputs;
  const double *a = values_of(m, s->a), *b = values_of(m, s->b);
  if (m->plan->exact[i]) {
    m->run->step[i] = a;
    return PF_OK;
  }
  double *to = pf_alloc_array_raw(m->arena, (size_t)n, sizeof *to);
  if (!to)
    return PF_NO_MEMORY;
  apply(s, m->problem, a, b, to);
  m->run->step[i] = to;
  return PF_OK;
}

/* --- the engine's steps -------------------------------------------------------------------- */

typedef struct pf_copies { void *copy[PF_ROLE_COUNT]; } pf_copies;

static pf_status copy_operands(const pf_machine *m, pf_copies *c)
{
  for (int r = 0; r < PF_OUT; r++) {
    const size_t n = m->problem->storage_bytes[r];
    c->copy[r] = n ? pf_alloc_raw(m->arena, n) : NULL;
    if (n && !c->copy[r])
      return PF_NO_MEMORY;
    if (n)
      memcpy(c->copy[r], m->problem->storage[r], n);
  }
  return PF_OK;
}

/* Compares, and puts back what was changed so that later runs see the case. */
static bool operands_changed(const pf_machine *m, const pf_copies *c)
{
  bool changed = false;
  for (int r = 0; r < PF_OUT; r++) {
    const size_t n = m->problem->storage_bytes[r];
    if (n && memcmp(c->copy[r], m->problem->storage[r], n)) {
      memcpy(m->problem->storage[r], c->copy[r], n);
      changed = true;
    }
  }
  return changed;
}

static const double *vectors_of(const pf_machine *m, int ref, bool x_side)
{
  if (ref >= PF_REF_STEP)
    return (x_side ? m->run->x_vectors : m->run->y_vectors)[ref - PF_REF_STEP];
  return x_side ? m->problem->x_vectors : m->problem->y_vectors;
}

/* An output for the call's last step; in place, it is c as well. */
static pf_status prepare_output(pf_machine *m, pf_dtype t)
{
  const pf_problem *p = m->problem;
  PF_TRY(pf_output_new(p, t, m->arena, &m->out));
  m->call.out = &m->out.view;
  m->call.in_place = p->what->out_is_c && t == p->c.dtype &&
                     (m->engine->whole_graph || m->call.steps->c);
  m->in_place = m->out.view;
  m->call.value[PF_REF_C] = m->call.in_place ? &m->in_place : p->has_c ? &p->c : NULL;
  return PF_OK;
}

static void start_answer(pf_machine *m)
{
  m->answer = (pf_answer){0};
  m->call.answer = &m->answer;
}

static pf_status offer(pf_machine *m, int first, int count)
{
  const pf_step *s = &m->plan->step[first];
  m->call.steps = s;
  m->call.count = count;
  m->call.first = first;
  m->call.x_vectors = s->kind <= PF_MULSUM ? vectors_of(m, s->a, true) : NULL;
  m->call.y_vectors = s->kind <= PF_MULSUM ? vectors_of(m, s->b, false) : NULL;
  start_answer(m);
  if (m->engine->foreign)
    PF_TRY(prepare_output(m, s[count - 1].storage));
  return m->engine->supports(m->engine, &m->call, &m->run->why);
}

/* A text of the engine's that must outlive its next call. */
static const char *keep(pf_machine *m, const char *text)
{
  if (!text || !m->engine->foreign)
    return text;
  char *copy = pf_alloc_raw(m->arena, strlen(text) + 1);
  return copy ? strcpy(copy, text) : "out of memory";
}

/* What the engine said of a call that it has run. */
static pf_status take_answer(pf_machine *m)
{
  pf_run *r = m->run;
  const pf_answer *a = &m->answer;
  if (a->misdeed) {
    r->misdeed = a->misdeed;
    r->stray = a->stray;
  }
  if (a->kernel)
    r->kernel = keep(m, a->kernel);
  if (a->row)
    r->claims = keep(m, a->row);
  r->as_matmul |= a->as_matmul;
  if (!a->declared)
    return PF_OK;
  pf_declared *copy = pf_alloc_raw(m->arena, sizeof *copy);
  if (!copy)
    return PF_NO_MEMORY;
  *copy = *a->declared;
  r->declared = copy;
  return PF_OK;
}

static pf_status call_engine(pf_machine *m)
{
  pf_copies copies;
  const bool watch = !m->engine->reads_vectors;
  if (watch)
    PF_TRY(copy_operands(m, &copies));
  const unsigned control = pf_control_get();
  const pf_status status = m->engine->run(m->engine, &m->call, m->arena);
  if (pf_control_get() != control) {
    pf_control_set(control);
    m->answer.misdeed = PF_CHANGED_FENV;
  }
  if (status) {
    m->run->why = m->answer.why ? m->answer.why : "the engine reported an error";
    m->run->misdeed = m->answer.misdeed;
    m->run->said = keep(m, m->answer.said);
  }
  if (status == PF_UNSUPPORTED)
    return status;
  if (watch && operands_changed(m, &copies))
    m->answer.misdeed = PF_CHANGED_INPUT;
  return status;
}

static pf_status take_results(pf_machine *m, int last, const pf_output *out, const pf_legal *l)
{
  if (out && pf_output_stray(m->problem, out, &m->answer.stray))
    m->answer.misdeed = PF_WROTE_OUTSIDE;
  PF_TRY(take_answer(m));
  double *got = pf_alloc_array_raw(m->arena, (size_t)m->problem->shape.outputs, sizeof *got);
  if (!got)
    return PF_NO_MEMORY;
  if (l)
    pf_legal_read(l, &m->plan->step[last], got);
  else
    pf_output_read(m->problem, out, got);
  m->run->step[last] = got;
  return PF_OK;
}

/* Nothing that such an engine could have written elsewhere. */
static pf_status run_on_doubles(pf_machine *m, int last)
{
  double *results =
      pf_alloc_array_raw(m->arena, (size_t)m->problem->shape.outputs, sizeof *results);
  if (!results)
    return PF_NO_MEMORY;
  m->call.results = results;
  const pf_status status = m->engine->run(m->engine, &m->call, m->arena);
  if (status)
    m->run->why = "the engine reported an error";
  m->run->step[last] = results;
  return status;
}

static pf_status run_engine(pf_machine *m, int last)
{
  if (m->engine->gives_doubles)
    return run_on_doubles(m, last);
  if (!m->engine->foreign)
    PF_TRY(prepare_output(m, m->plan->step[last].storage));
  PF_TRY(call_engine(m));
  return take_results(m, last, &m->out, NULL);
}

/* One way after the other to put a sum that the engine declined; with all of them it is still
   PF_UNSUPPORTED. */
static pf_status run_legalised(pf_machine *m, int i)
{
  const pf_call call = m->call;
  const char *const why = keep(m, m->run->why);
  pf_status status = PF_UNSUPPORTED;
  for (int w = 0; w < PF_LEGAL_WAYS && status == PF_UNSUPPORTED; w++) {
    pf_legal l;
    status = pf_legalise(&call, &pf_legal_ways[w], m->arena, &l);
    if (status)
      continue;
    m->call = l.call;
    start_answer(m);
    status = m->engine->supports(m->engine, &m->call, &m->run->why);
    if (!status)
      status = call_engine(m);
    if (!status)
      status = take_results(m, i, l.own_out ? NULL : &l.fenced, &l);
    if (!status) {
      m->run->legalised = keep(m, l.says);
      m->run->widened = pf_legal_ways[w].wide;
    }
  }
  m->call = call;
  if (status == PF_UNSUPPORTED)
    m->run->why = why;
  return status;
}

/* Does no later step read what the run keeps to itself? */
static bool is_closed(const pf_plan *plan, int first, int count)
{
  for (int i = first + count; i < plan->count; i++) {
    const int a = plan->step[i].a - PF_REF_STEP, b = plan->step[i].b - PF_REF_STEP;
    if ((a >= first && a < first + count - 1) || (b >= first && b < first + count - 1))
      return false;
  }
  return true;
}

/* The longest run from `first` on that the engine takes: its length, or 0. */
static pf_status run_longest(pf_machine *m, int first, int *taken)
{
  const int most = m->engine->one_step ? 1 : m->plan->count - first;
  bool x_side;
  *taken = 0;
  for (int count = most; count > 0; count--) {
    if (pf_plan_is_operand(m->plan, first + count - 1, &x_side) ||
        !is_closed(m->plan, first, count))
      continue;
    pf_status status = offer(m, first, count);
    if (!status)
      status = run_engine(m, first + count - 1);
    if (status != PF_UNSUPPORTED) {
      *taken = count;
      return status;
    }
  }
  return PF_OK;
}

/* Steps from `first` on; *next is the first one not done. */
static pf_status advance(pf_machine *m, int first, int *next)
{
  const pf_step *s = &m->plan->step[first];
  bool x_side;
  int taken = 0;
  const bool operand = pf_plan_is_operand(m->plan, first, &x_side);
  if (!operand || (m->engine->foreign && !m->engine->one_step))
    PF_TRY(run_longest(m, first, &taken));
  *next = first + (taken ? taken : 1);
  if (taken)
    return PF_OK;
  if (operand)
    return cast_operand(m, first, x_side);
  if (s->kind > PF_MULSUM)
    return run_elementwise(m, first);
  return m->engine->foreign && !m->engine->as_is ? run_legalised(m, first) : PF_UNSUPPORTED;
}

/* The whole case, as one call. */
static pf_status run_graph(pf_machine *m)
{
  m->call.steps = m->plan->step;
  start_answer(m);
  PF_TRY(prepare_output(m, m->problem->what->operand[PF_OUT].dtype));
  PF_TRY(m->engine->supports(m->engine, &m->call, &m->run->why));
  return run_engine(m, m->plan->count - 1);
}

static pf_status run_steps(pf_machine *m)
{
  for (int i = 0; i < m->plan->count;)
    PF_TRY(advance(m, i, &i));
  return PF_OK;
}

pf_status pf_interpret(const pf_problem *p, const pf_plan *plan, const pf_engine *e, pf_arena *a,
                       pf_run *out)
{
  pf_machine m = {.problem = p, .plan = plan, .engine = e, .arena = a, .run = out};
  memset(out, 0, sizeof *out);
  m.call.problem = p;
  m.call.value[PF_REF_X] = &p->x;
  m.call.value[PF_REF_Y] = &p->y;
  m.call.value[PF_REF_C] = p->has_c ? &p->c : NULL;
  m.call.value[PF_REF_BIAS] = p->has_bias ? &p->bias : NULL;
  const pf_status status = e->whole_graph ? run_graph(&m) : run_steps(&m);
  if (status) {
    out->why = keep(&m, out->why);
    return status;
  }
  out->got = out->step[plan->count - 1];
  return PF_OK;
}
