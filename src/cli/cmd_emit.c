/* precfuzz emit: a case as a program that needs no precfuzz. */
#include "cli.h"

#include <stdlib.h>

#include "emit.h"

typedef struct pf_emit_command {
  const char *path, *output, *engine;
  pf_form form;
  int target;  /* pf_emit_target; -1: not chosen */
} pf_emit_command;

enum { KEY_TARGET = 256 };

static const struct argp_option options[] = {
  {.name = "pytorch", .key = KEY_TARGET + PF_EMIT_PYTORCH,
   .doc = "A script that asks backends of PyTorch; needs torch"},
  {.name = "numpy", .key = KEY_TARGET + PF_EMIT_NUMPY,
   .doc = "A script that asks NumPy; needs numpy.  What NumPy has no dtype for is cast to f32"},
  {.name = "c", .key = KEY_TARGET + PF_EMIT_C,
   .doc = "A program in C that calls the library of --engine; its first lines say how it is "
          "compiled"},
  {.name = "engine", .key = 'e', .arg = "NAME", .doc = "With --c: openblas, onednn:runtime, ...; "
   "with --pytorch, torch:linear: its call"},
  {.name = "output", .key = 'o', .arg = "FILE",
   .doc = "Where to; an existing file is replaced (default: standard output)"},
  {0}
};

static const char doc[] =
    "Writes a case as a program of its own, for who has no precfuzz: it rebuilds the operands bit "
    "for bit, with strides and offsets, and prints what is answered beside what is exact.\v"
    "For example\n\n"
    "  precfuzz emit --pytorch FILE -o case.py\n"
    "  python3 case.py eager inductor\n\n"
    "The script takes names of backends (eager, aot_eager, inductor) and prints the eight elements "
    "that are furthest from the exact value.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_emit_command *c = state->input;
  switch (key) {
  case ARGP_KEY_INIT: state->child_inputs[0] = &c->form; return 0;
  case 'o': c->output = arg; return 0;
  case 'e': c->engine = arg; return 0;
  case ARGP_KEY_ARG:
    if (c->path)
      argp_error(state, "one FILE at a time");
    c->path = arg;
    return 0;
  case ARGP_KEY_END:
    if (c->target < 0)
      argp_error(state, "--pytorch, --numpy or --c: which program?");
    if (c->target == PF_EMIT_C && !c->engine)
      argp_error(state, "--c needs --engine");
    if (c->target == PF_EMIT_NUMPY && c->engine)
      argp_error(state, "--engine goes with --c or --pytorch");
    if (!c->path)
      argp_error(state, "FILE is missing");
    return 0;
  default:
    if (key < KEY_TARGET || key >= KEY_TARGET + PF_EMIT_TARGETS)
      return ARGP_ERR_UNKNOWN;
    if (c->target >= 0 && c->target != key - KEY_TARGET)
      argp_error(state, "one program at a time");
    c->target = key - KEY_TARGET;
    return 0;
  }
}

static int emit(const pf_emit_command *c, const pf_case *what, pf_arena *a)
{
  const pf_emit_wish wish = {.target = (pf_emit_target)c->target, .engine = c->engine,
                             .environment = pf_variables_list(c->target == PF_EMIT_C, a)};
  pf_problem p;
  pf_error e = {0};
  char *text = NULL;
  size_t size;
  if (!wish.environment || pf_problem_build(what, a, &p))
    return pf_cli_fail(PF_EXIT_MACHINERY, "%s: out of memory", c->path);
  FILE *to = open_memstream(&text, &size);
  if (!to)
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  const pf_status status = pf_emit(&p, &wish, a, to, &e);
  const bool failed = ferror(to);
  int code = PF_EXIT_CLEAN;
  if (fclose(to) || failed)
    code = pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  else if (status)
    code = pf_cli_report(status, &e, false, c->path);
  else
    code = pf_cli_write(c->output, (const uint8_t *)text, size);
  free(text);
  return code;
}

int pf_cmd_emit(int argc, char **argv)
{
  static const struct argp_child children[] = {{.argp = &pf_form_argp}, {0}};
  static const struct argp argp = {.options = options, .parser = parse, .args_doc = "FILE",
                                   .doc = doc, .children = children};
  pf_emit_command c = {.target = -1, .output = "-"};
  pf_arena arena = {0};
  pf_case_file f;
  argp_parse(&argp, argc, argv, 0, NULL, &c);
  int code = pf_case_file_read(c.path, c.form, &arena, &f);
  if (!code)
    code = emit(&c, &f.what, &arena);
  pf_case_file_free(&f);
  pf_arena_free(&arena);
  return code;
}
