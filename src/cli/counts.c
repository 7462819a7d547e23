/* Counting results. */
#include "cli.h"

#include <inttypes.h>

bool pf_counts_add(pf_counts *c, const pf_result *r, bool known)
{
  c->results++;
  if (r->machinery)
    return false;
  c->verdict[r->verdict]++;
  if (!pf_verdict_is_finding(r->verdict))
    return false;
  c->known += known;
  c->findings += !known;
  return !known;
}

void pf_counts_print(const pf_counts *c, FILE *to)
{
  fprintf(to, "%" PRIu64 " case%s, %" PRIu64 " result%s, %" PRIu64 " finding%s", c->cases,
          c->cases == 1 ? "" : "s", c->results, c->results == 1 ? "" : "s", c->findings,
          c->findings == 1 ? "" : "s");
  if (c->known)
    fprintf(to, ", %" PRIu64 " known", c->known);
  const char *before = ": ";
  for (int v = 0; v < PF_VERDICT_COUNT; v++)
    if (c->verdict[v]) {
      fprintf(to, "%s%s %" PRIu64, before, pf_verdict_name((pf_verdict)v), c->verdict[v]);
      before = ", ";
    }
  fputc('\n', to);
}
