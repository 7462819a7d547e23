/* What precfuzz judge has to judge: files, folders with an index, and the results that go with
   them. */
#include "judge.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int no_memory(void)
{
  return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
}

static char *keep(pf_judge_list *l, const char *text)
{
  char *copy = pf_alloc_raw(&l->memory, strlen(text) + 1);
  return copy ? strcpy(copy, text) : NULL;
}

/* FOLDER/NAME, length bytes of it, then END. */
static char *join(pf_judge_list *l, const char *folder, const char *name, size_t length,
                  const char *end)
{
  const size_t size = strlen(folder) + length + strlen(end) + 2;
  char *path = pf_alloc_raw(&l->memory, size);
  if (path)
    snprintf(path, size, "%s%s%.*s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
             (int)length, name, end);
  return path;
}

static bool is_folder(const char *path)
{
  struct stat info;
  return strcmp(path, "-") && !stat(path, &info) && S_ISDIR(info.st_mode);
}

static pf_judge_item *add_item(pf_judge_list *l)
{
  pf_judge_item *more = realloc(l->item, (l->count + 1) * sizeof *more);
  if (!more)
    return NULL;
  l->item = more;
  l->item[l->count] = (pf_judge_item){0};
  return &l->item[l->count++];
}

/* --- index.json ---------------------------------------------------------------------------- */

static int bad_index(const char *path, size_t entry, const char *why)
{
  return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: case %zu: %s", path, entry, why);
}

/* An index speaks of its own folder only. */
static const char *file_name(const json_t *entry, const char *key)
{
  const char *name = json_string_value(json_object_get(entry, key));
  return name && *name && !strchr(name, '/') ? name : NULL;
}

static int read_claims(pf_judge_list *l, const char *path, size_t number, json_t *claims,
                       pf_judge_item *item)
{
  const char *tensor;
  json_t *row;
  pf_claim *claim = pf_alloc_array(&l->memory, json_object_size(claims), sizeof *claim);
  if (!claim)
    return no_memory();
  if (claims && !json_is_object(claims))
    return bad_index(path, number, "\"claims\" is no object");
  item->claim = claim;
  json_object_foreach(claims, tensor, row) {
    if (!json_is_string(row))
      return bad_index(path, number, "\"claims\" holds something but names of rows");
    pf_claim *c = &claim[item->claims++];
    *c = (pf_claim){keep(l, tensor), keep(l, json_string_value(row))};
    if (!c->tensor || !c->row)
      return no_memory();
  }
  return PF_EXIT_CLEAN;
}

static int read_entry(pf_judge_list *l, const char *folder, const char *path, size_t number,
                      const json_t *entry)
{
  const char *file = file_name(entry, "file"), *got = file_name(entry, "got");
  if (!file)
    return bad_index(path, number, "\"file\" is no name of a file");
  if (json_object_get(entry, "got") && !got)
    return bad_index(path, number, "\"got\" is no name of a file");
  pf_judge_item *item = add_item(l);
  if (!item)
    return no_memory();
  item->path = join(l, folder, file, strlen(file), "");
  item->got = got ? join(l, folder, got, strlen(got), "") : NULL;
  if (!item->path || (got && !item->got))
    return no_memory();
  return read_claims(l, path, number, json_object_get(entry, "claims"), item);
}

static int read_entries(pf_judge_list *l, const char *folder, const char *path,
                        const json_t *cases)
{
  if (!json_is_array(cases) || !json_array_size(cases))
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: \"cases\" is no list of cases", path);
  int code = PF_EXIT_CLEAN;
  for (size_t i = 0; i < json_array_size(cases) && !code; i++)
    code = read_entry(l, folder, path, i, json_array_get(cases, i));
  return code;
}

static int add_index(pf_judge_list *l, const char *folder, const char *path)
{
  const uint8_t *data;
  size_t size;
  pf_error e = {0};
  json_error_t why;
  const pf_status status = pf_file_map(path, &data, &size, &e);
  if (status)
    return pf_cli_report(status, &e, false, NULL);
  json_t *index = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, &why);
  const int code =
      index ? read_entries(l, folder, path, json_object_get(index, "cases"))
            : pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: offset %d: %s", path, why.position,
                          pf_quote(why.text, strlen(why.text)).text);
  json_decref(index);
  pf_file_unmap(data, size);
  return code;
}

/* --- files --------------------------------------------------------------------------------- */

static int add_files(pf_judge_list *l, const char *path)
{
  pf_paths paths = {0};
  int code = pf_paths_add(&paths, path);
  for (size_t i = 0; i < paths.count && !code; i++) {
    pf_judge_item *item = add_item(l);
    if (!item || !(item->path = keep(l, paths.path[i])))
      code = no_memory();
  }
  pf_paths_free(&paths);
  return code;
}

int pf_judge_list_add(pf_judge_list *l, const char *path)
{
  if (!is_folder(path))
    return add_files(l, path);
  const char *index = join(l, path, "index.json", strlen("index.json"), "");
  if (!index)
    return no_memory();
  return access(index, F_OK) ? add_files(l, path) : add_index(l, path, index);
}

/* NAME.safetensors or NAME.npy in the folder, for a case in NAME.whatever. */
static int pair(pf_judge_list *l, const char *folder, pf_judge_item *item)
{
  const char *slash = strrchr(item->path, '/');
  const char *name = slash ? slash + 1 : item->path, *dot = strrchr(name, '.');
  const size_t length = dot && dot > name ? (size_t)(dot - name) : strlen(name);
  const char *tensors = join(l, folder, name, length, ".safetensors");
  const char *npy = join(l, folder, name, length, ".npy");
  if (!tensors || !npy)
    return no_memory();
  const bool has_tensors = !access(tensors, F_OK), has_npy = !access(npy, F_OK);
  if (has_tensors == has_npy)
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: there is %s %s %s %s", item->path,
                       has_npy ? "both" : "neither", tensors, has_npy ? "and" : "nor", npy);
  item->got = has_npy ? npy : tensors;
  return PF_EXIT_CLEAN;
}

int pf_judge_list_pair(pf_judge_list *l, const char *got)
{
  int code = PF_EXIT_CLEAN;
  if (is_folder(got)) {
    for (size_t i = 0; i < l->count; i++) {
      const int failed = pair(l, got, &l->item[i]);
      code = pf_cli_worse(code, failed);
    }
    return code;
  }
  if (l->count > 1)
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "--got: for %zu cases it takes a folder", l->count);
  for (size_t i = 0; i < l->count; i++)
    if (!(l->item[i].got = keep(l, got)))
      code = no_memory();
  return code;
}

void pf_judge_list_free(pf_judge_list *l)
{
  free(l->item);
  pf_arena_free(&l->memory);
}
