/* What a folder holds for a page: bundles, cases, the status of a run. */
#include "triage.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "form_archive.h"
#include "form_text.h"
#include "page.h"
#include "safetensors.h"

void pf_page_bad(pf_page *p, const char *file, const char *why)
{
  p->code = pf_cli_worse(p->code, pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: %s", file, why));
  pf_json_append(&p->bad, json_pack("{s:o, s:o}", "file", pf_json_text(file),
                                    "why", pf_json_text(why)));
}

void pf_page_free(pf_page *p)
{
  for (size_t i = 0; i < p->items; i++) {
    free(p->item[i].path);
    free(p->item[i].bundle);
    json_decref(p->item[i].facts);
    json_decref(p->item[i].seen);
  }
  free(p->item);
  json_decref(p->bad);
  json_decref(p->status);
  json_decref(p->sum);
}

/* --- items ------------------------------------------------------------------------------------ */

/* Takes what it is given. */
static int add_item(pf_page *p, pf_page_item item)
{
  pf_page_item *more = realloc(p->item, (p->items + 1) * sizeof *more);
  if (!more)
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  p->item = more;
  p->item[p->items++] = item;
  return PF_EXIT_CLEAN;
}

static bool has_facts(const json_t *facts)
{
  static const char *const keys[] = {"name", "signature", "at", "verdict", "engine", "message"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (!json_is_string(json_object_get(facts, keys[i])))
      return false;
  return true;
}

/* A bundle whose facts are damaged still has its case. */
static int add_bundle(pf_page *p, const char *folder)
{
  json_error_t e;
  char *path = pf_triage_path(folder, PF_BUNDLE_FACTS, NULL);
  char *of_case = pf_triage_path(folder, PF_BUNDLE_CASE, NULL);
  if (!path || !of_case) {
    free(path);
    free(of_case);
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  }
  json_t *facts = json_load_file(path, 0, &e);
  if (!facts)
    pf_page_bad(p, path, e.text);
  else if (!has_facts(facts))
    pf_page_bad(p, path, "tells of no finding");
  if (facts && !has_facts(facts)) {
    json_decref(facts);
    facts = NULL;
  }
  free(path);
  return add_item(p, (pf_page_item){.path = of_case, .bundle = strdup(folder), .facts = facts});
}

/* --- which files ------------------------------------------------------------------------------ */

static bool is_in(const char *folder, const char *name)
{
  char *path = pf_triage_path(folder, name, NULL);
  const bool is = path && !access(path, F_OK);
  free(path);
  return is;
}

/* As corpora have them: any bytes are a case. */
static bool has_no_ending(const char *name)
{
  return !strchr(name, '.');
}

/* Of other names those that say inside that they are cases. */
static bool is_case_inside(const char *path)
{
  uint8_t start[4096];
  FILE *from = fopen(path, "rb");
  const size_t size = from ? fread(start, 1, sizeof start, from) : 0;
  if (from)
    fclose(from);
  return pf_archive_is(start, size) || pf_text_is(start, size) ||
         (pf_safetensors_is(start, size) && memmem(start, size, "precfuzz", 8));
}

static bool is_output(const pf_page *p, const FTSENT *entry)
{
  struct stat output;
  const struct stat *this = entry->fts_statp;  /* fts_dev and fts_ino are folders' alone */
  return !stat(p->output, &output) && output.st_dev == this->st_dev &&
         output.st_ino == this->st_ino;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
  return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int take_file(pf_page *p, const FTSENT *entry)
{
  if (is_output(p, entry) || !strcmp(entry->fts_name, "status.jsonl"))
    return PF_EXIT_CLEAN;
  if (pf_triage_is_crash(entry->fts_path) || has_no_ending(entry->fts_name) ||
      is_case_inside(entry->fts_path))
    return add_item(p, (pf_page_item){.path = strdup(entry->fts_path)});
  p->passed_over++;
  return PF_EXIT_CLEAN;
}

static int take(pf_page *p, FTS *tree, FTSENT *entry)
{
  const bool below = entry->fts_level > 0;
  switch (entry->fts_info) {
  case FTS_D:
    if (is_in(entry->fts_path, PF_BUNDLE_FACTS)) {
      fts_set(tree, entry, FTS_SKIP);
      return add_bundle(p, entry->fts_path);
    }
    if (below && (!strcmp(entry->fts_name, "queue") || entry->fts_name[0] == '.'))
      fts_set(tree, entry, FTS_SKIP);
    return PF_EXIT_CLEAN;
  case FTS_F: return take_file(p, entry);
  case FTS_DNR:
  case FTS_ERR:
  case FTS_NS:
  case FTS_SLNONE:
    pf_page_bad(p, entry->fts_path, strerror(entry->fts_errno ? entry->fts_errno : ENOENT));
    return PF_EXIT_CLEAN;
  case FTS_DC:
    pf_page_bad(p, entry->fts_path, "leads to itself");
    return PF_EXIT_CLEAN;
  default: return PF_EXIT_CLEAN;
  }
}

int pf_page_collect(pf_page *p)
{
  struct stat info;
  char *const roots[] = {(char *)(uintptr_t)p->folder, NULL};
  FTSENT *entry;
  int code = PF_EXIT_CLEAN;
  if (stat(p->folder, &info))
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: %s", p->folder, strerror(errno));
  if (!S_ISDIR(info.st_mode))
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: no folder", p->folder);
  FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
  if (!tree)
    return pf_cli_fail(PF_EXIT_MACHINERY, "%s: %s", p->folder, strerror(errno));
  while (!code && (entry = fts_read(tree)) != NULL)
    code = take(p, tree, entry);
  fts_close(tree);
  pf_page_read_status(p);
  return code ? code : add_item(p, (pf_page_item){0});
}
