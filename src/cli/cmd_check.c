/* precfuzz check: cases from files, judged. */
#include "json.h"

enum { HEADING = 160 };  /* characters of a case's text above its results */

typedef struct pf_check_command {
  pf_settings settings;
  pf_form form;
  bool quiet, table_wanted, json_wanted;
  pf_json json;
  pf_paths paths;
  pf_counts counts;
  pf_table *table;
  int code;
  /* of the file in hand */
  const char *path;
  const pf_case_file *file;
  bool headed;
} pf_check_command;

static const struct argp_option options[] = {
  {.name = "quiet", .key = 'q', .doc = "Only findings and the summary", .group = 2},
  {.name = "table", .key = 't', .group = 2,
   .doc = "No lines but one table of how far the results of each strategy lie from the exact ones; "
          "under --rule graph only of those that stray from what their graph promises"},
  {0}
};

static const char doc[] =
    "Runs the cases in files on engines and judges every result.\v"
    "A folder stands for the files in it, - for standard input.  There is a line for each engine "
    "and strategy: the verdict, and what it rests on.  A finding also shows its worst element, its "
    "signature and the command that shows it again.\n\n"
    "Exit status: 0 no finding, 1 findings, 2 a file or an option is wrong, 3 the machinery "
    "failed.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_check_command *c = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &c->settings;
    state->child_inputs[1] = &c->form;
    state->child_inputs[2] = &c->json_wanted;
    return 0;
  case 'q': c->quiet = true; return 0;
  case 't': c->table_wanted = true; return 0;
  case ARGP_KEY_ARG: c->code = pf_cli_worse(c->code, pf_paths_add(&c->paths, arg)); return 0;
  case ARGP_KEY_NO_ARGS: argp_error(state, "FILE is missing"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* --- results ------------------------------------------------------------------------------- */

static void print_heading(pf_check_command *c, const pf_result *r)
{
  if (!c->headed) {
    printf("%s: ", c->path);
    pf_cli_print_case(r->problem->what, HEADING, stdout);
    putchar('\n');
    pf_cli_print_origin(r->problem->what, stdout);
  }
  c->headed = true;
}

static const char *form_option(const pf_check_command *c)
{
  return c->form ? pf_form_name(c->form) : NULL;
}

static void print_result(pf_check_command *c, const pf_result *r, bool finding,
                         const pf_regression *known)
{
  char signature[PF_SIGNATURE_TEXT];
  print_heading(c, r);
  pf_report_line(r, stdout);
  if (!finding)
    return;
  if (known) {
    pf_cli_print_known(known, stdout);
    return;
  }
  pf_signature(r, signature, sizeof signature);
  pf_report_worst(r, stdout);
  printf("    signature %s\n", signature);
  pf_settings_print_command(&c->settings, r, form_option(c), c->path, stdout);
}

static void put_result(pf_check_command *c, const pf_result *r, const pf_regression *known)
{
  const pf_json_place where = {
    .file = c->path, .form = form_option(c), .index = c->counts.cases - 1};
  if (!c->headed) {
    pf_json_open(&c->json, NULL, '{');
    pf_json_put_file(&c->json, c->file, c->path);
    pf_json_open(&c->json, "results", '[');
  }
  c->headed = true;
  pf_json_put(&c->json, NULL, pf_json_result(&c->settings, r, &where, known));
}

static void tell_result(pf_check_command *c, const pf_result *r, const pf_regression *known)
{
  const bool finding = !r->machinery && pf_verdict_is_finding(r->verdict);
  if (c->quiet && (!finding || known))
    return;
  if (c->json_wanted)
    put_result(c, r, known);
  else
    print_result(c, r, finding, known);
}

static void on_result(void *user, const pf_result *r)
{
  pf_check_command *c = user;
  const pf_regression *known = pf_settings_know(&c->settings, r);
  if (pf_counts_add(&c->counts, r, known != NULL))
    c->code = pf_cli_worse(c->code, PF_EXIT_FINDING);
  if (c->table)
    pf_table_add(c->table, r);
  else
    tell_result(c, r, known);
  if (r->machinery)
    c->code = pf_cli_fail(PF_EXIT_MACHINERY, "%s: %s: %s: %s", c->path, r->engine->name,
                          r->strategy, r->why ? r->why : pf_status_name(r->machinery));
}

static pf_status examine(pf_check_command *c, const pf_case *what)
{
  pf_session *s = &c->settings.session;
  c->counts.cases++;
  if (c->table)
    pf_table_start(c->table);
  const pf_status status = pf_session_examine(s, what, on_result, c);
  return status || !c->table ? status : pf_table_finish(c->table, s, c->path);
}

static int check_file(pf_check_command *c, const char *path)
{
  pf_session *s = &c->settings.session;
  pf_case_file f;
  c->path = path;
  c->file = &f;
  c->headed = false;
  pf_arena_reset(&s->cases);
  int code = pf_case_file_read(path, c->form, &s->cases, &f);
  if (!code)
    code = pf_settings_check_rows(&c->settings, &f.what, f.file.name);
  if (!code && examine(c, &f.what))
    code = pf_cli_fail(PF_EXIT_MACHINERY, "%s: out of memory", f.file.name);
  if (c->json_wanted && c->headed) {
    pf_json_close(&c->json);
    pf_json_close(&c->json);
  }
  pf_case_file_free(&f);
  return code;
}

static void print_summary(const pf_check_command *c)
{
  if (c->table)
    pf_table_print(c->table, &c->settings, stdout);
  pf_counts_print(&c->counts, stdout);
  pf_report_rule(&c->settings.session.options.rule, stdout);
}

static int check(pf_check_command *c)
{
  const int code = pf_settings_open(&c->settings);
  if (code)
    return code;
  if (c->table_wanted && c->settings.session.options.rule.kind == PF_RULE_AGREE)
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "--table: rule agree compares pairs; the table is of "
                                          "contract or graph");
  c->settings.session.options.measure = !c->table_wanted;
  c->table = c->table_wanted ? pf_table_new() : NULL;
  if (c->table_wanted && !c->table)
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  if (c->json_wanted) {
    pf_json_start(&c->json, "check", false);
    pf_json_open(&c->json, "cases", '[');
  }
  for (size_t i = 0; i < c->paths.count && pf_cli_output_ok(); i++) {
    const int failed = check_file(c, c->paths.path[i]);
    c->code = pf_cli_worse(c->code, failed);
  }
  c->code = pf_settings_differences(&c->settings, c->code);
  if (c->json_wanted)
    return pf_json_judged(&c->json, &c->settings, &c->counts, c->table, c->code);
  print_summary(c);
  return c->code;
}

int pf_cmd_check(int argc, char **argv)
{
  static const struct argp_child children[] = {
    {.argp = &pf_settings_argp}, {.argp = &pf_form_argp}, {.argp = &pf_json_argp}, {0}};
  static const struct argp argp = {
    .options = options, .parser = parse, .args_doc = "FILE...", .doc = doc, .children = children};
  pf_check_command c = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &c);
  const int checked = check(&c), code = pf_cli_worse(c.code, checked);
  pf_table_free(c.table);
  pf_settings_close(&c.settings);
  pf_paths_free(&c.paths);
  return code;
}
