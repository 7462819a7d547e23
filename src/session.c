/* From a case to results.  Runs first, then one pass over the output's elements: the exact sum of
   an element is asked for once and serves every row and engine. */
#include "session.h"

#include <math.h>
#include <string.h>

/* A row bound to the case. */
typedef struct pf_bound_row {
  pf_strategy strategy;
  pf_plan plan;
  pf_status status;
  pf_error error;
} pf_bound_row;

/* A run against an enclosure; under PF_RULE_AGREE also the other run against the other one. */
typedef struct pf_comparison {
  int run, ask, other_run, other_ask;  /* the last two are -1 elsewhere */
  int same_as;                         /* an earlier one with the same steps; -1 */
  pf_result result;
} pf_comparison;

typedef struct pf_bench {
  pf_session *session;
  const pf_case *what;
  pf_problem problem;
  int rows;
  pf_bound_row *row;
  pf_bound_row *promise;
  int runs;                /* engine_count * rows; run e * rows + r */
  pf_run *run;
  pf_status *status;
  int asks;
  pf_ask *ask;             /* the promise's come after those of the runs */
  pf_encloser *encloser;
  bool judgeable;          /* some run has something to be held against */
  int comparisons;
  pf_comparison *comparison;
} pf_bench;

/* --- rows ---------------------------------------------------------------------------------- */

static void bind(pf_bench *b, pf_bound_row *r, const char *name, const char *text)
{
  strncpy(r->strategy.name, name, sizeof r->strategy.name - 1);
  if (!text) {
    const pf_row *row = pf_row_find(b->what->graph, name);
    if (!row) {
      r->status = pf_fail(&r->error, PF_UNSUPPORTED, 0, "the graph has no such row");
      return;
    }
    text = row->text;
  }
  r->status = pf_plan_parse(r->strategy.name, text, b->what, &r->plan, &r->error);
}

static pf_status bind_rows(pf_bench *b)
{
  const pf_options *o = &b->session->options;
  b->row = pf_alloc_array(&b->session->work, PF_MAX_STRATEGIES, sizeof *b->row);
  b->promise = pf_alloc(&b->session->work, sizeof *b->promise);
  if (!b->row || !b->promise)
    return PF_NO_MEMORY;
  for (int i = 0; i < o->strategy_count; i++)
    bind(b, &b->row[b->rows++], o->strategy[i].name, o->strategy[i].text);
  for (const pf_row *r = pf_rows; !o->strategy_count && r->text; r++)
    if (r->graph == b->what->graph && !r->by_name)
      bind(b, &b->row[b->rows++], r->strategy, r->text);
  bind(b, b->promise, pf_graph_of(b->what->graph)->promises, NULL);
  return PF_OK;
}

/* --- runs ---------------------------------------------------------------------------------- */

/* Rows with the same steps are run once: the same call, and the same bits. */
static const pf_run *same_run(const pf_bench *b, int engine, int row)
{
  for (int r = 0; r < row; r++) {
    const int i = engine * b->rows + r;
    if (!b->row[r].status && !b->status[i] && pf_plan_equal(&b->row[r].plan, &b->row[row].plan))
      return &b->run[i];
  }
  return NULL;
}

static pf_status run_all(pf_bench *b)
{
  const pf_options *o = &b->session->options;
  b->runs = o->engine_count * b->rows;
  b->run = pf_alloc_array(&b->session->work, (size_t)b->runs, sizeof *b->run);
  b->status = pf_alloc_array(&b->session->work, (size_t)b->runs, sizeof *b->status);
  if (!b->run || !b->status)
    return PF_NO_MEMORY;
  for (int i = 0; i < b->runs; i++) {
    const int engine = i / b->rows, row = i % b->rows;
    if (b->row[row].status) {
      b->status[i] = b->row[row].status;
      b->run[i].why = b->row[row].error.text;
      continue;
    }
    const pf_run *same = same_run(b, engine, row);
    if (same)
      b->run[i] = *same;
    else
      b->status[i] = pf_interpret(&b->problem, &b->row[row].plan, o->engine[engine],
                                  &b->session->work, &b->run[i]);
    if (b->status[i] == PF_NO_MEMORY)
      return PF_NO_MEMORY;
  }
  return PF_OK;
}

/* --- comparisons --------------------------------------------------------------------------- */

static pf_verdict misdeed_verdict(pf_misdeed m)
{
  switch (m) {
  case PF_WROTE_OUTSIDE: return PF_VERDICT_GUARD;
  case PF_CHANGED_INPUT: return PF_VERDICT_INPUT;
  case PF_CHANGED_FENV: return PF_VERDICT_FENV;
  case PF_MISDEED_NONE: break;
  }
  return PF_VERDICT_OK;
}

static void prepare_result(const pf_bench *b, pf_comparison *c)
{
  const int row = c->run % b->rows;
  pf_result *r = &c->result;
  r->problem = &b->problem;
  r->engine = b->session->options.engine[c->run / b->rows];
  r->strategy = b->row[row].strategy.name;
  r->rule = b->session->options.rule;
  r->worst.element = -1;
  pf_tally_start(&r->tally);
  if (c->other_run >= 0)
    r->against = b->row[c->other_run % b->rows].strategy.name;
  else if (r->rule.kind == PF_RULE_GRAPH)
    r->against = b->promise->strategy.name;
  const int failed = b->status[c->run]                                ? c->run
                     : c->other_run >= 0 && b->status[c->other_run] ? c->other_run
                                                                     : -1;
  if (failed >= 0) {
    const pf_status s = b->status[failed];
    r->verdict = PF_VERDICT_UNSUPPORTED;
    r->machinery = s == PF_UNSUPPORTED ? PF_OK : s;
    r->why = b->run[failed].why;
    return;
  }
  r->plan = &b->row[row].plan;
  r->run = &b->run[c->run];
  r->verdict = misdeed_verdict(b->run[c->run].misdeed);
  if (r->rule.kind == PF_RULE_GRAPH && b->promise->status) {
    r->verdict = PF_VERDICT_UNSUPPORTED;
    r->why = b->promise->error.text;
  }
}

static const pf_plan *plan_of_run(const pf_bench *b, int run)
{
  return run < 0 || b->row[run % b->rows].status ? NULL : &b->row[run % b->rows].plan;
}

static bool same_plans(const pf_bench *b, int run, int other)
{
  const pf_plan *p = plan_of_run(b, run), *q = plan_of_run(b, other);
  return run == other || (p && q && pf_plan_equal(p, q));
}

/* Rows with the same steps come to the same verdict: only the first is judged. */
static int same_comparison(const pf_bench *b, int i)
{
  const pf_comparison *c = &b->comparison[i];
  for (int j = i; j-- > 0 && b->comparison[j].run / b->rows == c->run / b->rows;) {
    const pf_comparison *d = &b->comparison[j];
    if (d->same_as < 0 && !b->status[c->run] && !b->status[d->run] &&
        same_plans(b, d->run, c->run) && same_plans(b, d->other_run, c->other_run))
      return j;
  }
  return -1;
}

static pf_status list_comparisons(pf_bench *b)
{
  const pf_options *o = &b->session->options;
  const int most = o->rule.kind == PF_RULE_AGREE ? b->runs * b->rows : b->runs;
  b->comparison = pf_alloc_array(&b->session->work, (size_t)most, sizeof *b->comparison);
  if (!b->comparison)
    return PF_NO_MEMORY;
  for (int i = 0; i < b->runs; i++) {
    const int engine = i / b->rows;
    if (o->rule.kind != PF_RULE_AGREE)
      b->comparison[b->comparisons++] = (pf_comparison){
        .run = i, .ask = o->rule.kind == PF_RULE_GRAPH ? b->runs + engine : i,
        .other_run = -1, .other_ask = -1};
    for (int j = i + 1; o->rule.kind == PF_RULE_AGREE && j < (engine + 1) * b->rows; j++)
      b->comparison[b->comparisons++] =
          (pf_comparison){.run = i, .ask = j, .other_run = j, .other_ask = i};
  }
  for (int i = 0; i < b->comparisons; i++) {
    prepare_result(b, &b->comparison[i]);
    b->comparison[i].same_as = same_comparison(b, i);
  }
  return PF_OK;
}

/* Asks of runs that failed stand at their place but for the first usable plan: an ask is cheap
   where another has the same answers, and nobody looks at theirs. */
static pf_status list_asks(pf_bench *b)
{
  const pf_options *o = &b->session->options;
  const bool graph = o->rule.kind == PF_RULE_GRAPH;
  const pf_plan *usable = NULL;
  for (int r = 0; r < b->rows && !usable; r++)
    if (!b->row[r].status)
      usable = &b->row[r].plan;
  b->judgeable = usable && !(graph && b->promise->status);
  if (!b->judgeable || pf_rule_is_familiar(&o->rule))
    return PF_OK;
  b->asks = b->runs + (graph ? o->engine_count : 0);
  b->ask = pf_alloc_array(&b->session->work, (size_t)b->asks, sizeof *b->ask);
  if (!b->ask)
    return PF_NO_MEMORY;
  for (int i = 0; i < b->asks; i++) {
    const int engine = i < b->runs ? i / b->rows : i - b->runs;
    const pf_bound_row *row = i < b->runs ? &b->row[i % b->rows] : b->promise;
    b->ask[i].order = o->engine[engine]->sum;
    b->ask[i].plan = graph            ? &b->promise->plan
                     : row->status ? usable
                                   : &row->plan;
  }
  return PF_OK;
}

/* --- elements ------------------------------------------------------------------------------ */

pf_measured pf_measure(pf_encloser *e, const pf_oracle *oracle, const pf_format *out,
                       int64_t element, double got, const pf_enclosure *allowed)
{
  pf_measured m = {.element = element, .got = got, .allowed = *allowed};
  m.magnitude = pf_exact(e, element, &m.special);
  m.exact = m.special ? NAN : oracle->nearest(oracle->state, pf_format_of(PF_F64));
  m.error = !m.special && isfinite(got) ? oracle->distance(oracle->state, got) : INFINITY;
  if (m.error == 0)
    return m;
  m.share = allowed->radius > 0 ? m.error / allowed->radius : INFINITY;
  m.ulps = isfinite(m.exact) ? m.error / pf_ulp(out, m.exact) : INFINITY;
  return m;
}

static const pf_step *last_step(const pf_plan *plan)
{
  return &plan->step[plan->count - 1];
}

static void look_closer(const pf_bench *b, pf_comparison *c, int64_t element, double got,
                        const pf_enclosure *allowed, bool wrong, bool other_side)
{
  pf_tally *t = &c->result.tally;
  const pf_rule *rule = &c->result.rule;
  const pf_format *out = &last_step(c->result.plan)->out;
  const pf_measured m = pf_measure(b->encloser, &b->session->oracle, out, element, got, allowed);
  const double share = rule->kind == PF_RULE_NMSE ? m.error : m.share;
  if (rule->kind == PF_RULE_NMSE && isfinite(m.error))
    pf_nmse_add(&t->nmse, m.error, m.exact);
  if (t->worst >= 0 && (wrong ? t->worst_is_wrong && !(share > t->worst_share)
                              : t->worst_is_wrong || !(share > t->worst_share)))
    return;
  t->worst = element;
  t->worst_share = share;
  t->worst_is_wrong = wrong;
  c->result.worst = m;
  c->result.other_side = other_side;
  c->result.finer =
      wrong && m.share <= 1 && isfinite(allowed->radius) && !pf_rule_is_familiar(rule);
}

static void judge(pf_bench *b, pf_comparison *c, const pf_enclosure *enclosures, int64_t element)
{
  const pf_options *o = &b->session->options;
  pf_tally *t = &c->result.tally;
  const bool familiar = pf_rule_is_familiar(&o->rule);
  const pf_enclosure mine =
      familiar ? pf_rule_enclose(&o->rule, &b->problem, last_step(c->result.plan), b->encloser,
                                 &b->session->oracle, element)
               : enclosures[c->ask];
  if (o->rule.kind == PF_RULE_AGREE && o->only_equal &&
      !pf_set_equal(&mine.set, &enclosures[c->other_ask].set)) {
    t->skipped++;
    return;
  }
  const double got = b->run[c->run].got[element];
  const bool right = pf_tally_element(t, &mine, got);
  if (familiar)
    t->order = 0;  /* such rules know nothing of orders */
  if (!right || o->measure || o->rule.kind == PF_RULE_NMSE)
    look_closer(b, c, element, got, &mine, !right, false);
  b->session->elements++;
  b->session->products += (uint64_t)b->problem.shape.k;
  if (c->other_run < 0)
    return;
  const pf_enclosure *theirs = &enclosures[c->other_ask];
  const double other = b->run[c->other_run].got[element];
  const bool other_right = pf_tally_element(t, theirs, other);
  if (!other_right)
    look_closer(b, c, element, other, theirs, true, true);
  if ((!right || !other_right) && !pf_set_overlap(&mine.set, &theirs->set))
    t->predicted = true;
}

/* Models replay a case hundreds of times: B*M*N*K up to which that takes no more than a moment. */
enum { MODEL_WORK = 1 << 20 };

static pf_status find_model(pf_bench *b, pf_result *r)
{
  const bool wrong = r->verdict == PF_VERDICT_IMPOSSIBLE || r->verdict == PF_VERDICT_SPECIAL;
  if (!wrong || b->session->options.no_models || r->rule.kind != PF_RULE_CONTRACT ||
      b->problem.shape.work > MODEL_WORK)
    return PF_OK;
  r->models_tried = true;
  return pf_model_find(&b->problem, r->plan, r->run->got, &b->session->scratch, &r->match);
}

/* The verdict of a comparison that another stands for. */
static void take_over(pf_comparison *to, const pf_comparison *from)
{
  to->result.verdict = from->result.verdict;
  to->result.tally = from->result.tally;
  to->result.worst = from->result.worst;
  to->result.other_side = from->result.other_side;
  to->result.finer = from->result.finer;
  to->result.models_tried = from->result.models_tried;
  to->result.match = from->result.match;
}

static pf_verdict verdict_of(const pf_result *r)
{
  const pf_verdict v = pf_tally_verdict(&r->tally);
  const bool passes = r->rule.kind != PF_RULE_NMSE || pf_nmse_of(&r->tally.nmse) <= r->rule.nmse;
  return v == PF_VERDICT_OK && !passes ? PF_VERDICT_IMPOSSIBLE : v;
}

static bool is_judged(const pf_comparison *c)
{
  return c->result.verdict == PF_VERDICT_OK && c->same_as < 0;
}

/* Whether an infinity or NaN counts as ORDER depends on the whole set. */
static bool inside(const pf_enclosure *e, double got)
{
  if (got >= e->set.lo && got <= e->set.hi)
    return true;
  return e->whole && pf_set_allows(&e->set, got) && !pf_set_is_open(&e->set);
}

static bool settled(const pf_bench *b, const pf_comparison *c, const pf_enclosure *subset,
                    int64_t element)
{
  return inside(&subset[c->ask], b->run[c->run].got[element]) &&
         (c->other_run < 0 ||
          inside(&subset[c->other_ask], b->run[c->other_run].got[element]));
}

/* Almost every element is right, and certified arithmetic can tell: true if all comparisons of this
   one are settled so, and counted.  What is measured, or judged only where two enclosures are
   equal, needs them exactly. */
static bool settle(pf_bench *b, pf_enclosure *subset, int64_t element)
{
  const pf_options *o = &b->session->options;
  if (o->measure || o->only_equal || pf_rule_is_familiar(&o->rule))
    return false;
  pf_enclose_inside(b->encloser, element, subset);
  for (int i = 0; i < b->comparisons; i++)
    if (is_judged(&b->comparison[i]) && !settled(b, &b->comparison[i], subset, element))
      return false;
  for (int i = 0; i < b->comparisons; i++)
    if (is_judged(&b->comparison[i])) {
      const int sides = b->comparison[i].other_run < 0 ? 1 : 2;
      b->comparison[i].result.tally.judged += sides;
      b->session->elements++;
      b->session->products += (uint64_t)b->problem.shape.k;
    }
  return true;
}

static pf_status judge_all(pf_bench *b)
{
  const char *why = NULL;
  pf_enclosure *enclosures = pf_alloc_array(&b->session->work, (size_t)b->asks, sizeof *enclosures);
  if (!enclosures)
    return PF_NO_MEMORY;
  const pf_status status = pf_encloser_new(&b->problem, &b->session->oracle, b->ask, b->asks,
                                           &b->session->work, &b->encloser, &why);
  if (status == PF_NO_MEMORY)
    return status;
  for (int i = 0; i < b->comparisons; i++)
    if (status && b->comparison[i].result.verdict == PF_VERDICT_OK) {
      b->comparison[i].result.verdict = PF_VERDICT_UNSUPPORTED;
      b->comparison[i].result.why = why;
    }
  for (int64_t element = 0; !status && element < b->problem.shape.outputs; element++) {
    if (settle(b, enclosures, element))
      continue;
    pf_enclose(b->encloser, element, enclosures);
    for (int i = 0; i < b->comparisons; i++)
      if (is_judged(&b->comparison[i]))
        judge(b, &b->comparison[i], enclosures, element);
  }
  for (int i = 0; i < b->comparisons; i++) {
    pf_comparison *c = &b->comparison[i];
    if (c->result.verdict == PF_VERDICT_OK && c->same_as >= 0)
      take_over(c, &b->comparison[c->same_as]);
    else if (c->result.verdict == PF_VERDICT_OK)
      c->result.verdict = verdict_of(&c->result);
    if (c->same_as < 0)
      PF_TRY(find_model(b, &c->result));
  }
  return PF_OK;
}

pf_status pf_session_examine(pf_session *s, const pf_case *c, pf_result_fn each, void *user)
{
  pf_bench b = {.session = s, .what = c};
  pf_arena_reset(&s->work);
  PF_TRY(pf_problem_build(c, &s->work, &b.problem));
  PF_TRY(bind_rows(&b));
  PF_TRY(run_all(&b));
  PF_TRY(list_comparisons(&b));
  PF_TRY(list_asks(&b));
  if (b.judgeable)
    PF_TRY(judge_all(&b));
  for (int i = 0; i < b.comparisons; i++)
    each(user, &b.comparison[i].result);
  return PF_OK;
}

void pf_session_free(pf_session *s)
{
  pf_arena_free(&s->cases);
  pf_arena_free(&s->work);
  pf_arena_free(&s->scratch);
}
