/* Certified arithmetic against the oracle: what it encloses is enclosed, what it allows is allowed, and
   it settles most of what is right. */
#include "case_checks.h"

#include <math.h>

#include "engine_reference.h"
#include "bound.h"
#include "certified.h"
#include "oracle_fixture.h"
#include "session.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLOW 10
#endif
#endif
#ifndef SLOW
#define SLOW 1
#endif

static bool finite_sum(const pf_sum *s)
{
  bool finite = isfinite(s->c) && isfinite(s->bias) && isfinite(s->alpha) && isfinite(s->beta);
  for (int64_t k = 0; k < s->k; k++)
    finite = finite && isfinite(s->x[k]) && isfinite(s->y[k]);
  return finite;
}

static int quantum_of(const pf_sum *s)
{
  int x = PF_NO_QUANTUM, y = PF_NO_QUANTUM;
  for (int64_t k = 0; k < s->k; k++) {
    const int a = pf_last_bit(s->x[k]), b = pf_last_bit(s->y[k]);
    x = a < x ? a : x;
    y = b < y ? b : y;
  }
  return x == PF_NO_QUANTUM || y == PF_NO_QUANTUM ? 0 : x + y;
}

/* v - e <= low and high <= v + e, T not below the magnitude; exact where the radius says so. */
static void check_sum(const pf_sum *s, bool wide, long *exact)
{
  pf_certified v;
  pf_truth t;
  if (!finite_sum(s) || !(wide ? pf_certify_f64 : pf_certify)(s, quantum_of(s), &v))
    return;
  oracle.sum(oracle.state, s, &t);
  const double t_up = ldexp(t.positive, t.scale) + ldexp(t.negative, t.scale);
  const double errors[] = {0, t_up * 0x1p-53, t_up * 0x1p-24, fabs(v.value), t_up};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    assert_false(pf_certified_low(&v, errors[i]) < oracle.below(oracle.state, errors[i]));
    assert_false(pf_certified_high(&v, errors[i]) > oracle.above(oracle.state, errors[i]));
  }
  assert_true(v.magnitude <= nextafter(t_up, INFINITY));
  if (v.tail == 0 && v.radius == 0) {
    assert_true(oracle.below(oracle.state, 0) == v.value);
    assert_true(oracle.above(oracle.state, 0) == v.value);
    ++*exact;
  }
}

static void test_sums(void **state)
{
  (void)state;
  uint64_t random = 2024;
  pf_arena a = {0};
  long exact = 0, sums = 0;
  for (int i = 0; i < 20000 / SLOW; i++) {
    pf_case c;
    pf_problem p;
    check_random_case(&random, NULL, &a, &c);
    assert_int_equal(pf_problem_build(&c, &a, &p), PF_OK);
    const pf_step all = {.alpha = true, .c = p.has_c, .bias = p.has_bias};
    const int64_t step = p.shape.outputs / 8 + 1;
    const bool wide = pf_format_of(c.operand[PF_X].dtype)->precision > 24 ||
                      pf_format_of(c.operand[PF_Y].dtype)->precision > 24;
    for (int64_t e = 0; e < p.shape.outputs; e += step, sums++) {
      const pf_sum s = pf_step_terms(&p, &all, p.x_vectors, p.y_vectors, e);
      check_sum(&s, wide, &exact);
    }
  }
  assert_true(exact > sums / 20);
  pf_arena_free(&a);
}

/* Each subset lies in its set; `whole` sets are equal. */
static void check_subset(const pf_enclosure *subset, const pf_enclosure *all)
{
  if (subset->whole && !pf_set_equal(&subset->set, &all->set))
    fail_msg("a set that is called whole is not");
  if (pf_set_has_finite(&subset->set)) {
    assert_true(pf_set_has_finite(&all->set));
    assert_true(subset->set.lo >= all->set.lo && subset->set.hi <= all->set.hi);
  }
}

enum { ROWS = 8 };

static int bind_all(const pf_case *c, pf_plan *plan, pf_ask *ask)
{
  static const pf_summation orders[] = {
    {PF_ANY_ORDER, 0, false}, {PF_PAIRWISE, 0, true}, {PF_BLOCKED, 8, false}, {PF_LANES, 8, true}};
  int n = 0;
  for (const pf_row *r = pf_rows; r->text && n < ROWS; r++)
    if (r->graph == c->graph && !pf_plan_parse(r->strategy, r->text, c, &plan[n], NULL)) {
      ask[n] = (pf_ask){.plan = &plan[n], .order = orders[n % 4]};
      n++;
    }
  return n;
}

static void test_subsets(void **state)
{
  (void)state;
  uint64_t random = 77;
  pf_arena a = {0};
  long finite = 0, elements = 0;
  for (int i = 0; i < 4000 / SLOW; i++) {
    pf_case c;
    pf_problem p;
    pf_plan plan[ROWS];
    pf_ask ask[ROWS];
    pf_enclosure subset[ROWS], all[ROWS];
    pf_encloser *e;
    const char *why;
    check_random_case(&random, NULL, &a, &c);
    assert_int_equal(pf_problem_build(&c, &a, &p), PF_OK);
    const int n = bind_all(&c, plan, ask);
    if (pf_encloser_new(&p, &oracle, ask, n, &a, &e, &why))
      continue;
    const int64_t step = p.shape.outputs / 16 + 1;
    for (int64_t element = 0; element < p.shape.outputs; element += step, elements++) {
      pf_enclose_inside(e, element, subset);
      pf_enclose(e, element, all);
      for (int r = 0; r < n; r++)
        check_subset(&subset[r], &all[r]);
      finite += pf_set_has_finite(&subset[0].set);
    }
  }
  assert_true(finite > elements / 2);
  pf_arena_free(&a);
}

typedef struct counts {
  long verdict[PF_VERDICT_COUNT], judged, order, wrong;
} counts;

static void count(void *user, const pf_result *r)
{
  counts *c = user;
  c->verdict[r->verdict]++;
  c->judged += (long)r->tally.judged;
  c->order += (long)r->tally.order;
  c->wrong += (long)r->tally.wrong;
}

/* Measuring asks the oracle for every element: the verdicts must be the same without. */
static void test_same_verdicts(void **state)
{
  (void)state;
  static const char *const engines[] = {"reference:lanes8", "fault:M01", "fault:M13", "fault:M10"};
  pf_session s = {.oracle = oracle};
  uint64_t random = 5;
  long wrong = 0;
  for (int i = 0; i < 1200 / SLOW; i++) {
    pf_case c;
    counts fast = {0}, exact = {0};
    check_random_case(&random, NULL, &s.cases, &c);
    pf_options_default(&s.options);
    assert_int_equal(pf_options_engines(&s.options, engines[i % 4], NULL), PF_OK);
    assert_int_equal(pf_session_examine(&s, &c, count, &fast), PF_OK);
    s.options.measure = true;
    assert_int_equal(pf_session_examine(&s, &c, count, &exact), PF_OK);
    assert_memory_equal(&fast, &exact, sizeof fast);
    wrong += exact.wrong;
  }
  assert_true(wrong > 0);
  pf_session_free(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_sums),
    cmocka_unit_test(test_subsets),
    cmocka_unit_test(test_same_verdicts),
  };
  return cmocka_run_group_tests(tests, open_oracle, close_oracle);
}
