/* precfuzz minimize: a case that shows a finding, made small and simple. */
#include "minimize_file.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "form_text.h"

typedef struct pf_minimize_command {
  pf_settings settings;
  pf_form form;
  pf_minimize_job job;
  const char *path;
} pf_minimize_command;

enum { KEY_LIMIT = 1100, KEY_SIGNATURE, HEADING = 320 /* characters of the file's case */ };

static const struct argp_option options[] = {
  {.name = "output", .key = 'o', .arg = "OUT", .group = 2,
   .doc = "Where the minimized case goes, as an archive: the best one so far at any time"},
  {.name = "time-limit", .key = KEY_LIMIT, .arg = "SECONDS",
   .doc = "End with the best case so far.  Default: no limit"},
  {.name = "signature", .key = KEY_SIGNATURE, .arg = "SIGNATURE",
   .doc = "The finding that is wanted, as its report has it; else the first that is not known"},
  {0}
};

static const char doc[] =
    "Makes the case in FILE smaller and simpler as long as it shows the same finding: the same "
    "signature, and the same step of the strategy that fails.\v"
    "FILE is a crash file of a fuzz target, an archive, a line of text, - standard input.  Sizes "
    "become smaller, layouts, alpha and beta plain, values 0, 1, powers of two or short, until no "
    "single such change still shows the finding.  The result is the same every time unless the "
    "engine's is not or the limit ends it.  Libraries run in children, so that they may die; one "
    "that hangs takes --timeout each time.  A finding that does not show every time is tried more "
    "often; how often it shows of 20 tries is told.\n\n"
    "Ctrl-C ends with the best case so far.\n\n"
    "Exit status: 0 OUT shows the finding, 2 FILE shows none or an option is wrong, 3 the "
    "machinery failed, or OUT could not be written (the case is printed all the same).";

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_minimize_command *c = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &c->settings;
    state->child_inputs[1] = &c->form;
    return 0;
  case 'o': c->job.output = arg; return 0;
  case KEY_LIMIT:
    c->job.seconds = (double)pf_cli_number(state, "time-limit", arg, 1, 1000000);
    return 0;
  case KEY_SIGNATURE: c->job.signature = arg; return 0;
  case ARGP_KEY_ARG:
    if (c->path)
      argp_error(state, "one FILE at a time");
    c->path = arg;
    return 0;
  case ARGP_KEY_END:
    if (!c->path)
      argp_error(state, "FILE is missing");
    if (!c->job.output)
      argp_error(state, "--output OUT is missing");
    if (!strcmp(c->job.output, "-"))
      argp_error(state, "--output: standard output takes the report, name a file");
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* --- the report ---------------------------------------------------------------------------- */

typedef struct pf_closer {
  const pf_minimize_command *command;
  const pf_finding *finding;
  bool shown;
} pf_closer;

static void print_result(void *user, const pf_result *r)
{
  pf_closer *c = user;
  char signature[PF_SIGNATURE_TEXT];
  if (c->shown || r->machinery || !pf_verdict_is_finding(r->verdict))
    return;
  pf_signature(r, signature, sizeof signature);
  if (strcmp(signature, c->finding->signature))
    return;
  c->shown = true;
  fputs("    ", stdout);
  pf_report_line(r, stdout);
  pf_report_worst(r, stdout);
  pf_settings_print_command(&c->command->settings, r, NULL, c->command->job.output, stdout);
}

static void print_shown(const char *label, const pf_shown *s)
{
  printf("    %-9s %d of %d tries\n", label, s->times, s->tries);
}

static void print_report(pf_minimize_command *c, const pf_case *was, const pf_minimized_file *m)
{
  pf_session *s = &c->settings.session;
  pf_closer closer = {c, &m->finding, false};
  printf("%s\n", m->finding.signature);
  if (m->finding.at[0])
    printf("    %-9s %s\n", "at", m->finding.at);
  printf("    %-9s ", "was");
  pf_cli_print_case(was, HEADING, stdout);
  printf("\n    %-9s ", "case");
  pf_text_print(&m->best, stdout);
  putchar('\n');
  s->options.no_models = false;
  if (pf_session_examine(s, &m->best, print_result, &closer))
    pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  if (m->before.times < m->before.tries)
    print_shown("showed", &m->before);
  if (m->foreign)
    print_shown("shows", &m->after);
  printf("    %-9s %" PRIu64 " candidates, %" PRIu64 " taken, %" PRIu64 " runs, %.1f s: %s\n",
         "minimized", m->now.candidates, m->now.taken, m->now.runs, m->seconds,
         m->now.finished     ? "no simpler one shows it"
         : pf_interrupted() ? "interrupted"
                             : "time is up");
}

static int run(pf_minimize_command *c)
{
  pf_case_file file = {0};
  pf_minimized_file m = {0};
  pf_arena keep = {0};
  pf_session *s = &c->settings.session;
  int code = pf_settings_open(&c->settings);
  if (!code)
    code = pf_case_file_read(c->path, c->form, &s->cases, &file);
  if (!code)
    code = pf_settings_check_rows(&c->settings, &file.what, file.file.name);
  if (!code)
    code = pf_minimize_file(&c->job, &file, &keep, &m);
  if (m.now.data)
    print_report(c, &file.what, &m);
  pf_case_file_free(&file);
  pf_arena_free(&keep);
  return code;
}

int pf_cmd_minimize(int argc, char **argv)
{
  static const struct argp_child children[] = {
    {.argp = &pf_settings_argp}, {.argp = &pf_form_argp}, {0}};
  static const struct argp argp = {.options = options, .parser = parse, .args_doc = "FILE",
                                   .doc = doc, .children = children};
  pf_minimize_command c = {.settings.isolate = true};
  c.job.settings = &c.settings;
  argp_parse(&argp, argc, argv, 0, NULL, &c);
  pf_interrupt_on(SIGTERM);
  const int code = run(&c);
  pf_settings_close(&c.settings);
  return code;
}
