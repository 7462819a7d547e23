/* A replayed finding as JSON. */
#include "regress.h"

static json_t *text_or_null(const char *text)
{
  return pf_json_text(text && *text ? text : NULL);
}

json_t *pf_replay_json(const pf_replay *r)
{
  const pf_regression *k = r->entry;
  json_t *o = json_object();
  pf_json_set(&o, "name", pf_json_text(k->name));
  pf_json_set(&o, "line", json_integer(k->line));
  pf_json_set(&o, "signature", pf_json_text(k->signature));
  pf_json_set(&o, "version", pf_json_text(k->version));
  pf_json_set(&o, "kernel", pf_json_text(k->kernel));
  pf_json_set(&o, "isa", pf_json_text(k->isa));
  pf_json_set(&o, "model", pf_json_text(k->model));
  pf_json_set(&o, "reason", pf_json_text(k->reason));
  pf_json_set(&o, "reported", pf_json_text(k->reported));
  pf_json_set(&o, "outcome", pf_json_text(pf_outcome_name(r->outcome)));
  pf_json_set(&o, "why", text_or_null(r->why));
  pf_json_set(&o, "found", text_or_null(r->found));
  pf_json_set(&o, "engine", pf_json_text(r->engine));
  pf_json_set(&o, "reproduce", pf_json_text(r->command));
  return o;
}
