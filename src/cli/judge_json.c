/* What came of a judgement, as JSON. */
#include "judge.h"

void pf_judge_json_heading(pf_json *json, const pf_judge_case *in, const pf_case *what)
{
  pf_json_open(json, NULL, '{');
  pf_json_put(json, "file", pf_json_text(in->item->path));
  pf_json_put(json, "form", json_string(pf_form_name(in->file.form)));
  pf_json_put_case(json, what);
  pf_json_put(json, "got", pf_json_text(in->got));
  pf_json_open(json, "results", '[');
}

static json_t *command(const pf_judgement *j, const pf_settings *s, pf_form form)
{
  pf_json_print p;
  if (!pf_json_print_start(&p))
    return NULL;
  pf_judgement_command(j, s, form, p.to);
  return pf_json_print_end(&p);
}

static json_t *result_of(const pf_judgement *j, const pf_settings *s, pf_form form, uint64_t index,
                         const pf_regression *known)
{
  const pf_json_place where = {.file = j->in->item->path, .index = index};
  json_t *o = pf_json_result(s, &j->result, &where, known);
  if (!j->result.machinery && pf_verdict_is_finding(j->result.verdict))
    pf_json_set(&o, "reproduce", command(j, s, form));
  return o;
}

static json_t *rows_of(const pf_judgement *j, const pf_settings *s, uint64_t index)
{
  const pf_json_place where = {.file = NULL, .index = index};
  if (!j->several)
    return json_null();
  json_t *rows = json_array();
  for (int i = 0; i < j->rows; i++)
    pf_json_append(&rows, pf_json_result(s, &j->row[i], &where, NULL));
  return rows;
}

static json_t *fits_of(const pf_judgement *j)
{
  json_t *names = json_array();
  for (int i = 0; i < j->rows; i++)
    if (pf_judge_fits(&j->row[i]))
      pf_json_append(&names, pf_json_text(j->row[i].strategy));
  for (int i = 0; i < j->others; i++)
    pf_json_append(&names, json_string(j->other[i]));
  return names;
}

void pf_judgement_json(pf_json *json, const pf_judgement *j, const pf_settings *s, pf_form form,
                       uint64_t index, const pf_regression *known)
{
  const char *name = j->output->tensor->name;
  pf_json_open(json, NULL, '{');
  pf_json_put(json, "tensor", pf_json_text(*name ? name : NULL));
  pf_json_put(json, "result", result_of(j, s, form, index, known));
  pf_json_put(json, "fits", fits_of(j));
  pf_json_put(json, "rows", rows_of(j, s, index));
  pf_json_close(json);
}
