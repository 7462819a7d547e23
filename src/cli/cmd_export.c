/* precfuzz export: random cases as safetensors, for those who compute them elsewhere. */
#include "cli.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "form_text.h"
#include "tensor_case.h"

enum {
  MOST_CASES = 100000,
  MOST_IN_VAIN = 1000,     /* cases in a row that no strategy runs */
  FILE_NAME = 32,          /* characters */
  HEADER_ROOM = 1 << 20    /* bytes of a file besides its tensors */
};

typedef struct pf_export_command {
  pf_draw draw;
  uint64_t count, written;
  const char *folder;
  const pf_engine *engine;  /* who computes the outputs; NULL: nobody */
  pf_arena arena;           /* of the case in hand */
  FILE *index;
  pf_progress progress;
} pf_export_command;

static const struct argp_option options[] = {
  {.name = "count", .key = 'n', .arg = "N", .doc = "Cases, up to 100000; default 100", .group = 2},
  {.name = "with-outputs", .key = 'o', .arg = "ENGINE", .flags = OPTION_ARG_OPTIONAL,
   .doc = "Also write what each strategy gives on an engine (reference:forward if none is named)"},
  {0}
};

static const char doc[] =
    "Writes random cases into FOLDER, for a device to compute and precfuzz judge to judge.\v"
    "FOLDER is made, or empty.  Each case is a safetensors file with the operands x, y, bias, c "
    "and scales scale_x, scale_y, dense and in their dtypes; its metadata hold the case.  "
    "index.json lists them: the case's text, graph, the operands' strides and offsets in elements "
    "where a layout is to be kept, the result's shape, and its dtype for each strategy.\n\n"
    "Put a result into the case's file, or into a .safetensors or .npy of the same name in another "
    "folder, as tensor out or by its strategy's name; then\n\n"
    "  precfuzz judge FOLDER [--got OTHER-FOLDER]\n\n"
    "The same seed gives the same cases, those of precfuzz random but for what no strategy runs.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_export_command *c = state->input;
  switch (key) {
  case ARGP_KEY_INIT: state->child_inputs[0] = &c->draw; return 0;
  case 'n': c->count = pf_cli_number(state, "count", arg, 1, MOST_CASES); return 0;
  case 'o':
    arg = arg ? arg : "reference:forward";
    c->engine = pf_engine_find(arg, strlen(arg));
    if (!c->engine)
      argp_error(state, "--with-outputs: no engine is called '%s' (precfuzz engines lists them)",
                 arg);
    return 0;
  case ARGP_KEY_ARG:
    if (c->folder)
      argp_error(state, "one FOLDER, please");
    c->folder = arg;
    return 0;
  case ARGP_KEY_NO_ARGS: argp_error(state, "FOLDER is missing"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static int no_memory(void)
{
  return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
}

/* --- outputs ------------------------------------------------------------------------------- */

/* What the case's tensors are written with: results, and what the index says of them. */
typedef struct pf_export_rows {
  pf_tensor_entry output[PF_MAX_STRATEGIES];
  size_t outputs;
  json_t *dtypes;           /* by strategy */
} pf_export_rows;

/* What one strategy gives, unless the engine does not run it. */
static pf_status add_output(pf_export_command *c, const pf_problem *p, const pf_plan *plan,
                            pf_export_rows *rows)
{
  const pf_dtype t = plan->step[plan->count - 1].storage;
  const pf_shape *s = &p->shape;
  pf_run run;
  const pf_status status = pf_interpret(p, plan, c->engine, &c->arena, &run);
  if (status)
    return status == PF_UNSUPPORTED ? PF_OK : status;
  const int bytes = pf_dtype_of(t)->bytes;
  uint8_t *data = pf_alloc_array(&c->arena, (size_t)s->outputs, (size_t)bytes);
  if (!data)
    return PF_NO_MEMORY;
  for (int64_t i = 0; i < s->outputs; i++)
    pf_store(t, data + i * bytes, run.got[i]);
  pf_tensor_describe(plan->strategy, t, s->out_rank, s->out, data,
                     &rows->output[rows->outputs++]);
  return PF_OK;
}

static pf_status list_rows(pf_export_command *c, const pf_problem *p, pf_export_rows *rows)
{
  pf_plan plan;
  rows->outputs = 0;
  rows->dtypes = json_object();
  for (const pf_row *r = pf_rows; r->text; r++) {
    if (r->graph != p->what->graph || r->by_name ||
        pf_plan_parse(r->strategy, r->text, p->what, &plan, NULL))
      continue;
    const pf_dtype t = plan.step[plan.count - 1].storage;
    if (json_object_set_new(rows->dtypes, r->strategy, json_string(pf_dtype_of(t)->name)))
      return PF_NO_MEMORY;
    if (c->engine)
      PF_TRY(add_output(c, p, &plan, rows));
  }
  return PF_OK;
}

/* --- the index ----------------------------------------------------------------------------- */

static json_t *text_of(const pf_case *c)
{
  char *text = NULL;
  size_t size;
  json_t *string = NULL;
  FILE *to = open_memstream(&text, &size);
  if (!to)
    return NULL;
  pf_tensor_case_print(c, to);
  if (!fclose(to))
    string = json_string(text);
  free(text);
  return string;
}

static json_t *numbers(int count, const int64_t *number)
{
  json_t *list = json_array();
  for (int i = 0; i < count; i++)
    json_array_append_new(list, json_integer(number[i]));
  return list;
}

static json_t *operands_of(const pf_case *c)
{
  json_t *all = json_object();
  for (pf_role r = PF_X; r < PF_ROLE_COUNT; r++) {
    const pf_operand *o = &c->operand[r];
    if (o->present && r != PF_OUT)
      json_object_set_new(all, pf_role_name(r),
                          json_pack("{s:s, s:o, s:o, s:I}", "dtype", pf_dtype_of(o->dtype)->name,
                                    "shape", numbers(o->rank, o->dim), "stride",
                                    numbers(o->rank, o->stride), "offset", (json_int_t)o->offset));
  }
  return all;
}

/* As JSON has it neither: "inf", "nan", and no digit lost. */
static void add_scalar(json_t *entry, const char *name, double value)
{
  char text[40];
  snprintf(text, sizeof text, "%a", value);
  json_object_set_new(entry, name, json_string(text));
}

static int write_entry(pf_export_command *c, const pf_case *what, const char *file,
                       json_t *dtypes)
{
  const pf_shape s = pf_case_shape(what);
  json_t *entry = json_pack("{s:s, s:o, s:s, s:o, s:o, s:O}", "file", file, "case", text_of(what),
                            "graph", pf_graph_of(what->graph)->name, "operands",
                            operands_of(what), "shape", numbers(s.out_rank, s.out), "outputs",
                            dtypes);
  if (!entry)
    return no_memory();
  if (pf_graph_of(what->graph)->has_c) {
    add_scalar(entry, "alpha", what->alpha);
    add_scalar(entry, "beta", what->beta);
  }
  char *line = json_dumps(entry, JSON_COMPACT | JSON_PRESERVE_ORDER);
  json_decref(entry);
  if (!line)
    return no_memory();
  fprintf(c->index, "%s\n    %s", c->written++ ? "," : "", line);
  free(line);
  return PF_EXIT_CLEAN;
}

/* --- cases --------------------------------------------------------------------------------- */

static size_t bytes_of(const pf_problem *p, const pf_export_rows *rows)
{
  size_t bytes = 0;
  for (pf_role r = PF_X; r < PF_OUT; r++) {
    const pf_operand *o = &p->what->operand[r];
    if (o->present)
      bytes += (size_t)pf_operand_count(o) * (size_t)pf_dtype_of(o->dtype)->bytes;
  }
  for (size_t i = 0; i < rows->outputs; i++)
    bytes += rows->output[i].bytes;
  return bytes;
}

static int write_case(pf_export_command *c, const pf_problem *p, const pf_export_rows *rows,
                      const char *file)
{
  char *path = NULL;
  pf_error e = {0};
  const size_t bytes = bytes_of(p, rows);
  if (bytes > PF_LARGEST_FILE - HEADER_ROOM)
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: %zu bytes, more than judge reads; a smaller "
                                          "--max-work gives smaller cases", file, bytes);
  if (asprintf(&path, "%s/%s", c->folder, file) < 0)
    return no_memory();
  const pf_status status =
      pf_tensor_case_write(path, p, rows->output, rows->outputs, &c->arena, &e);
  const int code = pf_cli_written(status, &e, path);
  free(path);
  return code;
}

/* Leaves out a case that no strategy runs. */
static int export_case(pf_export_command *c, uint64_t number)
{
  pf_case what;
  pf_problem p;
  pf_export_rows rows = {.dtypes = NULL};
  char file[FILE_NAME];
  pf_arena_reset(&c->arena);
  snprintf(file, sizeof file, "case%06" PRIu64 ".safetensors", number);
  int code = PF_EXIT_CLEAN;
  if (pf_draw_case(&c->draw, number, &c->arena, &what) ||
      pf_problem_build(&what, &c->arena, &p) || list_rows(c, &p, &rows))
    code = no_memory();
  if (!code && json_object_size(rows.dtypes)) {
    code = write_case(c, &p, &rows, file);
    if (!code)
      code = write_entry(c, &what, file, rows.dtypes);
  }
  json_decref(rows.dtypes);
  return code;
}

static int export_cases(pf_export_command *c)
{
  int code = PF_EXIT_CLEAN;
  uint64_t in_vain = 0;
  pf_progress_start(&c->progress);
  fprintf(c->index, "{\n  \"seed\": %" PRIu64 ",\n  \"cases\": [", c->draw.seed);
  for (uint64_t i = 0; c->written < c->count && !code && !pf_interrupted(); i++) {
    const uint64_t before = c->written;
    if (pf_progress_due(&c->progress))
      fprintf(stderr, "%" PRIu64 " of %" PRIu64 " cases", c->written, c->count);
    code = export_case(c, i);
    in_vain = c->written > before ? 0 : in_vain + 1;
    if (!code && in_vain == MOST_IN_VAIN)
      code = pf_cli_fail(PF_EXIT_BAD_INPUT, "no strategy runs any of %d cases: take other filters",
                         MOST_IN_VAIN);
  }
  pf_progress_clear(&c->progress);
  fputs("\n  ]\n}\n", c->index);
  return code;
}

static int export(pf_export_command *c)
{
  char *text = NULL, *path = NULL;
  size_t size = 0;
  int code = pf_cli_make_folder(c->folder);
  if (code)
    return code;
  c->index = open_memstream(&text, &size);
  if (!c->index || asprintf(&path, "%s/index.json", c->folder) < 0)
    return no_memory();
  code = export_cases(c);
  const bool failed = ferror(c->index);
  if (fclose(c->index) || failed)
    code = no_memory();
  else if (c->written) {
    const int written = pf_cli_write(path, (const uint8_t *)text, size);
    code = pf_cli_worse(code, written);
  }
  if (pf_interrupted())
    puts("interrupted");
  printf("%" PRIu64 " cases in %s, seed %" PRIu64 "\n", c->written, c->folder, c->draw.seed);
  free(text);
  free(path);
  return code;
}

int pf_cmd_export(int argc, char **argv)
{
  static const struct argp_child children[] = {{.argp = &pf_draw_argp}, {0}};
  static const struct argp argp = {.options = options, .parser = parse, .args_doc = "FOLDER",
                                   .doc = doc, .children = children};
  pf_export_command c = {.draw = {.seed = 1, .length = 256}, .count = 100};
  argp_parse(&argp, argc, argv, 0, NULL, &c);
  const int code = export(&c);
  pf_arena_free(&c.arena);
  pf_draw_free(&c.draw);
  return code;
}
