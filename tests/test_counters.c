/* The counters of a run: shared by who maps the file, and the median that the bins give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters.h"

static void a_bin_holds_its_work(void **state)
{
  (void)state;
  for (int64_t work = 0; work <= (int64_t)1 << 61; work += 1 + work / 5) {
    pf_counters c = {0};
    pf_counters_add(&c, 3, 4, work);
    const double median = pf_counters_median_work(&c);
    if (work < 16)
      assert_true(median == (double)work);
    assert_true(fabs(median - (double)work) <= (double)work / 16);
    assert_int_equal(c.executions, 1);
    assert_int_equal(c.elements, 3);
    assert_int_equal(c.products, 4);
    assert_int_equal(c.work, work);
  }
}

static void bins_grow_with_work(void **state)
{
  double last = -1;
  (void)state;
  for (int64_t work = 0; work < 5000; work++) {
    pf_counters c = {0};
    pf_counters_add(&c, 0, 0, work);
    const double median = pf_counters_median_work(&c);
    assert_true(median >= last);
    last = median;
  }
}

static void half_of_the_cases_reach_the_median(void **state)
{
  pf_counters c = {0};
  (void)state;
  assert_true(isnan(pf_counters_median_work(&c)));
  for (int i = 0; i < 49; i++)
    pf_counters_add(&c, 0, 0, 0);
  for (int i = 0; i < 2; i++)
    pf_counters_add(&c, 0, 0, 5);
  for (int i = 0; i < 49; i++)
    pf_counters_add(&c, 0, 0, 1 << 20);
  assert_true(pf_counters_median_work(&c) == 5);
  pf_counters_add(&c, 0, 0, 1 << 20);
  pf_counters_add(&c, 0, 0, 1 << 20);
  assert_true(pf_counters_median_work(&c) == 5);
  pf_counters_add(&c, 0, 0, 1 << 20);
  assert_true(pf_counters_median_work(&c) > 1 << 19);
}

static void who_maps_the_file_shares_it(void **state)
{
  char path[] = "/tmp/test_counters.XXXXXX";
  (void)state;
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  pf_counters *mine = pf_counters_map(path), *theirs = pf_counters_map(path);
  assert_non_null(mine);
  assert_non_null(theirs);
  pf_counters_add(mine, 1, 2, 3);
  pf_counters_add(theirs, 1, 2, 3);
  assert_int_equal(mine->executions, 2);
  assert_memory_equal(mine, theirs, sizeof *mine);
  pf_counters *later = pf_counters_map(path);  /* a run that goes on */
  assert_non_null(later);
  assert_int_equal(later->products, 4);
  assert_true(pf_counters_median_work(later) == 3);
  unlink(path);
  assert_null(pf_counters_map("/nowhere/at/all"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_bin_holds_its_work),
    cmocka_unit_test(bins_grow_with_work),
    cmocka_unit_test(half_of_the_cases_reach_the_median),
    cmocka_unit_test(who_maps_the_file_shares_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
