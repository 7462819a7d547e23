/* Drawing cases, running the right and the wrong on them, and counting what each rule says. */
#include "tolerance_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "faults/faults.h"
#include "interpret.h"

enum { MOST_RUNS = 96 };

/* One result of the case in hand, and how often each rule rejects its elements. */
typedef struct pf_table_run {
  const double *got;              /* NULL: the engine does not run this row */
  int fault;                      /* which, or -1 for a correct one */
  int64_t rejected[PF_TABLE_RULES];
  pf_nmse nmse;
} pf_table_run;

typedef struct pf_measurement {
  const pf_tolerance_ask *ask;
  const pf_oracle *oracle;
  pf_tolerance_table *table;
  pf_error *error;
  pf_arena work;                  /* of the case in hand */
  double *share, *ulps;           /* of all elements of one kind of data */
  int64_t measured;
  pf_case what;
  pf_problem problem;
  pf_plan plan;
  pf_table_run run[MOST_RUNS];
  int runs;
} pf_measurement;

const char *pf_table_rule_name(int rule)
{
  return rule ? pf_known_rules[rule - 1].name : "contract";
}

static pf_status fail_at(pf_measurement *m, pf_status s, const char *why)
{
  return pf_fail(m->error, s, 0, "%s", why);
}

/* --- cases --------------------------------------------------------------------------------- */

static void set_operand(pf_operand *o, const pf_measurement *m, pf_kind kind, uint64_t seed,
                        int rank, int64_t rows, int64_t columns)
{
  *o = (pf_operand){.present = true, .dtype = m->ask->dtype, .rank = rank};
  o->dim[0] = rank == 1 ? columns : rows;
  o->dim[rank - 1] = columns;
  pf_dense_strides(rank, o->dim, o->stride);
  o->values.kind = kind;
  o->values.seed = (uint32_t)(seed >> 32);
}

/* alpha and beta, where the graph has them, are those of the reference BLAS's tests. */
static pf_status draw_case(pf_measurement *m, pf_kind kind, int64_t index)
{
  const int64_t side = PF_TABLE_SIDE, k = m->ask->k;
  const pf_graph_info *g = pf_graph_of(m->ask->graph);
  const uint64_t base = pf_hash(pf_hash(m->ask->seed) ^ ((uint64_t)index << 8 | (uint64_t)kind));
  pf_case *c = &m->what;
  *c = (pf_case){.graph = m->ask->graph, .alpha = 1, .beta = 1};
  set_operand(&c->operand[PF_X], m, kind, pf_hash(base), 2, side, k);
  set_operand(&c->operand[PF_Y], m, kind, pf_hash(base + 1), 2, g->weight ? side : k,
              g->weight ? k : side);
  if (g->has_c) {
    set_operand(&c->operand[PF_C], m, kind, pf_hash(base + 2), 2, side, side);
    c->alpha = (float)0.7;
    c->beta = (float)1.3;
  }
  if (g->has_bias)
    set_operand(&c->operand[PF_BIAS], m, kind, pf_hash(base + 3), 1, 1, side);
  PF_TRY(pf_case_finish(c, m->error));
  return pf_problem_build(c, &m->work, &m->problem);
}

static pf_status bind_row(pf_measurement *m)
{
  const pf_tolerance_ask *a = m->ask;
  const pf_row *row = a->text ? NULL : pf_row_find(a->graph, a->strategy);
  if (!a->text && !row)
    return fail_at(m, PF_BAD_INPUT, "the graph has no such row");
  PF_TRY(pf_plan_parse(a->strategy, a->text ? a->text : row->text, &m->what, &m->plan, m->error));
  m->table->out = m->plan.step[m->plan.count - 1].storage;
  m->table->format = m->plan.step[m->plan.count - 1].out;
  return PF_OK;
}

/* --- runs ---------------------------------------------------------------------------------- */

static const double *run_on(pf_measurement *m, const pf_plan *plan, const pf_engine *engine,
                            pf_status *status)
{
  pf_run run;
  *status = pf_interpret(&m->problem, plan, engine, &m->work, &run);
  return *status ? NULL : run.got;
}

static pf_status add_run(pf_measurement *m, const double *got, int fault)
{
  if (m->runs == MOST_RUNS)
    return fail_at(m, PF_UNSUPPORTED, "too many engines");
  m->run[m->runs++] = (pf_table_run){.got = got, .fault = fault};
  return PF_OK;
}

static pf_status run_correct(pf_measurement *m)
{
  m->table->orders = 0;
  for (const pf_engine *const *e = pf_engines; *e; e++) {
    pf_status status;
    if (strncmp((*e)->name, "reference:", 10))
      continue;
    const double *got = run_on(m, &m->plan, *e, &status);
    if (status)
      return status == PF_NO_MEMORY ? status : fail_at(m, status, "the row cannot be run");
    m->table->orders++;
    PF_TRY(add_run(m, got, -1));
  }
  return PF_OK;
}

static bool same_numbers(const double *a, const double *b, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i])))
      return false;
  return true;
}

/* The row with its last step's rounding toward zero. */
static pf_plan truncating(const pf_plan *plan)
{
  pf_plan p = *plan;
  pf_format *out = &p.step[p.count - 1].out;
  if (out->precision <= 51)
    out->rounding = PF_TOWARD_ZERO;
  return p;
}

/* M04 splits K into sums that it rounds to the output's format: where that is the accumulator's, it
   has no more than an order of its own. */
static bool is_correct_here(const pf_plan *plan, const pf_engine *engine)
{
  bool rounds = false;
  for (int i = 0; i < plan->count; i++)
    rounds |= plan->step[i].kind <= PF_MULSUM &&
              !pf_format_equal(&plan->step[i].out, &plan->step[i].acc.format);
  return engine == &pf_fault_M04 && !rounds;
}

/* Faults that change numbers of this case.  Where the kernel that they are planted in does not run
   the row, as sums of integers, they are told from the first correct result. */
static pf_status run_faults(pf_measurement *m, pf_tolerance_data *d)
{
  const pf_plan cut = truncating(&m->plan);
  pf_status status;
  const double *right = run_on(m, &m->plan, &pf_fault_none, &status);
  if (status == PF_NO_MEMORY)
    return status;
  if (status)
    right = m->run[0].got;
  for (int i = 0; i < d->faults; i++) {
    const bool truncation = d->fault[i].engine == &pf_fault_none;
    const double *got = run_on(m, truncation ? &cut : &m->plan, d->fault[i].engine, &status);
    if (status == PF_NO_MEMORY)
      return status;
    if (!status && !is_correct_here(&m->plan, d->fault[i].engine) &&
        !same_numbers(got, right, m->problem.shape.outputs))
      PF_TRY(add_run(m, got, i));
  }
  return PF_OK;
}

/* --- judging ------------------------------------------------------------------------------- */

static void measure_width(pf_measurement *m, const pf_enclosure *e, double magnitude)
{
  const double v = m->oracle->nearest(m->oracle->state, pf_format_of(PF_F64));
  m->share[m->measured] = magnitude > 0 ? e->radius / magnitude : 0;
  m->ulps[m->measured++] = isfinite(v) ? e->radius / pf_ulp(&m->table->format, v) : INFINITY;
}

/* What known rule `r` says of one element of every run. */
static void judge_element(pf_measurement *m, int r, pf_known_element *at, int64_t element)
{
  const pf_known_rule *known = &pf_known_rules[r - 1];
  const pf_rule *rule = &m->table->rule[r];
  const pf_set allowed =
      known->rule ? pf_rule_allows(rule, at->last, m->oracle).set : pf_set_empty();
  for (int i = 0; i < m->runs; i++) {
    pf_table_run *run = &m->run[i];
    at->got = run->got[element];
    const bool ok = known->rule ? pf_set_allows(&allowed, at->got) : known->passes(at);
    run->rejected[r] += !ok;
    if (known->rule && rule->kind == PF_RULE_NMSE && isfinite(at->got))
      pf_nmse_add(&run->nmse, m->oracle->distance(m->oracle->state, at->got),
                  m->oracle->nearest(m->oracle->state, pf_format_of(PF_F64)));
  }
}

static pf_status judge_case(pf_measurement *m)
{
  const pf_ask ask = {.plan = &m->plan};
  const char *why;
  pf_encloser *encloser;
  const pf_status status = pf_encloser_new(&m->problem, m->oracle, &ask, 1, &m->work, &encloser,
                                           &why);
  if (status)
    return status == PF_UNSUPPORTED ? fail_at(m, status, why) : status;
  for (int64_t i = 0; i < m->problem.shape.outputs; i++) {
    pf_enclosure e;
    bool special;
    pf_enclose(encloser, i, &e);
    for (int j = 0; j < m->runs; j++)
      m->run[j].rejected[0] += !pf_set_allows(&e.set, m->run[j].got[i]);
    pf_known_element at = {.oracle = m->oracle, .last = &m->plan.step[m->plan.count - 1],
                           .magnitude = pf_exact(encloser, i, &special)};
    at.expected = m->oracle->nearest(m->oracle->state, &at.last->out);
    measure_width(m, &e, at.magnitude);
    for (int r = 1; r < PF_TABLE_RULES; r++)
      if (m->table->covered[r])
        judge_element(m, r, &at, i);
  }
  return PF_OK;
}

static void count_run(const pf_measurement *m, const pf_table_run *run, pf_tolerance_data *d)
{
  for (int r = 0; r < PF_TABLE_RULES; r++) {
    const bool together = r && m->table->rule[r].kind == PF_RULE_NMSE;
    const bool passes = run->rejected[r] == 0 &&
                        (!together || pf_nmse_of(&run->nmse) <= m->table->rule[r].nmse);
    if (run->fault < 0) {
      d->tensors[r].hits += !passes;
      d->tensors[r].of++;
      d->elements[r].hits += run->rejected[r];
      d->elements[r].of += together ? 0 : m->problem.shape.outputs;
    } else {
      pf_share *const to[] = {&d->passed[r], &d->fault[run->fault].passed[r]};
      for (int i = 0; i < 2; i++) {
        to[i]->hits += passes;
        to[i]->of++;
      }
    }
  }
}

/* --- the whole ----------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void summarize(double *v, int64_t n, double *median, double *p95)
{
  qsort(v, (size_t)n, sizeof *v, compare);
  *median = v[n / 2];
  *p95 = v[(int64_t)(0.95 * (double)(n - 1) + 0.5)];
}

static void list_faults(pf_tolerance_data *d)
{
  for (const pf_engine *const *e = pf_engines; *e && d->faults < PF_TABLE_FAULTS - 1; e++)
    if (!strncmp((*e)->name, "fault:", 6) && *e != &pf_fault_none)
      d->fault[d->faults++] = (pf_table_fault){.name = (*e)->name + 6, .engine = *e};
  d->fault[d->faults++] = (pf_table_fault){.name = "truncation", .engine = &pf_fault_none};
}

static void list_rules(pf_measurement *m)
{
  pf_tolerance_table *t = m->table;
  t->covered[0] = true;
  for (int r = 1; r < PF_TABLE_RULES; r++) {
    const pf_known_rule *known = &pf_known_rules[r - 1];
    t->covered[r] = known->rule ? known->rule(t->out, m->ask->k, &t->rule[r])
                                : known->covers(t->out);
  }
}

static pf_status measure_case(pf_measurement *m, pf_tolerance_data *d, int64_t index)
{
  pf_arena_reset(&m->work);
  m->runs = 0;
  PF_TRY(draw_case(m, d->kind, index));
  PF_TRY(bind_row(m));
  if (!index)
    list_rules(m);
  PF_TRY(run_correct(m));
  PF_TRY(run_faults(m, d));
  PF_TRY(judge_case(m));
  for (int i = 0; i < m->runs; i++)
    count_run(m, &m->run[i], d);
  return PF_OK;
}

static pf_status measure_all(pf_measurement *m, void (*progress)(void *, int64_t, int64_t),
                             void *user)
{
  static const pf_kind kinds[PF_TABLE_DATA] = {PF_NORMAL, PF_CANCEL};
  const int64_t count = m->ask->count;
  for (int i = 0; i < PF_TABLE_DATA; i++) {
    pf_tolerance_data *d = &m->table->data[i];
    d->kind = kinds[i];
    list_faults(d);
    m->measured = 0;
    for (int64_t j = 0; j < count; j++) {
      PF_TRY(measure_case(m, d, j));
      if (progress)
        progress(user, i * count + j + 1, PF_TABLE_DATA * count);
    }
    summarize(m->share, m->measured, &d->share_median, &d->share_95);
    summarize(m->ulps, m->measured, &d->ulps_median, &d->ulps_95);
  }
  return PF_OK;
}

pf_status pf_tolerance_measure(const pf_tolerance_ask *ask, const pf_oracle *oracle,
                               void (*progress)(void *user, int64_t done, int64_t of), void *user,
                               pf_tolerance_table *out, pf_error *e)
{
  pf_measurement m = {.ask = ask, .oracle = oracle, .table = out, .error = e};
  const size_t elements = (size_t)ask->count * PF_TABLE_SIDE * PF_TABLE_SIDE;
  memset(out, 0, sizeof *out);
  m.share = calloc(elements, sizeof *m.share);
  m.ulps = calloc(elements, sizeof *m.ulps);
  const pf_status status = m.share && m.ulps ? measure_all(&m, progress, user) : PF_NO_MEMORY;
  free(m.share);
  free(m.ulps);
  pf_arena_free(&m.work);
  return status;
}
