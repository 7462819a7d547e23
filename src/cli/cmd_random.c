/* precfuzz random: cases drawn from a seed, judged. */
#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "form_archive.h"

enum {
  MOST_FINDINGS = 1000,      /* of different signatures */
  SIGNATURE = 400,           /* characters */
  HEADING = 320              /* characters of a case's text */
};
#define MOST_CASES 1000000000

typedef struct pf_random_command {
  pf_settings settings;
  pf_draw draw;
  uint64_t count, max_findings;
  const char *folder;
  int code;
  pf_counts counts;
  char (*signature)[SIGNATURE];  /* those found so far */
  uint64_t signatures;
  uint64_t index;          /* of the case in hand */
  pf_progress progress;
  bool stopped, json_wanted;
} pf_random_command;

/* --- options ------------------------------------------------------------------------------- */

enum { KEY_FINDINGS = 512 };

static const struct argp_option options[] = {
  {.name = "count", .key = 'n', .arg = "N", .doc = "Cases, up to 10^9; default 10000", .group = 2},
  {.name = "output", .key = 'o', .arg = "FOLDER",
   .doc = "Where cases that are findings go, made when there is one; default precfuzz-findings"},
  {.name = "max-findings", .key = KEY_FINDINGS, .arg = "N",
   .doc = "Stop after findings of N different signatures; default 10"},
  {0}
};

static const char doc[] =
    "Judges cases decoded from random bytes.\v"
    "A finding is shown once for each signature, and its case written to FOLDER.  The same seed "
    "gives the same cases.  Ctrl-C ends with the summary.\n\n"
    "Exit status: 0 no finding, 1 findings, 2 an option is wrong, 3 the machinery failed.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_random_command *c = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &c->settings;
    state->child_inputs[1] = &c->draw;
    state->child_inputs[2] = &c->json_wanted;
    return 0;
  case 'n': c->count = pf_cli_number(state, "count", arg, 1, MOST_CASES); return 0;
  case 'o': c->folder = arg; return 0;
  case KEY_FINDINGS:
    c->max_findings = pf_cli_number(state, "max-findings", arg, 1, MOST_FINDINGS);
    return 0;
  case ARGP_KEY_ARG: argp_error(state, "'%s' is no option", arg); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static void show_progress(pf_random_command *c)
{
  if (pf_progress_due(&c->progress))
    fprintf(stderr, "%" PRIu64 " of %" PRIu64 " cases, %.0f a second, %" PRIu64 " findings",
            c->counts.cases, c->count,
            (double)c->counts.cases / pf_progress_seconds(&c->progress), c->counts.findings);
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
  pf_progress_clear(&c->progress);
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

static int run_case(pf_random_command *c, uint64_t index)
{
  pf_session *s = &c->settings.session;
  pf_case what;
  c->index = index;
  pf_arena_reset(&s->cases);
  pf_status status = pf_draw_case(&c->draw, index, &s->cases, &what);
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
      if (c->draw.filter.graphs && !(c->draw.filter.graphs >> g & 1))
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
  if (pf_interrupted())
    puts("interrupted");
  pf_counts_print(&c->counts, stdout);
  pf_report_rule(&c->settings.session.options.rule, stdout);
  printf("%" PRIu64 " signatures, %" PRIu64 " elements, %" PRIu64 " products judged; seed %" PRIu64
         "\n", c->signatures, c->settings.session.elements, c->settings.session.products,
         c->draw.seed);
}

static int put_summary(const pf_random_command *c)
{
  const pf_json_run run = {.settings = &c->settings, .counts = &c->counts, .seed = c->draw.seed,
                           .signatures = c->signatures, .interrupted = pf_interrupted()};
  return pf_json_summary(&run, c->code);
}

static int run(pf_random_command *c)
{
  int code = pf_settings_open(&c->settings);
  if (!code)
    code = check_rows(c);
  if (code)
    return code;
  c->signature = calloc(c->max_findings, sizeof *c->signature);
  if (!c->signature)
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  pf_progress_start(&c->progress);
  for (uint64_t i = 0; i < c->count && !pf_interrupted() && !c->stopped && pf_cli_output_ok() &&
                       c->signatures < c->max_findings; i++) {
    const int failed = run_case(c, i);
    c->code = pf_cli_worse(c->code, failed);
    c->stopped |= failed != PF_EXIT_CLEAN;
    show_progress(c);
  }
  pf_progress_clear(&c->progress);
  c->code = pf_settings_differences(&c->settings, c->code);
  if (c->json_wanted)
    return put_summary(c);
  print_summary(c);
  return c->code;
}

int pf_cmd_random(int argc, char **argv)
{
  static const struct argp_child children[] = {
    {.argp = &pf_settings_argp}, {.argp = &pf_draw_argp}, {.argp = &pf_json_argp}, {0}};
  static const struct argp argp = {
    .options = options, .parser = parse, .doc = doc, .children = children};
  pf_random_command c = {.draw = {.seed = 1, .length = 256}, .count = 10000,
                         .max_findings = 10, .folder = "precfuzz-findings"};
  argp_parse(&argp, argc, argv, 0, NULL, &c);
  const int code = run(&c);
  pf_draw_free(&c.draw);
  free(c.signature);
  pf_settings_close(&c.settings);
  return code;
}
