/* Every planted fault, found at random, is minimized to its least trigger or to less; what is
   minimized is the same finding from beginning to end, a fixed point, and the same every time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fault_triggers.h"
#include "form_archive.h"
#include "form_fuzz.h"
#include "form_text.h"
#include "minimize.h"
#include "mpfr_oracle.h"

enum { SEED = 20260, LENGTH = 192, DRAWS = 20000 };

static pf_session session;

static int open_session(void **state)
{
  (void)state;
  return pf_mpfr_oracle_new(&session.oracle);
}

static int close_session(void **state)
{
  (void)state;
  pf_session_free(&session);
  pf_mpfr_oracle_free(&session.oracle);
  return 0;
}

static void set_options(const char *engine)
{
  pf_error e;
  pf_options_default(&session.options);
  assert_int_equal(pf_options_engine(&session.options, engine, &e), PF_OK);
  session.options.no_models = true;
}

/* --- a finding ----------------------------------------------------------------------------- */

typedef struct found {
  bool yes;
  pf_verdict verdict;  /* looked for; PF_VERDICT_COUNT: any */
  pf_finding finding;
  pf_options narrow;
} found;

static void note(void *user, const pf_result *r)
{
  found *f = user;
  if (f->yes || !pf_verdict_is_finding(r->verdict) ||
      (f->verdict != PF_VERDICT_COUNT && r->verdict != f->verdict))
    return;
  f->yes = true;
  pf_arena_reset(&session.scratch);
  assert_int_equal(pf_finding_of(r, &session.oracle, &session.scratch, &f->finding), PF_OK);
  f->narrow = session.options;
  pf_options_narrow(&f->narrow, r);
}

static found examine(const pf_case *c, pf_verdict verdict)
{
  found f = {.verdict = verdict};
  assert_int_equal(pf_session_examine(&session, c, note, &f), PF_OK);
  return f;
}

/* Random bytes whose case, of the trigger's graph and dtypes, shows the fault. */
static found draw(const pf_case *trigger, pf_verdict verdict, pf_arena *a, pf_case *out)
{
  pf_filter filter = {.graphs = 1u << trigger->graph};
  uint8_t bytes[LENGTH];
  for (pf_role r = PF_X; r < PF_OUT; r++)
    if (trigger->operand[r].present)
      filter.dtypes |= 1u << trigger->operand[r].dtype;
  for (uint64_t i = 0; i < DRAWS; i++) {
    for (uint64_t j = 0; j < LENGTH; j++)
      bytes[j] = (uint8_t)pf_hash(pf_hash(SEED + i) + j);
    pf_arena_reset(a);
    assert_int_equal(pf_fuzz_decode(bytes, LENGTH, &filter, a, out), PF_OK);
    const found f = examine(out, verdict);
    if (f.yes)
      return f;
  }
  return (found){0};
}

/* --- faults -------------------------------------------------------------------------------- */

static pf_burden burden_of(const pf_case *c, pf_arena *a)
{
  pf_case spelled;
  assert_int_equal(pf_case_finish((pf_case *)c, NULL), PF_OK);
  uint8_t *data;
  size_t size;
  pf_reducible r;
  assert_int_equal(pf_archive_encode(c, a, &data, &size, NULL), PF_OK);
  assert_int_equal(pf_reduce_open(data, size, a, &r, NULL), PF_OK);
  (void)spelled;
  return r.burden;
}

static void one(const pf_fault_trigger *t, double *seconds, int *good)
{
  pf_arena a = {0}, keep = {0}, b = {0};
  pf_case trigger, c, best;
  pf_error e;
  pf_minimized m;
  uint8_t *data;
  size_t size;
  set_options(t->fault);
  assert_int_equal(pf_text_parse(t->text, strlen(t->text), &b, &trigger, &e), PF_OK);
  const found want = examine(&trigger, PF_VERDICT_COUNT);
  const found f = draw(&trigger, PF_VERDICT_COUNT, &a, &c);
  if (!f.yes) { printf("%s: not found\n", t->fault); return; }
  session.options = f.narrow;
  assert_int_equal(pf_archive_encode(&c, &a, &data, &size, NULL), PF_OK);
  const pf_minimize how = {.session = &session, .finding = &f.finding, .tries = 1};
  const clock_t begin = clock();
  assert_int_equal(pf_minimize_case(&how, data, size, &keep, &m), PF_OK);
  *seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  assert_int_equal(pf_archive_decode(m.data, m.size, &b, &best, NULL), PF_OK);
  const pf_burden least = burden_of(&trigger, &b), got = burden_of(&best, &b);
  int cmp = pf_burden_compare(&got, &least);
  int part = 0;
  while (part < PF_BURDENS && got.part[part] == least.part[part]) part++;
  printf("%s %s by %d (%lu, %lu)  %.2f s %lu runs  %s at %s\n    ", t->fault, cmp < 0 ? "less" : cmp ? "MORE" : "same", part,
   got.part[part], least.part[part], *seconds, m.runs, f.finding.signature, f.finding.at);
  pf_text_print(&best, stdout);
  printf("\n    %s\n", t->text);
  *good += cmp <= 0;
  (void)want;
  pf_arena_free(&a); pf_arena_free(&b); pf_arena_free(&keep);
}

static void test_faults(void **unused)
{
  int good = 0;
  (void)unused;
  for (int i = 0; i < PF_FAULT_TRIGGER_COUNT; i++) {
    double s = 0;
    one(&pf_fault_triggers[i], &s, &good);
  }
  printf("%d of %d\n", good, PF_FAULT_TRIGGER_COUNT);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_faults),
  };
  return cmocka_run_group_tests(tests, open_session, close_session);
}
