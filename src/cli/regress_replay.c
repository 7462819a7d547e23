/* One known finding, replayed: what became of it? */
#include <stdlib.h>
#include <string.h>

#include "regress.h"

const char *pf_outcome_name(pf_outcome o)
{
  static const char *const names[] = {"OK", "FIXED", "CHANGED", "SKIPPED", "WRONG"};
  return names[o];
}

/* What the results of the case came to. */
typedef struct pf_watch {
  const pf_settings *settings;
  const char *path;
  pf_replay *out;
  bool changed;   /* a finding that is not the entry's, and no other's */
  bool another;   /* one that is another's */
  bool right;     /* a result without a finding, by the entry's kernel */
  char declined[200];
  char kernel[96];  /* that did the work instead */
} pf_watch;

static const char *or_empty(const char *text)
{
  return text ? text : "";
}

static void note_engine(const pf_watch *w, const pf_result *r)
{
  pf_replay *out = w->out;
  snprintf(out->release, sizeof out->release, "%s", or_empty(r->engine->release));
  snprintf(out->kernel, sizeof out->kernel, "%s", or_empty(r->run ? r->run->kernel : NULL));
  pf_isa_of(r->engine, out->isa, sizeof out->isa);
}

static void note_command(const pf_watch *w, const pf_result *r)
{
  size_t size;
  FILE *to = open_memstream(&w->out->command, &size);
  if (!to)
    return;
  pf_settings_command(w->settings, r, NULL, w->path, to);
  fclose(to);
}

static void note_other(pf_watch *w, const pf_result *r)
{
  const pf_regression *k = w->out->entry;
  const char *kernel = r->run ? r->run->kernel : NULL;
  char *found = w->out->found, *why = w->out->why;
  const size_t size = sizeof w->out->why;
  pf_signature(r, found, sizeof w->out->found);
  if (r->verdict != k->verdict)
    snprintf(why, size, "%s", found);
  else if (!pf_regression_has_kernel(k, kernel))
    snprintf(why, size, "by kernel %s: %s", kernel ? kernel : "unknown", found);
  else
    snprintf(why, size, "by model %s: %s", r->match.model ? r->match.model : "none", found);
}

static void on_result(void *user, const pf_result *r)
{
  pf_watch *w = user;
  const pf_regression *k = w->out->entry;
  const char *kernel = r->run ? r->run->kernel : NULL;
  if (!pf_regression_is_of(k, r))
    return;
  if (!w->out->command)
    note_command(w, r);
  if (r->machinery) {
    w->out->outcome = PF_WRONG;
    w->out->code = pf_cli_fail(PF_EXIT_MACHINERY, "%s: %s: %s: %s", w->path, r->engine->name,
                               r->strategy, r->why ? r->why : pf_status_name(r->machinery));
  } else if (pf_regression_matches(k, r)) {
    if (!w->out->shows)
      note_engine(w, r);
    w->out->shows = true;
  } else if (pf_verdict_is_finding(r->verdict)) {
    if (!w->changed)
      note_other(w, r);
    *(pf_settings_know(w->settings, r) ? &w->another : &w->changed) = true;
  } else if (r->verdict == PF_VERDICT_UNSUPPORTED) {
    snprintf(w->declined, sizeof w->declined, "%s", or_empty(r->why));
  } else if (pf_regression_has_kernel(k, kernel)) {
    w->right = true;
  } else {
    snprintf(w->kernel, sizeof w->kernel, "%s", kernel ? kernel : "unknown");
  }
}

static void conclude(pf_watch *w)
{
  pf_replay *out = w->out;
  if (out->outcome == PF_WRONG)
    return;
  if (w->changed || (w->another && !out->shows)) {
    out->outcome = PF_CHANGED;
  } else if (out->shows) {
    out->outcome = PF_STILL;
    out->why[0] = out->found[0] = 0;
  } else if (w->right) {
    out->outcome = PF_FIXED;
    snprintf(out->why, sizeof out->why, "nothing is wrong any more");
  } else if (w->kernel[0]) {
    out->outcome = PF_SKIPPED;
    snprintf(out->why, sizeof out->why, "kernel %s is not there: %s did the work",
             out->entry->kernel, w->kernel);
  } else if (w->declined[0]) {
    out->outcome = PF_SKIPPED;
    snprintf(out->why, sizeof out->why, "not run: %s", w->declined);
  } else {
    out->outcome = PF_WRONG;
    out->code = pf_cli_fail(PF_EXIT_BAD_INPUT, "[%s]: no result is of strategy %s",
                            out->entry->name, out->entry->strategy);
  }
}

/* --- running ------------------------------------------------------------------------------- */

/* Those of the signature; a pattern chooses among all rows. */
static pf_status choose_strategies(pf_options *o, const pf_regression *k, pf_error *e)
{
  char name[sizeof o->strategy[0].name * 2];
  o->strategy_count = 0;
  for (const char *at = k->strategy; !strpbrk(k->strategy, "*?[");) {
    const size_t length = strcspn(at, "~");
    snprintf(name, sizeof name, "%.*s", (int)length, at);
    PF_TRY(pf_options_strategies(o, name, e));
    if (!at[length])
      break;
    at += length + 1;
  }
  return PF_OK;
}

static void wrong(pf_replay *out, int code)
{
  out->outcome = PF_WRONG;
  out->code = code;
}

/* A result of precfuzz judge: nobody here can compute it again. */
static bool is_given(const char *engine)
{
  return !strcmp(engine, "given") || !strncmp(engine, "given:", 6);
}

/* Engine, strategies and rule of the entry.  False where there is nothing to run. */
static bool prepare(pf_settings *s, const pf_regression *k, pf_replay *out)
{
  pf_options *o = &s->session.options;
  pf_error e = {0};
  if (is_given(k->engine)) {
    out->outcome = PF_SKIPPED;
    snprintf(out->why, sizeof out->why, "%s: computed elsewhere, for precfuzz judge", k->engine);
    return false;
  }
  const pf_status opened = pf_options_engine(o, k->engine, &e);
  if (opened == PF_UNSUPPORTED) {
    out->outcome = PF_SKIPPED;
    snprintf(out->why, sizeof out->why, "%s", e.text);
    return false;
  }
  pf_status status = opened;
  if (!status)
    status = choose_strategies(o, k, &e);
  if (!status)
    status = pf_options_rule(o, k->rule, &e);
  if (status) {
    wrong(out, pf_cli_report(status, &e, false, k->name));
    return false;
  }
  o->repeat = k->verdict == PF_VERDICT_UNREPEATABLE;
  const pf_engine *engine = o->engine[0];
  out->engine = engine->version ? strdup(engine->version) : NULL;
  if (pf_regression_applies(k, engine, out->why, sizeof out->why))
    return true;
  out->outcome = PF_SKIPPED;
  return false;
}

static int check_case(const pf_regression *k, const pf_case_file *f)
{
  char dtypes[PF_DTYPES_TEXT];
  if (pf_regression_asks(k, &f->what))
    return PF_EXIT_CLEAN;
  pf_dtypes_print(&f->what, dtypes, sizeof dtypes);
  return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: a case of %s %s, but the signature is of %s %s",
                     f->file.name, pf_graph_of(f->what.graph)->name, dtypes, k->graph, k->dtypes);
}

void pf_replay_case(pf_settings *s, const pf_regression *k, const char *path, pf_form form,
                    pf_replay *out)
{
  pf_case_file f = {0};
  *out = (pf_replay){.entry = k};
  pf_watch w = {.settings = s, .path = path, .out = out};
  pf_arena_reset(&s->session.cases);
  int code = pf_case_file_read(path, form, &s->session.cases, &f);
  if (!code)
    code = check_case(k, &f);  /* even where nothing can be run */
  if (code) {
    wrong(out, code);
  } else if (prepare(s, k, out)) {
    if (pf_session_examine(&s->session, &f.what, on_result, &w))
      wrong(out, pf_cli_fail(PF_EXIT_MACHINERY, "%s: out of memory", path));
    conclude(&w);
  }
  pf_case_file_free(&f);
}

void pf_replay_free(pf_replay *r)
{
  free(r->engine);
  free(r->command);
}
