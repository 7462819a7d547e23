/* precfuzz encode: a case, a line of text or a file of any form, to a case file. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#include "form_archive.h"
#include "form_fuzz.h"
#include "form_text.h"
#include "safetensors.h"
#include "tensor_case.h"

typedef struct pf_encode_command {
  const char *text, *output, *rest, *origin;
  pf_form form;
  const char *graph_name;
  pf_graph graph;
} pf_encode_command;

enum { KEY_GRAPH = 256, KEY_REST, KEY_ORIGIN };

static const struct argp_option options[] = {
  {.name = "output", .key = 'o', .arg = "FILE",
   .doc = "Where to; an existing file is replaced, - is standard output"},
  {.name = "form", .key = 'f', .arg = "FORM",
   .doc = "fuzz (default: a seed for fuzzers), archive (for regressions: every later build reads "
          "it), text, or safetensors (for those who compute it elsewhere: precfuzz judge)"},
  {.name = "graph", .key = KEY_GRAPH, .arg = "GRAPH",
   .doc = "What a safetensors file with the operands x, y, bias, c is a case of, where it does not "
          "say"},
  {.name = "origin", .key = KEY_ORIGIN, .arg = "TEXT",
   .doc = "Where the values come from, one line, kept by the forms fuzz and archive"},
  {.name = "rest", .key = KEY_REST, .arg = "FILE",
   .doc = "Where a safetensors file's other tensors go, its results: another safetensors file"},
  {0}
};

static const char doc[] =
    "Turns TEXT, a case as one line, into a case file.\v"
    "@FILE reads the line, or a case as an archive or in safetensors, from a file, - from standard "
    "input.  For example\n\n"
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
      argp_error(state, "--form: '%s' is none of fuzz, archive, text, safetensors", arg);
    return 0;
  case KEY_GRAPH:
    c->graph_name = arg;
    if (!pf_graph_find(arg, strlen(arg), &c->graph))
      argp_error(state, "--graph: there is no '%s' (see precfuzz strategies)", arg);
    return 0;
  case KEY_ORIGIN:
    c->origin = arg;
    if (!pf_origin_is(arg, strlen(arg)))
      argp_error(state, "--origin: not a line of 1 to %d printable ASCII characters",
                 PF_ORIGIN_TEXT - 1);
    return 0;
  case KEY_REST: c->rest = arg; return 0;
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

/* From the command line, or the file that it names.  Bytes that are no case but in the fuzz form,
   which all are, are text with a mistake. */
static int read_case(const pf_encode_command *e, pf_arena *a, pf_case_file *f)
{
  const bool named = e->text[0] == '@' || !strcmp(e->text, "-");
  if (named) {
    const int code = pf_file_read(e->text[0] == '@' ? e->text + 1 : e->text, &f->file);
    if (code)
      return code;
  } else {
    f->file = (pf_file){"TEXT", (uint8_t *)strdup(e->text), strlen(e->text)};
    if (!f->file.data)
      return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  }
  const pf_form form = named ? pf_file_form(&f->file) : PF_FORM_TEXT;
  if ((e->graph_name || e->rest) && form != PF_FORM_SAFETENSORS)
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: no safetensors file, which %s goes with",
                       f->file.name, e->graph_name ? "--graph" : "--rest");
  return pf_case_file_decode(f, form == PF_FORM_FUZZ ? PF_FORM_TEXT : form,
                             e->graph_name ? &e->graph : NULL, a);
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

static int no_pipe(const char *option)
{
  return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: a safetensors file is not written to standard output",
                     option);
}

static int write_tensors(const pf_case *c, const char *path, pf_arena *a)
{
  pf_problem p;
  pf_error e = {0};
  if (!strcmp(path, "-"))
    return no_pipe("--output");
  if (pf_problem_build(c, a, &p))
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  return pf_cli_written(pf_tensor_case_write(path, &p, NULL, 0, a, &e), &e, path);
}

/* What is no part of the case, with what the metadata says but of the case. */
static int write_rest(const pf_tensor_file *f, const char *path, pf_arena *a)
{
  pf_tensor_entry *entry = pf_alloc_array(a, f->count, sizeof *entry);
  pf_metadata *metadata = pf_alloc_array(a, f->metadata_count, sizeof *metadata);
  size_t entries = 0, texts = 0;
  pf_error e = {0};
  if (!strcmp(path, "-"))
    return no_pipe("--rest");
  if (!entry || !metadata)
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  for (size_t i = 0; i < f->count; i++)
    if (!pf_tensor_case_names(f->entry[i].name))
      entry[entries++] = f->entry[i];
  for (size_t i = 0; i < f->metadata_count; i++)
    if (strncmp(f->metadata[i].key, "precfuzz.", 9))
      metadata[texts++] = f->metadata[i];
  return pf_cli_written(pf_safetensors_write(path, entry, entries, metadata, texts, &e), &e, path);
}

static int write_case(const pf_encode_command *e, const pf_case_file *f, pf_arena *a)
{
  pf_error why = {0};
  uint8_t *data;
  size_t size;
  if (e->form == PF_FORM_TEXT)
    return write_text(&f->what, e->output);
  if (e->form == PF_FORM_SAFETENSORS)
    return write_tensors(&f->what, e->output, a);
  const pf_status status = e->form == PF_FORM_ARCHIVE
                               ? pf_archive_encode(&f->what, a, &data, &size, &why)
                               : pf_fuzz_encode(&f->what, a, &data, &size, &why);
  if (status)
    return pf_cli_report(status, &why, false, f->file.name);
  return pf_cli_write(e->output, data, size);
}

int pf_cmd_encode(int argc, char **argv)
{
  static const struct argp argp = {
    .options = options, .parser = parse, .args_doc = "TEXT", .doc = doc};
  pf_encode_command c = {.form = PF_FORM_FUZZ};
  pf_arena arena = {0};
  pf_case_file f = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &c);
  int code = read_case(&c, &arena, &f);
  if (c.origin)
    f.what.origin = c.origin;
  if (!code)
    code = write_case(&c, &f, &arena);
  if (!code && c.rest)
    code = write_rest(&f.tensors, c.rest, &arena);
  pf_case_file_free(&f);
  pf_arena_free(&arena);
  return code;
}
