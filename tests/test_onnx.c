/* ONNX: what is read, and what is refused, why and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model_files.h"
#include "onnx.h"
#include "random_source.h"
#include "weights.h"

enum { NODE = 1, INITIALIZER = 5, FLOAT_DATA = 4, INT32_DATA = 5, RAW = 9, DOUBLE_DATA = 10 };

static void add_node(bytes *graph, const char *op, const char *a, const char *b, const char *c,
                     const char *out, bool transposed)
{
  bytes n = {.size = 0}, attribute = {.size = 0};
  pb_text(&n, 1, a);
  pb_text(&n, 1, b);
  if (c != NULL)
    pb_text(&n, 1, c);
  pb_text(&n, 2, out);
  pb_text(&n, 4, op);
  if (transposed) {
    pb_text(&attribute, 1, "transB");
    pb_number(&attribute, 3, 1);
    pb_message(&n, 5, &attribute);
  }
  pb_message(graph, NODE, &n);
}

static void add_raw(bytes *graph, const char *name, int64_t rows, int64_t columns)
{
  bytes t = onnx_tensor(name, ONNX_FLOAT, columns > 0 ? 2 : 1, (int64_t[]){rows, columns});
  bytes raw = {.size = 0};
  for (int64_t i = 0; i < rows * (columns > 0 ? columns : 1); i++)
    put_float(&raw, (float)i);
  pb_bytes(&t, RAW, raw.data, raw.size);
  pb_message(graph, INITIALIZER, &t);
}

static pf_onnx parse(const bytes *graph, block *copy)
{
  const bytes m = onnx_model(graph);
  pf_onnx o;
  pf_error e = {0};
  *copy = block_copy(m.data, m.size, 3);
  if (pf_onnx_parse(copy->data, copy->size, &o, &e) != PF_OK)
    fail_msg("%zu: %s", e.offset, e.text);
  return o;
}

static void expect_values(const pf_onnx *o, const char *name, pf_dtype dtype, int count,
                          const double *wanted)
{
  const pf_tensor_entry *t = pf_tensor_file_find(&o->file, name);
  double value[16];
  assert_non_null(t);
  assert_true(t->has_dtype && t->dtype == dtype && t->elements == count);
  pf_weight_read(t, 0, 1, count, value);
  for (int i = 0; i < count; i++)
    if (value[i] != wanted[i])
      fail_msg("%s[%d] is %g, not %g", name, i, value[i], wanted[i]);
}

/* The same four numbers, in each way that the format has. */
static void test_data(void **unused)
{
  (void)unused;
  static const double wanted[] = {1, -2, 0.5, 3};
  static const double small[] = {1, -2, 127, -128};
  const int64_t dim[] = {2, 2};
  bytes g = {.size = 0}, t, data = {.size = 0};
  for (int i = 0; i < 4; i++)
    put_float(&data, (float)wanted[i]);
  t = onnx_tensor("raw", ONNX_FLOAT, 2, dim);
  pb_bytes(&t, RAW, data.data, 16);
  pb_message(&g, INITIALIZER, &t);
  t = onnx_tensor("packed", ONNX_FLOAT, 2, dim);
  pb_bytes(&t, FLOAT_DATA, data.data, 16);
  pb_message(&g, INITIALIZER, &t);
  t = onnx_tensor("in pieces", ONNX_FLOAT, 2, dim);
  pb_bytes(&t, FLOAT_DATA, data.data, 8);
  for (int i = 2; i < 4; i++) {
    put_varint(&t, FLOAT_DATA << 3 | 5);
    put(&t, data.data + 4 * i, 4);
  }
  pb_message(&g, INITIALIZER, &t);
  t = onnx_tensor("doubles", ONNX_DOUBLE, 2, dim);
  pb_bytes(&t, DOUBLE_DATA, wanted, 32);
  pb_message(&g, INITIALIZER, &t);
  bytes varints = {.size = 0};
  t = onnx_tensor("halves", ONNX_FLOAT16, 2, dim);
  for (int i = 0; i < 4; i++)
    put_varint(&varints, pf_encode(PF_F16, wanted[i]));
  pb_bytes(&t, INT32_DATA, varints.data, varints.size);
  pb_message(&g, INITIALIZER, &t);
  t = onnx_tensor("bytes", ONNX_INT8, 2, dim);
  for (int i = 0; i < 4; i++)
    pb_number(&t, INT32_DATA, (uint64_t)(int64_t)small[i]);
  pb_message(&g, INITIALIZER, &t);
  block copy;
  pf_onnx o = parse(&g, &copy);
  expect_values(&o, "raw", PF_F32, 4, wanted);
  expect_values(&o, "packed", PF_F32, 4, wanted);
  expect_values(&o, "in pieces", PF_F32, 4, wanted);
  expect_values(&o, "doubles", PF_F64, 4, wanted);
  expect_values(&o, "halves", PF_F16, 4, wanted);
  expect_values(&o, "bytes", PF_S8, 4, small);
  const pf_tensor_entry *packed = pf_tensor_file_find(&o.file, "packed");
  assert_ptr_equal(packed->data, copy.data + packed->offset); /* not copied */
  pf_onnx_close(&o);
  block_free(&copy);
}

static void test_uses(void **unused)
{
  (void)unused;
  bytes g = {.size = 0};
  char longest[200];
  memset(longest, 'n', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  add_raw(&g, "weight", 3, 4);
  add_raw(&g, "rows", 4, 3);
  add_raw(&g, "bias", 4, 0);
  add_raw(&g, "other", 3, 4);
  add_raw(&g, "third", 3, 4);
  add_node(&g, "MatMul", "x", "weight", NULL, longest, false);
  add_node(&g, "Add", "bias", longest, NULL, "z", false);
  add_node(&g, "Gemm", "x", "rows", "bias", "q", true);
  add_node(&g, "Gemm", "x", "other", NULL, "r", false);
  add_node(&g, "MatMul", "x", "nowhere", NULL, "s", false);
  add_node(&g, "Conv", "x", "third", NULL, "t", false);
  block copy;
  pf_onnx o = parse(&g, &copy);
  assert_int_equal(o.use_count, 3);
  assert_true(o.use[0].weight == 0 && !o.use[0].rows && o.use[0].bias == 2);
  assert_true(o.use[1].weight == 1 && o.use[1].rows && o.use[1].bias == 2);
  assert_true(o.use[2].weight == 3 && !o.use[2].rows && o.use[2].bias == PF_ONNX_NONE);
  pf_onnx_close(&o);
  block_free(&copy);
}

static bytes external(const char *location, const char *offset, const char *length)
{
  bytes t = onnx_tensor("t", ONNX_FLOAT, 1, (int64_t[]){2}), e = {.size = 0};
  pb_text(&e, 1, "location");
  pb_text(&e, 2, location);
  pb_message(&t, 13, &e);
  const char *const pair[2][2] = {{"offset", offset}, {"length", length}};
  for (int i = 0; i < 2; i++)
    if (pair[i][1] != NULL) {
      e.size = 0;
      pb_text(&e, 1, pair[i][0]);
      pb_text(&e, 2, pair[i][1]);
      pb_message(&t, 13, &e);
    }
  pb_number(&t, 14, 1);
  return t;
}

static void test_external(void **unused)
{
  (void)unused;
  bytes g = {.size = 0};
  const bytes t = external("data/w.bin", "4", "8");
  pb_message(&g, INITIALIZER, &t);
  block copy;
  pf_error e = {0};
  const float there[] = {9, 1, 2};
  pf_onnx o = parse(&g, &copy);
  assert_int_equal(o.external_count, 1);
  assert_string_equal(o.external[0].location, "data/w.bin");
  assert_null(o.file.entry[0].data);
  assert_int_equal(pf_onnx_attach(&o, o.external, (const uint8_t *)there, 11, &e), PF_BAD_INPUT);
  assert_non_null(strstr(e.text, "8 bytes of data in a file of 11"));
  assert_int_equal(pf_onnx_attach(&o, o.external, (const uint8_t *)there, 12, &e), PF_OK);
  expect_values(&o, "t", PF_F32, 2, (double[]){1, 2});
  pf_onnx_close(&o);
  block_free(&copy);
}

static void expect_bad(const bytes *tensor, pf_status status, const char *why)
{
  bytes g = {.size = 0};
  pb_message(&g, INITIALIZER, tensor);
  const bytes m = onnx_model(&g);
  block copy = block_copy(m.data, m.size, 0);
  pf_onnx o;
  pf_error e = {0};
  const pf_status got = pf_onnx_parse(copy.data, copy.size, &o, &e);
  if (got != status || strstr(e.text, why) == NULL || e.offset > m.size)
    fail_msg("%s at %zu, '%s'; expected '%s'", pf_status_name(got), e.offset, e.text, why);
  assert_int_equal(o.file.count, 0);
  block_free(&copy);
}

static void test_paths(void **unused)
{
  (void)unused;
  static const char *const bad[] = {"/etc/passwd", "../w", "a/../../w", "a/..", "..", "", "a//b"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    const bytes t = external(bad[i], NULL, NULL);
    expect_bad(&t, PF_BAD_INPUT, "outside the model's folder");
  }
  bytes t = external("w", "x", NULL);
  expect_bad(&t, PF_BAD_INPUT, "no number");
  t = external("w", "99999999999999999999", NULL);
  expect_bad(&t, PF_BAD_INPUT, "no number");
  t = external("w", "0", "9");
  expect_bad(&t, PF_BAD_INPUT, "9 bytes of data, type and shape need 8");
}

static void test_tensors(void **unused)
{
  (void)unused;
  const int64_t huge[] = {INT64_MAX, 4}, nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  bytes t = onnx_tensor("t", ONNX_FLOAT, 2, huge);
  expect_bad(&t, PF_BAD_INPUT, "too large");
  t = onnx_tensor("t", ONNX_FLOAT, 1, (int64_t[]){-1});
  expect_bad(&t, PF_BAD_INPUT, "negative");
  t = onnx_tensor("t", ONNX_FLOAT, 9, nine);
  expect_bad(&t, PF_BAD_INPUT, "more than 8 dimensions");
  t = onnx_tensor("t", 99, 1, nine);
  expect_bad(&t, PF_UNSUPPORTED, "data_type 99");
  t = onnx_tensor("t", ONNX_FLOAT, 1, (int64_t[]){INT64_C(1) << 40}); /* and no data at all */
  expect_bad(&t, PF_BAD_INPUT, "0 bytes of data");
  t = onnx_tensor("t", ONNX_FLOAT, 1, nine);
  pb_bytes(&t, RAW, nine, 8);
  expect_bad(&t, PF_BAD_INPUT, "8 bytes of data, type and shape need 4");
  t = onnx_tensor("t", ONNX_INT8, 1, nine);
  pb_number(&t, INT32_DATA, 1);
  pb_number(&t, INT32_DATA, 2);
  expect_bad(&t, PF_BAD_INPUT, "more elements than its shape has");
  t = onnx_tensor("t\xff", ONNX_FLOAT, 1, nine);
  expect_bad(&t, PF_BAD_INPUT, "not UTF-8");
  t = onnx_tensor("t", ONNX_FLOAT, 1, nine);
  pb_number(&t, 3, 1);
  expect_bad(&t, PF_BAD_INPUT, "segments");
}

static void expect_model(const bytes *m, pf_status status, size_t at, const char *why)
{
  pf_onnx o;
  pf_error e = {0};
  assert_int_equal(pf_onnx_parse(m->data, m->size, &o, &e), status);
  if (e.offset != at || strstr(e.text, why) == NULL)
    fail_msg("'%s' at %zu; expected '%s' at %zu", e.text, e.offset, why, at);
}

static void test_wire(void **unused)
{
  (void)unused;
  bytes m = {.size = 0};
  pb_number(&m, 1, 8);
  expect_model(&m, PF_BAD_INPUT, 2, "no graph");
  put_varint(&m, 7 << 3 | 2);
  put_varint(&m, 1);
  expect_model(&m, PF_BAD_INPUT, 2, "field 7 of 1 bytes where 0 are left");
  m.size = 2;
  put_varint(&m, 7 << 3 | 3);
  expect_model(&m, PF_UNSUPPORTED, 2, "wire type 3");
  m.size = 2;
  put_le(&m, 0x80, 1);
  expect_model(&m, PF_BAD_INPUT, 2, "without an end");
  m.size = 2;
  put_le(&m, UINT64_MAX, 8);
  put_le(&m, 0xffff, 2);
  expect_model(&m, PF_BAD_INPUT, 2, "more than 64 bits");
  m.size = 2;
  pb_number(&m, 7, 1);
  expect_model(&m, PF_BAD_INPUT, 2, "no message");
  m.size = 2;
  pb_bytes(&m, 7, "", 0);
  pb_bytes(&m, 7, "", 0);
  expect_model(&m, PF_UNSUPPORTED, 4, "a second graph");
  bytes g = {.size = 0};
  add_raw(&g, "a", 1, 0);
  const size_t second = g.size;
  add_raw(&g, "a", 1, 0);
  m = onnx_model(&g);
  expect_model(&m, PF_BAD_INPUT, m.size - g.size + second, "the name occurs twice");
}

/* No change of bytes does harm; what is read lies inside the file or the arena. */
static void test_damaged(void **unused)
{
  (void)unused;
  bytes g = {.size = 0}, t = onnx_tensor("half", ONNX_FLOAT16, 1, (int64_t[]){2});
  random_source random = {1};
  add_raw(&g, "weight", 3, 4);
  add_raw(&g, "bias", 4, 0);
  pb_number(&t, INT32_DATA, 1);
  pb_number(&t, INT32_DATA, 300);
  pb_message(&g, INITIALIZER, &t);
  t = external("w", "0", "8");
  pb_message(&g, INITIALIZER, &t);
  add_node(&g, "MatMul", "x", "weight", NULL, "y", false);
  add_node(&g, "Add", "bias", "y", NULL, "z", false);
  const bytes m = onnx_model(&g);
  for (int i = 0; i < FEWER(30000); i++) {
    block copy = block_copy(m.data, i < (int)m.size ? (size_t)i : m.size, 0);
    pf_onnx o;
    pf_error e = {0};
    for (int n = 0; i >= (int)m.size && n <= i % 3; n++) {
      const size_t at = draw_bits(&random) % m.size;
      copy.data[at] = (uint8_t)draw_bits(&random);
    }
    if (pf_onnx_parse(copy.data, copy.size, &o, &e) == PF_OK) {
      for (size_t j = 0; j < o.file.count; j++) {
        const pf_tensor_entry *entry = &o.file.entry[j];
        double value[2];
        if (entry->data != NULL && entry->has_dtype && entry->elements > 0)
          pf_weight_read(entry, entry->elements - 1, 1, 1, value);
      }
      pf_onnx_close(&o);
    } else {
      assert_in_range(e.offset, 0, copy.size);
      assert_true(e.text[0] != '\0');
    }
    block_free(&copy);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_data),    cmocka_unit_test(test_uses), cmocka_unit_test(test_external),
    cmocka_unit_test(test_paths),   cmocka_unit_test(test_tensors), cmocka_unit_test(test_wire),
    cmocka_unit_test(test_damaged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
