/* The report of a bundle: Markdown for a tracker, and the same facts for programs. */
#include "triage.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "form_text.h"

enum { LONG_CASE = 2000, LONG_SOURCE = 20000 };  /* characters */

static const struct {
  const char *file, *start;
} programs[PF_EMIT_TARGETS] = {
  /* no module's name: Python looks beside a script first */
  [PF_EMIT_PYTORCH] = {"with_pytorch.py", "python3 with_pytorch.py eager"},
  [PF_EMIT_NUMPY] = {"with_numpy.py", "python3 with_numpy.py"},
  [PF_EMIT_C] = {"case.c", "./case"},
};

const char *pf_bundle_program(pf_emit_target t)
{
  return programs[t].file;
}

const char *pf_triage_says(pf_verdict v)
{
  switch (v) {
  case PF_VERDICT_IMPOSSIBLE: return "a number that no correct execution gives, however it adds";
  case PF_VERDICT_SPECIAL: return "NaN, infinity or a number where another of them is due";
  case PF_VERDICT_GUARD: return "it wrote outside its output";
  case PF_VERDICT_INPUT: return "it changed an operand";
  case PF_VERDICT_FENV: return "it left another rounding mode or flush-to-zero";
  case PF_VERDICT_UNREPEATABLE: return "the same call again gave other bits";
  case PF_VERDICT_DIED: return "it crashed, hung, or answered what is no answer";
  default: return pf_verdict_name(v);
  }
}

/* --- parts --------------------------------------------------------------------------------- */

static void print_title(const pf_bundle *b, FILE *to)
{
  const pf_result *r = b->result;
  const pf_case *c = r->problem->what;
  char dtypes[PF_DTYPES_TEXT];
  pf_dtypes_print(c, dtypes, sizeof dtypes);
  fprintf(to, "# %s%s%s: `%s` of %s: %s\n\n", r->engine->name, r->engine->release ? " " : "",
          r->engine->release ? r->engine->release : "", pf_graph_of(c->graph)->torch, dtypes,
          pf_triage_says(r->verdict));
}

static void print_number(const char *label, double v, FILE *to)
{
  fprintf(to, "- %s: %.17g (`%a`)\n", label, v, v);
}

static void print_worst(const pf_result *r, FILE *to)
{
  const pf_measured *m = &r->worst;
  char where[128], allowed[320];
  if (m->element < 0)
    return;
  pf_print_index(&r->problem->shape, m->element, where, sizeof where);
  pf_set_print(&m->allowed.set, allowed, sizeof allowed);
  fprintf(to, "- where: `out%s`; %" PRId64 " of %" PRId64 " elements are wrong\n", where,
          r->tally.wrong, r->tally.judged);
  print_number("got", m->got, to);
  if (m->special)
    fputs("- exact: by the rules of infinity and NaN\n", to);
  else
    print_number("exact", m->exact, to);
  fprintf(to, "- allowed: %s\n", allowed[0] ? allowed : "nothing");
  if (!m->special && isfinite(m->got)) {
    fputs("- error: ", to);
    pf_report_error(r, to);
    fputc('\n', to);
  }
}

static void print_what(const pf_bundle *b, FILE *to)
{
  const pf_result *r = b->result;
  fprintf(to, "- finding: `%s`\n", b->group->seen->finding.signature);
  fprintf(to, "- verdict: %s, %s\n", pf_verdict_name(r->verdict), pf_triage_says(r->verdict));
  if (r->why)
    fprintf(to, "- how: %s\n", r->why);
  print_worst(r, to);
  if (r->run && r->run->misdeed == PF_WROTE_OUTSIDE)
    fprintf(to, "- where: byte %" PRId64 " from the output's first element\n", r->run->stray);
  if (r->run && r->run->kernel)
    fprintf(to, "- kernel: %s\n", r->run->kernel);
  if (r->match.model)
    fprintf(to, "- explained bit for bit by model %s: %s\n", r->match.model, r->match.says);
  fprintf(to, "- shows: %d of %d tries (of the file that was found: %d of %d)\n",
          b->minimized->after.times, b->minimized->after.tries, b->minimized->before.times,
          b->minimized->before.tries);
}

static void print_case(const pf_bundle *b, FILE *to)
{
  fputs("\n## Case\n\n```\n", to);
  pf_cli_print_case(b->result->problem->what, LONG_CASE, to);
  fprintf(to, "\n```\n\nin full in `" PF_BUNDLE_TEXT "`, as an archive in `" PF_BUNDLE_CASE
              "`; as it was found in `" PF_BUNDLE_FOUND "`. %s\n",
          b->minimized->now.finished ? "No simpler one was found that shows it."
          : b->as_found ? "It is the one that was found: simpler ones showed it, but not again."
                        : "Time was up before no simpler one was left.");
  if (b->minimized->anew)
    fputs("Each was tried in a new process, as the library's answers depend on what it was asked "
          "before.\n", to);
}

static void print_steps(const pf_bundle *b, FILE *to)
{
  const pf_result *r = b->result;
  const char *at = b->group->seen->finding.at;
  char row[320];
  fprintf(to, "\n## Steps\n\nof strategy `%s`", r->strategy);
  if (r->plan && at[0])
    fprintf(to, "; `%s` is the one that fails", at);
  else if (at[0])
    fprintf(to, "; %s", at);
  fputs("\n\n```\n", to);
  for (int i = 0; r->plan && i < r->plan->count; i++) {
    pf_step_print(&r->plan->step[i], r->plan, row, sizeof row);
    fprintf(to, "%s %s\n", strcmp(r->plan->step[i].name, at) ? " " : ">", row);
  }
  fputs("```\n", to);
}

/* What a program in C says of how it is compiled, without how it is run. */
static void print_compilation(const char *text, FILE *to)
{
  const char *line = strstr(text, "cc -std"), *end = line ? strstr(line, " && ./case */") : NULL;
  if (end)
    fprintf(to, "    %.*s\n", (int)(end - line), line);
}

/* Whose fault is in the compiled graph asks for that one. */
static const char *pytorch_start(const pf_bundle *b)
{
  const char *engine = b->result->engine->name;
  return strncmp(engine, "inductor", strlen("inductor")) ? programs[PF_EMIT_PYTORCH].start
                                                         : "python3 with_pytorch.py inductor";
}

static void print_programs(const pf_bundle *b, FILE *to)
{
  fputs("\n## Reproduce\n\n    ", to);
  pf_variables_print(b->environment, false, to);
  pf_settings_command(b->settings, b->result, NULL, PF_BUNDLE_CASE, to);
  fputs("\n\nWithout precfuzz", to);
  if (*b->environment) {
    fputs(", by programs that set ", to);
    pf_variables_print(b->environment, true, to);
    fputs("where it is not set", to);
  }
  fputs(" (Python asks its own libraries):\n\n", to);
  for (int t = 0; t < PF_EMIT_TARGETS; t++) {
    if (!b->program[t].text)
      continue;
    if (t == PF_EMIT_C)
      print_compilation(b->program[t].text, to);
    fprintf(to, "    %s\n", t == PF_EMIT_PYTORCH ? pytorch_start(b) : programs[t].start);
  }
  for (int t = 0; t < PF_EMIT_TARGETS; t++)
    if (!b->program[t].text)
      fprintf(to, "\nNo `%s`: %s.\n", programs[t].file, b->program[t].why);
}

/* Who maintains the library may have no other file than the report. */
static void print_source(const pf_bundle *b, FILE *to)
{
  const char *text = b->program[PF_EMIT_C].text;
  if (text && b->program[PF_EMIT_C].size <= LONG_SOURCE)
    fprintf(to, "\n## %s\n\n```c\n%s```\n", programs[PF_EMIT_C].file, text);
}

void pf_bundle_report(const pf_bundle *b, FILE *to)
{
  print_title(b, to);
  print_what(b, to);
  print_programs(b, to);
  print_case(b, to);
  print_steps(b, to);
  if (b->result->said && b->result->said[0])
    fprintf(to, "\n## What it wrote to standard error\n\n```\n%s\n```\n", b->result->said);
  fputs("\n## Where it was seen\n\n", to);
  pf_machine_report(b, to);
  print_source(b, to);
}

/* --- facts --------------------------------------------------------------------------------- */

static json_t *case_text(const pf_case *c)
{
  pf_json_print p;
  if (!pf_json_print_start(&p))
    return NULL;
  pf_text_print(c, p.to);
  return pf_json_print_end(&p);
}

/* One sentence, for lists of many findings. */
static json_t *message(const pf_bundle *b)
{
  const pf_result *r = b->result;
  const char *at = b->group->seen->finding.at;
  pf_json_print p;
  char where[128], allowed[320];
  if (!pf_json_print_start(&p))
    return NULL;
  fprintf(p.to, "%s: %s", r->engine->name, pf_triage_says(r->verdict));
  if (r->worst.element >= 0) {
    pf_print_index(&r->problem->shape, r->worst.element, where, sizeof where);
    pf_set_print(&r->worst.allowed.set, allowed, sizeof allowed);
    fprintf(p.to, ": out%s is %.9g (%a), allowed %s", where, r->worst.got, r->worst.got,
            allowed[0] ? allowed : "nothing");
    if (!r->worst.special)
      fprintf(p.to, ", exactly %.9g (%a)", r->worst.exact, r->worst.exact);
  }
  if (at[0])
    fprintf(p.to, "; %s%s", r->plan && r->verdict != PF_VERDICT_DIED ? "step " : "", at);
  return pf_json_print_end(&p);
}

json_t *pf_bundle_facts(const pf_bundle *b)
{
  const pf_json_place where = {.file = PF_BUNDLE_CASE};
  const pf_finding *f = &b->group->seen->finding;
  const pf_shown *after = &b->minimized->after;
  json_t *o = json_object(), *version = json_object();
  pf_json_set(&version, "version", json_string(PF_VERSION));
  pf_json_set(&version, "schema", json_integer(PF_JSON_SCHEMA));
  pf_json_set(&o, "precfuzz", version);
  pf_json_set(&o, "name", json_string(b->group->name));
  pf_json_set(&o, "signature", pf_json_text(f->signature));
  pf_json_set(&o, "at", pf_json_text(f->at));
  pf_json_set(&o, "verdict", json_string(pf_verdict_name(b->result->verdict)));
  pf_json_set(&o, "engine", pf_json_text(b->result->engine->name));
  pf_json_set(&o, "message", message(b));
  pf_json_set(&o, "case", case_text(b->result->problem->what));
  pf_json_set(&o, "shows", json_pack("{s:i, s:i}", "times", after->times, "tries", after->tries));
  pf_json_set(&o, "finished", json_boolean(b->minimized->now.finished));
  pf_json_set(&o, "result", pf_json_result(b->settings, b->result, &where, NULL));
  pf_json_set(&o, "machine", pf_machine_facts(b->result->engine,
                                              b->settings->session.options.opening.threads,
                                              b->environment));
  return o;
}
