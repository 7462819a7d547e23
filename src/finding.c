/* Findings told apart: by signature, then by the step that failed. */
#include "finding.h"

#include <ctype.h>
#include <string.h>

#include "explain.h"

/* --- the failing step ---------------------------------------------------------------------- */

/* Does what step i gave lie outside what the row allows up to there? */
static pf_status leaves(const pf_result *r, const pf_oracle *oracle, int i, pf_arena *a, bool *out)
{
  pf_plan *begin = pf_alloc(a, sizeof *begin);
  pf_encloser *e;
  const char *why;
  *out = false;
  if (!begin)
    return PF_NO_MEMORY;
  *begin = *r->plan;
  begin->count = i + 1;
  const pf_ask ask = pf_ask_of(begin, r->engine, r->run);
  const pf_status status = pf_encloser_new(r->problem, oracle, &ask, 1, a, &e, &why);
  if (status)
    return status == PF_NO_MEMORY ? status : PF_OK;
  for (int64_t element = 0; element < r->problem->shape.outputs && !*out; element++) {
    pf_enclosure allowed;
    pf_enclose(e, element, &allowed);
    *out = !pf_set_allows(&allowed.set, r->run->step[i][element]);
  }
  return PF_OK;
}

static pf_status first_outside(const pf_result *r, const pf_oracle *oracle, pf_arena *a, int *step)
{
  const int last = r->plan->count - 1;
  bool found = false, x_side;
  for (int i = 0; i < last; i++) {
    if (!r->run->step[i] || pf_plan_is_operand(r->plan, i, &x_side))
      continue;
    PF_TRY(leaves(r, oracle, i, a, &found));
    if (found) {
      *step = i;
      return PF_OK;
    }
  }
  *step = last;
  return PF_OK;
}

static pf_status greatest_error(const pf_result *r, const pf_oracle *oracle, pf_arena *a, int *step)
{
  pf_exact_results exact;
  pf_explanation why;
  const char *none;
  *step = r->plan->count - 1;
  const pf_status status = pf_exact_results_of(r->problem, oracle, a, &exact, &none);
  if (status)
    return status == PF_NO_MEMORY ? status : PF_OK;
  PF_TRY(pf_explain(r, &exact, oracle, a, &why));
  if (why.largest >= 0)
    *step = why.largest;
  return PF_OK;
}

/* Numbers in it may be those of the case, or of time. */
static void copy_without_digits(const char *from, char *to, size_t size)
{
  size_t used = 0;
  for (; *from && used + 1 < size; from++)
    if (!isdigit((unsigned char)*from))
      to[used++] = *from;
  to[used] = 0;
}

pf_status pf_finding_of(const pf_result *r, const pf_oracle *oracle, pf_arena *a, pf_finding *out)
{
  int step;
  pf_signature(r, out->signature, sizeof out->signature);
  out->at[0] = 0;
  if (r->verdict == PF_VERDICT_DIED)
    copy_without_digits(r->why ? r->why : "", out->at, sizeof out->at);
  if (!r->run || !r->plan || r->rule.kind == PF_RULE_AGREE ||
      (r->verdict != PF_VERDICT_IMPOSSIBLE && r->verdict != PF_VERDICT_SPECIAL))
    return PF_OK;
  PF_TRY((r->rule.kind == PF_RULE_CONTRACT ? first_outside : greatest_error)(r, oracle, a, &step));
  snprintf(out->at, sizeof out->at, "%s", r->plan->step[step].name);
  return PF_OK;
}

/* --- the same? ----------------------------------------------------------------------------- */

bool pf_finding_equal(const pf_finding *a, const pf_finding *b)
{
  return !strcmp(a->signature, b->signature) && !strcmp(a->at, b->at);
}

uint64_t pf_finding_hash(const pf_finding *f)
{
  uint64_t hash = 0;
  for (const char *c = f->signature; *c; c++)
    hash = pf_hash(hash ^ (unsigned char)*c);
  for (const char *c = f->at; *c; c++)
    hash = pf_hash(hash ^ (unsigned char)*c << 8);
  return hash;
}

typedef struct pf_looking {
  pf_session *session;
  const pf_finding *wanted;
  const pf_finding_filter *filter;
  bool shown;
  pf_status status;
} pf_looking;

static void look(void *user, const pf_result *r)
{
  pf_looking *l = user;
  pf_finding f;
  if (l->shown || l->status || r->machinery || !pf_verdict_is_finding(r->verdict))
    return;
  pf_signature(r, f.signature, sizeof f.signature);
  if (strcmp(f.signature, l->wanted->signature) ||
      (l->filter && !l->filter->passes(l->filter->user, r)))
    return;
  pf_arena_reset(&l->session->scratch);
  l->status = pf_finding_of(r, &l->session->oracle, &l->session->scratch, &f);
  l->shown = !l->status && pf_finding_equal(&f, l->wanted);
}

pf_status pf_finding_look(pf_session *s, const pf_case *c, const pf_finding *wanted,
                          const pf_finding_filter *filter, bool *shown)
{
  pf_looking l = {.session = s, .wanted = wanted, .filter = filter};
  PF_TRY(pf_session_examine(s, c, look, &l));
  *shown = l.shown;
  return l.status;
}

void pf_options_narrow(pf_options *o, const pf_result *r)
{
  pf_strategy kept[2];
  int n = 0;
  o->engine[0] = r->engine;
  o->engine_count = 1;
  if (pf_result_has_any_row(r))
    return;
  const char *const name[2] = {r->strategy, r->rule.kind == PF_RULE_AGREE ? r->against : NULL};
  for (int i = 0; i < 2 && name[i]; i++) {
    pf_strategy *s = &kept[n++];
    *s = (pf_strategy){0};
    snprintf(s->name, sizeof s->name, "%s", name[i]);
    for (int j = 0; j < o->strategy_count; j++)
      if (!strcmp(o->strategy[j].name, name[i]))
        *s = o->strategy[j];
  }
  memcpy(o->strategy, kept, (size_t)n * sizeof *kept);
  o->strategy_count = n;
}

bool pf_result_has_any_row(const pf_result *r)
{
  return r->engine->whole_graph && r->run && !r->run->claims && r->rule.kind != PF_RULE_AGREE;
}
