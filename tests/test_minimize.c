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
  print_message("seed %d\n", SEED);
  return pf_mpfr_oracle_new(&session.oracle);
}

static int close_session(void **state)
{
  (void)state;
  pf_session_free(&session);
  pf_mpfr_oracle_free(&session.oracle);
  return 0;
}

static void set_options(const char *engine, const char *rule)
{
  pf_error e;
  pf_options_default(&session.options);
  assert_int_equal(pf_options_engine(&session.options, engine, &e), PF_OK);
  assert_int_equal(pf_options_rule(&session.options, rule, &e), PF_OK);
  session.options.no_models = true;
}

static void parse(const char *text, pf_arena *a, pf_case *out)
{
  pf_error e;
  if (pf_text_parse(text, strlen(text), a, out, &e)) fail_msg("%s: %s", text, e.text);
}

/* --- findings ------------------------------------------------------------------------------ */

/* The first finding of a case, of a verdict if one is wanted, and what runs it alone. */
typedef struct found {
  bool yes;
  pf_verdict wanted;  /* PF_VERDICT_COUNT: any */
  pf_finding finding;
  pf_options narrow;
} found;

static void note(void *user, const pf_result *r)
{
  found *f = user;
  if (f->yes || !pf_verdict_is_finding(r->verdict)) return;
  if (f->wanted != PF_VERDICT_COUNT && r->verdict != f->wanted) return;
  f->yes = true;
  pf_arena_reset(&session.scratch);
  assert_int_equal(pf_finding_of(r, &session.oracle, &session.scratch, &f->finding), PF_OK);
  f->narrow = session.options;
  pf_options_narrow(&f->narrow, r);
}

static found examine(const pf_case *c, pf_verdict wanted)
{
  found f = {.wanted = wanted};
  assert_int_equal(pf_session_examine(&session, c, note, &f), PF_OK);
  return f;
}

/* Has the case the operands of the other one? */
static bool same_operands(const pf_case *c, const pf_case *d)
{
  for (int r = PF_X; r < PF_OUT; r++) {
    if (c->operand[r].present != d->operand[r].present) return false;
  }
  return true;
}

/* A random case of the trigger's graph, operands and dtypes that shows the fault. */
static found draw(const pf_case *trigger, pf_arena *a, pf_case *out)
{
  pf_filter filter = {.graphs = 1u << trigger->graph};
  uint8_t bytes[LENGTH];
  for (int r = PF_X; r < PF_OUT; r++) {
    if (trigger->operand[r].present) filter.dtypes |= 1u << trigger->operand[r].dtype;
  }
  for (uint64_t i = 0; i < DRAWS; i++) {
    for (uint64_t j = 0; j < LENGTH; j++) bytes[j] = (uint8_t)pf_hash(pf_hash(SEED + i) + j);
    pf_arena_reset(a);
    assert_int_equal(pf_fuzz_decode(bytes, LENGTH, &filter, a, out), PF_OK);
    const found f =
        same_operands(out, trigger) ? examine(out, PF_VERDICT_COUNT) : (found){0};
    if (f.yes) return f;
  }
  return (found){0};
}

/* --- minimizing ---------------------------------------------------------------------------- */

typedef struct watch {
  pf_burden last;
  uint64_t better, most;  /* most: stop after so many; 0: never */
} watch;

static bool stop(void *user, const pf_minimized *now)
{
  const watch *w = user;
  (void)now;
  return w->most && w->better >= w->most;
}

static void better(void *user, const pf_minimized *now)
{
  watch *w = user;
  if (w->better) assert_true(pf_burden_compare(&now->burden, &w->last) < 0);
  w->last = now->burden;
  assert_int_equal(now->taken, ++w->better);
}

/* Under options that run the finding alone. */
static pf_minimized minimize(const found *f, const pf_case *c, uint64_t most, pf_arena *keep)
{
  pf_arena a = {0};
  uint8_t *data;
  size_t size;
  pf_minimized m;
  watch w = {.most = most};
  const pf_minimize how = {.session = &session, .finding = &f->finding, .tries = 1, .stop = stop,
                           .better = better, .user = &w};
  session.options = f->narrow;
  assert_int_equal(pf_archive_encode(c, &a, &data, &size, NULL), PF_OK);
  assert_int_equal(pf_minimize_case(&how, data, size, keep, &m), PF_OK);
  assert_int_equal(m.finished, !most || w.better < most);
  pf_arena_free(&a);
  return m;
}

static void decode(const pf_minimized *m, pf_arena *a, pf_case *out)
{
  pf_error e;
  if (pf_archive_decode(m->data, m->size, a, out, &e)) fail_msg("%s", e.text);
}

static void assert_shows(const found *f, const pf_minimized *m)
{
  pf_arena a = {0};
  pf_case c;
  decode(m, &a, &c);
  const found g = examine(&c, f->wanted);
  assert_true(g.yes);
  assert_string_equal(g.finding.signature, f->finding.signature);
  assert_string_equal(g.finding.at, f->finding.at);
  pf_arena_free(&a);
}

static void assert_same(const pf_minimized *m, const pf_minimized *n)
{
  assert_int_equal(m->size, n->size);
  assert_memory_equal(m->data, n->data, m->size);
}

static pf_burden burden_of(const pf_case *c, pf_arena *a)
{
  uint8_t *data;
  size_t size;
  pf_reducible r;
  assert_int_equal(pf_archive_encode(c, a, &data, &size, NULL), PF_OK);
  assert_int_equal(pf_reduce_open(data, size, a, &r, NULL), PF_OK);
  return r.burden;
}

/* --- planted faults ------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* One line of the table; true where it came to the trigger or less. */
static bool minimize_fault(const pf_fault_trigger *t, const pf_case *trigger, const found *f,
                           const pf_case *c, double *seconds)
{
  pf_arena a = {0}, keep = {0}, again = {0};
  pf_case best;
  const clock_t begin = clock();
  const pf_minimized m = minimize(f, c, 0, &keep);
  *seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  assert_shows(f, &m);
  decode(&m, &a, &best);
  const pf_minimized n = minimize(f, &best, 0, &again);
  assert_int_equal(n.taken, 0);
  const pf_burden least = burden_of(trigger, &a);
  const int compared = pf_burden_compare(&m.burden, &least);
  printf("%-10s %-5s %4llu elements, stated %4llu; %4llu runs, %.2f s  ", t->fault,
         compared < 0 ? "less" : compared ? "more" : "same",
         (unsigned long long)m.burden.part[PF_BURDEN_ELEMENTS],
         (unsigned long long)least.part[PF_BURDEN_ELEMENTS], (unsigned long long)m.runs, *seconds);
  pf_text_print(&best, stdout);
  putchar('\n');
  pf_arena_free(&a);
  pf_arena_free(&keep);
  pf_arena_free(&again);
  return compared <= 0;
}

static void test_faults(void **unused)
{
  double seconds[PF_FAULT_TRIGGER_COUNT];
  int faults = 0, good = 0;
  (void)unused;
  for (int i = 0; i < PF_FAULT_TRIGGER_COUNT; i++) {
    const pf_fault_trigger *t = &pf_fault_triggers[i];
    pf_arena a = {0}, b = {0};
    pf_case trigger, c;
    if (t->shows == PF_SHOWS_ZERO_SIGN) continue;  /* no finding: zeros are equal */
    set_options(t->fault, "contract");
    parse(t->text, &b, &trigger);
    const found f = draw(&trigger, &a, &c);
    if (!f.yes) fail_msg("%s: nothing found", t->text);
    good += minimize_fault(t, &trigger, &f, &c, &seconds[faults++]);
    pf_arena_free(&a);
    pf_arena_free(&b);
  }
  qsort(seconds, (size_t)faults, sizeof *seconds, by_value);
  printf("%d of %d end at the least trigger that is stated, or less; median %.3f s\n", good, faults,
         seconds[faults / 2]);
  assert_true(10 * good >= 9 * faults);
}

/* --- other findings ------------------------------------------------------------------------ */

/* Two verdicts in one case, two steps in one row: neither drifts to the other. */
static void test_no_drift(void **unused)
{
  static const char two[] =
      "matmul_out_f32_add x=f16[1,9] y=f16[9,1] bias=f16[1] "
      "x.bits=5800,5800,5800,5800,5800,5800,5800,5800,6000 "
      "y.bits=5800,5800,5800,5800,5800,5800,5800,5800,dc00";
  (void)unused;
  for (int i = 0; i < 2; i++) {
    pf_arena a = {0}, keep = {0};
    pf_case c;
    set_options("fault:M13", "contract");
    parse(two, &a, &c);
    const found f = examine(&c, i ? PF_VERDICT_SPECIAL : PF_VERDICT_IMPOSSIBLE);
    assert_true(f.yes);
    const pf_minimized m = minimize(&f, &c, 0, &keep);
    assert_true(m.taken > 0);
    assert_shows(&f, &m);
    pf_arena_free(&a);
    pf_arena_free(&keep);
  }
}

/* The product is wrong in t0; the cast behind it and the bias are not to blame. */
static void test_steps(void **unused)
{
  static const struct { const char *engine, *strategy, *rule, *text, *at; } wanted[] = {
    {"fault:M13", "aot_eager", "contract",
     "matmul_out_f32_add x=bf16[1,9] y=bf16[9,1] bias=bf16[1] x.values=equal:0 y.values=equal:0",
     "t0"},
    {"fault:M06", "eager", "contract",
     "matmul_cast_f32_add x=bf16[1,2] y=bf16[2,1] bias=bf16[1] x.bits=4380,3f80 y.values=equal:0 "
     "bias.bits=0", "t1"},
    {"reference:forward", "aot_eager", "graph",
     "matmul_out_f32_add x=bf16[1,2] y=bf16[2,1] bias=bf16[1] x.bits=4380,3f80 y.values=equal:0",
     "t0"},
    {"fault:M15", "eager", "contract", "matmul x=f32[1,1] y=f32[1,1]", ""},
  };
  (void)unused;
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    pf_arena a = {0};
    pf_case c;
    pf_error e;
    set_options(wanted[i].engine, wanted[i].rule);
    assert_int_equal(pf_options_strategies(&session.options, wanted[i].strategy, &e), PF_OK);
    parse(wanted[i].text, &a, &c);
    const found f = examine(&c, PF_VERDICT_COUNT);
    assert_true(f.yes);
    assert_string_equal(f.finding.at, wanted[i].at);
    pf_arena_free(&a);
  }
}

static void test_hash(void **unused)
{
  const pf_finding a = {"e g s d r V", "t0"}, b = {"e g s d r V", "t1"}, c = {"e g s d r Vt", "0"};
  (void)unused;
  assert_true(pf_finding_equal(&a, &a));
  assert_false(pf_finding_equal(&a, &b));
  assert_true(pf_finding_hash(&a) == 0xd124b5c43a58293e);
  assert_int_not_equal(pf_finding_hash(&a), pf_finding_hash(&b));
  assert_int_not_equal(pf_finding_hash(&a), pf_finding_hash(&c));
}

/* The same twice; stopped at any place, what there is shows the finding. */
static void test_stop(void **unused)
{
  static const char text[] = "linear x=bf16[5,33](40,1)+3 y=bf16[7,33] bias=bf16[7] "
                             "x.values=corner:3 y.values=cancel:5 out=(9,1)";
  pf_arena a = {0}, keep = {0}, again = {0};
  pf_case c;
  (void)unused;
  set_options("fault:M13", "contract");
  parse(text, &a, &c);
  const found f = examine(&c, PF_VERDICT_COUNT);
  assert_true(f.yes);
  const pf_minimized all = minimize(&f, &c, 0, &keep);
  const pf_minimized twice = minimize(&f, &c, 0, &again);
  assert_same(&all, &twice);
  for (uint64_t most = 1; most < all.taken; most++) {
    const pf_minimized m = minimize(&f, &c, most, &again);
    assert_int_equal(m.taken, most);
    assert_shows(&f, &m);
  }
  pf_arena_free(&a);
  pf_arena_free(&keep);
  pf_arena_free(&again);
}

/* Two rows that part; a rule of others. */
static void test_rules(void **unused)
{
  static const char *const rules[] = {"agree", "graph", "ulp:1", "torch"};
  (void)unused;
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    pf_arena a = {0}, keep = {0};
    pf_case c;
    pf_error e;
    set_options("reference:forward", rules[i]);
    assert_int_equal(pf_options_strategies(&session.options, "eager,aot_eager", &e), PF_OK);
    parse("matmul_out_f32_add x=bf16[4,3,8] y=bf16[8,5] bias=bf16[3,5] x.values=cancel:1 "
          "y.values=cancel:2", &a, &c);
    const found f = examine(&c, PF_VERDICT_COUNT);
    assert_true(f.yes);
    const pf_minimized m = minimize(&f, &c, 0, &keep);
    assert_true(m.burden.part[PF_BURDEN_ELEMENTS] <= 12);
    assert_shows(&f, &m);
    pf_arena_free(&a);
    pf_arena_free(&keep);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_faults),
    cmocka_unit_test(test_no_drift),
    cmocka_unit_test(test_steps),
    cmocka_unit_test(test_hash),
    cmocka_unit_test(test_stop),
    cmocka_unit_test(test_rules),
  };
  return cmocka_run_group_tests(tests, open_session, close_session);
}
