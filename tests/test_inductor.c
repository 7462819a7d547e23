/* The adapter of compiled graphs: its calls against one that takes no liberties, and its list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "engines/measure.h"
#include "plugin_fixture.h"

static const pf_plugin_options opening = {.threads = 1};
static char folder[] = "/tmp/precfuzz-inductor-XXXXXX", engine[64], library[4096];

#define HEAD "precfuzz-inductor 1\ntorch 2.6.0\nlibrary %s\nisa %s\n"
static const char models[] =
  "a.so matmul f32 * 1 1 * inductor\n"
  "a.so matmul f32 * * * * -\n"
  "a.so matmul f32 - * * * -\n"
  "a.so matmul_add f32 * * * * -\n"
  "a.so linear f32 - * * * -\n"
  "a.so addmm f32 - * * * -\n"
  "missing.so matmul bf16 - * * * -\n";

static void write_manifest(const char *head, const char *rest)
{
  char path[128];
  snprintf(path, sizeof path, "%s/manifest", folder);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fprintf(f, head, library, pf_measure_isa());
  fputs(rest, f);
  fclose(f);
}

static int set_up(void **state)
{
  char path[128];
  char *model = realpath(PLUGIN("fake_inductor"), NULL);
  if (!mkdtemp(folder) || !realpath(PLUGIN("fake_torch"), library) || !model)
    return 1;
  snprintf(path, sizeof path, "%s/a.so", folder);
  snprintf(engine, sizeof engine, "inductor:%s", folder);
  const int failed = symlink(model, path);
  free(model);
  return failed || open_session(state);
}

static int clean_up(void **state)
{
  static const char *const files[] = {"manifest", "a.so"};
  char path[128];
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, files[i]);
    unlink(path);
  }
  rmdir(folder);
  return close_session(state);
}

static seen examine(const char *text)
{
  write_manifest(HEAD, models);
  return examine_opened(text, engine, "eager,inductor", &opening);
}

static const char *const right[] = {
  "matmul x=f32[3,8] y=f32[8,5]",
  "matmul x=f32[3,8](1,3) y=f32[8,5](0,2) out=(11,2)",
  "matmul x=f32[2,3,8](40,1,4) y=f32[2,8,5] out=(20,5,1)",
  "matmul x=f32[2,1,3,8] y=f32[4,8,5]",
  "matmul_add x=f32[2,3,8] y=f32[8,5] bias=f32[5]",
  "linear x=f32[3,8] y=f32[5,8] bias=f32[5](2)",
  "addmm x=f32[3,8] y=f32[8,5] c=f32[3,5] out=c",
  "addmm x=f32[3,8] y=f32[8,5] c=f32[3,1]",
};

static void test_calls_are_right(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    const seen s = examine(right[i]);
    if (s.verdict[PF_VERDICT_OK] != 2)
      fail_msg("%s: %s", right[i], s.why);
    assert_string_equal(s.kernel, "a");
  }
}

/* It names the row that it follows, and is held against no other. */
static void test_a_claim_is_told(void **state)
{
  (void)state;
  const seen s = examine("matmul_add x=f32[2,1,8] y=f32[2,8,1] bias=f32[]");
  assert_int_equal(s.verdict[PF_VERDICT_UNSUPPORTED], 2);
  const seen claims = examine("matmul x=f32[2,1,8] y=f32[2,8,1]");
  assert_int_equal(claims.verdict[PF_VERDICT_OK], 1);
  assert_string_equal(claims.why, "the engine says that it follows another row");
}

static void check_declined(const char *text, const char *says)
{
  const seen s = examine(text);
  assert_int_equal(s.verdict[PF_VERDICT_UNSUPPORTED], 2);
  if (!strstr(s.why, says))
    fail_msg("%s: '%s' does not say '%s'", text, s.why, says);
}

static void test_what_is_not_compiled_is_declined(void **state)
{
  (void)state;
  check_declined("matmul_cast_f32_add x=f32[3,8] y=f32[8,5] bias=f32[]", "is not compiled");
  check_declined("matmul x=f64[3,8] y=f64[8,5]", "for these dtypes");
  check_declined("matmul x=f32[1,8] y=f32[8,5]", "for these sizes");
  check_declined("matmul x=f32[3,0] y=f32[0,5]", "for these sizes");
  check_declined("matmul_add x=f32[3,8] y=f32[8,5] bias=f32[]", "for these sizes");
  check_declined("addmm x=f32[3,8] y=f32[8,5] c=f32[5] alpha=2", "alpha = 1 and beta = 1");
  check_declined("linear x=f32[3,8] y=f32[5,8] bias=f32[3,1]", "one bias for all rows");
  check_declined("linear x=f32[3,8] y=f32[5,8]", "with a bias");
}

static void test_a_graph_that_is_missing_is_an_error(void **state)
{
  (void)state;
  const seen s = examine("matmul x=bf16[3,8] y=bf16[8,5]");
  assert_int_equal(s.machinery, PF_ENGINE_ERROR);
  assert_non_null(strstr(s.why, "missing.so"));
}

static void test_bad_lists_are_refused(void **state)
{
  (void)state;
  static const struct { const char *head, *rest, *says; } bad[] = {
    {"", "precfuzz-inductor 2\n", "manifest: line 1: 'precfuzz-inductor 1' expected"},
    {HEAD, "", "line 4: it ends too early"},
    {HEAD, "a.so matmul f32 * * *\n", "line 5: a compiled graph expected"},
    {HEAD, "a.so matmul f33 * * * * -\n", "line 5: a compiled graph expected"},
    {HEAD, "a.so matmul f32 * -1 * * -\n", "line 5: a compiled graph expected"},
    {HEAD, "../a.so matmul f32 * * * * -\n", "line 5: a compiled graph expected"},
    {"precfuzz-inductor 1\nlibrary %s\nisa pdp11\n", "a.so matmul f32 * * * * -\n",
     "compiled for pdp11"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    write_manifest(bad[i].head, bad[i].rest);
    check_refusal_opened(engine, bad[i].says, &opening);
  }
  check_refusal_opened("inductor:/nowhere", "/nowhere/manifest: No such file", &opening);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_calls_are_right),
    cmocka_unit_test(test_a_claim_is_told),
    cmocka_unit_test(test_what_is_not_compiled_is_declined),
    cmocka_unit_test(test_a_graph_that_is_missing_is_an_error),
    cmocka_unit_test(test_bad_lists_are_refused),
  };
  return cmocka_run_group_tests(tests, set_up, clean_up);
}
