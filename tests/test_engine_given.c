/* A given result goes through sessions as an engine's would: right ones are OK, one changed element
   is a finding, and rows of another dtype say that they cannot have given it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine_given.h"
#include "engine_reference.h"
#include "form_text.h"
#include "oracle_fixture.h"
#include "random_cases.h"
#include "session.h"

enum { CASES = 400 };

static pf_session session;

/* Of the last examination. */
static struct {
  int results;
  int verdict[PF_VERDICT_COUNT];
  char why[80];
  char engine[64];
} seen;

static void note(void *user, const pf_result *r)
{
  (void)user;
  seen.results++;
  seen.verdict[r->verdict]++;
  snprintf(seen.why, sizeof seen.why, "%s", r->why ? r->why : "");
  snprintf(seen.engine, sizeof seen.engine, "%s", r->engine->name);
}

static void examine(const pf_case *c, const pf_tensor_entry *t, const char *strategy)
{
  pf_given given;
  pf_options *o = &session.options;
  pf_error e;
  session.oracle = oracle;
  pf_options_default(o);
  assert_int_equal(pf_options_strategies(o, strategy, &e), PF_OK);
  pf_engine_give(t, "label", &given);
  o->engine[0] = &given.engine;
  o->engine_count = 1;
  memset(&seen, 0, sizeof seen);
  assert_int_equal(pf_session_examine(&session, c, note, NULL), PF_OK);
}

static void parse(const char *text, pf_arena *a, pf_case *c)
{
  pf_error e = {0};
  if (pf_text_parse(text, strlen(text), a, c, &e))
    fail_msg("%s: %s", text, e.text);
}

#define DOT "matmul x=f32[1,2] y=f32[2,2] x.bits=3f800000,40000000 " \
            "y.bits=40400000,3f800000,40800000,3f800000"  /* 11, 3 */

static void test_verdicts(void **state)
{
  (void)state;
  pf_arena a = {0};
  pf_case c;
  float value[2] = {11, 3};
  pf_tensor_entry t;
  parse(DOT, &a, &c);
  assert_true(pf_tensor_describe("", PF_F32, 2, (int64_t[]){1, 2}, value, &t));
  examine(&c, &t, "eager,inductor");
  assert_int_equal(seen.results, 2);
  assert_int_equal(seen.verdict[PF_VERDICT_OK], 2);
  assert_string_equal(seen.engine, "given:label");
  value[1] = 3.0000002f;
  examine(&c, &t, "eager,inductor");
  assert_int_equal(seen.verdict[PF_VERDICT_IMPOSSIBLE], 2);
  value[1] = (float)NAN;
  examine(&c, &t, "eager,inductor");
  assert_int_equal(seen.verdict[PF_VERDICT_SPECIAL], 2);
  pf_arena_free(&a);
}

static void test_another_dtype_is_unsupported(void **state)
{
  (void)state;
  pf_arena a = {0};
  pf_case c;
  const uint16_t value[2] = {0x4130, 0x4040};
  pf_tensor_entry t;
  parse(DOT, &a, &c);
  assert_true(pf_tensor_describe("", PF_BF16, 2, (int64_t[]){1, 2}, value, &t));
  examine(&c, &t, "eager,inductor");
  assert_int_equal(seen.verdict[PF_VERDICT_UNSUPPORTED], 2);
  assert_string_equal(seen.why, "the result is bf16, the row gives f32");
  examine(&c, &t, "mine: t0 = CAST(x; bf16) out = MATMUL(t0, y; acc f32, out bf16)");
  assert_int_equal(seen.verdict[PF_VERDICT_OK], 1);
  /* whole rows only, elementwise steps first or last */
  examine(&c, &t, "mine: t0 = MATMUL(x, y; acc f32) t1 = CAST(t0; bf16) out = CAST(t1; f32)");
  assert_int_equal(seen.verdict[PF_VERDICT_UNSUPPORTED], 1);
  assert_string_equal(seen.why, "the result is bf16, the row gives f32");
  pf_arena_free(&a);
}

static void test_strides_are_followed(void **state)
{
  (void)state;
  pf_arena a = {0};
  pf_case c;
  const float value[] = {1, -1, 2, -1, 3, -1, 4};  /* [[1, 3], [2, 4]], every second */
  pf_tensor_entry t;
  parse("matmul x=f32[2,1] y=f32[1,2] out=(9,4)+3 x.bits=3f800000,40000000 "
        "y.bits=3f800000,3f800000", &a, &c);
  assert_true(pf_tensor_describe("", PF_F32, 2, (int64_t[]){2, 2}, value, &t));
  t.stride[0] = 2;
  t.stride[1] = 4;
  examine(&c, &t, "eager");  /* exact: 1, 1, 2, 2 */
  assert_int_equal(seen.verdict[PF_VERDICT_IMPOSSIBLE], 1);
  t.stride[1] = 0;
  examine(&c, &t, "eager");
  assert_int_equal(seen.verdict[PF_VERDICT_OK], 1);
  pf_arena_free(&a);
}

/* A dense tensor of the results. */
static void tensor_of(const pf_problem *p, pf_dtype t, const double *got, pf_arena *a,
                      pf_tensor_entry *out)
{
  const int bytes = pf_dtype_of(t)->bytes;
  uint8_t *data = pf_alloc_array(a, (size_t)p->shape.outputs, (size_t)bytes);
  assert_non_null(data);
  for (int64_t e = 0; e < p->shape.outputs; e++)
    pf_store(t, data + e * bytes, got[e]);
  assert_true(pf_tensor_describe("", t, p->shape.out_rank, p->shape.out, data, out));
}

/* False where the row or the engine does not do the case. */
static bool gives_back(const pf_case *c, pf_arena *a)
{
  pf_problem p;
  pf_plan plan;
  pf_run own, back;
  pf_given given;
  pf_tensor_entry t;
  pf_arena_reset(a);
  assert_int_equal(pf_problem_build(c, a, &p), PF_OK);
  if (pf_plan_parse("", pf_row_find(c->graph, "inductor")->text, c, &plan, NULL) ||
      pf_interpret(&p, &plan, &pf_reference_lanes8, a, &own))
    return false;
  tensor_of(&p, plan.step[plan.count - 1].storage, own.got, a, &t);
  pf_engine_give(&t, "", &given);
  assert_string_equal(given.engine.name, "given");
  assert_int_equal(pf_interpret(&p, &plan, &given.engine, a, &back), PF_OK);
  assert_int_equal(back.misdeed, PF_MISDEED_NONE);
  for (int64_t e = 0; e < p.shape.outputs; e++)
    assert_true(own.got[e] == back.got[e] || (isnan(own.got[e]) && isnan(back.got[e])));
  return true;
}

/* What a reference engine gives, given: the same values reach the judge, whatever the output's
   layout. */
static void test_reference_results(void **state)
{
  (void)state;
  random_source r = {20250301};
  pf_arena a = {0}, work = {0};
  int run = 0;
  print_message("seed %llu\n", (unsigned long long)r.state);
  for (int i = 0; i < CASES; i++) {
    const pf_filter f = random_filter(&r);
    pf_case c;
    random_case(&r, &f, &a, &c);
    run += gives_back(&c, &work);
  }
  assert_true(run > CASES / 2);
  pf_arena_free(&a);
  pf_arena_free(&work);
}

static int close_all(void **state)
{
  pf_session_free(&session);
  return close_oracle(state);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_verdicts),
    cmocka_unit_test(test_another_dtype_is_unsupported),
    cmocka_unit_test(test_strides_are_followed),
    cmocka_unit_test(test_reference_results),
  };
  return cmocka_run_group_tests(tests, open_oracle, close_all);
}
