/* Selections from text. */
#include "options.h"

#include <stdlib.h>
#include <string.h>

#include "engines/engines.h"

void pf_options_default(pf_options *o)
{
  memset(o, 0, sizeof *o);
  o->opening.threads = 1;
  for (const pf_engine *const *e = pf_engines; *e && o->engine_count < PF_MAX_ENGINES; e++)
    if ((*e)->listed)
      o->engine[o->engine_count++] = *e;
}

static pf_status add_engine(pf_options *o, const pf_engine *e, pf_error *error)
{
  for (int i = 0; i < o->engine_count; i++)
    if (o->engine[i] == e)
      return PF_OK;
  if (o->engine_count == PF_MAX_ENGINES)
    return pf_fail(error, PF_BAD_INPUT, 0, "more than %d engines", PF_MAX_ENGINES);
  o->engine[o->engine_count++] = e;
  return PF_OK;
}

/* One of ours, or a family of them; false if there is none. */
static bool add_own(pf_options *o, const char *name, size_t length, pf_status *status, pf_error *e)
{
  bool found = false;
  *status = PF_OK;
  for (const pf_engine *const *have = pf_engines; *have && !*status; have++) {
    const char *known = (*have)->name;
    if (strncmp(known, name, length) || (known[length] != 0 && known[length] != ':'))
      continue;
    found = true;
    *status = add_engine(o, *have, e);
  }
  return found;
}

static void tell(const pf_options *o, const char *text)
{
  if (o->notice)
    o->notice(text);
}

static pf_status open_plugin(pf_options *o, const char *spec, pf_error *e)
{
  char text[320];
  pf_plugin *p;
  for (int i = 0; i < o->plugin_count; i++)
    if (!strcmp(pf_plugin_engine(o->plugin[i])->name, spec))
      return add_engine(o, pf_plugin_engine(o->plugin[i]), e);
  if (o->plugin_count == PF_MAX_ENGINES)
    return pf_fail(e, PF_BAD_INPUT, 0, "more than %d engines", PF_MAX_ENGINES);
  PF_TRY(pf_plugin_open(spec, &o->opening, &p, e));
  o->plugin[o->plugin_count++] = p;
  if (pf_plugin_changed_control(p)) {
    snprintf(text, sizeof text, "%s: loading it changed the rounding mode or flush-to-zero, which "
             "precfuzz has put back", spec);
    tell(o, text);
  }
  return add_engine(o, pf_plugin_engine(p), e);
}

static pf_status add_installed(pf_options *o, pf_error *e)
{
  for (const pfe_engine *const *a = pf_adapters; *a; a++) {
    const pf_status status = open_plugin(o, (*a)->name, e);
    if (status == PF_UNSUPPORTED && e)
      tell(o, e->text);
    else if (status && status != PF_UNSUPPORTED)
      return status;
  }
  return PF_OK;
}

static pf_status no_engine(const char *name, size_t offset, pf_error *e)
{
  return pf_fail(e, PF_BAD_INPUT, offset,
                 "no engine is called '%s' (precfuzz engines lists them)", name);
}

static pf_status add_named(pf_options *o, const char *name, size_t length, size_t offset,
                           pf_error *e)
{
  pf_status status;
  if (add_own(o, name, length, &status, e))
    return status;
  char *spec = strndup(name, length);
  if (!spec)
    return PF_NO_MEMORY;
  if (!strcmp(spec, "installed"))
    status = add_installed(o, e);
  else if (pf_plugin_is(spec))
    status = open_plugin(o, spec, e);
  else
    status = no_engine(spec, offset, e);
  free(spec);
  /* named, it has to be there */
  return status == PF_UNSUPPORTED ? PF_BAD_INPUT : status;
}

pf_status pf_options_add_engines(pf_options *o, const char *names, pf_error *e)
{
  for (const char *at = names;;) {
    const size_t length = pf_plugin_length(at);
    PF_TRY(add_named(o, at, length, (size_t)(at - names), e));
    if (!at[length])
      return PF_OK;
    at += length + 1;
  }
}

pf_status pf_options_engines(pf_options *o, const char *names, pf_error *e)
{
  o->engine_count = 0;
  return pf_options_add_engines(o, names, e);
}

pf_status pf_options_engine(pf_options *o, const char *name, pf_error *e)
{
  const pf_engine *own = pf_engine_find(name, strlen(name));
  o->engine_count = 0;
  return own                  ? add_engine(o, own, e)
         : pf_plugin_is(name) ? open_plugin(o, name, e)
                              : no_engine(name, 0, e);
}

int pf_options_foreign(const char *names)
{
  int count = 0;
  for (const char *at = names;;) {
    const size_t length = pf_plugin_length(at);
    char *spec = strndup(at, length);
    if (spec)
      count += !strcmp(spec, "installed") ? 2 : pf_plugin_is(spec);
    free(spec);
    if (!at[length])
      return count;
    at += length + 1;
  }
}

void pf_options_close(pf_options *o)
{
  while (o->plugin_count)
    pf_plugin_close(o->plugin[--o->plugin_count]);
  o->engine_count = 0;
}

static bool strategy_exists(const char *name)
{
  for (const pf_row *r = pf_rows; r->text; r++)
    if (!strcmp(r->strategy, name))
      return true;
  return false;
}

static pf_status add_strategy(pf_options *o, const char *name, size_t length, const char *text,
                              size_t offset, pf_error *e)
{
  if (o->strategy_count == PF_MAX_STRATEGIES)
    return pf_fail(e, PF_BAD_INPUT, offset, "more than %d strategies", PF_MAX_STRATEGIES);
  pf_strategy *s = &o->strategy[o->strategy_count];
  if (!length || length >= sizeof s->name)
    return pf_fail(e, PF_BAD_INPUT, offset, "a strategy's name has 1 to %zu letters",
                   sizeof s->name - 1);
  memcpy(s->name, name, length);
  s->name[length] = 0;
  s->text = text;
  if (!text && !strategy_exists(s->name))
    return pf_fail(e, PF_BAD_INPUT, offset,
                   "no strategy is called '%s' (precfuzz strategies lists them)", s->name);
  o->strategy_count++;
  return PF_OK;
}

/* "NAME: STEPS" or STEPS. */
static pf_status add_row(pf_options *o, const char *text, size_t offset, pf_error *e)
{
  const char *colon = strchr(text, ':'), *equals = strchr(text, '=');
  if (!colon || colon > equals)
    return add_strategy(o, "given", 5, text, offset, e);
  return add_strategy(o, text, (size_t)(colon - text), colon + 1, offset, e);
}

pf_status pf_options_strategies(pf_options *o, const char *text, pf_error *e)
{
  if (strchr(text, '='))
    return add_row(o, text, 0, e);
  for (const char *at = text;;) {
    const size_t length = strcspn(at, ",");
    const pf_status status = add_strategy(o, at, length, NULL, (size_t)(at - text), e);
    if (status || !at[length])
      return status;
    at += length + 1;
  }
}

pf_status pf_options_oracle(pf_options *o, const char *text, pf_error *e)
{
  static const char *const names[] = {"certified", "mpfr", "both"};
  for (int i = 0; i < 3; i++)
    if (!strcmp(text, names[i])) {
      o->oracle = (pf_oracle_use)i;
      return PF_OK;
    }
  return pf_fail(e, PF_BAD_INPUT, 0, "'%s' is none of certified, mpfr, both", text);
}

pf_status pf_options_rule(pf_options *o, const char *text, pf_error *e)
{
  pf_rule rule;
  const pf_status status = pf_rule_parse(text, &rule, e);
  if (!status)
    o->rule = rule;
  return status;
}
