/* precfuzz strategies, precfuzz engines: what there is. */
#include "json.h"

#include <ctype.h>
#include <string.h>

#include "engines/engines.h"

enum { WIDTH = 100, INDENT = 6 };  /* columns */

static const struct argp_child json_child[] = {{.argp = &pf_json_argp}, {0}};

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

static json_t *row_json(const pf_row *r)
{
  const bool promise = !strcmp(r->strategy, pf_graph_of(r->graph)->promises);
  return json_pack("{s:s, s:s, s:b, s:b, s:s}", "strategy", r->strategy, "note", r->note,
                   "promise", promise, "by_name", r->by_name, "row", r->text);
}

static void put_graph(pf_json *j, pf_graph g)
{
  const pf_graph_info *info = pf_graph_of(g);
  pf_json_open(j, NULL, '{');
  pf_json_put(j, "name", json_string(info->name));
  pf_json_put(j, "torch", json_string(info->torch));
  pf_json_open(j, "strategies", '[');
  for (const pf_row *r = pf_rows; r->text; r++)
    if (r->graph == g)
      pf_json_put(j, NULL, row_json(r));
  pf_json_close(j);
  pf_json_close(j);
}

typedef struct pf_strategies_command {
  pf_graph chosen;  /* PF_GRAPH_COUNT: all */
  bool json_wanted;
} pf_strategies_command;

static error_t parse_graph(int key, char *arg, struct argp_state *state)
{
  pf_strategies_command *c = state->input;
  switch (key) {
  case ARGP_KEY_INIT: state->child_inputs[0] = &c->json_wanted; return 0;
  case ARGP_KEY_ARG:
    if (c->chosen != PF_GRAPH_COUNT)
      argp_error(state, "one GRAPH, or none for all");
    if (!pf_graph_find(arg, strlen(arg), &c->chosen))
      argp_error(state, "no graph is called '%s'", arg);
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static void print_graphs(pf_graph chosen)
{
  for (int g = 0; g < PF_GRAPH_COUNT; g++)
    if (chosen == PF_GRAPH_COUNT || chosen == (pf_graph)g) {
      if (g && chosen == PF_GRAPH_COUNT)
        putchar('\n');
      print_graph((pf_graph)g);
    }
}

static int put_graphs(pf_graph chosen)
{
  pf_json j;
  pf_json_start(&j, "strategies", false);
  pf_json_open(&j, "graphs", '[');
  for (int g = 0; g < PF_GRAPH_COUNT; g++)
    if (chosen == PF_GRAPH_COUNT || chosen == (pf_graph)g)
      put_graph(&j, (pf_graph)g);
  pf_json_close(&j);
  return pf_json_end(&j, PF_EXIT_CLEAN);
}

int pf_cmd_strategies(int argc, char **argv)
{
  static const struct argp argp = {
    .parser = parse_graph, .args_doc = "[GRAPH]", .children = json_child,
    .doc = "Lists the strategies of a graph, or of all: the rows, as --strategy reads them.\v"
           "in is the promotion of the dtypes of x and y, result that of the whole graph; +f32 "
           "promotes with f32.  A row with a stated order fixes the bits."};
  pf_strategies_command c = {.chosen = PF_GRAPH_COUNT};
  argp_parse(&argp, argc, argv, 0, NULL, &c);
  if (c.json_wanted)
    return put_graphs(c.chosen);
  print_graphs(c.chosen);
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

static json_t *engine_json(const pf_engine *e)
{
  char order[48];
  pf_summation_print(&e->sum, order, sizeof order);
  return json_pack("{s:o, s:s, s:o, s:b}", "engine", pf_json_text(e->name), "order", order,
                   "note", pf_json_text(e->note), "listed", e->listed);
}

typedef struct pf_engines_command {
  bool json_wanted;
  const char *named[PF_MAX_ENGINES];
  int count;
} pf_engines_command;

/* Those that were named, or all libraries. */
static int each_library(const pf_engines_command *c, pf_json *j)
{
  int code = PF_EXIT_CLEAN;
  const char *spec;
  for (int i = 0; (spec = c->count ? i < c->count ? c->named[i] : NULL
                          : pf_adapters[i] ? pf_adapters[i]->name : NULL) != NULL; i++) {
    const int one = j ? pf_foreign_put(j, spec) : pf_foreign_print(spec);
    code = pf_cli_worse(code, one);
  }
  return code;
}

static int put_engines(const pf_engines_command *c)
{
  pf_json j;
  pf_json_start(&j, "engines", false);
  pf_json_open(&j, "engines", '[');
  for (const pf_engine *const *e = pf_engines; *e && !c->count; e++)
    pf_json_put(&j, NULL, engine_json(*e));
  pf_json_close(&j);
  pf_json_open(&j, "libraries", '[');
  const int code = each_library(c, &j);
  pf_json_close(&j);
  return pf_json_end(&j, code);
}

static error_t parse_engines(int key, char *arg, struct argp_state *state)
{
  pf_engines_command *c = state->input;
  switch (key) {
  case ARGP_KEY_INIT: state->child_inputs[0] = &c->json_wanted; return 0;
  case ARGP_KEY_ARG:
    if (c->count == PF_MAX_ENGINES)
      argp_error(state, "more than %d engines", PF_MAX_ENGINES);
    c->named[c->count++] = arg;
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

int pf_cmd_engines(int argc, char **argv)
{
  static const struct argp argp = {
    .parser = parse_engines, .children = json_child, .args_doc = "[ENGINE...]",
    .doc = "Lists the engines: name, stated order of summation, what it is; of a library, or of an "
           "ENGINE that is named (./libmine.so), version and dtypes.\v"
           "A name up to its ':' stands for the whole family.  Where the order is 'any' a result "
           "is judged by what every order may give."};
  pf_engines_command c = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &c);
  if (c.json_wanted)
    return put_engines(&c);
  if (c.count)
    return each_library(&c, NULL);
  puts("taken where nothing is said:");
  print_engines(true);
  puts("\ntaken by name only:");
  print_engines(false);
  if (*pf_adapters)
    puts("\nlibraries, taken by name; 'installed' takes all that are there:");
  return each_library(&c, NULL);
}
