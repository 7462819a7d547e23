/* The results of a case, found among the tensors of a file.

   A tensor is called GRAPH.STRATEGY or STRATEGY after the row that it claims to follow, or out if
   it claims none; an array of NumPy's has no name and claims none.  --tensor takes a tensor of any
   name, and claims in an index or --strategy go before names. */
#include "judge.h"

#include <string.h>

#include "tensor_case.h"
#include "tensorfile_open.h"

typedef struct pf_search {
  const pf_judge_choice *choice;
  pf_arena *arena;
  pf_judge_case *in;
  const pf_tensor_file *from;
} pf_search;

static pf_quoted quote(const char *name)
{
  return pf_quote(name, strlen(name));
}

static int bad_tensor(const pf_search *s, const pf_tensor_entry *t, const char *why)
{
  const bool named = *t->name;
  return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: %s%s%s%s", s->in->got, named ? "tensor '" : "",
                     named ? quote(t->name).text : "", named ? "': " : "", why);
}

/* --- names --------------------------------------------------------------------------------- */

static const pf_claim *claim_of(const pf_search *s, const char *tensor)
{
  const pf_judge_item *item = s->in->item;
  for (size_t i = 0; i < item->claims; i++)
    if (!strcmp(item->claim[i].tensor, tensor))
      return &item->claim[i];
  return NULL;
}

/* What is left of the name behind "GRAPH.". */
static const char *split_name(const char *name, pf_graph *graph)
{
  const char *dot = strchr(name, '.');
  pf_graph g;
  if (!dot || !pf_graph_find(name, (size_t)(dot - name), &g))
    return name;
  *graph = g;
  return dot + 1;
}

/* Which graph and row the tensor is a result of, by its name. */
static int resolve(const pf_search *s, const pf_tensor_entry *t, pf_judge_output *out)
{
  const pf_claim *claim = claim_of(s, t->name);
  const char *rest = split_name(t->name, &out->graph);
  const bool open = !*rest || !strcmp(rest, "out") || s->choice->tensor;
  const pf_row *row = pf_row_find(out->graph, claim ? claim->row : rest);
  char why[200];
  if (s->choice->options->strategy_count && (open || row || claim || rest != t->name))
    return PF_EXIT_CLEAN;  /* --strategy says what it is */
  out->row = row ? row->strategy : NULL;
  if (row || (open && !claim))
    return PF_EXIT_CLEAN;
  if (!claim && rest == t->name)
    return bad_tensor(s, t, "neither an operand nor a result, which is called GRAPH.STRATEGY, "
                            "STRATEGY or out (--tensor takes any name)");
  snprintf(why, sizeof why, "%s has no strategy '%s' (--tensor and --strategy say what it is)",
           pf_graph_of(out->graph)->name, quote(claim ? claim->row : rest).text);
  return bad_tensor(s, t, why);
}

/* --- dtypes and shapes --------------------------------------------------------------------- */

/* Does the row give a dtype that NumPy cannot name? */
static bool gives_raw(const pf_case *c, const char *text, pf_dtype *out)
{
  pf_plan plan;
  if (!text || pf_plan_parse("", text, c, &plan, NULL))
    return false;
  *out = plan.step[plan.count - 1].storage;
  return *out == PF_BF16 || (*out >= PF_F8_E4M3FN && *out <= PF_F8_E5M2FNUZ);
}

/* What raw words are, by the rows that they may follow. */
static bool raw_dtype(const pf_case *c, const pf_options *o, pf_dtype *out)
{
  for (int i = 0; i < o->strategy_count; i++) {
    const pf_row *row = pf_row_find(c->graph, o->strategy[i].name);
    if (gives_raw(c, o->strategy[i].text ? o->strategy[i].text : row ? row->text : NULL, out))
      return true;
  }
  for (const pf_row *row = pf_rows; !o->strategy_count && row->text; row++)
    if (row->graph == c->graph && gives_raw(c, row->text, out))
      return true;
  return false;
}

static void print_shape(int rank, const int64_t *dim, char *to, size_t size)
{
  FILE *out = fmemopen(to, size, "w");
  to[0] = 0;
  if (!out)
    return;
  pf_cli_print_dims('[', rank, dim, ']', out);
  fclose(out);
}

/* Of the result that the tensor's graph has on the case's operands. */
static int check_shape(const pf_search *s, const pf_tensor_entry *t, pf_graph graph)
{
  pf_case target;
  pf_error e = {0};
  char got[200], wanted[160], why[400];
  if (pf_case_retarget(&s->in->file.what, graph, &target, &e)) {
    snprintf(why, sizeof why, "the case is none of %s: %s", pf_graph_of(graph)->name, e.text);
    return bad_tensor(s, t, why);
  }
  const pf_shape shape = pf_case_shape(&target);
  if (t->rank == shape.out_rank && !memcmp(t->dim, shape.out, t->rank * sizeof *t->dim))
    return PF_EXIT_CLEAN;
  print_shape(t->rank, t->dim, got, sizeof got);
  print_shape(shape.out_rank, shape.out, wanted, sizeof wanted);
  snprintf(why, sizeof why, "shape %s, but the case's result is %s", got, wanted);
  return bad_tensor(s, t, why);
}

/* --- the file ------------------------------------------------------------------------------ */

static int add_output(pf_search *s, const pf_tensor_entry *t)
{
  pf_judge_output *o = &s->in->output[s->in->outputs];
  char why[160];
  *o = (pf_judge_output){.tensor = t, .graph = s->in->file.what.graph};
  int code = resolve(s, t, o);
  if (code)
    return code;
  if (!t->has_dtype) {
    snprintf(why, sizeof why, "%s: no dtype that a row of %s gives", quote(t->dtype_name).text,
             pf_graph_of(o->graph)->name);
    return bad_tensor(s, t, why);
  }
  code = check_shape(s, t, o->graph);
  if (code)
    return code;
  pf_graph ignored;
  pf_engine_give(t, split_name(t->name, &ignored), &o->given);
  s->in->outputs++;
  return PF_EXIT_CLEAN;
}

static int check_operands(const pf_search *s)
{
  pf_problem p;
  pf_case_tensors own;
  pf_error e = {0};
  if (pf_problem_build(&s->in->file.what, s->arena, &p) ||
      pf_tensor_case_list(&p, s->arena, &own))
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  for (size_t i = 0; i < s->from->count; i++) {
    const pf_tensor_entry *t = &s->from->entry[i];
    const pf_status status =
        pf_tensor_case_names(t->name) ? pf_tensor_case_compare(&own, t, &e) : PF_OK;
    if (status)
      return pf_cli_report(status, &e, false, s->in->got);
  }
  return PF_EXIT_CLEAN;
}

static int check_claims(const pf_search *s)
{
  const pf_judge_item *item = s->in->item;
  for (size_t i = 0; i < item->claims; i++)
    if (!pf_tensor_file_find(s->from, item->claim[i].tensor))
      return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: no tensor '%s', of which the index speaks",
                         s->in->got, quote(item->claim[i].tensor).text);
  return PF_EXIT_CLEAN;
}

static int find_outputs(pf_search *s)
{
  const char *chosen = s->choice->tensor;
  s->in->output = pf_alloc_array(s->arena, s->from->count, sizeof *s->in->output);
  if (!s->in->output)
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  int code = check_operands(s);
  if (!code)
    code = check_claims(s);
  for (size_t i = 0; i < s->from->count && !code; i++) {
    const pf_tensor_entry *t = &s->from->entry[i];
    if (chosen ? !strcmp(t->name, chosen) : !pf_tensor_case_names(t->name))
      code = add_output(s, t);
  }
  if (code || s->in->outputs)
    return code;
  return chosen ? pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: --tensor: there is no '%s'", s->in->got,
                              chosen)
                : pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: no result to judge", s->in->got);
}

static int open_tensors(pf_search *s)
{
  pf_judge_case *c = s->in;
  pf_dtype raw;
  pf_error e = {0};
  s->from = &c->file.tensors;
  if (!c->item->got)
    return c->file.form == PF_FORM_SAFETENSORS
               ? PF_EXIT_CLEAN
               : pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: holds no results: --got OUT says where they "
                                                "are", c->item->path);
  const bool has_raw = raw_dtype(&c->file.what, s->choice->options, &raw);
  const pf_status status =
      pf_tensor_file_open(c->item->got, has_raw ? &raw : NULL, &c->tensors, &e);
  s->from = &c->tensors;
  if (status == PF_IO_ERROR)
    return pf_cli_report(status, &e, false, NULL);
  return status ? pf_cli_report(status, &e, true, c->item->got) : PF_EXIT_CLEAN;
}

int pf_judge_case_open(const pf_judge_item *item, const pf_judge_choice *choice, pf_arena *a,
                       pf_judge_case *out)
{
  pf_search s = {.choice = choice, .arena = a, .in = out};
  *out = (pf_judge_case){.item = item, .got = item->got ? item->got : item->path};
  int code = pf_case_file_read(item->path, choice->form, a, &out->file);
  if (!code)
    code = open_tensors(&s);
  return code ? code : find_outputs(&s);
}

void pf_judge_case_close(pf_judge_case *c)
{
  pf_tensor_file_close(&c->tensors);
  pf_case_file_free(&c->file);
}
