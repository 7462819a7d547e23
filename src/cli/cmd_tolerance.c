/* precfuzz tolerance: how wide the enclosure is, and what other rules make of the same results. */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tolerance_table.h"

enum { WIDTH = 100, PROGRESS_NS = 250000000 };
#define MOST_CASES 1000000

typedef struct pf_tolerance_command {
  pf_settings settings;
  pf_tolerance_ask ask;
  const char *row;
  bool each_fault, json_wanted, progress;
  struct timespec shown;
} pf_tolerance_command;

/* --- options ------------------------------------------------------------------------------- */

enum { KEY_DTYPE = 256, KEY_GRAPH, KEY_ROW, KEY_FAULTS };

static const struct argp_option options[] = {
  {.name = "dtype", .key = KEY_DTYPE, .arg = "D", .doc = "Of the operands; default bf16"},
  {.name = "k", .key = 'k', .arg = "K", .doc = "Terms of each sum; default 1024"},
  {.name = "count", .key = 'n', .arg = "N",
   .doc = "Cases of each kind of data, of 8 x 8 elements; default 100"},
  {.name = "seed", .key = 'S', .arg = "S", .doc = "What the cases are drawn from; default 1"},
  {.name = "row", .key = KEY_ROW, .arg = "NAME|ROW",
   .doc = "A strategy (precfuzz strategies), or a row as text; default eager"},
  {.name = "graph", .key = KEY_GRAPH, .arg = "G", .doc = "Default matmul"},
  {.name = "faults", .key = KEY_FAULTS, .doc = "Also what each rule passes of each fault"},
  {0}
};

static const char doc[] =
    "Shows how far a correct result may lie from the exact one, and measures what the rules of "
    "other test suites are worth at this K.\v"
    "Correct results are those of the reference engine in all its orders of summation; faulty ones "
    "those of the planted faults (precfuzz engines), and of a last rounding toward zero, where "
    "they differ from the right ones.  Data are N(0, 1) and, apart, pairs along K that nearly "
    "cancel.  A tensor is rejected if the rule rejects it as a whole, which most do if they reject "
    "one of its elements.  Every rule is given the exact result as its reference.  A dash: the "
    "suite has no such rule for outputs of this dtype, or no fault showed.\n\n"
    "Exit status: 0, 1 if the contract rejected a correct result, 2 an option is wrong, 3 the "
    "machinery failed.";

static void parse_row(pf_tolerance_command *c, const char *arg)
{
  c->row = arg;
  c->ask.strategy = strchr(arg, '=') ? "given" : arg;
  c->ask.text = strchr(arg, '=') ? arg : NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_tolerance_command *c = state->input;
  pf_tolerance_ask *a = &c->ask;
  switch (key) {
  case ARGP_KEY_INIT: state->child_inputs[0] = &c->json_wanted; return 0;
  case KEY_DTYPE:
    if (!pf_dtype_find(arg, strlen(arg), &a->dtype))
      argp_error(state, "--dtype: there is no '%s'", arg);
    return 0;
  case KEY_GRAPH:
    if (!pf_graph_find(arg, strlen(arg), &a->graph))
      argp_error(state, "--graph: there is no '%s'", arg);
    return 0;
  case 'k': a->k = (int64_t)pf_cli_number(state, "k", arg, 1, PF_MAX_SIZE); return 0;
  case 'n': a->count = (int64_t)pf_cli_number(state, "count", arg, 1, MOST_CASES); return 0;
  case 'S': a->seed = pf_cli_number(state, "seed", arg, 0, UINT64_MAX); return 0;
  case KEY_ROW: parse_row(c, arg); return 0;
  case KEY_FAULTS: c->each_fault = true; return 0;
  case ARGP_KEY_ARG: argp_error(state, "'%s' is no option", arg); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static void show_progress(void *user, int64_t done, int64_t of)
{
  pf_tolerance_command *c = user;
  struct timespec now;
  if (!c->progress)
    return;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t since =
      (now.tv_sec - c->shown.tv_sec) * 1000000000 + now.tv_nsec - c->shown.tv_nsec;
  if (done < of && since < PROGRESS_NS)
    return;
  c->shown = now;
  if (done < of)
    fprintf(stderr, "\r\033[K%" PRId64 " of %" PRId64 " cases", done, of);
  else
    fputs("\r\033[K", stderr);
  fflush(stderr);
}

/* --- the tables ---------------------------------------------------------------------------- */

static const char *data_name(const pf_tolerance_data *d)
{
  return d->kind == PF_NORMAL ? "normal data" : "cancelling data";
}

/* In `width` columns; a dash where there is nothing to be a share of. */
static void print_share(const pf_share *s, bool covered, int width)
{
  if (covered && s->of)
    printf("%*.3g %%", width - 2, 100 * (double)s->hits / (double)s->of);
  else
    printf("%*s", width, "-");
}

static void print_head(const pf_tolerance_command *c, const pf_tolerance_table *t)
{
  char format[64];
  pf_format_print(&t->format, format, sizeof format);
  printf("graph %s, row %s; operands %s, output %s, K = %" PRId64 "\n%" PRId64
         " cases of %d x %d elements of each kind of data, seed %" PRIu64 "\n\n",
         pf_graph_of(c->ask.graph)->name, c->row, pf_dtype_of(c->ask.dtype)->name, format, c->ask.k,
         c->ask.count, PF_TABLE_SIDE, PF_TABLE_SIDE, c->ask.seed);
}

static void print_widths(const pf_tolerance_table *t)
{
  printf("%-40s %28s %28s\n%40s %18s %9s %18s %9s\n", "radius of the enclosure", "share of S",
         "ulp of the output", "", "median", "95 %", "median", "95 %");
  for (int i = 0; i < PF_TABLE_DATA; i++) {
    const pf_tolerance_data *d = &t->data[i];
    printf("%-40s %18.3g %9.3g %18.3g %9.3g\n", data_name(d), d->share_median, d->share_95,
           d->ulps_median, d->ulps_95);
  }
  putchar('\n');
}

static void print_limit(const pf_tolerance_table *t, int r, char *text, size_t size)
{
  const pf_rule *rule = &t->rule[r];
  snprintf(text, size, "-");
  if (r == 0)
    snprintf(text, size, "its enclosure");
  else if (t->covered[r] && pf_known_rules[r - 1].says)
    snprintf(text, size, "%s", pf_known_rules[r - 1].says);
  else if (t->covered[r] && rule->kind == PF_RULE_CLOSE && rule->rel == 0)
    snprintf(text, size, "abs:%.3g", rule->abs);
  else if (t->covered[r] && rule->kind == PF_RULE_ULP)
    snprintf(text, size, "equal to RN(v)");
  else if (t->covered[r])
    pf_rule_print(rule, text, size);
}

static void print_rules(const pf_tolerance_table *t)
{
  printf("%40s", "");
  for (int i = 0; i < PF_TABLE_DATA; i++)
    printf(" %28s", data_name(&t->data[i]));
  printf("\n%40s", "");
  for (int i = 0; i < PF_TABLE_DATA; i++)
    printf(" %18s %9s", "correct: rejected", "faults:");
  printf("\n%-13s %-26s", "rule", "limit");
  for (int i = 0; i < PF_TABLE_DATA; i++)
    printf(" %8s %9s %9s", "tensors", "elements", "passed");
  putchar('\n');
  for (int r = 0; r < PF_TABLE_RULES; r++) {
    char limit[PF_RULE_TEXT];
    print_limit(t, r, limit, sizeof limit);
    printf("%-13s %-26s", pf_table_rule_name(r), limit);
    for (int i = 0; i < PF_TABLE_DATA; i++) {
      print_share(&t->data[i].tensors[r], t->covered[r], 9);
      print_share(&t->data[i].elements[r], t->covered[r], 10);
      print_share(&t->data[i].passed[r], t->covered[r], 10);
    }
    putchar('\n');
  }
  putchar('\n');
}

/* "normal data: 300 faulty results: M01 100, M11 100, truncation 100" */
static void print_counts(const pf_tolerance_table *t)
{
  for (int i = 0; i < PF_TABLE_DATA; i++) {
    const pf_tolerance_data *d = &t->data[i];
    int column = printf("%s: %" PRId64 " correct tensors, %" PRId64 " faulty", data_name(d),
                        d->tensors[0].of, d->passed[0].of);
    const char *before = ":";
    for (int f = 0; f < d->faults; f++) {
      char word[64];
      const int64_t n = d->fault[f].passed[0].of;
      if (!n)
        continue;
      const int length = snprintf(word, sizeof word, "%s %" PRId64, d->fault[f].name, n);
      const bool fits = column + (int)strlen(before) + 1 + length <= WIDTH;
      const int more = printf("%s%s%s", before, fits ? " " : "\n    ", word);
      column = fits ? column + more : 4 + length;
      before = ",";
    }
    putchar('\n');
  }
}

static void print_faults(const pf_tolerance_table *t)
{
  for (int i = 0; i < PF_TABLE_DATA; i++) {
    const pf_tolerance_data *d = &t->data[i];
    if (!d->passed[0].of)
      continue;
    printf("\nfaults passed on %s\n%-10s %7s", data_name(d), "fault", "results");
    for (int r = 0; r < PF_TABLE_RULES; r++) {
      const char *name = pf_table_rule_name(r);
      printf(" %8.*s", (int)strcspn(name, " "), name);
    }
    putchar('\n');
    for (int f = 0; f < d->faults; f++) {
      if (!d->fault[f].passed[0].of)
        continue;
      printf("%-10s %7" PRId64, d->fault[f].name, d->fault[f].passed[0].of);
      for (int r = 0; r < PF_TABLE_RULES; r++)
        print_share(&d->fault[f].passed[r], t->covered[r], 9);
      putchar('\n');
    }
  }
}

/* --- what it comes to ---------------------------------------------------------------------- */

static double part(const pf_share *s)
{
  return s->of ? (double)s->hits / (double)s->of : 0;
}

/* The rule, apart from the contract, and the kind of data of which most is hit. */
static void find_most(const pf_tolerance_table *t, bool faults, int *rule, int *data)
{
  double most = -1;
  for (int i = 0; i < PF_TABLE_DATA; i++)
    for (int r = 1; r < PF_TABLE_RULES; r++) {
      const double p = part(faults ? &t->data[i].passed[r] : &t->data[i].tensors[r]);
      if (t->covered[r] && p > most) {
        most = p;
        *rule = r;
        *data = i;
      }
    }
}

static void print_sentences(const pf_tolerance_table *t)
{
  int rejects = 1, rejects_on = 0, passes = 1, passes_on = 0;
  const pf_tolerance_data *d = t->data;
  find_most(t, false, &rejects, &rejects_on);
  find_most(t, true, &passes, &passes_on);
  printf("\nThe contract rejected %" PRId64 " of %" PRId64 " correct tensors",
         d[0].tensors[0].hits + d[1].tensors[0].hits, d[0].tensors[0].of + d[1].tensors[0].of);
  if (d[0].passed[0].of + d[1].passed[0].of)
    printf(", and passed %.3g %% of the faults on normal and\n%.3g %% on cancelling data: what "
           "stays within the worst that some order may do to such sums",
           100 * part(&d[0].passed[0]), 100 * part(&d[1].passed[0]));
  if (d[rejects_on].tensors[rejects].hits)
    printf(".\nOf the other rules none rejected more correct tensors than %s (%.3g %%, %s)",
           pf_table_rule_name(rejects), 100 * part(&d[rejects_on].tensors[rejects]),
           data_name(&d[rejects_on]));
  else
    printf(".\nThe other rules rejected none either");
  if (d[passes_on].passed[passes].of)
    printf(",\nand none passed more faults than %s (%.3g %%, %s)", pf_table_rule_name(passes),
           100 * part(&d[passes_on].passed[passes]), data_name(&d[passes_on]));
  puts(".");
}

static void print_tables(const pf_tolerance_command *c, const pf_tolerance_table *t)
{
  print_head(c, t);
  print_widths(t);
  print_rules(t);
  print_counts(t);
  if (c->each_fault)
    print_faults(t);
  print_sentences(t);
}

/* --- as JSON ------------------------------------------------------------------------------- */

static json_t *share_json(const pf_share *s, bool there)
{
  return there ? json_pack("{s:I, s:I}", "hits", (json_int_t)s->hits, "of", (json_int_t)s->of)
               : json_null();
}

static json_t *rule_json(const pf_tolerance_table *t, int r)
{
  char limit[PF_RULE_TEXT];
  const bool covered = t->covered[r];
  json_t *data = json_array();
  for (int i = 0; i < PF_TABLE_DATA; i++) {
    const pf_tolerance_data *d = &t->data[i];
    pf_json_append(&data, json_pack("{s:s, s:o, s:o, s:o}", "data", pf_kind_name(d->kind),
                                    "tensors_rejected", share_json(&d->tensors[r], covered),
                                    "elements_rejected",
                                    share_json(&d->elements[r], covered && d->elements[r].of),
                                    "faults_passed", share_json(&d->passed[r], covered)));
  }
  print_limit(t, r, limit, sizeof limit);
  return json_pack("{s:s, s:o, s:o}", "rule", pf_table_rule_name(r),
                   "limit", covered ? json_string(limit) : json_null(), "measured", data);
}

static json_t *fault_json(const pf_tolerance_table *t, const pf_table_fault *f, bool each)
{
  json_t *passed = each ? json_array() : json_null();
  for (int r = 0; each && r < PF_TABLE_RULES; r++)
    if (t->covered[r])
      pf_json_append(&passed, json_pack("{s:s, s:I, s:I}", "rule", pf_table_rule_name(r),
                                        "hits", (json_int_t)f->passed[r].hits,
                                        "of", (json_int_t)f->passed[r].of));
  return json_pack("{s:s, s:I, s:o}", "fault", f->name, "results", (json_int_t)f->passed[0].of,
                   "passed", passed);
}

static json_t *data_json(const pf_tolerance_table *t, const pf_tolerance_data *d, bool each_fault)
{
  json_t *faults = json_array();
  for (int f = 0; f < d->faults; f++)
    if (d->fault[f].passed[0].of)
      pf_json_append(&faults, fault_json(t, &d->fault[f], each_fault));
  return json_pack("{s:s, s:{s:o, s:o}, s:{s:o, s:o}, s:I, s:I, s:o}",
                   "data", pf_kind_name(d->kind), "radius_of_magnitude",
                   "median", pf_json_number(d->share_median), "p95", pf_json_number(d->share_95),
                   "radius_in_ulps", "median", pf_json_number(d->ulps_median),
                   "p95", pf_json_number(d->ulps_95),
                   "correct_tensors", (json_int_t)d->tensors[0].of,
                   "faulty_tensors", (json_int_t)d->passed[0].of, "faults", faults);
}

static int put_tables(const pf_tolerance_command *c, const pf_tolerance_table *t, int code)
{
  char format[64];
  pf_json j;
  pf_format_print(&t->format, format, sizeof format);
  pf_json_start(&j, "tolerance", false);
  pf_json_put(&j, "graph", json_string(pf_graph_of(c->ask.graph)->name));
  pf_json_put(&j, "strategy", pf_json_text(c->row));
  pf_json_put(&j, "dtype", json_string(pf_dtype_of(c->ask.dtype)->name));
  pf_json_put(&j, "output", json_string(format));
  pf_json_put(&j, "k", json_integer(c->ask.k));
  pf_json_put(&j, "cases", json_integer(c->ask.count));
  pf_json_put(&j, "side", json_integer(PF_TABLE_SIDE));
  pf_json_put(&j, "seed", pf_json_whole(c->ask.seed));
  pf_json_open(&j, "data", '[');
  for (int i = 0; i < PF_TABLE_DATA; i++)
    pf_json_put(&j, NULL, data_json(t, &t->data[i], c->each_fault));
  pf_json_close(&j);
  pf_json_open(&j, "rules", '[');
  for (int r = 0; r < PF_TABLE_RULES; r++)
    pf_json_put(&j, NULL, rule_json(t, r));
  pf_json_close(&j);
  pf_json_put(&j, "exit_status", json_integer(code));
  return pf_json_end(&j, code);
}

static int run(pf_tolerance_command *c)
{
  pf_tolerance_table t;
  pf_error e = {0};
  int code = pf_settings_open(&c->settings);
  if (code)
    return code;
  c->progress = isatty(STDERR_FILENO);
  const pf_status status = pf_tolerance_measure(&c->ask, &c->settings.session.oracle, show_progress,
                                                c, &t, &e);
  if (status)
    return pf_cli_report(status, &e, c->ask.text != NULL, "--row");
  if (t.data[0].tensors[0].hits || t.data[1].tensors[0].hits)
    code = PF_EXIT_FINDING;
  if (c->json_wanted)
    return put_tables(c, &t, code);
  print_tables(c, &t);
  return code;
}

int pf_cmd_tolerance(int argc, char **argv)
{
  static const struct argp_child children[] = {{.argp = &pf_json_argp}, {0}};
  static const struct argp argp = {
    .options = options, .parser = parse, .doc = doc, .children = children};
  pf_tolerance_command c = {
    .ask = {.dtype = PF_BF16, .k = 1024, .graph = PF_MATMUL_PLAIN, .strategy = "eager",
            .count = 100, .seed = 1},
    .row = "eager"};
  argp_parse(&argp, argc, argv, 0, NULL, &c);
  const int code = run(&c);
  pf_settings_close(&c.settings);
  return code;
}
