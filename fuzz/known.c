/* Folders of known findings: in each a list, and a case for each entry. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

#define ENDING ".case"

char *pf_known_path(const char *folder, const char *name)
{
  char *path = NULL;
  return asprintf(&path, "%s/%s" ENDING, folder, name) < 0 ? NULL : path;
}

/* Nothing is muted without a case that shows it. */
static pf_status check_cases(const char *list, const pf_regressions *r, size_t first, pf_error *e)
{
  for (size_t i = first; i < r->count; i++) {
    const pf_regression *k = &r->entry[i];
    char *path = pf_known_path(k->folder, k->name);
    if (!path)
      return pf_fail(e, PF_NO_MEMORY, 0, "out of memory");
    const bool there = !access(path, R_OK);
    free(path);
    if (!there)
      return pf_fail(e, PF_BAD_INPUT, 0, "%s:%d: [%s] has no case: %s" ENDING ": %s", list, k->line,
                     k->name, k->name, strerror(errno));
  }
  return PF_OK;
}

static bool belongs(const char *file, const pf_regressions *r, size_t first)
{
  const size_t length = strlen(file), ending = strlen(ENDING);
  if (file[0] == '.' || !strcmp(file, PF_KNOWN_LIST))
    return true;
  for (size_t i = first; i < r->count; i++)
    if (length == strlen(r->entry[i].name) + ending && !strcmp(file + length - ending, ENDING) &&
        !strncmp(file, r->entry[i].name, length - ending))
      return true;
  return false;
}

/* And no case lies there that nobody looks at. */
static pf_status check_files(const char *folder, const pf_regressions *r, size_t first,
                             pf_error *e)
{
  struct dirent **file;
  const int count = scandir(folder, &file, NULL, alphasort);
  pf_status status = PF_OK;
  if (count < 0)
    return pf_fail(e, PF_IO_ERROR, 0, "%s: %s", folder, strerror(errno));
  for (int i = 0; i < count; i++) {
    if (!status && !belongs(file[i]->d_name, r, first))
      status = pf_fail(e, PF_BAD_INPUT, 0, "%s/%s: no entry of " PF_KNOWN_LIST " is called so",
                       folder, file[i]->d_name);
    free(file[i]);
  }
  free(file);
  return status;
}

static pf_status read_list(const char *folder, const char *path, pf_regressions *list, pf_error *e)
{
  char *text;
  size_t size;
  const size_t first = list->count;
  PF_TRY(pf_text_read(path, &text, &size, e));
  pf_status status = pf_regressions_parse(path, text, size, list, e);
  free(text);
  for (size_t i = first; i < list->count; i++)
    list->entry[i].folder = folder;
  if (!status)
    status = check_cases(path, list, first, e);
  return status ? status : check_files(folder, list, first, e);
}

/* The name lives as long as the list. */
static pf_status open_folder(const char *name, size_t length, pf_regressions *list, pf_error *e)
{
  char *path = NULL, *folder = pf_alloc(&list->memory, length + 1);
  if (!folder || asprintf(&path, "%.*s/" PF_KNOWN_LIST, (int)length, name) < 0)
    return pf_fail(e, PF_NO_MEMORY, 0, "out of memory");
  memcpy(folder, name, length);
  const pf_status status = read_list(folder, path, list, e);
  free(path);
  return status;
}

pf_status pf_known_open(const char *folders, pf_regressions *out, pf_error *e)
{
  pf_status status = PF_OK;
  *out = (pf_regressions){0};
  if (!strcmp(folders, "none"))
    return PF_OK;
  for (const char *at = folders; at && !status;) {
    const size_t length = strcspn(at, ":");
    status = open_folder(at, length, out, e);
    at = at[length] ? at + length + 1 : NULL;
  }
  if (status)
    pf_regressions_free(out);
  return status;
}
