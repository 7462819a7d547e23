/* precfuzz random: cases drawn from a seed, judged.  Case i depends on the seed, the length, the
   filters and i alone. */
#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "form_archive.h"
#include "form_fuzz.h"

enum {
  MOST_FINDINGS = 1000,      /* of different signatures */
  SIGNATURE = 400,           /* characters */
  HEADING = 320,             /* characters of a case's text */
  LONGEST = 1 << 20,         /* bytes of a case */
  PROGRESS_NS = 250000000
};
#define MOST_CASES 1000000000

typedef struct pf_random_command {
  pf_settings settings;
  pf_filter filter;
  uint64_t count, seed, length, max_findings;
  const char *folder;
  int code;
  pf_counts counts;
  char (*signature)[SIGNATURE];  /* those found so far */
  uint64_t signatures;
  uint8_t *bytes;
  uint64_t index;          /* of the case in hand */
  struct timespec start, shown;
  bool progress, stopped, json_wanted;
} pf_random_command;

/* --- options ------------------------------------------------------------------------------- */

enum { KEY_DTYPE = 256, KEY_GRAPH, KEY_VALUES, KEY_LAYOUT, KEY_WORK, KEY_LENGTH, KEY_FINDINGS };

static const struct argp_option options[] = {
  {.name = "count", .key = 'n', .arg = "N", .doc = "Cases, up to 10^9; default 10000", .group = 2},
  {.name = "seed", .key = 'S', .arg = "S", .doc = "What the cases are drawn from; default 1"},
  {.name = "output", .key = 'o', .arg = "FOLDER",
   .doc = "Where cases that are findings go, made when there is one; default precfuzz-findings"},
  {.name = "max-findings", .key = KEY_FINDINGS, .arg = "N",
   .doc = "Stop after findings of N different signatures; default 10"},
  {.name = "dtype", .key = KEY_DTYPE, .arg = "LIST", .group = 3,
   .doc = "Only these dtypes: f64, f32, f16, bf16, f8_e4m3fn, f8_e5m2, f8_e4m3fnuz, "
          "f8_e5m2fnuz, s8, u8, s32, with commas between"},
  {.name = "graph", .key = KEY_GRAPH, .arg = "LIST",
   .doc = "Only these graphs (see precfuzz strategies)"},
  {.name = "values", .key = KEY_VALUES, .arg = "LIST",
   .doc = "Only these kinds of values: normal, bits, corner, integer, cancel, equal, midpoint, "
          "wide, subnormal, verbatim"},
  {.name = "layout", .key = KEY_LAYOUT, .arg = "LAYOUT",
   .doc = "dense, strided (at least one tensor is not dense) or any (default)"},
  {.name = "max-work", .key = KEY_WORK, .arg = "W",
   .doc = "At most W products and elements of a tensor in a case; default 16384"},
  {.name = "length", .key = KEY_LENGTH, .arg = "BYTES", .doc = "Random bytes a case; default 256"},
  {0}
};

static const char doc[] =
    "Judges cases decoded from random bytes.\v"
    "A finding is shown once for each signature, and its case written to FOLDER.  The same seed "
    "gives the same cases.  Ctrl-C ends with the summary.\n\n"
    "Exit status: 0 no finding, 1 findings, 2 an option is wrong, 3 the machinery failed.";

static bool find_dtype(const char *name, size_t length, int *out)
{
  pf_dtype t;
  const bool found = pf_dtype_find(name, length, &t);
  *out = found ? (int)t : 0;
  return found;
}

static bool find_graph(const char *name, size_t length, int *out)
{
  pf_graph g;
  const bool found = pf_graph_find(name, length, &g);
  *out = found ? (int)g : 0;
  return found;
}

static bool find_kind(const char *name, size_t length, int *out)
{
  pf_kind k;
  const bool found = pf_kind_find(name, length, &k);
  *out = found ? (int)k : 0;
  return found;
}

/* Names with commas between to a set of bits. */
static uint32_t parse_set(struct argp_state *state, const char *option, const char *list,
                          bool (*find)(const char *, size_t, int *))
{
  uint32_t set = 0;
  for (const char *at = list;; at++) {
    const size_t length = strcspn(at, ",");
    int bit;
    if (!find(at, length, &bit))
      argp_error(state, "--%s: there is no '%.*s'", option, (int)length, at);
    set |= (uint32_t)1 << bit;
    at += length;
    if (!*at)
      return set;
  }
}

static void parse_layout(struct argp_state *state, const char *name, pf_filter *f)
{
  f->dense_only = !strcmp(name, "dense");
  f->strided_only = !strcmp(name, "strided");
  if (!f->dense_only && !f->strided_only && strcmp(name, "any"))
    argp_error(state, "--layout: '%s' is none of dense, strided, any", name);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_random_command *c = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &c->settings;
    state->child_inputs[1] = &c->json_wanted;
    return 0;
  case 'n': c->count = pf_cli_number(state, "count", arg, 1, MOST_CASES); return 0;
  case 'S': c->seed = pf_cli_number(state, "seed", arg, 0, UINT64_MAX); return 0;
  case 'o': c->folder = arg; return 0;
  case KEY_FINDINGS:
    c->max_findings = pf_cli_number(state, "max-findings", arg, 1, MOST_FINDINGS);
    return 0;
  case KEY_DTYPE: c->filter.dtypes = parse_set(state, "dtype", arg, find_dtype); return 0;
  case KEY_GRAPH: c->filter.graphs = parse_set(state, "graph", arg, find_graph); return 0;
  case KEY_VALUES: c->filter.kinds = parse_set(state, "values", arg, find_kind); return 0;
  case KEY_LAYOUT: parse_layout(state, arg, &c->filter); return 0;
  case KEY_WORK:
    c->filter.max_work = (int64_t)pf_cli_number(state, "max-work", arg, 1, PF_MAX_WORK);
    return 0;
  case KEY_LENGTH: c->length = pf_cli_number(state, "length", arg, 1, LONGEST); return 0;
  case ARGP_KEY_ARG: argp_error(state, "'%s' is no option", arg); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* --- progress ------------------------------------------------------------------------------ */

static volatile sig_atomic_t interrupted;  /* what a signal can tell is a global */

static void on_interrupt(int signal_number)
{
  (void)signal_number;
  interrupted = 1;
}

static double seconds_since(const struct timespec *t)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - t->tv_sec) + 1e-9 * (double)(now.tv_nsec - t->tv_nsec);
}

static void show_progress(pf_random_command *c)
{
  if (!c->progress || seconds_since(&c->shown) < 1e-9 * PROGRESS_NS)
    return;
  clock_gettime(CLOCK_MONOTONIC, &c->shown);
  fprintf(stderr, "\r\033[K%" PRIu64 " of %" PRIu64 " cases, %.0f a second, %" PRIu64 " findings",
          c->counts.cases, c->count, (double)c->counts.cases / seconds_since(&c->start),
          c->counts.findings);
  fflush(stderr);
}

static void clear_progress(const pf_random_command *c)
{
  if (c->progress)
    fputs("\r\033[K", stderr);
}

/* --- findings ------------------------------------------------------------------------------ */

static bool is_new(pf_random_command *c, const char *signature)
{
  for (uint64_t i = 0; i < c->signatures; i++)
    if (!strcmp(c->signature[i], signature))
      return false;
  strcpy(c->signature[c->signatures++], signature);
  return true;
}

/* "FOLDER/SIGNATURE-HASH.case": the signature as a file can be called, the hash of the case. */
static char *file_name(const pf_random_command *c, const char *signature, const uint8_t *data,
                       size_t size)
{
  char plain[160], *path = NULL;
  uint64_t hash = size;
  for (size_t i = 0; i < size; i++)
    hash = pf_hash(hash ^ data[i]);
  snprintf(plain, sizeof plain, "%.*s", (int)sizeof plain - 1, signature);
  for (char *p = plain; *p; p++)
    if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=,+", *p))
      *p = *p == ' ' ? '-' : '_';
  const int length =
      asprintf(&path, "%s/%s-%08" PRIx64 ".case", c->folder, plain, hash >> 32);
  return length < 0 ? NULL : path;
}

/* *path: where the case is, for the caller to free; NULL where it could not be written. */
static int save(pf_random_command *c, const pf_result *r, const char *signature, char **path)
{
  uint8_t *data;
  size_t size;
  pf_error e = {0};
  const pf_status status =
      pf_archive_encode(r->problem->what, &c->settings.session.work, &data, &size, &e);
  if (status)
    return pf_cli_report(status, &e, false, "finding");
  if (mkdir(c->folder, 0777) && errno != EEXIST)
    return pf_cli_fail(PF_EXIT_MACHINERY, "%s: cannot be made: %s", c->folder, strerror(errno));
  *path = file_name(c, signature, data, size);
  if (!*path)
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  const int code = pf_cli_write(*path, data, size);
  if (code) {
    free(*path);
    *path = NULL;
  }
  return code;
}

static void print_finding(const pf_random_command *c, const pf_result *r, const char *signature)
{
  printf("%s\n    case      %" PRIu64 ": ", signature, c->index);
  pf_cli_print_case(r->problem->what, HEADING, stdout);
  fputs("\n    ", stdout);
  pf_report_line(r, stdout);
  pf_report_worst(r, stdout);
}

static void tell_finding(pf_random_command *c, const pf_result *r, const char *signature)
{
  char *path = NULL;
  clear_progress(c);
  if (!c->json_wanted)
    print_finding(c, r, signature);
  const int saved = save(c, r, signature, &path);
  const int put = c->json_wanted ? pf_json_finding(&c->settings, r, c->index, path)
                                 : PF_EXIT_CLEAN;
  if (path && !c->json_wanted)
    pf_settings_print_command(&c->settings, r, NULL, path, stdout);
  free(path);
  c->code = pf_cli_worse(c->code, pf_cli_worse(saved, put));
  c->stopped |= saved != PF_EXIT_CLEAN;
  fflush(stdout);
}

static void on_result(void *user, const pf_result *r)
{
  pf_random_command *c = user;
  char signature[SIGNATURE];
  /* a row given as text need not suit every graph; that it suits one has been seen */
  if (r->machinery && r->machinery != PF_BAD_INPUT) {
    c->stopped = true;
    c->code = pf_cli_fail(PF_EXIT_MACHINERY, "case %" PRIu64 ": %s: %s: %s", c->index,
                          r->engine->name, r->strategy, r->why ? r->why : "");
  }
  if (!pf_counts_add(&c->counts, r, pf_settings_know(&c->settings, r) != NULL))
    return;
  c->code = pf_cli_worse(c->code, PF_EXIT_FINDING);
  pf_signature(r, signature, sizeof signature);
  if (c->signatures < c->max_findings && is_new(c, signature))
    tell_finding(c, r, signature);
}

/* --- cases --------------------------------------------------------------------------------- */

static void fill(pf_random_command *c, uint64_t index)
{
  const uint64_t base = pf_hash(pf_hash(c->seed) ^ index);
  for (uint64_t i = 0; i < c->length; i += 8) {
    const uint64_t word = pf_hash(base + i / 8);
    for (uint64_t j = i; j < i + 8 && j < c->length; j++)
      c->bytes[j] = (uint8_t)(word >> 8 * (j - i));
  }
}

static int run_case(pf_random_command *c, uint64_t index)
{
  pf_session *s = &c->settings.session;
  pf_case what;
  c->index = index;
  fill(c, index);
  pf_arena_reset(&s->cases);
  pf_status status = pf_fuzz_decode(c->bytes, c->length, &c->filter, &s->cases, &what);
  if (!status)
    status = pf_session_examine(s, &what, on_result, c);
  if (status)
    return pf_cli_fail(PF_EXIT_MACHINERY, "case %" PRIu64 ": out of memory", index);
  c->counts.cases++;
  return PF_EXIT_CLEAN;
}

/* A row given as text must suit at least one of the graphs. */
static int check_rows(pf_random_command *c)
{
  pf_session *s = &c->settings.session;
  int code = PF_EXIT_CLEAN;
  for (int i = 0; i < s->options.strategy_count; i++) {
    const pf_strategy *row = &s->options.strategy[i];
    pf_error e = {0};
    pf_status status = row->text ? PF_BAD_INPUT : PF_OK;
    for (int g = 0; g < PF_GRAPH_COUNT && status == PF_BAD_INPUT; g++) {
      const pf_filter one = {.graphs = (uint32_t)1 << g};
      pf_case what;
      pf_plan plan;
      if (c->filter.graphs && !(c->filter.graphs >> g & 1))
        continue;
      if (pf_fuzz_decode(NULL, 0, &one, &s->cases, &what))
        return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
      status = pf_plan_parse(row->name, row->text, &what, &plan, &e);
    }
    if (status == PF_BAD_INPUT)
      code = pf_cli_report(status, &e, true, row->name);
  }
  return code;
}

static void print_summary(const pf_random_command *c)
{
  if (interrupted)
    puts("interrupted");
  pf_counts_print(&c->counts, stdout);
  pf_report_rule(&c->settings.session.options.rule, stdout);
  printf("%" PRIu64 " signatures, %" PRIu64 " elements, %" PRIu64 " products judged; seed %" PRIu64
         "\n", c->signatures, c->settings.session.elements, c->settings.session.products, c->seed);
}

static int put_summary(const pf_random_command *c)
{
  const pf_json_run run = {.settings = &c->settings, .counts = &c->counts, .seed = c->seed,
                           .signatures = c->signatures, .interrupted = interrupted};
  return pf_json_summary(&run, c->code);
}

static int run(pf_random_command *c)
{
  const struct sigaction action = {.sa_handler = on_interrupt};
  int code = pf_settings_open(&c->settings);
  if (!code)
    code = check_rows(c);
  if (code)
    return code;
  c->bytes = malloc(c->length);
  c->signature = calloc(c->max_findings, sizeof *c->signature);
  if (!c->bytes || !c->signature)
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  sigaction(SIGINT, &action, NULL);
  c->progress = isatty(STDERR_FILENO);
  clock_gettime(CLOCK_MONOTONIC, &c->start);
  for (uint64_t i = 0; i < c->count && !interrupted && !c->stopped && pf_cli_output_ok() &&
                       c->signatures < c->max_findings; i++) {
    const int failed = run_case(c, i);
    c->code = pf_cli_worse(c->code, failed);
    c->stopped |= failed != PF_EXIT_CLEAN;
    show_progress(c);
  }
  clear_progress(c);
  c->code = pf_settings_differences(&c->settings, c->code);
  if (c->json_wanted)
    return put_summary(c);
  print_summary(c);
  return c->code;
}

int pf_cmd_random(int argc, char **argv)
{
  static const struct argp_child children[] = {
    {.argp = &pf_settings_argp}, {.argp = &pf_json_argp}, {0}};
  static const struct argp argp = {
    .options = options, .parser = parse, .doc = doc, .children = children};
  pf_random_command c = {.count = 10000, .seed = 1, .length = 256, .max_findings = 10,
                 .folder = "precfuzz-findings"};
  argp_parse(&argp, argc, argv, 0, NULL, &c);
  const int code = run(&c);
  free(c.bytes);
  free(c.signature);
  pf_settings_close(&c.settings);
  return code;
}
