/* From a case to results: rows are bound and run, then judged (session_judge.c). */
#include <math.h>
#include <string.h>

#include "session_parts.h"
#include "session_whole.h"

static pf_status bind_rows(pf_bench *b)
{
  const pf_row_set *set;
  PF_TRY(pf_rows_bind(b->session, b->what, &set));
  b->rows = set->rows;
  b->row = set->row;
  b->promise = &set->promise;
  return PF_OK;
}

/* --- runs ---------------------------------------------------------------------------------- */

/* Rows with the same steps are run once: the same call, and the same bits.  An engine that takes
   whole cases is not told of rows.  -1: no earlier run stands for this one. */
static int same_run(const pf_bench *b, int engine, int row)
{
  const bool whole = b->session->options.engine[engine]->whole_graph;
  int r = whole ? 0 : b->row[row].same;
  while (b->row[r].status)
    r++;
  return r < row ? engine * b->rows + r : -1;
}

/* The result is all that a run of the whole case leaves. */
static void take_run(pf_bench *b, int from, int to, bool whole)
{
  b->run[to] = b->run[from];
  b->status[to] = b->status[from];
  if (!whole)
    return;
  memset(b->run[to].step, 0, sizeof b->run[to].step);
  b->run[to].step[b->row[to % b->rows].plan.count - 1] = b->run[to].got;
}

/* NaN has no payload here. */
static bool same_results(const double *a, const double *b, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    if (memcmp(&a[i], &b[i], sizeof *a) && !(isnan(a[i]) && isnan(b[i])))
      return false;
  return true;
}

static pf_status run_one(pf_bench *b, int i)
{
  const pf_options *o = &b->session->options;
  const pf_engine *engine = o->engine[i / b->rows];
  const pf_plan *plan = &b->row[i % b->rows].plan;
  pf_arena *a = &b->session->work;
  pf_run *run = &b->run[i], again;
  PF_TRY(pf_interpret(&b->problem, plan, engine, a, run));
  if (!o->repeat || !engine->foreign || run->misdeed)
    return PF_OK;
  const pf_status status = pf_interpret(&b->problem, plan, engine, a, &again);
  if (status)
    *run = again;
  else if (!same_results(run->got, again.got, b->problem.shape.outputs))
    run->misdeed = PF_UNREPEATABLE;
  return status;
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
    const int same = same_run(b, engine, row);
    if (same >= 0)
      take_run(b, same, i, o->engine[engine]->whole_graph);
    else
      b->status[i] = run_one(b, i);
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
  case PF_UNREPEATABLE: return PF_VERDICT_UNREPEATABLE;
  case PF_DIED: return PF_VERDICT_DIED;
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
    const bool died = b->run[failed].misdeed == PF_DIED;
    r->verdict = died ? PF_VERDICT_DIED : PF_VERDICT_UNSUPPORTED;
    r->machinery = died || s == PF_UNSUPPORTED ? PF_OK : s;
    r->why = b->run[failed].why;
    r->said = died ? b->run[failed].said : NULL;
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

/* -1: no run. */
static bool same_plans(const pf_bench *b, int run, int other)
{
  if (run < 0 || other < 0)
    return run == other;
  return b->row[run % b->rows].same == b->row[other % b->rows].same;
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

/* Hands the results of each engine that takes whole cases to `settle`. */
static pf_status settle_whole(pf_bench *b, void (*settle)(pf_result *const *, int))
{
  const pf_options *o = &b->session->options;
  for (int e = 0; e < o->engine_count; e++) {
    if (!o->engine[e]->whole_graph || o->rule.kind != PF_RULE_CONTRACT)
      continue;
    pf_result **own = pf_alloc_array(&b->session->work, (size_t)b->rows, sizeof *own);
    if (!own)
      return PF_NO_MEMORY;
    for (int r = 0; r < b->rows; r++)
      own[r] = &b->comparison[e * b->rows + r].result;
    settle(own, b->rows);
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
    const int run = i < b->runs ? i : engine * b->rows;
    const pf_plan *plan = graph            ? &b->promise->plan
                          : row->status ? usable
                                        : &row->plan;
    b->ask[i] = pf_ask_of(plan, o->engine[engine], b->status[run] ? NULL : &b->run[run]);
    if (i < b->runs && !graph && !b->status[i] && o->engine[engine]->replays)
      b->ask[i].replayed = b->run[i].step;
  }
  return PF_OK;
}

pf_status pf_session_examine(pf_session *s, const pf_case *c, pf_result_fn each, void *user)
{
  pf_bench b = {.session = s, .what = c};
  pf_arena_reset(&s->work);
  PF_TRY(pf_problem_build(c, &s->work, &b.problem));
  b.kept.arena = &s->work;
  b.problem.kept = &b.kept;
  PF_TRY(bind_rows(&b));
  PF_TRY(run_all(&b));
  PF_TRY(list_comparisons(&b));
  PF_TRY(settle_whole(&b, pf_whole_claim));
  PF_TRY(list_asks(&b));
  if (b.judgeable)
    PF_TRY(pf_judge_all(&b));
  PF_TRY(settle_whole(&b, pf_whole_settle));
  for (int i = 0; i < b.comparisons; i++)
    each(user, &b.comparison[i].result);
  return PF_OK;
}

void pf_session_free(pf_session *s)
{
  pf_rows_free(s);
  pf_arena_free(&s->cases);
  pf_arena_free(&s->work);
  pf_arena_free(&s->scratch);
}
