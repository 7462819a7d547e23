/* The adapter of oneDNN: its numbers against the headers where there are some, and its calls
   against a library that takes no liberties. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "engines/engines.h"
#include "engines/onednn_parts.h"
#include "form_text.h"
#include "mpfr_oracle.h"
#include "session.h"

#if defined(__has_include)
#if __has_include(<oneapi/dnnl/dnnl_version.h>)
#include <oneapi/dnnl/dnnl_version.h>
#if DNNL_VERSION_MAJOR == 3
#include <oneapi/dnnl/dnnl.h>
#define HAS_HEADERS 1
#endif
#endif
#endif

#define FAKE "./build/plugin/fake_dnnl.so"

/* --- the interface's numbers --------------------------------------------------------------- */

static void test_numbers_are_those_of_the_headers(void **state)
{
  (void)state;
#ifdef HAS_HEADERS
  assert_int_equal(PF_DNNL_SUCCESS, dnnl_success);
  assert_int_equal(PF_DNNL_INVALID_ARGUMENTS, dnnl_invalid_arguments);
  assert_int_equal(PF_DNNL_UNIMPLEMENTED, dnnl_unimplemented);
  assert_int_equal(PF_DNNL_CPU, dnnl_cpu);
  assert_int_equal(PF_DNNL_STREAM_IN_ORDER, dnnl_stream_in_order);
  assert_int_equal(PF_DNNL_QUERY_IMPL_INFO_STR, dnnl_query_impl_info_str);
  assert_int_equal(PF_DNNL_UNDEF, dnnl_data_type_undef);
  assert_int_equal(PF_DNNL_F16, dnnl_f16);
  assert_int_equal(PF_DNNL_BF16, dnnl_bf16);
  assert_int_equal(PF_DNNL_F32, dnnl_f32);
  assert_int_equal(PF_DNNL_S32, dnnl_s32);
  assert_int_equal(PF_DNNL_S8, dnnl_s8);
  assert_int_equal(PF_DNNL_U8, dnnl_u8);
  assert_int_equal(PF_DNNL_F8_E5M2, dnnl_f8_e5m2);
  assert_int_equal(PF_DNNL_F8_E4M3, dnnl_f8_e4m3);
  assert_int_equal(PF_DNNL_ARG_SRC, DNNL_ARG_SRC);
  assert_int_equal(PF_DNNL_ARG_DST, DNNL_ARG_DST);
  assert_int_equal(PF_DNNL_ARG_WEIGHTS, DNNL_ARG_WEIGHTS);
  assert_int_equal(PF_DNNL_ARG_BIAS, DNNL_ARG_BIAS);
  assert_int_equal(PF_DNNL_ARG_ATTR_SCALES, DNNL_ARG_ATTR_SCALES);
  assert_int_equal(PF_DNNL_AVX512_CORE_BF16, dnnl_cpu_isa_avx512_core_bf16);
  assert_int_equal(PF_DNNL_AVX512_CORE_AMX, dnnl_cpu_isa_avx512_core_amx);
  assert_int_equal(PF_DNNL_MAX_DIMS, DNNL_MAX_NDIMS);
  assert_true(PF_DNNL_RUNTIME == DNNL_RUNTIME_DIM_VAL);
  assert_int_equal(sizeof(pf_dnnl_dims), sizeof(dnnl_dims_t));
  assert_int_equal(sizeof(pf_dnnl_exec_arg), sizeof(dnnl_exec_arg_t));
  assert_int_equal(offsetof(pf_dnnl_exec_arg, memory), offsetof(dnnl_exec_arg_t, memory));
  assert_int_equal(sizeof(pf_dnnl_version), sizeof(dnnl_version_t));
  assert_int_equal(offsetof(pf_dnnl_version, patch), offsetof(dnnl_version_t, patch));
#else
  puts("SKIPPED oneDNN's numbers: no headers of version 3 (package libdnnl-dev of Debian 13)");
#endif
}

/* --- calls --------------------------------------------------------------------------------- */

typedef struct seen {
  pf_verdict verdict;
  char why[200], kernel[96];
  pf_declared declared;
} seen;

static pf_session session;

static int open_session(void **state)
{
  (void)state;
  return pf_mpfr_oracle_new(&session.oracle);
}

static int close_session(void **state)
{
  (void)state;
  pf_options_close(&session.options);
  pf_session_free(&session);
  pf_mpfr_oracle_free(&session.oracle);
  return 0;
}

static void note(void *user, const pf_result *r)
{
  seen *s = user;
  s->verdict = r->verdict;
  snprintf(s->why, sizeof s->why, "%s", r->why ? r->why : "");
  if (!r->run)
    return;
  snprintf(s->kernel, sizeof s->kernel, "%s", r->run->kernel ? r->run->kernel : "");
  if (r->run->declared)
    s->declared = *r->run->declared;
}

/* as_is: what it declines is not put in another way */
static pf_status open_engine(const char *engine, bool as_is, pf_error *e)
{
  pf_options_close(&session.options);
  pf_options_default(&session.options);
  session.options.opening.as_is = as_is;
  const pf_status status = pf_options_engines(&session.options, engine, e);
  return status ? status : pf_options_strategies(&session.options, "eager", e);
}

static pf_status take_engine(const char *engine, pf_error *e)
{
  return open_engine(engine, false, e);
}

static seen examine(const char *text)
{
  pf_case c;
  pf_error e = {0};
  seen s = {0};
  pf_arena_reset(&session.cases);
  if (pf_text_parse(text, strlen(text), &session.cases, &c, &e))
    fail_msg("%s: %s", text, e.text);
  assert_int_equal(pf_session_examine(&session, &c, note, &s), PF_OK);
  return s;
}

static int primitives_made(void)
{
  int (*ask)(void);
  void *library = dlopen(FAKE, RTLD_NOW | RTLD_NOLOAD);
  assert_non_null(library);
  *(void **)&ask = dlsym(library, "fake_dnnl_made");
  assert_non_null(ask);
  const int made = ask();
  dlclose(library);
  return made;
}

static const char *const right[] = {
  "matmul x=f32[3,8] y=f32[8,5]",
  "matmul x=f32[8] y=f32[8]",
  "matmul x=f32[3,8](1,3) y=f32[8,5](1,9) out=(1,4)",
  "matmul x=f32[3,8](17,2) y=f32[8,5](2,17)",
  "matmul x=f32[3,1](7,5) y=f32[1,5](2,1)",
  "matmul x=f32[2,1,3,4,5](60,60,20,1,4) y=f32[6,1,5,7](35,35,1,5)",
  "matmul x=f32[1,6,1,3,4] y=f32[1,6,1,4,4]",   /* sizes of 1 between batches */
  "matmul x=f32[6,3,4](4,24,1) y=f32[4,4]",     /* rows of batches interleaved */
  "matmul x=f32[3,4](0,1) y=f32[4,4]",          /* one row, three times */
  "linear x=f32[4,6] y=f32[3,6] bias=f32[3]",
  "linear x=f32[2,4,6] y=f32[3,6] bias=f32[]",
  "addmm x=f32[3,8] y=f32[8,5] c=f32[5] alpha=0.5 beta=-2",
  "addmm x=f32[2,3,8] y=f32[2,8,5] c=f32[3,1] alpha=3 beta=1",
  "addmm x=f32[3,8] y=f32[8,5] c=f32[3,5] alpha=2 beta=3 out=c",
  "addmm x=f32[3,8] y=f32[8,5] c=f32[3,5] c.set=0:7fc00000 beta=0",
  "addmm x=f32[3,8] y=f32[8,5] c=f32[3,5] c.set=0:7fc00000 beta=-0",
};

static void check_right(const char *engine)
{
  pf_error e = {0};
  if (take_engine(engine, &e))
    fail_msg("%s", e.text);
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    const seen s = examine(right[i]);
    if (s.verdict != PF_VERDICT_OK)
      fail_msg("%s: %s: %s %s", engine, right[i], pf_verdict_name(s.verdict), s.why);
  }
}

static void test_calls_are_right(void **state)
{
  (void)state;
  check_right("onednn:" FAKE);
  check_right("onednn:" FAKE ":runtime");
  check_right("onednn:" FAKE ":gemm");
}

static void test_primitives_are_kept(void **state)
{
  (void)state;
  pf_error e = {0};
  assert_int_equal(take_engine("onednn:" FAKE, &e), PF_OK);
  primitives_made();
  examine("matmul x=f32[3,8] y=f32[8,5]");
  assert_int_equal(primitives_made(), 1);
  examine("matmul x=f32[3,8] y=f32[8,5]");
  assert_int_equal(primitives_made(), 0);
  /* alpha is told at each call, beta is part of it */
  seen s = examine("addmm x=f32[3,8] y=f32[8,5] c=f32[5] alpha=0.5 beta=2");
  assert_int_equal(s.verdict, PF_VERDICT_OK);
  s = examine("addmm x=f32[3,8] y=f32[8,5] c=f32[5] alpha=-3 beta=2");
  assert_int_equal(s.verdict, PF_VERDICT_OK);
  assert_int_equal(primitives_made(), 1);
  examine("addmm x=f32[3,8] y=f32[8,5] c=f32[5] alpha=-3 beta=4");
  assert_int_equal(primitives_made(), 1);
}

static void test_runtime_primitive_serves_all_sizes(void **state)
{
  (void)state;
  pf_error e = {0};
  assert_int_equal(take_engine("onednn:" FAKE ":runtime", &e), PF_OK);
  primitives_made();
  assert_int_equal(examine("matmul x=f32[3,8] y=f32[8,5]").verdict, PF_VERDICT_OK);
  assert_int_equal(examine("matmul x=f32[4,9](12,1) y=f32[9,6]").verdict, PF_VERDICT_OK);
  assert_int_equal(primitives_made(), 1);
  assert_int_equal(examine("matmul x=f32[4,9](1,4) y=f32[9,6]").verdict, PF_VERDICT_OK);
  assert_int_equal(primitives_made(), 1);
}

/* More shapes than are kept, twice: places are taken over, and the results stay right. */
static void test_what_is_kept_is_bounded(void **state)
{
  (void)state;
  char text[80];
  pf_error e = {0};
  assert_int_equal(take_engine("onednn:" FAKE, &e), PF_OK);
  for (int i = 0; i < 2 * 1500; i++) {
    snprintf(text, sizeof text, "matmul x=f32[%d,%d] y=f32[%d,2]", 1 + i % 1500 / 40,
             1 + i % 40, 1 + i % 40);
    if (examine(text).verdict != PF_VERDICT_OK)
      fail_msg("%s", text);
  }
  const int made = primitives_made();
  assert_in_range(made, 1500, 3000);
}

static void test_sums_of_nothing(void **state)
{
  (void)state;
  pf_error e = {0};
  static const char text[] = "matmul x=f32[3,0] y=f32[0,5]";
  assert_int_equal(take_engine("onednn:" FAKE, &e), PF_OK);
  seen s = examine(text);
  assert_int_equal(s.verdict, PF_VERDICT_UNSUPPORTED);
  assert_non_null(strstr(s.why, "with k = 0"));
  assert_int_equal(take_engine("onednn:" FAKE ":faulty", &e), PF_OK);
  assert_int_equal(examine(text).verdict, PF_VERDICT_SPECIAL);
  assert_int_equal(take_engine("onednn:" FAKE ":gemm", &e), PF_OK);
  assert_int_equal(examine(text).verdict, PF_VERDICT_UNSUPPORTED);
}

/* Calls that the library is known to get wrong, some of them by writing elsewhere, are not passed on
   but by a mode for that. */
static void check_declined(const char *engine, const char *const *calls, bool expected)
{
  pf_error e = {0};
  assert_int_equal(open_engine(engine, true, &e), PF_OK);
  for (; *calls; calls++) {
    const seen s = examine(*calls);
    if ((strstr(s.why, "(onednn:faulty shows it)") != NULL) != expected)
      fail_msg("%s: %s: %s %s", engine, *calls, pf_verdict_name(s.verdict), s.why);
  }
}

static void test_what_goes_wrong_is_declined(void **state)
{
  (void)state;
  static const char *const bias[] = {"linear x=f32[2,3] y=f32[2,3] bias=f32[2](2)", NULL};
  static const char *const wrong[] = {
    "matmul x=f32[2,3] y=f32[3,1] out=(2,1)", "matmul x=f32[1,3](6,2) y=f32[3,2]",
    "matmul x=f32[3,1,4,2] y=f32[2,5]", "matmul x=f32[2,2,2,3](40,10,3,1) y=f32[2,2,3,2]",
    "matmul x=f32[2,2,2,3] y=f32[2,1,3,3](40,1,3,1)",
    "matmul x=f32[2,2,2,2] y=f32[2,2,2,2] out=(2,8,4,1)", NULL};
  static const char *const near[] = {
    "matmul x=f32[1,3] y=f32[3,1] out=(2,1)", "matmul x=f32[2,3] y=f32[3,2] out=(3,1)",
    "matmul x=f32[1,1](6,2) y=f32[1,2]", "matmul x=f32[2,3](1,2) y=f32[3,2]",
    "matmul x=f32[3,1,4,2] y=f32[3,1,2,5]", "matmul x=f32[1,3,4,2] y=f32[2,5]",
    "matmul x=f32[3,4,2] y=f32[2,5]", "matmul x=f32[2,2,2,3](30,10,3,1) y=f32[2,2,3,2]",
    "matmul x=f32[2,2,2,3] y=f32[2,2,3,2] out=(20,10,4,1)", "linear x=f32[2,3] y=f32[1,3] bias=f32[1](2)",
    "linear x=f32[2,3] y=f32[2,3] bias=f32[2]", "linear x=f32[2,3] y=f32[2,3] bias=f32[]", NULL};
  check_declined("onednn:" FAKE, bias, true);
  check_declined("onednn:" FAKE, wrong, true);
  check_declined("onednn:" FAKE, near, false);
  check_declined("onednn:" FAKE ":faulty", bias, false);
  check_declined("onednn:" FAKE ":faulty", wrong, false);
  check_declined("onednn:" FAKE ":runtime", bias, true);
  check_declined("onednn:" FAKE ":runtime", wrong, false);
  check_declined("onednn:" FAKE ":runtime-faulty", bias, false);
}

static void test_what_has_no_kernel_says_so(void **state)
{
  (void)state;
  pf_error e = {0};
  assert_int_equal(take_engine("onednn:" FAKE, &e), PF_OK);
  int count;
  const pfe_types *types = pf_plugin_types(session.options.plugin[0], &count);
  assert_int_equal(count, 1);
  assert_int_equal(types[0].x, PFE_F32);
  const seen s = examine("matmul x=s8[3,8] y=s8[8,5]");
  assert_int_equal(s.verdict, PF_VERDICT_UNSUPPORTED);
  assert_non_null(strstr(s.why, "not in its table"));
  assert_string_equal(examine("matmul x=f32[3,8] y=f32[8,5]").kernel, "fake");
}

static void check_refusal(const char *spec, const char *says)
{
  pf_error e = {0};
  assert_int_not_equal(take_engine(spec, &e), PF_OK);
  if (!strstr(e.text, says))
    fail_msg("%s: '%s' does not say '%s'", spec, e.text, says);
}

static void test_what_cannot_be_opened_says_why(void **state)
{
  (void)state;
  check_refusal("onednn:fast", "'fast' is none of matmul");
  check_refusal("onednn:./nothing.so", "not installed (package libdnnl3.6 of Debian 13)");
  check_refusal("onednn:./build/plugin/fake_blas.so:gemm", "no dnnl_version");
}

/* Which dtypes flush follows from the set of instructions. */
static void test_flushing_is_declared(void **state)
{
  (void)state;
#if defined(__x86_64__)
  pf_error e = {0};
  assert_int_equal(take_engine("onednn:" FAKE, &e), PF_OK);  /* AVX2 */
  const seen s = examine("matmul x=f32[3,8] y=f32[8,5]");
  assert_int_equal(s.declared.flush_inputs, PF_NEVER);
  assert_int_equal(s.declared.flush_outputs, PF_NEVER);
#endif
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_numbers_are_those_of_the_headers),
    cmocka_unit_test(test_calls_are_right),
    cmocka_unit_test(test_primitives_are_kept),
    cmocka_unit_test(test_runtime_primitive_serves_all_sizes),
    cmocka_unit_test(test_what_is_kept_is_bounded),
    cmocka_unit_test(test_sums_of_nothing),
    cmocka_unit_test(test_what_goes_wrong_is_declined),
    cmocka_unit_test(test_what_has_no_kernel_says_so),
    cmocka_unit_test(test_what_cannot_be_opened_says_why),
    cmocka_unit_test(test_flushing_is_declared),
  };
  return cmocka_run_group_tests(tests, open_session, close_session);
}
