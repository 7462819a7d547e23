/* A row of precfuzz explain as JSON: its steps, and what each of them adds. */
#include "json.h"

static json_t *first_special(const pf_worst_error *w, const pf_shape *s, const double *computed)
{
  if (!w->special)
    return json_null();
  return json_pack("{s:o, s:o}", "index", pf_json_index(s, w->first_special), "value",
                   computed ? pf_json_number(computed[w->first_special]) : json_null());
}

/* computed: what the error is of; NULL where nobody has it. */
static json_t *error_of(const pf_worst_error *w, const pf_shape *s, const double *computed)
{
  const bool measured = w->element >= 0;
  json_t *o = json_object();
  pf_json_set(&o, "element", measured ? json_integer(w->element) : json_null());
  pf_json_set(&o, "index", pf_json_index(s, w->element));
  pf_json_set(&o, "error", measured ? pf_json_number(w->error) : json_null());
  pf_json_set(&o, "ulps", measured ? pf_json_number(w->ulps) : json_null());
  pf_json_set(&o, "of_magnitude", measured ? pf_json_number(w->share) : json_null());
  pf_json_set(&o, "special", json_integer(w->special));
  pf_json_set(&o, "first_special", first_special(w, s, computed));
  return o;
}

static json_t *torch_step(const pf_case *c, const pf_plan *plan, int i)
{
  pf_json_print p;
  if (!pf_json_print_start(&p))
    return NULL;
  pf_torch_print_step(c, plan, i, p.to);
  return pf_json_print_end(&p);
}

static json_t *rounding(const pf_plan *plan, int i)
{
  pf_json_print p;
  if (!pf_json_print_start(&p))
    return NULL;
  pf_torch_print_rounding(plan, i, p.to);
  return pf_json_print_end(&p);
}

static json_t *step(const pf_result *r, const pf_explanation *why, int i)
{
  char row[512];
  const bool known = why && why->known[i];
  json_t *o = json_object();
  pf_step_print(&r->plan->step[i], r->plan, row, sizeof row);
  pf_json_set(&o, "name", pf_json_text(r->plan->step[i].name));
  pf_json_set(&o, "row", pf_json_text(row));
  pf_json_set(&o, "torch", torch_step(r->problem->what, r->plan, i));
  pf_json_set(&o, "rounding", rounding(r->plan, i));
  pf_json_set(&o, "adds", known ? error_of(&why->step[i], &r->problem->shape, r->run->step[i])
                                 : json_null());
  return o;
}

static json_t *steps(const pf_result *r, const pf_explanation *why)
{
  json_t *all = json_array();
  for (int i = 0; r->plan && i < r->plan->count; i++)
    pf_json_append(&all, step(r, why, i));
  return all;
}

json_t *pf_json_explained(const pf_result *r, const pf_explanation *why, const char *note,
                          const char *same_as)
{
  const bool loses = why && why->largest >= 0;
  json_t *o = json_object();
  pf_json_set(&o, "strategy", pf_json_text(r->strategy));
  pf_json_set(&o, "note", pf_json_text(note));
  pf_json_set(&o, "machinery", json_string(pf_status_name(r->machinery)));
  pf_json_set(&o, "not_run", r->run ? json_null()
                                     : pf_json_text(r->why ? r->why
                                                           : pf_status_name(r->machinery)));
  pf_json_set(&o, "same_as", pf_json_text(same_as));
  pf_json_set(&o, "steps", steps(r, why));
  pf_json_set(&o, "largest",
              loses ? pf_json_text(r->plan->step[why->largest].name) : json_null());
  pf_json_set(&o, "error",
              why ? error_of(&why->total, &r->problem->shape, r->run->got) : json_null());
  return o;
}

json_t *pf_json_explained_worst(const pf_result *r, const pf_explanation *why,
                                const pf_exact_results *exact, const pf_shape *shape)
{
  const pf_worst_error *w = &why->total;
  json_t *o = json_object();
  pf_json_set(&o, "strategy", pf_json_text(r->strategy));
  pf_json_set(&o, "element", json_integer(w->element));
  pf_json_set(&o, "index", pf_json_index(shape, w->element));
  pf_json_set(&o, "got", pf_json_number(r->run->got[w->element]));
  pf_json_set(&o, "exact", pf_json_number(exact->value[w->element]));
  pf_json_set(&o, "error", pf_json_number(w->error));
  pf_json_set(&o, "ulps", pf_json_number(w->ulps));
  pf_json_set(&o, "magnitude", pf_json_number(exact->magnitude[w->element]));
  pf_json_set(&o, "of_magnitude", pf_json_number(w->share));
  pf_json_set(&o, "allowed", pf_json_allowed(&why->allowed));
  return o;
}
