/* The adapter of ONNX Runtime: its numbers against the header where there is one, the models that
   it writes, and its calls against a library that takes no liberties. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <unistd.h>

#include "engines/ort_abi.h"
#include "engines/ort_model.h"
#include "engines/quiet.h"
#include "plugin_fixture.h"

#if defined(__has_include)
#if __has_include(<onnxruntime/onnxruntime_c_api.h>)
#include <onnxruntime/onnxruntime_c_api.h>
#define HAS_HEADER 1
#endif
#endif

#define FAKE_FILE PLUGIN("fake_ort")
#define FAKE "onnxruntime:" FAKE_FILE

static const pf_plugin_options opening = {.threads = 1};

/* --- the interface's numbers --------------------------------------------------------------- */

#ifdef HAS_HEADER
static void check_places(void)
{
#define CHECK(PLACE, NAME) assert_int_equal(PLACE * sizeof(void *), offsetof(OrtApi, NAME))
  CHECK(PF_ORT_GET_ERROR_MESSAGE, GetErrorMessage);
  CHECK(PF_ORT_CREATE_ENV, CreateEnv);
  CHECK(PF_ORT_CREATE_SESSION_FROM_ARRAY, CreateSessionFromArray);
  CHECK(PF_ORT_RUN, Run);
  CHECK(PF_ORT_CREATE_SESSION_OPTIONS, CreateSessionOptions);
  CHECK(PF_ORT_DISABLE_MEM_PATTERN, DisableMemPattern);
  CHECK(PF_ORT_DISABLE_CPU_MEM_ARENA, DisableCpuMemArena);
  CHECK(PF_ORT_SET_INTRA_OP_NUM_THREADS, SetIntraOpNumThreads);
  CHECK(PF_ORT_SET_INTER_OP_NUM_THREADS, SetInterOpNumThreads);
  CHECK(PF_ORT_CREATE_TENSOR_WITH_DATA, CreateTensorWithDataAsOrtValue);
  CHECK(PF_ORT_CREATE_CPU_MEMORY_INFO, CreateCpuMemoryInfo);
  CHECK(PF_ORT_RELEASE_ENV, ReleaseEnv);
  CHECK(PF_ORT_RELEASE_STATUS, ReleaseStatus);
  CHECK(PF_ORT_RELEASE_MEMORY_INFO, ReleaseMemoryInfo);
  CHECK(PF_ORT_RELEASE_SESSION, ReleaseSession);
  CHECK(PF_ORT_RELEASE_VALUE, ReleaseValue);
  CHECK(PF_ORT_RELEASE_SESSION_OPTIONS, ReleaseSessionOptions);
#undef CHECK
  assert_int_equal(offsetof(pf_ort_base, api), offsetof(OrtApiBase, GetApi));
  assert_int_equal(offsetof(pf_ort_base, version), offsetof(OrtApiBase, GetVersionString));
}
#endif

static void test_numbers_are_those_of_the_header(void **state)
{
  (void)state;
#ifdef HAS_HEADER
  check_places();
  assert_in_range(PF_ORT_API_VERSION, 1, ORT_API_VERSION);
  assert_int_equal(PF_ORT_LOGGING_FATAL, ORT_LOGGING_LEVEL_FATAL);
  assert_int_equal(PF_ORT_DEVICE_ALLOCATOR, OrtDeviceAllocator);
  assert_int_equal(PF_ORT_MEM_TYPE_DEFAULT, OrtMemTypeDefault);
  assert_int_equal(PF_ORT_UNDEFINED, ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED);
  assert_int_equal(PF_ORT_FLOAT, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  assert_int_equal(PF_ORT_UINT8, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8);
  assert_int_equal(PF_ORT_INT8, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8);
  assert_int_equal(PF_ORT_INT32, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32);
  assert_int_equal(PF_ORT_FLOAT16, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16);
  assert_int_equal(PF_ORT_DOUBLE, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE);
  assert_int_equal(PF_ORT_BFLOAT16, ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16);
  assert_int_equal(PF_ORT_FLOAT8E4M3FN, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN);
  assert_int_equal(PF_ORT_FLOAT8E4M3FNUZ, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ);
  assert_int_equal(PF_ORT_FLOAT8E5M2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2);
  assert_int_equal(PF_ORT_FLOAT8E5M2FNUZ, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ);
#else
  puts("SKIPPED ONNX Runtime's numbers: no header (package libonnxruntime-dev of Debian 13)");
#endif
}

/* --- models -------------------------------------------------------------------------------- */

/* What is written as bytes is a message where the schema says so; fields that lead there: */
static bool is_message(const char *path)
{
  static const char *const messages[] = {".7", ".8", ".7.1", ".7.1.5", ".7.11", ".7.12", ".7.11.2",
                                         ".7.12.2", ".7.11.2.1", ".7.12.2.1"};
  for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
    if (!strcmp(path, messages[i]))
      return true;
  return false;
}

static uint64_t read_varint(const unsigned char **at, const unsigned char *end)
{
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    assert_true(*at < end);
    value |= (uint64_t)(**at & 0x7f) << shift;
    if (!(*(*at)++ & 0x80))
      return value;
  }
  fail_msg("a number without an end");
  return 0;
}

/* Appends "PATH=VALUE " for each field, PATH the fields' numbers. */
static void describe(const unsigned char *at, const unsigned char *end, const char *path,
                     char *to, size_t size)
{
  while (at < end) {
    const uint64_t tag = read_varint(&at, end);
    char own[48];
    snprintf(own, sizeof own, "%s.%u", path, (unsigned)(tag >> 3));
    size_t used = strlen(to);
    if ((tag & 7) == 0) {
      snprintf(to + used, size - used, "%s=%llu ", own, (unsigned long long)read_varint(&at, end));
    } else if ((tag & 7) == 5) {
      float value;
      assert_true(end - at >= 4);
      memcpy(&value, at, sizeof value);
      snprintf(to + used, size - used, "%s=%a ", own, (double)value);
      at += 4;
    } else {
      assert_int_equal(tag & 7, 2);
      const uint64_t length = read_varint(&at, end);
      assert_true(length <= (uint64_t)(end - at));
      if (is_message(own))
        describe(at, at + length, own, to, size);
      else
        snprintf(to + used, size - used, "%s=%.*s ", own, (int)length, (const char *)at);
      at += length;
    }
  }
}

static void check_model(const pf_ort_model *m, const char *expected)
{
  unsigned char bytes[PF_ORT_MODEL_BYTES];
  char got[2048] = "";
  const size_t size = pf_ort_model_write(m, bytes);
  assert_in_range(size, 1, PF_ORT_MODEL_BYTES);
  describe(bytes, bytes + size, "", got, sizeof got);
  assert_string_equal(got, expected);
}

/* Field numbers by onnx.proto3: a model's 1 is the version of the format, 7 the graph, 8 the set
   of operators; a graph's 1 nodes, 2 its name, 11 and 12 inputs and outputs with the dtype at
   2.1.1; a node's 1 and 2 its inputs and outputs, 4 its operator, 5 attributes. */
static void test_models(void **state)
{
  (void)state;
  check_model(&(pf_ort_model){.product = PF_ORT_MATMUL, .x = 1, .y = 1, .out = 1},
              ".1=9 .7.1.1=x .7.1.1=y .7.1.2=out .7.1.4=MatMul .7.2=product "
              ".7.11.1=x .7.11.2.1.1=1 .7.11.1=y .7.11.2.1.1=1 .7.12.1=out .7.12.2.1.1=1 "
              ".8.2=19 ");
  check_model(&(pf_ort_model){.product = PF_ORT_MATMUL_INTEGER, .x = 2, .y = 3, .out = 6},
              ".1=9 .7.1.1=x .7.1.1=y .7.1.2=out .7.1.4=MatMulInteger .7.2=product "
              ".7.11.1=x .7.11.2.1.1=2 .7.11.1=y .7.11.2.1.1=3 .7.12.1=out .7.12.2.1.1=6 "
              ".8.2=19 ");
  /* numbers of two bytes, the first with and without its highest bit */
  check_model(&(pf_ort_model){.product = PF_ORT_MATMUL, .x = 300, .y = 200, .out = 1},
              ".1=9 .7.1.1=x .7.1.1=y .7.1.2=out .7.1.4=MatMul .7.2=product "
              ".7.11.1=x .7.11.2.1.1=300 .7.11.1=y .7.11.2.1.1=200 .7.12.1=out .7.12.2.1.1=1 "
              ".8.2=19 ");
}

static void test_models_with_casts_and_addends(void **state)
{
  (void)state;
  check_model(&(pf_ort_model){.product = PF_ORT_GEMM, .x = 10, .y = 16, .out = 1, .cast = 1,
                              .has_c = 1, .alpha = 0.5f, .beta = -3},
              ".1=9 "
              ".7.1.1=x .7.1.2=x_cast .7.1.4=Cast .7.1.5.1=to .7.1.5.3=1 .7.1.5.20=2 "
              ".7.1.1=y .7.1.2=y_cast .7.1.4=Cast .7.1.5.1=to .7.1.5.3=1 .7.1.5.20=2 "
              ".7.1.1=x_cast .7.1.1=y_cast .7.1.1=c .7.1.2=out .7.1.4=Gemm "
              ".7.1.5.1=alpha .7.1.5.2=0x1p-1 .7.1.5.20=1 "
              ".7.1.5.1=beta .7.1.5.2=-0x1.8p+1 .7.1.5.20=1 .7.2=product "
              ".7.11.1=x .7.11.2.1.1=10 .7.11.1=y .7.11.2.1.1=16 .7.11.1=c .7.11.2.1.1=1 "
              ".7.12.1=out .7.12.2.1.1=1 .8.2=19 ");
}

/* --- calls --------------------------------------------------------------------------------- */

static seen examine(const char *text)
{
  return examine_selected(text, "eager");
}

static int sessions_made(void)
{
  int (*ask)(void);
  void *library = dlopen(FAKE_FILE, RTLD_NOW | RTLD_NOLOAD);
  assert_non_null(library);
  *(void **)&ask = dlsym(library, "fake_ort_sessions");
  assert_non_null(ask);
  const int made = ask();
  dlclose(library);
  return made;
}

static const char *const right[] = {
  "matmul x=f32[3,8] y=f32[8,5]",
  "matmul x=f32[8] y=f32[8]",
  "matmul x=f32[3,0] y=f32[0,5]",
  "matmul x=f32[3,8](1,3) y=f32[8,5](1,9) out=(1,4)",
  "matmul x=f32[3,8](17,2) y=f32[8,5](2,17)",
  "matmul x=f32[2,1,3,4,5](60,60,20,1,4) y=f32[6,1,5,7](35,35,1,5)",
  "matmul x=f32[6,3,4](4,24,1) y=f32[4,4]",
  "matmul x=f32[3,4](0,1) y=f32[4,4]",
  "matmul x=f32[2,3,1,1,4](0,0,0,4,1) y=f32[4,10]",  /* both repeat */
  "linear x=f32[4,6] y=f32[3,6] bias=f32[3]",
  "linear x=f32[2,4,6] y=f32[3,6] bias=f32[]",
  "addmm x=f32[3,8] y=f32[8,5] c=f32[5] alpha=0.5 beta=-2",
  "addmm x=f32[2,3,8] y=f32[2,8,5] c=f32[3,1] alpha=3 beta=1",
  "addmm x=f32[3,8] y=f32[8,5] c=f32[3,5] alpha=2 beta=3 out=c",
  "addmm x=f32[3,8] y=f32[8,5] c=f32[3,5] c.set=0:7fc00000 beta=0",
};

static void check_right(const char *engine)
{
  select_engines(engine, &opening);
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    const seen s = examine(right[i]);
    if (s.results != 1 || s.verdict[PF_VERDICT_OK] != 1)
      fail_msg("%s: %s: %s", engine, right[i], s.why);
  }
  pf_options_close(&session.options);
}

static void test_calls_are_right(void **state)
{
  (void)state;
  check_right(FAKE);
  check_right(FAKE ":gemm");
}

static void test_products(void **state)
{
  (void)state;
  select_engines(FAKE, &opening);
  assert_string_equal(examine("matmul x=f32[3,8] y=f32[8,5]").kernel, "MatMul");
  assert_string_equal(examine("linear x=f32[4,6] y=f32[3,6] bias=f32[3]").kernel, "Gemm");
  assert_string_equal(examine("addmm x=f32[4,6] y=f32[6,3] c=f32[3] alpha=2 beta=0").kernel,
                      "Gemm");
  pf_options_close(&session.options);
  select_engines(FAKE ":gemm", &opening);
  assert_string_equal(examine("matmul x=f32[3,8] y=f32[8,5]").kernel, "Gemm");
  pf_options_close(&session.options);
}

/* One for each model, whatever the sizes; alpha and beta are part of it. */
static void test_sessions_are_kept(void **state)
{
  (void)state;
  select_engines(FAKE, &opening);
  sessions_made();
  examine("matmul x=f32[3,8] y=f32[8,5]");
  examine("matmul x=f32[2,3,9] y=f32[2,9,5]");
  assert_int_equal(sessions_made(), 0);  /* it was asked for when types were looked for */
  examine("addmm x=f32[3,8] y=f32[8,5] c=f32[5] alpha=0.5 beta=2");
  assert_int_equal(sessions_made(), 1);
  examine("addmm x=f32[4,8] y=f32[8,5] c=f32[5] alpha=0.5 beta=2");
  assert_int_equal(sessions_made(), 0);
  examine("addmm x=f32[4,8] y=f32[8,5] c=f32[5] alpha=0.5 beta=4");
  assert_int_equal(sessions_made(), 1);
  pf_options_close(&session.options);
}

/* More than are kept: places are taken over, and the results stay right. */
static void test_what_is_kept_is_bounded(void **state)
{
  (void)state;
  char text[96];
  select_engines(FAKE, &opening);
  for (int i = 0; i < 2 * 300; i++) {
    snprintf(text, sizeof text, "addmm x=f32[3,4] y=f32[4,2] c=f32[2] alpha=%d beta=0.5",
             2 + i % 300);
    if (examine(text).verdict[PF_VERDICT_OK] != 1)
      fail_msg("%s", text);
  }
  pf_options_close(&session.options);
}

static void check_declined(const char *engine, const char *text, const char *says)
{
  const pf_plugin_options as_is = {.threads = 1, .as_is = true};  /* not put in another way */
  const seen s = examine_opened(text, engine, "eager", &as_is);
  assert_int_equal(s.verdict[PF_VERDICT_UNSUPPORTED], 1);
  if (!strstr(s.why, says))
    fail_msg("%s: '%s' does not say '%s'", text, s.why, says);
}

static void test_what_goes_wrong_is_declined(void **state)
{
  (void)state;
  check_declined(FAKE, "addmm x=f32[3,0] y=f32[0,5] c=f32[5] beta=2", "Gemm forgets beta");
  check_declined(FAKE, "matmul x=f32[1,3,0] y=f32[2,0,5](8,5,1)", "forgets batches");
  check_declined(FAKE, "matmul x=f64[3,3] y=f64[3,5]", "not in its table");
  assert_int_equal(examine_opened("addmm x=f32[3,0] y=f32[0,5] c=f32[5] beta=2", FAKE ":empty",
                                  "eager", &opening).verdict[PF_VERDICT_OK], 1);
}

static void test_what_cannot_be_opened_says_why(void **state)
{
  (void)state;
  check_refusal_opened("onnxruntime:fast", "'fast' is none of matmul, gemm, empty", &opening);
  check_refusal_opened("onnxruntime:./nothing.so", "not installed (package libonnxruntime1.21",
                       &opening);
  check_refusal_opened("onnxruntime:" PLUGIN("fake_blas"), "has no OrtGetApiBase", &opening);
}

/* --- standard error ------------------------------------------------------------------------ */

static void test_standard_error_is_caught(void **state)
{
  (void)state;
  pf_quiet outer, inner;
  char last[128];
  pf_quiet_begin(&outer);
  fprintf(stderr, "before\n");
  pf_quiet_begin(&inner);
  fprintf(stderr, "one\ntwo\n%0200d", 3);
  assert_int_equal(pf_quiet_end(&inner, last), 3);
  assert_int_equal(strlen(last), 127);
  assert_int_equal(last[126], '0');
  fprintf(stderr, "after\n\n");
  assert_int_equal(pf_quiet_end(&outer, last), 3);
  assert_string_equal(last, "after");
  pf_quiet_begin(&outer);
  assert_int_equal(pf_quiet_end(&outer, last), 0);
  assert_string_equal(last, "");
}

/* What it writes when it is loaded reaches nobody, and is told. */
static void test_loading_is_quiet(void **state)
{
  (void)state;
  pf_quiet q;
  char last[128];
  pf_quiet_begin(&q);
  select_engines(FAKE, &opening);
  const long lines = pf_quiet_end(&q, last);
  assert_int_equal(lines, 0);
  const char *version = pf_plugin_engine(session.options.plugin[0])->version;
  if (!strstr(version, "3 lines on standard error"))
    fail_msg("%s", version);
  pf_options_close(&session.options);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_numbers_are_those_of_the_header),
    cmocka_unit_test(test_models),
    cmocka_unit_test(test_models_with_casts_and_addends),
    cmocka_unit_test(test_calls_are_right),
    cmocka_unit_test(test_products),
    cmocka_unit_test(test_sessions_are_kept),
    cmocka_unit_test(test_what_is_kept_is_bounded),
    cmocka_unit_test(test_what_goes_wrong_is_declined),
    cmocka_unit_test(test_what_cannot_be_opened_says_why),
    cmocka_unit_test(test_standard_error_is_caught),
    cmocka_unit_test(test_loading_is_quiet),
  };
  return cmocka_run_group_tests(tests, open_session, close_session);
}
