/* The arena and the reader: what a case stands on. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#endif
#ifdef ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

#include "memory.h"
#include "reader.h"

static void test_alignment_and_zero(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  unsigned char *before = NULL;
  for (int round = 0; round < 3; round++) {
    for (size_t bytes = 0; bytes < 300; bytes++) {
      unsigned char *at = pf_alloc(&a, bytes);
      assert_non_null(at);
      assert_int_equal((uintptr_t)at % 64, 0);
      assert_ptr_not_equal(at, before);
      for (size_t i = 0; i < bytes; i++) {
        assert_int_equal(at[i], 0);
      }
      memset(at, 0xff, bytes); /* what the next round must not see */
      before = at;
    }
    pf_arena_reset(&a);
  }
  pf_arena_free(&a);
  assert_null(a.first);
  assert_int_equal(a.total, 0);
}

/* No two live allocations share a byte, across blocks small and large. */
static void test_disjoint(void **unused)
{
  (void)unused;
  enum { COUNT = 400 };
  unsigned char *at[COUNT];
  pf_arena a = {0};
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < COUNT; i++) {
      const size_t bytes = (size_t)(i * 7919 + round * 331) % 40000;
      at[i] = pf_alloc_raw(&a, bytes);
      memset(at[i], i & 255, bytes);
    }
    for (int i = 0; i < COUNT; i++) {
      const size_t bytes = (size_t)(i * 7919 + round * 331) % 40000;
      for (size_t j = 0; j < bytes; j++) {
        if (at[i][j] != (i & 255)) {
          fail_msg("allocation %d was overwritten at byte %zu", i, j);
        }
      }
    }
    pf_arena_reset(&a);
  }
  pf_arena_free(&a);
}

static size_t one_case(pf_arena *a, int kind)
{
  static const size_t sizes[4][5] = {{100, 70000, 100, 1000000, 8},
                                     {1000000, 1000000, 60000, 60000, 60000},
                                     {0, 1, 64, 65, 65536},
                                     {3000000, 1, 300000, 1, 30000}};
  for (int i = 0; i < 5; i++) {
    unsigned char *at = pf_alloc(a, sizes[kind][i]);
    assert_non_null(at);
    memset(at, 1, sizes[kind][i]);
  }
  const size_t given = a->given;
  pf_arena_reset(a);
  return given;
}

/* A warm arena takes nothing from malloc, whatever the order of the cases. */
static void test_warm(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  for (int i = 0; i < 4; i++) {
    one_case(&a, i);
  }
  for (int i = 0; i < 16; i++) {
    one_case(&a, i / 4);
    one_case(&a, i % 4);
  }
  const size_t total = a.total;
  const struct mallinfo2 before = mallinfo2();
  for (int i = 0; i < 1000; i++) {
    one_case(&a, (i * i + i / 7) % 4);
  }
  const struct mallinfo2 after = mallinfo2();
  assert_int_equal(a.total, total);
  assert_int_equal(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd);
  pf_arena_free(&a);
}

/* Cases that grow byte by byte must not leave a block each behind. */
static void test_growth_is_bounded(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  for (size_t bytes = 1; bytes < 3000000; bytes += 1001) {
    assert_non_null(pf_alloc_raw(&a, bytes));
    pf_arena_reset(&a);
  }
  assert_in_range(a.total, 3000000, 10000000);
  pf_arena_free(&a);
}

/* The limit counts what a case takes, so that no earlier case decides whether this one fits. */
static void test_limit(void **unused)
{
  (void)unused;
  size_t fits[2];
  for (int warm = 0; warm < 2; warm++) {
    pf_arena a = {.limit = 1 << 20};
    if (warm) {
      assert_non_null(pf_alloc(&a, 1000000));
      pf_arena_reset(&a);
      while (pf_alloc(&a, 5) != NULL) {
      }
      pf_arena_reset(&a);
    }
    fits[warm] = 0;
    while (pf_alloc(&a, 10000) != NULL) {
      fits[warm]++;
    }
    assert_null(pf_alloc(&a, 10000));
    assert_true(a.given <= a.limit);
    assert_non_null(pf_alloc(&a, 100)); /* a failure leaves the arena usable */
    pf_arena_reset(&a);
    assert_null(pf_alloc(&a, 1 << 20)); /* no room for the gap */
    assert_non_null(pf_alloc(&a, (1 << 20) - 64));
    pf_arena_free(&a);
    assert_int_equal(a.limit, 1 << 20);
  }
  assert_int_equal(fits[0], fits[1]);
  assert_in_range(fits[0], 100, 104);
}

/* What is given back is given out again; what came before the mark stays as it is. */
static void test_mark(void **unused)
{
  (void)unused;
  static const size_t sizes[] = {0, 100, 60000, 200000};
  for (int before = 0; before < 4; before++) {
    pf_arena a = {0};
    unsigned char *kept = before ? pf_alloc_raw(&a, sizes[before]) : NULL;
    if (kept)
      memset(kept, 7, sizes[before]);
    const size_t given = a.given;
    for (int taken = 0; taken < 4; taken++) {
      const pf_arena_mark mark = pf_arena_mark_here(&a);
      unsigned char *first = pf_alloc_raw(&a, sizes[taken]);
      memset(pf_alloc_raw(&a, 150000), 8, 150000);
      pf_arena_release(&a, mark);
      assert_int_equal(a.given, given);
#ifdef ADDRESS_SANITIZER
      assert_true(__asan_address_is_poisoned(first));
#endif
      assert_ptr_equal(pf_alloc_raw(&a, sizes[taken]), first);
      pf_arena_release(&a, mark);
    }
    const size_t total = a.total;
    for (int i = 0; i < 100; i++) {
      const pf_arena_mark mark = pf_arena_mark_here(&a);
      assert_non_null(pf_alloc_raw(&a, sizes[i % 4]));
      pf_arena_release(&a, mark);
    }
    assert_int_equal(a.total, total);
    for (size_t i = 0; i < sizes[before]; i++)
      assert_int_equal(kept[i], 7);
    pf_arena_free(&a);
  }
}

static void test_impossible_sizes(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  assert_null(pf_alloc(&a, SIZE_MAX));
  assert_null(pf_alloc_raw(&a, SIZE_MAX - 63));
  assert_null(pf_alloc_raw(&a, SIZE_MAX / 2 + 2));
  assert_null(pf_alloc_array(&a, SIZE_MAX / 8 + 1, 8)); /* the product would wrap to 0 */
  assert_null(pf_alloc_array(&a, (size_t)1 << 33, (size_t)1 << 33));
  assert_null(pf_alloc_array(&a, 3, SIZE_MAX / 2));
  assert_int_equal(a.total, 0);
  unsigned char *none = pf_alloc_array(&a, 0, 8);
  unsigned char *also = pf_alloc_array(&a, 8, 0);
  unsigned char *some = pf_alloc_array(&a, 100, 8);
  assert_true(none != NULL && also != NULL && some != NULL && none != also && also != some);
  some[799] = 1;
  pf_arena_free(&a);
  pf_arena_free(&a); /* an empty arena is a valid one */
  pf_arena_reset(&a);
  assert_non_null(pf_alloc(&a, 1));
  pf_arena_free(&a);
}

#ifdef ADDRESS_SANITIZER
static void test_poison(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  for (int round = 0; round < 2; round++) {
    unsigned char *first = pf_alloc(&a, 13);
    unsigned char *whole = pf_alloc(&a, 64);
    unsigned char *far = pf_alloc(&a, 200000);
    assert_null(__asan_region_is_poisoned(first, 13));
    assert_null(__asan_region_is_poisoned(whole, 64));
    assert_null(__asan_region_is_poisoned(far, 200000));
    assert_true(__asan_address_is_poisoned(first + 13));
    assert_true(__asan_address_is_poisoned(whole + 64));
    assert_true(__asan_address_is_poisoned(whole - 1) && __asan_address_is_poisoned(far + 200000));
    pf_arena_reset(&a);
    assert_true(__asan_address_is_poisoned(first) && __asan_address_is_poisoned(whole + 63));
    assert_true(__asan_address_is_poisoned(far) && __asan_address_is_poisoned(far + 199999));
  }
  pf_arena_free(&a);
}
#endif

static void test_reader_wraps(void **unused)
{
  (void)unused;
  static const uint8_t data[] = {1, 2, 3, 4, 5, 6, 7};
  pf_reader one = {data, sizeof data, 0};
  pf_reader many = {data, sizeof data, 0};
  for (size_t n = 0; n < 40; n++) {
    uint8_t expected[40];
    uint8_t got[41];
    got[n] = 0xee;
    for (size_t i = 0; i < n; i++) {
      expected[i] = pf_read_u8(&one);
      assert_int_equal(expected[i], data[(one.next - 1) % sizeof data]);
    }
    pf_read_bytes(&many, got, n);
    if (n != 0) {
      assert_memory_equal(got, expected, n);
    }
    assert_int_equal(got[n], 0xee);
    assert_int_equal(many.next, one.next);
  }
  pf_reader r = {data, sizeof data, 0};
  assert_int_equal(pf_read_le(&r, 1), 1);
  assert_int_equal(pf_read_le(&r, 4), 0x05040302);
  assert_int_equal(pf_read_le(&r, 8), UINT64_C(0x0605040302010706));
  assert_int_equal(r.next, 13);
}

static void test_reader_empty(void **unused)
{
  (void)unused;
  pf_reader r = {NULL, 0, 0};
  uint8_t out[5] = {9, 9, 9, 9, 9};
  assert_int_equal(pf_read_u8(&r), 0);
  assert_int_equal(pf_read_le(&r, 8), 0);
  pf_read_bytes(&r, out, 4);
  pf_read_bytes(&r, NULL, 0);
  assert_int_equal(r.next, 13);
  static const uint8_t want[5] = {0, 0, 0, 0, 9};
  assert_memory_equal(out, want, 5);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_alignment_and_zero), cmocka_unit_test(test_disjoint),
    cmocka_unit_test(test_warm),               cmocka_unit_test(test_growth_is_bounded),
    cmocka_unit_test(test_limit),              cmocka_unit_test(test_impossible_sizes),
    cmocka_unit_test(test_mark),
    cmocka_unit_test(test_reader_wraps),       cmocka_unit_test(test_reader_empty),
#ifdef ADDRESS_SANITIZER
    cmocka_unit_test(test_poison),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
