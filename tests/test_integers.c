/* Integer rows: which accumulators go with which operands, that every order and any place of alpha
   gives the one number that the enclosure holds, and which models explain a sum that saturates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "case_checks.h"
#include "mpfr_oracle.h"
#include "report.h"

#define S8 "matmul x=s8[2,3] y=s8[3,2] "
#define MIXED "matmul x=s8[2,3] y=bf16[3,2] "

static const struct { const char *line, *row; pf_status status; const char *says; } binds[] = {
  {S8, "out = MATMUL(x, y; acc s32)", PF_OK, NULL},
  {S8, "out = MATMUL(x, y; acc in+f32, out s8/sat)", PF_OK, NULL},
  {S8, "out = MATMUL(x, y; acc f32)", PF_OK, NULL},
  {S8, "out = MATMUL(x, y; acc s8)", PF_OK, NULL},
  {S8, "out = MATMUL(x, y; acc s32/sat, order forward)", PF_OK, NULL},
  {S8, "out = MATMUL(x, y; acc s32/sat)", PF_BAD_INPUT, "only a stated order"},
  {S8, "out = MATMUL(x, y; acc s32, product f32, order forward)", PF_BAD_INPUT, "kept in integers"},
  {S8, "out = MATMUL(x, y; acc f32, product s32, order forward)", PF_BAD_INPUT, "kept in integers"},
  {S8, "out = MATMUL(x, y; acc s32/nan, order forward)", PF_BAD_INPUT, "no way to round it"},
  {MIXED, "out = MATMUL(x, y; acc f32, out in)", PF_OK, NULL},
  {MIXED, "out = MATMUL(x, y; acc s32)", PF_UNSUPPORTED, "needs integer operands"},
  {MIXED, "a = CAST(y; s32) out = MATMUL(x, a; acc s32)", PF_OK, NULL},
  {"matmul x=s32[2,3] y=s8[3,2]", "out = MATMUL(x, y; acc f32)", PF_UNSUPPORTED, "f64 accumulator"},
  {"matmul x=s32[2,3] y=bf16[3,2]", "out = MATMUL(x, y; acc in+f32, out in)", PF_OK, NULL},
  {"matmul_add x=s8[2,3] y=s8[3,2] bias=s8[]",
   "t = MATMUL(x, y; acc s32) out = ADD(t, bias; s32)", PF_OK, NULL},
  {"matmul_add x=s8[2,3] y=s8[3,2] bias=bf16[]",
   "t = MATMUL(x, y; acc s32) out = ADD(t, bias; s32)", PF_UNSUPPORTED, "no value of its format"},
  {"addmm x=s8[2,3] y=s8[3,2] c=s32[] alpha=0.5",
   "out = MATMUL(x, y, alpha, c, beta; acc s32)", PF_UNSUPPORTED, "no value of the accumulator"},
  {"addmm x=s8[2,3] y=s8[3,2] c=s32[] beta=nan",
   "out = MATMUL(x, y, alpha, c, beta; acc s32)", PF_UNSUPPORTED, "no value of the accumulator"},
  {"addmm x=s8[2,3] y=s8[3,2] c=s32[] alpha=-3 beta=2147483520",
   "out = MATMUL(x, y, alpha, c, beta; acc s32)", PF_OK, NULL},
  {"addmm x=s8[2,3] y=s8[3,2] c=s32[] beta=2147483648",
   "out = MATMUL(x, y, alpha, c, beta; acc s32)", PF_UNSUPPORTED, "no value of the accumulator"},
};

static void accumulators_go_with_operands(void **unused)
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
      fail_msg("%s on %s: %s: %s", binds[i].row, binds[i].line, pf_status_name(status), e.text);
  }
  pf_arena_free(&a);
}

static const struct { pf_dtype x, y, in; const char *in_f32; } ins[] = {
  {PF_S8, PF_S8, PF_S32, "s32"},   {PF_U8, PF_S8, PF_S32, "s32"},  {PF_S32, PF_U8, PF_S32, "s32"},
  {PF_S8, PF_BF16, PF_BF16, "f32"}, {PF_F16, PF_U8, PF_F16, "f32"}, {PF_S8, PF_F64, PF_F64, "f64"},
  {PF_S32, PF_BF16, PF_BF16, "f64"}, {PF_F8_E4M3FN, PF_S8, PF_F8_E4M3FN, "f32"},
};

static void two_integers_are_s32(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  for (size_t i = 0; i < sizeof ins / sizeof *ins; i++) {
    char line[100], name[48];
    pf_case c;
    pf_format f;
    snprintf(line, sizeof line, "matmul x=%s[2,3] y=%s[3,2]", pf_dtype_of(ins[i].x)->name,
             pf_dtype_of(ins[i].y)->name);
    check_parse(line, &a, &c);
    assert_int_equal(pf_case_in(&c), ins[i].in);
    assert_int_equal(pf_format_parse("in+f32", 6, &c, &f, NULL), PF_OK);
    pf_format_print(&f, name, sizeof name);
    assert_string_equal(name, ins[i].in_f32);
  }
  pf_arena_free(&a);
}

/* --- formats in rows ----------------------------------------------------------------------- */

static const struct { const char *text, *printed; } formats[] = {
  {"s8", "s8"}, {"s32/sat", "s32/sat"}, {"u8/rz/sat", "u8/rz/sat"}, {"tf32", "tf32"},
  {"tf32/rz", "tf32/rz"}, {"p11:-126:0x1.ffcp127", "tf32"}, {"f8_e4m3fn", "f8_e4m3fn"},
  {"f8_e4m3fn/nan", "f8_e4m3fn"}, {"f8_e4m3fn/sat", "f8_e4m3fn/sat"}, {"f8_e5m2", "f8_e5m2"},
  {"f8_e5m2/nan", "f8_e5m2/nan"}, {"f8_e5m2/sat/inf", "f8_e5m2"}, {"f8_e5m2fnuz/rna/sat",
   "f8_e5m2fnuz/rna/sat"}, {"f16/nan", "f16/nan"}, {"p4:-6:240/nan", "p4:-6:0x1.ep+7/nan"},
};

static const char *const no_formats[] = {"", "s16", "tf33", "s8/nan", "s8/inf", "f8_e4m3fn/inf",
                                         "f64/sat", "f32/wrap", "f32/", "tf32+f32"};

static void formats_read_back(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  pf_case c;
  check_parse(S8, &a, &c);
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    char printed[64];
    pf_format f, again;
    const char *const text = formats[i].text;
    assert_int_equal(pf_format_parse(text, strlen(text), &c, &f, NULL), PF_OK);
    pf_format_print(&f, printed, sizeof printed);
    assert_string_equal(printed, formats[i].printed);
    assert_int_equal(pf_format_parse(printed, strlen(printed), &c, &again, NULL), PF_OK);
    assert_true(pf_format_equal(&f, &again));
  }
  for (size_t i = 0; i < sizeof no_formats / sizeof *no_formats; i++) {
    pf_format f;
    if (pf_format_parse(no_formats[i], strlen(no_formats[i]), &c, &f, NULL) != PF_BAD_INPUT)
      fail_msg("%s is taken for a format", no_formats[i]);
  }
  pf_arena_free(&a);
}

/* A float beyond an integer's range has no low bits to keep; an integer has. */
static void conversions_wrap_integers_only(void **unused)
{
  (void)unused;
  static const struct { const char *row, *out; } rows[] = {
    {"t = MATMUL(x, y; acc f32) out = CAST(t; s8)", "s8/sat"},
    {"out = MATMUL(x, y; acc f32, out u8)", "u8/sat"},
    {"t = MATMUL(x, y; acc s32) out = CAST(t; s8)", "s8"},
    {"out = MATMUL(x, y; acc s32, out u8)", "u8"},
    {"out = MATMUL(x, y; acc s32, out f16)", "f16"},
  };
  pf_arena a = {0};
  pf_case c;
  check_parse(S8, &a, &c);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    pf_plan plan;
    char printed[64];
    assert_int_equal(pf_plan_parse("test", rows[i].row, &c, &plan, NULL), PF_OK);
    pf_format_print(&plan.step[plan.count - 1].out, printed, sizeof printed);
    assert_string_equal(printed, rows[i].out);
  }
  pf_arena_free(&a);
}

/* --- the one result ------------------------------------------------------------------------ */

typedef struct fixture {
  pf_session session;
  pf_case what;
  long results[PF_VERDICT_COUNT];
  char model[32];
} fixture;

static void setup(fixture *f)
{
  memset(f, 0, sizeof *f);
  assert_int_equal(pf_mpfr_oracle_new(&f->session.oracle), PF_OK);
  pf_options_default(&f->session.options);
}

static void teardown(fixture *f)
{
  pf_mpfr_oracle_free(&f->session.oracle);
  pf_session_free(&f->session);
}

/* Modulo 2^32, term by term, alpha on each product. */
static double wrapped(const pf_problem *p, int64_t element)
{
  const int64_t row = element / p->shape.n % p->shape.m, b = element / p->shape.n / p->shape.m;
  const int64_t x = p->x_line[b] + row, y = p->y_line[b] + element % p->shape.n;
  const uint32_t alpha = (uint32_t)(int64_t)p->what->alpha, beta = (uint32_t)(int64_t)p->what->beta;
  uint32_t sum = 0;
  for (int64_t k = 0; k < p->shape.k; k++)
    sum += alpha * (uint32_t)(int64_t)p->x_vectors[x * p->shape.k + k] *
           (uint32_t)(int64_t)p->y_vectors[y * p->shape.k + k];
  if (p->has_c)
    sum += beta * (uint32_t)(int64_t)p->c_values[element];
  if (p->has_bias)
    sum += (uint32_t)(int64_t)p->bias_values[element];
  return (double)(int32_t)sum;
}

static void enclosures_are_the_wrapped_sum(void **unused)
{
  (void)unused;
  static const pf_filter filter = {
    .dtypes = 1u << PF_S8 | 1u << PF_U8 | 1u << PF_S32, .max_work = 500,
    .graphs = 1u << PF_MATMUL_PLAIN | 1u << PF_LINEAR | 1u << PF_ADDMM | 1u << PF_MATMUL_ADD};
  static const pf_order orders[] = {PF_ANY_ORDER, PF_FORWARD, PF_PAIRWISE};
  uint64_t seed = 91;
  fixture f;
  int64_t points = 0, beyond = 0;
  setup(&f);
  for (int i = 0; i < 4000; i++) {
    pf_problem p;
    pf_plan plan;
    pf_encloser *e;
    const char *why;
    check_random_case(&seed, &filter, &f.session.cases, &f.what);
    const char *const name = i % 2 ? "eager" : "inductor";
    if (pf_plan_parse(name, pf_row_find(f.what.graph, name)->text, &f.what, &plan, NULL))
      continue;
    assert_int_equal(pf_problem_build(&f.what, &f.session.cases, &p), PF_OK);
    const pf_ask ask = {.plan = &plan, .order = {.order = orders[i % 3]}};
    assert_int_equal(pf_encloser_new(&p, &f.session.oracle, &ask, 1, &f.session.cases, &e, &why),
                     PF_OK);
    for (int64_t j = 0; j < p.shape.outputs; j++) {
      pf_enclosure set;
      bool special;
      pf_enclose(e, j, &set);
      const pf_set want = pf_set_point(wrapped(&p, j));
      if (!pf_set_equal(&set.set, &want)) {
        pf_text_print(&f.what, stdout);
        fail_msg(" %s: element %d: %g to %g, not %g", name, (int)j, set.set.lo, set.set.hi,
                 want.lo);
      }
      points++;
      pf_exact(e, j, &special);
      beyond += f.session.oracle.distance(f.session.oracle.state, want.lo) != 0;
    }
  }
  print_message("seed 91: %lld elements, %lld of them wrapped\n", (long long)points,
                (long long)beyond);
  assert_true(points > 10000 && beyond > 1000);
  teardown(&f);
}

static void note(void *user, const pf_result *r)
{
  fixture *f = user;
  f->results[r->verdict]++;
  if (pf_verdict_is_finding(r->verdict) && r->match.model)
    snprintf(f->model, sizeof f->model, "%s", r->match.model);
}

static void no_order_leaves_it(void **unused)
{
  (void)unused;
  static const pf_filter filter = {
    .dtypes = 1u << PF_S8 | 1u << PF_U8 | 1u << PF_S32 | 1u << PF_BF16, .max_work = 300};
  uint64_t seed = 92;
  fixture f;
  setup(&f);
  for (int i = 0; i < 1500; i++) {
    check_random_case(&seed, &filter, &f.session.cases, &f.what);
    assert_int_equal(pf_session_examine(&f.session, &f.what, note, &f), PF_OK);
  }
  for (int v = PF_VERDICT_IMPOSSIBLE; v < PF_VERDICT_COUNT; v++)
    assert_int_equal(f.results[v], 0);
  assert_true(f.results[PF_VERDICT_OK] > 30000);
  teardown(&f);
}

/* --- sums that saturate -------------------------------------------------------------------- */

static const struct { const char *line, *row, *model; } saturating[] = {
  {"matmul x=s8[1,4] y=s8[4,1] x.bits=7f,7f,7f,7f y.bits=7f,7f,7f,7f",
   "s: t = MATMUL(x, y; acc s32) out = CAST(t; s32)", "saturates-s16"},
  {"matmul x=s32[1,3] y=s32[3,1] x.bits=40000000,40000000,1 y.bits=1,1,1",
   "s: t = MATMUL(x, y; acc s32) out = CAST(t; s32)", "saturates-s32"},
};

/* An engine of the test's own: the reference with its accumulator at an end. */
static const pf_engine *reference(void)
{
  return pf_engine_find("reference:forward", 17);
}

static pf_status run_saturating(const pf_engine *e, const pf_call *call, pf_arena *scratch)
{
  const int bits = *(const int *)e->data;
  pf_step s = *call->steps;
  pf_call faulty = *call;
  s.acc.format = (pf_format){.precision = bits, .emin = bits - 1, .max = ldexp(1, bits - 1) - 1,
                             .overflow = PF_OVERFLOW_SATURATE, .range = PF_TWOS_COMPLEMENT};
  s.acc.product = s.acc.format;
  faulty.steps = &s;
  return reference()->run(reference(), &faulty, scratch);
}

static void saturation_has_a_model(void **unused)
{
  (void)unused;
  static const int bits[] = {16, 32};
  for (size_t i = 0; i < sizeof saturating / sizeof *saturating; i++) {
    fixture f;
    pf_engine e = *reference();
    pf_error error = {0};
    setup(&f);
    e.run = run_saturating;
    e.data = &bits[i];
    f.session.options.engine[0] = &e;
    f.session.options.engine_count = 1;
    assert_int_equal(pf_options_strategies(&f.session.options, saturating[i].row, &error), PF_OK);
    check_parse(saturating[i].line, &f.session.cases, &f.what);
    assert_int_equal(pf_session_examine(&f.session, &f.what, note, &f), PF_OK);
    assert_int_equal(f.results[PF_VERDICT_IMPOSSIBLE], 1);
    assert_string_equal(f.model, saturating[i].model);
    teardown(&f);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(accumulators_go_with_operands),
    cmocka_unit_test(two_integers_are_s32),
    cmocka_unit_test(formats_read_back),
    cmocka_unit_test(conversions_wrap_integers_only),
    cmocka_unit_test(enclosures_are_the_wrapped_sum),
    cmocka_unit_test(no_order_leaves_it),
    cmocka_unit_test(saturation_has_a_model),
  };
  return cmocka_run_group_tests_name("integers", tests, NULL, NULL);
}
