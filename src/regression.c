/* Is a result one of the findings that are known? */
#include "regression.h"

#include <fnmatch.h>
#include <string.h>

#include "version.h"

void pf_regressions_free(pf_regressions *list)
{
  pf_arena_free(&list->memory);
  *list = (pf_regressions){0};
}

/* A text that holds what would be special in a pattern fits itself. */
static bool fits(const char *pattern, const char *text)
{
  return !strcmp(pattern, text) || !fnmatch(pattern, text, 0);
}

/* --- the words of a signature -------------------------------------------------------------- */

bool pf_regression_is_of(const pf_regression *k, const pf_result *r)
{
  pf_signature_words w;
  if (strcmp(k->engine, r->engine->name))
    return false;
  pf_signature_split(r, &w);
  return !strcmp(k->rule, w.rule) && fits(k->graph, w.graph) && fits(k->strategy, w.strategy) &&
         fits(k->dtypes, w.dtypes);
}

bool pf_regression_asks(const pf_regression *k, const pf_case *c)
{
  char dtypes[PF_DTYPES_TEXT];
  pf_dtypes_print(c, dtypes, sizeof dtypes);
  return fits(k->graph, pf_graph_of(c->graph)->name) && fits(k->dtypes, dtypes);
}

/* --- the engine ---------------------------------------------------------------------------- */

#define BETWEEN " ,;"

/* The next word, NUL-terminated in `to`; false at the end. */
static bool next_word(const char **at, const char *between, char *to, size_t size)
{
  *at += strspn(*at, between);
  const size_t length = strcspn(*at, between);
  snprintf(to, size, "%.*s", (int)length, *at);
  *at += length;
  return length > 0;
}

/* patterns: with blanks between. */
static bool fits_one(const char *patterns, const char *word)
{
  char pattern[192];
  while (next_word(&patterns, " ", pattern, sizeof pattern))
    if (fits(pattern, word))
      return true;
  return false;
}

static bool has_isa(const pf_regression *k, const pf_engine *e)
{
  char word[192];
  for (const char *at = e->details ? e->details : ""; next_word(&at, BETWEEN, word, sizeof word);)
    if (!strchr(word, '/') && fits_one(k->isa, word))
      return true;
  return false;
}

void pf_isa_of(const pf_engine *e, char *to, size_t size)
{
  const char *at = e->details ? e->details : "";
  while (next_word(&at, BETWEEN, to, size))
    if (!strchr(to, '/')) {
      if (*to >= '0' && *to <= '9')  /* "2 threads" */
        break;
      return;
    }
  *to = 0;
}

bool pf_regression_applies(const pf_regression *k, const pf_engine *e, char *why, size_t size)
{
  const bool version = !k->version || (e->release && pf_version_in(e->release, k->version));
  const bool isa = !k->isa || has_isa(k, e);
  if (!version)
    snprintf(why, size, "version %s is not %s", e->release ? e->release : "unknown", k->version);
  else if (!isa)
    snprintf(why, size, "isa %s is not there", k->isa);
  return version && isa;
}

bool pf_regression_has_kernel(const pf_regression *k, const char *kernel)
{
  return !k->kernel || (kernel && fits(k->kernel, kernel));
}

/* --- all of it ----------------------------------------------------------------------------- */

bool pf_regression_matches(const pf_regression *k, const pf_result *r)
{
  char why[16];
  return !r->machinery && r->verdict == k->verdict && pf_regression_is_of(k, r) &&
         pf_regression_applies(k, r->engine, why, sizeof why) &&
         pf_regression_has_kernel(k, r->run ? r->run->kernel : NULL) &&
         (!k->model || (r->match.model && fits_one(k->model, r->match.model)));
}

const pf_regression *pf_regressions_find(const pf_regressions *list, const pf_result *r)
{
  if (!pf_verdict_is_finding(r->verdict))
    return NULL;
  for (size_t i = 0; i < list->count; i++)
    if (pf_regression_matches(&list->entry[i], r))
      return &list->entry[i];
  return NULL;
}

const pf_regression *pf_regressions_named(const pf_regressions *list, const char *name)
{
  for (size_t i = 0; i < list->count; i++)
    if (!strcmp(list->entry[i].name, name))
      return &list->entry[i];
  return NULL;
}
