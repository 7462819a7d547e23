/* The interpreter, executing.  Enclosing and explaining walk the same plans (enclosure.c,
   explain.c).
   Elementwise steps work on doubles, rounded once to the step's format. */
#include "interpret.h"

#include <fenv.h>
#include <string.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "rounding.h"

typedef struct pf_machine {
  const pf_problem *problem;
  const pf_plan *plan;
  const pf_engine *engine;
  pf_arena *arena;
  pf_run *run;
  pf_call call;
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

/* A typed copy of a cast operand, for engines that read matrices: vectors stay contiguous. */
static pf_status lay_out(pf_machine *m, int step, bool x_side, const double *vectors)
{
  const pf_problem *p = m->problem;
  const pf_shape *s = &p->shape;
  const pf_dtype t = m->plan->step[step].storage;
  const int bytes = pf_dtype_of(t)->bytes;
  const int64_t lines = x_side ? s->m : s->n;
  char *data = pf_alloc_array(m->arena, (size_t)(s->batches * lines * s->k), (size_t)bytes);
  pf_matrix *view = pf_alloc(m->arena, sizeof *view);
  if (!data || !view)
    return PF_NO_MEMORY;
  *view = (pf_matrix){.dtype = t, .data = data,
                      .row_stride = x_side ? s->k : 1, .column_stride = x_side ? 1 : s->k};
  int64_t stride = lines * s->k;
  for (int d = s->batch_rank; d-- > 0; stride *= s->batch[d])
    view->batch_stride[d] = stride;
  for (int64_t b = 0; b < s->batches; b++) {
    const double *from = vectors + (x_side ? p->x_line : p->y_line)[b] * s->k;
    for (int64_t i = 0; i < lines * s->k; i++, data += bytes)
      pf_store(t, data, from[i]);
  }
  m->call.value[PF_REF_STEP + step] = view;
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
  return m->engine->reads_vectors ? PF_OK : lay_out(m, i, x_side, vectors[i]);
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

/* Rounding mode, flush-to-zero and the rest that an engine must leave as it was. */
static unsigned control_bits(void)
{
#if defined(__SSE2__)
  return (_mm_getcsr() & 0xffc0u) | (unsigned)fegetround() << 16;
#else
  return (unsigned)fegetround();
#endif
}

static void restore_control_bits(unsigned bits)
{
#if defined(__SSE2__)
  _mm_setcsr((_mm_getcsr() & ~0xffc0u) | (bits & 0xffc0u));
  fesetround((int)(bits >> 16));
#else
  fesetround((int)bits);
#endif
}

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

static pf_status offer(pf_machine *m, int first, int count)
{
  const pf_step *s = &m->plan->step[first];
  m->call.steps = s;
  m->call.count = count;
  m->call.first = first;
  m->call.x_vectors = s->kind <= PF_MULSUM ? vectors_of(m, s->a, true) : NULL;
  m->call.y_vectors = s->kind <= PF_MULSUM ? vectors_of(m, s->b, false) : NULL;
  return m->engine->supports(m->engine, &m->call, &m->run->why);
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
  pf_output out;
  pf_copies copies;
  const bool watch = !m->engine->reads_vectors;
  pf_matrix in_place;
  PF_TRY(pf_output_new(m->problem, m->plan->step[last].storage, m->arena, &out));
  if (watch)
    PF_TRY(copy_operands(m, &copies));
  const pf_matrix *c = m->call.value[PF_REF_C];
  if (m->problem->what->out_is_c && m->call.steps->c && out.view.dtype == c->dtype) {
    in_place = out.view;
    m->call.value[PF_REF_C] = &in_place;
  }
  m->call.out = &out.view;
  const unsigned control = control_bits();
  const pf_status status = m->engine->run(m->engine, &m->call, m->arena);
  if (control_bits() != control) {
    restore_control_bits(control);
    m->run->misdeed = PF_CHANGED_FENV;
  }
  m->call.value[PF_REF_C] = c;
  if (status) {
    m->run->why = "the engine reported an error";
    return status;
  }
  if (watch && operands_changed(m, &copies))
    m->run->misdeed = PF_CHANGED_INPUT;
  if (pf_output_stray(m->problem, &out, &m->run->stray))
    m->run->misdeed = PF_WROTE_OUTSIDE;
  double *got = pf_alloc_array_raw(m->arena, (size_t)m->problem->shape.outputs, sizeof *got);
  if (!got)
    return PF_NO_MEMORY;
  pf_output_read(m->problem, &out, got);
  m->run->step[last] = got;
  return PF_OK;
}

/* Steps from `first` on; *next is the first one not done. */
static pf_status advance(pf_machine *m, int first, int *next)
{
  const pf_step *s = &m->plan->step[first];
  bool x_side;
  if (pf_plan_is_operand(m->plan, first, &x_side)) {
    *next = first + 1;
    return cast_operand(m, first, x_side);
  }
  for (int count = m->plan->count - first; count > 0; count--)
    if (!offer(m, first, count)) {
      *next = first + count;
      return run_engine(m, first + count - 1);
    }
  *next = first + 1;
  return s->kind <= PF_MULSUM ? PF_UNSUPPORTED : run_elementwise(m, first);
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
  for (int i = 0; i < plan->count;)
    PF_TRY(advance(&m, i, &i));
  out->got = out->step[plan->count - 1];
  return PF_OK;
}
