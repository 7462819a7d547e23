/* .npy: files of NumPy, odd ones, raw bytes, and the writer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "npy.h"
#include "npy_files.h"
#include "random_source.h"
#include "tensorfile_open.h"

static pf_tensor_entry open_block(const block *b, const pf_dtype *raw, pf_tensor_file *f)
{
  pf_error e = {0};
  if (pf_npy_parse(b->data, b->size, raw, f, &e) != PF_OK)
    fail_msg("%s", e.text);
  assert_string_equal(f->format, "npy");
  assert_int_equal(f->count, 1);
  assert_ptr_equal(pf_tensor_file_find(f, ""), &f->entry[0]);
  assert_null(pf_tensor_file_find(f, "x"));
  assert_null(pf_tensor_file_metadata(f, "x"));
  return f->entry[0];
}

static void test_numpy_files(void **unused)
{
  (void)unused;
  for (size_t shift = 0; shift < 8; shift++) {
    pf_tensor_file f;
    block b = block_copy(fortran, sizeof fortran - 1, shift);
    pf_tensor_entry t = open_block(&b, NULL, &f);
    assert_true(t.has_dtype && t.dtype == PF_F32 && t.rank == 2 && t.dim[0] == 2 && t.dim[1] == 3);
    assert_true(t.stride[0] == 1 && t.stride[1] == 2 && t.bytes == 24 && t.offset == 128);
    assert_string_equal(t.dtype_name, "<f4");
    assert_false(pf_tensor_is_c_order(&t));
    for (int i = 0; i < 6; i++)
      assert_true(pf_load(PF_F32, pf_tensor_at(&t, i)) == i);
    pf_tensor_file_close(&f);
    block_free(&b);

    b = block_copy(bfloat16, sizeof bfloat16 - 1, shift);
    t = open_block(&b, NULL, &f);
    assert_true(!t.has_dtype && t.elements == 2 && t.bytes == 4);
    assert_string_equal(t.dtype_name, "|V2");
    pf_tensor_file_close(&f);
    t = open_block(&b, &(const pf_dtype){PF_BF16}, &f);
    assert_true(t.has_dtype && t.dtype == PF_BF16);
    assert_true(pf_load(PF_BF16, pf_tensor_at(&t, 0)) == 1);
    assert_true(pf_load(PF_BF16, pf_tensor_at(&t, 1)) == -2);
    pf_tensor_file_close(&f);
    block_free(&b);

    b = block_copy(scalar, sizeof scalar - 1, shift);
    t = open_block(&b, NULL, &f);
    assert_true(t.has_dtype && t.dtype == PF_S8 && t.rank == 0 && t.elements == 1);
    assert_true(pf_load(PF_S8, pf_tensor_at(&t, 0)) == 7);
    pf_tensor_file_close(&f);
    block_free(&b);
  }
}

static void test_odd_but_valid(void **unused)
{
  (void)unused;
  static const struct {
    const char *header, *dtype; /* NULL: none of ours */
    size_t bytes;
  } files[] = {
    {HEADER("'<f8'", "False", "(1,)"), "f64", 8},
    {HEADER("'<f2'", "False", "(1,)"), "f16", 2},
    {HEADER("'<i4'", "False", "(1,)"), "s32", 4},
    {HEADER("'|u1'", "False", "(1,)"), "u8", 1},
    {HEADER("'<u1'", "False", "(1,)"), "u8", 1},
    {HEADER("'>i1'", "False", "(1,)"), "s8", 1},
    {HEADER("'<i8'", "False", "(1,)"), NULL, 8},
    {HEADER("'|b1'", "True", "(2, 4)"), NULL, 8},
    {HEADER("'<c16'", "False", "()"), NULL, 16},
    {HEADER("'<V1'", "False", "(3,)"), NULL, 3},
    {HEADER("'<f4'", "True", "(0, 3)"), "f32", 0},
    {HEADER("'<f4'", "False", "(1, 1, 1, 1, 1, 1, 1, 2)"), "f32", 8},
    {HEADER("'<f4'", "False", "(1, 2,)"), "f32", 8},
    {"{\"shape\":(2,1),\"fortran_order\":True,\"descr\":\"<f4\"}", "f32", 8},
    {"  { 'shape' :( 2 , ) , 'fortran_order':False,'descr': '<f4' , }   ", "f32", 8},
  };
  static const uint8_t data[16] = {0};
  uint8_t covered[200];
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    for (int major = 1; major <= 3; major++) {
      pf_tensor_file f;
      block b = file_of(major, files[i].header, data, files[i].bytes, 0);
      const pf_tensor_entry t = open_block(&b, NULL, &f);
      check_entries(&f, covered);
      assert_int_equal(t.has_dtype, files[i].dtype != NULL);
      if (t.has_dtype)
        assert_string_equal(pf_dtype_of(t.dtype)->name, files[i].dtype);
      assert_int_equal(t.bytes, files[i].bytes);
      pf_tensor_file_close(&f);
      block_free(&b);
    }
  }
}

/* Which files `raw` speaks for. */
static void test_raw(void **unused)
{
  (void)unused;
  static const struct {
    const char *descr, *raw, *got; /* got NULL: an error; "": no dtype */
    int bytes;
  } rows[] = {
    {"'|V2'", "bf16", "bf16", 2},       {"'<u2'", "bf16", "bf16", 2},
    {"'<i2'", "bf16", "bf16", 2},       {"'|V2'", "f16", "f16", 2},
    {"'<u2'", "f16", "", 2},            {"'|V4'", "bf16", NULL, 4},
    {"'|V2'", "f8_e5m2", NULL, 2},      {"'<V1'", "f8_e4m3fn", "f8_e4m3fn", 1},
    {"'<f1'", "f8_e5m2", "f8_e5m2", 1}, {"'|u1'", "f8_e4m3fnuz", "f8_e4m3fnuz", 1},
    {"'|i1'", "f8_e5m2fnuz", "f8_e5m2fnuz", 1},
    {"'|u1'", "bf16", "u8", 1},         {"'|u1'", "s8", "u8", 1},
    {"'<f4'", "bf16", "f32", 4},        {"'<f2'", "bf16", "f16", 2},
    {"'<i4'", "f32", "s32", 4},         {"'<u4'", "f32", "", 4},
    {"'<f1'", "bf16", NULL, 1},         {"'|b1'", "f8_e5m2", "", 1},
  };
  static const uint8_t data[4] = {0};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char header[100];
    pf_tensor_file f;
    pf_error e;
    pf_dtype raw;
    assert_true(pf_dtype_find(rows[i].raw, strlen(rows[i].raw), &raw));
    snprintf(header, sizeof header, HEADER("%s", "False", "(1,)"), rows[i].descr);
    block b = file_of(1, header, data, (size_t)rows[i].bytes, 0);
    const pf_status status = pf_npy_parse(b.data, b.size, &raw, &f, &e);
    assert_int_equal(status, rows[i].got != NULL ? PF_OK : PF_BAD_INPUT);
    if (status == PF_OK) {
      const char *got = f.entry[0].has_dtype ? pf_dtype_of(f.entry[0].dtype)->name : "";
      if (strcmp(got, rows[i].got) != 0)
        fail_msg("%s as %s: %s", rows[i].descr, rows[i].raw, got);
      pf_tensor_file_close(&f);
    }
    block_free(&b);
  }
}

/* The header of an array in C order; raw bytes for what NumPy has no name for. */
static void print_header(pf_dtype t, int rank, const int64_t *dim, char *to, size_t size)
{
  static const char *const descr[PF_DTYPE_COUNT] = {
    [PF_F64] = "<f8", [PF_F32] = "<f4", [PF_F16] = "<f2", [PF_S8] = "|i1", [PF_U8] = "|u1",
    [PF_S32] = "<i4"};
  int n = descr[t] != NULL ? snprintf(to, size, "{'descr': '%s', ", descr[t])
                           : snprintf(to, size, "{'descr': '|V%d', ", pf_dtype_of(t)->bytes);
  n += snprintf(to + n, size - (size_t)n, "'fortran_order': False, 'shape': (");
  for (int d = 0; d < rank; d++)
    n += snprintf(to + n, size - (size_t)n, "%lld,", (long long)dim[d]);
  snprintf(to + n, size - (size_t)n, "), }");
}

/* All dtypes and ranks, through a file and the mapping. */
static void test_mapped(void **unused)
{
  (void)unused;
  char *folder = folder_new();
  const char *path = in_folder(folder, "a.npy");
  random_source r = {5};
  for (int t = 0; t < PF_DTYPE_COUNT; t++) {
    for (int rank = 0; rank <= PF_TENSOR_MAX_RANK; rank++) {
      int64_t dim[PF_TENSOR_MAX_RANK];
      uint8_t bytes[8 * 6561];
      char header[200];
      pf_tensor_entry entry;
      for (int d = 0; d < rank; d++)
        dim[d] = draw_between(&r, d == 0 ? 0 : 1, 3);
      for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)draw_bits(&r);
      assert_true(pf_tensor_describe("x", (pf_dtype)t, rank, dim, bytes, &entry));
      print_header((pf_dtype)t, rank, dim, header, sizeof header);
      block b = file_of(1, header, bytes, entry.bytes, 0);
      file_write(path, b.data, b.size);
      pf_tensor_file f;
      pf_error e;
      assert_int_equal(pf_tensor_file_open(path, &entry.dtype, &f, &e), PF_OK);
      const pf_tensor_entry *got = &f.entry[0];
      assert_true(f.mapped && got->has_dtype && got->dtype == entry.dtype && got->rank == rank);
      assert_memory_equal(got->dim, dim, (size_t)rank * sizeof dim[0]);
      assert_memory_equal(got->stride, entry.stride, (size_t)rank * sizeof dim[0]);
      assert_int_equal(got->bytes, entry.bytes);
      assert_memory_equal(got->data, bytes, entry.bytes);
      pf_tensor_file_close(&f);
      block_free(&b);
    }
  }
  assert_int_equal(unlink(path), 0);
  folder_remove(folder);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_numpy_files),
    cmocka_unit_test(test_odd_but_valid),
    cmocka_unit_test(test_raw),
    cmocka_unit_test(test_mapped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
