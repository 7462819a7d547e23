/* precfuzz encode: a line of text to a case file. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "form_archive.h"
#include "form_fuzz.h"
#include "form_text.h"

typedef struct pf_encode_command {
  const char *text, *output;
  pf_form form;
} pf_encode_command;

static const struct argp_option options[] = {
  {.name = "output", .key = 'o', .arg = "FILE",
   .doc = "Where to; an existing file is replaced, - is standard output"},
  {.name = "form", .key = 'f', .arg = "FORM",
   .doc = "fuzz (default: a seed for fuzzers), archive (for regressions: every later build reads "
          "it) or text"},
  {0}
};

static const char doc[] =
    "Turns TEXT, a case as one line, into a case file.\v"
    "@FILE reads the line from a file, - from standard input.  For example\n\n"
    "  precfuzz encode 'matmul_out_f32_add x=bf16[32,7,1,8] y=bf16[32,7,8,1] "
    "bias=bf16[32,7,1,1]' -o seed\n\n"
    "A tensor: dtype[sizes], where it is not dense (strides)+offset.  Values: x.values=KIND:SEED, "
    "x.values=KIND+OTHER/MIX:SEED, x.bits=HEX,..., x.set=INDEX:HEX,...  Scalars: alpha=, beta=.  "
    "Output: out=(strides)+offset, out=c.  precfuzz show prints such lines.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_encode_command *c = state->input;
  switch (key) {
  case 'o': c->output = arg; return 0;
  case 'f':
    if (!pf_form_find(arg, &c->form) || c->form == PF_FORM_AUTO)
      argp_error(state, "--form: '%s' is none of fuzz, archive, text", arg);
    return 0;
  case ARGP_KEY_ARG:
    if (c->text)
      argp_error(state, "one TEXT, please: put it in quotes");
    c->text = arg;
    return 0;
  case ARGP_KEY_END:
    if (!c->text)
      argp_error(state, "TEXT is missing");
    if (!c->output)
      argp_error(state, "--output FILE is missing");
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* From the command line, or the file that it names. */
static int read_text(const char *text, pf_file *out)
{
  if (!strcmp(text, "-") || text[0] == '@')
    return pf_file_read(text[0] == '@' ? text + 1 : text, out);
  *out = (pf_file){.name = "TEXT", .data = (uint8_t *)strdup(text), .size = strlen(text)};
  return out->data ? PF_EXIT_CLEAN : pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
}

static int write_text(const pf_case *c, const char *path)
{
  char *line = NULL;
  size_t size;
  FILE *to = open_memstream(&line, &size);
  if (!to)
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  pf_text_print(c, to);
  fputc('\n', to);
  const bool failed = ferror(to);
  int code = PF_EXIT_CLEAN;
  if (fclose(to) || failed)
    code = pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  else
    code = pf_cli_write(path, (const uint8_t *)line, size);
  free(line);
  return code;
}

static int encode(const pf_encode_command *e, const pf_file *text, pf_arena *a)
{
  pf_case c;
  pf_error why = {0};
  uint8_t *data;
  size_t size;
  const int code = pf_case_parse(text, a, &c);
  if (code)
    return code;
  if (e->form == PF_FORM_TEXT)
    return write_text(&c, e->output);
  const pf_status status = e->form == PF_FORM_ARCHIVE ? pf_archive_encode(&c, a, &data, &size, &why)
                                                      : pf_fuzz_encode(&c, a, &data, &size, &why);
  if (status)
    return pf_cli_report(status, &why, false, text->name);
  return pf_cli_write(e->output, data, size);
}

int pf_cmd_encode(int argc, char **argv)
{
  static const struct argp argp = {
    .options = options, .parser = parse, .args_doc = "TEXT", .doc = doc};
  pf_encode_command c = {.form = PF_FORM_FUZZ};
  pf_arena arena = {0};
  pf_file text = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &c);
  int code = read_text(c.text, &text);
  if (!code)
    code = encode(&c, &text, &arena);
  pf_file_free(&text);
  pf_arena_free(&arena);
  return code;
}
