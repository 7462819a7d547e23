/* precfuzz show: a case, readably. */
#include "json.h"

#include <inttypes.h>
#include <math.h>

#include "form_text.h"

enum { SMALL = 64, WIDTH = 100 };  /* elements, columns */

typedef struct pf_show_command {
  const char *path;
  pf_form form;
  bool all, json_wanted;
} pf_show_command;

static const struct argp_option options[] = {
  {.name = "all", .key = 'a', .doc = "All elements, also of tensors with more than 64"},
  {0}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_show_command *c = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &c->form;
    state->child_inputs[1] = &c->json_wanted;
    return 0;
  case 'a': c->all = true; return 0;
  case ARGP_KEY_ARG:
    if (c->path)
      argp_error(state, "one FILE at a time");
    c->path = arg;
    return 0;
  case ARGP_KEY_NO_ARGS: argp_error(state, "FILE is missing"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static void print_values(const pf_values *v)
{
  printf("         values %s", pf_kind_name(v->kind));
  if (v->mix)
    printf(", %d of 256 %s", v->mix, pf_kind_name(v->other));
  if (v->kind != PF_VERBATIM)
    printf(", seed %" PRIu32, v->seed);
  if (v->edit_count)
    printf(", %" PRId64 " edit%s", v->edit_count, v->edit_count == 1 ? "" : "s");
  putchar('\n');
}

static void print_scale(const pf_scale *s)
{
  if (s->kind == PF_SCALE_NONE)
    return;
  printf("         scale by %s", pf_scale_kind_name(s->kind));
  if (s->kind == PF_SCALE_BLOCK)
    printf(" of %d", s->block);
  if (s->values)
    printf(", %" PRId64 " given\n", s->count);
  else
    printf(", seed %" PRIu32 "\n", s->seed);
}

static void print_layout(const pf_operand *o)
{
  printf("  %s", pf_operand_dense(o) ? "dense" : "strides ");
  if (!pf_operand_dense(o))
    pf_cli_print_dims('(', o->rank, o->stride, ')', stdout);
  printf(", offset %" PRId64 ", %" PRId64 " element%s", o->offset, pf_operand_count(o),
         pf_operand_count(o) == 1 ? "" : "s");
}

/* Adds one to a row-major index. */
static void step_index(const pf_operand *o, int64_t *index)
{
  for (int i = o->rank - 1; i >= 0 && ++index[i] == o->dim[i]; i--)
    index[i] = 0;
}

static int64_t place(const pf_operand *o, const int64_t *index)
{
  int64_t at = o->offset;
  for (int i = 0; i < o->rank; i++)
    at += index[i] * o->stride[i];
  return at;
}

/* One line a vector along the last dimension, broken where it is too long. */
static void print_elements(const pf_problem *p, pf_role role)
{
  const pf_operand *o = &p->what->operand[role];
  const pf_dtype_info *t = pf_dtype_of(o->dtype);
  const int64_t count = pf_operand_count(o), last = o->rank ? o->dim[o->rank - 1] : 1;
  const int digits = t->bytes == 8 ? 17 : 9;
  int64_t index[PF_MAX_RANK] = {0};
  int column = 0;
  for (int64_t i = 0; i < count; i++, step_index(o, index)) {
    const char *at = (const char *)p->storage[role] + place(o, index) * t->bytes;
    char text[64];
    const int length = snprintf(text, sizeof text, "%.*g:%0*" PRIx64, digits, pf_load(o->dtype, at),
                                2 * t->bytes, pf_load_bits(o->dtype, at));
    if (i % last == 0 || column + 2 + length > WIDTH) {
      if (i)
        putchar('\n');
      printf("         ");
      pf_cli_print_dims('[', o->rank, index, ']', stdout);
      column = 24 + o->rank;
    }
    column += printf("  %s", text);
  }
  if (count)
    putchar('\n');
}

static void print_operand(const pf_problem *p, pf_role role, bool all)
{
  const pf_operand *o = &p->what->operand[role];
  if (!o->present)
    return;
  printf("%-8s ", pf_role_name(role));
  fputs(pf_dtype_of(o->dtype)->name, stdout);
  pf_cli_print_dims('[', o->rank, o->dim, ']', stdout);
  print_layout(o);
  if (role == PF_OUT) {
    printf("%s\n", p->what->out_is_c ? ", in place of c" : "");
    return;
  }
  putchar('\n');
  print_values(&o->values);
  print_scale(&o->scale);
  if (all || pf_operand_count(o) <= SMALL)
    print_elements(p, role);
}

static void print_case(const pf_case_file *f, const pf_problem *p, bool all)
{
  const pf_case *c = &f->what;
  const pf_shape *s = &p->shape;
  pf_text_print(c, stdout);
  printf("\n\nform     %s, %zu bytes\n", pf_form_name(f->form), f->file.size);
  if (c->origin)
    printf("origin   %s\n", c->origin);
  printf("graph    %s\n", pf_graph_of(c->graph)->torch);
  printf("sizes    B %" PRId64 ", M %" PRId64 ", N %" PRId64 ", K %" PRId64 ": %" PRId64
         " results, %" PRId64 " products\n", s->batches, s->m, s->n, s->k, s->outputs, s->work);
  if (pf_graph_of(c->graph)->has_c)
    printf("alpha    %.9g (%a)\nbeta     %.9g (%a)\n", c->alpha, c->alpha, c->beta, c->beta);
  for (int r = 0; r < PF_ROLE_COUNT; r++)
    print_operand(p, (pf_role)r, all);
}

/* --- as JSON ------------------------------------------------------------------------------- */

static json_t *values_json(const pf_values *v)
{
  const bool verbatim = v->kind == PF_VERBATIM;
  return json_pack("{s:s, s:s?, s:i, s:o, s:I}", "kind", pf_kind_name(v->kind),
                   "other", v->mix ? pf_kind_name(v->other) : NULL, "mix", v->mix,
                   "seed", verbatim ? json_null() : json_integer(v->seed),
                   "edits", (json_int_t)v->edit_count);
}

static json_t *scale_json(const pf_scale *s)
{
  if (s->kind == PF_SCALE_NONE)
    return json_null();
  return json_pack("{s:s, s:o, s:o, s:o}", "kind", pf_scale_kind_name(s->kind),
                   "block", s->kind == PF_SCALE_BLOCK ? json_integer(s->block) : json_null(),
                   "given", s->values ? json_integer(s->count) : json_null(),
                   "seed", s->values ? json_null() : json_integer(s->seed));
}

static json_t *element_json(const pf_operand *o, const void *at)
{
  json_t *number = pf_json_number(pf_load(o->dtype, at));
  pf_json_set(&number, "bits", json_sprintf("0x%0*" PRIx64, 2 * pf_dtype_of(o->dtype)->bytes,
                                            pf_load_bits(o->dtype, at)));
  return number;
}

static void put_elements(pf_json *j, const pf_problem *p, pf_role role)
{
  const pf_operand *o = &p->what->operand[role];
  const int64_t count = pf_operand_count(o);
  int64_t index[PF_MAX_RANK] = {0};
  pf_json_open(j, "elements", '[');
  for (int64_t i = 0; i < count; i++, step_index(o, index))
    pf_json_put(j, NULL, element_json(o, (const char *)p->storage[role] +
                                             place(o, index) * pf_dtype_of(o->dtype)->bytes));
  pf_json_close(j);
}

static void put_operand(pf_json *j, const pf_problem *p, pf_role role, bool all)
{
  const pf_operand *o = &p->what->operand[role];
  const bool input = role != PF_OUT;
  if (!o->present)
    return;
  pf_json_open(j, NULL, '{');
  pf_json_put(j, "role", json_string(pf_role_name(role)));
  pf_json_put(j, "dtype", json_string(pf_dtype_of(o->dtype)->name));
  pf_json_put(j, "dims", pf_json_sizes(o->rank, o->dim));
  pf_json_put(j, "strides", pf_json_sizes(o->rank, o->stride));
  pf_json_put(j, "offset", json_integer(o->offset));
  pf_json_put(j, "dense", json_boolean(pf_operand_dense(o)));
  pf_json_put(j, "in_place_of_c", json_boolean(!input && p->what->out_is_c));
  pf_json_put(j, "values", input ? values_json(&o->values) : json_null());
  pf_json_put(j, "scale", input ? scale_json(&o->scale) : json_null());
  if (input && (all || pf_operand_count(o) <= SMALL))
    put_elements(j, p, role);
  else
    pf_json_put(j, "elements", json_null());
  pf_json_close(j);
}

static int put_case(const pf_show_command *c, const pf_case_file *f, const pf_problem *p)
{
  const pf_graph_info *graph = pf_graph_of(f->what.graph);
  pf_json j;
  pf_json_start(&j, "show", false);
  pf_json_put_file(&j, f, c->path);
  pf_json_put(&j, "bytes", pf_json_whole(f->file.size));
  pf_json_put(&j, "alpha", graph->has_c ? pf_json_number(f->what.alpha) : json_null());
  pf_json_put(&j, "beta", graph->has_c ? pf_json_number(f->what.beta) : json_null());
  pf_json_open(&j, "tensors", '[');
  for (int r = 0; r < PF_ROLE_COUNT; r++)
    put_operand(&j, p, (pf_role)r, c->all);
  pf_json_close(&j);
  return pf_json_end(&j, PF_EXIT_CLEAN);
}

int pf_cmd_show(int argc, char **argv)
{
  static const struct argp_child children[] = {
    {.argp = &pf_form_argp}, {.argp = &pf_json_argp}, {0}};
  static const struct argp argp = {
    .options = options, .parser = parse, .args_doc = "FILE", .children = children,
    .doc = "Prints a case as one line of text, then what it says, part by part.\v"
           "Elements are written VALUE:ENCODING, the encoding in hex, row-major."};
  pf_show_command c = {0};
  pf_arena arena = {0};
  pf_case_file f;
  pf_problem p;
  argp_parse(&argp, argc, argv, 0, NULL, &c);
  int code = pf_case_file_read(c.path, c.form, &arena, &f);
  if (!code && pf_problem_build(&f.what, &arena, &p))
    code = pf_cli_fail(PF_EXIT_MACHINERY, "%s: out of memory", c.path);
  if (!code && c.json_wanted)
    code = put_case(&c, &f, &p);
  else if (!code)
    print_case(&f, &p, c.all);
  pf_case_file_free(&f);
  pf_arena_free(&arena);
  return code;
}
