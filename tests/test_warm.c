/* A warm loop allocates nothing: once the cases of a run have been seen, its arenas have the blocks
   that they need. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "mpfr_oracle.h"
#include "random_cases.h"
#include "session.h"

enum { CASES = FEWER(1000), SEED = 51 };

static void ignore(void *user, const pf_result *r)
{
  (void)user;
  (void)r;
}

/* The same cases every time. */
static void examine_all(pf_session *s)
{
  random_source r = {SEED};
  for (int i = 0; i < CASES; i++) {
    pf_case c;
    random_case(&r, NULL, &s->cases, &c);
    assert_int_equal(pf_session_examine(s, &c, ignore, NULL), PF_OK);
  }
}

static void test_no_new_blocks(void **unused)
{
  (void)unused;
  pf_session s = {0};
  pf_options_default(&s.options);
  assert_int_equal(pf_mpfr_oracle_new(&s.oracle), 0);
  print_message("seed %d\n", SEED);
  examine_all(&s);
  const size_t cases = s.cases.total, work = s.work.total, scratch = s.scratch.total;
  assert_true(cases > 0 && work > 0);
  examine_all(&s);
  assert_int_equal(s.cases.total, cases);
  assert_int_equal(s.work.total, work);
  assert_int_equal(s.scratch.total, scratch);
  pf_session_free(&s);
  pf_mpfr_oracle_free(&s.oracle);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_no_new_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
