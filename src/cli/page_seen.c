/* What the results of a case come to, for a page: shares of the enclosures, findings with their
   pictures, how far strategies part. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "finding.h"
#include "page.h"
#include "triage.h"

/* Elements whose shares are measured in a case, evenly spaced; columns of a picture; characters of
   a case's text. */
enum { MEASURED = 512, COLUMNS = 160, LONG_CASE = 1500 };

const char *const pf_page_pairs[3] = {"eager, inductor", "eager, aot_eager", "inductor, aot_eager"};

typedef struct pf_seeing {
  pf_settings *settings;
  const pf_result *const *result;
  int count;
  const char *path;
  const json_t *wanted;
  const pf_problem *problem;
  pf_plan promise;          /* PF_RULE_GRAPH */
  pf_encloser *encloser;
  pf_enclosure *allowed;    /* of an element, by result */
  uint64_t (*bin)[PF_PAGE_BINS + 1];
  double *largest;          /* share, by result; -1: none measured */
  pf_dot **dot;             /* by result: COLUMNS; NULL where there is no picture */
  double parted[PF_MAX_ENGINES][3];  /* by engine and pair; -1: nothing to compare */
} pf_seeing;

/* --- which ------------------------------------------------------------------------------------ */

static bool is_finding(const pf_result *r)
{
  return !r->machinery && pf_verdict_is_finding(r->verdict);
}

static bool has_numbers(const pf_result *r)
{
  return !r->machinery && r->run && r->run->got && r->plan && r->verdict != PF_VERDICT_UNSUPPORTED;
}

/* Strategies with the same steps share a run: it counts once. */
static bool is_repeated(const pf_seeing *s, int i)
{
  for (int j = 0; j < i; j++)
    if (s->result[j]->run && s->result[i]->run && s->result[j]->run->got == s->result[i]->run->got)
      return true;
  return false;
}

static const pf_step *last_step(const pf_result *r)
{
  return &r->plan->step[r->plan->count - 1];
}

/* --- preparing -------------------------------------------------------------------------------- */

static pf_status list_asks(pf_seeing *s, pf_ask *ask)
{
  const pf_case *c = s->problem->what;
  const char *name = pf_graph_of(c->graph)->promises;
  bool graph = false;
  for (int i = 0; i < s->count; i++)
    graph |= s->result[i]->rule.kind == PF_RULE_GRAPH;
  if (graph)
    PF_TRY(pf_plan_parse(name, pf_row_find(c->graph, name)->text, c, &s->promise, NULL));
  for (int i = 0; i < s->count; i++) {
    const pf_result *r = s->result[i];
    ask[i] = pf_ask_of(r->rule.kind == PF_RULE_GRAPH ? &s->promise : r->plan, r->engine, r->run);
  }
  return PF_OK;
}

/* Only those with numbers are enclosed and measured. */
static int keep_numbers(const pf_result *const *from, int count, pf_arena *a,
                        const pf_result *const **out)
{
  const pf_result **kept = pf_alloc_array(a, (size_t)count, sizeof *kept);
  int n = 0;
  for (int i = 0; kept && i < count; i++)
    if (has_numbers(from[i]))
      kept[n++] = from[i];
  *out = kept;
  return n;
}

static pf_status prepare(pf_seeing *s)
{
  pf_session *session = &s->settings->session;
  pf_arena *a = &session->work;
  const size_t n = (size_t)s->count;
  const char *why;
  pf_ask *ask = pf_alloc_array(a, n, sizeof *ask);
  s->allowed = pf_alloc_array(a, n, sizeof *s->allowed);
  s->bin = pf_alloc_array(a, n, sizeof *s->bin);
  s->largest = pf_alloc_array(a, n, sizeof *s->largest);
  s->dot = pf_alloc_array(a, n, sizeof *s->dot);
  if (!ask || !s->allowed || !s->bin || !s->largest || !s->dot)
    return PF_NO_MEMORY;
  for (int e = 0; e < PF_MAX_ENGINES; e++)
    s->parted[e][0] = s->parted[e][1] = s->parted[e][2] = -1;
  for (int i = 0; i < s->count; i++) {
    s->largest[i] = -1;
    s->dot[i] = is_finding(s->result[i]) ? pf_alloc_array(a, COLUMNS, sizeof **s->dot) : NULL;
    if (is_finding(s->result[i]) && !s->dot[i])
      return PF_NO_MEMORY;
  }
  PF_TRY(list_asks(s, ask));
  return pf_encloser_new(s->problem, &session->oracle, ask, s->count, a, &s->encloser, &why);
}

/* --- an element ------------------------------------------------------------------------------- */

/* Bits that a row fixes, and sums that are exact in any order, leave nothing to use. */
static void take_share(pf_seeing *s, int i, double error, double radius)
{
  if (!isfinite(radius) || !(radius > 0))
    return;
  const double share = error / radius;
  const int bin = share <= 1 ? (int)fmin(share * PF_PAGE_BINS, PF_PAGE_BINS - 1) : PF_PAGE_BINS;
  s->bin[i][bin]++;
  if (share > s->largest[i])
    s->largest[i] = share;
}

/* Of the elements that share a column the one that tells most: the worst, then what is wrong, then
   what is farthest out. */
static double weight(const pf_dot *d)
{
  const double width = d->allowed.hi - d->allowed.lo;
  const double out = isfinite(d->got) && isfinite(d->exact)
                         ? fabs(d->got - d->exact) / (width > 0 ? width : 1)
                         : 1;
  return (d->worst ? 1e30 : 0) + (d->wrong ? 1e20 : 0) + fmin(out, 1e10);
}

static void take_dot(pf_seeing *s, int i, int64_t element, double exact, double magnitude)
{
  const pf_result *r = s->result[i];
  const int64_t n = s->problem->shape.outputs;
  const int64_t columns = n < COLUMNS ? n : COLUMNS, column = element * columns / n;
  const bool familiar = pf_rule_is_familiar(&r->rule);
  const double got = r->run->got[element];
  pf_dot d = {.element = element, .got = got, .exact = exact, .magnitude = magnitude,
              .allowed = s->allowed[i].set, .worst = element == r->worst.element};
  if (familiar)
    d.allowed = pf_rule_enclose(&r->rule, s->problem, last_step(r), s->encloser,
                                &s->settings->session.oracle, element).set;
  d.wrong = !pf_set_allows(&d.allowed, got);
  d.first = (column * n + columns - 1) / columns;
  d.end = ((column + 1) * n + columns - 1) / columns;
  if (element == d.first || weight(&d) > weight(&s->dot[i][column]))
    s->dot[i][column] = d;
}

static const pf_result *find(const pf_seeing *s, const pf_engine *engine, const char *strategy)
{
  for (int i = 0; i < s->count; i++)
    if (s->result[i]->engine == engine && !strcmp(s->result[i]->strategy, strategy))
      return s->result[i];
  return NULL;
}

/* How far two strategies of an engine part here, as a share of T. */
static void take_parting(pf_seeing *s, int engine, int64_t element, double magnitude)
{
  static const char *const names[][2] = {
    {"eager", "inductor"}, {"eager", "aot_eager"}, {"inductor", "aot_eager"}};
  const pf_engine *e = s->settings->session.options.engine[engine];
  for (int i = 0; i < 3; i++) {
    const pf_result *a = find(s, e, names[i][0]), *b = find(s, e, names[i][1]);
    if (!a || !b)
      continue;
    const double d = fabs(a->run->got[element] - b->run->got[element]);
    const double share = d / fmax(magnitude, pf_smallest_normal(&last_step(a)->out));
    if (isfinite(share) && share > s->parted[engine][i])
      s->parted[engine][i] = share;
  }
}

static void look_at_element(pf_seeing *s, int64_t element, bool measured)
{
  const pf_session *session = &s->settings->session;
  const pf_oracle *oracle = &session->oracle;
  bool special;
  pf_enclose(s->encloser, element, s->allowed);
  const double magnitude = pf_exact(s->encloser, element, &special);
  const double exact = special ? NAN : oracle->nearest(oracle->state, pf_format_of(PF_F64));
  for (int i = 0; i < s->count; i++) {
    const double got = s->result[i]->run->got[element];
    if (measured && !special && isfinite(got) && !is_repeated(s, i))
      take_share(s, i, oracle->distance(oracle->state, got), s->allowed[i].radius);
  }
  for (int e = 0; e < session->options.engine_count && measured; e++)
    if (!special && isfinite(magnitude))
      take_parting(s, e, element, magnitude);
  for (int i = 0; i < s->count; i++)  /* last, as a familiar rule asks the oracle again */
    if (s->dot[i])
      take_dot(s, i, element, exact, magnitude);
}

static void look_at_elements(pf_seeing *s)
{
  const int64_t n = s->problem->shape.outputs, step = 1 + (n - 1) / MEASURED;
  bool pictures = false;
  for (int i = 0; i < s->count; i++)
    pictures |= s->dot[i] != NULL;
  for (int64_t e = 0; e < n; e += pictures ? 1 : step)
    look_at_element(s, e, e % step == 0);
}

/* --- as JSON ---------------------------------------------------------------------------------- */

static json_t *printed(void (*print)(const pf_result *, FILE *), const pf_result *r)
{
  pf_json_print p;
  if (!pf_json_print_start(&p))
    return NULL;
  print(r, p.to);
  return pf_json_print_end(&p);
}

static void print_case(const pf_result *r, FILE *to)
{
  pf_cli_print_case(r->problem->what, LONG_CASE, to);
}

/* "bf16", or "u8 * s8". */
static json_t *dtype_of(const pf_case *c)
{
  const char *x = pf_dtype_of(c->operand[PF_X].dtype)->name;
  const char *y = pf_dtype_of(c->operand[PF_Y].dtype)->name;
  return c->operand[PF_X].dtype == c->operand[PF_Y].dtype ? json_string(x)
                                                          : json_sprintf("%s * %s", x, y);
}

static json_t *command_of(const pf_seeing *s, const pf_result *r)
{
  pf_json_print p;
  if (!pf_json_print_start(&p))
    return NULL;
  pf_settings_command(s->settings, r, NULL, s->path, p.to);
  return pf_json_print_end(&p);
}

static json_t *picture_of(const pf_seeing *s, const pf_result *r)
{
  const int64_t n = s->problem ? s->problem->shape.outputs : 0;
  for (int i = 0; i < s->count; i++)
    if (s->result[i] == r && s->dot && s->dot[i] && n)
      return pf_picture(s->dot[i], (int)(n < COLUMNS ? n : COLUMNS), n);
  return json_null();
}

static json_t *finding_json(const pf_seeing *s, const pf_result *r, const pf_finding *f,
                            const pf_regression *known)
{
  json_t *o = json_object();
  pf_json_set(&o, "signature", pf_json_text(f->signature));
  pf_json_set(&o, "at", pf_json_text(f->at));
  pf_json_set(&o, "engine", pf_json_text(r->engine->name));
  pf_json_set(&o, "strategy", pf_json_text(r->strategy));
  pf_json_set(&o, "dtype", dtype_of(r->problem->what));
  pf_json_set(&o, "graph", json_string(pf_graph_of(r->problem->what->graph)->torch));
  pf_json_set(&o, "verdict", json_string(pf_verdict_name(r->verdict)));
  pf_json_set(&o, "says", json_string(pf_triage_says(r->verdict)));
  pf_json_set(&o, "how", pf_json_text(r->why));
  pf_json_set(&o, "known", pf_json_text(known ? known->name : NULL));
  pf_json_set(&o, "model", pf_json_text(r->match.model ? r->match.says : NULL));
  pf_json_set(&o, "worst", printed(pf_report_worst, r));
  pf_json_set(&o, "case", printed(print_case, r));
  pf_json_set(&o, "wrong", json_integer(r->tally.wrong));
  pf_json_set(&o, "judged", json_integer(r->tally.judged));
  pf_json_set(&o, "reproduce", s->path ? command_of(s, r) : json_null());
  pf_json_set(&o, "picture", picture_of(s, r));
  return o;
}

static bool is_wanted(const pf_seeing *s, const pf_finding *f)
{
  return !s->wanted || (!strcmp(pf_page_text(s->wanted, "signature"), f->signature) &&
                        !strcmp(pf_page_text(s->wanted, "at"), f->at));
}

static pf_status add_finding(const pf_seeing *s, const pf_result *r, json_t **findings)
{
  pf_session *session = &s->settings->session;
  pf_finding f;
  pf_arena_reset(&session->scratch);
  PF_TRY(pf_finding_of(r, &session->oracle, &session->scratch, &f));
  if (is_wanted(s, &f))
    pf_json_append(findings, finding_json(s, r, &f, pf_settings_know(s->settings, r)));
  return PF_OK;
}

static json_t *result_json(const pf_seeing *s, const pf_result *r)
{
  char isa[96];
  pf_isa_of(r->engine, isa, sizeof isa);
  json_t *o = json_object(), *bins = json_array();
  pf_json_set(&o, "engine", pf_json_text(r->engine->name));
  pf_json_set(&o, "version", pf_json_text(r->engine->version));
  pf_json_set(&o, "isa", pf_json_text(isa));
  pf_json_set(&o, "strategy", pf_json_text(r->strategy));
  pf_json_set(&o, "dtype", dtype_of(r->problem->what));
  pf_json_set(&o, "verdict", r->machinery ? json_string("not judged")
                                           : json_string(pf_verdict_name(r->verdict)));
  pf_json_set(&o, "why", r->machinery ? pf_json_text(r->why) : json_null());
  pf_json_set(&o, "finding", json_boolean(is_finding(r)));
  for (int i = 0; i < s->count && s->largest; i++)
    if (s->result[i] == r && s->largest[i] >= 0) {
      for (int b = 0; b <= PF_PAGE_BINS; b++)
        pf_json_append(&bins, json_integer((json_int_t)s->bin[i][b]));
      pf_json_set(&o, "largest", json_real(s->largest[i]));
    }
  pf_json_set(&o, "bins", bins);
  return o;
}

static json_t *parted_json(const pf_seeing *s)
{
  json_t *all = json_array();
  for (int e = 0; s->problem && s->encloser && e < PF_MAX_ENGINES; e++)
    for (int i = 0; i < 3; i++)
      if (s->parted[e][i] >= 0)
        pf_json_append(&all, json_pack("[I, i, f]", (json_int_t)s->problem->shape.k, i,
                                       s->parted[e][i]));
  return all;
}

json_t *pf_page_seen(pf_settings *settings, const pf_result *const *result, int count,
                     const char *path, const json_t *wanted)
{
  pf_seeing s = {.settings = settings, .path = path, .wanted = wanted,
                 .problem = count ? result[0]->problem : NULL};
  json_t *o = json_object(), *results = json_array(), *findings = json_array();
  pf_status status = PF_OK;
  s.count = keep_numbers(result, count, &settings->session.work, &s.result);
  if (s.count)
    status = prepare(&s);
  if (s.count && !status && s.problem->shape.outputs)
    look_at_elements(&s);
  if (status)  /* no enclosures: alpha or beta not finite */
    s.count = 0;
  for (int i = 0; i < count && status != PF_NO_MEMORY; i++) {
    pf_json_append(&results, result_json(&s, result[i]));
    if (is_finding(result[i]))
      status = add_finding(&s, result[i], &findings);
  }
  pf_json_set(&o, "results", results);
  pf_json_set(&o, "findings", findings);
  pf_json_set(&o, "parted", parted_json(&s));
  if (status == PF_NO_MEMORY) {
    json_decref(o);
    return NULL;
  }
  return o;
}
