/* The options that most commands take, and their variables.  A variable whose option is given is
   not looked at. */
#include "cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "finding.h"
#include "mpfr_oracle.h"

enum { KEY_THREADS = 1000, KEY_ISOLATE, KEY_TIMEOUT, KEY_REPEAT, KEY_ORACLE, KEY_KNOWN };

static const struct argp_option engine_options[] = {
  {.name = "engine", .key = 'e', .arg = "NAMES",
   .doc = "Engines that do the arithmetic: names with commas between; a name up to its ':' takes "
          "the whole family, ./libmine.so is a shared object, exec:COMMAND another process, "
          "installed takes every library that is there.  Default: all that precfuzz engines lists "
          "first", .group = 1},
  {.name = "threads", .key = KEY_THREADS, .arg = "N",
   .doc = "Threads that a library may use; default 1"},
  {.name = "isolate", .key = KEY_ISOLATE,
   .doc = "Run libraries in children, so that one that dies is a finding; always where there are "
          "several"},
  {.name = "repeat", .key = KEY_REPEAT,
   .doc = "Make each call of a library twice: other bits are a finding"},
  {.name = "timeout", .key = KEY_TIMEOUT, .arg = "SECONDS",
   .doc = "For a call in another process, then it counts as dead; default 10"},
  {0}
};

static const struct argp_option options[] = {
  {.name = "strategy", .key = 's', .arg = "NAMES|ROW",
   .doc = "Strategies: names with commas between, or one row as text, 'NAME: STEPS'.  Default: "
          "all rows of the graph (precfuzz strategies), under rule agree eager,inductor",
   .group = 1},
  {.name = "rule", .key = 'r', .arg = "RULE",
   .doc = "contract (default): a result must lie in the enclosure of its own row; graph: in that "
          "of what the graph as written promises; agree: two rows' results each in the other's.  "
          "Or as other test suites judge, by the exact result alone: torch, ulp:N, abs:X,rel:Y, "
          "nmse:X (precfuzz tolerance shows what these are worth)"},
  {.name = "oracle", .key = KEY_ORACLE, .arg = "ORACLE",
   .doc = "certified (default): double arithmetic settles what is certainly right, MPFR the rest; "
          "mpfr: MPFR alone, with the same verdicts; both: hold one against the other"},
  {.name = "known", .key = KEY_KNOWN, .arg = "FOLDER[:FOLDER]",
   .doc = "Known findings, shown but not counted (precfuzz regress); none: all count.  Default: "
          "those that came with precfuzz"},
  {0}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_settings *s = state->input;
  switch (key) {
  case 's':
    if (s->strategies == PF_MAX_STRATEGIES)
      argp_error(state, "more than %d times --strategy", PF_MAX_STRATEGIES);
    s->strategy[s->strategies++] = arg;
    return 0;
  case 'r': s->rule = arg; return 0;
  case KEY_ORACLE: s->oracle = arg; return 0;
  case KEY_KNOWN: s->known_folder = arg; return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

const struct argp pf_judging_argp = {.options = options, .parser = parse};

static error_t parse_engines(int key, char *arg, struct argp_state *state)
{
  pf_settings *s = state->input;
  switch (key) {
  case ARGP_KEY_INIT: state->child_inputs[0] = s; return 0;
  case 'e':
    if (s->engines == PF_MAX_ENGINES)
      argp_error(state, "more than %d times --engine", PF_MAX_ENGINES);
    s->engine[s->engines++] = arg;
    return 0;
  case KEY_THREADS:
    pf_cli_number(state, "threads", arg, 1, 1024);
    s->threads = arg;
    return 0;
  case KEY_TIMEOUT:
    pf_cli_number(state, "timeout", arg, 1, 86400);
    s->seconds = arg;
    return 0;
  case KEY_ISOLATE: s->isolate = true; return 0;
  case KEY_REPEAT: s->repeat = true; return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child judging[] = {{.argp = &pf_judging_argp}, {0}};

const struct argp pf_settings_argp = {
  .options = engine_options, .parser = parse_engines, .children = judging};

/* NULL where it is not set or empty: both say nothing. */
static const char *variable(const char *name)
{
  const char *value = getenv(name);
  return value && *value ? value : NULL;
}

static pf_status read_environment(pf_settings *s, pf_error *e)
{
  if (s->engines) {
    unsetenv("PRECFUZZ_ENGINES");
    unsetenv("PRECFUZZ_ENGINES_FILE");
  }
  if (s->threads)
    setenv("PRECFUZZ_THREADS", s->threads, 1);
  if (s->seconds)
    setenv("PRECFUZZ_TIMEOUT", s->seconds, 1);
  if (s->isolate)
    setenv("PRECFUZZ_ISOLATE", "1", 1);
  if (s->repeat)
    setenv("PRECFUZZ_REPEAT", "1", 1);
  if (s->strategies)
    unsetenv("PRECFUZZ_STRATEGIES");
  if (s->rule)
    unsetenv("PRECFUZZ_RULE");
  if (s->oracle)
    unsetenv("PRECFUZZ_ORACLE");
  s->engines_chosen =
      s->engines || variable("PRECFUZZ_ENGINES") || variable("PRECFUZZ_ENGINES_FILE");
  return pf_environment_read(&s->session.options, e);
}

static int read_options(pf_settings *s)
{
  pf_options *o = &s->session.options;
  pf_error e = {0};
  pf_status status = PF_OK;
  int foreign = 0;
  for (int i = 0; i < s->engines; i++)
    foreign += pf_options_foreign(s->engine[i]);
  o->opening.isolate |= foreign > 1;
  for (int i = 0; i < s->engines && !status; i++)
    status = (i ? pf_options_add_engines : pf_options_engines)(o, s->engine[i], &e);
  if (status)
    return pf_cli_report(status, &e, false, "--engine");
  for (int i = 0; i < s->strategies && !status; i++)
    status = pf_options_strategies(o, s->strategy[i], &e);
  if (status)
    return pf_cli_report(status, &e, false, "--strategy");
  status = s->rule ? pf_options_rule(o, s->rule, &e) : PF_OK;
  if (status)
    return pf_cli_report(status, &e, false, "--rule");
  status = s->oracle ? pf_options_oracle(o, s->oracle, &e) : PF_OK;
  if (status)
    return pf_cli_report(status, &e, false, "--oracle");
  if (o->rule.kind == PF_RULE_AGREE && !o->strategy_count)
    status = pf_options_strategies(o, "eager,inductor", &e);
  if (status)
    return pf_cli_report(status, &e, false, "--rule");
  if (o->rule.kind == PF_RULE_AGREE && o->strategy_count < 2)
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "--rule agree: two strategies or more are held against "
                                          "each other, one is given");
  return PF_EXIT_CLEAN;
}

int pf_settings_open(pf_settings *s)
{
  pf_error e = {0};
  pf_options_default(&s->session.options);
  const pf_status status = read_environment(s, &e);
  if (status)
    return pf_cli_report(status, &e, false, NULL);
  int code = read_options(s);
  if (!code)
    code = pf_settings_open_known(s);
  if (!code && pf_mpfr_oracle_new(&s->session.oracle))
    code = pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  return code;
}

void pf_settings_close(pf_settings *s)
{
  if (s->session.oracle.state)
    pf_mpfr_oracle_free(&s->session.oracle);
  pf_session_free(&s->session);
  pf_regressions_free(&s->known);
  free(s->own_folder);
  pf_options_close(&s->session.options);
}

/* Where the row's text begins in what the user wrote. */
static size_t text_offset(const pf_settings *s, const pf_strategy *row)
{
  const size_t named = strlen(row->name) + 1;
  const char *from_environment = variable("PRECFUZZ_STRATEGIES");
  for (int i = 0; i < s->strategies; i++)
    if (s->strategy[i] + named == row->text)
      return named;
  return from_environment && from_environment + named == row->text ? named : 0;
}

int pf_settings_check_rows(const pf_settings *s, const pf_case *c, const char *where)
{
  const pf_options *o = &s->session.options;
  for (int i = 0; i < o->strategy_count; i++) {
    const pf_strategy *row = &o->strategy[i];
    pf_plan plan;
    pf_error e = {0};
    if (!row->text || pf_plan_parse(row->name, row->text, c, &plan, &e) != PF_BAD_INPUT)
      continue;
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: %s: offset %zu: %s", where,
                       s->strategies ? "--strategy" : "PRECFUZZ_STRATEGIES",
                       text_offset(s, row) + e.offset, e.text);
  }
  return PF_EXIT_CLEAN;
}

/* Several options, since a row as text may hold commas. */
void pf_settings_print_strategy(const pf_settings *s, const char *name, FILE *to)
{
  const pf_options *o = &s->session.options;
  const char *text = NULL;
  for (int i = 0; i < o->strategy_count && !text; i++)
    text = strcmp(o->strategy[i].name, name) ? NULL : o->strategy[i].text;
  char *word = NULL;
  if (text && asprintf(&word, "%s:%s", name, text) < 0)
    return;
  fputs(" --strategy ", to);
  pf_cli_quote(word ? word : name, to);
  free(word);
}

void pf_settings_command(const pf_settings *s, const pf_result *r, const char *form,
                         const char *path, FILE *to)
{
  char rule[PF_RULE_TEXT];
  pf_rule_print(&r->rule, rule, sizeof rule);
  fprintf(to, "precfuzz check --rule %s --engine ", rule);
  pf_cli_quote(r->engine->name, to);
  if (s->session.options.opening.isolate && r->engine->foreign)
    fputs(" --isolate", to);
  if (s->session.options.repeat && r->engine->foreign)
    fputs(" --repeat", to);
  if (!pf_result_has_any_row(r))
    pf_settings_print_strategy(s, r->strategy, to);
  else
    for (int i = 0; i < s->session.options.strategy_count; i++)
      pf_settings_print_strategy(s, s->session.options.strategy[i].name, to);
  if (r->rule.kind == PF_RULE_AGREE)
    pf_settings_print_strategy(s, r->against, to);
  if (form)
    fprintf(to, " --form %s", form);
  fputc(' ', to);
  pf_cli_quote(path, to);
}

void pf_settings_print_command(const pf_settings *s, const pf_result *r, const char *form,
                               const char *path, FILE *to)
{
  fputs("    reproduce ", to);
  pf_settings_command(s, r, form, path, to);
  fputc('\n', to);
}

int pf_settings_differences(const pf_settings *s, int code)
{
  const pf_session *session = &s->session;
  const pf_difference *d = &session->difference;
  if (!session->differing)
    return code;
  return pf_cli_worse(
      code, pf_cli_fail(PF_EXIT_MACHINERY,
                        "certified arithmetic and the oracle differ for %" PRIu64 " of %" PRIu64
                        " enclosures, first for run %d, element %" PRId64 ": [%a, %a] in [%a, %a]",
                        session->differing, session->compared, d->ask, d->element, d->lo, d->hi,
                        d->exact.lo, d->exact.hi));
}
