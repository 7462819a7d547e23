/* Sums side by side against each sum alone: every instruction set, arithmetic and order, shapes
   that fill no vector, batches that share vectors, specials. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "dtype.h"
#include "engine_reference.h"
#include "random_source.h"
#include "reference.h"
#include "reference_lanes.h"

static const uint64_t SEED = 0x6c616e6573;

enum { MOST_LINES = 64, MOST_TERMS = 24, MOST_OUTPUTS = 2048, MOST_BATCHES = 4 };

typedef struct scene {
  pf_arena arena;
  pf_case what;
  pf_problem problem;
  pf_step step;
  pf_summation order;
  double x[MOST_LINES * MOST_TERMS], y[MOST_LINES * MOST_TERMS];
  double c[MOST_OUTPUTS], bias[MOST_OUTPUTS];
  int64_t x_line[MOST_BATCHES], y_line[MOST_BATCHES];
} scene;

static bool same(double a, double b)
{
  return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* A value of f: mostly near one, so that sums round and cancel; or anywhere, or special. */
static double pick_value(random_source *r, const pf_format *f)
{
  const double special[] = {0, -0.0, f->max, pf_smallest_normal(f), INFINITY, NAN};
  const int kind = draw_below(r, 40);
  double v = ldexp((double)draw_between(r, -4096, 4096), kind < 30 ? -9 : draw_between(r, -40, 30));
  if (kind == 39)
    v = special[draw_below(r, 6)];
  if (pf_is_integer(f))
    v = isfinite(v) ? nearbyint(v) : 0;
  return pf_round(f, v);
}

static pf_format pick_accumulator(random_source *r)
{
  static const pf_dtype natives[] = {PF_F32, PF_F32, PF_F64, PF_S32};
  const pf_format toy = {.precision = 25, .emin = -20, .max = 0x1p20, .has_infinity = true,
                         .has_negative_zero = true};
  const int pick = draw_below(r, 12);
  pf_format f = pick < 4    ? *pf_format_of(natives[pick])
                : pick < 10 ? *pf_format_of((pf_dtype)(PF_F16 + pick - 4))
                : pick < 11 ? toy
                            : pf_tf32;
  if (pick >= 4 && !draw_below(r, 4))
    f.overflow = PF_OVERFLOW_SATURATE;
  if (pick >= 4 && !draw_below(r, 8))
    f.rounding = PF_TOWARD_ZERO;
  return f;
}

static pf_summation pick_order(random_source *r)
{
  static const int widths[] = {1, 2, 3, 7, 8, 64};
  pf_summation s = {.order = (pf_order)draw_between(r, PF_FORWARD, PF_LANES)};
  s.fused = draw_below(r, 2);
  if (s.order == PF_BLOCKED || s.order == PF_LANES)
    s.width = widths[draw_below(r, 6)];
  return s;
}

static void pick_step(random_source *r, scene *s)
{
  const pf_format acc = pick_accumulator(r);
  s->step = (pf_step){.kind = draw_below(r, 3) ? PF_MATMUL : PF_MULSUM};
  s->step.acc.format = s->step.acc.product = s->step.out = acc;
  if (!draw_below(r, 3))
    s->step.out = *pf_format_of((pf_dtype)draw_below(r, PF_DTYPE_COUNT));
  if (acc.precision < 24 && !draw_below(r, 8))
    s->step.acc.product = *pf_format_of(PF_F8_E5M2);
  s->step.acc.drop = !draw_below(r, 12);
  s->step.acc.split = draw_below(r, 12) ? 0 : 3;
  s->step.acc.start_c = !draw_below(r, 12);
  s->step.acc.ftz_in = !draw_below(r, 12);
  s->step.acc.ftz_out = !draw_below(r, 12);
  if (!draw_below(r, 4))
    s->step.acc.sum = pick_order(r);
  s->order = pick_order(r);
  s->step.alpha = !draw_below(r, 4);
  s->step.c = !draw_below(r, 4);
  s->step.bias = !draw_below(r, 4);
}

/* One group of lines a batch, or one for all. */
static int64_t pick_lines(random_source *r, int64_t batches, int64_t lines, int64_t *first)
{
  const bool shared = draw_below(r, 2);
  for (int64_t b = 0; b < batches; b++)
    first[b] = shared ? 0 : (batches - 1 - b) * lines;
  return shared ? lines : batches * lines;
}

static void pick_shape(random_source *r, scene *s)
{
  pf_problem *p = &s->problem;
  pf_shape *shape = &p->shape;
  *p = (pf_problem){.what = &s->what, .x_vectors = s->x, .y_vectors = s->y, .x_line = s->x_line,
                    .y_line = s->y_line, .c_values = s->c, .bias_values = s->bias};
  shape->m = draw_below(r, 3) ? draw_between(r, 1, 16) : 1;
  shape->n = draw_below(r, 3) ? draw_between(r, 1, 16) : 1;
  shape->k = draw_below(r, MOST_TERMS + 1);
  shape->batches = draw_between(r, 1, MOST_BATCHES);
  shape->outputs = shape->batches * shape->m * shape->n;
  p->x_lines = pick_lines(r, shape->batches, shape->m, s->x_line);
  p->y_lines = pick_lines(r, shape->batches, shape->n, s->y_line);
}

static void pick_scene(random_source *r, scene *s)
{
  pick_step(r, s);
  pick_shape(r, s);
  const pf_format *f = &s->step.acc.format;
  for (int64_t i = 0; i < s->problem.x_lines * s->problem.shape.k; i++)
    s->x[i] = pick_value(r, f);
  for (int64_t i = 0; i < s->problem.y_lines * s->problem.shape.k; i++)
    s->y[i] = pick_value(r, f);
  for (int64_t i = 0; i < s->problem.shape.outputs; i++) {
    s->c[i] = pick_value(r, f);
    s->bias[i] = pick_value(r, f);
  }
  const double alpha = pick_value(r, f), beta = pick_value(r, f);
  s->what.alpha = isfinite(alpha) ? alpha : 1;
  s->what.beta = isfinite(beta) && draw_below(r, 4) ? beta : 0;
}

static double alone(const scene *s, int64_t element)
{
  const pf_sum t = pf_step_terms(&s->problem, &s->step, s->x, s->y, element);
  return pf_reference_sum(&s->step.acc, &s->order, s->step.kind == PF_MULSUM, &s->step.out, &t);
}

static void fail_scene(const scene *s, pf_isa isa, int64_t element, double got)
{
  const pf_shape *shape = &s->problem.shape;
  fail_msg("isa %d precision %d order %d width %d fused %d, %lld batches of %lld x %lld x %lld, "
           "alpha %d c %d bias %d: element %lld is %a, alone %a", isa, s->step.acc.format.precision,
           s->order.order, s->order.width, s->order.fused, (long long)shape->batches,
           (long long)shape->m, (long long)shape->k, (long long)shape->n, s->step.alpha, s->step.c,
           s->step.bias, (long long)element, got, alone(s, element));
}

static bool check_scene(scene *s, pf_isa isa)
{
  const int64_t n = s->problem.shape.outputs;
  pf_arena_reset(&s->arena);
  double *results = pf_alloc_array(&s->arena, (size_t)n + 8, sizeof *results);
  for (int i = 0; i < 8; i++)
    results[n + i] = 7;
  const size_t given = s->arena.given;
  if (!pf_reference_lanes(isa, &s->problem, &s->step, &s->order, s->x, s->y, &s->arena, results))
    return false;
  assert_int_equal(s->arena.given, given);
  for (int64_t i = 0; i < n; i++)
    if (!same(results[i], alone(s, i)))
      fail_scene(s, isa, i, results[i]);
  for (int i = 0; i < 8; i++)
    assert_true(results[n + i] == 7);
  return true;
}

static void sums_are_those_of_each_alone(void **state)
{
  (void)state;
  static scene s;
  random_source r = {SEED};
  const int scenes = FEWER(30000);
  int in_lanes[PF_ARITHMETIC_COUNT] = {0};
  for (int i = 0; i < scenes; i++) {
    pick_scene(&r, &s);
    for (int isa = 0; isa <= (int)pf_isa_best(); isa++)
      in_lanes[pf_arithmetic_of(&s.step.acc)] += check_scene(&s, (pf_isa)isa);
  }
  print_message("seed %#llx: %d scenes; float %d, double %d, words %d, narrow %d in lanes\n",
                (unsigned long long)SEED, scenes, in_lanes[PF_BY_FLOAT], in_lanes[PF_BY_DOUBLE],
                in_lanes[PF_BY_WORD], in_lanes[PF_BY_RULES]);
  for (int i = 0; i < PF_ARITHMETIC_COUNT; i++)
    assert_true(in_lanes[i] > scenes / 20);
  pf_arena_free(&s.arena);
}

/* Steps of one problem that differ, with a place for sums: each has its own, kept or not. */
static void kept_sums_are_those_asked_for(void **state)
{
  (void)state;
  static scene s;
  static double copy[MOST_LINES * MOST_TERMS];
  random_source r = {SEED + 1};
  int kept_ones = 0;
  for (int i = 0; i < FEWER(3000); i++) {
    pf_arena arena = {0};
    pf_kept kept = {.arena = &arena};
    pick_scene(&r, &s);
    s.problem.kept = &kept;
    const pf_step first = s.step;
    for (int j = 0; j < 12; j++) {
      const int changed = draw_below(&r, 6);
      if (changed == 0)
        s.step = first;
      s.step.alpha ^= changed == 1;
      s.step.c ^= changed == 2;
      s.step.bias ^= changed == 3;
      if (changed == 4)
        s.step.out = *pf_format_of((pf_dtype)draw_below(&r, PF_DTYPE_COUNT));
      if (changed == 5)
        s.order = pick_order(&r);
      const int next = kept.next;
      kept_ones += check_scene(&s, pf_isa_best()) && kept.next == next;
    }
    /* other vectors than the problem's own are no business of what is kept */
    memcpy(copy, s.x, sizeof copy);
    copy[0] = 3;
    double results[MOST_OUTPUTS], again[MOST_OUTPUTS];
    const pf_shape *shape = &s.problem.shape;
    pf_reference_step(&s.problem, &s.step, &s.order, copy, s.y, &s.arena, results);
    s.problem.kept = NULL;
    pf_reference_step(&s.problem, &s.step, &s.order, copy, s.y, &s.arena, again);
    for (int64_t e = 0; e < shape->outputs; e++)
      assert_true(same(results[e], again[e]));
    pf_arena_free(&arena);
  }
  assert_true(kept_ones > FEWER(3000));
  pf_arena_free(&s.arena);
}

/* Without memory for panels the sums are computed one by one, and none are kept. */
static void no_memory_is_no_failure(void **state)
{
  (void)state;
  static scene s;
  random_source r = {SEED + 2};
  for (int i = 0; i < 300; i++) {
    double results[MOST_OUTPUTS];
    pf_arena none = {.limit = 1}, arena = {0};
    pf_kept kept = {.arena = &arena};
    pick_scene(&r, &s);
    s.problem.kept = &kept;
    assert_false(pf_reference_lanes(pf_isa_best(), &s.problem, &s.step, &s.order, s.x, s.y, &none,
                                    results));
    pf_reference_step(&s.problem, &s.step, &s.order, s.x, s.y, &none, results);
    for (int64_t e = 0; e < s.problem.shape.outputs; e++)
      assert_true(same(results[e], alone(&s, e)));
    check_scene(&s, pf_isa_best());
    pf_arena_free(&arena);
  }
  pf_arena_free(&s.arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(sums_are_those_of_each_alone),
    cmocka_unit_test(kept_sums_are_those_asked_for),
    cmocka_unit_test(no_memory_is_no_failure),
  };
  return cmocka_run_group_tests_name("reference_lanes", tests, NULL, NULL);
}
