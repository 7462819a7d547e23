/* Crash files: which they are, and how they are read. */
#include "triage.h"

#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

#include "form_archive.h"

/* --- which --------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
  return !strncmp(text, with, strlen(with));
}

static bool ends(const char *text, const char *with)
{
  const size_t length = strlen(text), end = strlen(with);
  return length >= end && !strcmp(text + length - end, with);
}

/* What libFuzzer, AFL++ and make fuzz call what ends a run; AFL++'s queue has such names, too. */
static bool is_by_fuzzer(const char *path)
{
  static const char *const names[] = {"crash-", "timeout-", "oom-", "leak-", "id:", "id_", "afl-"};
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  bool is = false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    is |= begins(name, names[i]);
  return is;
}

static bool is_case(const char *name)
{
  return ends(name, ".case");
}

/* --- a folder ------------------------------------------------------------------------------ */

static int by_name(const FTSENT **a, const FTSENT **b)
{
  return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* AFL++'s other folders, those that are hidden, and the bundles of an earlier run. */
static bool is_other_folder(const pf_triage *t, const FTSENT *entry)
{
  struct stat output;
  if (!stat(t->output, &output) && output.st_dev == entry->fts_dev &&
      output.st_ino == entry->fts_ino)
    return true;
  return entry->fts_level > 0 && (!strcmp(entry->fts_name, "queue") || entry->fts_name[0] == '.');
}

static int refuse(const FTSENT *entry)
{
  return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: %s", entry->fts_path,
                     entry->fts_info == FTS_DC ? "leads to itself" : strerror(entry->fts_errno));
}

static int take(pf_triage *t, FTS *tree, FTSENT *entry)
{
  switch (entry->fts_info) {
  case FTS_D:
    if (is_other_folder(t, entry))
      fts_set(tree, entry, FTS_SKIP);
    return PF_EXIT_CLEAN;
  case FTS_F:
    if (is_by_fuzzer(entry->fts_path) || is_case(entry->fts_name))
      return pf_paths_add(&t->paths, entry->fts_path);
    t->passed_over++;
    return PF_EXIT_CLEAN;
  case FTS_DNR:
  case FTS_ERR:
  case FTS_NS:
  case FTS_DC: return refuse(entry);
  default: return PF_EXIT_CLEAN;
  }
}

static int collect_folder(pf_triage *t, const char *folder)
{
  char *const roots[] = {(char *)(uintptr_t)folder, NULL};
  FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
  FTSENT *entry;
  int code = PF_EXIT_CLEAN;
  if (!tree)
    return pf_cli_fail(PF_EXIT_MACHINERY, "%s: %s", folder, strerror(errno));
  while ((entry = fts_read(tree)) != NULL) {
    const int taken = take(t, tree, entry);
    code = pf_cli_worse(code, taken);
  }
  fts_close(tree);
  return code;
}

int pf_triage_collect(pf_triage *t, const char *path)
{
  struct stat info;
  if (stat(path, &info))
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: %s", path, strerror(errno));
  return S_ISDIR(info.st_mode) ? collect_folder(t, path) : pf_paths_add(&t->paths, path);
}

/* --- reading ------------------------------------------------------------------------------- */

/* To a target every byte string is a case, also an archive that was changed. */
static pf_form form_of_target(const pf_file *f, pf_arena *a)
{
  pf_case c;
  return pf_archive_is(f->data, f->size) && !pf_archive_decode(f->data, f->size, a, &c, NULL)
             ? PF_FORM_ARCHIVE
             : PF_FORM_FUZZ;
}

int pf_triage_read(const pf_triage *t, const char *path, pf_arena *a, pf_case_file *out)
{
  pf_form form = t->form;
  memset(out, 0, sizeof *out);
  const int code = pf_file_read(path, &out->file);
  if (code)
    return code;
  if (form == PF_FORM_AUTO && is_by_fuzzer(path))
    form = form_of_target(&out->file, a);
  else if (form == PF_FORM_AUTO && !out->file.size)
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: empty", path);
  return pf_case_file_decode(out, form, NULL, a);
}
