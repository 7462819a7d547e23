/* Models of one file and of several, told apart by their bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <endian.h>
#include <sys/mman.h>

#include "model_files.h"
#include "safetensors.h"
#include "safetensors_index.h"
#include "weights.h"

static void write_shard(const char *folder, const char *file, const char *name, float first)
{
  const float value[] = {first, first + 1, first + 2, first + 3};
  pf_tensor_entry t;
  pf_error e = {0};
  assert_true(pf_tensor_describe(name, PF_F32, 2, (int64_t[]){2, 2}, value, &t));
  assert_int_equal(pf_safetensors_write(in_folder(folder, file), &t, 1, NULL, 0, &e), PF_OK);
}

static pf_status open_text(const char *folder, const char *text, pf_weights *w, pf_error *e)
{
  const char *path = in_folder(folder, "index.json");
  file_write(path, text, strlen(text));
  return pf_weights_open(path, w, e);
}

static void remove_files(char *folder)
{
  static const char *const names[] = {"a.safetensors", "b.safetensors", "index.json"};
  for (int i = 0; i < 3; i++)
    unlink(in_folder(folder, names[i]));
  folder_remove(folder);
}

#define MAP(more) "{\"metadata\": {\"total_size\": 32},\n \"weight_map\": {" more "}}\n"
#define A "\"x.weight\": \"a.safetensors\""

static void test_shards(void **unused)
{
  (void)unused;
  char *folder = folder_new();
  pf_weights w;
  pf_error e = {0};
  double value[4];
  write_shard(folder, "a.safetensors", "x.weight", 1);
  write_shard(folder, "b.safetensors", "y.weight", 5);
  if (open_text(folder, MAP(A ", \"y.weight\": \"b.safetensors\""), &w, &e) != PF_OK)
    fail_msg("%zu: %s", e.offset, e.text);
  assert_string_equal(w.format, "safetensors");
  assert_true(w.count == 2 && w.file_count == 3);
  const int64_t y = pf_weights_find(&w, "y.weight");
  assert_true(y == 1 && pf_weights_find(&w, "z") == -1);
  assert_non_null(strstr(w.weight[y].path, "b.safetensors"));
  assert_int_equal(pf_weights_load(&w, (size_t)y, &e), PF_OK);
  pf_weight_read(&w.weight[y].entry, 0, 1, 4, value);
  for (int pass = 0; pass < 2; pass++) { /* what was forgotten is read again */
    for (int i = 0; i < 4; i++)
      assert_true(value[i] == i + 5);
    pf_weights_forget(&w, (size_t)y, 0, 16);
    pf_weight_read(&w.weight[y].entry, 0, 1, 4, value);
  }
  pf_weight_read(&w.weight[y].entry, 1, 2, 2, value);
  assert_true(value[0] == 6 && value[1] == 8);
  pf_weights_close(&w);
  remove_files(folder);
}

static void test_bad_indexes(void **unused)
{
  (void)unused;
  static const struct {
    const char *text, *why, *where;
  } rows[] = {
    {"{}", "no weight_map", "{}"},
    {"{\"weight_map\": 1}", "expected {", "1"},
    {"{\"weight_map\": {\"a\": 1}}", "a file's name is no string", "1"},
    {"{\"weight_map\": {}, \"weight_map\": {}}", "twice", "{}}"},
    {MAP(A ", " A), "'x.weight' occurs twice", "\"x.weight\": \"a.safetensors\"}"},
    {MAP("\"x\": \"../a.safetensors\""), "no file beside the index", "\"../"},
    {MAP("\"x\": \"/a\""), "no file beside the index", "\"/a"},
    {MAP("\"x\": \".a\""), "no file beside the index", "\".a"},
    {MAP("\"x\": \"\""), "no file beside the index", "\"\"}"},
    {MAP("\"x\": \"a.safetensors\""), "a.safetensors has no tensor 'x'", "\"x\""},
    {MAP("\"x\": \"\\ud800\""), "no string", "\"\\ud"},
  };
  char *folder = folder_new();
  write_shard(folder, "a.safetensors", "x.weight", 1);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    pf_weights w;
    pf_error e = {0};
    assert_int_equal(open_text(folder, rows[i].text, &w, &e), PF_BAD_INPUT);
    if (strstr(e.text, rows[i].why) == NULL ||
        e.offset != (size_t)(strstr(rows[i].text, rows[i].where) - rows[i].text))
      fail_msg("%s: %s at %zu", rows[i].text, e.text, e.offset);
    assert_true(w.count == 0 && w.file == NULL);
  }
  remove_files(folder);
}

static void test_bad_shards(void **unused)
{
  (void)unused;
  char *folder = folder_new();
  pf_weights w;
  pf_error e = {0};
  assert_int_equal(open_text(folder, MAP(A), &w, &e), PF_IO_ERROR);
  assert_non_null(strstr(e.text, "a.safetensors"));
  file_write(in_folder(folder, "a.safetensors"), "\2\0\0\0\0\0\0\0[]", 10);
  assert_int_equal(open_text(folder, MAP(A), &w, &e), PF_BAD_INPUT);
  assert_true(strstr(e.text, "a.safetensors: safetensors: ") != NULL && e.offset == 8);
  remove_files(folder);
}

static void test_other_files(void **unused)
{
  (void)unused;
  char *folder = folder_new();
  pf_weights w;
  pf_error e = {0};
  bytes b;
  double value[64];
  assert_int_equal(open_text(folder, "hello", &w, &e), PF_BAD_INPUT);
  assert_non_null(strstr(e.text, "no safetensors file"));
  assert_int_equal(open_text(folder, "", &w, &e), PF_BAD_INPUT);
  gguf_head(&b, 3, 1, 0);
  gguf_tensor(&b, "q", 1, (uint64_t[]){32}, 8, 0);
  pad(&b, 32);
  put_le(&b, 0x4000, 2);
  for (int i = 0; i < 32; i++)
    put_le(&b, (uint64_t)i, 1);
  file_write(in_folder(folder, "index.json"), b.data, b.size);
  assert_int_equal(pf_weights_open(in_folder(folder, "index.json"), &w, &e), PF_OK);
  assert_string_equal(w.format, "gguf");
  pf_dtype dtype;
  assert_true(pf_weight_dtype(&w.weight[0].entry, &dtype) && dtype == PF_F32);
  pf_weight_read(&w.weight[0].entry, 0, 1, 32, value);
  assert_true(value[0] == 0 && value[31] == 62);
  pf_weights_close(&w);
  remove_files(folder);
}

static void test_external_data(void **unused)
{
  (void)unused;
  char *folder = folder_new();
  pf_weights w;
  pf_error e = {0};
  bytes t = onnx_tensor("t", ONNX_FLOAT, 1, (int64_t[]){2}), entry = {.size = 0}, g = {.size = 0};
  pb_text(&entry, 1, "location");
  pb_text(&entry, 2, "a.safetensors");
  pb_message(&t, 13, &entry);
  pb_number(&t, 14, 1);
  pb_message(&g, 5, &t);
  t.data[t.size - 2 - entry.size - 3] = 'u'; /* another one of that file: its name is a letter */
  pb_message(&g, 5, &t);
  const bytes m = onnx_model(&g);
  const char *path = in_folder(folder, "index.json");
  file_write(path, m.data, m.size);
  assert_int_equal(pf_weights_open(path, &w, &e), PF_IO_ERROR);
  const float value[] = {3, 4};
  file_write(in_folder(folder, "a.safetensors"), value, 7);
  assert_int_equal(pf_weights_open(in_folder(folder, "index.json"), &w, &e), PF_BAD_INPUT);
  assert_non_null(strstr(e.text, "a.safetensors: onnx: tensor 't': 8 bytes of data in a file of 7"));
  file_write(in_folder(folder, "a.safetensors"), value, 8);
  assert_int_equal(pf_weights_open(in_folder(folder, "index.json"), &w, &e), PF_OK);
  double got[2];
  pf_weight_read(&w.weight[0].entry, 0, 1, 2, got);
  assert_true(got[0] == 3 && got[1] == 4 && w.says_uses);
  assert_true(w.count == 2 && w.file_count == 2 && w.weight[0].entry.data == w.weight[1].entry.data);
  pf_weights_close(&w);
  remove_files(folder);
}

static bool always(void *user, const char *doing, uint64_t done, uint64_t all)
{
  (void)user;
  (void)doing;
  return done <= all;
}

/* A header's length may begin with the bytes of a brace, as an index does. */
static void test_lengths_like_braces(void **unused)
{
  (void)unused;
  static const uint64_t lengths[] = {'{', ' ' | '{' << 8};
  char *folder = folder_new();
  for (int i = 0; i < 2; i++) {
    static uint8_t file[8 + (' ' | '{' << 8)];
    static const char header[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}";
    pf_weights w;
    pf_error e = {0};
    const uint64_t length = htole64(lengths[i]);
    memset(file, ' ', sizeof file);
    memcpy(file, &length, sizeof length);
    memcpy(file + 8, header, sizeof header - 1);
    file_write(in_folder(folder, "a.safetensors"), file, 8 + (size_t)lengths[i]);
    if (pf_weights_open(in_folder(folder, "a.safetensors"), &w, &e) != PF_OK)
      fail_msg("%zu: %s", e.offset, e.text);
    assert_int_equal(w.count, 1);
    pf_weights_close(&w);
  }
  remove_files(folder);
}

/* Of a range that runs beyond the file only the file's part is given back: the page behind it is
   another's. */
static void test_forget(void **unused)
{
  (void)unused;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uint8_t *at = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(at != MAP_FAILED);
  memset(at, 1, 3 * page);
  const pf_weights_file f = {.data = at + page, .size = page};
  pf_weights_forget_file(&f, 0, 10 * page);
  pf_weights_forget_file(&f, 5 * page, page);
  pf_weights_forget_file(&f, page / 2, SIZE_MAX);
  assert_true(at[page - 1] == 1 && at[page] == 0 && at[2 * page] == 1);
  munmap(at, 3 * page);
}

/* FIPS 180-2, appendix B.1. */
static void test_hash(void **unused)
{
  (void)unused;
  const pf_watch watch = {always, NULL};
  const pf_weights_file f = {.data = (const uint8_t *)"abc", .size = 3};
  char hash[PF_HASH_TEXT];
  assert_true(pf_weights_hash(&f, &watch, hash));
  assert_string_equal(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_shards),      cmocka_unit_test(test_bad_indexes),
    cmocka_unit_test(test_bad_shards),  cmocka_unit_test(test_other_files),
    cmocka_unit_test(test_external_data), cmocka_unit_test(test_forget),
    cmocka_unit_test(test_hash),        cmocka_unit_test(test_lengths_like_braces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
