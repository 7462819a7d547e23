/* No correct row leaves its enclosure: random and adversarial cases of every graph, dtype, layout
   and kind of values; every row, and rows as text with other formats; in the stated orders of the
   reference engines and in random ones.

   What was planted and seen: one rounding fewer in the bound, the underflow part dropped, the exact
   rule without its limits, c or bias left out of a special sum, an interval cut short at its upper
   end, a step's rounding left out, beta = 0 that reads c, a narrow row run in the engine's own
   order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "form_text.h"
#include "mpfr_oracle.h"
#include "other_orders.h"
#include "random_cases.h"
#include "report.h"

static const uint64_t SEED = 0x656e636c31;

/* --- random cases -------------------------------------------------------------------------- */

typedef struct gathered {
  const pf_case *what;
  long verdicts[PF_VERDICT_COUNT];
  int64_t judged;
} gathered;

static void note(void *user, const pf_result *r)
{
  gathered *g = user;
  if (r->machinery || pf_verdict_is_finding(r->verdict)) {
    char signature[300];
    pf_signature(r, signature, sizeof signature);
    pf_text_print(g->what, stdout);
    printf("\n");
    pf_report_worst(r, stdout);
    fail_msg("%s", signature);
  }
  g->verdicts[r->verdict]++;
  g->judged += r->tally.judged;
}

/* A few engines a case: all of them would judge most elements the same way again. */
static void pick_engines(random_source *r, const pf_options *all, pf_options *few)
{
  for (few->engine_count = 0; few->engine_count < 5; few->engine_count++)
    few->engine[few->engine_count] = all->engine[draw_below(r, all->engine_count)];
}

static void examine(pf_session *s, uint64_t seed, int cases)
{
  random_source r = {seed};
  gathered g = {.judged = 0};
  const pf_options all = s->options;
  int64_t outputs = 0;
  for (int i = 0; i < cases; i++) {
    pf_case c;
    const pf_filter filter = random_filter(&r);
    random_case(&r, &filter, &s->cases, &c);
    g.what = &c;
    pick_engines(&r, &all, &s->options);
    assert_int_equal(pf_session_examine(s, &c, note, &g), PF_OK);
    outputs += pf_case_shape(&c).outputs;
  }
  s->options = all;
  print_message("seed %#llx: %d cases, %lld elements, judged %lld times; results OK %ld, "
                "VACUOUS %ld, ORDER %ld, UNSUPPORTED %ld\n", (unsigned long long)seed, cases,
                (long long)outputs, (long long)g.judged, g.verdicts[PF_VERDICT_OK],
                g.verdicts[PF_VERDICT_VACUOUS], g.verdicts[PF_VERDICT_ORDER],
                g.verdicts[PF_VERDICT_UNSUPPORTED]);
  assert_true(g.verdicts[PF_VERDICT_OK] > 10 * g.verdicts[PF_VERDICT_VACUOUS]);
}

static void no_correct_row_leaves_its_enclosure(void **state)
{
  examine(*state, SEED, FEWER(70000));
}

static void no_odd_row_leaves_its_enclosure(void **state)
{
  pf_session *s = *state;
  const pf_options kept = s->options;
  for (int i = 0; i < ODD_ROWS; i++)
    assert_int_equal(pf_options_strategies(&s->options, odd_rows[i], NULL), PF_OK);
  examine(s, SEED + 1, FEWER(10000));
  s->options = kept;
}

/* --- narrow rows --------------------------------------------------------------------------- */

static void assert_same(const double *a, const double *b, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    assert_true(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])));
}

/* A row that states its order is run in that order by every engine, and its enclosure is that
   result and nothing else. */
static void check_narrow(const pf_oracle *oracle, const pf_case *c, const char *row, pf_arena *a)
{
  pf_problem p;
  pf_plan plan;
  pf_run first = {0}, run;
  pf_encloser *e;
  const char *why;
  pf_enclosure enclosure;
  assert_int_equal(pf_problem_build(c, a, &p), PF_OK);
  const pf_status status = pf_plan_parse("narrow", row, c, &plan, NULL);
  if (status == PF_UNSUPPORTED)
    return;
  assert_int_equal(status, PF_OK);
  for (int i = 0; pf_engines[i]; i++) {
    if (!pf_engines[i]->listed)
      continue;
    assert_int_equal(pf_interpret(&p, &plan, pf_engines[i], a, &run), PF_OK);
    if (!first.got)
      first = run;
    assert_same(first.got, run.got, p.shape.outputs);
  }
  const pf_ask ask = {.plan = &plan};
  if (pf_encloser_new(&p, oracle, &ask, 1, a, &e, &why) == PF_UNSUPPORTED)
    return;
  for (int64_t i = 0; i < p.shape.outputs; i++) {
    const pf_set point = pf_set_point(first.got[i]);
    pf_enclose(e, i, &enclosure);
    assert_true(pf_set_equal(&enclosure.set, &point));
  }
}

static void narrow_rows_fix_their_bits(void **state)
{
  pf_session *s = *state;
  random_source r = {SEED + 2};
  for (int i = 0; i < FEWER(1500); i++) {
    pf_filter filter = random_filter(&r);
    pf_case c;
    filter.dtypes = i % 4 ? 1u << PF_BF16 | 1u << PF_F16 : 0;
    random_case(&r, &filter, &s->cases, &c);
    for (const pf_row *row = pf_rows; row->text; row++)
      if (row->graph == c.graph && !strcmp(row->strategy, "aot_eager_bf16acc"))
        check_narrow(&s->oracle, &c, row->text, &s->cases);
  }
}

static int open_session(void **state)
{
  pf_session *s = calloc(1, sizeof *s);
  if (!s)
    return -1;
  pf_options_default(&s->options);
  for (int i = 0; i < OTHER_ENGINES; i++)
    s->options.engine[s->options.engine_count++] = &other_engines[i];
  *state = s;
  return pf_mpfr_oracle_new(&s->oracle);
}

static int close_session(void **state)
{
  pf_session *s = *state;
  pf_mpfr_oracle_free(&s->oracle);
  pf_session_free(s);
  free(s);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(no_correct_row_leaves_its_enclosure),
    cmocka_unit_test(no_odd_row_leaves_its_enclosure),
    cmocka_unit_test(narrow_rows_fix_their_bits),
  };
  return cmocka_run_group_tests_name("enclosure", tests, open_session, close_session);
}
