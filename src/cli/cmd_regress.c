/* precfuzz regress: the known findings, replayed. */
#include <stdlib.h>
#include <string.h>

#include "regress.h"

enum { KEY_REPORTED = 1100, KEY_MODEL };

typedef struct pf_regress_command {
  pf_settings settings;
  pf_new_entry new;
  const char *argument;
  bool json_wanted;
  pf_json json;
  size_t count[PF_OUTCOME_COUNT];
  int code;
} pf_regress_command;

static const struct argp_option options[] = {
  {.name = "add", .key = 'a', .arg = "NAME", .group = 1,
   .doc = "Make the finding that the case in FILE shows a known one: FOLDER/NAME.case and an entry "
          "in FOLDER/" PF_KNOWN_LIST ".  Needs --signature and --reason"},
  {.name = "signature", .key = 's', .arg = "SIGNATURE",
   .doc = "As the finding's report has it; graph, strategy and dtypes may be patterns: "
          "'onednn * * x=bf16,* contract IMPOSSIBLE'"},
  {.name = "reason", .key = 'r', .arg = "TEXT", .doc = "Why the library does it"},
  {.name = "reported", .key = KEY_REPORTED, .arg = "WHERE", .doc = "An address, say"},
  {.name = "model", .key = KEY_MODEL, .arg = "MODELS",
   .doc = "Only results that one of these models explains are the finding: 'daz daz+ftz'"},
  {.name = "known", .key = 'k', .arg = "FOLDER",
   .doc = "Where known findings are; of several, A:B, --add writes to the first.  Default: those "
          "that came with precfuzz", .group = 2},
  {0}
};

static const char doc[] =
    "Replays all known findings: are they still there?\v"
    "Each is OK (its case still shows it), FIXED (it should, but nothing is wrong any more), CHANGED "
    "(it shows another finding), SKIPPED (the engine, its version, ISA or kernel is not there) or "
    "WRONG (a strategy that does not exist, a case of another graph: messages say what).  Libraries "
    "run in children.\n\n"
    "A folder of known findings has the list " PF_KNOWN_LIST " and NAME.case, in the archive form, "
    "for each entry.  A version, ISA and kernel that the engine tells of become part of a new "
    "entry; edit it to say more.\n\n"
    "Exit status: 0 all are OK or SKIPPED, 1 some are FIXED or CHANGED, 2 the list, a case or an "
    "option is wrong, 3 the machinery failed.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_regress_command *c = state->input;
  switch (key) {
  case ARGP_KEY_INIT: state->child_inputs[0] = &c->json_wanted; return 0;
  case 'a': c->new.name = arg; return 0;
  case 's': c->new.signature = arg; return 0;
  case 'r': c->new.reason = arg; return 0;
  case KEY_REPORTED: c->new.reported = arg; return 0;
  case KEY_MODEL: c->new.model = arg; return 0;
  case 'k': c->settings.known_folder = arg; return 0;
  case ARGP_KEY_ARG:
    if (c->argument)
      argp_error(state, "one %s", c->new.name ? "FILE" : "FOLDER");
    c->argument = arg;
    return 0;
  case ARGP_KEY_END:
    if (c->new.name && !(c->new.signature && c->new.reason && c->argument))
      argp_error(state, "--add needs --signature, --reason and FILE");
    if (!c->new.name && (c->new.signature || c->new.reason || c->new.reported || c->new.model))
      argp_error(state, "--signature, --reason, --reported and --model go with --add");
    if (c->new.name && !strcmp(c->argument, "-"))
      argp_error(state, "--add reads FILE twice: standard input will not do");
    if (c->new.name && c->json_wanted)
      argp_error(state, "--add prints no --json");
    if (!c->new.name && c->argument && c->settings.known_folder)
      argp_error(state, "one FOLDER");
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* --- results ------------------------------------------------------------------------------- */

static void print_replay(const pf_replay *r)
{
  const pf_regression *k = r->entry;
  const char *engine = r->engine ? r->engine : r->why[0] ? "" : k->engine;
  printf("%-8s %-32s %s%s%s%s%s\n", pf_outcome_name(r->outcome), k->name, engine,
         r->kernel[0] ? ", " : "", r->kernel, engine[0] && r->why[0] ? ": " : "", r->why);
  if (r->outcome != PF_FIXED && r->outcome != PF_CHANGED)
    return;
  printf("    entry     %s/" PF_KNOWN_LIST ":%d\n    signature %s\n    reason    %s\n",
         k->folder, k->line, k->signature, k->reason);
  if (k->reported)
    printf("    reported  %s\n", k->reported);
  printf("    reproduce %s\n", r->command ? r->command : "");
}

static int code_of(const pf_replay *r)
{
  return r->outcome == PF_WRONG                                  ? r->code
         : r->outcome == PF_FIXED || r->outcome == PF_CHANGED ? PF_EXIT_FINDING
                                                                 : PF_EXIT_CLEAN;
}

static int replay(pf_regress_command *c, const pf_regression *k)
{
  pf_replay r;
  char *path = pf_known_path(k->folder, k->name);
  if (!path)
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  pf_replay_case(&c->settings, k, path, PF_FORM_ARCHIVE, &r);
  const int code = code_of(&r);
  c->count[r.outcome]++;
  if (c->json_wanted)
    pf_json_put(&c->json, NULL, pf_replay_json(&r));
  else
    print_replay(&r);
  pf_replay_free(&r);
  free(path);
  return code;
}

static void print_summary(const pf_regress_command *c)
{
  const size_t all = c->settings.known.count;
  const char *before = ": ";
  printf("%zu known finding%s", all, all == 1 ? "" : "s");
  for (int o = 0; o < PF_OUTCOME_COUNT; o++)
    if (c->count[o]) {
      printf("%s%s %zu", before, pf_outcome_name((pf_outcome)o), c->count[o]);
      before = ", ";
    }
  putchar('\n');
}

static int put_summary(pf_regress_command *c)
{
  json_t *counts = json_object();
  for (int o = 0; o < PF_OUTCOME_COUNT; o++)
    pf_json_set(&counts, pf_outcome_name((pf_outcome)o), pf_json_whole(c->count[o]));
  pf_json_close(&c->json);
  pf_json_put(&c->json, "counts", counts);
  pf_json_put(&c->json, "exit_status", json_integer(c->code));
  return pf_json_end(&c->json, c->code);
}

static int replay_all(pf_regress_command *c)
{
  const pf_settings *s = &c->settings;
  if (c->json_wanted) {
    pf_json_start(&c->json, "regress", false);
    pf_json_put(&c->json, "folder", pf_json_text(s->known_folder));
    pf_json_open(&c->json, "entries", '[');
  }
  for (size_t i = 0; i < s->known.count && pf_cli_output_ok(); i++) {
    const int code = replay(c, &s->known.entry[i]);
    c->code = pf_cli_worse(c->code, code);
  }
  if (c->json_wanted)
    return put_summary(c);
  print_summary(c);
  return c->code;
}

/* Entries say what to run and how to judge it; libraries may die. */
static int open_settings(pf_settings *s)
{
  static const char *const theirs[] = {"PRECFUZZ_ENGINES", "PRECFUZZ_ENGINES_FILE",
                                       "PRECFUZZ_STRATEGIES", "PRECFUZZ_RULE"};
  for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
    unsetenv(theirs[i]);
  s->isolate = true;
  const int code = pf_settings_open(s);
  if (!code && (!s->known_folder || !strcmp(s->known_folder, "none")))
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "no folder of known findings: name one");
  return code;
}

int pf_cmd_regress(int argc, char **argv)
{
  static const struct argp_child children[] = {{.argp = &pf_json_argp}, {0}};
  static const struct argp argp = {
    .options = options, .parser = parse, .doc = doc, .children = children,
    .args_doc = "[FOLDER]\n--add NAME --signature SIGNATURE --reason TEXT FILE"};
  pf_regress_command c = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &c);
  if (!c.new.name && c.argument)
    c.settings.known_folder = c.argument;
  c.new.file = c.argument;
  int code = open_settings(&c.settings);
  if (!code)
    code = c.new.name ? pf_regress_add(&c.settings, &c.new) : replay_all(&c);
  pf_settings_close(&c.settings);
  return code;
}
