/* Selections from text. */
#include "options.h"

#include <string.h>

void pf_options_default(pf_options *o)
{
  memset(o, 0, sizeof *o);
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

static pf_status add_engines_named(pf_options *o, const char *name, size_t length, size_t offset,
                                   pf_error *error)
{
  bool found = false;
  for (const pf_engine *const *e = pf_engines; *e; e++) {
    const char *have = (*e)->name;
    if (strncmp(have, name, length) || (have[length] != 0 && have[length] != ':'))
      continue;
    found = true;
    const pf_status status = add_engine(o, *e, error);
    if (status)
      return status;
  }
  return found ? PF_OK
               : pf_fail(error, PF_BAD_INPUT, offset,
                         "no engine is called '%.*s' (precfuzz engines lists them)", (int)length,
                         name);
}

pf_status pf_options_engines(pf_options *o, const char *names, pf_error *e)
{
  o->engine_count = 0;
  for (const char *at = names;;) {
    const size_t length = strcspn(at, ",");
    const pf_status status = add_engines_named(o, at, length, (size_t)(at - names), e);
    if (status || !at[length])
      return status;
    at += length + 1;
  }
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
