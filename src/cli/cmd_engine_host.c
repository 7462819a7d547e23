/* precfuzz engine-host: an engine of this process for a precfuzz at the other end of standard input
   and output, perhaps on another machine. */
#include "cli.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static error_t parse(int key, char *arg, struct argp_state *state)
{
  const char **spec = state->input;
  switch (key) {
  case ARGP_KEY_ARG:
    if (*spec)
      argp_error(state, "one ENGINE");
    *spec = arg;
    return 0;
  case ARGP_KEY_NO_ARGS: argp_error(state, "ENGINE is missing"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* Libraries that print must not print into the conversation. */
static int take_output(void)
{
  const int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (out >= 0)
    dup2(STDERR_FILENO, STDOUT_FILENO);
  return out;
}

int pf_cmd_engine_host(int argc, char **argv)
{
  static const struct argp argp = {
    .parser = parse, .args_doc = "ENGINE",
    .doc = "Opens an engine and runs what is asked on standard input (docs/engines.md).\v"
           "precfuzz check --engine 'exec:DNNL_MAX_CPU_ISA=AVX2 precfuzz engine-host onednn' FILE "
           "gives a library surroundings of its own; by way of ssh, another machine."};
  const char *spec = NULL;
  argp_parse(&argp, argc, argv, 0, NULL, &spec);
  const int out = take_output();
  if (out < 0)
    return pf_cli_fail(PF_EXIT_MACHINERY, "standard output cannot be taken");
  pf_options o;
  pf_error e = {0};
  pf_options_default(&o);
  unsetenv("PRECFUZZ_ENGINES");
  unsetenv("PRECFUZZ_ENGINES_FILE");
  const pf_status status = pf_environment_read(&o, &e);  /* threads */
  if (status)
    return pf_cli_report(status, &e, false, NULL);
  return pf_plugin_serve(spec, &o.opening, STDIN_FILENO, out) ? PF_EXIT_BAD_INPUT
                                                                : PF_EXIT_CLEAN;
}
