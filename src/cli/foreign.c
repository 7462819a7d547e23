/* Foreign engines, for precfuzz engines: version, what they declare, table of dtypes. */
#include "json.h"

#include <string.h>

#include "engines/engines.h"

/* Opens it where its crash is nobody else's. */
static pf_status open_apart(const char *spec, pf_plugin **out, pf_error *e)
{
  const pf_plugin_options options = {.isolate = true};
  return pf_plugin_open(spec, &options, out, e);
}

/* Why it is missing, without the name that the text begins with. */
static const char *without_name(const char *spec, const char *text)
{
  const size_t name = strlen(spec);
  return !strncmp(text, spec, name) && text[name] == ':' ? text + name + 2 : text;
}

/* --- for people ---------------------------------------------------------------------------- */

static const char *dtype_word(int dtype)
{
  return dtype == PFE_NONE ? "-" : pf_dtype_of((pf_dtype)dtype)->name;
}

static void print_types(const pfe_types *types, int count)
{
  printf("      %-12s %-12s %-6s %-12s %-12s %s\n", "x", "y", "sums", "result", "c", "bias");
  for (int i = 0; i < count; i++)
    printf("      %-12s %-12s %-6s %-12s %-12s %s\n", dtype_word(types[i].x),
           dtype_word(types[i].y), dtype_word(types[i].acc), dtype_word(types[i].out),
           dtype_word(types[i].c), dtype_word(types[i].bias));
}

static void print_opened(const pf_plugin *p)
{
  const pf_engine *e = pf_plugin_engine(p);
  char declared[200];
  int count;
  const pfe_types *types = pf_plugin_types(p, &count);
  pf_declared_print(pf_plugin_declared(p), declared, sizeof declared);
  printf("  %-24s %s%s%s\n", e->name, e->version, declared[0] ? "; " : "", declared);
  if (e->whole_graph)
    puts("      takes whole cases");
  else if (types)
    print_types(types, count);
}

int pf_foreign_print(const char *spec)
{
  pf_plugin *p;
  pf_error e = {0};
  const pf_status status = open_apart(spec, &p, &e);
  if (status == PF_UNSUPPORTED) {
    printf("  %-24s %s\n", spec, without_name(spec, e.text));
    return PF_EXIT_CLEAN;
  }
  if (status)
    return pf_cli_report(status, &e, false, NULL);
  print_opened(p);
  pf_plugin_close(p);
  return PF_EXIT_CLEAN;
}

/* --- for programs -------------------------------------------------------------------------- */

static json_t *dtype_json(int dtype)
{
  return dtype == PFE_NONE ? json_null() : json_string(pf_dtype_of((pf_dtype)dtype)->name);
}

static json_t *types_json(const pf_plugin *p)
{
  int count;
  const pfe_types *types = pf_plugin_types(p, &count);
  if (!types)
    return json_null();
  json_t *all = json_array();
  for (int i = 0; i < count; i++) {
    const pfe_types *t = &types[i];
    json_t *line = json_object();
    pf_json_set(&line, "x", dtype_json(t->x));
    pf_json_set(&line, "y", dtype_json(t->y));
    pf_json_set(&line, "sums", dtype_json(t->acc));
    pf_json_set(&line, "result", dtype_json(t->out));
    pf_json_set(&line, "c", dtype_json(t->c));
    pf_json_set(&line, "bias", dtype_json(t->bias));
    pf_json_append(&all, line);
  }
  return all;
}

static json_t *library_json(const char *spec, const pf_plugin *p, const char *missing)
{
  const pf_engine *e = p ? pf_plugin_engine(p) : NULL;
  char declared[200] = "";
  json_t *o = json_object();
  if (p)
    pf_declared_print(pf_plugin_declared(p), declared, sizeof declared);
  pf_json_set(&o, "engine", pf_json_text(spec));
  pf_json_set(&o, "version", pf_json_text(e ? e->version : NULL));
  pf_json_set(&o, "declared", pf_json_text(declared[0] ? declared : NULL));
  pf_json_set(&o, "whole_cases", json_boolean(e && e->whole_graph));
  pf_json_set(&o, "types", p ? types_json(p) : json_null());
  pf_json_set(&o, "missing", pf_json_text(missing));
  return o;
}

int pf_foreign_put(pf_json *j, const char *spec)
{
  pf_plugin *p = NULL;
  pf_error e = {0};
  const pf_status status = open_apart(spec, &p, &e);
  const int code = status && status != PF_UNSUPPORTED ? pf_cli_report(status, &e, false, NULL)
                                                      : PF_EXIT_CLEAN;
  pf_json_put(j, NULL,
              library_json(spec, status ? NULL : p, status ? without_name(spec, e.text) : NULL));
  if (!status)
    pf_plugin_close(p);
  return code;
}
