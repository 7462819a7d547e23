/* The results of one case and graph, judged together: what an element is asked for serves them all. */
#include "judge.h"

#include <string.h>

enum { HEADING = 160 };  /* characters of a case's text above its results */

/* The results of a case that are results of one graph. */
typedef struct pf_judge_batch {
  pf_judge_command *command;
  const pf_judge_case *in;
  pf_case what;           /* the case, made one of the graph */
  const pf_judge_output *output[PF_MAX_ENGINES];
  int outputs;
  bool rows_named;        /* by --strategy */
  bool headed;
  pf_problem problem;
  pf_result *result;      /* of all outputs and rows, those that nobody asked for left out */
  int results;
} pf_judge_batch;

/* --- which rows ---------------------------------------------------------------------------- */

static void add_row(pf_options *o, const char *name)
{
  for (int i = 0; i < o->strategy_count; i++)
    if (!strcmp(o->strategy[i].name, name))
      return;
  strcpy(o->strategy[o->strategy_count++].name, name);
}

/* Does anybody ask how the output suits this row? */
static bool is_asked(const pf_judge_batch *b, const pf_judge_output *o, const char *strategy)
{
  if (o->row)
    return !strcmp(o->row, strategy);
  return b->rows_named || !pf_row_find(o->graph, strategy)->by_name;
}

/* The rows that the outputs of a batch claim or may follow; a graph has fewer than there is room
   for. */
static void choose_rows(const pf_judge_batch *b, pf_options *o)
{
  if (o->strategy_count)
    return;
  for (const pf_row *r = pf_rows; r->text; r++)
    for (int i = 0; i < b->outputs && r->graph == b->what.graph; i++)
      if (b->output[i]->row ? !strcmp(b->output[i]->row, r->strategy) : !r->by_name)
        add_row(o, r->strategy);
}

/* --- judgements ---------------------------------------------------------------------------- */

static void keep_result(void *user, const pf_result *r)
{
  pf_judge_batch *b = user;
  const pf_given *given = r->engine->data;
  for (int i = 0; i < b->outputs; i++)
    if (&b->output[i]->given == given && is_asked(b, b->output[i], r->strategy)) {
      b->problem = *r->problem;
      b->problem.kept = NULL;  /* the session's */
      b->result[b->results] = *r;
      b->result[b->results++].problem = &b->problem;
      if (b->command->table)
        pf_table_add(b->command->table, r);
    }
}

/* Of two results of one tensor: is a the better one? */
static bool is_better(const pf_result *a, const pf_result *b)
{
  const bool a_wrong = pf_verdict_is_finding(a->verdict);
  const bool b_wrong = pf_verdict_is_finding(b->verdict);
  if (a->verdict == PF_VERDICT_UNSUPPORTED || b->verdict == PF_VERDICT_UNSUPPORTED)
    return b->verdict == PF_VERDICT_UNSUPPORTED && a->verdict != PF_VERDICT_UNSUPPORTED;
  if (!a_wrong || !b_wrong)
    return a_wrong != b_wrong ? !a_wrong : a->verdict < b->verdict;
  if (a->tally.wrong != b->tally.wrong)
    return a->tally.wrong < b->tally.wrong;
  return a->worst.share < b->worst.share;
}

typedef struct pf_judge_look {
  pf_judgement *judgement;
  bool models;            /* tried, or other rows */
  bool fits;              /* a row that is not taken by name only does */
} pf_judge_look;

static void take_models(pf_judgement *j, const pf_result *r)
{
  j->result.models_tried = r->models_tried;
  j->result.match = r->match;
}

static void look(void *user, const pf_result *r)
{
  pf_judge_look *l = user;
  pf_judgement *j = l->judgement;
  if (l->models) {
    take_models(j, r);
    return;
  }
  const pf_row *row = pf_row_find(r->problem->what->graph, r->strategy);
  bool told = !pf_judge_fits(r) || (row->by_name && l->fits);
  for (int i = 0; i < j->rows; i++)
    told |= !strcmp(j->row[i].strategy, r->strategy);
  if (told)
    return;
  j->other[j->others++] = row->strategy;
  l->fits |= !row->by_name;
}

/* What explains a finding: a model of the row that is closest, and rows that nobody tried. */
static pf_status look_closer(const pf_judge_batch *b, pf_judgement *j)
{
  pf_session *s = &b->command->closer;
  pf_options *o = &s->options;
  const pf_options *from = &b->command->settings.session.options;
  pf_judge_look l = {.judgement = j, .models = true, .fits = false};
  if (from->rule.kind != PF_RULE_CONTRACT)
    return PF_OK;
  *o = (pf_options){.engine = {j->result.engine}, .engine_count = 1, .rule = from->rule,
                    .oracle = from->oracle, .strategy_count = 1};
  strcpy(o->strategy[0].name, j->best->strategy);
  for (int i = 0; i < from->strategy_count; i++)
    if (!strcmp(from->strategy[i].name, j->best->strategy))
      o->strategy[0].text = from->strategy[i].text;
  PF_TRY(pf_session_examine(s, &b->what, look, &l));
  l.models = false;
  o->no_models = true;
  o->strategy_count = 0;
  o->strategy[0].text = NULL;
  for (const pf_row *r = pf_rows; r->text; r++)
    if (r->graph == b->what.graph)
      add_row(o, r->strategy);
  return pf_session_examine(s, &b->what, look, &l);
}

static void print_heading(pf_judge_batch *b)
{
  if (!b->headed) {
    printf("%s: ", b->in->item->path);
    pf_cli_print_case(&b->what, HEADING, stdout);
    putchar('\n');
  }
}

static void show(pf_judge_batch *b, const pf_judgement *j, const pf_regression *known)
{
  pf_judge_command *c = b->command;
  if (c->json_wanted) {
    if (!b->headed)
      pf_judge_json_heading(&c->json, b->in, &b->what);
    pf_judgement_json(&c->json, j, &c->settings, c->choice.form, c->counts.cases - 1, known);
  } else {
    print_heading(b);
    pf_judgement_print(j, &c->settings, c->choice.form, known, stdout);
  }
  b->headed = true;
}

/* Counts and shows it. */
static int tell(pf_judge_batch *b, pf_judgement *j)
{
  pf_judge_command *c = b->command;
  const bool wrong = !j->result.machinery && pf_verdict_is_finding(j->result.verdict);
  /* what is known may depend on the model */
  if (wrong && (!c->table || c->settings.known.count) && look_closer(b, j))
    return pf_cli_fail(PF_EXIT_MACHINERY, "%s: out of memory", b->in->item->path);
  const pf_regression *known = pf_settings_know(&c->settings, &j->result);
  const bool finding = pf_counts_add(&c->counts, &j->result, known != NULL);
  if (!c->table && (!c->quiet || finding))
    show(b, j, known);
  if (j->result.machinery)
    return pf_cli_fail(PF_EXIT_MACHINERY, "%s: %s: %s", b->in->got, j->result.engine->name,
                       j->result.why ? j->result.why : pf_status_name(j->result.machinery));
  if (j->result.verdict == PF_VERDICT_UNSUPPORTED)
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: %s: not judged: %s", b->in->got,
                       j->result.engine->name, j->result.why ? j->result.why : "");
  return finding ? PF_EXIT_FINDING : PF_EXIT_CLEAN;
}

static int conclude(pf_judge_batch *b, const pf_judge_output *o, const pf_result *first, int count)
{
  pf_judgement j = {.in = b->in, .output = o, .row = first, .rows = count, .best = first,
                    .several = count > 1};
  for (int i = 1; i < count; i++)
    if (is_better(&first[i], j.best))
      j.best = &first[i];
  j.result = *j.best;
  if (j.several && pf_verdict_is_finding(j.result.verdict))
    j.result.strategy = "any";
  return tell(b, &j);
}

/* Results stand engine by engine. */
static int conclude_all(pf_judge_batch *b)
{
  int code = PF_EXIT_CLEAN;
  for (int first = 0, next; first < b->results; first = next) {
    const pf_judge_output *o = NULL;
    for (next = first + 1; next < b->results &&
                           b->result[next].engine == b->result[first].engine;)
      next++;
    for (int i = 0; i < b->outputs; i++)
      if (&b->output[i]->given.engine == b->result[first].engine)
        o = b->output[i];
    const int failed = conclude(b, o, &b->result[first], next - first);
    code = pf_cli_worse(code, failed);
  }
  return code;
}

/* --- batches ------------------------------------------------------------------------------- */

static pf_status examine(pf_judge_batch *b)
{
  pf_judge_command *c = b->command;
  pf_session *s = &c->settings.session;
  const pf_options before = s->options;
  b->rows_named = before.strategy_count > 0;
  choose_rows(b, &s->options);
  for (int i = 0; i < b->outputs; i++)
    s->options.engine[i] = &b->output[i]->given.engine;
  s->options.engine_count = b->outputs;
  b->result = pf_alloc_array(&s->cases, (size_t)b->outputs * (size_t)PF_MAX_STRATEGIES,
                             sizeof *b->result);
  if (!b->result)
    return PF_NO_MEMORY;
  if (c->table)
    pf_table_start(c->table);
  pf_status status = pf_session_examine(s, &b->what, keep_result, b);
  s->options = before;
  return status || !c->table ? status : pf_table_finish(c->table, s, b->in->item->path);
}

static int judge_batch(pf_judge_batch *b)
{
  const int code = pf_settings_check_rows(&b->command->settings, &b->what, b->in->item->path);
  if (code)
    return code;
  return examine(b) ? pf_cli_fail(PF_EXIT_MACHINERY, "%s: out of memory", b->in->item->path)
                    : conclude_all(b);
}

int pf_judge_graph(pf_judge_command *c, const pf_judge_case *in, pf_graph graph)
{
  pf_judge_batch b = {.command = c, .in = in};
  pf_error e = {0};
  int code = PF_EXIT_CLEAN;
  if (pf_case_retarget(&in->file.what, graph, &b.what, &e))
    return PF_EXIT_CLEAN;  /* then no output is one of the graph */
  for (size_t i = 0; i < in->outputs; i++) {
    if (in->output[i].graph == graph)
      b.output[b.outputs++] = &in->output[i];
    if (b.outputs && (b.outputs == PF_MAX_ENGINES || i + 1 == in->outputs)) {
      const int failed = judge_batch(&b);
      code = pf_cli_worse(code, failed);
      b.outputs = b.results = 0;
    }
  }
  if (c->json_wanted && b.headed) {
    pf_json_close(&c->json);
    pf_json_close(&c->json);
  }
  return code;
}
