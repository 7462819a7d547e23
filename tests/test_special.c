/* Infinities, NaN and overflow.  The sets are held against all trees of the machine's own float and
   double, and a selection of them against the rules written out by hand.

   What was planted and seen: c or bias added to the products' set instead of being a term of its
   own (an infinite bias under products that overflow); alpha's underflow judged by a product that
   had underflowed in double itself; overflow before alpha judged by an error that alpha has shrunk;
   the overflow flags of either side dropped; a NaN term taken for finite; the sign of alpha or beta
   ignored; a skipped NaN under alpha = 0 forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "case_builder.h"
#include "engine_reference.h"
#include "every_tree.h"
#include "oracle_fixture.h"
#include "random_source.h"

static const uint64_t SEED = 0x7370656331;
static forest trees;

/* --- brute force --------------------------------------------------------------------------- */

static double float_sum(const pf_format *f, double a, double b)
{
  (void)f;
  return (double)((float)a + (float)b);
}

static double float_product(const pf_format *f, double a, double b)
{
  (void)f;
  return (double)((float)a * (float)b);
}

static double float_fma(const pf_format *f, double a, double b, double c)
{
  (void)f;
  return (double)fmaf((float)a, (float)b, (float)c);
}

static double double_sum(const pf_format *f, double a, double b)
{
  (void)f;
  return a + b;
}

static double double_product(const pf_format *f, double a, double b)
{
  (void)f;
  return a * b;
}

static double double_fma(const pf_format *f, double a, double b, double c)
{
  (void)f;
  return fma(a, b, c);
}

enum { OPERANDS = 18, SCALARS = 10, SIDE = 12, MOST_TERMS = 4 };

typedef struct machine {
  pf_dtype dtype;
  arithmetic how;
  double operand[OPERANDS], scalar[SCALARS];
} machine;

static const machine machines[] = {
  {PF_F32, {NULL, float_sum, float_product, float_fma},
   {0, -0.0, 1, -1, 0x1p127, -0x1p127, 0x1.fffffep127, -0x1.fffffep127, INFINITY, -INFINITY, NAN,
    0x1p-149, -0x1p-149, 0x1p-126, 0x1p-75, -0x1p64, 0x1.8p63, 0.5},
   {1, -1, 0, 2, -2, 0x1p-140, 0.5, 0x1p100, -0x1.8p-3, 1.5}},
  {PF_F64, {NULL, double_sum, double_product, double_fma},
   {0, -0.0, 1, -1, 0x1p1023, -0x1p1023, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023, INFINITY,
    -INFINITY, NAN, 0x1p-1074, -0x1p-1074, 0x1p-1022, 0x1p-537, -0x1p512, 0x1.8p511, 0.5},
   {1, -1, 0, 2, -2, 0x1p-1000, 0.5, 0x1p900, -0x1.8p-3, 1.5}},
};

/* How often something was said to be possible, and how often some tree did it. */
typedef struct counts {
  long elements, said, seen;
} counts;

static void fail_element(const pf_sum *s, const pf_set *set, double got)
{
  char text[200];
  pf_set_print(set, text, sizeof text);
  for (int k = 0; k < s->k; k++)
    print_message("  x=%a y=%a\n", s->x[k], s->y[k]);
  fail_msg("alpha=%a beta=%a c=%a bias=%a: %a is not in %s", s->alpha, s->beta, s->c, s->bias, got,
           text);
}

static void check_element(scene *s, const machine *m, int64_t element, counts *n)
{
  const pf_enclosure e = scene_enclose(s, element);
  const pf_sum sum = pf_step_terms(&s->problem, &s->plan.step[0], s->problem.x_vectors,
                                   s->problem.y_vectors, element);
  bool nan = false, plus = false, minus = false;
  for (int side = 0; side < (sum.alpha == 1 ? 1 : 2); side++) {
    const results r = every_tree(&trees, &m->how, &sum, side);
    double v[MOST_FINITE + 3];
    const int count = list_results(&r, v);
    for (int i = 0; i < count; i++)
      if (!pf_set_allows(&e.set, v[i]))
        fail_element(&sum, &e.set, v[i]);
    nan |= r.nan;
    plus |= r.plus_infinity;
    minus |= r.minus_infinity;
  }
  n->elements++;
  n->said += e.set.nan + e.set.plus_infinity + e.set.minus_infinity;
  n->seen += nan + plus + minus;
}

/* `rare`: what is not finite comes now and then only. */
static double pick(random_source *r, const machine *m, bool rare)
{
  double v;
  do
    v = m->operand[draw_below(r, OPERANDS)];
  while (rare && !isfinite(v) && draw_below(r, 8));
  return v;
}

static void build(scene *s, random_source *r, const machine *m, pf_graph graph)
{
  double x[SIDE * MOST_TERMS], y[SIDE * MOST_TERMS], c[SIDE * SIDE];
  const int k = draw_between(r, 0, MOST_TERMS);
  const bool rare = draw_below(r, 3);
  for (int i = 0; i < SIDE * k; i++) {
    x[i] = pick(r, m, rare);
    y[i] = draw_below(r, 2) ? 1 : pick(r, m, rare);
  }
  for (int i = 0; i < SIDE * SIDE; i++)
    c[i] = pick(r, m, rare);
  const bool weight = graph == PF_LINEAR;
  scene_reset(s, graph);
  scene_operand(s, PF_X, m->dtype, 2, SIDE, k, x);
  scene_operand(s, PF_Y, m->dtype, 2, weight ? SIDE : k, weight ? k : SIDE, y);
  scene_operand(s, weight ? PF_BIAS : PF_C, m->dtype, 2, SIDE, SIDE, c);
}

/* share: of what is said to be possible that some tree must have done. */
static void brute(const machine *m, pf_graph graph, bool alpha, double share)
{
  random_source r = {SEED};
  scene s = {0};
  counts n = {0};
  for (int i = 0; i < FEWER(500); i++) {
    build(&s, &r, m, graph);
    if (alpha)
      s.what.alpha = m->scalar[draw_below(&r, SCALARS)];
    if (graph == PF_ADDMM)
      s.what.beta = m->scalar[draw_below(&r, SCALARS)];
    scene_finish(&s);
    scene_row(&s, &oracle, graph == PF_ADDMM
                               ? "out = MATMUL(x, y, alpha, c, beta; acc result, out result)"
                               : "out = MATMUL(x, y, bias; acc result, out result)");
    for (int e = 0; e < SIDE * SIDE; e++)
      check_element(&s, m, e, &n);
  }
  print_message("seed %#llx, %ld elements: %ld of %ld possible infinities and NaN were seen\n",
                (unsigned long long)SEED, n.elements, n.seen, n.said);
  assert_true((double)n.seen >= share * (double)n.said);
  pf_arena_free(&s.arena);
}

/* With an alpha all flags go up at once, since where it sits is open: the share is lower. */
static void no_tree_leaves_the_set(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
    brute(&machines[i], PF_LINEAR, false, 0.6);
    brute(&machines[i], PF_ADDMM, false, 0.6);
    brute(&machines[i], PF_ADDMM, true, 0.45);
  }
}

/* --- by hand ------------------------------------------------------------------------------- */

typedef struct by_hand {
  const char *what;
  int k;
  double x[5], y[5];
  double alpha, beta, c;
  pf_set set;  /* the finite part as it should be: lo, hi */
} by_hand;

#define NOTHING INFINITY, -INFINITY
#define MOST 0x1.fffffep127
#define BIG 0x1.8p127

static const by_hand cases[] = {
  {"one infinity among terms that may overflow the other way",
   3, {INFINITY, -0x1p127, -0x1p127}, {1, 1, 1}, 1, 0, 0, {NOTHING, true, false, true}},
  {"one infinity among terms that may not",
   3, {INFINITY, -0x1p126, -0x1p126}, {1, 1, 1}, 1, 0, 0, {NOTHING, true, false, false}},
  {"the sign of alpha", 2, {INFINITY, 1}, {1, 1}, -1, 0, 0, {NOTHING, false, true, false}},
  {"0 times infinity", 1, {0}, {INFINITY}, 1, 0, 0, {NOTHING, false, false, true}},
  {"infinities of both signs", 2, {INFINITY, 1}, {1, -INFINITY}, 1, 0, 0,
   {NOTHING, false, false, true}},
  {"NaN", 2, {NAN, 1}, {1, 1}, 1, 0, 0, {NOTHING, false, false, true}},
  {"alpha 0 with NaN", 2, {NAN, 1}, {1, 1}, 0, 1, 3, {3, 3, false, false, true}},
  {"alpha 0 with 0 times infinity", 1, {0}, {INFINITY}, 0, 1, 3, {3, 3, false, false, true}},
  {"alpha 0 with finite operands", 2, {2, 1}, {1, 1}, 0, 1, 3, {3, 3, false, false, false}},
  {"alpha 0 with an infinite c", 1, {1}, {1}, 0, 1, INFINITY, {NOTHING, true, false, false}},
  {"beta 0 never reads c", 2, {2, 1}, {1, 1}, 1, 0, NAN, {3, 3, false, false, false}},
  {"c is NaN", 1, {1}, {1}, 1, 2, NAN, {NOTHING, false, false, true}},
  {"c is infinite", 1, {1}, {1}, 1, -2, INFINITY, {NOTHING, false, true, false}},
  {"c meets the other infinity", 1, {INFINITY}, {1}, 1, 1, -INFINITY,
   {NOTHING, false, false, true}},
  {"c is infinite, the products may overflow the other way",
   2, {BIG, BIG}, {1, 1}, 1, 1, -INFINITY, {NOTHING, false, true, true}},
  {"no terms", 0, {0}, {0}, 1, 1, 3, {3, 3, false, false, false}},
  {"no terms: alpha is not read", 0, {0}, {0}, 0x1p127, 2, 3, {6, 6, false, false, false}},
  {"no terms, beta 0", 0, {0}, {0}, 1, 0, NAN, {0, 0, false, false, false}},
  {"both sides may overflow", 5, {-BIG, -BIG, BIG, BIG, BIG}, {1, 1, 1, 1, 1}, 1, 0, 0,
   {BIG, BIG, true, true, true}},
  {"only one side may", 3, {BIG, BIG, -BIG}, {1, 1, 1}, 1, 0, 0, {BIG, BIG, true, false, false}},
  {"overflow of a product is required", 1, {0x1p127}, {-0x1p127}, 1, 0, 0,
   {NOTHING, false, true, false}},
  {"the largest number is no overflow", 1, {MOST}, {1}, 1, 0, 0,
   {MOST, MOST, false, false, false}},
  {"alpha on an operand may make the factor of an infinity 0",
   1, {0x1p-20}, {INFINITY}, 0x1p-140, 0, 0, {NOTHING, true, false, true}},
  {"alpha on an operand may make the factor of a 0 infinite",
   2, {0x1p127, INFINITY}, {0, 1}, 4, 0, 0, {NOTHING, true, false, true}},
};

static void sets_are_what_the_rules_say(void **state)
{
  (void)state;
  scene s = {0};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const by_hand *h = &cases[i];
    scene_reset(&s, PF_ADDMM);
    scene_operand(&s, PF_X, PF_F32, 2, 1, h->k, h->x);
    scene_operand(&s, PF_Y, PF_F32, 2, h->k, 1, h->y);
    scene_operand(&s, PF_C, PF_F32, 2, 1, 1, &h->c);
    s.what.alpha = h->alpha;
    s.what.beta = h->beta;
    scene_finish(&s);
    scene_row(&s, &oracle, "out = MATMUL(x, y, alpha, c, beta; acc f32)");
    const pf_enclosure e = scene_enclose(&s, 0);
    char text[200];
    pf_set_print(&e.set, text, sizeof text);
    if (!pf_set_equal(&e.set, &h->set))
      fail_msg("%s: %s", h->what, text);
  }
  pf_arena_free(&s.arena);
}

/* Where alpha sits decides what overflows: the rule opens every class at once. */
static void alpha_opens_every_class(void **state)
{
  (void)state;
  static const struct { double alpha, x[3], y[3]; } open[] = {
    /* infinity or NaN */
    {2, {0x1p127, -0x1p127, 0x1p127}, {1, 1, 1}},
    /* two products that both round up, to a sum that is infinite: S itself would not be, and the
       error allowed under so small an alpha does not make up for it */
    {0x1p-20, {1 + 0x1p-13, 1 - 2049 * 0x1p-24, 0},
     {(1 - 0x1p-13) * 0x1p127, (1 + 0x1p-13) * 0x1p127, 0}},
    {0, {1 + 0x1p-13, 1 - 2049 * 0x1p-24, 0},
     {(1 - 0x1p-13) * 0x1p127, (1 + 0x1p-13) * 0x1p127, 0}},
  };
  static const double one = 1;
  scene s = {0};
  for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
    scene_reset(&s, PF_ADDMM);
    scene_operand(&s, PF_X, PF_F32, 2, 1, 3, open[i].x);
    scene_operand(&s, PF_Y, PF_F32, 2, 3, 1, open[i].y);
    scene_operand(&s, PF_C, PF_F32, 2, 1, 1, &one);
    s.what.alpha = open[i].alpha;
    s.what.beta = 0;
    scene_finish(&s);
    scene_row(&s, &oracle, "out = MATMUL(x, y, alpha, c, beta; acc f32)");
    const pf_enclosure e = scene_enclose(&s, 0);
    assert_true(e.set.nan && e.set.plus_infinity && e.set.minus_infinity);
  }
  pf_arena_free(&s.arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(no_tree_leaves_the_set),
    cmocka_unit_test(sets_are_what_the_rules_say),
    cmocka_unit_test(alpha_opens_every_class),
  };
  return cmocka_run_group_tests_name("special", tests, open_oracle, close_oracle);
}
