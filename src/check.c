/* Comparing, and what the comparisons of a tensor come to. */
#include "check.h"

#include <math.h>
#include <string.h>

const char *pf_verdict_name(pf_verdict v)
{
  static const char *const names[] = {"OK", "VACUOUS", "UNSUPPORTED", "ORDER", "IMPOSSIBLE",
                                      "SPECIAL", "GUARD", "INPUT", "FENV", "UNREPEATABLE", "DIED"};
  return names[v];
}

bool pf_verdict_is_finding(pf_verdict v)
{
  return v >= PF_VERDICT_IMPOSSIBLE;
}

void pf_tally_start(pf_tally *t)
{
  memset(t, 0, sizeof *t);
  t->worst = -1;
  t->worst_share = -1;
}

/* Of a class that the enclosure does not have. */
static bool is_special(const pf_set *s, double got)
{
  return !isfinite(got) ||
         (!pf_set_has_finite(s) && (s->plus_infinity || s->minus_infinity || s->nan));
}

bool pf_tally_element(pf_tally *t, const pf_enclosure *e, double got)
{
  t->judged++;
  t->weak += e->weak;
  if (pf_set_allows(&e->set, got)) {
    t->order += !isfinite(got) && pf_set_is_open(&e->set);
    return true;
  }
  t->wrong++;
  t->special += is_special(&e->set, got);
  return false;
}

/* An infinity or NaN counts as ORDER where the whole set is open: surely so where a subset is. */
bool pf_tally_settles(const pf_enclosure *subset, double got)
{
  const pf_set *s = &subset->set;
  return (got >= s->lo && got <= s->hi) ||
         (pf_set_allows(s, got) && (subset->whole || pf_set_is_open(s)));
}

pf_verdict pf_tally_verdict(const pf_tally *t)
{
  if (t->wrong)
    return t->special == t->wrong ? PF_VERDICT_SPECIAL : PF_VERDICT_IMPOSSIBLE;
  if (!t->judged || t->weak == t->judged)
    return PF_VERDICT_VACUOUS;
  return t->order ? PF_VERDICT_ORDER : PF_VERDICT_OK;
}
