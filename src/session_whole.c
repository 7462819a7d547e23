/* Which of the rows is held against an engine that took the whole case. */
#include "session_whole.h"

#include <string.h>

static void set_aside(pf_result *r, const char *why)
{
  r->verdict = PF_VERDICT_UNSUPPORTED;
  r->why = why;
}

/* It ran, and there is nothing to say of it yet. */
static bool is_open(const pf_result *r)
{
  return r->run && r->verdict == PF_VERDICT_OK;
}

/* The row that the engine names, or another name for the same steps. */
static bool is_claimed(const pf_result *r, pf_result *const *results, int count)
{
  for (int i = 0; i < count; i++)
    if (results[i]->plan && !strcmp(r->run->claims, results[i]->strategy))
      return pf_plan_equal(r->plan, results[i]->plan);
  return false;
}

void pf_whole_claim(pf_result *const *results, int count)
{
  for (int i = 0; i < count; i++) {
    pf_result *r = results[i];
    if (is_open(r) && r->run->claims && !is_claimed(r, results, count))
      set_aside(r, "the engine says that it follows another row");
  }
}

static bool is_wrong(const pf_result *r)
{
  return r->verdict == PF_VERDICT_IMPOSSIBLE || r->verdict == PF_VERDICT_SPECIAL;
}

static bool fits(const pf_result *r)
{
  return r->run && (r->verdict == PF_VERDICT_OK || r->verdict == PF_VERDICT_ORDER ||
                    r->verdict == PF_VERDICT_VACUOUS);
}

void pf_whole_settle(pf_result *const *results, int count)
{
  const pf_result *fit = NULL, *closest = NULL;
  for (int i = 0; i < count; i++) {
    const pf_result *r = results[i];
    if (r->run && r->run->claims)
      return;
    if (fits(r))
      fit = r;
    if (is_wrong(r) && (!closest || r->tally.wrong < closest->tally.wrong))
      closest = r;
  }
  for (int i = 0; i < count; i++)
    if (is_wrong(results[i]) && (fit || results[i] != closest))
      set_aside(results[i], fit ? "another row fits" : "no row fits, another is closer");
}
