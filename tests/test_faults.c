/* The planted faults: the kernel that they are planted in is right; each shows on its trigger, with
   the very value that its fault explains; and off its trigger (fault_predicates.h) it gives the
   right kernel's bits, gaps and fences of the output included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine.h"
#include "engine_reference.h"
#include "fault_predicates.h"
#include "fault_triggers.h"
#include "faults/faults.h"
#include "form_fuzz.h"
#include "form_text.h"
#include "interpret.h"

enum { CASES = 20000, SEED = 20240607 };

/* --- one step of one case ------------------------------------------------------------------ */

static pf_status run_step(scene *s, const pf_step *step, const pf_engine *e, pf_output *out,
                          const char **why)
{
  const pf_problem *p = &s->problem;
  assert_int_equal(pf_output_new(p, step->storage, &s->arena, out), PF_OK);
  const bool in_place = s->what.out_is_c && p->has_c && out->view.dtype == p->c.dtype;
  const pf_call call = {
    .problem = p, .steps = step, .count = 1, .out = &out->view,
    .value = {[PF_REF_X] = &p->x, [PF_REF_Y] = &p->y,
              [PF_REF_C] = in_place ? &out->view : p->has_c ? &p->c : NULL,
              [PF_REF_BIAS] = p->has_bias ? &p->bias : NULL},
    .x_vectors = p->x_vectors, .y_vectors = p->y_vectors,
  };
  const pf_status status = e->supports(e, &call, why);
  if (status == PF_OK) assert_int_equal(e->run(e, &call, &s->arena), PF_OK);
  return status;
}

static const double *read_output(scene *s, const pf_output *out)
{
  double *values = pf_alloc_array(&s->arena, (size_t)s->problem.shape.outputs, sizeof *values);
  assert_non_null(values);
  pf_output_read(&s->problem, out, values);
  return values;
}

/* The scene's case is there; the rest follows.  False where the row cannot be had for it. */
static bool set_scene(scene *s, const char *row)
{
  pf_error error = {0};
  assert_int_equal(pf_problem_build(&s->what, &s->arena, &s->problem), PF_OK);
  const pf_status status = pf_plan_parse("test", row, &s->what, &s->plan, &error);
  if (status != PF_OK && status != PF_UNSUPPORTED) fail_msg("%s: %s", row, error.text);
  s->step = &s->plan.step[0];
  return status == PF_OK;
}

static void parse_case(scene *s, const char *text)
{
  pf_error error = {0};
  pf_status status = pf_text_parse(text, strlen(text), &s->arena, &s->what, &error);
  if (status == PF_OK) status = pf_case_finish(&s->what, &error);
  if (status != PF_OK) fail_msg("%s: %s", text, error.text);
}

static void fail_case(const scene *s, const char *what)
{
  char text[4096] = "";
  FILE *to = fmemopen(text, sizeof text - 1, "w");
  pf_text_print(&s->what, to);
  fclose(to);
  fail_msg("%s: %s", what, text);
}

/* --- random cases -------------------------------------------------------------------------- */

static uint64_t draw(uint64_t *state)
{
  return pf_hash((*state)++);
}

/* One case of three has few terms and small integers: where sums are exact, most rounding faults
   have to give the right kernel's bits.  Another is an addmm: most epilogues need c. */
static void random_case(scene *s, uint64_t *state)
{
  static const uint32_t dtypes = 1u << PF_F32 | 1u << PF_F16 | 1u << PF_BF16 |
                                 1u << PF_F8_E4M3FN | 1u << PF_F8_E5M2FNUZ;
  const pf_filter filters[] = {
    {.dtypes = dtypes, .max_work = 64, .kinds = 1u << PF_INTEGER | 1u << PF_EQUAL},
    {.dtypes = dtypes, .max_work = 256, .graphs = 1u << PF_ADDMM},
    {.dtypes = dtypes, .max_work = 2048},
  };
  uint64_t bytes[16];
  for (int i = 0; i < 16; i++) bytes[i] = draw(state);
  pf_arena_reset(&s->arena);
  assert_int_equal(pf_fuzz_decode((const uint8_t *)bytes, sizeof bytes, &filters[draw(state) % 3],
                                  &s->arena, &s->what), PF_OK);
}

/* One step with all that the case has inside the call, and any format of the result. */
static bool random_scene(scene *s, uint64_t *state)
{
  static const char *const formats[] = {"result", "f32", "f16", "f8_e4m3fn/sat", "bf16/rz",
                                        "p4:-6:240"};
  const uint64_t pick = draw(state);
  char row[120];
  random_case(s, state);
  snprintf(row, sizeof row, "out = %s(x, y%s%s; acc f32, out %s)",
           pick & 1 ? "MATMUL" : "MULSUM",
           pf_graph_of(s->what.graph)->has_c ? ", alpha, c, beta" : "",
           s->what.operand[PF_BIAS].present ? ", bias" : "",
           s->what.out_is_c ? "result" : formats[(pick >> 1) % 6]);
  return set_scene(s, row) && s->problem.shape.outputs > 0;
}

/* --- off the trigger ----------------------------------------------------------------------- */

typedef struct fault {
  const pf_engine *engine;
  bool (*may_show)(const facts *f);
} fault;

static const fault faults[] = {
  {&pf_fault_M01, m01}, {&pf_fault_M02, m02}, {&pf_fault_M04, m04}, {&pf_fault_M07, m07},
  {&pf_fault_M08, m08}, {&pf_fault_M10, m10}, {&pf_fault_M11, m11}, {&pf_fault_M12, m12},
  {&pf_fault_M13, m13}, {&pf_fault_M15, m15}, {&pf_fault_M16, m13}, {&pf_fault_M17, m17},
  {&pf_fault_M19, m19}, {&pf_fault_M20, m20}, {&pf_fault_M21, m21}, {&pf_fault_M22, m22},
  {&pf_fault_M24, m24}, {&pf_fault_M29, m29}, {&pf_fault_M30, m30}, {&pf_fault_M31, m31},
  {&pf_fault_M32, m32}, {&pf_fault_M33, m33},
};

enum { FAULTS = sizeof faults / sizeof *faults };

typedef struct tally { int off, on, shown; } tally;

static void compare(scene *s, const pf_output *right, const facts *f, const fault *which, tally *t)
{
  pf_output out;
  const char *why;
  assert_int_equal(run_step(s, s->step, which->engine, &out, &why), PF_OK);
  const bool equal = memcmp(out.storage, right->storage, out.bytes) == 0;
  const bool on = which->may_show(f);
  if (!equal && !on) fail_case(s, which->engine->name);
  t->off += !on;
  t->on += on;
  t->shown += !equal;
}

static facts gather_facts(scene *s)
{
  pf_step wide = *s->step;
  pf_output out;
  const char *why;
  wide.out = *pf_format_of(PF_F32);
  wide.storage = PF_F32;
  assert_int_equal(run_step(s, &wide, &pf_fault_none, &out, &why), PF_OK);
  return (facts){.scene = s, .unrounded = read_output(s, &out),
                 .integer_sum = integer_sum_of(&s->problem)};
}

/* A predicate that says too little fails here; one that says "always" fails the counts. */
static void test_off_trigger(void **unused)
{
  (void)unused;
  scene s = {0};
  tally tallies[FAULTS] = {{0}};
  uint64_t state = SEED;
  print_message("seed %d\n", SEED);
  for (int i = 0; i < CASES; i++) {
    pf_output right;
    const char *why;
    if (!random_scene(&s, &state)) continue;
    if (run_step(&s, s.step, &pf_fault_none, &right, &why) != PF_OK) continue;
    const facts f = gather_facts(&s);
    for (int j = 0; j < FAULTS; j++) compare(&s, &right, &f, &faults[j], &tallies[j]);
  }
  for (int j = 0; j < FAULTS; j++) {
    const tally *t = &tallies[j];
    print_message("%s: %d off its trigger, equal; %d on it, %d of them differ\n",
                  faults[j].engine->name, t->off, t->on, t->shown);
  }
  for (int j = 0; j < FAULTS; j++) {
    assert_true(tallies[j].off >= 1000);
    assert_true(tallies[j].shown >= 10);
  }
  pf_arena_free(&s.arena);
}

/* --- on the trigger ------------------------------------------------------------------------ */

static bool same(double a, double b)
{
  return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

/* A fault of several steps, or of integers: by the interpreter, against the reference. */
static void check_row(scene *s, const pf_fault_trigger *t, const pf_engine *e)
{
  pf_run right, wrong;
  assert_int_equal(pf_interpret(&s->problem, &s->plan, &pf_reference_forward, &s->arena, &right),
                   PF_OK);
  assert_int_equal(pf_interpret(&s->problem, &s->plan, e, &s->arena, &wrong), PF_OK);
  if (!same(right.got[t->element], t->right)) fail_case(s, "not the right value");
  if (!same(wrong.got[t->element], t->wrong)) fail_case(s, t->fault);
}

static void check_trigger(scene *s, const pf_fault_trigger *t)
{
  pf_output right, wrong;
  const char *why;
  int64_t stray = -1;
  const pf_engine *e = pf_engine_find(t->fault, strlen(t->fault));
  assert_non_null(e);
  parse_case(s, t->text);
  assert_true(set_scene(s, pf_row_find(s->what.graph, "eager")->text));
  if (s->plan.count > 1 || pf_is_integer(&s->step->acc.format)) {
    check_row(s, t, e);
    return;
  }
  assert_int_equal(run_step(s, s->step, &pf_fault_none, &right, &why), PF_OK);
  assert_int_equal(run_step(s, s->step, e, &wrong, &why), PF_OK);
  assert_false(pf_output_stray(&s->problem, &right, &stray));
  const bool strays = pf_output_stray(&s->problem, &wrong, &stray);
  const int64_t at = t->shows == PF_SHOWS_STRAY ? 0 : t->element;
  if (!same(read_output(s, &right)[at], t->right)) fail_case(s, "not the right value");
  if (!same(read_output(s, &wrong)[at], t->wrong)) fail_case(s, t->fault);
  assert_int_equal(strays, t->shows == PF_SHOWS_STRAY);
  if (strays) assert_int_equal(stray, t->element * pf_dtype_of(wrong.view.dtype)->bytes);
}

static void test_on_trigger(void **unused)
{
  (void)unused;
  scene s = {0};
  for (int i = 0; i < PF_FAULT_TRIGGER_COUNT; i++) {
    pf_arena_reset(&s.arena);
    check_trigger(&s, &pf_fault_triggers[i]);
  }
  pf_arena_free(&s.arena);
}

/* A fault without a trigger in the table would never be looked for. */
static void test_every_fault_has_a_trigger(void **unused)
{
  (void)unused;
  const char *const none = "fault:none";
  assert_ptr_equal(pf_engine_find(none, strlen(none)), &pf_fault_none);
  for (int j = 0; j < FAULTS; j++) {
    int found = 0;
    for (int i = 0; i < PF_FAULT_TRIGGER_COUNT; i++) {
      found += strcmp(pf_fault_triggers[i].fault, faults[j].engine->name) == 0;
    }
    if (found == 0) fail_msg("%s has no trigger", faults[j].engine->name);
    assert_false(faults[j].engine->listed);
  }
}

/* --- the right kernel ---------------------------------------------------------------------- */

/* Against the reference loops, which read dense copies and never see a stride. */
static void test_none_is_right(void **unused)
{
  (void)unused;
  scene s = {0};
  uint64_t state = SEED + 1;
  int compared = 0;
  for (int i = 0; i < CASES / 4; i++) {
    pf_output out;
    const char *why;
    int64_t stray;
    if (!random_scene(&s, &state)) continue;
    if (run_step(&s, s.step, &pf_fault_none, &out, &why) != PF_OK) continue;
    if (s.step->alpha && s.what.alpha == 0) continue;  /* the reference reads x and y then */
    const double *got = read_output(&s, &out);
    double *want = pf_alloc_array(&s.arena, (size_t)s.problem.shape.outputs, sizeof *want);
    pf_step unfused = *s.step;
    unfused.kind = PF_MULSUM;
    pf_reference_step(&s.problem, &unfused, &pf_reference_forward.sum, s.problem.x_vectors,
                      s.problem.y_vectors, &s.arena, want);
    for (int64_t j = 0; j < s.problem.shape.outputs; j++) {
      if (!(got[j] == want[j]) && !(isnan(got[j]) && isnan(want[j]))) fail_case(&s, "fault:none");
    }
    assert_false(pf_output_stray(&s.problem, &out, &stray));
    compared++;
  }
  assert_true(compared > CASES / 8);
  pf_arena_free(&s.arena);
}

static pf_status interpret(scene *s, const char *text, const char *row, pf_run *run)
{
  pf_arena_reset(&s->arena);
  parse_case(s, text);
  if (row == NULL) row = pf_row_find(s->what.graph, "inductor")->text;
  assert_true(set_scene(s, row));
  return pf_interpret(&s->problem, &s->plan, &pf_fault_M13, &s->arena, run);
}

/* What the kernels cannot do they refuse, with a reason.  Behind casts they run. */
static void test_in_plans(void **unused)
{
  (void)unused;
  static const struct { const char *text, *row; } refused[] = {
    {"matmul x=f64[1,1] y=f64[1,1]", "out = MATMUL(x, y; acc f64)"},
    {"matmul x=f32[1,1] y=f32[1,1]", "out = MATMUL(x, y; acc bf16)"},
    {"matmul x=f32[1,1] y=f32[1,1]", "out = MATMUL(x, y; acc f32, order forward)"},
    {"matmul x=f32[1,1] y=f32[1,1]", "out = MATMUL(x, y; acc f32, order forward, drop 1)"},
    {"matmul x=f64[1,1] y=f32[1,1]",
     "t0 = CAST(x; p20:-500:0x1p500)  out = MATMUL(t0, y; acc f32)"},
  };
  scene s = {0};
  pf_run run;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    assert_int_equal(interpret(&s, refused[i].text, refused[i].row, &run), PF_UNSUPPORTED);
    assert_non_null(run.why);
  }
  const char *const nine = "matmul x=bf16[1,9] y=bf16[9,1] x.values=equal:0 y.values=equal:0";
  assert_int_equal(interpret(&s, nine, NULL, &run), PF_OK);
  assert_true(run.got[0] == 8);
  pf_arena_free(&s.arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_none_is_right),
    cmocka_unit_test(test_on_trigger),
    cmocka_unit_test(test_every_fault_has_a_trigger),
    cmocka_unit_test(test_off_trigger),
    cmocka_unit_test(test_in_plans),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
