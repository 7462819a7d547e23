/* The reference engines.  They run one MATMUL or MULSUM, in any format, by reference.c. */
#include "engine_reference.h"

#include "reference.h"
#include "reference_lanes.h"

pf_sum pf_step_terms(const pf_problem *p, const pf_step *step, const double *x_vectors,
                     const double *y_vectors, int64_t element)
{
  const pf_shape *s = &p->shape;
  const int64_t column = element % s->n, row = element / s->n % s->m, b = element / s->n / s->m;
  return (pf_sum){
    .k = s->k,
    .x = x_vectors + (p->x_line[b] + row) * s->k,
    .y = y_vectors + (p->y_line[b] + column) * s->k,
    .alpha = step->alpha ? p->what->alpha : 1,
    .beta = step->c ? p->what->beta : 0,
    .c = step->c ? p->c_values[element] : 0,
    .bias = step->bias ? p->bias_values[element] : 0,
  };
}

void pf_reference_step(const pf_problem *p, const pf_step *step, const pf_summation *s,
                       const double *x_vectors, const double *y_vectors, pf_arena *scratch,
                       double *results)
{
  if (pf_reference_lanes(pf_isa_best(), p, step, s, x_vectors, y_vectors, scratch, results))
    return;
  for (int64_t i = 0; i < p->shape.outputs; i++) {
    const pf_sum terms = pf_step_terms(p, step, x_vectors, y_vectors, i);
    results[i] = pf_reference_sum(&step->acc, s, step->kind == PF_MULSUM, &step->out, &terms);
  }
}

static pf_status supports(const pf_engine *e, const pf_call *call, const char **why)
{
  (void)e;
  if (call->count == 1 && call->steps->kind <= PF_MULSUM)
    return PF_OK;
  *why = "the reference engine runs one MATMUL or MULSUM at a time";
  return PF_UNSUPPORTED;
}

static pf_status run(const pf_engine *e, const pf_call *call, pf_arena *scratch)
{
  pf_reference_step(call->problem, call->steps, &e->sum, call->x_vectors, call->y_vectors, scratch,
                    call->results);
  return PF_OK;
}

#define REFERENCE(NAME, TEXT, NOTE, ...)                                              \
  const pf_engine pf_reference_##NAME = {                                             \
    .name = "reference:" TEXT, .note = NOTE, .sum = {__VA_ARGS__, false},             \
    .listed = true, .reads_vectors = true, .replays = true, .gives_doubles = true,    \
    .supports = supports, .run = run};                                                \
  const pf_engine pf_reference_##NAME##_fma = {                                       \
    .name = "reference:" TEXT "+fma", .note = NOTE ", fused multiply-add",            \
    .sum = {__VA_ARGS__, true}, .listed = true, .reads_vectors = true,                \
    .replays = true, .gives_doubles = true, .supports = supports, .run = run};

REFERENCE(forward, "forward", "first term to last", PF_FORWARD, 0)
REFERENCE(backward, "backward", "last term to first", PF_BACKWARD, 0)
REFERENCE(pairwise, "pairwise", "halves, recursively", PF_PAIRWISE, 0)
REFERENCE(blocked8, "blocked8", "blocks of 8, then their sums", PF_BLOCKED, 8)
REFERENCE(lanes8, "lanes8", "8 interleaved lanes, then a tree", PF_LANES, 8)
