/* A result as JSON. */
#include "json.h"

#include <math.h>

#include "form_text.h"
#include "report.h"

static json_t *tally(const pf_result *r)
{
  const pf_tally *t = &r->tally;
  const bool nmse = r->rule.kind == PF_RULE_NMSE && t->judged;
  json_t *o = json_object();
  pf_json_set(&o, "judged", json_integer(t->judged));
  pf_json_set(&o, "wrong", json_integer(t->wrong));
  pf_json_set(&o, "special", json_integer(t->special));
  pf_json_set(&o, "order", json_integer(t->order));
  pf_json_set(&o, "weak", json_integer(t->weak));
  pf_json_set(&o, "skipped", json_integer(t->skipped));
  pf_json_set(&o, "predicted", json_boolean(t->predicted));
  pf_json_set(&o, "nmse", nmse ? pf_json_number(pf_nmse_of(&t->nmse)) : json_null());
  return o;
}

static json_t *number_if(bool there, double v)
{
  return there ? pf_json_number(v) : json_null();
}

static json_t *worst(const pf_result *r)
{
  const pf_measured *m = &r->worst;
  const bool measured = !m->special && isfinite(m->got);
  const double share = m->magnitude > 0 ? m->error / m->magnitude : 0;
  if (m->element < 0)
    return json_null();
  json_t *o = json_object();
  pf_json_set(&o, "element", json_integer(m->element));
  pf_json_set(&o, "index", pf_json_index(&r->problem->shape, m->element));
  pf_json_set(&o, "result_of", pf_json_text(r->other_side ? r->against : r->strategy));
  pf_json_set(&o, "got", pf_json_number(m->got));
  pf_json_set(&o, "exact", number_if(!m->special, m->exact));
  pf_json_set(&o, "error", number_if(measured, m->error));
  pf_json_set(&o, "ulps", number_if(measured, m->ulps));
  pf_json_set(&o, "magnitude", number_if(!m->special, m->magnitude));
  pf_json_set(&o, "of_magnitude", number_if(measured, share));
  pf_json_set(&o, "of_radius", number_if(measured && isfinite(m->allowed.radius), m->share));
  pf_json_set(&o, "finer", json_boolean(r->finer));
  pf_json_set(&o, "allowed", pf_json_allowed(&m->allowed));
  return o;
}

static json_t *model(const pf_match *m)
{
  return m->model ? json_pack("{s:s, s:s, s:s}", "model", m->model, "says", m->says,
                              "engine", m->engine)
                  : json_null();
}

static json_t *command(const pf_settings *s, const pf_result *r, const pf_json_place *where)
{
  pf_json_print p;
  if (!where->file)
    return json_null();
  if (!pf_json_print_start(&p))
    return NULL;
  pf_settings_command(s, r, where->form, where->file, p.to);
  return pf_json_print_end(&p);
}

static json_t *declared(const pf_declared *d)
{
  char text[200] = "";
  if (d)
    pf_declared_print(d, text, sizeof text);
  return text[0] ? pf_json_text(text) : json_null();
}

/* Which library did the work, and how. */
static json_t *library(const pf_result *r)
{
  const pf_run none = {0};
  const pf_run *run = r->run ? r->run : &none;
  json_t *o = json_object();
  pf_json_set(&o, "version", pf_json_text(r->engine->version));
  pf_json_set(&o, "kernel", pf_json_text(run->kernel));
  pf_json_set(&o, "declared", declared(run->declared));
  pf_json_set(&o, "claims", pf_json_text(run->claims));
  pf_json_set(&o, "legalised", pf_json_text(run->legalised));
  pf_json_set(&o, "as_matmul", json_boolean(run->as_matmul));
  pf_json_set(&o, "said", pf_json_text(r->said));
  return o;
}

json_t *pf_json_result(const pf_settings *s, const pf_result *r, const pf_json_place *where,
                       const pf_regression *known)
{
  char signature[PF_SIGNATURE_TEXT], rule[PF_RULE_TEXT];
  const bool finding = !r->machinery && pf_verdict_is_finding(r->verdict);
  const bool stray = r->run && r->run->misdeed == PF_WROTE_OUTSIDE;
  pf_signature(r, signature, sizeof signature);
  pf_rule_print(&r->rule, rule, sizeof rule);
  json_t *o = json_object();
  pf_json_set(&o, "file", pf_json_text(where->file));
  pf_json_set(&o, "index", pf_json_whole(where->index));
  pf_json_set(&o, "engine", pf_json_text(r->engine->name));
  pf_json_set(&o, "strategy", pf_json_text(r->strategy));
  pf_json_set(&o, "against", pf_json_text(r->against));
  pf_json_set(&o, "rule", json_string(rule));
  pf_json_set(&o, "verdict", r->machinery ? json_null()
                                           : json_string(pf_verdict_name(r->verdict)));
  pf_json_set(&o, "finding", json_boolean(finding));
  pf_json_set(&o, "known", json_boolean(known));
  pf_json_set(&o, "known_as", pf_json_text(known ? known->name : NULL));
  pf_json_set(&o, "signature", finding ? pf_json_text(signature) : json_null());
  pf_json_set(&o, "why", pf_json_text(r->why));
  pf_json_set(&o, "machinery", json_string(pf_status_name(r->machinery)));
  pf_json_set(&o, "library", r->engine->foreign ? library(r) : json_null());
  pf_json_set(&o, "tally", tally(r));
  pf_json_set(&o, "worst", worst(r));
  pf_json_set(&o, "stray", stray ? json_integer(r->run->stray) : json_null());
  pf_json_set(&o, "models_tried", json_boolean(r->models_tried));
  pf_json_set(&o, "model", model(&r->match));
  pf_json_set(&o, "blind_spot", pf_json_text(pf_rule_blind_spot(&r->rule)));
  pf_json_set(&o, "reproduce", finding ? command(s, r, where) : json_null());
  return o;
}

int pf_json_judged(pf_json *j, const pf_settings *s, const pf_counts *counts, const pf_table *table,
                   int code)
{
  pf_json_close(j);
  pf_json_put(j, "table", table ? pf_table_json(table) : json_null());
  pf_json_put(j, "rule", pf_json_rule(&s->session.options.rule));
  pf_json_put(j, "counts", pf_json_counts(counts));
  pf_json_put(j, "exit_status", json_integer(code));
  return pf_json_end(j, code);
}

/* --- the case ------------------------------------------------------------------------------ */

static json_t *text_form(const pf_case *c)
{
  pf_json_print p;
  if (!pf_json_print_start(&p))
    return NULL;
  pf_text_print(c, p.to);
  return pf_json_print_end(&p);
}

void pf_json_put_case(pf_json *j, const pf_case *c)
{
  const pf_graph_info *graph = pf_graph_of(c->graph);
  const pf_shape s = pf_case_shape(c);
  pf_json_put(j, "case", text_form(c));
  pf_json_put(j, "origin", pf_json_text(c->origin));
  pf_json_put(j, "graph", json_pack("{s:s, s:s}", "name", graph->name, "torch", graph->torch));
  pf_json_put(j, "sizes", json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "b", (json_int_t)s.batches,
                                    "m", (json_int_t)s.m, "n", (json_int_t)s.n,
                                    "k", (json_int_t)s.k, "results", (json_int_t)s.outputs,
                                    "products", (json_int_t)s.work));
}

void pf_json_put_file(pf_json *j, const pf_case_file *f, const char *path)
{
  pf_json_put(j, "file", pf_json_text(path));
  pf_json_put(j, "form", json_string(pf_form_name(f->form)));
  pf_json_put_case(j, &f->what);
}
