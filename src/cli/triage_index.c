/* What each file shows, as far as it was ever looked at. */
#include "triage.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static json_t *shown(const pf_sighting *s)
{
  char name[PF_BUNDLE_NAME + 1];
  pf_bundle_name(s, name);
  return json_pack("{s:s, s:i, s:i}", "bundle", name, "times", s->shown.times, "tries",
                   s->shown.tries);
}

static json_t *file_of(const pf_triage *t, size_t i)
{
  const pf_looked *l = &t->looked[i];
  json_t *o = json_object(), *all = json_array();
  for (int j = 0; j < l->count; j++)
    pf_json_append(&all, shown(&l->seen[j]));
  pf_json_set(&o, "shows", all);
  pf_json_set(&o, "known", l->known[0] ? pf_json_text(l->known) : json_null());
  pf_json_set(&o, "exit_status", json_integer(l->code));
  return o;
}

/* An object by files' names. */
static json_t *read_old(const char *path)
{
  json_t *whole = json_load_file(path, 0, NULL);
  json_t *files = json_incref(json_object_get(whole, "files"));
  json_decref(whole);
  if (json_is_object(files))
    return files;
  json_decref(files);
  if (!access(path, F_OK))
    pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: is no list of files: it is written anew", path);
  return json_object();
}

static int write_index(const pf_triage *t, const char *path)
{
  json_t *files = read_old(path);
  for (size_t i = 0; i < t->paths.count; i++) {
    json_t *name = pf_json_text(t->paths.path[i]);
    if (t->looked[i].tried && name)
      pf_json_set(&files, json_string_value(name), file_of(t, i));
    json_decref(name);
  }
  json_t *whole = json_pack("{s:{s:s, s:i}, s:o}", "precfuzz", "version", PF_VERSION, "schema",
                            PF_JSON_SCHEMA, "files", files);
  char *text = whole ? json_dumps(whole, JSON_INDENT(2) | JSON_SORT_KEYS) : NULL;
  const int code = text ? pf_triage_update(path, text, strlen(text))
                        : pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  free(text);
  json_decref(whole);
  return code;
}

int pf_triage_write_index(const pf_triage *t)
{
  char *path = pf_triage_path(t->output, "files.json", NULL);
  const int code = path ? write_index(t, path) : pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  free(path);
  return code;
}
