/* What an engine says of itself, and of a call. */
#include <string.h>

#include "dtype.h"
#include "wire_parts.h"

/* --- hello --------------------------------------------------------------------------------- */

static json_t *dtype_text(int dtype)
{
  return dtype == PFE_NONE ? json_null() : json_string(pf_dtype_of((pf_dtype)dtype)->name);
}

static json_t *types_of(const pfe_info *info)
{
  json_t *all = json_array();
  for (int32_t i = 0; i < info->types_count; i++) {
    const pfe_types *t = &info->types[i];
    json_t *line = json_array();
    const int8_t column[] = {t->x, t->y, t->acc, t->out, t->c, t->bias};
    for (int j = 0; j < 6; j++)
      json_array_append_new(line, dtype_text(column[j]));
    json_array_append_new(all, line);
  }
  return all;
}

json_t *pf_wire_hello(const pfe_engine *e, const pfe_info *info)
{
  json_t *to = json_object(), *settings = json_object();
  json_object_set_new(to, "precfuzz", json_integer(PF_WIRE_VERSION));
  json_object_set_new(to, "name", json_string(e->name));
  json_object_set_new(to, "note", json_string(e->note ? e->note : ""));
  json_object_set_new(to, "version", json_string(info->version));
  json_object_set_new(to, "details", json_string(info->details));
  if (e->flags & PFE_TAKES_STEPS)
    json_object_set_new(to, "takes_steps", json_true());
  if (e->flags & PFE_RUNS_GRAPHS)
    json_object_set_new(to, "runs_graphs", json_true());
  pf_fields_write(settings, &info->settings, pf_settings_fields);
  json_object_set_new(to, "settings", settings);
  if (info->types)
    json_object_set_new(to, "types", types_of(info));
  return to;
}

static bool read_dtype(const json_t *from, int8_t *to)
{
  pf_dtype t;
  const char *name = json_string_value(from);
  if (name && pf_dtype_find(name, strlen(name), &t))
    *to = (int8_t)t;
  else if (json_is_null(from))
    *to = PFE_NONE;
  else
    return false;
  return true;
}

static pf_status read_types(const json_t *from, pfe_info *info, pfe_types *types, int most,
                            pf_error *e)
{
  const size_t count = json_array_size(from);
  if (!json_is_array(from) || count > (size_t)most)
    return pf_fail(e, PF_BAD_INPUT, 0, "'types' is no array of at most %d lines", most);
  for (size_t i = 0; i < count; i++) {
    int8_t column[6] = {0};
    const json_t *line = json_array_get(from, i);
    for (size_t j = 0; j < 6; j++)
      if (json_array_size(line) != 6 || !read_dtype(json_array_get(line, j), &column[j]))
        return pf_fail(e, PF_BAD_INPUT, 0, "line %zu of 'types' is not [x, y, acc, out, c, bias]",
                       i);
    types[i] = (pfe_types){column[0], column[1], column[2], column[3], column[4], column[5]};
  }
  info->types = types;
  info->types_count = (int32_t)count;
  return PF_OK;
}

static pf_status read_flag(const json_t *head, const char *key, uint32_t flag, uint32_t *to,
                           pf_error *e)
{
  const json_t *member = json_object_get(head, key);
  if (member && !json_is_boolean(member))
    return pf_fail(e, PF_BAD_INPUT, 0, "'%s' is neither true nor false", key);
  *to |= json_is_true(member) ? flag : 0;
  return PF_OK;
}

pf_status pf_wire_read_hello(const json_t *head, pfe_engine *e, char *name, size_t name_size,
                             pfe_info *info, pfe_types *types, int most, pf_error *error)
{
  static const char *const none[] = {NULL};
  const json_t *version = json_object_get(head, "precfuzz");
  const json_t *settings = json_object_get(head, "settings");
  if (json_integer_value(version) != PF_WIRE_VERSION)
    return pf_fail(error, PF_BAD_INPUT, 0, "it does not say \"precfuzz\": %d", PF_WIRE_VERSION);
  PF_TRY(pf_wire_text(head, "name", name, name_size, error));
  PF_TRY(pf_wire_text(head, "version", info->version, sizeof info->version, error));
  PF_TRY(pf_wire_text(head, "details", info->details, sizeof info->details, error));
  PF_TRY(read_flag(head, "takes_steps", PFE_TAKES_STEPS, &e->flags, error));
  PF_TRY(read_flag(head, "runs_graphs", PFE_RUNS_GRAPHS, &e->flags, error));
  if (settings)
    PF_TRY(pf_fields_read(settings, &info->settings, pf_settings_fields, none, error));
  const json_t *table = json_object_get(head, "types");
  return table ? read_types(table, info, types, most, error) : PF_OK;
}

/* --- answers ------------------------------------------------------------------------------- */

static const char *const status_keys[] = {
  [PFE_OK] = "ok", [PFE_UNSUPPORTED] = "unsupported", [PFE_ERROR] = "error",
  [PFE_ABSENT] = "absent"
};

json_t *pf_wire_answer(pfe_status status, const pfe_answer *a, const pfe_settings *known,
                       const pf_wire_seen *seen)
{
  json_t *to = json_object();
  if (status != PFE_OK) {
    json_object_set_new(to, status_keys[status], json_string(a->text));
    return to;
  }
  json_object_set_new(to, "ok", json_true());
  if (a->kernel[0])
    json_object_set_new(to, "kernel", json_string(a->kernel));
  if (a->row[0])
    json_object_set_new(to, "row", json_string(a->row));
  if (memcmp(&a->settings, known, sizeof *known)) {
    json_t *settings = json_object();
    pf_fields_write(settings, &a->settings, pf_settings_fields);
    json_object_set_new(to, "settings", settings);
  }
  if (seen->control)
    json_object_set_new(to, "control", json_true());
  if (seen->input)
    json_object_set_new(to, "input", json_true());
  if (seen->outside)
    json_object_set_new(to, "outside", json_integer(seen->stray));
  return to;
}

/* Of a call, or in place of hello. */
static bool read_refusal(const json_t *head, pfe_status *status, char *text, size_t size)
{
  for (int s = PFE_UNSUPPORTED; s <= PFE_ABSENT; s++) {
    const char *why = json_string_value(json_object_get(head, status_keys[s]));
    if (!why)
      continue;
    *status = (pfe_status)s;
    snprintf(text, size, "%s", why);
    return true;
  }
  return false;
}

pf_status pf_wire_read_answer(const json_t *head, pfe_status *status, pfe_answer *a,
                              pf_wire_seen *seen, pf_error *e)
{
  static const char *const none[] = {NULL};
  const json_t *settings = json_object_get(head, "settings");
  const json_t *outside = json_object_get(head, "outside");
  *seen = (pf_wire_seen){0};
  *status = PFE_OK;
  if (read_refusal(head, status, a->text, sizeof a->text))
    return PF_OK;
  if (!json_is_true(json_object_get(head, "ok")))
    return pf_fail(e, PF_BAD_INPUT, 0, "its answer has neither ok nor unsupported nor error");
  PF_TRY(pf_wire_text(head, "kernel", a->kernel, sizeof a->kernel, e));
  PF_TRY(pf_wire_text(head, "row", a->row, sizeof a->row, e));
  if (settings) {
    a->settings = (pfe_settings){.accumulator = PFE_NONE};
    PF_TRY(pf_fields_read(settings, &a->settings, pf_settings_fields, none, e));
  }
  seen->control = json_is_true(json_object_get(head, "control"));
  seen->input = json_is_true(json_object_get(head, "input"));
  seen->outside = json_is_integer(outside);
  seen->stray = json_integer_value(outside);
  return PF_OK;
}
