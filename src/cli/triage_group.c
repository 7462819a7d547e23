/* Files that show the same finding, together. */
#include "triage.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_steady(const pf_sighting *s)
{
  return s->shown.times == s->shown.tries;
}

void pf_bundle_name(const pf_sighting *s, char to[PF_BUNDLE_NAME + 1])
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+";
  char end[32];
  const int length = snprintf(end, sizeof end, "-%08" PRIx64 "%s",
                              pf_finding_hash(&s->finding) >> 32, is_steady(s) ? "" : "-sometimes");
  const char *from = s->finding.signature;
  while (*from && !strchr(plain, *from))  /* a file's "./" */
    from++;
  snprintf(to, PF_BUNDLE_NAME + 1, "%.*s", PF_BUNDLE_NAME - length, from);
  for (char *c = to; *c; c++)
    if (!strchr(plain, *c))
      *c = *c == ' ' ? '-' : '_';
  strcat(to, end);
}

/* A group of one sighting. */
static void start_group(const pf_triage *t, size_t file, int i, pf_group *out)
{
  *out = (pf_group){.seen = &t->looked[file].seen[i], .file = file, .files = 1};
  pf_bundle_name(out->seen, out->name);
}

/* By finding; of the same finding the simplest file first, whatever the order of files. */
static int compare(const void *a, const void *b, void *triage)
{
  const pf_group *g = a, *h = b;
  const pf_triage *t = triage;
  const uint64_t x = t->looked[g->file].work, y = t->looked[h->file].work;
  const int names = strcmp(g->name, h->name);
  if (names)
    return names;
  if (x != y)
    return x < y ? -1 : 1;
  return strcmp(t->paths.path[g->file], t->paths.path[h->file]);
}

pf_status pf_triage_group(pf_triage *t)
{
  size_t all = 0;
  for (size_t i = 0; i < t->paths.count; i++)
    all += (size_t)t->looked[i].count;
  t->group = malloc((all + 1) * sizeof *t->group);
  if (!t->group)
    return PF_NO_MEMORY;
  all = 0;
  for (size_t i = 0; i < t->paths.count; i++)
    for (int j = 0; j < t->looked[i].count; j++)
      start_group(t, i, j, &t->group[all++]);
  qsort_r(t->group, all, sizeof *t->group, compare, t);
  for (size_t i = 0; i < all; i++)
    if (t->groups && !strcmp(t->group[t->groups - 1].name, t->group[i].name))
      t->group[t->groups - 1].files++;
    else
      t->group[t->groups++] = t->group[i];
  return PF_OK;
}
