/* .npz: what is read, and what is refused, why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <zip.h>

#include "npy_files.h"
#include "npz.h"
#include "random_source.h"

typedef struct member {
  const char *name;
  const void *data;
  size_t size;
  bool deflated;
} member;

/* A zip archive by libzip itself. */
static block archive(const member *m, size_t count)
{
  zip_error_t e;
  zip_error_init(&e);
  zip_source_t *to = zip_source_buffer_create(NULL, 0, 0, &e);
  assert_non_null(to);
  zip_source_keep(to);
  zip_t *z = zip_open_from_source(to, ZIP_TRUNCATE, &e);
  assert_non_null(z);
  for (size_t i = 0; i < count; i++) {
    zip_source_t *from = zip_source_buffer(z, m[i].data, m[i].size, 0);
    const zip_int64_t at = zip_file_add(z, m[i].name, from, ZIP_FL_ENC_UTF_8);
    assert_true(at >= 0);
    zip_set_file_compression(z, (zip_uint64_t)at, m[i].deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  }
  assert_int_equal(zip_close(z), 0);
  zip_stat_t s;
  assert_int_equal(zip_source_stat(to, &s), 0);
  block b = block_new(s.size, 0);
  assert_int_equal(zip_source_open(to), 0);
  assert_int_equal(zip_source_read(to, b.data, b.size), b.size);
  zip_source_close(to);
  zip_source_free(to);
  return b;
}

/* "x" deflated, "y" stored, and something that is no array. */
static block sample(void)
{
  static uint8_t zeros[4000];
  const block x = file_of(1, HEADER("'<f4'", "False", "(10, 100)"), zeros, sizeof zeros, 0);
  const member m[] = {{"x.npy", x.data, x.size, true},
                      {"y.npy", fortran, sizeof fortran - 1, false},
                      {"notes.txt", "no array", 8, false}};
  const block b = archive(m, 3);
  free(x.owner);
  return b;
}

static void test_sample(void **unused)
{
  (void)unused;
  block b = sample();
  pf_npz *npz;
  pf_tensor_file list;
  pf_tensor_entry t;
  size_t skipped;
  pf_error e = {0};
  assert_true(pf_npz_is(b.data, b.size));
  if (pf_npz_open(b.data, b.size, &pf_npz_default_limits, &npz, &list, &skipped, &e) != PF_OK)
    fail_msg("%s", e.text);
  assert_true(list.count == 2 && skipped == 1);
  assert_string_equal(list.format, "npz");
  const pf_tensor_entry *y = pf_tensor_file_find(&list, "y");
  assert_true(y->dtype == PF_F32 && y->rank == 2 && y->dim[0] == 2 && y->bytes == 24 && !y->data);
  for (int twice = 0; twice < 2; twice++) {
    assert_int_equal(pf_npz_load(npz, (size_t)(y - list.entry), &t, &e), PF_OK);
    assert_string_equal(t.name, "y");
    for (int i = 0; i < 6; i++)
      assert_true(pf_load(PF_F32, pf_tensor_at(&t, i)) == i);
    assert_int_equal(pf_npz_load(npz, (size_t)(1 - (y - list.entry)), &t, &e), PF_OK);
    assert_true(t.elements == 1000 && t.data[3999] == 0);
  }
  pf_npz_close(npz);
  pf_tensor_file_close(&list);
  block_free(&b);
}

static void expect(const block *b, const pf_npz_limits *limits, const char *why)
{
  pf_npz *npz;
  pf_tensor_file list;
  size_t skipped;
  pf_error e = {0};
  assert_int_equal(pf_npz_open(b->data, b->size, limits, &npz, &list, &skipped, &e), PF_BAD_INPUT);
  if (strstr(e.text, why) == NULL)
    fail_msg("'%s', not '%s'", e.text, why);
  assert_true(npz == NULL && list.count == 0);
}

static void test_limits(void **unused)
{
  (void)unused;
  block b = sample();
  pf_npz_limits few = pf_npz_default_limits, small = few, little = few;
  pf_npz *npz;
  pf_tensor_file list;
  pf_tensor_entry t;
  size_t skipped;
  pf_error e = {0};
  few.members = 2;
  expect(&b, &few, "3 members, at most 2");
  little.all_bytes = 4000;
  expect(&b, &little, "'x.npy': with it the archive unpacks to more than 4000 bytes");
  small.member_bytes = 1000; /* listed, and not read */
  assert_int_equal(pf_npz_open(b.data, b.size, &small, &npz, &list, &skipped, &e), PF_OK);
  assert_int_equal(pf_npz_load(npz, 0, &t, &e), PF_UNSUPPORTED);
  assert_non_null(strstr(e.text, "at most 1000 are read"));
  assert_int_equal(pf_npz_load(npz, 1, &t, &e), PF_OK);
  pf_npz_close(npz);
  pf_tensor_file_close(&list);
  block_free(&b);
}

/* The n-th place of four bytes. */
static uint8_t *find(const block *b, const char *four, int n)
{
  for (size_t i = 0; i + 4 <= b->size; i++)
    if (memcmp(b->data + i, four, 4) == 0 && n-- == 0)
      return b->data + i;
  fail();
  return NULL;
}

/* A directory that promises more than deflate can give, in front of the same bytes. */
static void test_bombs(void **unused)
{
  (void)unused;
  static const uint8_t huge[] = {0, 0, 0, 0x3f};
  block b = sample();
  uint8_t *directory = find(&b, "PK\1\2", 0);
  memcpy(directory + 24, huge, 4); /* the unpacked size */
  memcpy(b.data + 22, huge, 4);
  expect(&b, &pf_npz_default_limits, "cannot come of");
  block_free(&b);
  const block x = file_of(1, HEADER("'<f4'", "False", "(2, 3)"), fortran, 8, 0);
  const member bad[] = {{"a.npy", x.data, x.size, false}};
  b = archive(bad, 1);
  expect(&b, &pf_npz_default_limits, "member 'a.npy': npy: 8 bytes of data, descr and shape need 24");
  block_free(&b);
  free(x.owner);
  const member twice[] = {{"a.npy", fortran, sizeof fortran - 1, false},
                          {"a", fortran, sizeof fortran - 1, false}};
  b = archive(twice, 2);
  expect(&b, &pf_npz_default_limits, "tensor 'a': the name occurs twice");
  block_free(&b);
}

static void test_damaged_data(void **unused)
{
  (void)unused;
  static uint8_t data[20000] = "numbers";
  const block y = file_of(1, HEADER("'|u1'", "False", "(20000,)"), data, sizeof data, 0);
  const member m[] = {{"y.npy", y.data, y.size, false}};
  block b = archive(m, 1);
  pf_npz *npz;
  pf_tensor_file list;
  pf_tensor_entry t;
  size_t skipped;
  pf_error e = {0};
  find(&b, "numb", 0)[19999] ^= 1;
  assert_int_equal(pf_npz_open(b.data, b.size, &pf_npz_default_limits, &npz, &list, &skipped, &e),
                   PF_OK);
  assert_int_equal(pf_npz_load(npz, 0, &t, &e), PF_BAD_INPUT);
  assert_non_null(strstr(e.text, "CRC"));
  pf_npz_close(npz);
  pf_tensor_file_close(&list);
  block_free(&b);
  free(y.owner);
}

/* No prefix and no change of bytes does harm. */
static void test_damaged(void **unused)
{
  (void)unused;
  static const pf_npz_limits limits = {.members = 8, .member_bytes = 1 << 16,
                                       .all_bytes = 1 << 18};
  const block whole = sample();
  random_source random = {1};
  for (int i = 0; i < FEWER(3000); i++) {
    block b = block_copy(whole.data, i < (int)whole.size ? (size_t)i : whole.size, 0);
    pf_npz *npz;
    pf_tensor_file list;
    pf_tensor_entry t;
    size_t skipped;
    pf_error e = {0};
    for (int n = 0; i % 2 && b.size > 0 && n <= i % 5; n++) {
      const size_t at = draw_bits(&random) % b.size;
      b.data[at] = (uint8_t)draw_bits(&random);
    }
    if (pf_npz_open(b.data, b.size, &limits, &npz, &list, &skipped, &e) == PF_OK) {
      for (size_t j = 0; j < list.count; j++)
        if (pf_npz_load(npz, j, &t, &e) == PF_OK && t.has_dtype && t.elements > 0)
          (void)pf_load(t.dtype, pf_tensor_at(&t, t.elements - 1));
      pf_npz_close(npz);
      pf_tensor_file_close(&list);
    } else
      assert_true(e.text[0] != '\0');
    block_free(&b);
  }
  free(whole.owner);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_sample),       cmocka_unit_test(test_limits),
    cmocka_unit_test(test_bombs),        cmocka_unit_test(test_damaged_data),
    cmocka_unit_test(test_damaged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
