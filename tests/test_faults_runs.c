/* Planted faults that no single step of floats shows: those that span steps, those of integers.  On
   random cases each differs from the right kernel only where a predicate, which knows nothing of the
   faulty code, says that it may; test_faults.c looks at their triggers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine_reference.h"
#include "faults/faults.h"
#include "form_fuzz.h"
#include "form_text.h"
#include "interpret.h"
#include "random_source.h"

static const uint64_t SEED = 0x66756c74;

typedef struct scene {
  pf_arena arena;
  pf_case what;
  pf_problem problem;
  pf_plan plan;
} scene;

static void random_case(random_source *r, const pf_filter *filter, scene *s)
{
  uint8_t bytes[200];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)draw_bits(r);
  pf_arena_reset(&s->arena);
  assert_int_equal(pf_fuzz_decode(bytes, sizeof bytes, filter, &s->arena, &s->what), PF_OK);
  assert_int_equal(pf_problem_build(&s->what, &s->arena, &s->problem), PF_OK);
}

static bool bind(scene *s, const char *row)
{
  return pf_plan_parse("test", row, &s->what, &s->plan, NULL) == PF_OK;
}

static const double *results_of(scene *s, const pf_engine *e)
{
  pf_run run;
  const pf_status status = pf_interpret(&s->problem, &s->plan, e, &s->arena, &run);
  assert_true(status == PF_OK || status == PF_UNSUPPORTED);
  return status == PF_OK ? run.got : NULL;
}

static bool same(double a, double b)
{
  return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

typedef struct tally { int off, on, shown; } tally;

/* may_show: for one element. */
static void compare(scene *s, const double *right, const double *wrong,
                    bool (*may_show)(const scene *s, int64_t element), tally *t)
{
  for (int64_t i = 0; i < s->problem.shape.outputs; i++) {
    const bool equal = same(right[i], wrong[i]), on = may_show(s, i);
    if (!equal && !on) {
      pf_text_print(&s->what, stdout);
      fail_msg(": element %d is %a, not %a", (int)i, wrong[i], right[i]);
    }
    t->off += !on;
    t->on += on;
    t->shown += !equal;
  }
}

static void check_tally(const char *name, const tally *t, int shown)
{
  print_message("%s: %d off its trigger, equal; %d on it, %d of them differ\n", name, t->off, t->on,
                t->shown);
  assert_true(t->off >= FEWER(1000) && t->shown >= FEWER(shown));
}

/* --- roundings between steps --------------------------------------------------------------- */

/* The sum, in the order of the faulty kernel, before it is rounded to the first step's format. */
static float unrounded(const scene *s, int64_t element)
{
  const pf_sum t = pf_step_terms(&s->problem, &s->plan.step[0], s->problem.x_vectors,
                                 s->problem.y_vectors, element);
  float sum = 0;
  for (int64_t k = 0; k < t.k; k++) {
    const float product = (float)t.x[k] * (float)t.y[k];
    sum += product;
  }
  return sum;
}

static bool rounds(const scene *s, int64_t element)
{
  const float v = unrounded(s, element);
  const pf_format *f = pf_is_integer(&s->plan.step[0].out) ? NULL : &s->plan.step[0].out;
  const pf_format *bf16 = pf_format_of(PF_BF16);
  const bool narrow = f && f->precision < 24;
  return isfinite(v) ? pf_round(narrow ? f : bf16, (double)v) != (double)v : false;
}

static void test_spanning(const pf_engine *e, const char *const *rows, int count)
{
  static const pf_filter filter = {
    .dtypes = 1u << PF_F32 | 1u << PF_F16 | 1u << PF_BF16,
    .graphs = 1u << PF_MATMUL_ADD | 1u << PF_MATMUL_CAST_F32_ADD, .max_work = 256};
  random_source r = {SEED};
  scene s = {0};
  tally t = {0};
  for (int i = 0; i < FEWER(6000); i++) {
    random_case(&r, &filter, &s);
    if (!bind(&s, rows[i % count])) continue;
    compare(&s, results_of(&s, &pf_fault_none), results_of(&s, e), rounds, &t);
  }
  check_tally(e->name, &t, 10000);
  pf_arena_free(&s.arena);
}

static void m05_shows_where_the_sum_rounds(void **unused)
{
  (void)unused;
  static const char *const rows[] = {
    "t0 = MATMUL(x, y; acc f32, out bf16) out = ADD(t0, bias; f32)",
    "t0 = MULSUM(x, y; acc f32, out f16/rz) t1 = CAST(t0; f32) out = ADD(t1, bias; f32)",
    "t0 = MATMUL(x, y; acc f32, out in) out = ADD(t0, bias; result)",
  };
  test_spanning(&pf_fault_M05, rows, 3);
}

static void m06_shows_where_bf16_rounds(void **unused)
{
  (void)unused;
  static const char *const rows[] = {
    "t0 = MATMUL(x, y; acc f32, out bf16) t1 = CAST(t0; f32) out = ADD(t1, bias; f32)",
    "t0 = MULSUM(x, y; acc f32) t1 = CAST(t0; bf16) t2 = CAST(t1; f32) out = ADD(t2, bias; f32)",
    "t0 = MATMUL(x, y; acc f32, out bf16) out = CAST(t0; f32)",
  };
  test_spanning(&pf_fault_M06, rows, 3);
}

/* What they do not span they run as the plain kernel does. */
static void without_the_steps_they_are_right(void **unused)
{
  (void)unused;
  static const char *const rows[] = {
    "t0 = MATMUL(x, y; acc f32) out = ADD(t0, bias; f32)",
    "t0 = MATMUL(x, y; acc f32, out bf16) t1 = CAST(t0; f32) t2 = CAST(bias; f32) "
    "out = ADD(t2, t2; f32)",
    "t0 = MATMUL(x, y; acc f32, out bf16) t1 = CAST(bias; f32) t2 = ADD(t1, t1; f32) "
    "out = CAST(t2; f32)",
    "out = MATMUL(x, y, bias; acc f32, out bf16)",
  };
  static const pf_filter filter = {.dtypes = 1u << PF_BF16, .graphs = 1u << PF_MATMUL_ADD,
                                   .max_work = 256};
  random_source r = {SEED};
  scene s = {0};
  for (int i = 0; i < 400; i++) {
    random_case(&r, &filter, &s);
    assert_true(bind(&s, rows[i % 4]));
    const double *right = results_of(&s, &pf_fault_none);
    const double *m05 = results_of(&s, &pf_fault_M05), *m06 = results_of(&s, &pf_fault_M06);
    for (int64_t j = 0; j < s.problem.shape.outputs; j++)
      assert_true(same(right[j], m05[j]) && same(right[j], m06[j]));
  }
  pf_arena_free(&s.arena);
}

/* --- integers ------------------------------------------------------------------------------ */

static bool a_pair_leaves_s16(const scene *s, int64_t element)
{
  const pf_sum t = pf_step_terms(&s->problem, &s->plan.step[0], s->problem.x_vectors,
                                 s->problem.y_vectors, element);
  if (s->what.operand[PF_X].dtype == s->what.operand[PF_Y].dtype) return false;
  for (int64_t k = 0; k + 1 < t.k; k += 2) {
    const double pair = t.x[k] * t.y[k] + t.x[k + 1] * t.y[k + 1];
    if (pair > 32767 || pair < -32768) return true;
  }
  return false;
}

static void m38_shows_where_a_pair_leaves_s16(void **unused)
{
  (void)unused;
  const pf_filter filter = {.dtypes = 1u << PF_S8 | 1u << PF_U8 | 1u << PF_S32,
                            .kinds = 1u << PF_BITS | 1u << PF_WIDE, .max_work = 512};
  random_source r = {SEED};
  scene s = {0};
  tally t = {0};
  for (int i = 0; i < FEWER(12000); i++) {
    random_case(&r, &filter, &s);
    if (!bind(&s, pf_row_find(s.what.graph, i & 1 ? "eager" : "inductor")->text)) continue;
    const double *wrong = results_of(&s, &pf_fault_M38);
    if (wrong)
      compare(&s, results_of(&s, &pf_reference_forward), wrong, a_pair_leaves_s16, &t);
  }
  check_tally("fault:M38", &t, 100);
  pf_arena_free(&s.arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(m05_shows_where_the_sum_rounds),
    cmocka_unit_test(m06_shows_where_bf16_rounds),
    cmocka_unit_test(without_the_steps_they_are_right),
    cmocka_unit_test(m38_shows_where_a_pair_leaves_s16),
  };
  return cmocka_run_group_tests_name("faults_runs", tests, NULL, NULL);
}
