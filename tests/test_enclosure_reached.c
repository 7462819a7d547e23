/* The enclosure is no wider than it must be: for each of its parts there is a correct sum that uses
   most of it.

     accumulation  (1, u, u, ...) first to last: each addition is a tie that goes down to 1, and
                   errs by u; with rounded products the first one is a tie, too
     stated orders the same along the longest path of the tree
     output        an exact sum halfway between two numbers of the output's format
     underflow     products just below half the smallest subnormal, all lost

   A bound one rounding too generous shows at K = 2, where the share falls to a half. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "case_builder.h"
#include "engine_reference.h"
#include "oracle_fixture.h"

enum { MOST_TERMS = 1024 };

static const int term_counts[] = {2, 64, 1024};
static const pf_summation forward = {.order = PF_FORWARD}, any_order = {.order = PF_ANY_ORDER};

typedef struct sum_case {
  pf_dtype operand;
  const char *row;
  int k;
  pf_summation order;   /* how it is summed */
  bool stated;          /* and whether the enclosure knows */
  double x[MOST_TERMS], y[MOST_TERMS];
} sum_case;

/* The error's share of what is allowed. */
static double share_of(scene *s, const sum_case *c)
{
  scene_reset(s, PF_MATMUL_PLAIN);
  scene_operand(s, PF_X, c->operand, 1, 1, c->k, c->x);
  scene_operand(s, PF_Y, c->operand, 1, 1, c->k, c->y);
  scene_finish(s);
  scene_row_in_order(s, &oracle, c->row, c->stated ? c->order : any_order);
  const pf_enclosure e = scene_enclose(s, 0);
  const pf_step *step = &s->plan.step[0];
  double got;
  pf_reference_step(&s->problem, step, &c->order, s->problem.x_vectors, s->problem.y_vectors,
                    &s->arena, &got);
  assert_true(pf_set_allows(&e.set, got));
  return oracle.distance(oracle.state, got) / e.radius;
}

static void assert_reached(const char *what, scene *s, const sum_case *c, double least)
{
  const double share = share_of(s, c);
  print_message("%s, %s, K=%d: %.6f\n", what, c->row, c->k, share);
  assert_true(share >= least && share <= 1);
}

static void fill(sum_case *c, double first_x, double first_y, double x, double y)
{
  for (int i = 0; i < c->k; i++) {
    c->x[i] = i ? x : first_x;
    c->y[i] = i ? y : first_y;
  }
}

/* --- the three parts ----------------------------------------------------------------------- */

static void accumulation_is_reached(void **state)
{
  (void)state;
  static sum_case c;
  scene s = {0};
  for (int i = 0; i < 3; i++) {
    c = (sum_case){.operand = PF_BF16, .row = "out = MATMUL(x, y; acc f32)", .k = term_counts[i],
                   .order = forward};
    fill(&c, 1, 1, 0x1p-24, 1);
    assert_reached("accumulation", &s, &c, 0.9);
    c.operand = PF_F32;
    fill(&c, 1 + 0x1p-12, 1 + 0x1p-12, 0x1p-24, 1);
    assert_reached("accumulation, products rounded", &s, &c, 0.9);
    c.row = "out = MATMUL(x, y; acc f64)";
    fill(&c, 1, 1, 0x1p-53, 1);
    assert_reached("accumulation", &s, &c, 0.9);
    c.operand = PF_F64;
    fill(&c, 1 + 0x1p-26, 1 + 0x1p-27, 0x1p-53, 1);
    assert_reached("accumulation, products rounded", &s, &c, 0.9);
  }
  pf_arena_free(&s.arena);
}

/* 2^26 (1 + u): the tie between 2^26 and the next number of the output. */
static void output_is_reached(void **state)
{
  (void)state;
  static sum_case c;
  static const struct { const char *row; double u, unit; } outputs[] = {
    {"out = MATMUL(x, y; acc f32, out bf16)", 0x1p-8, 0x1p0},
    {"out = MATMUL(x, y; acc f32, out f16)", 0x1p-11, 0x1p-14},
    {"out = MATMUL(x, y; acc f64, out f32)", 0x1p-24, 0x1p13},
  };
  scene s = {0};
  for (int i = 0; i < 9; i++) {
    const double scale = outputs[i / 3].unit;
    c = (sum_case){.operand = PF_F64, .row = outputs[i / 3].row, .k = term_counts[i % 3],
                   .order = forward};
    if (i < 6)
      c.operand = PF_F32;
    const double target = scale * 0x1p13 * (1 + outputs[i / 3].u);
    fill(&c, target - (c.k - 1) * scale * 0x1p-2, 1, scale * 0x1p-2, 1);
    assert_reached("output", &s, &c, 0.9);
  }
  pf_arena_free(&s.arena);
}

static void underflow_is_reached(void **state)
{
  (void)state;
  static sum_case c;
  scene s = {0};
  for (int i = 0; i < 3; i++) {
    c = (sum_case){.operand = PF_BF16, .row = "out = MATMUL(x, y; acc f32)", .k = term_counts[i],
                   .order = forward};
    fill(&c, 0x1p-75, 0x1.fep-76, 0x1p-75, 0x1.fep-76);
    assert_reached("underflow", &s, &c, 0.9);
    c.operand = PF_F64;
    c.row = "out = MATMUL(x, y; acc f64)";
    fill(&c, 0x1p-537, 0x1.fep-539, 0x1p-537, 0x1.fep-539);
    /* E is a little above K 2^-1075, so that K = 2 allows two of the smallest doubles */
    assert_reached("underflow", &s, &c, c.k == 2 ? 0.5 : 0.9);
  }
  pf_arena_free(&s.arena);
}

/* --- stated orders ------------------------------------------------------------------------- */

/* Terms that meet the first one's partial sum along its path get u, all others 0. */
static bool meets_the_first(const pf_summation *s, int k)
{
  const bool power = (k & (k - 1)) == 0;
  switch (s->order) {
  case PF_PAIRWISE: return power;
  case PF_BLOCKED: return k < s->width || k % s->width == 0;
  case PF_LANES: return k % s->width == 0 || (k < s->width && power);
  default: return true;
  }
}

static void stated_orders_are_reached(void **state)
{
  (void)state;
  static const pf_summation orders[] = {{PF_BACKWARD, 0, false}, {PF_PAIRWISE, 0, false},
                                        {PF_BLOCKED, 8, false}, {PF_LANES, 8, false}};
  static sum_case c;
  scene s = {0};
  for (int i = 0; i < 16; i++) {
    const bool f64 = i & 1;
    c = (sum_case){.operand = f64 ? PF_F32 : PF_BF16,
                   .row = f64 ? "out = MATMUL(x, y; acc f64)" : "out = MATMUL(x, y; acc f32)",
                   .k = i & 2 ? 64 : 1024, .order = orders[i / 4], .stated = true};
    for (int k = 0; k < c.k; k++) {
      const int place = c.order.order == PF_BACKWARD ? c.k - 1 - k : k;
      c.x[place] = !k ? 1 : meets_the_first(&c.order, k) ? (f64 ? 0x1p-53 : 0x1p-24) : 0;
      c.y[place] = 1;
    }
    char what[32];
    pf_summation_print(&c.order, what, sizeof what);
    assert_reached(what, &s, &c, 0.99);
  }
  pf_arena_free(&s.arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(accumulation_is_reached),
    cmocka_unit_test(output_is_reached),
    cmocka_unit_test(underflow_is_reached),
    cmocka_unit_test(stated_orders_are_reached),
  };
  return cmocka_run_group_tests_name("enclosure_reached", tests, open_oracle, close_oracle);
}
