/* Dense copies of views, against indexing the view. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "engines/dense.h"

enum { ELEMENTS = 512 };

typedef struct layout {
  int batch_rank;
  int64_t batch[PFE_MAX_BATCH], batch_stride[PFE_MAX_BATCH];
  int64_t rows, columns, row_stride, column_stride;
  bool dense, dense_transposed;  /* no copy is needed */
} layout;

static const layout layouts[] = {
  {.rows = 3, .columns = 5, .row_stride = 5, .column_stride = 1, .dense = true},
  {.rows = 3, .columns = 5, .row_stride = 1, .column_stride = 3, .dense_transposed = true},
  {.rows = 3, .columns = 5, .row_stride = 7, .column_stride = 1},
  {.rows = 3, .columns = 5, .row_stride = 20, .column_stride = 2},
  {.rows = 1, .columns = 5, .row_stride = 9, .column_stride = 1, .dense = true,
   .dense_transposed = true},
  {.rows = 4, .columns = 1, .row_stride = 1, .column_stride = 77, .dense = true,
   .dense_transposed = true},
  {.rows = 4, .columns = 3, .row_stride = 0, .column_stride = 1},
  {1, {2}, {15}, 3, 5, 5, 1, .dense = true},
  {1, {2}, {15}, 3, 5, 1, 3, .dense_transposed = true},
  {1, {2}, {40}, 3, 5, 5, 1, .dense = false},
  {1, {2}, {0}, 3, 5, 5, 1, .dense = true},
  {2, {2, 3}, {0, 15}, 3, 5, 5, 1, .dense = true},
  {2, {2, 3}, {15, 0}, 3, 5, 5, 1, .dense = true},
  {2, {2, 3}, {15, 30}, 3, 5, 5, 1, .dense = false},
  {4, {2, 1, 2, 1}, {30, 99, 15, 99}, 3, 5, 5, 1, .dense = true},
  {1, {0}, {15}, 3, 5, 9, 2, .dense = true, .dense_transposed = true},
  {.rows = 3, .columns = 0, .row_stride = 1, .column_stride = 1, .dense = true,
   .dense_transposed = true},
};

static pfe_tensor tensor_of(const layout *l, uint16_t *data)
{
  pfe_tensor t = {.data = data, .dtype = PFE_F16, .row_stride = l->row_stride,
                  .column_stride = l->column_stride};
  memcpy(t.batch_stride, l->batch_stride, sizeof t.batch_stride);
  return t;
}

static pf_dense_want want_of(const layout *l)
{
  return (pf_dense_want){.batch_rank = l->batch_rank, .batch = l->batch, .rows = l->rows,
                         .columns = l->columns};
}

/* Element number e of the dense tensor, by its place in the view. */
static int64_t place(const layout *l, const pf_dense_want *w, const pf_dense *d, int64_t e)
{
  const int64_t columns = w->transposed ? l->rows : l->columns;
  const int64_t rows = w->transposed ? l->columns : l->rows;
  const int64_t i = e / columns % rows, j = e % columns;
  int64_t number = e / columns / rows;
  int64_t at = w->transposed ? j * l->row_stride + i * l->column_stride
                             : i * l->row_stride + j * l->column_stride;
  for (int b = l->batch_rank; b-- > 0; number /= d->dims[b])
    at += number % d->dims[b] * l->batch_stride[b];
  return at;
}

static void check(const layout *l, pf_dense_want w, bool dense, pf_dense *d)
{
  uint16_t data[ELEMENTS];
  const pfe_tensor t = tensor_of(l, data);
  for (int i = 0; i < ELEMENTS; i++)
    data[i] = (uint16_t)(3 * i + 1);
  assert_int_equal(pf_dense_take(&t, &w, d), 0);
  assert_int_equal(d->data == data, dense);
  assert_int_equal(d->rank, l->batch_rank + 2);
  const int64_t elements = (int64_t)(d->bytes / sizeof *data);
  int64_t product = 1;
  for (int i = 0; i < d->rank; i++)
    product *= d->dims[i];
  assert_int_equal(elements, product);
  for (int64_t e = 0; e < elements; e++)
    assert_int_equal(((uint16_t *)d->data)[e], data[place(l, &w, d, e)]);
  for (int i = 0; !dense && i < PF_DENSE_BEHIND; i++)
    assert_int_equal(((unsigned char *)d->data)[d->bytes + (size_t)i], 0xff);
}

static void test_every_layout_is_taken(void **state)
{
  (void)state;
  pf_dense d = {.copy = NULL};  /* used again by all */
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
    const layout *l = &layouts[i];
    pf_dense_want w = want_of(l);
    check(l, w, l->dense, &d);
    w.copied = true;
    check(l, w, false, &d);
    w.transposed = true;
    check(l, w, false, &d);
    w.copied = false;
    check(l, w, l->dense_transposed, &d);
  }
  pf_dense_free(&d);
}

static void test_repeated_batches(void **state)
{
  (void)state;
  const layout l = {2, {2, 3}, {0, 15}, 3, 5, 5, 1, .dense = false};
  pf_dense_want w = want_of(&l);
  pf_dense d = {.copy = NULL};
  check(&l, w, true, &d);
  assert_int_equal(d.dims[0], 1);
  w.repeated = true;
  check(&l, w, false, &d);
  assert_int_equal(d.dims[0], 2);
  assert_int_equal(d.bytes, 2 * 90);
  pf_dense_free(&d);
}

/* Exactly the view's elements are written. */
static void test_copies_are_given_back(void **state)
{
  (void)state;
  const layout l = {1, {2}, {40}, 3, 5, 1, 4, .dense = false};
  uint16_t data[ELEMENTS] = {0};
  const pfe_tensor t = tensor_of(&l, data);
  const pf_dense_want w = want_of(&l);
  pf_dense d = {.copy = NULL};
  assert_int_equal(pf_dense_take(&t, &w, &d), 0);
  for (uint16_t e = 0; e < 30; e++)
    ((uint16_t *)d.data)[e] = (uint16_t)(1000 + e);
  pf_dense_give(&t, &w, &d);
  int written = 0;
  for (int i = 0; i < ELEMENTS; i++)
    written += data[i] != 0;
  assert_int_equal(written, 30);
  for (int64_t e = 0; e < 30; e++)
    assert_int_equal(data[place(&l, &w, &d, e)], 1000 + e);
  pf_dense_free(&d);
}

static void test_both_repeat(void **state)
{
  (void)state;
  const pfe_call call = {.batch_rank = 2, .batch = {2, 1}};
  const pfe_tensor repeats = {.batch_stride = {0, 0}}, steps = {.batch_stride = {4, 4}};
  const pfe_call once = {.batch_rank = 2, .batch = {1, 1}};
  assert_true(pf_dense_both_repeat(&call, &repeats, &repeats));
  assert_false(pf_dense_both_repeat(&call, &repeats, &steps));
  assert_false(pf_dense_both_repeat(&call, &steps, &repeats));
  assert_false(pf_dense_both_repeat(&once, &repeats, &repeats));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_every_layout_is_taken),
    cmocka_unit_test(test_repeated_batches),
    cmocka_unit_test(test_copies_are_given_back),
    cmocka_unit_test(test_both_repeat),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
