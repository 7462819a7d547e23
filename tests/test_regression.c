/* The list of known findings: what it says, what is no list, and which results it knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "form_text.h"
#include "regression.h"

#define SIGNATURE "signature = openblas matmul eager x=f32,y=f32 contract IMPOSSIBLE\n"
#define REASON "reason = why\n"

static pf_status parse(const char *text, pf_regressions *out, pf_error *e)
{
  return pf_regressions_parse("known.txt", text, strlen(text), out, e);
}

static void test_what_it_says(void **state)
{
  static const char text[] =
      "# a comment\n"
      "\n"
      "[one.a+b]\n"
      "signature = exec:python3 a.py --x matmul_add aot_* x=bf16,y=bf16,bias=* ulp:2 SPECIAL \n"
      "version=>=3.0 <3.8\n"
      "kernel  =\tbrg = any\n"
      "isa = avx2 avx512*\n"
      "model = daz\n"
      "reason = it goes on\n"
      "  in the next line\n"
      "  # not this\n"
      "\tand another # one\n"
      "reported = https://example.org/#1\n"
      "[two]\n" SIGNATURE "\n"
      "reason = other";
  pf_regressions list = {0};
  pf_error e = {0};
  (void)state;
  if (parse(text, &list, &e))
    fail_msg("%s", e.text);
  assert_int_equal(list.count, 2);
  const pf_regression *k = pf_regressions_named(&list, "one.a+b");
  assert_non_null(k);
  assert_int_equal(k->line, 3);
  assert_string_equal(k->signature, "exec:python3 a.py --x matmul_add aot_* x=bf16,y=bf16,bias=* "
                                    "ulp:2 SPECIAL");
  assert_string_equal(k->engine, "exec:python3 a.py --x");
  assert_string_equal(k->graph, "matmul_add");
  assert_string_equal(k->strategy, "aot_*");
  assert_string_equal(k->dtypes, "x=bf16,y=bf16,bias=*");
  assert_string_equal(k->rule, "ulp:2");
  assert_int_equal(k->verdict, PF_VERDICT_SPECIAL);
  assert_string_equal(k->version, ">=3.0 <3.8");
  assert_string_equal(k->kernel, "brg = any");
  assert_string_equal(k->isa, "avx2 avx512*");
  assert_string_equal(k->model, "daz");
  assert_string_equal(k->reason, "it goes on in the next line and another # one");
  assert_string_equal(k->reported, "https://example.org/#1");
  k = pf_regressions_named(&list, "two");
  assert_int_equal(k->line, 14);
  assert_null(k->version);
  assert_null(k->reported);
  assert_string_equal(k->reason, "other");
  assert_null(pf_regressions_named(&list, "three"));
  pf_regressions_free(&list);
}

static void test_empty(void **state)
{
  static const char *const empty[] = {"", "\n", "# nothing\n\n   # yet"};
  (void)state;
  for (int i = 0; i < 3; i++) {
    pf_regressions list = {0};
    pf_error e = {0};
    assert_int_equal(parse(empty[i], &list, &e), PF_OK);
    assert_int_equal(list.count, 0);
    pf_regressions_free(&list);
  }
}

#define TEN "abcdefghij"
#define OF(WORDS) "[a]\nsignature = " WORDS "\n" REASON

static void test_what_is_no_list(void **state)
{
  static const struct {
    const char *text, *error;
  } wrong[] = {
    {"signature = x\n", "known.txt:1: [NAME] must come first"},
    {"  going on\n", "known.txt:1: no value stands before"},
    {"[a\n", "known.txt:1: [NAME] expected"},
    {"\n[a b]\n", "known.txt:2: 'a b' is no name"},
    {"[]\n", "'' is no name"},
    {"[../a]\n", "'../a' is no name"},
    {"[.a]\n", "'.a' is no name"},
    {"[-a]\n", "'-a' is no name"},
    {"[" TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "a]\n", "is no name"},
    {"[a]\n" SIGNATURE REASON "[a]\n", "known.txt:4: [a] is there already, in line 1"},
    {"[a]\n" REASON, "known.txt:1: [a] has no signature"},
    {"[a]\n" SIGNATURE "[b]\n", "known.txt:1: [a] has no reason"},
    {"[a]\n" SIGNATURE SIGNATURE, "known.txt:3: [a] has a signature already"},
    {"[a]\n" SIGNATURE "engine = x\n", "known.txt:3: 'engine' is none of signature, version"},
    {"[a]\n" SIGNATURE "reason\n", "known.txt:3: KEY = VALUE expected"},
    {"[a]\n" SIGNATURE "reason =\n", "known.txt:3: reason is empty"},
    {"[a]\n" SIGNATURE "\n  on\n", "known.txt:4: no value stands before"},
    {"[a]\n  on\n", "known.txt:2: no value stands before"},
    {"[a]\n" SIGNATURE REASON "[b]\n  on\n", "known.txt:5: no value stands before"},
    {"[a]\n" SIGNATURE REASON "version = 3.x\n", "known.txt:1: [a]: version: '3.x' is no range"},
    {"[a]\r\n", "known.txt:1: control character 0x0d"},
    {"[a]\n" SIGNATURE "reason = \033[1m\n", "known.txt:3: control character 0x1b"},
    {"[a]\n" SIGNATURE "reason = \177\n", "known.txt:3: control character 0x7f"},
    {OF("matmul eager x=f32,y=f32 contract IMPOSSIBLE"), "known.txt:1: signature: ENGINE GRAPH"},
    {OF("x"), "ENGINE GRAPH STRATEGY DTYPES RULE VERDICT expected"},
    {OF("e g s d contract OK"), "'OK' is no verdict of a finding"},
    {OF("e g s d contract BAD"), "'BAD' is no verdict of a finding"},
    {OF("e g s d contract *"), "'*' is no verdict of a finding"},
    {OF("e g s d honour DIED"), "rule 'honour'"},
    {OF("e g s d ulp:02 DIED"), "rule 'ulp:02' is written ulp:2"},
    {OF("* g s d contract DIED"), "the engine '*' must be said in full"},
    {OF("e g s d agree DIED"), "rule agree goes with two strategies"},
    {OF("e g s~t d contract DIED"), "rule agree goes with two strategies"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    pf_regressions list = {0};
    pf_error e = {0};
    assert_int_equal(parse(wrong[i].text, &list, &e), PF_BAD_INPUT);
    if (!strstr(e.text, wrong[i].error))
      fail_msg("'%s': '%s' does not say '%s'", wrong[i].text, e.text, wrong[i].error);
    assert_int_equal(list.count, 0);
  }
}

static void test_zero_bytes_and_long_paths(void **state)
{
  char path[400];
  pf_regressions list = {0};
  pf_error e = {0};
  (void)state;
  assert_int_equal(pf_regressions_parse("f", "[a]\0\n", 5, &list, &e), PF_BAD_INPUT);
  assert_non_null(strstr(e.text, "f:1: it holds bytes that are 0"));
  memset(path, 'x', sizeof path);
  strcpy(path + sizeof path - 12, "/known.txt");
  assert_int_equal(pf_regressions_parse(path, "[a]\n", 4, &list, &e), PF_BAD_INPUT);
  assert_non_null(strstr(e.text, "x/known.txt:1: [a] has no signature"));
}

/* A text is added to what others said before; only within one are names their own. */
static void test_several_texts(void **state)
{
  pf_regressions list = {0};
  pf_error e = {0};
  (void)state;
  assert_int_equal(parse("[a]\n" SIGNATURE REASON, &list, &e), PF_OK);
  assert_int_equal(parse("\n[b]\n" SIGNATURE REASON "[a]\n" SIGNATURE REASON, &list, &e), PF_OK);
  assert_int_equal(list.count, 3);
  assert_string_equal(list.entry[0].name, "a");
  assert_string_equal(list.entry[1].name, "b");
  assert_int_equal(list.entry[1].line, 2);
  assert_string_equal(list.entry[2].reason, "why");
  assert_ptr_equal(pf_regressions_named(&list, "a"), &list.entry[0]);
  assert_int_equal(parse("[c]\n" SIGNATURE REASON "[c]\n", &list, &e), PF_BAD_INPUT);
  assert_non_null(strstr(e.text, "known.txt:4: [c] is there already, in line 1"));
  assert_int_equal(list.count, 0);
}

/* --- results ------------------------------------------------------------------------------- */

/* A result as a session hands it out. */
typedef struct made {
  pf_arena arena;
  pf_case what;
  pf_problem problem;
  pf_engine engine;
  pf_run run;
  pf_result result;
} made;

static void make(made *m)
{
  static const char text[] = "matmul_add x=bf16[2,3] y=bf16[3,2] bias=f32[2]";
  pf_error e = {0};
  *m = (made){.engine = {.name = "onednn", .release = "3.7.2+ds", .foreign = true,
                         .details = "/lib/libdnnl.so.3, avx512_core_bf16; 1 thread"},
              .run = {.kernel = "brg_matmul:avx512"}};
  if (pf_text_parse(text, strlen(text), &m->arena, &m->what, &e) ||
      pf_problem_build(&m->what, &m->arena, &m->problem))
    fail_msg("%s", e.text);
  m->result = (pf_result){.problem = &m->problem, .engine = &m->engine, .strategy = "aot_eager",
                          .run = &m->run, .rule = {.kind = PF_RULE_CONTRACT},
                          .verdict = PF_VERDICT_IMPOSSIBLE, .match = {.model = "daz+ftz"}};
}

static bool knows(const made *m, const char *signature, const char *rest)
{
  char text[400];
  pf_regressions list = {0};
  pf_error e = {0};
  snprintf(text, sizeof text, "[before]\n" SIGNATURE REASON "[it]\nsignature = %s\n" REASON "%s\n",
           signature, rest);
  if (parse(text, &list, &e))
    fail_msg("%s", e.text);
  const pf_regression *k = pf_regressions_find(&list, &m->result);
  const bool found = k != NULL;
  if (k)
    assert_string_equal(k->name, "it");
  pf_regressions_free(&list);
  return found;
}

#define EXACT "onednn matmul_add aot_eager x=bf16,y=bf16,bias=f32 contract IMPOSSIBLE"

static void test_signatures(void **state)
{
  static const struct {
    const char *signature;
    bool known;
  } expected[] = {
    {EXACT, true},
    {"onednn * * * contract IMPOSSIBLE", true},
    {"onednn matmul* aot_* x=bf16,* contract IMPOSSIBLE", true},
    {"onednn matmul aot_eager x=bf16,y=bf16,bias=f32 contract IMPOSSIBLE", false},
    {"onednn matmul_add eager x=bf16,y=bf16,bias=f32 contract IMPOSSIBLE", false},
    {"onednn matmul_add aot_eager x=bf16,y=bf16 contract IMPOSSIBLE", false},
    {"onednn matmul_add aot_eager x=f32,* contract IMPOSSIBLE", false},
    {"onednn matmul_add aot_eager x=bf16,y=bf16,bias=f32 graph IMPOSSIBLE", false},
    {"onednn matmul_add aot_eager x=bf16,y=bf16,bias=f32 contract SPECIAL", false},
    {"onednn:gemm matmul_add aot_eager x=bf16,y=bf16,bias=f32 contract IMPOSSIBLE", false},
    {"onedn matmul_add aot_eager x=bf16,y=bf16,bias=f32 contract IMPOSSIBLE", false},
  };
  made m;
  (void)state;
  make(&m);
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    if (knows(&m, expected[i].signature, "") != expected[i].known)
      fail_msg("%s", expected[i].signature);
  m.result.machinery = PF_ENGINE_ERROR;
  assert_false(knows(&m, EXACT, ""));
  m.result.machinery = PF_OK;
  m.result.verdict = PF_VERDICT_OK;
  assert_false(knows(&m, EXACT, ""));
  m.result.verdict = PF_VERDICT_IMPOSSIBLE;
  m.result.rule.kind = PF_RULE_AGREE;
  m.result.against = "inductor";
  assert_true(knows(&m, "onednn matmul_add aot_eager~inductor x=bf16,y=bf16,bias=f32 agree "
                        "IMPOSSIBLE", ""));
  assert_false(knows(&m, EXACT, ""));
  pf_arena_free(&m.arena);
}

static void test_surroundings(void **state)
{
  static const struct {
    const char *field;
    bool known;
  } expected[] = {
    {"version = >=3.0 <3.8", true}, {"version = <3.7", false},    {"kernel = brg*", true},
    {"kernel = brg_matmul:avx512", true}, {"kernel = brg", false}, {"kernel = ref*", false},
    {"isa = avx512_core_bf16", true}, {"isa = avx2 avx512_*", true}, {"isa = avx512", false},
    {"isa = libdnnl*", false},      {"isa = /lib/*", false},      {"model = daz*", true},
    {"model = daz daz+ftz", true},  {"model = daz", false},
  };
  made m;
  (void)state;
  make(&m);
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    if (knows(&m, EXACT, expected[i].field) != expected[i].known)
      fail_msg("%s", expected[i].field);
  m.run.kernel = "brg[8]*";  /* as a library may call it */
  assert_true(knows(&m, EXACT, "kernel = brg[8]*"));
  assert_false(knows(&m, EXACT, "kernel = brg[8]"));
  /* what is not known fits nothing but what is not asked for */
  m.engine.release = m.engine.details = NULL;
  m.result.run = NULL;
  m.result.match.model = NULL;
  assert_true(knows(&m, EXACT, ""));
  assert_false(knows(&m, EXACT, "version = >=0"));
  assert_false(knows(&m, EXACT, "isa = *"));
  assert_false(knows(&m, EXACT, "kernel = *"));
  assert_false(knows(&m, EXACT, "model = *"));
  pf_arena_free(&m.arena);
}

static void test_why_it_does_not_apply(void **state)
{
  pf_regressions list = {0};
  pf_error e = {0};
  char why[100];
  made m;
  (void)state;
  make(&m);
  assert_int_equal(parse("[a]\n" SIGNATURE REASON "version = <3\nisa = amx\n", &list, &e), PF_OK);
  assert_false(pf_regression_applies(list.entry, &m.engine, why, sizeof why));
  assert_string_equal(why, "version 3.7.2+ds is not <3");
  m.engine.release = "2.9";
  assert_false(pf_regression_applies(list.entry, &m.engine, why, sizeof why));
  assert_string_equal(why, "isa amx is not there");
  m.engine.details = "amx";
  assert_true(pf_regression_applies(list.entry, &m.engine, why, sizeof why));
  m.engine.release = NULL;
  assert_false(pf_regression_applies(list.entry, &m.engine, why, sizeof why));
  assert_string_equal(why, "version unknown is not <3");
  pf_regressions_free(&list);
  pf_arena_free(&m.arena);
}

static void test_cases(void **state)
{
  pf_regressions list = {0};
  pf_error e = {0};
  made m;
  (void)state;
  make(&m);
  assert_int_equal(parse("[a]\n" SIGNATURE REASON
                         "[b]\nsignature = onednn *_add s x=bf16,* graph DIED\n" REASON
                         "[c]\nsignature = onednn * s x=bf16,y=bf16 graph DIED\n" REASON
                         "[d]\nsignature = onednn addmm s x=bf16,* graph DIED\n" REASON,
                         &list, &e), PF_OK);
  assert_false(pf_regression_asks(&list.entry[0], &m.what));
  assert_true(pf_regression_asks(&list.entry[1], &m.what));
  assert_false(pf_regression_asks(&list.entry[2], &m.what));
  assert_false(pf_regression_asks(&list.entry[3], &m.what));
  pf_regressions_free(&list);
  pf_arena_free(&m.arena);
}

static void test_isa_of(void **state)
{
  static const struct {
    const char *details, *isa;
  } expected[] = {
    {"avx512_core_bf16", "avx512_core_bf16"}, {"/lib/libopenblas.so.0, Cooperlake; 1 thread",
                                               "Cooperlake"},
    {"/usr/lib/libblas.so.3", ""}, {"/lib/x.so; 2 threads", ""}, {"", ""}, {NULL, ""},
  };
  char isa[64];
  (void)state;
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    const pf_engine e = {.details = expected[i].details};
    strcpy(isa, "before");
    pf_isa_of(&e, isa, sizeof isa);
    assert_string_equal(isa, expected[i].isa);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_what_it_says),
    cmocka_unit_test(test_empty),
    cmocka_unit_test(test_what_is_no_list),
    cmocka_unit_test(test_zero_bytes_and_long_paths),
    cmocka_unit_test(test_several_texts),
    cmocka_unit_test(test_signatures),
    cmocka_unit_test(test_surroundings),
    cmocka_unit_test(test_why_it_does_not_apply),
    cmocka_unit_test(test_cases),
    cmocka_unit_test(test_isa_of),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
