/* What the .npy reader refuses, why, and where it says the error lies; and mutated files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "npy.h"
#include "npy_files.h"
#include "random_source.h"

/* Each row's data are 8 bytes.  The error lies where the text `where` begins; NULL: anywhere in the
   header. */
static const struct bad_header {
  const char *header, *why, *where;
  pf_status status;
} bad_headers[] = {
  {"", "expected {", NULL, PF_BAD_INPUT},
  {"[]", "expected {", "[]", PF_BAD_INPUT},
  {"{}", "missing", NULL, PF_BAD_INPUT},
  {"{,}", "a string in quotes", ",}", PF_BAD_INPUT},
  {"{'descr': '<f4', 'shape': (2,), }", "missing", NULL, PF_BAD_INPUT},
  {"{'descr': '<f4', 'descr': '<f4', ", "twice", "'descr': '<f4', \0", PF_BAD_INPUT},
  {"{'descr': '<f4', 'order': 'C', ", "not descr", "'order'", PF_BAD_INPUT},
  {"{'descr' '<f4'", "expected :", "'<f4'", PF_BAD_INPUT},
  {"{'descr\": ", "no descr needs", NULL, PF_BAD_INPUT}, /* the newline */
  {"{'de\\x73cr': '<f4'", "no descr needs", "\\x73", PF_BAD_INPUT},
  {"{'de\xc3\xa9", "no descr needs", "\xc3\xa9", PF_BAD_INPUT},
  {"{'descr': '<f4' 'shape'", "expected , or }", "'shape'", PF_BAD_INPUT},
  {"{'descr': '<f4',, ", "a string in quotes", ", ", PF_BAD_INPUT},
  {"{'descr': 4, ", "a string in quotes", "4", PF_BAD_INPUT},
  {"{'descr': [('x', '<f4')], ", "array of structures", "[(", PF_UNSUPPORTED},
  {"{'descr': '', ", "does not begin with <, > or |", "'',", PF_UNSUPPORTED},
  {"{'descr': '<', ", "does not begin with <, > or |", "'<'", PF_UNSUPPORTED},
  {"{'descr': '=f4', ", "does not begin with <, > or |", "'=f4'", PF_UNSUPPORTED},
  {"{'descr': '>f4', ", "big endian", "'>f4'", PF_UNSUPPORTED},
  {"{'descr': '>V2', ", "big endian", "'>V2'", PF_UNSUPPORTED},
  {"{'descr': '|f4', ", "lacks its byte order", "'|f4'", PF_UNSUPPORTED},
  {"{'descr': '|O', ", "no numbers", "'|O'", PF_UNSUPPORTED},
  {"{'descr': '<f', ", "no numbers", "'<f'", PF_UNSUPPORTED},
  {"{'descr': '<f4 ', ", "no numbers", "'<f4 '", PF_UNSUPPORTED},
  {"{'descr': '<f16', ", "no numbers", "'<f16'", PF_UNSUPPORTED},
  {"{'descr': '<U2', ", "no numbers", "'<U2'", PF_UNSUPPORTED},
  {HEADER("'<f4'", "0", "(2,)"), "expected True or False", "0, 'shape", PF_BAD_INPUT},
  {HEADER("'<f4'", "true", "(2,)"), "expected True or False", "true", PF_BAD_INPUT},
  {HEADER("'<f4'", "Falsehood", "(2,)"), "expected , or }", "hood", PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "2"), "expected a tuple", "2, }", PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "[2]"), "expected a tuple", "[2]", PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(2)"), "lacks its comma", NULL, PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(,)"), "expected a number", ",)", PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(2,,)"), "expected a number", ",)", PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(2 1)"), "expected , or )", "1)", PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(-2,)"), "expected a number", "-2", PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(02,)"), "leading zero", "02", PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(0x2,)"), "expected , or )", "x2", PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(2.0,)"), "expected , or )", ".0", PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(2L,)"), "expected , or )", "L", PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(9223372036854775808,)"), "number too large", "922", PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(92233720368547758070,)"), "number too large", "922", PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(1,1,1,1,1,1,1,1,2)"), "more than 8", "2)", PF_UNSUPPORTED},
  {HEADER("'<f4'", "False", "(2,) "), "need 8", "", PF_OK}, /* the frame of the rows is right */
  {HEADER("'<f4'", "False", "(4611686018427387906,)"), "shape too large", NULL, PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(4294967296, 4294967296)"), "shape too large", NULL, PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(0, 4294967296, 4294967296)"), "shape too large", NULL,
   PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(3,)"), "8 bytes of data, descr and shape need 12", NULL,
   PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(1,)"), "8 bytes of data, descr and shape need 4", NULL,
   PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "()"), "8 bytes of data, descr and shape need 4", NULL, PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(0,)"), "8 bytes of data, descr and shape need 0", NULL,
   PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(2,)") "x", "must end in spaces and one newline", "x", PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(2,)") "\n", "must end in spaces and one newline", "\n",
   PF_BAD_INPUT},
  {HEADER("'<f4'", "False", "(2,)") "\t", "must end in spaces and one newline", "\t",
   PF_BAD_INPUT},
};

static void test_bad_headers(void **unused)
{
  (void)unused;
  static const uint8_t data[8] = {0};
  for (size_t i = 0; i < sizeof bad_headers / sizeof bad_headers[0]; i++) {
    const struct bad_header *h = &bad_headers[i];
    pf_tensor_file f;
    pf_error e = {.offset = SIZE_MAX, .text = "need 8"};
    block b = file_of(1, h->header, data, sizeof data, 0);
    const pf_status status = pf_npy_parse(b.data, b.size, NULL, &f, &e);
    if (status != h->status || strstr(e.text, h->why) == NULL)
      fail_msg("%s: %s: %s", h->header, pf_status_name(status), e.text);
    if (status == PF_OK) {
      pf_tensor_file_close(&f);
    } else {
      const char *at = h->where != NULL ? strstr(h->header, h->where) : NULL;
      const char *second = h->where != NULL && strcmp(h->why, "twice") == 0
                             ? strstr(at + 1, "'descr'") : at;
      if (second != NULL && e.offset != 10 + (size_t)(second - h->header))
        fail_msg("%s: at %zu: %s", h->header, e.offset, e.text);
      assert_in_range(e.offset, 10, 10 + strlen(h->header) + 1);
      assert_true(f.data == NULL && f.count == 0 && f.memory.first == NULL);
      assert_int_equal(pf_npy_parse(b.data, b.size, NULL, &f, NULL), status);
    }
    block_free(&b);
  }
}

static void test_bad_frames(void **unused)
{
  (void)unused;
  pf_tensor_file f;
  pf_error e;
  for (size_t size = 0; size < sizeof fortran - 1; size++) {
    block b = block_copy(fortran, size, 0);
    assert_int_equal(pf_npy_parse(b.data, b.size, NULL, &f, &e), PF_BAD_INPUT);
    assert_in_range(e.offset, 0, size);
    block_free(&b);
  }
  for (size_t size = 0; size < sizeof scalar - 1; size++) {
    block b = block_copy(scalar, size, 0);
    assert_int_equal(pf_npy_parse(b.data, b.size, NULL, &f, &e), PF_BAD_INPUT);
    block_free(&b);
  }
  block b = block_copy(scalar, sizeof scalar - 1, 0);
  static const uint8_t versions[][2] = {{0, 0}, {4, 0}, {1, 1}, {255, 255}};
  for (int i = 0; i < 4; i++) {
    memcpy(b.data + 6, versions[i], 2);
    assert_int_equal(pf_npy_parse(b.data, b.size, NULL, &f, &e), PF_UNSUPPORTED);
    assert_int_equal(e.offset, 6);
  }
  memcpy(b.data, scalar, sizeof scalar - 1);
  b.data[b.size - 2] = 'x'; /* the newline */
  assert_int_equal(pf_npy_parse(b.data, b.size, NULL, &f, &e), PF_BAD_INPUT);
  assert_int_equal(e.offset, b.size - 2);
  memcpy(b.data + 6, "\2\0\xff\xff\xff\xff", 6);
  assert_int_equal(pf_npy_parse(b.data, b.size, NULL, &f, &e), PF_BAD_INPUT);
  block_free(&b);
  b = file_of(1, "{'descr", NULL, 0, 0);
  b.data[8]--; /* without its newline, which no string may hold */
  assert_int_equal(pf_npy_parse(b.data, b.size, NULL, &f, &e), PF_BAD_INPUT);
  assert_non_null(strstr(e.text, "a string without an end"));
  assert_int_equal(e.offset, 11);
  block_free(&b);
}

/* Spaces up to the limit of 10000 bytes, newline included. */
static void test_header_limit(void **unused)
{
  (void)unused;
  char header[10001];
  pf_tensor_file f;
  for (size_t length = 9999; length <= 10000; length++) {
    memset(header, ' ', length);
    header[length] = '\0';
    memcpy(header, HEADER("'|u1'", "False", "()"), sizeof HEADER("'|u1'", "False", "()") - 1);
    block b = file_of(2, header, "", 1, 0);
    assert_int_equal(pf_npy_parse(b.data, b.size, NULL, &f, NULL),
                     length == 9999 ? PF_OK : PF_BAD_INPUT);
    pf_tensor_file_close(&f);
    block_free(&b);
  }
}

static size_t mutate(random_source *r, uint8_t *to, size_t size)
{
  static const char *const tokens[] = {
    "(", ")", ",", "'", "\"", "{", "}", "True", "False", "0", "9", "-", " ", "\n", "<f4", "|V2",
    ">", "descr", "'shape': (", "4294967296, ", "0, ", "9223372036854775807", "\xff", "1, "};
  enum { TOKENS = sizeof tokens / sizeof tokens[0] };
  for (int edits = draw_between(r, 1, 3); edits > 0; edits--) {
    const size_t at = (size_t)draw_below(r, draw_below(r, 4) == 0 ? 12 : 80);
    const char *token = tokens[draw_below(r, TOKENS)];
    const size_t length = strlen(token);
    switch (draw_below(r, 5)) {
    case 0: to[at] ^= (uint8_t)(1 << draw_below(r, 8)); break;
    case 1: to[at] = (uint8_t)('0' + draw_below(r, 10)); break;
    case 2: memcpy(to + at, token, length); break;
    case 3:
      memmove(to + at + length, to + at, size - at);
      memcpy(to + at, token, length);
      size += length;
      to[8] = (uint8_t)(to[8] + length);
      break;
    default:
      memmove(to + at, to + at + 1, size - at - 1);
      size--;
      to[8]--;
      break;
    }
  }
  return size;
}

static void test_mutations(void **unused)
{
  (void)unused;
  enum { RUNS = 200000 };
  static const struct {
    const uint8_t *data;
    size_t size;
  } files[] = {{fortran, sizeof fortran - 1}, {bfloat16, sizeof bfloat16 - 1},
               {scalar, sizeof scalar - 1}};
  static uint8_t scratch[1024], covered[1024];
  random_source r = {UINT64_C(0x9e5045)};
  int accepted = 0;
  print_message("seed %llx\n", (unsigned long long)r.state);
  for (int i = 0; i < RUNS; i++) {
    memset(scratch, 0, sizeof scratch);
    memcpy(scratch, files[i % 3].data, files[i % 3].size);
    const size_t size = mutate(&r, scratch, files[i % 3].size);
    block b = block_copy(scratch, size, (size_t)i % 5);
    const pf_dtype raw = (pf_dtype)draw_below(&r, PF_DTYPE_COUNT);
    pf_tensor_file f;
    pf_error e = {.offset = SIZE_MAX};
    if (pf_npy_parse(b.data, b.size, i % 2 != 0 ? &raw : NULL, &f, &e) == PF_OK) {
      check_entries(&f, covered);
      const size_t start = f.entry[0].offset;
      assert_int_equal(scratch[start - 1], '\n');
      for (size_t at = 0; at < size; at++)
        assert_int_equal(covered[at], at >= start);
      pf_tensor_file_close(&f);
      accepted++;
    } else {
      assert_in_range(e.offset, 0, size);
      assert_null(f.memory.first);
    }
    block_free(&b);
  }
  assert_in_range(accepted, RUNS / 100, RUNS / 2);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_bad_headers),
    cmocka_unit_test(test_bad_frames),
    cmocka_unit_test(test_header_limit),
    cmocka_unit_test(test_mutations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
