/* precfuzz triage: crash files grouped by finding, one of each group minimized, a bundle for
   each. */
#include "triage.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- options ------------------------------------------------------------------------------- */

enum { KEY_LIMIT = 1200, KEY_TOTAL, KEY_ENGINES, KEY_ACCEPT, SECONDS = 60 };

static const struct argp_option options[] = {
  {.name = "output", .key = 'o', .arg = "FOLDER", .group = 2,
   .doc = "Where bundles go; made if it is not there; default precfuzz-triage"},
  {.name = "engines", .key = KEY_ENGINES, .arg = "FILE", .group = 1,
   .doc = "Engines from a file, one a line, in the place of --engine"},
  {.name = "jobs", .key = 'j', .arg = "N", .group = 2,
   .doc = "Files and groups at a time; default: as many as there are processors"},
  {.name = "time-limit", .key = KEY_LIMIT, .arg = "SECONDS",
   .doc = "For minimizing one group, which then has its best case so far; 0: no limit; default 60"},
  {.name = "total-limit", .key = KEY_TOTAL, .arg = "SECONDS",
   .doc = "For everything; what is not finished is left to the next run.  Default: no limit"},
  {.name = "accept", .key = KEY_ACCEPT, .arg = "REASON",
   .doc = "Make the groups known findings, for this reason: as regress --add, in the folder of "
          "--known"},
  {0}
};

static const char doc[] =
    "Groups crash files by what they show now, makes one case of each group small and simple, and "
    "writes a bundle for each group.\v"
    "DIR is a file, or a folder with folders in it: taken are crash-*, timeout-*, oom-* and leak-* "
    "of libFuzzer, id:* of AFL++ but for its queue, afl-* of make fuzz, and *.case.  Each file "
    "runs on each engine; those with the same signature and failing step are a group, those that "
    "do not show it every time of 20 another.  What shows nothing, or only what is known, is listed.  "
    "Libraries run in children.\n\n"
    "FOLDER/GROUP/ has report.md to paste into a tracker, minimized.case and .txt, found.case as "
    "it was, programs that need no precfuzz, and finding.json; FOLDER/ has junit.xml and "
    "precfuzz.sarif of all groups, and files.json.  A group whose bundle is there keeps it: "
    "another run adds what is new.  Ctrl-C leaves what is unfinished to it.\n\n"
    "Exit status: 0 no finding that is not known, 1 findings, 2 a file or an option is wrong (the "
    "others are done all the same), 3 the machinery failed.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_triage *t = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &t->settings;
    state->child_inputs[1] = &t->form;
    return 0;
  case 'o': t->output = arg; return 0;
  case 'j':
    t->jobs = (int)pf_cli_number(state, "jobs", arg, 1, PF_POOL_MOST_JOBS);
    return 0;
  case KEY_LIMIT:
    t->seconds = (double)pf_cli_number(state, "time-limit", arg, 0, 1000000);
    return 0;
  case KEY_TOTAL:
    t->total = (double)pf_cli_number(state, "total-limit", arg, 1, 1000000);
    return 0;
  case KEY_ENGINES: t->engines_file = arg; return 0;
  case KEY_ACCEPT: t->accept = arg; return 0;
  case ARGP_KEY_ARGS:
    t->given = state->argv + state->next;
    t->given_count = state->argc - state->next;
    return 0;
  case ARGP_KEY_END:
    if (!t->given_count)
      argp_error(state, "DIR is missing");
    if (t->engines_file && t->settings.engines)
      argp_error(state, "--engine or --engines, not both");
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* --- steps --------------------------------------------------------------------------------- */

static void worse(pf_triage *t, int code)
{
  t->code = pf_cli_worse(t->code, code);
}

static const char *file_name(const void *triage, size_t index)
{
  const pf_triage *t = triage;
  return t->paths.path[index];
}

static const char *group_name(const void *triage, size_t index)
{
  const pf_triage *t = triage;
  return t->group[index].name;
}

static const char *output_name(const void *triage, size_t index)
{
  const pf_triage *t = triage;
  (void)index;
  return t->output;
}

/* Says what is wrong with engines, or missing, once. */
static int do_nothing(void *triage, pf_settings *s, size_t index)
{
  (void)triage;
  (void)s;
  (void)index;
  return PF_EXIT_CLEAN;
}

/* More than 0 bytes for no file, too. */
static size_t looked_size(const pf_triage *t)
{
  return (t->paths.count + 1) * sizeof *t->looked;
}

static int run_one(pf_triage *t, int (*work)(void *, pf_settings *, size_t), bool notices)
{
  int code = PF_POOL_LEFT;
  const pf_pool pool = {.settings = &t->settings, .jobs = 1, .count = 1, .work = work,
                        .name = output_name, .user = t, .notices = notices,
                        .shared = t->looked, .shared_size = looked_size(t),
                        .progress = &t->progress};
  const int ran = pf_pool_run(&pool, &code);
  return pf_cli_worse(ran, code);
}

static int run_pool(pf_triage *t, size_t count, int (*work)(void *, pf_settings *, size_t),
                    const char *(*name)(const void *, size_t), const char *doing, int *code)
{
  const pf_pool pool = {.settings = &t->settings, .jobs = t->jobs, .count = count, .work = work,
                        .name = name, .user = t, .doing = doing, .until = t->total,
                        .shared = t->looked, .shared_size = looked_size(t),
                        .progress = &t->progress};
  return pf_pool_run(&pool, code);
}

static int out_of_memory(void)
{
  return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
}

static int look_at_files(pf_triage *t)
{
  const size_t count = t->paths.count;
  int *code = malloc((count + 1) * sizeof *code);
  t->looked = pf_pool_memory(looked_size(t));
  if (!code || !t->looked) {
    free(code);
    return out_of_memory();
  }
  const int ran = run_pool(t, count, pf_triage_look, file_name, "files looked at", code);
  for (size_t i = 0; i < count; i++) {
    worse(t, code[i]);
    if (code[i] > 0 && !t->looked[i].tried) {  /* its child died */
      t->looked[i].tried = true;
      t->looked[i].code = code[i];
      t->looked[i].count = 0;
    }
  }
  free(code);
  return ran;
}

static int make_bundles(pf_triage *t)
{
  int *code = malloc((t->groups + 1) * sizeof *code);
  if (!code)
    return out_of_memory();
  for (size_t i = 0; i < t->groups; i++)
    t->group[i].was_there = pf_bundle_is_there(t, t->group[i].name);
  const int ran = run_pool(t, t->groups, pf_triage_bundle, group_name, "groups minimized", code);
  for (size_t i = 0; i < t->groups; i++) {
    t->group[i].made = !code[i] && !t->group[i].was_there;
    t->group[i].failed = code[i] > 0;
    worse(t, code[i]);
  }
  free(code);
  return ran;
}

/* --- the summary --------------------------------------------------------------------------- */

static void print_group(const pf_triage *t, const pf_group *g)
{
  const pf_sighting *s = g->seen;
  printf("%s\n", s->finding.signature);
  if (s->finding.at[0])
    printf("    %-9s %s\n", "at", s->finding.at);
  printf("    %-9s %zu, the simplest %s\n", "files", g->files, t->paths.path[g->file]);
  if (s->shown.times < s->shown.tries)
    printf("    %-9s %d of %d tries\n", "shows", s->shown.times, s->shown.tries);
  printf("    %-9s %s/%s%s\n", "bundle", t->output, g->name,
         g->was_there ? ", which was there"
         : g->made    ? ""
         : g->failed  ? " could not be made"
                      : " is left to the next run");
}

typedef struct pf_file_counts {
  size_t nothing, known, wrong, left;
} pf_file_counts;

static pf_file_counts print_files(const pf_triage *t)
{
  pf_file_counts n = {0};
  for (size_t i = 0; i < t->paths.count; i++) {
    const pf_looked *l = &t->looked[i];
    const char *path = t->paths.path[i];
    if (!l->tried) {
      n.left++;
    } else if (l->code) {
      n.wrong++;
    } else if (l->known[0] && !l->count) {
      n.known++;
      printf("known finding %s: %s\n", l->known, path);
    } else if (!l->count) {
      n.nothing++;
      printf("shows nothing now: %s\n", path);
    }
  }
  return n;
}

static void print_count(size_t count, const char *what)
{
  if (count)
    printf(", %zu %s", count, what);
}

static void print_summary(const pf_triage *t)
{
  size_t made = 0;
  for (size_t i = 0; i < t->groups; i++) {
    print_group(t, &t->group[i]);
    made += t->group[i].made;
  }
  const pf_file_counts n = print_files(t);
  printf("%zu file%s: %zu group%s, %zu new", t->paths.count, t->paths.count == 1 ? "" : "s",
         t->groups, t->groups == 1 ? "" : "s", made);
  print_count(n.nothing, "show nothing now");
  print_count(n.known, "only what is known");
  print_count(n.wrong, "could not be read or run");
  print_count(n.left, "not looked at");
  print_count(t->passed_over, "other files passed over");
  putchar('\n');
}

/* --- the command --------------------------------------------------------------------------- */

static int triage(pf_triage *t)
{
  int code = run_one(t, do_nothing, true);
  if (!code)
    code = pf_triage_take_output(t);
  if (code)
    return code;
  for (int i = 0; i < t->given_count; i++)
    worse(t, pf_triage_collect(t, t->given[i]));
  code = look_at_files(t);
  if (!code && pf_triage_group(t))
    code = out_of_memory();
  if (code)
    return code;
  worse(t, t->groups ? PF_EXIT_FINDING : PF_EXIT_CLEAN);
  worse(t, make_bundles(t));
  if (t->accept && t->groups)
    worse(t, run_one(t, pf_triage_accept, false));
  worse(t, pf_triage_write_index(t));
  worse(t, pf_triage_write_ci(t));
  print_summary(t);
  return PF_EXIT_CLEAN;
}

int pf_cmd_triage(int argc, char **argv)
{
  static const struct argp_child children[] = {
    {.argp = &pf_settings_argp}, {.argp = &pf_form_argp}, {0}};
  static const struct argp argp = {.options = options, .parser = parse, .args_doc = "DIR...",
                                   .doc = doc, .children = children};
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  pf_triage t = {.settings.isolate = true, .output = "precfuzz-triage", .seconds = SECONDS,
                 .jobs = processors < 1                   ? 1
                         : processors > PF_POOL_MOST_JOBS ? PF_POOL_MOST_JOBS
                                                          : (int)processors};
  argp_parse(&argp, argc, argv, 0, NULL, &t);
  if (t.engines_file) {
    unsetenv("PRECFUZZ_ENGINES");
    setenv("PRECFUZZ_ENGINES_FILE", t.engines_file, 1);
  }
  pf_progress_start(&t.progress);
  pf_interrupt_on(SIGTERM);
  worse(&t, triage(&t));
  free(t.group);
  pf_pool_memory_free(t.looked, looked_size(&t));
  pf_paths_free(&t.paths);
  return t.code;
}
