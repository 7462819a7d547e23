/* The errors that pf_explain tells, on cases small enough to know them by hand: each expected
   number is exact and compared for equality. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "explain.h"
#include "form_text.h"
#include "mpfr_oracle.h"

/* One row of one case, explained. */
typedef struct pf_fixture {
  pf_session session;
  pf_case what;
  pf_explanation why;
  pf_plan plan;
  pf_status exact_status;
  double magnitude[64];
  int results;
} pf_fixture;

static void on_result(void *user, const pf_result *r)
{
  pf_fixture *f = user;
  pf_session *s = &f->session;
  pf_exact_results exact;
  const char *why;
  f->results++;
  assert_non_null(r->run);
  f->plan = *r->plan;
  f->exact_status = pf_exact_results_of(r->problem, &s->oracle, &s->work, &exact, &why);
  if (f->exact_status)
    return;
  assert_true(r->problem->shape.outputs <= 64);
  for (int64_t i = 0; i < r->problem->shape.outputs; i++)
    f->magnitude[i] = exact.magnitude[i];
  assert_int_equal(pf_explain(r, &exact, &s->oracle, &s->work, &f->why), PF_OK);
}

static void explain_on(pf_fixture *f, const pf_engine *engine, const char *strategy,
                       const char *text)
{
  pf_error e = {0};
  memset(f, 0, sizeof *f);
  assert_int_equal(pf_mpfr_oracle_new(&f->session.oracle), PF_OK);
  pf_options_default(&f->session.options);
  f->session.options.engine[0] = engine;
  f->session.options.engine_count = 1;
  assert_int_equal(pf_options_strategies(&f->session.options, strategy, &e), PF_OK);
  assert_int_equal(pf_text_parse(text, strlen(text), &f->session.cases, &f->what, &e), PF_OK);
  assert_int_equal(pf_session_examine(&f->session, &f->what, on_result, f), PF_OK);
  assert_int_equal(f->results, 1);
}

static void explain(pf_fixture *f, const char *strategy, const char *text)
{
  explain_on(f, pf_engine_find("reference:forward", 17), strategy, text);
}

static void done(pf_fixture *f)
{
  pf_mpfr_oracle_free(&f->session.oracle);
  pf_session_free(&f->session);
}

static void expect(const pf_worst_error *w, int64_t element, double error, double share,
                   double ulps)
{
  assert_int_equal(w->element, element);
  assert_true(w->error == error);
  assert_true(w->share == share);
  assert_true(w->ulps == ulps);
}

/* 1 + 2^-9 rounds to 1 in bf16: all of it in t0.  A step's error taken against the graph's exact
   result instead of its own inputs would give `out` the same. */
static void the_step_that_rounds(void **state)
{
  pf_fixture f;
  const char *text = "matmul_out_f32_add x=bf16[1,2] y=bf16[2,1] bias=bf16[1] x.bits=3f80,3b00 "
                     "y.bits=3f80,3f80 bias.bits=0";
  (void)state;
  explain(&f, "aot_eager", text);
  const double lost = 0x1p-9, share = lost / (1 + lost);
  expect(&f.why.step[0], 0, lost, share, 0x1p14);
  expect(&f.why.step[1], 0, 0, 0, 0);
  expect(&f.why.step[2], 0, 0, 0, 0);
  expect(&f.why.total, 0, lost, share, 0x1p14);
  assert_int_equal(f.why.largest, 0);
  assert_true(pf_set_allows(&f.why.allowed.set, 1));
  assert_false(pf_set_allows(&f.why.allowed.set, 1 + lost));
  done(&f);
  explain(&f, "eager", text);
  expect(&f.why.total, 0, 0, 0, 0);
  assert_int_equal(f.why.largest, -1);
  done(&f);
}

/* The same sum, kept by the f32 accumulator: the cast loses it. */
static void a_cast_that_rounds(void **state)
{
  pf_fixture f;
  (void)state;
  explain(&f, "inductor_graph", "matmul_out_f32_add x=bf16[1,2] y=bf16[2,1] bias=bf16[1] "
          "x.bits=3f80,3b00 y.bits=3f80,3f80 bias.bits=0");
  assert_int_equal(f.why.largest, 3);
  for (int i = 0; i < f.plan.count; i++) {
    assert_true(f.why.known[i]);
    assert_true(f.why.step[i].error == (i == 3 ? 0x1p-9 : 0));
  }
  done(&f);
}

/* 1 + 2^-30 rounds to 1 in f32. */
static void an_addition_that_rounds(void **state)
{
  pf_fixture f;
  (void)state;
  explain(&f, "eager", "matmul_out_f32_add x=bf16[1,1] y=bf16[1,1] bias=bf16[1] x.bits=3f80 "
          "y.bits=3f80 bias.bits=3080");
  assert_int_equal(f.why.largest, 1);
  expect(&f.why.step[0], 0, 0, 0, 0);
  expect(&f.why.step[1], 0, 0x1p-30, 0x1p-30 / (1 + 0x1p-30), 0x1p-7);
  done(&f);
}

/* t0 loses 2^-9 and out another 2^-30: the first is the largest, not the last. */
static void two_steps_that_round(void **state)
{
  pf_fixture f;
  (void)state;
  explain(&f, "aot_eager", "matmul_out_f32_add x=bf16[1,2] y=bf16[2,1] bias=bf16[1] "
          "x.bits=3f80,3b00 y.bits=3f80,3f80 bias.bits=3080");
  assert_true(f.why.step[0].error == 0x1p-9);
  assert_true(f.why.step[2].error == 0x1p-30);
  assert_true(f.why.total.error == 0x1p-9 + 0x1p-30);
  assert_int_equal(f.why.largest, 0);
  done(&f);
}

/* 3 times the f32 nearest 0.1, in f32; c is not read. */
static void a_scaling_that_rounds(void **state)
{
  pf_fixture f;
  const double alpha = 0.1f, lost = fabs((double)(float)(3 * alpha) - 3 * alpha);
  (void)state;
  assert_true(lost > 0);
  explain(&f, "s: t0 = MATMUL(x, y; acc f32) t1 = SCALE(t0, alpha; f32) t2 = SCALE(c, beta; f32) "
              "out = ADD(t1, t2; f32)",
          "addmm x=f32[1,1] y=f32[1,1] c=f32[1,1] alpha=0.1 beta=0 x.bits=3f800000 "
          "y.bits=40400000 c.bits=7fc00000");
  assert_int_equal(f.why.largest, 1);
  assert_true(f.why.step[1].error == lost);
  expect(&f.why.step[2], 0, 0, 0, 0);
  assert_true(f.why.total.error == lost);
  done(&f);
}

/* 1.25 is 1 at two bits; times 4 that moves the sum by 1, whichever operand is cast. */
static void a_cast_of_an_operand(void **state)
{
  static const char *const rows[] = {
    "a = CAST(x; p2:-126:0x1.8p127) out = MATMUL(a, y; acc f32)",
    "b = CAST(y; p2:-126:0x1.8p127) out = MATMUL(x, b; acc f32)"};
  static const char *const cases[] = {
    "matmul x=f32[1,1] y=f32[1,1] x.bits=3fa00000 y.bits=40800000",
    "matmul x=f32[1,1] y=f32[1,1] x.bits=40800000 y.bits=3fa00000"};
  (void)state;
  for (int i = 0; i < 2; i++) {
    pf_fixture f;
    explain(&f, rows[i], cases[i]);
    expect(&f.why.step[0], 0, 1, 0.2, 1 / 0x1p-21);
    expect(&f.why.step[1], 0, 0, 0, 0);
    expect(&f.why.total, 0, 1, 0.2, 1 / 0x1p-21);
    assert_int_equal(f.why.largest, 0);
    done(&f);
  }
}

/* The exact 1 + 2^-80 needs more than a double: a total against the nearest double would be 0. */
static void exact_beyond_double(void **state)
{
  pf_fixture f;
  (void)state;
  explain(&f, "eager", "matmul x=f64[1,2] y=f64[2,1] x.bits=3ff0000000000000,3af0000000000000 "
          "y.bits=3ff0000000000000,3ff0000000000000");
  assert_true(f.why.step[0].error == 0x1p-80);
  assert_true(f.why.total.error == 0x1p-80);
  done(&f);
}

/* Element 0 errs by 2 of 1024, element 1 by 2^-8 of 1: the share decides. */
static void greatest_share_not_error(void **state)
{
  pf_fixture f;
  (void)state;
  explain(&f, "eager", "matmul x=bf16[2,2] y=bf16[2,1] x.bits=4480,4000,3f80,3b80 "
          "y.bits=3f80,3f80");
  assert_true(f.magnitude[0] == 1026 && f.magnitude[1] == 1 + 0x1p-8);
  expect(&f.why.total, 1, 0x1p-8, 0x1p-8 / (1 + 0x1p-8), 0.5);
  expect(&f.why.step[0], 1, 0x1p-8, 0x1p-8 / (1 + 0x1p-8), 0.5);
  done(&f);
}

/* 2^-140 squared is 0 in f32, all of it lost; as a share of the smallest normal it is nothing. */
static void below_the_smallest_normal(void **state)
{
  pf_fixture f;
  (void)state;
  explain(&f, "eager", "matmul x=f32[1,1] y=f32[1,1] x.bits=200 y.bits=200");
  expect(&f.why.total, 0, 0x1p-280, 0x1p-280 / 0x1p-126, 0x1p-131);
  done(&f);
}

/* Row 1 of x has an infinity, row 2 a NaN; c of row 3 is infinite: only row 0 is measured. */
static void special_elements(void **state)
{
  pf_fixture f;
  (void)state;
  explain(&f, "eager", "matmul_out_f32_add x=bf16[4,1] y=bf16[1,1] bias=bf16[4,1] "
          "x.bits=3f80,7f80,7fc0,3f80 y.bits=3f80 bias.bits=3080,0,0,7f80");
  expect(&f.why.step[1], 0, 0x1p-30, 0x1p-30 / (1 + 0x1p-30), 0x1p-7);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(f.why.step[i].special, 3);
    assert_int_equal(f.why.step[i].first_special, 1);
  }
  assert_int_equal(f.why.total.special, 3);
  done(&f);
}

/* 2^100 is infinite in f16: what the cast moves the sum by is no number. */
static void a_cast_that_overflows(void **state)
{
  pf_fixture f;
  (void)state;
  explain(&f, "a = CAST(x; f16) out = MATMUL(a, y; acc f32)",
          "matmul x=f32[2,1] y=f32[1,1] x.bits=71800000,3f800000 y.bits=3f800000");
  for (int i = 0; i < 2; i++) {
    expect(&f.why.step[i], 1, 0, 0, 0);
    assert_int_equal(f.why.step[i].special, 1);
    assert_int_equal(f.why.step[i].first_special, 0);
  }
  done(&f);
}

/* An output without elements and a sum without terms. */
static void nothing_there(void **state)
{
  pf_fixture f;
  (void)state;
  explain(&f, "inductor", "matmul x=f32[0,3] y=f32[3,2]");
  assert_int_equal(f.why.total.element, -1);
  assert_int_equal(f.why.largest, -1);
  for (int i = 0; i < f.plan.count; i++)
    assert_int_equal(f.why.step[i].element, -1);
  done(&f);
  explain(&f, "eager", "matmul x=f32[1,0] y=f32[0,1]");
  expect(&f.why.total, 0, 0, 0, 0);
  done(&f);
}

static void no_exact_result(void **state)
{
  pf_fixture f;
  (void)state;
  explain(&f, "eager", "addmm x=f32[1,1] y=f32[1,1] c=f32[1,1] alpha=inf");
  assert_int_equal(f.exact_status, PF_UNSUPPORTED);
  done(&f);
}

/* --- an engine that takes steps together --------------------------------------------------- */

static pf_status supports_all(const pf_engine *e, const pf_call *call, const char **why)
{
  (void)e;
  *why = "runs the whole graph only";
  return call->count == 3 ? PF_OK : PF_UNSUPPORTED;
}

/* 1 whatever it is asked. */
static pf_status run_one(const pf_engine *e, const pf_call *call, pf_arena *scratch)
{
  (void)e;
  (void)scratch;
  pf_store(call->out->dtype, call->out->data, 1);
  return PF_OK;
}

static void steps_in_one_call(void **state)
{
  const pf_engine whole = {.name = "whole", .note = "", .sum = {.order = PF_ANY_ORDER},
                           .supports = supports_all, .run = run_one};
  pf_fixture f;
  (void)state;
  explain_on(&f, &whole, "aot_eager", "matmul_out_f32_add x=bf16[1,2] y=bf16[2,1] bias=bf16[1] "
             "x.bits=3f80,3b00 y.bits=3f80,3f80 bias.bits=0");
  assert_true(f.why.total.error == 0x1p-9);
  assert_false(f.why.known[0]);
  assert_true(f.why.known[1]);  /* it adds nothing, whoever runs it */
  assert_false(f.why.known[2]);
  assert_int_equal(f.why.largest, -1);
  done(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_step_that_rounds),
    cmocka_unit_test(a_cast_that_rounds),
    cmocka_unit_test(an_addition_that_rounds),
    cmocka_unit_test(two_steps_that_round),
    cmocka_unit_test(a_scaling_that_rounds),
    cmocka_unit_test(a_cast_of_an_operand),
    cmocka_unit_test(exact_beyond_double),
    cmocka_unit_test(greatest_share_not_error),
    cmocka_unit_test(below_the_smallest_normal),
    cmocka_unit_test(special_elements),
    cmocka_unit_test(a_cast_that_overflows),
    cmocka_unit_test(nothing_there),
    cmocka_unit_test(no_exact_result),
    cmocka_unit_test(steps_in_one_call),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
