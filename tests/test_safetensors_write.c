/* The safetensors writer: the bytes of the reference implementation, and the promise that a file is
   complete or not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random_source.h"
#include "safetensors.h"
#include "safetensors_files.h"
#include "tensorfile_open.h"

static void check_same_file(const char *path, const block *want)
{
  block got = file_read(path);
  assert_int_equal(got.size, want->size);
  assert_memory_equal(got.data, want->data, want->size);
  block_free(&got);
}

/* Written from shuffled entries, the bytes are those that the reference implementation wrote. */
static void test_write_reference(void **unused)
{
  (void)unused;
  char *folder = folder_new();
  random_source r = {3};
  for (int round = 0; round < 20; round++) {
    pf_tensor_file f;
    const bool reference = round % 2 == 0;
    block b = file_of(reference ? reference_header : others_header,
                      reference ? reference_data : others_data, 35, 0);
    const char *path = in_folder(folder, "out");
    assert_int_equal(pf_safetensors_parse(b.data, b.size, &f, NULL), PF_OK);
    pf_tensor_entry entry[12];
    assert_in_range(f.count, 1, 12);
    for (size_t i = 0; i < f.count; i++)
      entry[i] = f.entry[i];
    for (int i = (int)f.count - 1; i > 0; i--) {
      const int j = draw_below(&r, i + 1);
      const pf_tensor_entry t = entry[i];
      entry[i] = entry[j];
      entry[j] = t;
    }
    assert_int_equal(pf_safetensors_write(path, entry, f.count, f.metadata, f.metadata_count,
                                          NULL), PF_OK);
    check_same_file(path, &b);
    pf_tensor_file_close(&f);
    block_free(&b);
  }
  assert_int_equal(unlink(in_folder(folder, "out")), 0);
  folder_remove(folder);
}

/* Through a file and the mapping: bits, texts that JSON must escape, and alignment. */
static void test_round_trip(void **unused)
{
  (void)unused;
  enum { COUNT = 60 };
  char *folder = folder_new();
  random_source r = {UINT64_C(0x7e5045)};
  const pf_metadata metadata[] = {{"z", "\n\t\"\\/\x01\x7f"}, {"", "\xc3\xa9"}, {"a", ""}};
  for (int round = 0; round < 20; round++) {
    pf_tensor_entry entry[COUNT];
    char name[COUNT][24];
    uint8_t bytes[COUNT][8 * 24];
    for (int i = 0; i < COUNT; i++) {
      int64_t dim[PF_TENSOR_MAX_RANK];
      const int rank = draw_between(&r, 0, 3);
      for (int d = 0; d < rank; d++)
        dim[d] = draw_between(&r, 0, d + 2);
      for (size_t b = 0; b < sizeof bytes[i]; b++)
        bytes[i][b] = (uint8_t)draw_bits(&r);
      snprintf(name[i], sizeof name[i], "%d \"\\\xc3\xa9\n\x1f/", i);
      assert_true(pf_tensor_describe(name[i], (pf_dtype)draw_below(&r, PF_DTYPE_COUNT), rank, dim,
                                     bytes[i], &entry[i]));
    }
    const char *path = in_folder(folder, "t");
    assert_int_equal(pf_safetensors_write(path, entry, COUNT, metadata, 3, NULL), PF_OK);
    pf_tensor_file f;
    pf_error e;
    assert_int_equal(pf_tensor_file_open(path, NULL, &f, &e), PF_OK);
    assert_true(f.mapped);
    assert_int_equal(f.count, COUNT);
    for (int i = 0; i < COUNT; i++) {
      const pf_tensor_entry *t = pf_tensor_file_find(&f, name[i]);
      assert_non_null(t);
      assert_true(t->has_dtype && t->dtype == entry[i].dtype && t->rank == entry[i].rank);
      assert_memory_equal(t->dim, entry[i].dim, (size_t)t->rank * sizeof t->dim[0]);
      assert_int_equal(t->bytes, entry[i].bytes);
      assert_memory_equal(t->data, entry[i].data, t->bytes);
      assert_int_equal(t->offset % (size_t)pf_dtype_of(t->dtype)->bytes, 0);
    }
    assert_int_equal(f.entry[0].offset % 8, 0);
    assert_int_equal(f.metadata_count, 3);
    for (int i = 0; i < 3; i++)
      assert_string_equal(pf_tensor_file_metadata(&f, metadata[i].key), metadata[i].value);
    pf_tensor_file_close(&f);
  }
  assert_int_equal(unlink(in_folder(folder, "t")), 0);
  folder_remove(folder);
}

/* Refused before anything is written: the folder stays empty. */
static void test_write_refusals(void **unused)
{
  (void)unused;
  char *folder = folder_new();
  char path[300];
  static const uint8_t data[64] = {0};
  const int64_t dim[2] = {2, 3};
  const pf_metadata twice[] = {{"k", "a"}, {"k", "b"}}, not_text[] = {{"k", "\xff"}},
                    not_key[] = {{"\xc0\x80", "v"}};
  pf_tensor_entry good, t, pair[2];
  pf_error e;
  snprintf(path, sizeof path, "%s/f", folder);
  assert_true(pf_tensor_describe("a", PF_F32, 2, dim, data, &good));
  pair[0] = pair[1] = good;
  assert_int_equal(pf_safetensors_write(path, pair, 2, NULL, 0, &e), PF_BAD_INPUT);
  assert_non_null(strstr(e.text, "'a' twice"));
  assert_int_equal(pf_safetensors_write(path, &good, 1, twice, 2, &e), PF_BAD_INPUT);
  assert_int_equal(pf_safetensors_write(path, &good, 1, not_text, 1, &e), PF_BAD_INPUT);
  assert_non_null(strstr(e.text, "not UTF-8"));
  assert_int_equal(pf_safetensors_write(path, &good, 1, not_key, 1, &e), PF_BAD_INPUT);
  t = good;
  t.name = "\xed\xa0\x80";
  assert_int_equal(pf_safetensors_write(path, &t, 1, NULL, 0, &e), PF_BAD_INPUT);
  t.name = "__metadata__";
  assert_int_equal(pf_safetensors_write(path, &t, 1, NULL, 0, &e), PF_BAD_INPUT);
  t = good;
  t.stride[0] = 1;
  t.stride[1] = 2;
  assert_int_equal(pf_safetensors_write(path, &t, 1, NULL, 0, &e), PF_BAD_INPUT);
  assert_non_null(strstr(e.text, "C order"));
  t = good;
  t.bytes = 20;
  assert_int_equal(pf_safetensors_write(path, &t, 1, NULL, 0, &e), PF_BAD_INPUT);
  t = good;
  t.dim[0] = -2;
  assert_int_equal(pf_safetensors_write(path, &t, 1, NULL, 0, &e), PF_BAD_INPUT);
  t = good;
  t.has_dtype = false;
  t.dtype_name = "<f4";
  assert_int_equal(pf_safetensors_write(path, &t, 1, NULL, 0, &e), PF_UNSUPPORTED);
  assert_int_equal(folder_count(folder), 0);
  folder_remove(folder);
}

/* The disk is full at each place of a file: what was there stays, nothing else is left. */
static void test_full_disk(void **unused)
{
  (void)unused;
  char *folder = folder_new();
  char path[300];
  pf_tensor_file f;
  pf_error e;
  block b = file_of(reference_header, reference_data, sizeof reference_data, 0);
  snprintf(path, sizeof path, "%s/kept", folder);
  assert_int_equal(pf_safetensors_parse(b.data, b.size, &f, NULL), PF_OK);
  file_write(path, "before", 6);
  const block before = {(uint8_t[]){'b', 'e', 'f', 'o', 'r', 'e'}, 6, NULL};
  for (rlim_t limit = 0; limit < b.size; limit += 25) {
    disk_limit(limit);
    const pf_status status =
      pf_safetensors_write(path, f.entry, f.count, f.metadata, f.metadata_count, &e);
    disk_unlimit();
    assert_int_equal(status, PF_IO_ERROR);
    assert_non_null(strstr(e.text, strerror(EFBIG)));
    assert_int_equal(folder_count(folder), 1);
    check_same_file(path, &before);
  }
  assert_int_equal(pf_safetensors_write(path, f.entry, f.count, f.metadata, f.metadata_count, &e),
                   PF_OK);
  check_same_file(path, &b);
  assert_int_equal(folder_count(folder), 1);
  pf_tensor_file_close(&f);
  block_free(&b);
  assert_int_equal(unlink(path), 0);
  folder_remove(folder);
}

static void test_paths(void **unused)
{
  (void)unused;
  char *folder = folder_new();
  pf_tensor_file f;
  pf_error e;
  assert_int_equal(pf_tensor_file_open(in_folder(folder, "none"), NULL, &f, &e), PF_IO_ERROR);
  assert_non_null(strstr(e.text, strerror(ENOENT)));
  assert_int_equal(pf_tensor_file_open(folder, NULL, &f, &e), PF_IO_ERROR);
  assert_int_equal(mkfifo(in_folder(folder, "pipe"), 0600), 0);
  assert_int_equal(pf_tensor_file_open(in_folder(folder, "pipe"), NULL, &f, &e), PF_IO_ERROR);
  assert_int_equal(pf_safetensors_write(in_folder(folder, "pipe"), NULL, 0, NULL, 0, &e),
                   PF_IO_ERROR);
  assert_int_equal(pf_safetensors_write(folder, NULL, 0, NULL, 0, &e), PF_IO_ERROR);
  assert_int_equal(pf_safetensors_write(in_folder(folder, "no/f"), NULL, 0, NULL, 0, &e),
                   PF_IO_ERROR);
  assert_int_equal(folder_count(folder), 1);
  assert_int_equal(unlink(in_folder(folder, "pipe")), 0);
  file_write(in_folder(folder, "empty"), "", 0);
  assert_int_equal(pf_tensor_file_open(in_folder(folder, "empty"), NULL, &f, &e), PF_BAD_INPUT);
  assert_int_equal(unlink(in_folder(folder, "empty")), 0);
  assert_int_equal(pf_safetensors_write(in_folder(folder, "f"), NULL, 0, NULL, 0, &e), PF_OK);
  assert_int_equal(pf_tensor_file_open(in_folder(folder, "f"), NULL, &f, &e), PF_OK);
  assert_int_equal(f.count, 0);
  pf_tensor_file_close(&f);
  assert_int_equal(unlink(in_folder(folder, "f")), 0);
  folder_remove(folder);
}

/* Closed, or refused, a file leaves no mapping behind. */
static void test_unmaps(void **unused)
{
  (void)unused;
  if (access("/proc/self/maps", R_OK) != 0)
    skip();
  char *folder = folder_new();
  const char *path = in_folder(folder, "f");
  pf_tensor_file f;
  assert_int_equal(pf_safetensors_write(path, NULL, 0, NULL, 0, NULL), PF_OK);
  assert_int_equal(pf_tensor_file_open(path, NULL, &f, NULL), PF_OK);
  assert_true(file_is_mapped(path));
  pf_tensor_file_close(&f);
  assert_false(file_is_mapped(path));
  file_write(path, "no tensors", 10);
  assert_int_equal(pf_tensor_file_open(path, NULL, &f, NULL), PF_BAD_INPUT);
  assert_false(file_is_mapped(path));
  assert_int_equal(unlink(path), 0);
  folder_remove(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_write_reference),
    cmocka_unit_test(test_round_trip),
    cmocka_unit_test(test_write_refusals),
    cmocka_unit_test(test_full_disk),
    cmocka_unit_test(test_paths),
    cmocka_unit_test(test_unmaps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
