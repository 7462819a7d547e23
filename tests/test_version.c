/* Ranges of versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "version.h"

static void test_length(void **state)
{
  (void)state;
  assert_int_equal(pf_version_length("3.7.2"), 5);
  assert_int_equal(pf_version_length("0.3.21+ds-4"), 6);
  assert_int_equal(pf_version_length("1.1-rc1"), 3);
  assert_int_equal(pf_version_length("2.x"), 1);
  assert_int_equal(pf_version_length("2..1"), 1);
  assert_int_equal(pf_version_length(".1"), 0);
  assert_int_equal(pf_version_length("v1.0"), 0);
  assert_int_equal(pf_version_length(""), 0);
}

static void test_ranges(void **state)
{
  static const struct {
    const char *version, *range;
    bool in;
  } expected[] = {
    {"3.7.2", ">=3.0 <3.8", true},   {"3.0", ">=3.0 <3.8", true},   {"3.8", ">=3.0 <3.8", false},
    {"2.9.9", ">=3.0 <3.8", false},  {"3.7.99", "<3.8", true},      {"3.10", ">3.9", true},
    {"3.10", "<3.9", false},         {"3.8", "<=3.8", true},        {"3.8.0", "<=3.8", true},
    {"3.8.1", "<=3.8", false},       {"3.8", ">3.8.0", false},      {"3.8.0.1", ">3.8", true},
    {"1.1", "=1.1", true},           {"1.1", "1.1", true},          {"1.1.1", "1.1", false},
    {"0.3.21+ds-4", "=0.3.21", true}, {"0.3.021", "=0.3.21", true}, {"10", ">9", true},
    {"3.7.2", "  >=3.0   <3.8  ", true}, {"dev", ">=0", false},     {"", "<9", false},
    {"99999999999999999999999", ">1", true},
  };
  (void)state;
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    if (pf_version_in(expected[i].version, expected[i].range) != expected[i].in)
      fail_msg("%s in %s", expected[i].version, expected[i].range);
}

static void test_what_is_no_range(void **state)
{
  static const char *const no_range[] = {"", "  ", "3.x", ">=", ">= 3", "~3", ">=3,<4", "=>3",
                                         ">=3 <", ">=3<4", "3.7.2+ds", "==3", ">>3", "*"};
  (void)state;
  assert_true(pf_version_is_range(">=3.0 <3.8"));
  assert_true(pf_version_is_range("3"));
  for (size_t i = 0; i < sizeof no_range / sizeof *no_range; i++)
    if (pf_version_is_range(no_range[i]) || pf_version_in("3.0", no_range[i]))
      fail_msg("'%s' is taken for a range", no_range[i]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_length),
    cmocka_unit_test(test_ranges),
    cmocka_unit_test(test_what_is_no_range),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
