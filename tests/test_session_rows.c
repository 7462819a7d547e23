/* Rows that a session has kept are those that their texts give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "random_cases.h"
#include "session_parts.h"

enum { CASES = FEWER(60000), SEED = 52 };

static void check_row(const pf_bound_row *r, const char *name, const pf_case *c)
{
  pf_plan plan;
  pf_error e = {.text = ""};
  const pf_row *row = pf_row_find(c->graph, name);
  assert_non_null(row);
  assert_string_equal(r->strategy.name, name);
  assert_int_equal(r->status, pf_plan_parse(name, row->text, c, &plan, &e));
  if (r->status)
    assert_string_equal(r->error.text, e.text);
  else
    assert_true(pf_plan_equal(&r->plan, &plan) && !strcmp(r->plan.strategy, name));
}

static void check_same(const pf_row_set *set)
{
  for (int i = 0; i < set->rows; i++) {
    int first = i;
    for (int j = i - 1; j >= 0; j--)
      if (!set->row[i].status && !set->row[j].status &&
          pf_plan_equal(&set->row[i].plan, &set->row[j].plan))
        first = j;
    assert_int_equal(set->row[i].same, first);
  }
}

static void check_case(pf_session *s, const pf_case *c)
{
  const pf_row_set *set;
  int n = 0;
  assert_int_equal(pf_rows_bind(s, c, &set), PF_OK);
  for (const pf_row *r = pf_rows; r->text; r++)
    if (r->graph == c->graph && !r->by_name && n < set->rows)
      check_row(&set->row[n++], r->strategy, c);
  assert_int_equal(n, set->rows);
  check_same(set);
  check_row(&set->promise, pf_graph_of(c->graph)->promises, c);
}

/* Few dtypes come back often, with other scales, factors and operands left out. */
static void test_kept_rows(void **unused)
{
  (void)unused;
  const pf_filter few = {.dtypes = 1u << PF_F16 | 1u << PF_F8_E5M2 | 1u << PF_S8};
  pf_session s = {0};
  random_source r = {SEED};
  print_message("seed %d\n", SEED);
  pf_options_default(&s.options);
  for (int i = 0; i < CASES; i++) {
    pf_case c;
    random_case(&r, i % 4 ? &few : NULL, &s.cases, &c);
    check_case(&s, &c);
  }
  pf_session_free(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_kept_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
