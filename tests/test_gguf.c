/* GGUF: what is read, and what is refused, why and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gguf.h"
#include "model_files.h"
#include "random_source.h"
#include "weights.h"

enum { F32 = 0, F16 = 1, Q8_0 = 8, BF16 = 30, UNKNOWN = 4711 };

/* Every type of value, a matrix [2, 3] of f32, a row of 64 in Q8_0, an unknown type. */
static bytes sample(void)
{
  bytes b;
  gguf_head(&b, 3, 4, 5);
  put_string(&b, "general.alignment");
  put_le(&b, 4, 4);
  put_le(&b, 64, 4);
  put_string(&b, "text");
  put_le(&b, 8, 4);
  put_string(&b, "a text");
  put_string(&b, "words");
  put_le(&b, 9, 4);
  put_le(&b, 8, 4);
  put_le(&b, 2, 8);
  put_string(&b, "one");
  put_string(&b, "");
  put_string(&b, "numbers");
  put_le(&b, 9, 4);
  put_le(&b, 2, 4);
  put_le(&b, 3, 8);
  put_le(&b, 0x030002000100, 6);
  put_string(&b, "double");
  put_le(&b, 12, 4);
  put_le(&b, 0, 8);
  gguf_tensor(&b, "matrix", 2, (uint64_t[]){3, 2}, F32, 0);
  gguf_tensor(&b, "blocks", 1, (uint64_t[]){64}, Q8_0, 64);
  gguf_tensor(&b, "\xc3\xa9", 2, (uint64_t[]){2, 1}, BF16, 192);
  gguf_tensor(&b, "what", 1, (uint64_t[]){7}, UNKNOWN, 192);
  pad(&b, 64);
  for (int i = 0; i < 6; i++)
    put_float(&b, (float)i);
  pad(&b, 64);
  for (int part = 0; part < 2; part++) {
    put_le(&b, part ? 0x3c01 : 0x2e66, 2); /* 1 + 2^-10; about 0.1 */
    for (int i = 0; i < 32; i++)
      put_le(&b, (uint64_t)(uint8_t)(i * 8 - 128), 1);
  }
  pad(&b, 64);
  put_le(&b, 0xc0003f80, 4);
  return b;
}

static void test_sample(void **unused)
{
  (void)unused;
  const bytes b = sample();
  for (size_t shift = 0; shift < 8; shift++) {
    block copy = block_copy(b.data, b.size, shift);
    pf_tensor_file f;
    pf_error e = {0};
    double value[64];
    if (pf_gguf_parse(copy.data, copy.size, &f, &e) != PF_OK)
      fail_msg("%zu: %s", e.offset, e.text);
    assert_int_equal(f.count, 4);
    const pf_tensor_entry *t = pf_tensor_file_find(&f, "matrix");
    assert_true(t->rank == 2 && t->dim[0] == 2 && t->dim[1] == 3 && t->dtype == PF_F32);
    pf_weight_read(t, 1, 1, 5, value);
    for (int i = 0; i < 5; i++)
      assert_true(value[i] == i + 1);
    t = pf_tensor_file_find(&f, "blocks");
    assert_true(!t->has_dtype && t->bytes == 68 && pf_gguf_is_q8_0(t));
    pf_weight_read(t, 0, 1, 64, value);
    assert_true(value[0] == pf_decode(PF_F16, 0x2e66) * -128 && value[31] == value[0] / -128 * 120);
    assert_true(value[32] == -128 - 0.125 && value[48] == 0);
    t = pf_tensor_file_find(&f, "\xc3\xa9");
    pf_weight_read(t, 0, 1, 2, value);
    assert_true(t->dtype == PF_BF16 && value[0] == 1 && value[1] == -2);
    t = pf_tensor_file_find(&f, "what");
    assert_true(!t->has_dtype && t->bytes == 0 && t->elements == 7);
    pf_tensor_file_close(&f);
    block_free(&copy);
  }
}

/* What the file says of its one tensor is wrong. */
static void expect(const bytes *b, pf_status status, size_t at, const char *why)
{
  block copy = block_copy(b->data, b->size, 0);
  pf_tensor_file f;
  pf_error e = {0};
  const pf_status got = pf_gguf_parse(copy.data, copy.size, &f, &e);
  if (got != status || e.offset != at || strstr(e.text, why) == NULL)
    fail_msg("%s at %zu, '%s'; expected '%s' at %zu", pf_status_name(got), e.offset, e.text, why,
             at);
  assert_true(f.count == 0 && f.data == NULL);
  block_free(&copy);
}

static void test_tensors(void **unused)
{
  (void)unused;
  static const struct {
    const char *name, *why;
    int rank;
    uint64_t dim[5];
    uint32_t type;
    uint64_t offset;
    size_t at;          /* behind the description's beginning */
  } rows[] = {
    {"t", "at most 4", 5, {1, 1, 1, 1, 1}, F32, 0, 9},
    {"t", "shape too large", 1, {UINT64_MAX}, F32, 0, 0},
    {"t", "shape too large", 2, {UINT64_C(1) << 32, UINT64_C(1) << 32}, F32, 0, 0},
    {"t", "shape too large", 1, {UINT64_C(1) << 61}, F32, 0, 0},
    {"t", "not of whole blocks", 1, {33}, Q8_0, 0, 0},
    {"t", "not aligned", 1, {1}, F32, 4, 0},
    {"t", "past the end", 1, {9}, F32, 0, 0},
    {"t", "past the end", 1, {1}, F32, 64, 0},
    {"t", "past the end", 1, {1}, F32, UINT64_MAX - 31, 0},
    {"\xff", "not UTF-8", 1, {1}, F32, 0, 8},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    bytes b;
    gguf_head(&b, 3, 1, 0);
    const size_t start = b.size;
    gguf_tensor(&b, rows[i].name, rows[i].rank, rows[i].dim, rows[i].type, rows[i].offset);
    pad(&b, 32);
    b.size += 32;
    expect(&b, PF_BAD_INPUT, start + rows[i].at, rows[i].why);
  }
}

static void test_two_tensors(void **unused)
{
  (void)unused;
  bytes b;
  gguf_head(&b, 2, 2, 0);
  gguf_tensor(&b, "a", 1, (uint64_t[]){16}, F32, 0);
  const size_t second = b.size;
  gguf_tensor(&b, "b", 1, (uint64_t[]){16}, F32, 32);
  pad(&b, 32);
  b.size += 96;
  expect(&b, PF_BAD_INPUT, second, "'b': its data overlap");
  b.data[second + 8] = 'a';
  b.data[second + 9 + 4 + 8 + 4] = 64; /* the offset */
  b.size += 32;
  expect(&b, PF_BAD_INPUT, second, "'a': the name occurs twice");
}

static void test_head(void **unused)
{
  (void)unused;
  bytes b;
  gguf_head(&b, 4, 0, 0);
  expect(&b, PF_UNSUPPORTED, 4, "version 4");
  gguf_head(&b, 0x03000000, 0, 0);
  expect(&b, PF_UNSUPPORTED, 4, "big endian");
  gguf_head(&b, 3, UINT64_MAX, 0);
  expect(&b, PF_BAD_INPUT, 8, "tensors in a file of 24 bytes");
  gguf_head(&b, 3, 0, UINT64_MAX);
  expect(&b, PF_BAD_INPUT, 24, "ends in a key");
  gguf_head(&b, 3, 0, 1);
  put_le(&b, UINT64_MAX, 8);
  expect(&b, PF_BAD_INPUT, 24, "a key of 18446744073709551615 bytes");
  b.data[0] = 'g';
  expect(&b, PF_BAD_INPUT, 0, "begin with GGUF");
}

static void test_values(void **unused)
{
  (void)unused;
  bytes b;
  gguf_head(&b, 3, 0, 1);
  put_string(&b, "k");
  put_le(&b, 13, 4);
  expect(&b, PF_BAD_INPUT, 33, "a value of type 13");
  b.size -= 4;
  put_le(&b, 9, 4);
  put_le(&b, 0, 4);
  put_le(&b, UINT64_MAX, 8);
  expect(&b, PF_BAD_INPUT, 37, "longer than the file");
  b.size -= 12;
  for (int depth = 0; depth < 6; depth++) {
    put_le(&b, 9, 4);
    put_le(&b, 1, 8);
  }
  expect(&b, PF_BAD_INPUT, 37 + 4 * 12, "nested too deeply");
  gguf_head(&b, 3, 0, 1);
  put_string(&b, "general.alignment");
  put_le(&b, 4, 4);
  put_le(&b, 48, 4);
  expect(&b, PF_BAD_INPUT, 53, "an alignment of 48");
}

/* Every prefix of a file lacks something, and no change of a byte does harm. */
static void test_damaged(void **unused)
{
  (void)unused;
  const bytes b = sample();
  random_source random = {1};
  for (size_t size = 0; size < b.size; size++) {
    block copy = block_copy(b.data, size, 0);
    pf_tensor_file f;
    pf_error e = {0};
    assert_int_equal(pf_gguf_parse(copy.data, size, &f, &e), PF_BAD_INPUT);
    assert_in_range(e.offset, 0, size);
    block_free(&copy);
  }
  for (int i = 0; i < FEWER(20000); i++) {
    block copy = block_copy(b.data, b.size, 0);
    pf_tensor_file f;
    uint8_t covered[sizeof b.data];
    for (int n = 0; n <= i % 3; n++) {
      const size_t at = draw_bits(&random) % b.size;
      copy.data[at] = (uint8_t)draw_bits(&random);
    }
    if (pf_gguf_parse(copy.data, copy.size, &f, NULL) == PF_OK) {
      check_entries(&f, covered);
      for (size_t at = 0; at < b.size; at++)
        assert_in_range(covered[at], 0, 1);
      pf_tensor_file_close(&f);
    }
    block_free(&copy);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_sample),  cmocka_unit_test(test_tensors),
    cmocka_unit_test(test_two_tensors), cmocka_unit_test(test_head),
    cmocka_unit_test(test_values),  cmocka_unit_test(test_damaged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
