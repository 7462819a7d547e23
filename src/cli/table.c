/* One line a strategy over many cases: how much of it lies outside, and how far out at worst.  The
   errors are against the exact results of the graph, whatever the rule judges by. */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RESULTS = PF_MAX_ENGINES * PF_MAX_STRATEGIES };

typedef struct pf_table_row {
  char strategy[64];
  uint64_t cases, judged, wrong, unsupported;
  uint64_t last_case;     /* its number, so that several engines count it once */
  pf_worst_error worst;
  const char *path;       /* where the worst one is */
  char *engine;           /* the name of who gave it; a given result does not outlive its case */
} pf_table_row;

/* A result of the case in hand. */
typedef struct pf_table_entry {
  const pf_result *result;
  pf_table_row *row;
  pf_worst_error worst;
} pf_table_entry;

struct pf_table {
  pf_table_row row[PF_MAX_STRATEGIES];
  int rows;
  uint64_t cases;
  pf_table_entry entry[MOST_RESULTS];
  int entries;
  pf_problem problem;     /* of the entries; points into the session's memory */
  pf_plan promise;
};

pf_table *pf_table_new(void)
{
  return calloc(1, sizeof(pf_table));
}

void pf_table_free(pf_table *t)
{
  for (int i = 0; t && i < t->rows; i++)
    free(t->row[i].engine);
  free(t);
}

/* All graphs together have fewer strategies than there is room for; options can name no more. */
static pf_table_row *row_of(pf_table *t, const char *strategy)
{
  for (int i = 0; i < t->rows; i++)
    if (!strcmp(t->row[i].strategy, strategy))
      return &t->row[i];
  if (t->rows == PF_MAX_STRATEGIES)
    return NULL;
  pf_table_row *r = &t->row[t->rows++];
  strncpy(r->strategy, strategy, sizeof r->strategy - 1);
  r->worst = pf_worst_error_start();
  return r;
}

void pf_table_start(pf_table *t)
{
  t->cases++;
  t->entries = 0;
}

void pf_table_add(pf_table *t, const pf_result *r)
{
  pf_table_row *row = row_of(t, r->strategy);
  if (!row || t->entries == MOST_RESULTS)
    return;
  row->cases += row->last_case != t->cases;
  row->last_case = t->cases;
  row->judged += (uint64_t)r->tally.judged;
  row->wrong += (uint64_t)r->tally.wrong;
  row->unsupported += r->verdict == PF_VERDICT_UNSUPPORTED;
  if (!r->run || r->verdict == PF_VERDICT_UNSUPPORTED ||
      (r->rule.kind == PF_RULE_GRAPH && !r->tally.wrong))
    return;
  t->problem = *r->problem;
  t->problem.kept = NULL;  /* the session's */
  t->entry[t->entries++] =
      (pf_table_entry){.result = r, .row = row, .worst = pf_worst_error_start()};
}

/* Under rule graph what the graph promises on each entry's engine: only elements outside count. */
static pf_status list_asks(pf_table *t, pf_arena *a, pf_ask **out, int *count)
{
  const pf_case *c = t->problem.what;
  const char *name = pf_graph_of(c->graph)->promises;
  *count = t->entry[0].result->rule.kind == PF_RULE_GRAPH ? t->entries : 0;
  *out = pf_alloc_array(a, (size_t)*count, sizeof **out);
  if (!*out)
    return PF_NO_MEMORY;
  if (*count)
    PF_TRY(pf_plan_parse(name, pf_row_find(c->graph, name)->text, c, &t->promise, NULL));
  for (int i = 0; i < *count; i++)
    (*out)[i] = pf_ask_of(&t->promise, t->entry[i].result->engine, t->entry[i].result->run);
  return PF_OK;
}

static void measure(pf_table *t, const pf_oracle *oracle, const pf_enclosure *promised,
                    int64_t element, double magnitude)
{
  const double value = oracle->nearest(oracle->state, pf_format_of(PF_F64));
  for (int i = 0; i < t->entries; i++) {
    pf_table_entry *e = &t->entry[i];
    const pf_plan *plan = e->result->plan;
    const double got = e->result->run->got[element];
    if (isfinite(got) && !(promised && pf_set_allows(&promised[i].set, got)))
      pf_worst_error_take(&e->worst, &plan->step[plan->count - 1].out, element,
                          oracle->distance(oracle->state, got), value, magnitude);
  }
}

static pf_status keep_worse(pf_table *t, const char *path)
{
  for (int i = 0; i < t->entries; i++) {
    const pf_table_entry *e = &t->entry[i];
    pf_table_row *row = e->row;
    if (e->worst.element < 0 || (row->worst.element >= 0 && !(e->worst.share > row->worst.share)))
      continue;
    row->worst = e->worst;
    row->path = path;
    free(row->engine);
    row->engine = strdup(e->result->engine->name);
    if (!row->engine)
      return PF_NO_MEMORY;
  }
  return PF_OK;
}

pf_status pf_table_finish(pf_table *t, pf_session *s, const char *path)
{
  const pf_problem *p = &t->problem;
  pf_encloser *e;
  pf_ask *asks;
  int count;
  const char *why;
  if (!t->entries)
    return PF_OK;
  PF_TRY(list_asks(t, &s->work, &asks, &count));
  pf_enclosure *promised = pf_alloc_array(&s->work, (size_t)count, sizeof *promised);
  if (!promised)
    return PF_NO_MEMORY;
  PF_TRY(pf_encloser_new(p, &s->oracle, asks, count, &s->work, &e, &why));
  for (int64_t i = 0; i < p->shape.outputs; i++) {
    bool special;
    pf_enclose(e, i, promised);
    const double magnitude = pf_exact(e, i, &special);
    if (!special && isfinite(magnitude))
      measure(t, &s->oracle, count ? promised : NULL, i, magnitude);
  }
  return keep_worse(t, path);
}

/* --- printing ------------------------------------------------------------------------------ */

static void print_row(const pf_table_row *r, bool engines, FILE *to)
{
  fprintf(to, "%-20s %8" PRIu64 " %12" PRIu64, r->strategy, r->cases, r->judged);
  if (r->judged)
    fprintf(to, " %9.4g%%", 100 * (double)r->wrong / (double)r->judged);
  else
    fprintf(to, " %10s", "-");
  if (r->worst.element < 0)
    fprintf(to, " %10s %10s", "-", "-");
  else
    fprintf(to, " %10.3g %10.3g  %s", r->worst.share, r->worst.ulps, r->path);
  if (engines && r->engine)
    fprintf(to, " (%s)", r->engine);
  fputc('\n', to);
}

void pf_table_print(const pf_table *t, const pf_settings *s, FILE *to)
{
  const pf_options *o = &s->session.options;
  const bool graph = o->rule.kind == PF_RULE_GRAPH;
  char rule[PF_RULE_TEXT];
  uint64_t unsupported = 0;
  pf_rule_print(&o->rule, rule, sizeof rule);
  fprintf(to, "outside: share of the elements outside %s%s\n"
              "worst: the error%s that is the greatest share of S, the sum of an element's "
              "absolute terms\n\n",
          graph                            ? "what the graph as written promises"
          : pf_rule_is_familiar(&o->rule) ? "what is allowed by rule "
                                           : "their own enclosure",
          pf_rule_is_familiar(&o->rule) ? rule : "", graph ? " outside" : "");
  fprintf(to, "%-20s %8s %12s %10s %10s %10s  %s\n", "strategy", "cases", "elements", "outside",
          "worst of S", "in ulp", "in file");
  for (int i = 0; i < t->rows; i++) {
    print_row(&t->row[i], o->engine_count > 1, to);
    unsupported += t->row[i].unsupported;
  }
  if (unsupported)
    fprintf(to, "not run: %" PRIu64 " results UNSUPPORTED\n", unsupported);
  fputc('\n', to);
}

static json_t *worst_json(const pf_table_row *r)
{
  const pf_worst_error *w = &r->worst;
  if (w->element < 0)
    return json_null();
  return json_pack("{s:o, s:o, s:I, s:o, s:o, s:o}", "file", pf_json_text(r->path),
                   "engine", pf_json_text(r->engine), "element", (json_int_t)w->element,
                   "error", pf_json_number(w->error), "ulps", pf_json_number(w->ulps),
                   "of_magnitude", pf_json_number(w->share));
}

json_t *pf_table_json(const pf_table *t)
{
  json_t *rows = json_array();
  for (int i = 0; i < t->rows; i++) {
    const pf_table_row *r = &t->row[i];
    pf_json_append(&rows, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}",
                                    "strategy", pf_json_text(r->strategy),
                                    "cases", pf_json_whole(r->cases),
                                    "elements", pf_json_whole(r->judged),
                                    "outside", pf_json_whole(r->wrong),
                                    "unsupported", pf_json_whole(r->unsupported),
                                    "worst", worst_json(r)));
  }
  return rows;
}
