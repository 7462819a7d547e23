/* Rows with scales: where they bind, what they compute, that no correct run leaves its enclosure,
   what explaining says of them.  Expected numbers are exact and worked out by hand or here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case_checks.h"
#include "explain.h"
#include "mpfr_oracle.h"
#include "report.h"

typedef struct fixture {
  pf_session session;
  pf_case what;
  long verdicts[PF_VERDICT_COUNT];
  int bound, blocked;
} fixture;

static fixture *setup(void)
{
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  assert_int_equal(pf_mpfr_oracle_new(&f->session.oracle), PF_OK);
  pf_options_default(&f->session.options);
  return f;
}

static void teardown(fixture *f)
{
  pf_mpfr_oracle_free(&f->session.oracle);
  pf_session_free(&f->session);
  free(f);
}

/* --- where they bind ----------------------------------------------------------------------- */

#define F8 "scaled_matmul x=f8_e4m3fn[2,5] y=f8_e5m2[5,3] "

static const struct { const char *line, *row; pf_status status; const char *says; } binds[] = {
  {F8 "x.scale=row:1 y.scale=tensor:1",
   "t = MATMUL(x, y; acc f32) u = SCALE(t, scale_x; f32) out = SCALE(u, scale_y; f64)", PF_OK,
   NULL},
  {F8 "x.scale=block2:1 y.scale=block3:1",
   "a = SCALE(x, scale_x; f32) b = SCALE(y, scale_y; f64) out = MATMUL(a, b; acc f64)", PF_OK,
   NULL},
  {F8 "x.scale=row:1",
   "a = CAST(x; bf16) b = SCALE(a, scale_x; f32) d = CAST(b; bf16) out = MATMUL(d, y; acc f32)",
   PF_OK, NULL},
  {F8 "x.scale=block2:1", "t = MATMUL(x, y; acc f32) out = SCALE(t, scale_x; f32)", PF_UNSUPPORTED,
   "vary along K"},
  {F8 "x.scale=row:1", "t = MATMUL(x, y; acc f32, out bf16) out = SCALE(t, scale_x; bf16)",
   PF_UNSUPPORTED, "scales are f32"},
  {F8 "x.scale=row:1", "t = MATMUL(x, y; acc f64) out = SCALE(t, scale_x; f32)", PF_UNSUPPORTED,
   "CAST it first"},
  {F8 "x.scale=row:1 y.scale=row:1", "a = SCALE(x, scale_y; f32) out = MATMUL(a, y; acc f32)",
   PF_BAD_INPUT, "x is scaled by scale_x"},
  {F8 "x.scale=row:1", "t = MATMUL(x, y; acc f32) out = SCALE(t, bias; f32)", PF_BAD_INPUT,
   "SCALE is by"},
  {F8 "x.scale=row:1", "t = MATMUL(x, y; acc f32) out = ADD(t, scale_x; f32)", PF_BAD_INPUT,
   "works on results"},
  {F8 "x.scale=row:1", "t = MATMUL(x, y; acc f32) u = CAST(scale_x; f32) out = CAST(t; f32)",
   PF_BAD_INPUT, "nothing there to CAST"},
  {F8 "x.scale=row:1", "t = MATMUL(x, y; acc f32) u = SCALE(beta, scale_x; f32) out = CAST(t; f32)",
   PF_BAD_INPUT, "works on results"},
};

static void rows_bind_where_scales_allow(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  for (size_t i = 0; i < sizeof binds / sizeof *binds; i++) {
    pf_case c;
    pf_plan plan;
    pf_error e = {.text = ""};
    check_parse(binds[i].line, &a, &c);
    const pf_status status = pf_plan_parse("test", binds[i].row, &c, &plan, &e);
    if (status != binds[i].status || (binds[i].says && !strstr(e.text, binds[i].says)))
      fail_msg("%s: %s: %s", binds[i].row, pf_status_name(status), e.text);
  }
  pf_arena_free(&a);
}

/* Without a scale what is left of scaling is its rounding. */
static void no_scale_is_a_cast(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  pf_case c;
  pf_plan plan;
  check_parse(F8, &a, &c);
  assert_int_equal(pf_plan_parse("test", pf_row_find(PF_SCALED_MATMUL, "eager")->text, &c, &plan,
                                 NULL), PF_OK);
  assert_int_equal(plan.count, 6);
  for (int i = 1; i < plan.count; i++)
    assert_true(plan.step[i].kind == PF_CAST && plan.exact[i]);
  pf_arena_free(&a);
}

/* --- what they compute --------------------------------------------------------------------- */

/* x = (3, 5), y = (7, 11)', scales in f32; all but the last roundings is exact. */
#define SMALL \
  "scaled_matmul x=f8_e4m3fn[1,2] y=f8_e4m3fn[2,1] x.bits=44,4a y.bits=4e,53 bias=f32[] "

static const struct { const char *line, *strategy; double got; } results[] = {
  /* 76 * 0.5 * 4 + 1 */
  {SMALL "bias.bits=3f800000 x.scale=tensor:=0.5 y.scale=row:=4", "eager", 153},
  {SMALL "bias.bits=3f800000 x.scale=tensor:=0.5 y.scale=row:=4", "inductor", 153},
  /* 3 * 0.5 * 7 * 4 + 5 * 2 * 11 * 8 + 1 */
  {SMALL "bias.bits=3f800000 x.scale=block1:=0.5,2 y.scale=block1:=4,8", "aot_eager", 923},
  {SMALL "bias.bits=3f800000 x.scale=block1:=0.5,2 y.scale=block2:=4", "dequantize", 483},
  /* 153 to the nearest of 4 bits */
  {SMALL "bias.bits=3f800000 out=f8_e4m3fn x.scale=tensor:=0.5 y.scale=row:=4", "eager", 160},
  /* 76 and 1.19 ulp */
  {SMALL "bias.bits=0 x.scale=tensor:=0x1.000002p0", "eager", 0x1.300002p6},
  {SMALL "bias.bits=0 x.scale=tensor:=0x1.000002p0", "dequantize", 0x1.300002p6},
};

static void keep_first(void *user, const pf_result *r)
{
  double *got = user;
  assert_non_null(r->run);
  assert_int_equal(r->verdict, PF_VERDICT_OK);
  *got = r->run->got[0];
}

static void results_are_those_of_the_definition(void **unused)
{
  (void)unused;
  fixture *f = setup();
  for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
    double got = NAN;
    pf_error e = {0};
    pf_options_default(&f->session.options);
    assert_int_equal(pf_options_engines(&f->session.options, "reference:forward", &e), PF_OK);
    assert_int_equal(pf_options_strategies(&f->session.options, results[i].strategy, &e), PF_OK);
    check_parse(results[i].line, &f->session.cases, &f->what);
    assert_int_equal(pf_session_examine(&f->session, &f->what, keep_first, &got), PF_OK);
    if (got != results[i].got)
      fail_msg("%s: %s gives %a, not %a", results[i].line, results[i].strategy, got,
               results[i].got);
  }
  teardown(f);
}

/* --- the exact result ---------------------------------------------------------------------- */

/* In integers times a power of two, for scales that are powers of two. */
static void exact_results_are_scaled(void **unused)
{
  (void)unused;
  static const pf_filter filter = {
    .graphs = 1u << PF_SCALED_MATMUL, .kinds = 1u << PF_INTEGER, .max_work = 300,
    .dtypes = 1u << PF_F8_E4M3FN | 1u << PF_BF16 | 1u << PF_S8};
  uint64_t seed = 79;
  fixture *f = setup();
  for (int i = 0; i < 500; i++) {
    pf_problem p;
    pf_encloser *e;
    const char *why;
    check_random_case(&seed, &filter, &f->session.cases, &f->what);
    for (int r = PF_X; r < PF_OUT; r++) {
      f->what.operand[r].values.edit_count = 0;
      f->what.operand[r].scale.values = NULL;
      f->what.operand[r].scale.count = 0;
      f->what.operand[r].scale.seed &= ~1u;
    }
    assert_int_equal(pf_case_finish(&f->what, NULL), PF_OK);
    assert_int_equal(pf_problem_build(&f->what, &f->session.cases, &p), PF_OK);
    assert_int_equal(pf_encloser_new(&p, &f->session.oracle, NULL, 0, &f->session.cases, &e, &why),
                     PF_OK);
    for (int64_t j = 0; j < p.shape.outputs; j++) {
      const int64_t x = p.x_line[j / p.shape.n / p.shape.m] + j / p.shape.n % p.shape.m;
      const int64_t y = p.y_line[j / p.shape.n / p.shape.m] + j % p.shape.n;
      bool special;
      int64_t sum = 0;
      for (int64_t k = 0; k < p.shape.k; k++) {
        const double term = p.x_vectors[x * p.shape.k + k] * p.y_vectors[y * p.shape.k + k] *
                            pf_scale_at(&p.x_scales, x, k) * pf_scale_at(&p.y_scales, y, k);
        if (isfinite(term) && fabs(term) < 0x1p40)
          sum += (int64_t)(term * 0x1p20);
      }
      pf_exact(e, j, &special);
      const double bias = p.has_bias ? p.bias_values[j] : 0;
      const double v = f->session.oracle.nearest(f->session.oracle.state, pf_format_of(PF_F64));
      if (!special && fabs(v) < 0x1p30 && bias == floor(bias))
        assert_true(v == (double)sum * 0x1p-20 + bias);
    }
  }
  teardown(f);
}

/* --- enclosures ---------------------------------------------------------------------------- */

static void note(void *user, const pf_result *r)
{
  fixture *f = user;
  if (r->machinery || pf_verdict_is_finding(r->verdict)) {
    char signature[300];
    pf_signature(r, signature, sizeof signature);
    pf_text_print(&f->what, stdout);
    printf("\n");
    pf_report_worst(r, stdout);
    fail_msg("%s", signature);
  }
  f->verdicts[r->verdict]++;
  f->blocked += r->why && strstr(r->why, "vary along K");
}

static void no_correct_run_leaves_its_enclosure(void **unused)
{
  (void)unused;
  uint64_t seed = 80;
  fixture *f = setup();
  pf_error e;
  for (int i = 0; i < 3000; i++) {
    const pf_filter filter = {.graphs = 1u << PF_SCALED_MATMUL, .max_work = 400,
                              .kinds = i % 3 ? 0 : 1u << i / 3 % PF_KIND_COUNT};
    check_random_case(&seed, &filter, &f->session.cases, &f->what);
    if (i == 1500)
      assert_int_equal(pf_options_strategies(&f->session.options, "eager_tf32,eager_bf16", &e),
                       PF_OK);
    assert_int_equal(pf_session_examine(&f->session, &f->what, note, f), PF_OK);
  }
  print_message("seed 80: OK %ld, VACUOUS %ld, ORDER %ld, UNSUPPORTED %ld, %d for blocks\n",
                f->verdicts[PF_VERDICT_OK], f->verdicts[PF_VERDICT_VACUOUS],
                f->verdicts[PF_VERDICT_ORDER], f->verdicts[PF_VERDICT_UNSUPPORTED], f->blocked);
  assert_true(f->verdicts[PF_VERDICT_OK] > 10 * f->verdicts[PF_VERDICT_VACUOUS]);
  assert_true(f->blocked > 1000);
  teardown(f);
}

/* The kernel that forgets a scale, or takes its neighbour's, must be seen. */
static void judge_one(void *user, const pf_result *r)
{
  *(pf_verdict *)user = r->verdict;
}

static pf_verdict verdict_of(fixture *f, const char *row, const char *line)
{
  pf_verdict v = PF_VERDICT_COUNT;
  pf_error e = {0};
  pf_options *o = &f->session.options;
  pf_options_default(o);
  assert_int_equal(pf_options_engines(o, "reference:forward", &e), PF_OK);
  assert_int_equal(pf_options_strategies(o, row, &e), PF_OK);
  assert_int_equal(pf_options_rule(o, "graph", &e), PF_OK);
  check_parse(line, &f->session.cases, &f->what);
  assert_int_equal(pf_session_examine(&f->session, &f->what, judge_one, &v), PF_OK);
  return v;
}

static void a_forgotten_scale_breaks_the_promise(void **unused)
{
  (void)unused;
  fixture *f = setup();
  const char *const line = F8 "x.scale=row:6 y.scale=tensor:9";
  assert_int_equal(verdict_of(f, "a = SCALE(x, scale_x; f32) b = SCALE(y, scale_y; f32) "
                              "out = MATMUL(a, b; acc f32)", line), PF_VERDICT_OK);
  assert_int_equal(verdict_of(f, "out = MATMUL(x, y; acc f32)", line), PF_VERDICT_IMPOSSIBLE);
  assert_int_equal(verdict_of(f, "a = SCALE(x, scale_x; f32) out = MATMUL(a, y; acc f32)", line),
                   PF_VERDICT_IMPOSSIBLE);
  /* exact wherever the scales, powers of two, are applied: if each is applied where it belongs */
  assert_int_equal(verdict_of(f, "eager", F8 "x.scale=row:6 y.scale=row:8 x.values=integer:1 "
                              "y.values=integer:2"), PF_VERDICT_OK);
  teardown(f);
}

/* --- explained ----------------------------------------------------------------------------- */

typedef struct told {
  fixture *f;
  pf_explanation why;
} told;

static void tell(void *user, const pf_result *r)
{
  told *t = user;
  pf_session *s = &t->f->session;
  pf_exact_results exact;
  const char *why;
  assert_int_equal(pf_exact_results_of(r->problem, &s->oracle, &s->work, &exact, &why), PF_OK);
  assert_int_equal(pf_explain(r, &exact, &s->oracle, &s->work, &t->why), PF_OK);
}

/* A cast to two bits moves 5 to 4, which the scale of x, still to come, and y's value of 4 make
   4 (1 + 2^-23), and nothing else is rounded.  3 (1 + 2^-23) is rounded by 2^-23, and a y of 7 * 4
   makes that 28 of it. */
static void steps_add_what_they_round(void **unused)
{
  (void)unused;
  told t = {.f = setup()};
  pf_error e = {0};
  pf_options *o = &t.f->session.options;
  assert_int_equal(pf_options_engines(o, "reference:forward", &e), PF_OK);
  assert_int_equal(pf_options_strategies(o, "a = CAST(x; p2:-14:0x1.8p15) "
                                         "b = SCALE(a, scale_x; f32) d = SCALE(y, scale_y; f32) t = MATMUL(b, d; acc f32) "
                                         "out = CAST(t; f32)", &e), PF_OK);
  check_parse("scaled_matmul x=bf16[1,1] y=bf16[1,1] x.bits=40a0 y.bits=3f80 "
              "x.scale=tensor:=0x1.000002p0 y.scale=tensor:=4", &t.f->session.cases, &t.f->what);
  assert_int_equal(pf_session_examine(&t.f->session, &t.f->what, tell, &t), PF_OK);
  assert_true(t.why.step[0].error == 4 * 0x1.000002p0);
  assert_true(t.why.step[1].error == 0 && t.why.step[2].error == 0 && t.why.step[3].error == 0);
  assert_true(t.why.largest == 0);
  assert_true(t.why.total.error == 4 * 0x1.000002p0);
  pf_options_default(o);
  assert_int_equal(pf_options_engines(o, "reference:forward", &e), PF_OK);
  assert_int_equal(pf_options_strategies(o, "dequantize", &e), PF_OK);
  check_parse("scaled_matmul x=bf16[1,1] y=bf16[1,1] x.bits=4040 y.bits=40e0 "
              "x.scale=tensor:=0x1.000002p0 y.scale=tensor:=4", &t.f->session.cases, &t.f->what);
  assert_int_equal(pf_session_examine(&t.f->session, &t.f->what, tell, &t), PF_OK);
  /* 3 + 3 * 2^-23 lies between 3 + 2^-22 and 3 + 2^-21 */
  assert_true(t.why.step[0].error == 28 * 0x1p-23);
  assert_true(t.why.step[1].error == 0);
  teardown(t.f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(rows_bind_where_scales_allow),
    cmocka_unit_test(no_scale_is_a_cast),
    cmocka_unit_test(results_are_those_of_the_definition),
    cmocka_unit_test(exact_results_are_scaled),
    cmocka_unit_test(no_correct_run_leaves_its_enclosure),
    cmocka_unit_test(a_forgotten_scale_breaks_the_promise),
    cmocka_unit_test(steps_add_what_they_round),
  };
  return cmocka_run_group_tests_name("scaled_rows", tests, NULL, NULL);
}
