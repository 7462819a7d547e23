/* precfuzz strategies, precfuzz engines: what there is. */
#include "cli.h"

#include <ctype.h>
#include <string.h>

enum { WIDTH = 100, INDENT = 6 };  /* columns */

/* --- strategies ---------------------------------------------------------------------------- */

/* A row's text, broken between steps; it can be given to --strategy as it stands. */
static void print_steps(const char *text)
{
  int column = 0;
  while (*text) {
    const char *end = strchr(text, ')');
    const int length = end ? (int)(end + 1 - text) : (int)strlen(text);
    if (column && column + 2 + length > WIDTH) {
      putchar('\n');
      column = 0;
    }
    column += printf("%*s%.*s", column ? 2 : INDENT, "", length, text);
    text += length;
    while (isspace((unsigned char)*text))
      text++;
  }
  putchar('\n');
}

static void print_graph(pf_graph g)
{
  const pf_graph_info *info = pf_graph_of(g);
  printf("%s: %s\n", info->name, info->torch);
  for (const pf_row *r = pf_rows; r->text; r++)
    if (r->graph == g) {
      printf("  %-18s %s%s%s\n", r->strategy, r->note,
             strcmp(r->strategy, info->promises) ? "" : " (what the graph promises)",
             r->by_name ? " (by name only)" : "");
      print_steps(r->text);
    }
}

static error_t parse_graph(int key, char *arg, struct argp_state *state)
{
  pf_graph *g = state->input;
  if (key != ARGP_KEY_ARG)
    return ARGP_ERR_UNKNOWN;
  if (*g != PF_GRAPH_COUNT)
    argp_error(state, "one GRAPH, or none for all");
  if (!pf_graph_find(arg, strlen(arg), g))
    argp_error(state, "no graph is called '%s'", arg);
  return 0;
}

int pf_cmd_strategies(int argc, char **argv)
{
  static const struct argp argp = {
    .parser = parse_graph, .args_doc = "[GRAPH]",
    .doc = "Lists the strategies of a graph, or of all: the rows, as --strategy reads them.\v"
           "in is the promotion of the dtypes of x and y, result that of the whole graph; +f32 "
           "promotes with f32.  A row with a stated order fixes the bits."};
  pf_graph chosen = PF_GRAPH_COUNT;
  argp_parse(&argp, argc, argv, 0, NULL, &chosen);
  for (int g = 0; g < PF_GRAPH_COUNT; g++)
    if (chosen == PF_GRAPH_COUNT || chosen == (pf_graph)g) {
      if (g && chosen == PF_GRAPH_COUNT)
        putchar('\n');
      print_graph((pf_graph)g);
    }
  return PF_EXIT_CLEAN;
}

/* --- engines ------------------------------------------------------------------------------- */

static void print_engines(bool listed)
{
  for (const pf_engine *const *e = pf_engines; *e; e++) {
    char order[48];
    if ((*e)->listed != listed)
      continue;
    pf_summation_print(&(*e)->sum, order, sizeof order);
    printf("  %-24s %-18s %s\n", (*e)->name, order, (*e)->note);
  }
}

static error_t parse_engine(int key, char *arg, struct argp_state *state)
{
  int *code = state->input;
  if (key == ARGP_KEY_ARG)
    *code = pf_cli_worse(*code, pf_cli_print_foreign(arg));
  return key == ARGP_KEY_ARG ? 0 : ARGP_ERR_UNKNOWN;
}

int pf_cmd_engines(int argc, char **argv)
{
  static const struct argp argp = {
    .parser = parse_engine, .args_doc = "[ENGINE...]",
    .doc = "Lists the engines: name, stated order of summation, what it is; of a library, or of an "
           "ENGINE that is named (./libmine.so), version and dtypes.\v"
           "A name up to its ':' stands for the whole family.  Where the order is 'any' a result "
           "is judged by what every order may give."};
  int code = PF_EXIT_CLEAN;
  argp_parse(&argp, argc, argv, 0, NULL, &code);
  if (argc > 1)
    return code;
  puts("taken where nothing is said:");
  print_engines(true);
  puts("\ntaken by name only:");
  print_engines(false);
  return pf_cli_print_adapters();
}
