/* precfuzz explain: which step of which strategy lost the precision. */
#include "json.h"

#include <inttypes.h>
#include <stdlib.h>

enum { WIDTH = 100, NUMBERS = 40, HEADING = 320 };  /* columns */

/* What is kept of a row until the table. */
typedef struct pf_explained {
  const pf_result *result;  /* lives until the next examination, but for its problem */
  bool known;               /* why is filled in */
  pf_explanation why;
} pf_explained;

typedef struct pf_explain_command {
  pf_settings settings;
  pf_form form;
  bool json_wanted;
  pf_json json;
  const char *path;
  int code;
  pf_shape shape;
  bool exact_known;
  pf_exact_results exact;
  const char *no_exact;    /* why there are none */
  int rows;
  pf_explained row[PF_MAX_STRATEGIES];
  pf_counts counts;
} pf_explain_command;

static const char doc[] =
    "Shows each strategy of the case's graph as PyTorch would print it, a step a line, with the "
    "error that the step added; then the error of each strategy, and the worst element.\v"
    "What a step adds is what it computed minus the exact result of the same operation on what was "
    "computed before it; what a cast of x or y adds is how far it alone moves the exact sums.  "
    "Errors are told for the element where they are the greatest share of S, the sum of the "
    "magnitudes of the element's terms, in ulp of the result's format at the exact result.\n\n"
    "Runs on reference:forward unless --engine says otherwise.  Ends with the findings under "
    "--rule; exit status as that of precfuzz check.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_explain_command *c = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &c->settings;
    state->child_inputs[1] = &c->form;
    state->child_inputs[2] = &c->json_wanted;
    return 0;
  case ARGP_KEY_ARG:
    if (c->path)
      argp_error(state, "one FILE at a time");
    c->path = arg;
    return 0;
  case ARGP_KEY_NO_ARGS: argp_error(state, "FILE is missing"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* --- steps --------------------------------------------------------------------------------- */

static void print_numbers(const pf_worst_error *w)
{
  if (w->element < 0) {
    printf("  %8s %-10s %8s %7s  ", "-", "", "-", "-");
  } else if (w->error == 0) {
    printf("  %8d %-10s %8d %7d  ", 0, "", 0, 0);
  } else {
    char hex[32];
    snprintf(hex, sizeof hex, "%.2a", w->error);
    printf("  %8.3g %-10s %8.3g %7.1e  ", w->error, hex, w->ulps, w->share);
  }
}

/* A step, and behind it how it rounds, or below it where the line would be too long. */
static void print_step_text(const pf_explain_command *c, const pf_plan *plan, int step,
                            bool largest)
{
  char *text = NULL, *rounding = NULL;
  size_t size, more;
  FILE *to = open_memstream(&text, &size);
  if (to) {
    pf_torch_print_step(c->row[c->rows - 1].result->problem->what, plan, step, to);
    fclose(to);
  }
  to = open_memstream(&rounding, &more);
  if (to) {
    pf_torch_print_rounding(plan, step, to);
    fclose(to);
  }
  const bool fits = text && rounding && NUMBERS + size + 5 + more <= WIDTH;
  printf("%s", text ? text : "");
  if (!fits)
    printf("\n%*s", NUMBERS, "");
  printf("  %s %s\n", largest ? "<-" : "#", rounding ? rounding : "");
  free(text);
  free(rounding);
}

static void print_special(const pf_explain_command *c, const pf_worst_error *w, const double *got)
{
  char where[128];
  if (!w->special)
    return;
  pf_print_index(&c->shape, w->first_special, where, sizeof where);
  printf("%*s%" PRId64 " element%s not finite and left out; first out%s: %g\n", NUMBERS, "",
         w->special, w->special == 1 ? "" : "s", where, got[w->first_special]);
}

static void print_steps(const pf_explain_command *c, const pf_explained *e)
{
  const pf_plan *plan = e->result->plan;
  printf("  %8s %-10s %8s %7s  %s\n", "adds", "", "ulp", "of S", "step");
  for (int i = 0; i < plan->count; i++) {
    print_numbers(&e->why.step[i]);
    print_step_text(c, plan, i, i == e->why.largest);
    if (!e->why.known[i])
      printf("%*sthe engine ran it in one call with others\n", NUMBERS, "");
    else if (e->result->run->step[i])
      print_special(c, &e->why.step[i], e->result->run->step[i]);
  }
}

static const char *note_of(const pf_result *r)
{
  const pf_row *row = pf_row_find(r->problem->what->graph, r->strategy);
  return row ? row->note : "given as text";
}

/* An earlier row with the same steps. */
static const char *same_as(const pf_explain_command *c, const pf_result *r)
{
  for (int i = 0; i < c->rows - 1; i++)
    if (c->row[i].result->plan && pf_plan_equal(c->row[i].result->plan, r->plan))
      return c->row[i].result->strategy;
  return NULL;
}

static pf_status find_exact(pf_explain_command *c, const pf_problem *p)
{
  pf_session *s = &c->settings.session;
  if (c->exact_known || c->no_exact)
    return PF_OK;
  const pf_status status =
      pf_exact_results_of(p, &s->oracle, &s->work, &c->exact, &c->no_exact);
  c->exact_known = status == PF_OK;
  return status == PF_UNSUPPORTED ? PF_OK : status;
}

static pf_status measure(pf_explain_command *c, pf_explained *e)
{
  pf_session *s = &c->settings.session;
  pf_status status = find_exact(c, e->result->problem);
  if (!status && !c->no_exact)
    status = pf_explain(e->result, &c->exact, &s->oracle, &s->work, &e->why);
  e->known = !status && !c->no_exact;
  return status;
}

static void print_explained(const pf_explain_command *c, const pf_explained *e)
{
  const pf_result *r = e->result;
  const char *same = e->known ? same_as(c, r) : NULL;
  printf("\n%s: %s\n", r->strategy, note_of(r));
  if (!r->run)
    printf("  not run: %s\n", r->why ? r->why : pf_status_name(r->machinery));
  else if (c->no_exact)
    printf("  no exact result: %s\n", c->no_exact);
  else if (same)
    printf("  same steps as %s\n", same);
  else
    print_steps(c, e);
}

static void explain_row(void *user, const pf_result *r)
{
  pf_explain_command *c = user;
  if (c->rows == PF_MAX_STRATEGIES)
    return;
  pf_explained *e = &c->row[c->rows++];
  e->result = r;
  c->shape = r->problem->shape;
  if (r->run && measure(c, e))
    c->code = pf_cli_fail(PF_EXIT_MACHINERY, "%s: out of memory", c->path);
  else if (c->json_wanted)
    pf_json_put(&c->json, NULL, pf_json_explained(r, e->known ? &e->why : NULL, note_of(r),
                                                  e->known ? same_as(c, r) : NULL));
  else
    print_explained(c, e);
  if (r->machinery)
    c->code = pf_cli_fail(PF_EXIT_MACHINERY, "%s: %s: %s: %s", c->path, r->engine->name,
                          r->strategy, r->why ? r->why : pf_status_name(r->machinery));
}

/* --- rows ---------------------------------------------------------------------------------- */

static void print_row(const pf_explain_command *c, const pf_explained *e)
{
  const pf_worst_error *w = &e->why.total;
  const pf_plan *plan = e->result->plan;
  printf("%-20s", e->result->strategy);
  print_numbers(w);
  if (e->why.largest >= 0) {
    printf("%s, ", plan->step[e->why.largest].name);
    pf_torch_print_rounding(plan, e->why.largest, stdout);
  } else {
    printf("%s", w->element < 0 ? "" : "none adds anything");
  }
  putchar('\n');
  print_special(c, w, e->result->run->got);
}

/* The row whose result strays farthest; NULL where none was measured. */
static const pf_explained *find_worst(const pf_explain_command *c)
{
  const pf_explained *worst = NULL;
  for (int i = 0; i < c->rows; i++) {
    const pf_explained *e = &c->row[i];
    if (e->known && e->why.total.element >= 0 &&
        (!worst || e->why.total.share > worst->why.total.share))
      worst = e;
  }
  return worst;
}

static void print_worst(const pf_explain_command *c, const pf_explained *e)
{
  const pf_worst_error *w = &e->why.total;
  const double got = e->result->run->got[w->element], exact = c->exact.value[w->element];
  char where[128], allowed[320];
  pf_print_index(&c->shape, w->element, where, sizeof where);
  pf_set_print(&e->why.allowed.set, allowed, sizeof allowed);
  printf("\nworst element: out%s of %s\n", where, e->result->strategy);
  printf("    got       %.9g (%a)\n    exact     %.9g (%a)\n", got, got, exact, exact);
  printf("    allowed   %s by its own row\n", allowed);
  printf("    error     %.6g (%a) = %.4g ulp = %.4g of S\n", w->error, w->error, w->ulps, w->share);
  printf("    S         %.9g (%a)\n", c->exact.magnitude[w->element],
         c->exact.magnitude[w->element]);
}

static void print_rows(const pf_explain_command *c)
{
  const pf_explained *worst = find_worst(c);
  if (c->exact_known)
    printf("\n%-20s  %8s %-10s %8s %7s  %s\n", "strategy", "error", "", "ulp", "of S",
           "largest step");
  for (int i = 0; i < c->rows; i++)
    if (c->row[i].known)
      print_row(c, &c->row[i]);
  if (worst)
    print_worst(c, worst);
}

static void put_rows(pf_explain_command *c)
{
  const pf_explained *e = find_worst(c);
  pf_json_close(&c->json);
  pf_json_put(&c->json, "no_exact", pf_json_text(c->no_exact));
  pf_json_put(&c->json, "worst", e ? pf_json_explained_worst(e->result, &e->why, &c->exact,
                                                             &c->shape)
                                   : json_null());
  pf_json_open(&c->json, "results", '[');
}

/* --- verdicts ------------------------------------------------------------------------------ */

static void print_verdict(const pf_result *r, const pf_regression *known)
{
  char signature[PF_SIGNATURE_TEXT];
  if (r->machinery || !pf_verdict_is_finding(r->verdict))
    return;
  putchar('\n');
  pf_report_line(r, stdout);
  pf_report_worst(r, stdout);
  pf_signature(r, signature, sizeof signature);
  printf("    signature %s\n", signature);
  if (known)
    pf_cli_print_known(known, stdout);
}

static void on_verdict(void *user, const pf_result *r)
{
  pf_explain_command *c = user;
  const pf_json_place where = {.file = c->path, .form = c->form ? pf_form_name(c->form) : NULL};
  const pf_regression *known = pf_settings_know(&c->settings, r);
  if (pf_counts_add(&c->counts, r, known != NULL))
    c->code = pf_cli_worse(c->code, PF_EXIT_FINDING);
  if (c->json_wanted)
    pf_json_put(&c->json, NULL, pf_json_result(&c->settings, r, &where, known));
  else
    print_verdict(r, known);
}

static void print_case(const pf_explain_command *c, const pf_case *what, const pf_engine *engine)
{
  const pf_options *o = &c->settings.session.options;
  const pf_shape s = pf_case_shape(what);
  printf("%s: ", c->path);
  pf_cli_print_case(what, HEADING, stdout);
  printf("\n%s\nB %" PRId64 ", M %" PRId64 ", N %" PRId64 ", K %" PRId64 ", on %s",
         pf_graph_of(what->graph)->torch, s.batches, s.m, s.n, s.k, engine->name);
  if (o->engine_count > 1)
    printf(", the first of %d engines", o->engine_count);
  putchar('\n');
  pf_cli_print_origin(what, stdout);
}

static void put_case(pf_explain_command *c, const pf_case_file *f, const pf_engine *engine)
{
  pf_json_start(&c->json, "explain", false);
  pf_json_put_file(&c->json, f, c->path);
  pf_json_put(&c->json, "engine", pf_json_text(engine->name));
  pf_json_open(&c->json, "strategies", '[');
}

static void print_summary(const pf_explain_command *c)
{
  char rule[PF_RULE_TEXT];
  pf_rule_print(&c->settings.session.options.rule, rule, sizeof rule);
  printf("\nrule %s: ", rule);
  pf_counts_print(&c->counts, stdout);
}

static int put_summary(pf_explain_command *c)
{
  pf_json_close(&c->json);
  pf_json_put(&c->json, "rule", pf_json_rule(&c->settings.session.options.rule));
  pf_json_put(&c->json, "counts", pf_json_counts(&c->counts));
  pf_json_put(&c->json, "exit_status", json_integer(c->code));
  return pf_json_end(&c->json, c->code);
}

/* Two examinations: one engine's rows by their steps, then what was asked for. */
static int explain(pf_explain_command *c, const pf_case_file *f)
{
  pf_session *s = &c->settings.session;
  if (!c->settings.engines_chosen)
    pf_options_engines(&s->options, "reference:forward", NULL);
  if (c->json_wanted)
    put_case(c, f, s->options.engine[0]);
  else
    print_case(c, &f->what, s->options.engine[0]);
  const pf_options wanted = s->options;
  s->options.engine_count = 1;
  s->options.rule = (pf_rule){.kind = PF_RULE_CONTRACT};
  pf_status status = pf_session_examine(s, &f->what, explain_row, c);
  s->options = wanted;
  if (!status) {
    if (c->json_wanted)
      put_rows(c);
    else
      print_rows(c);
    status = pf_session_examine(s, &f->what, on_verdict, c);
  }
  if (status)
    return pf_cli_fail(PF_EXIT_MACHINERY, "%s: out of memory", c->path);
  c->counts.cases = 1;
  c->code = pf_settings_differences(&c->settings, c->code);
  if (c->json_wanted)
    return put_summary(c);
  print_summary(c);
  return c->code;
}

static int run(pf_explain_command *c)
{
  pf_case_file f = {0};
  int code = pf_settings_open(&c->settings);
  if (!code)
    code = pf_case_file_read(c->path, c->form, &c->settings.session.cases, &f);
  if (!code)
    code = pf_settings_check_rows(&c->settings, &f.what, f.file.name);
  if (!code)
    code = explain(c, &f);
  pf_case_file_free(&f);
  return code;
}

int pf_cmd_explain(int argc, char **argv)
{
  static const struct argp_child children[] = {
    {.argp = &pf_settings_argp}, {.argp = &pf_form_argp}, {.argp = &pf_json_argp}, {0}};
  static const struct argp argp = {
    .parser = parse, .args_doc = "FILE", .doc = doc, .children = children};
  pf_explain_command c = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &c);
  const int code = run(&c);
  pf_settings_close(&c.settings);
  return code;
}
