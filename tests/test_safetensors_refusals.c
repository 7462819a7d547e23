/* What the safetensors reader refuses, why, and where it says the error lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "safetensors.h"
#include "safetensors_files.h"

#define ONE(dtype, shape, offsets) \
  "{\"a\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
#define A ONE("\"U8\"", "[4]", "[0,4]")
#define TENSOR(name, from, to) \
  "\"" name "\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[" #from "," #to "]}"

/* Each row's data are 4 bytes.  Where the error lies is said by a text that begins there; NULL:
   jansson's matter, or at the end. */
static const struct bad_header {
  const char *header, *why, *where;
  pf_status status;
} bad_headers[] = {
  {" {}", "begin with {", " {}", PF_BAD_INPUT},
  {"[]", "begin with {", "[]", PF_BAD_INPUT},
  {A "x", "behind the closing brace", "x", PF_BAD_INPUT},
  {A "}", "behind the closing brace", "}*3", PF_BAD_INPUT},
  {"{\"a\"", "expected :", NULL, PF_BAD_INPUT},
  {"{\"a\":", "expected a value", NULL, PF_BAD_INPUT},
  {"{\"a\":}", "expected a value", "}", PF_BAD_INPUT},
  {"{\"a", "string without an end", "\"a", PF_BAD_INPUT},
  {"{\"a\\", "string without an end", "\"a", PF_BAD_INPUT},
  {"{\"a\":[", "value without an end", "[", PF_BAD_INPUT},
  {"{a:1}", "a name in double quotes", "a:", PF_BAD_INPUT},
  {"{\"a\":1 \"b\":2}", "expected , or }", "\"b\"", PF_BAD_INPUT},
  {"{\"a\":1}", "not described by an object", "1}", PF_BAD_INPUT},
  {"{\"__metadata__\":{}, }", "a name in double quotes", "}*2", PF_BAD_INPUT},
  {"{\"__metadata__\":{},,", "a name in double quotes", ",*2", PF_BAD_INPUT},
  {"{\"__metadata__\":{} \"a\"", "expected , or }", "\"a\"", PF_BAD_INPUT},
  {"{\"a\":null}", "not described by an object", "null", PF_BAD_INPUT},
  {"{\"a\":\"b\"}", "not described by an object", "\"b\"", PF_BAD_INPUT},
  {"{\"a\":[0]}", "not described by an object", "[0]", PF_BAD_INPUT},
  {"{\"a\":{\"dtype\":[[0]]}}", "nested too deeply", "[0]", PF_BAD_INPUT},
  {"{\"a\":{}}", "must have dtype, shape and data_offsets", "{}", PF_BAD_INPUT},
  {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4]}}", "must have", "{\"dtype", PF_BAD_INPUT},
  {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4],\"strides\":[1]}}",
   "and nothing else", "{\"dtype", PF_BAD_INPUT},
  {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"shape\":[4],\"data_offsets\":[0,4]}}", "duplicate",
   NULL, PF_BAD_INPUT},
  {ONE("\"U8\"", "[4}", "[0,4]"), "tensor: ", NULL, PF_BAD_INPUT},
  {ONE("\"U8\"", "[04]", "[0,4]"), "tensor: ", NULL, PF_BAD_INPUT},
  {ONE("\"U8\"", "[4,]", "[0,4]"), "tensor: ", NULL, PF_BAD_INPUT},
  {ONE("\x1b", "[4]", "[0,4]"), "tensor: ", NULL, PF_BAD_INPUT},
  {ONE("8", "[4]", "[0,4]"), "dtype is not a string", "{\"dtype", PF_BAD_INPUT},
  {ONE("\"u8\"", "[4]", "[0,4]"), "unknown dtype 'u8'", "{\"dtype", PF_UNSUPPORTED},
  {ONE("\"\\u001b[31m\"", "[4]", "[0,4]"), "unknown dtype '?[31m'", "{\"dtype", PF_UNSUPPORTED},
  {ONE("\"U8\"", "4", "[0,4]"), "must be arrays", "{\"dtype", PF_BAD_INPUT},
  {ONE("\"U8\"", "[4]", "{}"), "must be arrays", "{\"dtype", PF_BAD_INPUT},
  {ONE("\"U8\"", "[4.0]", "[0,4]"), "must hold integers", "{\"dtype", PF_BAD_INPUT},
  {ONE("\"U8\"", "[4e0]", "[0,4]"), "must hold integers", "{\"dtype", PF_BAD_INPUT},
  {ONE("\"U8\"", "[\"4\"]", "[0,4]"), "must hold integers", "{\"dtype", PF_BAD_INPUT},
  {ONE("\"U8\"", "[true]", "[0,4]"), "must hold integers", "{\"dtype", PF_BAD_INPUT},
  {ONE("\"U8\"", "[-4]", "[0,4]"), "a negative number", "-4", PF_BAD_INPUT},
  {ONE("\"U8\"", "[4]", "[-0,4]"), "a negative number", "-0", PF_BAD_INPUT},
  {ONE("\"U8\"", "[9223372036854775808]", "[0,4]"), "tensor: ", NULL, PF_BAD_INPUT},
  {ONE("\"U8\"", "[1,1,1,1,1,1,1,1,4]", "[0,4]"), "shape of 9", "{\"dtype", PF_UNSUPPORTED},
  {ONE("\"U8\"", "[4]", "[0]"), "data_offsets of 1 ", "{\"dtype", PF_BAD_INPUT},
  {ONE("\"U8\"", "[4]", "[0,4,4]"), "data_offsets of 3 ", "{\"dtype", PF_BAD_INPUT},
  {ONE("\"U8\"", "[4]", "[4,0]"), "end before they begin", "{\"dtype", PF_BAD_INPUT},
  {ONE("\"U8\"", "[5]", "[0,5]"), "past the end of the file", "{\"dtype", PF_BAD_INPUT},
  {ONE("\"U8\"", "[4]", "[1,5]"), "past the end of the file", "{\"dtype", PF_BAD_INPUT},
  {ONE("\"U8\"", "[9223372036854775807]", "[0,9223372036854775807]"), "shape too large",
   "{\"dtype", PF_BAD_INPUT},
  {ONE("\"U8\"", "[3]", "[0,4]"), "4 bytes, dtype and shape need 3", "{\"dtype", PF_BAD_INPUT},
  {ONE("\"U16\"", "[4]", "[0,4]"), "4 bytes, dtype and shape need 8", "{\"dtype", PF_BAD_INPUT},
  {ONE("\"F4\"", "[7]", "[0,4]"), "not of whole bytes", "{\"dtype", PF_BAD_INPUT},
  /* products that wrap to 4 bytes, or to none */
  {ONE("\"U8\"", "[4294967297,4294967296,4]", "[0,4]"), "shape too large", "{\"dtype",
   PF_BAD_INPUT},
  {ONE("\"F32\"", "[4611686018427387905]", "[0,4]"), "shape too large", "{\"dtype", PF_BAD_INPUT},
  {ONE("\"U8\"", "[4294967296,4294967296]", "[0,0]"), "shape too large", "{\"dtype",
   PF_BAD_INPUT},
  {ONE("\"U8\"", "[0,4294967296,4294967296]", "[0,0]"), "shape too large", "{\"dtype",
   PF_BAD_INPUT},
  {"{" TENSOR("a", 0, 2) "," TENSOR("a", 2, 4) "}", "'a': the name occurs twice", "\"a\":{*2",
   PF_BAD_INPUT},
  {"{" TENSOR("a", 0, 2) "," TENSOR("\\u0061", 2, 4) "}", "'a': the name occurs twice", "\"\\u",
   PF_BAD_INPUT},
  {"{" TENSOR("a", 0, 2) "," TENSOR("b", 1, 3) "," TENSOR("c", 2, 4) "}", "'b': its data overlap",
   "\"b\"", PF_BAD_INPUT},
  {"{" TENSOR("a", 0, 2) "," TENSOR("b", 0, 2) "," TENSOR("c", 2, 4) "}", "its data overlap",
   "\"b\"", PF_BAD_INPUT},
  {"{" TENSOR("b", 2, 4) "}", "'b': a gap before its data", "\"b\"", PF_BAD_INPUT},
  {"{" TENSOR("a", 0, 2) ",\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[3,4]}}",
   "'b': a gap before its data", "\"b\"", PF_BAD_INPUT},
  {"{" TENSOR("a", 0, 2) "}", "2 bytes at the end", NULL, PF_BAD_INPUT},
  {"{" TENSOR("a", 0, 2) "," TENSOR("b", 2, 4)
   ",\"c\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[1,1]}}", "overlap", "\"c\"",
   PF_BAD_INPUT},
  {"{\"__metadata__\":null," TENSOR("a", 0, 2) "}", "expected {", "null", PF_BAD_INPUT},
  {"{\"__metadata__\":[]," TENSOR("a", 0, 2) "}", "expected {", "[]", PF_BAD_INPUT},
  {"{\"__metadata__\":{\"k\":1}}", "value of __metadata__ is not a string", "1}", PF_BAD_INPUT},
  {"{\"__metadata__\":{\"k\":{}}}", "value of __metadata__ is not a string", "{}", PF_BAD_INPUT},
  {"{\"__metadata__\":{\"k\":\"v\",\"\\u006b\":\"v\"}}", "key 'k' twice", "{\"k", PF_BAD_INPUT},
  {"{\"__metadata__\":{},\"__metadata__\":{}}", "__metadata__ occurs twice", "{}}",
   PF_BAD_INPUT},
  {"{\"__metadata__\":{\"k\":\"v\"]," TENSOR("a", 0, 2) "}", "expected , or }", "]",
   PF_BAD_INPUT},
  {"{\"a\xff\":{}}", "unable to decode byte", NULL, PF_BAD_INPUT},
  {"{\"a\xc0\x80\":{}}", "unable to decode byte", NULL, PF_BAD_INPUT},
  {"{\"a\\u0000\":{}}", "\\u0000", NULL, PF_BAD_INPUT},
  {"{\"a\\ud800\":{}}", "a name: ", NULL, PF_BAD_INPUT},
  {"{\"a\n\":{}}", "a name: ", NULL, PF_BAD_INPUT},
  {"{\"__metadata__\":{\"k\":\"\xff\"}}", "unable to decode byte", NULL, PF_BAD_INPUT},
};

/* "TEXT*2": the second place where TEXT begins. */
static size_t place_of(const char *header, const char *where)
{
  char text[80];
  snprintf(text, sizeof text, "%s", where);
  char *star = strchr(text, '*');
  int times = 1;
  if (star != NULL) {
    times = star[1] - '0';
    *star = '\0';
  }
  const char *at = strstr(header, text);
  while (--times > 0)
    at = strstr(at + 1, text);
  return 8 + (size_t)(at - header);
}

static void test_bad_headers(void **unused)
{
  (void)unused;
  static const uint8_t data[4] = {0};
  for (size_t i = 0; i < sizeof bad_headers / sizeof bad_headers[0]; i++) {
    const struct bad_header *h = &bad_headers[i];
    pf_tensor_file f;
    pf_error e = {.offset = SIZE_MAX};
    block b = file_of(h->header, data, sizeof data, 0);
    const pf_status status = pf_safetensors_parse(b.data, b.size, &f, &e);
    if (status != h->status || strstr(e.text, h->why) == NULL)
      fail_msg("%s: %s: %s", h->header, pf_status_name(status), e.text);
    if (h->where != NULL && e.offset != place_of(h->header, h->where))
      fail_msg("%s: at %zu: %s", h->header, e.offset, e.text);
    assert_in_range(e.offset, 8, 8 + strlen(h->header) + sizeof data);
    assert_true(f.data == NULL && f.count == 0 && f.memory.first == NULL);
    for (const char *c = e.text; *c != '\0'; c++)
      assert_in_range(*c, ' ', '~');
    assert_int_equal(pf_safetensors_parse(b.data, b.size, &f, NULL), status);
    block_free(&b);
  }
}

/* Every prefix of a file, every length of its header but the right one, NUL anywhere in it. */
static void test_bad_lengths(void **unused)
{
  (void)unused;
  const size_t length = sizeof reference_header - 1;
  pf_tensor_file f;
  pf_error e;
  block whole = file_of(reference_header, reference_data, sizeof reference_data, 0);
  for (size_t size = 0; size < whole.size; size++) {
    block b = block_copy(whole.data, size, 0);
    assert_int_equal(pf_safetensors_parse(b.data, b.size, &f, &e), PF_BAD_INPUT);
    assert_in_range(e.offset, 0, size);
    block_free(&b);
  }
  assert_int_equal(pf_safetensors_parse(NULL, 0, &f, &e), PF_BAD_INPUT);
  for (size_t at = 8; at < 8 + length; at++) {
    block b = block_copy(whole.data, whole.size, 0);
    b.data[at] = '\0';
    assert_int_equal(pf_safetensors_parse(b.data, b.size, &f, &e), PF_BAD_INPUT);
    assert_int_equal(e.offset, at);
    memcpy(b.data + at, whole.data + at, b.size - at);
    /* one more NUL: jansson alone overlooks it behind a number */
    block longer = block_new(whole.size + 1, 0);
    memcpy(longer.data, whole.data, at);
    longer.data[at] = '\0';
    memcpy(longer.data + at + 1, whole.data + at, whole.size - at);
    longer.data[0]++;
    assert_int_equal(pf_safetensors_parse(longer.data, longer.size, &f, &e), PF_BAD_INPUT);
    block_free(&longer);
    block_free(&b);
  }
  static const uint64_t lengths[] = {0, 1, 2, 100000000, 100000001, UINT64_C(1) << 32,
                                     UINT64_MAX - 8, UINT64_MAX - 7, UINT64_MAX};
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    for (int j = 0; j < 8; j++)
      whole.data[j] = (uint8_t)(lengths[i] >> (8 * j));
    assert_int_equal(pf_safetensors_parse(whole.data, whole.size, &f, &e), PF_BAD_INPUT);
    assert_int_equal(strstr(e.text, "above the format's limit") != NULL, lengths[i] > 100000000);
  }
  block_free(&whole);
}

/* A header that would need many times its length as a tree of JSON values. */
static void test_header_of_many_values(void **unused)
{
  (void)unused;
  enum { LENGTH = 6000000 };
  char *header = malloc(LENGTH + 1);
  assert_non_null(header);
  memcpy(header, "{\"a\":{\"shape\":[", 15);
  for (size_t i = 15; i < LENGTH; i++)
    header[i] = i % 2 != 0 ? '0' : ',';
  memcpy(header + LENGTH - 3, "]}}", 4);
  pf_tensor_file f;
  pf_error e;
  block b = file_of(header, NULL, 0, 0);
  assert_int_equal(pf_safetensors_parse(b.data, b.size, &f, &e), PF_BAD_INPUT);
  assert_non_null(strstr(e.text, "that long cannot be right"));
  block_free(&b);
  free(header);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_bad_headers),
    cmocka_unit_test(test_bad_lengths),
    cmocka_unit_test(test_header_of_many_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
