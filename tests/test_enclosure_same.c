/* Enclosures that must agree: asked for together or alone, with the oracle or without it, of
   operands cast by the row or given so.

   What was planted and seen: an answer kept for another call's sum, orders of different depth or
   kind taken for the same, two accumulators taken for one, precision or quanta of a cast operand
   kept from before, a set called whole for its terms' size alone, a weak element settled without
   the oracle, a bound of more than the least magnitude. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "case_builder.h"
#include "form_text.h"
#include "oracle_fixture.h"
#include "random_cases.h"
#include "row_asks.h"

static const uint64_t SEED = 0x73616d6531;
/* --- one question at a time ---------------------------------------------------------------- */

/* All rows and orders asked at once share what they can; asked alone they share nothing. */
static void check_shared(const pf_case *c, pf_arena *a)
{
  pf_problem p;
  pf_plan plan[MOST_ROWS];
  pf_ask ask[MOST_ASKS];
  pf_enclosure all[MOST_ASKS], one;
  pf_encloser *together, *alone;
  const char *why;
  const int asks = all_asks(c, plan, ask);
  assert_int_equal(pf_problem_build(c, a, &p), PF_OK);
  if (pf_encloser_new(&p, &oracle, ask, asks, a, &together, &why))
    return;
  for (int64_t element = 0; element < p.shape.outputs; element++) {
    pf_enclose(together, element, all);
    for (int i = 0; i < asks; i++) {
      assert_int_equal(pf_encloser_new(&p, &oracle, &ask[i], 1, a, &alone, &why), PF_OK);
      pf_enclose(alone, element, &one);
      assert_true(pf_set_equal(&one.set, &all[i].set));
      assert_true(one.radius == all[i].radius && one.weak == all[i].weak);
    }
    /* the oracle now holds another's sum: so it must be asked again */
    pf_encloser_new(&p, &oracle, ask, asks, a, &together, &why);
  }
}

/* Where c and the bias come last, they are no part of the sum that two rows share. */
static void addends_that_come_last_tell_rows_apart(void **state)
{
  (void)state;
  static const pf_declared last = {.c_last = true};
  static const double one = 1, c = 100;
  scene s = {0};
  pf_enclosure all[2];
  pf_plan plain;
  const char *why;
  scene_reset(&s, PF_ADDMM);
  scene_operand(&s, PF_X, PF_F32, 2, 1, 1, &one);
  scene_operand(&s, PF_Y, PF_F32, 2, 1, 1, &one);
  scene_operand(&s, PF_C, PF_F32, 2, 1, 1, &c);
  scene_finish(&s);
  scene_row(&s, &oracle, "out = MATMUL(x, y, alpha, c, beta; acc f32)");
  assert_int_equal(pf_plan_parse("plain", "out = MATMUL(x, y, alpha; acc f32)", &s.what, &plain,
                                 NULL), PF_OK);
  const pf_ask both[] = {{.plan = &s.plan, .declared = &last}, {.plan = &plain, .declared = &last}};
  assert_int_equal(pf_encloser_new(&s.problem, &oracle, both, 2, &s.arena, &s.encloser, &why),
                   PF_OK);
  pf_enclose(s.encloser, 0, all);
  assert_true(pf_set_allows(&all[0].set, 101) && !pf_set_allows(&all[0].set, 1));
  assert_true(pf_set_allows(&all[1].set, 1) && !pf_set_allows(&all[1].set, 101));
  pf_arena_free(&s.arena);
}

static void answers_do_not_depend_on_what_else_is_asked(void **state)
{
  (void)state;
  pf_arena cases = {0};
  random_source r = {SEED};
  for (int i = 0; i < FEWER(400); i++) {
    pf_filter filter = random_filter(&r);
    pf_case c;
    filter.max_work = 64;
    random_case(&r, &filter, &cases, &c);
    if (pf_case_shape(&c).outputs <= 4)
      check_shared(&c, &cases);
  }
  pf_arena_free(&cases);
}

/* --- without the oracle -------------------------------------------------------------------- */

typedef struct settled {
  int64_t elements, empty;
} settled;

static void fail_inside(const pf_case *c, const pf_ask *ask, int64_t element, const pf_set *in,
                        const pf_set *out)
{
  char inner[200], outer[200];
  pf_set_print(in, inner, sizeof inner);
  pf_set_print(out, outer, sizeof outer);
  pf_text_print(c, stdout);
  fail_msg(" %s, element %lld: %s, but %s", ask->plan->strategy, (long long)element, inner, outer);
}

/* What double arithmetic allows, the oracle allows, and does not call weak; where the whole set is
   claimed, it is the oracle's. */
static void check_inside(const pf_case *c, pf_arena *a, settled *n)
{
  pf_problem p;
  pf_plan plan[MOST_ROWS];
  pf_ask ask[MOST_ASKS];
  pf_enclosure all[MOST_ASKS], part[MOST_ASKS];
  pf_encloser *e;
  const char *why;
  const int asks = all_asks(c, plan, ask);
  assert_int_equal(pf_problem_build(c, a, &p), PF_OK);
  if (pf_encloser_new(&p, &oracle, ask, asks, a, &e, &why))
    return;
  for (int64_t element = 0; element < p.shape.outputs; element++) {
    pf_enclose_inside(e, element, part);
    pf_enclose(e, element, all);
    for (int i = 0; i < asks; i++) {
      const pf_set *in = &part[i].set, *out = &all[i].set;
      if ((pf_set_has_finite(in) && (in->lo < out->lo || in->hi > out->hi || all[i].weak)) ||
          in->nan > out->nan || in->plus_infinity > out->plus_infinity ||
          in->minus_infinity > out->minus_infinity || (part[i].whole && !pf_set_equal(in, out)))
        fail_inside(c, &ask[i], element, in, out);
      n->elements++;
      n->empty += !part[i].whole && !pf_set_has_finite(in);
    }
  }
}

static void double_arithmetic_allows_nothing_more(void **state)
{
  (void)state;
  pf_arena cases = {0};
  random_source r = {SEED + 1};
  settled n = {0, 0};
  for (int i = 0; i < FEWER(6000); i++) {
    const pf_filter filter = random_filter(&r);
    pf_case c;
    random_case(&r, &filter, &cases, &c);
    if (pf_case_shape(&c).outputs <= 64)
      check_inside(&c, &cases, &n);
  }
  print_message("seed %#llx: %lld sets, %lld left to the oracle\n", (unsigned long long)SEED,
                (long long)n.elements, (long long)n.empty);
  assert_true(n.empty < n.elements / 2);
  pf_arena_free(&cases);
}

static pf_enclosure enclose_sum(scene *s, pf_dtype t, int k, const double *x, const double *y,
                                const char *row)
{
  scene_reset(s, PF_MATMUL_PLAIN);
  scene_operand(s, PF_X, t, 1, 1, k, x);
  scene_operand(s, PF_Y, t, 1, 1, k, y);
  scene_finish(s);
  scene_row(s, &oracle, row);
  return scene_enclose(s, 0);
}

/* An infinity among finite terms far below the largest number, whose sum may yet overflow in so
   narrow an accumulator: the set is not settled by their magnitude alone. */
static void narrow_sums_overflow_early(void **state)
{
  (void)state;
  enum { TERMS = 2048 };
  static double x[TERMS], one[TERMS];
  scene s = {0};
  pf_enclosure part;
  for (int i = 0; i < TERMS; i++) {
    x[i] = i ? -0x1p114 : (double)INFINITY;
    one[i] = 1;
  }
  const pf_enclosure all = enclose_sum(&s, PF_BF16, TERMS, x, one,
                                       "out = MATMUL(x, y; acc bf16)");
  assert_true(all.set.plus_infinity && all.set.nan);
  pf_enclose_inside(s.encloser, 0, &part);
  assert_true(!part.whole || pf_set_equal(&part.set, &all.set));
  pf_arena_free(&s.arena);
}

/* c alone decides, at the ends of double's range: times beta it overflows, or underflows to where
   its magnitude cannot be told from 0, under an alpha that would make much of what is lost. */
static void an_addend_may_be_beyond_double(void **state)
{
  (void)state;
  static const struct { double x, alpha, beta, c; bool nan, weak; } ends[] = {
    {INFINITY, 1, 0x1p100, -0x1p1000, true, false},
    {INFINITY, 1, 0x1p10, -0x1p1000, false, false},
    {0, 0x1p600, 0x1p-100, 0x1p-1074, false, true},
    {0x1p1023, 0x1p-1060, 1, 0x1p-17, false, true},  /* products alone fill the range */
  };
  scene s = {0};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    enum { TERMS = 64 };
    double x[TERMS] = {ends[i].x}, one[TERMS];
    pf_enclosure part;
    for (int k = 0; k < TERMS; k++)
      one[k] = 1;
    scene_reset(&s, PF_ADDMM);
    scene_operand(&s, PF_X, PF_F64, 2, 1, TERMS, x);
    scene_operand(&s, PF_Y, PF_F64, 2, TERMS, 1, one);
    scene_operand(&s, PF_C, PF_F64, 2, 1, 1, &ends[i].c);
    s.what.alpha = ends[i].alpha;
    s.what.beta = ends[i].beta;
    scene_finish(&s);
    scene_row(&s, &oracle, "out = MATMUL(x, y, alpha, c, beta; acc f64)");
    const pf_enclosure all = scene_enclose(&s, 0);
    pf_enclose_inside(s.encloser, 0, &part);
    assert_int_equal(all.set.nan, ends[i].nan);
    assert_int_equal(all.weak, ends[i].weak);
    assert_true(!part.whole || pf_set_equal(&part.set, &all.set));
    assert_true(!all.weak || !pf_set_has_finite(&part.set));
  }
  pf_arena_free(&s.arena);
}

/* --- casts of operands --------------------------------------------------------------------- */

/* Operands that a row rounds to bf16 are enclosed as if they had been given so: their precision,
   quanta and infinities are those after the cast. */
static void a_cast_operand_is_what_it_became(void **state)
{
  (void)state;
  random_source r = {SEED + 2};
  const pf_format *narrow = pf_format_of(PF_BF16);
  scene s = {0};
  for (int i = 0; i < FEWER(5000); i++) {
    enum { MOST = 6 };
    double x[MOST], y[MOST], x_cast[MOST], y_cast[MOST];
    const int k = draw_between(&r, 1, MOST);
    const int spread = draw_below(&r, 2) ? 2 : 126;
    for (int j = 0; j < k; j++) {
      const int e = draw_between(&r, -spread, spread);
      x[j] = ldexp(1 + draw_below(&r, 1 << 12) * 0x1p-12, e);
      if (!draw_below(&r, 40))
        x[j] = 0x1.fffffep127;  /* infinite in bf16 */
      y[j] = 1 + draw_below(&r, 1 << 20) * 0x1p-20;
      x_cast[j] = pf_round(narrow, x[j]);
      y_cast[j] = pf_round(narrow, y[j]);
    }
    const pf_enclosure cast =
        enclose_sum(&s, PF_F32, k, x, y,
                    "t0 = CAST(x; bf16) t1 = CAST(y; bf16) out = MATMUL(t0, t1; acc f32)");
    const pf_enclosure given = enclose_sum(&s, PF_BF16, k, x_cast, y_cast,
                                           "out = MATMUL(x, y; acc f32)");
    assert_true(pf_set_equal(&cast.set, &given.set));
  }
  pf_arena_free(&s.arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(answers_do_not_depend_on_what_else_is_asked),
    cmocka_unit_test(addends_that_come_last_tell_rows_apart),
    cmocka_unit_test(double_arithmetic_allows_nothing_more),
    cmocka_unit_test(narrow_sums_overflow_early),
    cmocka_unit_test(an_addend_may_be_beyond_double),
    cmocka_unit_test(a_cast_operand_is_what_it_became),
  };
  return cmocka_run_group_tests_name("enclosure_same", tests, open_oracle, close_oracle);
}
