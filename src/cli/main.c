/* precfuzz: the commands, and what holds for all of them. */
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const pf_command commands[] = {
  {"check", "judges the cases in files", pf_cmd_check},
  {"seed", "makes seeds of a model's weights", pf_cmd_seed},
  {"export", "writes random cases as safetensors, to compute elsewhere", pf_cmd_export},
  {"judge", "judges results that were computed elsewhere", pf_cmd_judge},
  {"explain", "shows the error that each step of each strategy adds", pf_cmd_explain},
  {"show", "prints what a case asks", pf_cmd_show},
  {"encode", "turns a line of text into a case file", pf_cmd_encode},
  {"emit", "writes a case as a program that needs no precfuzz", pf_cmd_emit},
  {"random", "judges random cases", pf_cmd_random},
  {"minimize", "makes the case that shows a finding small and simple", pf_cmd_minimize},
  {"triage", "groups crash files, and writes a bug report for each group", pf_cmd_triage},
  {"regress", "replays the known findings: are they still there?", pf_cmd_regress},
  {"tolerance", "measures what the rules of other test suites are worth", pf_cmd_tolerance},
  {"strategies", "lists the strategies, step by step", pf_cmd_strategies},
  {"engines", "lists who can do the arithmetic", pf_cmd_engines},
  {"engine-test", "checks that an engine keeps to the interface", pf_cmd_engine_test},
  {"engine-host", "is an engine for the precfuzz that --engine exec:... has start it",
   pf_cmd_engine_host},
  {0}
};

static const char doc[] =
    "Searches for inputs on which matmul's backends part, and says where the precision went.\v";

static const char notes[] =
    "precfuzz COMMAND --help says more of each.\n\n"
    "The options --engine, --strategy, --rule and --known can also be given by the variables "
    "PRECFUZZ_ENGINES, PRECFUZZ_STRATEGIES, PRECFUZZ_RULE and PRECFUZZ_KNOWN; an option goes "
    "before its variable.\n\n"
    "With --json the commands that print results write JSON instead: docs/json.md.\n\n"
    "Exit status: 0 no finding, 1 findings, 2 a file or an option is wrong, 3 the machinery "
    "failed.";

static const struct argp_option options[] = {
  {.name = "version", .key = 'V', .doc = "Print the version", .group = -1},
  {0}
};

static const pf_command *find_command(const char *name)
{
  for (const pf_command *c = commands; c->name; c++)
    if (!strcmp(c->name, name))
      return c;
  return NULL;
}

/* What stays of --help behind the options: the commands. */
static char *help_filter(int key, const char *text, void *input)
{
  char *out = NULL;
  size_t size;
  (void)input;
  if (key != ARGP_KEY_HELP_POST_DOC)
    return (char *)text;
  FILE *to = open_memstream(&out, &size);
  if (!to)
    return NULL;
  fputs("Commands:\n", to);
  for (const pf_command *c = commands; c->name; c++)
    fprintf(to, "  %-12s%s\n", c->name, c->note);
  fprintf(to, "\n%s", notes);
  fclose(to);
  return out;
}

static int run_command(const pf_command *c, int argc, char **argv)
{
  char *name = NULL;
  if (asprintf(&name, "precfuzz %s", c->name) < 0)
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  argv[0] = name;
  const int code = c->run(argc, argv);
  free(name);
  return code;
}

typedef struct pf_main {
  int argc;
  char **argv;
  int code;
} pf_main;

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_main *m = state->input;
  switch (key) {
  case 'V':
    puts("precfuzz " PF_VERSION);
    state->next = state->argc;
    return 0;
  case ARGP_KEY_ARG: {
    const pf_command *c = find_command(arg);
    if (!c)
      argp_error(state, "no command is called '%s'", arg);
    /* the rest is the command's, its name taking the program's place */
    m->code = run_command(c, state->argc - state->next + 1, state->argv + state->next - 1);
    state->next = state->argc;
    return 0;
  }
  case ARGP_KEY_NO_ARGS:
    if (state->argc == 1)
      argp_error(state, "COMMAND is missing");
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* A full disk or a closed pipe must not look like success, --help's exit included. */
static void close_output(void)
{
  const bool failed = ferror(stdout);
  errno = 0;
  if (fclose(stdout) || failed) {
    fprintf(stderr, "precfuzz: standard output: %s\n", errno ? strerror(errno) : "write error");
    _exit(PF_EXIT_MACHINERY);
  }
}

int main(int argc, char **argv)
{
  static const struct argp argp = {.options = options, .parser = parse,
                                   .args_doc = "COMMAND [ARGUMENT...]", .doc = doc,
                                   .help_filter = help_filter};
  pf_main m = {.argc = argc, .argv = argv};
  atexit(close_output);
  signal(SIGPIPE, SIG_IGN);
  argp_err_exit_status = PF_EXIT_BAD_INPUT;
  const error_t e = argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &m);
  return e ? pf_cli_fail(PF_EXIT_MACHINERY, "%s", strerror(e)) : m.code;
}
