/* Strides, storage and overlap of one tensor. */
#include "case_checks.h"

#include <inttypes.h>

/* Overlap against a map of the storage: never "no" where two elements meet, always "no" for what
   slicing and permuting a dense tensor gives. */

static bool elements_meet(const pf_operand *o)
{
  static uint8_t used[1 << 16];
  const int64_t count = pf_operand_count(o);
  memset(used, 0, sizeof used);
  for (int64_t i = 0; i < count; i++) {
    int64_t rest = i, at = o->offset;
    for (int d = o->rank - 1; d >= 0; d--) {
      at += rest % o->dim[d] * o->stride[d];
      rest /= o->dim[d];
    }
    assert_in_range(at, 0, sizeof used - 1);
    assert_true(at < pf_storage_size(o));
    if (used[at]++)
      return true;
  }
  return false;
}

static void test_overlap(void **unused)
{
  (void)unused;
  uint64_t seed = 12;
  int meets = 0, safe = 0;
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < 40000; i++) {
    pf_operand o = {.rank = (int)(check_random(&seed) % 4), .offset = 3};
    for (int d = 0; d < o.rank; d++) {
      o.dim[d] = (int64_t)(check_random(&seed) % 5);
      o.stride[d] = (int64_t)(check_random(&seed) % 24);
    }
    const bool meet = elements_meet(&o), overlaps = pf_operand_overlaps(&o);
    assert_true(overlaps || !meet);
    meets += meet;
    safe += !overlaps;
  }
  print_message("%d with elements that meet, %d safe\n", meets, safe);
  assert_true(meets > 2000 && safe > 2000);
}

static void test_slices_do_not_overlap(void **unused)
{
  (void)unused;
  uint64_t seed = 13;
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < 20000; i++) {
    pf_operand o = {.rank = (int)(check_random(&seed) % 7)};
    int64_t step = 1;
    int place[PF_MAX_RANK];
    for (int d = 0; d < o.rank; d++) {
      const int at = (int)(check_random(&seed) % (unsigned)(d + 1));
      place[d] = place[at];
      place[at] = d;
    }
    for (int d = 0; d < o.rank; d++) {
      const int64_t size = (int64_t)(check_random(&seed) % 5);
      const int64_t kept = size > 0 ? 1 + (int64_t)(check_random(&seed) % (unsigned)size) : 0;
      const int64_t every = 1 + (int64_t)(check_random(&seed) % 3);
      o.dim[place[d]] = size > 0 ? (kept + every - 1) / every : 0;
      o.stride[place[d]] = step * every;
      step *= size > 1 ? size : 1;
    }
    assert_false(pf_operand_overlaps(&o));
  }
}

static void test_products(void **unused)
{
  (void)unused;
  const int64_t most[6] = {1 << 18, 1 << 18, 1 << 18, 1 << 18, 1 << 18, 1 << 18};
  const int64_t zero[3] = {5, 0, 7};
  int64_t stride[6];
  assert_int_equal(pf_product(0, NULL), 1);
  assert_int_equal(pf_product(3, zero), 0);
  assert_int_equal(pf_volume(3, zero), 35);
  assert_int_equal(pf_product(3, most), (int64_t)1 << 54);
  assert_int_equal(pf_product(6, most), INT64_MAX);
  pf_dense_strides(3, zero, stride);
  assert_int_equal(stride[0], 7);
  assert_int_equal(stride[1], 7);
  assert_int_equal(stride[2], 1);
  pf_dense_strides(6, most, stride);
  assert_int_equal(stride[0], INT64_MAX);
  assert_int_equal(stride[3], (int64_t)1 << 36);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_overlap),
    cmocka_unit_test(test_slices_do_not_overlap),
    cmocka_unit_test(test_products),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
