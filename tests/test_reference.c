/* The reference sums against the slow ones, and the stated depth of each order against a count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

#include "dtype.h"
#include "random_source.h"
#include "reference.h"
#include "slow_sum.h"

static const uint64_t SEED = 0x7265666531;

enum { MOST_TERMS = 40 };

typedef struct problem {
  double x[MOST_TERMS], y[MOST_TERMS];
  pf_sum terms;
  pf_accumulator acc;
  pf_summation order;
  bool elementwise;
  pf_format out;
} problem;

static pf_format toy(int precision, int emin, double max)
{
  return (pf_format){.precision = precision, .emin = emin, .max = max, .has_infinity = true,
                     .has_negative_zero = true};
}

/* A value of f, near one, anywhere, or special. */
static double value(random_source *r, const pf_format *f, int spread)
{
  if (!draw_below(r, 60))
    return draw_below(r, 2) ? (double)INFINITY : (double)NAN;
  if (!draw_below(r, 20))
    return 0;
  const int e = draw_between(r, -spread, spread);
  const double v = ldexp(1 + ldexp((double)(draw_bits(r) >> 12), -52), e);
  const double rounded = pf_round(f, draw_below(r, 2) ? -v : v);
  return fabs(rounded) <= f->max ? rounded : f->max;
}

static void pick_formats(random_source *r, problem *p, pf_format *operand)
{
  const pf_format f32 = *pf_format_of(PF_F32), f64 = *pf_format_of(PF_F64);
  const pf_format formats[] = {f32, f32, f64, f64, *pf_format_of(PF_F16), *pf_format_of(PF_BF16),
                               toy(3, -4, 14), toy(5, -8, 0x1.fp7), toy(26, -40, 0x1p40)};
  p->acc.format = p->acc.product = p->out = formats[draw_below(r, 9)];
  *operand = p->acc.format;
  if (p->acc.format.precision > 24 && p->acc.format.precision < 53)
    *operand = f32;
  if (draw_below(r, 2))
    p->out = formats[draw_below(r, 9)];
  if (p->acc.format.precision < 53 && !draw_below(r, 3))
    p->acc.product = formats[draw_below(r, 2) ? 0 : 4 + draw_below(r, 4)];
  if (p->acc.format.precision < 53 && !draw_below(r, 4))
    p->acc.format.rounding = draw_below(r, 2) ? PF_TOWARD_ZERO : PF_NEAREST_AWAY;
  if (p->acc.format.precision < 53 && !draw_below(r, 6))
    p->acc.format.overflow = PF_OVERFLOW_SATURATE;
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

/* Half of the problems have no knob turned: f32 and f64 then take the machine's arithmetic. */
static void pick_knobs(random_source *r, problem *p)
{
  if (draw_below(r, 2))
    p->acc.sum = pick_order(r);
  if (draw_below(r, 2))
    return;
  p->acc.ftz_in = !draw_below(r, 3);
  p->acc.ftz_out = !draw_below(r, 3);
  p->acc.drop = draw_below(r, 3) ? 0 : draw_below(r, 4);
  p->acc.start_c = !draw_below(r, 3);
  if (!p->acc.start_c && !draw_below(r, 3))
    p->acc.split = draw_below(r, 5);
}

static void pick_problem(random_source *r, problem *p)
{
  pf_format operand;
  *p = (problem){.order = pick_order(r)};
  p->elementwise = !draw_below(r, 4);
  pick_formats(r, p, &operand);
  pick_knobs(r, p);
  const int spread = draw_below(r, 3) ? 3 : draw_below(r, 2) ? 12 : -operand.emin + 30;
  const int k = draw_below(r, 3) ? draw_below(r, 12) : draw_below(r, MOST_TERMS + 1);
  for (int i = 0; i < k; i++) {
    p->x[i] = value(r, &operand, spread);
    p->y[i] = value(r, &operand, spread);
  }
  p->terms = (pf_sum){.k = k, .x = p->x, .y = p->y, .alpha = 1};
  if (!draw_below(r, 3) && !p->acc.start_c)
    p->terms.alpha = value(r, &operand, 3);
  if (draw_below(r, 2)) {
    p->terms.beta = draw_below(r, 2) ? 1 : value(r, &operand, 3);
    p->terms.c = value(r, &operand, spread);
  }
  if (!draw_below(r, 3))
    p->terms.bias = value(r, &operand, spread);
}

static bool agrees(double a, double b)
{
  return (isnan(a) && isnan(b)) || a == b;
}

static void fail_problem(const problem *p, double got, double expected)
{
  char acc[64], order[64], out[64];
  pf_format_print(&p->acc.format, acc, sizeof acc);
  pf_format_print(&p->out, out, sizeof out);
  pf_summation_print(p->acc.sum.order ? &p->acc.sum : &p->order, order, sizeof order);
  for (int i = 0; i < p->terms.k; i++)
    print_message("  x=%a y=%a\n", p->x[i], p->y[i]);
  fail_msg("acc %s out %s order %s start_c=%d split=%d drop=%d ftz=%d%d elementwise=%d alpha=%a "
           "beta=%a c=%a bias=%a: %a, but %a by MPFR", acc, out, order, p->acc.start_c,
           p->acc.split, p->acc.drop, p->acc.ftz_in, p->acc.ftz_out, p->elementwise,
           p->terms.alpha, p->terms.beta, p->terms.c, p->terms.bias, got, expected);
}

static void sums_are_those_of_the_slow_tree(void **state)
{
  (void)state;
  random_source r = {SEED};
  int finite = 0;
  const int cases = FEWER(60000);
  for (int i = 0; i < cases; i++) {
    problem p;
    pick_problem(&r, &p);
    const double got = pf_reference_sum(&p.acc, &p.order, p.elementwise, &p.out, &p.terms);
    const double expected = slow_sum(&p.acc, &p.order, p.elementwise, &p.out, &p.terms);
    if (!agrees(got, expected))
      fail_problem(&p, got, expected);
    finite += isfinite(got);
  }
  print_message("seed %#llx: %d sums, %d finite\n", (unsigned long long)SEED, cases, finite);
  assert_true(finite > cases / 2);
}

/* --- depth --------------------------------------------------------------------------------- */

/* The loops themselves, on numbers that count: 0 is an empty sum, 1 a product, d + 1 a sum whose
   longest path has d additions. */
static double count_add(double a, double b)
{
  return a == 0 ? b : b == 0 ? a : 1 + fmax(a, b);
}

#define REAL double
#define NAME(function) counting_##function
#define MUL(a, b) ((void)(a), (void)(b), 1.0)
#define ADD(a, b) count_add(a, b)
#define FMA(a, b, s) ((void)(a), (void)(b), count_add(s, 1))
#include "reference_loops.h"

static void check_depth(const pf_summation *s, int64_t k, const double *x)
{
  slow_tree *t = malloc(sizeof *t);
  assert_non_null(t);
  t->n = 0;
  const int tree = slow_depth(t, slow_order(t, s, 0, k));
  free(t);
  const pf_accumulator none = {0};
  const pf_sum terms = {.k = k, .x = x, .y = x, .alpha = 1, .beta = 1, .c = 1, .bias = 1};
  const double loops = counting_products(&none, s, x, x, k);
  const double addends = counting_epilogue(&none, s, &terms, loops) - loops;
  const int64_t stated = pf_summation_depth(s, k);
  if (tree != stated || (int64_t)loops - 1 != stated || addends != 2)
    fail_msg("order %d width %d fused %d k %lld: %lld stated, %d in the tree, %g counted, %g more "
             "for c and bias", s->order, s->width, s->fused, (long long)k, (long long)stated, tree,
             loops - 1, addends);
}

/* Equality, not only a bound: a depth too great would hide faults. */
static void stated_depth_is_that_of_the_loops(void **state)
{
  (void)state;
  static double x[300];
  for (int64_t k = 1; k <= 300; k++)
    for (int order = PF_FORWARD; order <= PF_LANES; order++)
      for (int width = 1; width <= 64; width++)
        for (int fused = 0; fused < 2; fused++) {
          const bool wide = order == PF_BLOCKED || order == PF_LANES;
          const pf_summation s = {(pf_order)order, wide ? width : 0, fused};
          if (wide || width == 1)
            check_depth(&s, k, x);
        }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(sums_are_those_of_the_slow_tree),
    cmocka_unit_test(stated_depth_is_that_of_the_loops),
  };
  return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
