/* Small dense cases with given values, bound to a row and enclosed. */
#ifndef PF_TESTS_CASE_BUILDER_H
#define PF_TESTS_CASE_BUILDER_H

#include <string.h>

#include "enclosure.h"
#include "row.h"

/* One row on one case.  The arena holds everything. */
typedef struct scene {
  pf_arena arena;
  pf_case what;
  pf_problem problem;
  pf_plan plan;
  pf_ask ask;
  pf_encloser *encloser;
} scene;

static inline void scene_reset(scene *s, pf_graph graph)
{
  pf_arena_reset(&s->arena);
  s->what = (pf_case){.op = PF_OP_MATMUL, .graph = graph, .alpha = 1, .beta = 1};
}

/* values: row-major, each a value of the dtype; NULL: generated, normal. */
static inline void scene_operand(scene *s, pf_role role, pf_dtype t, int rank, int64_t rows,
                                 int64_t columns, const double *values)
{
  pf_operand *o = &s->what.operand[role];
  *o = (pf_operand){.present = true, .dtype = t, .rank = rank};
  o->dim[0] = rank == 1 ? columns : rows;
  o->dim[1] = rank == 2 ? columns : 0;
  pf_dense_strides(rank, o->dim, o->stride);
  if (!values)
    return;
  const int64_t n = rank == 0 ? 1 : rank == 1 ? columns : rows * columns;
  const int bytes = pf_dtype_of(t)->bytes;
  uint8_t *to = pf_alloc_array(&s->arena, (size_t)n, (size_t)bytes);
  assert_non_null(to);
  for (int64_t i = 0; i < n; i++)
    pf_store(t, to + i * bytes, values[i]);
  o->values = (pf_values){.kind = PF_VERBATIM, .verbatim = to};
}

static inline void scene_finish(scene *s)
{
  pf_error e = {0};
  if (pf_case_finish(&s->what, &e))
    fail_msg("%s", e.text);
  assert_int_equal(pf_problem_build(&s->what, &s->arena, &s->problem), PF_OK);
}

static inline void scene_row_in_order(scene *s, const pf_oracle *o, const char *row,
                                      pf_summation order)
{
  pf_error e = {0};
  const char *why;
  if (pf_plan_parse("tested", row, &s->what, &s->plan, &e))
    fail_msg("%s: %s", row, e.text);
  s->ask = (pf_ask){.plan = &s->plan, .order = order};
  assert_int_equal(pf_encloser_new(&s->problem, o, &s->ask, 1, &s->arena, &s->encloser, &why),
                   PF_OK);
}

static inline void scene_row(scene *s, const pf_oracle *o, const char *row)
{
  scene_row_in_order(s, o, row, (pf_summation){.order = PF_ANY_ORDER});
}

static inline pf_enclosure scene_enclose(scene *s, int64_t element)
{
  pf_enclosure e;
  pf_enclose(s->encloser, element, &e);
  return e;
}

#endif
