/* precfuzz judge: results that were computed elsewhere, for cases. */
#include "judge.h"

#include <stdlib.h>

static const struct argp_option options[] = {
  {.name = "got", .key = 'g', .arg = "OUT",
   .doc = "Where the results are: a .npy or .safetensors file, or, for several cases, a folder "
          "that has NAME.safetensors or NAME.npy for a case in NAME.case.  Default: in the case's "
          "own file, as they may be in a safetensors file", .group = 2},
  {.name = "tensor", .key = 'n', .arg = "NAME",
   .doc = "Only this tensor of a safetensors file, whatever it is called.  Default: all but the "
          "operands"},
  {.name = "quiet", .key = 'q', .doc = "Only findings and the summary"},
  {.name = "table", .key = 't',
   .doc = "No lines but one table of how far the results of each strategy lie from the exact ones"},
  {0}
};

static const char doc[] =
    "Judges results that were computed elsewhere, on a GPU say.\v"
    "A case is a file as check takes it, or in safetensors as export writes it, or a folder of "
    "them: those that its index.json lists, where it has one.\n\n"
    "A tensor called STRATEGY or GRAPH.STRATEGY is held against that row; one called out, and an "
    "array of NumPy's, may follow any row of the graph: then only a result that no row gives is a "
    "finding, and the report says which rows it fits.  --strategy names the row, or rows to try, "
    "whatever the name.  Tensors called x, y, c, bias, scale_x or scale_y must be the case's, bit "
    "for bit.  Of raw words in .npy (|V2 or <u2 for bf16) the row says what they are.\n\n"
    "Exit status: 0 no finding, 1 findings, 2 a file or an option is wrong, or no row has the "
    "result's dtype, 3 the machinery failed.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_judge_command *c = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &c->settings;
    state->child_inputs[1] = &c->choice.form;
    state->child_inputs[2] = &c->json_wanted;
    return 0;
  case 'g': c->got = arg; return 0;
  case 'n': c->choice.tensor = arg; return 0;
  case 'q': c->quiet = true; return 0;
  case 't': c->table_wanted = true; return 0;
  case ARGP_KEY_ARG: c->code = pf_cli_worse(c->code, pf_judge_list_add(&c->list, arg)); return 0;
  case ARGP_KEY_NO_ARGS: argp_error(state, "FILE is missing"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static int judge_case(pf_judge_command *c, const pf_judge_item *item)
{
  pf_judge_case in;
  pf_arena_reset(&c->settings.session.cases);
  int code = pf_judge_case_open(item, &c->choice, &c->settings.session.cases, &in);
  c->counts.cases += !code;
  for (int g = 0; g < PF_GRAPH_COUNT && !code; g++) {
    const int failed = pf_judge_graph(c, &in, (pf_graph)g);
    c->code = pf_cli_worse(c->code, failed);
  }
  pf_judge_case_close(&in);
  return code;
}

static int open_command(pf_judge_command *c)
{
  pf_session *s = &c->settings.session;
  unsetenv("PRECFUZZ_ENGINES");  /* nobody computes here */
  unsetenv("PRECFUZZ_ENGINES_FILE");
  int code = pf_settings_open(&c->settings);
  if (!code && s->options.rule.kind == PF_RULE_AGREE)
    code = pf_cli_fail(PF_EXIT_BAD_INPUT, "--rule agree: holds two results against each other; "
                                          "judge has one");
  if (!code && c->got)
    code = pf_judge_list_pair(&c->list, c->got);
  if (code)
    return code;
  s->options.engine_count = 0;  /* each case brings its own */
  s->options.measure = !c->table_wanted && !c->quiet;
  s->options.no_models = true;
  c->closer.oracle = s->oracle;
  c->choice.options = &s->options;
  c->table = c->table_wanted ? pf_table_new() : NULL;
  if (c->table_wanted && !c->table)
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  return PF_EXIT_CLEAN;
}

static void print_summary(const pf_judge_command *c)
{
  if (c->table)
    pf_table_print(c->table, &c->settings, stdout);
  pf_counts_print(&c->counts, stdout);
  pf_report_rule(&c->settings.session.options.rule, stdout);
}

static int judge(pf_judge_command *c)
{
  const int code = open_command(c);
  if (code)
    return code;
  if (c->json_wanted) {
    pf_json_start(&c->json, "judge", false);
    pf_json_open(&c->json, "cases", '[');
  }
  for (size_t i = 0; i < c->list.count && pf_cli_output_ok(); i++) {
    const int failed = judge_case(c, &c->list.item[i]);
    c->code = pf_cli_worse(c->code, failed);
  }
  c->code = pf_settings_differences(&c->settings, c->code);
  if (c->json_wanted)
    return pf_json_judged(&c->json, &c->settings, &c->counts, c->table, c->code);
  print_summary(c);
  return c->code;
}

int pf_cmd_judge(int argc, char **argv)
{
  static const struct argp_child children[] = {
    {.argp = &pf_judging_argp}, {.argp = &pf_form_argp}, {.argp = &pf_json_argp}, {0}};
  static const struct argp argp = {
    .options = options, .parser = parse, .args_doc = "FILE...", .doc = doc, .children = children};
  pf_judge_command c = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &c);
  const int judged = judge(&c), code = pf_cli_worse(c.code, judged);
  pf_table_free(c.table);
  pf_session_free(&c.closer);
  pf_settings_close(&c.settings);
  pf_judge_list_free(&c.list);
  return code;
}
