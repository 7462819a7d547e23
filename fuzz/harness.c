/* One input through a session; a finding prints what it is and aborts.  Nothing of one input is
   left for the next: arenas are emptied, and what an input runs depends on its bytes alone. */
#include "harness.h"

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "finding.h"
#include "form_archive.h"
#include "form_fuzz.h"
#include "form_text.h"
#include "mpfr_oracle.h"

typedef struct pf_harness {
  const pf_target *target;
  pf_session session;
  pf_options options;     /* as set; an input that is no archive runs one of the default engines */
  bool one_engine;
  bool fuzz_form;         /* how the input under examination was read */
  pf_regressions known;
  pf_counters *counters;  /* shared by all processes of a run; NULL: none wanted */
} pf_harness;

static pf_harness harness;

/* What all but one case in a million need, bytes. */
enum { CASE_BYTES = 1 << 18, WORK_BYTES = 1 << 21 };

/* Memory that a rare case needs is taken, and touched, at once: then what the process holds does not
   grow as such cases come by. */
static pf_status take_memory(pf_arena *a, size_t bytes)
{
  const void *taken = pf_alloc(a, bytes);
  pf_arena_reset(a);
  return taken ? PF_OK : PF_NO_MEMORY;
}

static pf_status open_session(const pf_target *t, pf_error *e)
{
  pf_options *o = &harness.options;
  const char *engines = getenv("PRECFUZZ_ENGINES"), *file = getenv("PRECFUZZ_ENGINES_FILE");
  const char *known = getenv("PRECFUZZ_KNOWN"), *stats = getenv("PRECFUZZ_STATS");
  pf_options_default(o);
  harness.one_engine = !(engines && *engines) && !(file && *file);
  o->rule = (pf_rule){.kind = t->rule};
  o->oracle = t->oracle;
  pf_status s = pf_environment_read(o, e);
  if (!s && !o->strategy_count && t->strategies) {
    o->only_equal = t->only_equal;
    s = pf_options_strategies(o, t->strategies, e);
  }
  if (!s && known && *known)
    s = pf_known_open(known, &harness.known, e);
  if (!s && stats && *stats) {
    harness.counters = pf_counters_map(stats);
    if (!harness.counters)
      s = pf_fail(e, PF_BAD_INPUT, 0, "PRECFUZZ_STATS: cannot map %s", stats);
  }
  if (!s)
    s = take_memory(&harness.session.cases, CASE_BYTES);
  if (!s)
    s = take_memory(&harness.session.work, WORK_BYTES);
  return s ? s : pf_mpfr_oracle_new(&harness.session.oracle);
}

int pf_harness_open(const pf_target *t)
{
  pf_error e = {0};
  harness.target = t;
  if (open_session(t, &e)) {
    fprintf(stderr, "%s: %s\n", t->name, e.text[0] ? e.text : "out of memory");
    exit(2);
  }
  return 0;
}

/* --- findings ------------------------------------------------------------------------------ */

/* A row given as text is quoted whole; a name stands for itself. */
static void print_strategy(const char *name)
{
  const pf_options *o = &harness.options;
  for (int i = 0; i < o->strategy_count; i++)
    if (o->strategy[i].text && !strcmp(o->strategy[i].name, name)) {
      fprintf(stderr, " --strategy '%s: %s'", name, o->strategy[i].text);
      return;
    }
  fprintf(stderr, " --strategy %s", name);
}

static void print_reproducer(const pf_result *r)
{
  char rule[PF_RULE_TEXT];
  pf_rule_print(&r->rule, rule, sizeof rule);
  fprintf(stderr, "    reproduce precfuzz check --rule %s --engine '%s'%s", rule, r->engine->name,
          harness.options.opening.isolate && r->engine->foreign ? " --isolate" : "");
  print_strategy(r->strategy);
  if (r->rule.kind == PF_RULE_AGREE)
    print_strategy(r->against);
  fprintf(stderr, "%s FILE\n", harness.fuzz_form ? " --form fuzz" : "");
}

__attribute__((noinline, noreturn)) static void oracles_differ(void)
{
  abort();
}

static void report_difference(const pf_session *s, const pf_case *c)
{
  const pf_difference *d = &s->difference;
  char inside[200], exact[200];
  pf_set_print(&d->inside, inside, sizeof inside);
  pf_set_print(&d->exact, exact, sizeof exact);
  fputs("ASSERTION FAILED: precfuzz: certified arithmetic allows more than the oracle\n"
        "    case      ", stderr);
  pf_text_print(c, stderr);
  fprintf(stderr, "\n    run %d, element %" PRId64 ": inside %s, in a block [%a, %a]; exactly %s%s\n",
          d->ask, d->element, inside, d->lo, d->hi, exact, d->weak ? ", weak" : "");
  fputs("    reproduce PRECFUZZ_ORACLE=both precfuzz check FILE\n", stderr);
  oracles_differ();
}

static void on_result(void *user, const pf_result *r)
{
  pf_finding f;
  pf_session *s = user;
  if (!pf_verdict_is_finding(r->verdict))
    return;
  if (pf_regressions_find(&harness.known, r)) {
    if (harness.counters)
      pf_counters_add_known(harness.counters);
    return;
  }
  pf_arena_reset(&s->scratch);
  (void)pf_finding_of(r, &s->oracle, &s->scratch, &f);  /* without memory the step is unknown */
  fprintf(stderr, "ASSERTION FAILED: precfuzz: %s\n    case      ", f.signature);
  pf_text_print(r->problem->what, stderr);
  if (r->problem->what->origin)
    fprintf(stderr, "\n    origin    %s", r->problem->what->origin);
  fputs("\n    ", stderr);
  pf_report_line(r, stderr);
  pf_report_worst(r, stderr);
  if (f.at[0])
    fprintf(stderr, "    at        %s\n", f.at);
  print_reproducer(r);
  pf_abort_as(pf_finding_hash(&f));
}

/* The default engines differ in their order only: one an input, picked by its bytes, shows as much
   in the long run as all of them on every input, and costs a tenth. */
static void pick_engine(const uint8_t *data, size_t size)
{
  pf_options *o = &harness.session.options;
  uint64_t hash = size, word = 0;
  size_t i = 0;
  for (; size - i >= sizeof word; i += sizeof word) {
    memcpy(&word, data + i, sizeof word);
    hash = pf_hash(hash ^ le64toh(word));
  }
  for (; i < size; i++)
    hash = pf_hash(hash ^ data[i]);
  o->engine[0] = harness.options.engine[hash % (uint64_t)harness.options.engine_count];
  o->engine_count = 1;
}

int pf_harness_examine(const uint8_t *data, size_t size)
{
  pf_session *s = &harness.session;
  pf_case c;
  s->options = harness.options;
  pf_arena_reset(&s->cases);
  const uint64_t elements = s->elements, products = s->products;
  /* regressions are archives: a target replays them; whatever else is a case by its bytes */
  harness.fuzz_form = !pf_archive_is(data, size) ||
                      pf_archive_decode(data, size, &s->cases, &c, NULL) != PF_OK;
  if (harness.fuzz_form) {
    pf_arena_reset(&s->cases);
    if (harness.one_engine)
      pick_engine(data, size);
    if (pf_fuzz_decode(data, size, NULL, &s->cases, &c))
      return 0;
  }
  pf_session_examine(s, &c, on_result, s);
  if (s->differing)
    report_difference(s, &c);
  if (harness.counters)
    pf_counters_add(harness.counters, s->elements - elements, s->products - products,
                    pf_case_shape(&c).work);
  return 0;
}
