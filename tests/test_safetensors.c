/* The safetensors reader: files of the reference implementation, odd ones, mutated ones, a
   large one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random_source.h"
#include "safetensors.h"
#include "safetensors_files.h"
#include "tensorfile_open.h"

static const struct expected {
  const char *name, *dtype_name, *dtype;
  size_t at, bytes;
} expected[] = {
  {"f64", "F64", "f64", 0, 8},        {"none", "F32", "f32", 8, 0},
  {"x.f32", "F32", "f32", 8, 8},      {"i32", "I32", "s32", 16, 4},
  {"bf16", "BF16", "bf16", 20, 6},    {"f16", "F16", "f16", 26, 2},
  {"e5m2z", "F8_E5M2FNUZ", "f8_e5m2fnuz", 28, 1},
  {"e4m3z", "F8_E4M3FNUZ", "f8_e4m3fnuz", 29, 1},
  {"e4m3", "F8_E4M3", "f8_e4m3fn", 30, 2},
  {"e5m2", "F8_E5M2", "f8_e5m2", 32, 1},
  {"i8", "I8", "s8", 33, 1},          {"u8", "U8", "u8", 34, 1},
};
enum { EXPECTED = sizeof expected / sizeof expected[0] };

static void check_reference(const pf_tensor_file *f)
{
  const size_t start = 8 + sizeof reference_header - 1;
  assert_string_equal(f->format, "safetensors");
  assert_int_equal(f->count, EXPECTED);
  for (int i = 0; i < EXPECTED; i++) {
    const pf_tensor_entry *t = &f->entry[i];
    assert_string_equal(t->name, expected[i].name);
    assert_string_equal(t->dtype_name, expected[i].dtype_name);
    assert_true(t->has_dtype);
    assert_string_equal(pf_dtype_of(t->dtype)->name, expected[i].dtype);
    assert_int_equal(t->offset, start + expected[i].at);
    assert_ptr_equal(t->data, f->data + t->offset);
    assert_int_equal(t->bytes, expected[i].bytes);
    assert_ptr_equal(pf_tensor_file_find(f, t->name), t);
  }
  const pf_tensor_entry *none = pf_tensor_file_find(f, "none");
  assert_int_equal(none->rank, 3);
  assert_true(none->dim[0] == 4 && none->dim[1] == 0 && none->dim[2] == 2 && none->elements == 0);
  assert_int_equal(pf_tensor_file_find(f, "u8")->rank, 0);
  assert_int_equal(pf_tensor_file_find(f, "u8")->elements, 1);
  assert_int_equal(pf_load_bits(PF_F32, pf_tensor_at(pf_tensor_file_find(f, "x.f32"), 1)),
                   0x0f0e0d0c);
  assert_true(pf_load(PF_F16, pf_tensor_file_find(f, "f16")->data) == 1);
  assert_null(pf_tensor_file_find(f, "x"));
  assert_null(pf_tensor_file_find(f, "x.f32 "));
  assert_null(pf_tensor_file_find(f, "__metadata__"));
  assert_int_equal(f->metadata_count, 1);
  assert_string_equal(pf_tensor_file_metadata(f, "made by"), "safetensors 0.8.0");
  assert_null(pf_tensor_file_metadata(f, "made"));
}

/* At every alignment: under UBSan a reader that casts pointers fails. */
static void test_reference(void **unused)
{
  (void)unused;
  for (size_t shift = 0; shift < 8; shift++) {
    pf_tensor_file f;
    pf_error e;
    block b = file_of(reference_header, reference_data, sizeof reference_data, shift);
    assert_int_equal(pf_safetensors_parse(b.data, b.size, &f, &e), PF_OK);
    check_reference(&f);
    pf_tensor_file_close(&f);
    pf_tensor_file_close(&f);
    block_free(&b);
  }
}

static void test_other_dtypes(void **unused)
{
  (void)unused;
  pf_tensor_file f;
  block b = file_of(others_header, others_data, sizeof others_data, 0);
  assert_int_equal(pf_safetensors_parse(b.data, b.size, &f, NULL), PF_OK);
  assert_int_equal(f.count, 9);
  for (size_t i = 0; i < f.count; i++)
    assert_false(f.entry[i].has_dtype);
  assert_string_equal(f.entry[1].dtype_name, "I64");
  assert_memory_equal(f.entry[1].data, "12345678", 8);
  assert_int_equal(pf_tensor_file_find(&f, "f4")->elements, 2);
  assert_int_equal(f.metadata_count, 0);
  assert_null(pf_tensor_file_metadata(&f, "f4"));
  pf_tensor_file_close(&f);
  block_free(&b);
}

static void test_odd_but_valid(void **unused)
{
  (void)unused;
  static const struct {
    const char *header;
    size_t bytes;
    const char *name; /* NULL: no tensor */
  } files[] = {
    {"{}", 0, NULL},
    {"{ \t}\r\n ", 0, NULL},
    {"{\"__metadata__\":{}}", 0, NULL},
    {"{\"\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, ""},
    {"{ \"a\" : { \"shape\" : [ ] , \"data_offsets\" : [ 0 , 4 ] , \"dtype\" : \"F32\" } } ", 4,
     "a"},
    {"{\"\\u00e9\\ud83d\\ude00\\n\\\"\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}",
     1, "\xc3\xa9\xf0\x9f\x98\x80\n\""},
    {"{\"}]\":{\"dtype\":\"U8\",\"shape\":[0,9],\"data_offsets\":[0,0]}}", 0, "}]"},
    {"{\"e\":{\"dtype\":\"I8\",\"shape\":[1,1,1,1,1,1,1,3],\"data_offsets\":[0,3]}}", 3, "e"},
    /* the empty tensor lies at another's end; the order of the header is not that of the data */
    {"{\"y\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]},"
     "\"z\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[1,1]},"
     "\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 3, "y"},
  };
  static const uint8_t data[4] = {1, 2, 3, 4};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    pf_tensor_file f;
    pf_error e = {0};
    uint8_t covered[400];
    block b = file_of(files[i].header, data, files[i].bytes, 0);
    if (pf_safetensors_parse(b.data, b.size, &f, &e) != PF_OK)
      fail_msg("%s: %s", files[i].header, e.text);
    check_entries(&f, covered);
    if (files[i].name == NULL)
      assert_int_equal(f.count, 0);
    else
      assert_string_equal(f.entry[0].name, files[i].name);
    pf_tensor_file_close(&f);
    block_free(&b);
  }
}

static void check_accepted(const pf_tensor_file *f)
{
  static uint8_t covered[4096];
  assert_in_range(f->size, 10, sizeof covered);
  uint64_t length = 0;
  for (int i = 7; i >= 0; i--)
    length = length << 8 | f->data[i];
  check_entries(f, covered);
  for (size_t at = 0; at < f->size; at++)
    assert_int_equal(covered[at], at >= 8 + length);
  for (size_t i = 0; i < f->metadata_count; i++)
    assert_ptr_equal(pf_tensor_file_metadata(f, f->metadata[i].key), f->metadata[i].value);
}

static size_t mutate(random_source *r, uint8_t *to, size_t size, size_t header)
{
  static const char *const tokens[] = {
    "[", "]", "{", "}", "\"", ",", ":", "0", "-", "1e2", ".", "\\", "\\u0000", "null", "\"U8\"",
    "\"F4\"", "\"dtype\":", "\"shape\":[", "[0,0]", "4294967296", "9223372036854775807", "\xff",
    "\"__metadata__\":{", "  ", "\n"};
  enum { TOKENS = sizeof tokens / sizeof tokens[0] };
  for (int edits = draw_between(r, 1, 3); edits > 0; edits--) {
    const size_t at = (size_t)draw_below(r, (int)(draw_below(r, 8) == 0 ? 8 : header + 8));
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
      to[0] = (uint8_t)(to[0] + length); /* mostly right */
      break;
    default:
      memmove(to + at, to + at + 1, size - at - 1);
      size--;
      to[0]--;
      break;
    }
  }
  return size;
}

/* No crash, no leak, an error with its place; and what is accepted keeps the reader's promise. */
static void test_mutations(void **unused)
{
  (void)unused;
  enum { RUNS = 200000 };
  random_source r = {UINT64_C(0x5afe7e5045)};
  static uint8_t scratch[4096];
  int accepted = 0;
  print_message("seed %llx\n", (unsigned long long)r.state);
  for (int i = 0; i < RUNS; i++) {
    const bool reference = i % 2 == 0;
    const char *header = reference ? reference_header : others_header;
    block whole = file_of(header, reference ? reference_data : others_data, 35, 0);
    memcpy(scratch, whole.data, whole.size);
    const size_t size = mutate(&r, scratch, whole.size, strlen(header));
    block b = block_copy(scratch, size, (size_t)i % 3);
    pf_tensor_file f;
    pf_error e = {.offset = SIZE_MAX};
    if (pf_safetensors_parse(b.data, b.size, &f, &e) == PF_OK) {
      check_accepted(&f);
      pf_tensor_file_close(&f);
      accepted++;
    } else {
      assert_in_range(e.offset, 0, size);
      assert_null(f.memory.first);
    }
    block_free(&b);
    block_free(&whole);
  }
  assert_in_range(accepted, RUNS / 100, RUNS / 2);
}

/* 5 GB with holes: sizes that need more than 32 bits, read in place. */
static void test_large_file(void **unused)
{
  (void)unused;
  static const char header[] =
    "{\"last\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[5000000000,5000000001]},"
    "\"first\":{\"dtype\":\"BF16\",\"shape\":[50000,50000],\"data_offsets\":[0,5000000000]}}";
  const size_t start = 8 + sizeof header - 1;
  char *folder = folder_new();
  const char *path = in_folder(folder, "large");
  pf_tensor_file f;
  block b = file_of(header, NULL, 0, 0);
  file_write(path, b.data, b.size);
  block_free(&b);
  FILE *file = fopen(path, "r+b");
  const bool made = ftruncate(fileno(file), (off_t)start + 5000000000) == 0 &&
                    fseeko(file, 0, SEEK_END) == 0 && fputc(7, file) == 7;
  if (fclose(file) == 0 && made) {
    assert_int_equal(pf_tensor_file_open(path, NULL, &f, NULL), PF_OK);
    assert_int_equal(*pf_tensor_file_find(&f, "last")->data, 7);
    const pf_tensor_entry *first = pf_tensor_file_find(&f, "first");
    assert_int_equal(first->bytes, UINT64_C(5000000000));
    assert_int_equal(pf_load_bits(PF_BF16, pf_tensor_at(first, first->elements - 1)), 0);
    pf_tensor_file_close(&f);
  } else {
    print_message("no room for a file with holes: skipped\n");
  }
  assert_int_equal(unlink(path), 0);
  folder_remove(folder);
}

static void test_shapes(void **unused)
{
  (void)unused;
  pf_tensor_entry t;
  int64_t dim[9] = {2, 3, 4, 1, 1, 1, 1, 1, 1};
  assert_true(pf_tensor_describe("t", PF_BF16, 3, dim, NULL, &t));
  assert_true(t.stride[0] == 12 && t.stride[1] == 4 && t.stride[2] == 1);
  assert_true(t.elements == 24 && t.bytes == 48 && pf_tensor_is_c_order(&t));
  assert_true(pf_tensor_describe("t", PF_F64, 8, dim, NULL, &t));
  assert_false(pf_tensor_describe("t", PF_F64, 9, dim, NULL, &t));
  assert_false(pf_tensor_describe("t", PF_F64, -1, dim, NULL, &t));
  dim[0] = dim[1] = -2;
  assert_false(pf_tensor_describe("t", PF_U8, 2, dim, NULL, &t));
  dim[1] = 3;
  dim[0] = INT64_MAX / 96;
  assert_true(pf_tensor_describe("t", PF_U8, 3, dim, NULL, &t));
  assert_false(pf_tensor_describe("t", PF_F64, 3, dim, NULL, &t));
  dim[0] = 1; /* a stride along one element is nobody's business */
  assert_true(pf_tensor_describe("t", PF_U8, 3, dim, NULL, &t));
  t.stride[0] = 99;
  assert_true(pf_tensor_is_c_order(&t));
  t.stride[1] = 99;
  assert_false(pf_tensor_is_c_order(&t));
}

/* Cut off, it still is one; its first bytes tell. */
static void test_recognition(void **state)
{
  (void)state;
  block b = file_of(reference_header, reference_data, sizeof reference_data, 1);
  assert_true(pf_safetensors_is(b.data, b.size));
  assert_true(pf_safetensors_is(b.data, 9));
  assert_false(pf_safetensors_is(b.data, 8));
  assert_false(pf_safetensors_is(b.data, 0));
  b.data[8] = '[';
  assert_false(pf_safetensors_is(b.data, b.size));
  b.data[8] = '{';
  b.data[4] = 1;  /* 4 GiB of header */
  assert_false(pf_safetensors_is(b.data, b.size));
  block_free(&b);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_recognition),
    cmocka_unit_test(test_reference),
    cmocka_unit_test(test_other_dtypes),
    cmocka_unit_test(test_odd_but_valid),
    cmocka_unit_test(test_mutations),
    cmocka_unit_test(test_large_file),
    cmocka_unit_test(test_shapes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
