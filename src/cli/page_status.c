/* The lines of status.jsonl: how a run that goes on for long was doing, minute by minute.
   docs/status.md says what each holds. */
#include "triage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "page.h"

static bool is_number(const json_t *o, const char *key)
{
  const json_t *v = json_object_get(o, key);
  return json_is_number(v) && json_number_value(v) >= 0;
}

/* What is wrong with a line; NULL: nothing. */
static const char *fault_of(const json_t *line)
{
  static const char *const keys[] = {
    "time", "executions", "rate", "coverage", "corpus", "findings"};
  const json_t *shares = json_object_get(line, "shares"), *share;
  size_t i;
  for (i = 0; i < sizeof keys / sizeof *keys; i++)
    if (!is_number(line, keys[i]))
      return "is no status: 'time', 'executions', 'rate', 'coverage', 'corpus' or 'findings' is "
             "not "
             "there, or no number from 0 on";
  if (!json_is_array(shares))
    return "is no status: no list 'shares'";
  json_array_foreach(shares, i, share)
    if (!json_is_string(json_object_get(share, "engine")) ||
        !json_is_string(json_object_get(share, "dtype")) || !is_number(share, "share"))
      return "is no status: of its 'shares' one has no 'engine', 'dtype' or 'share'";
  return NULL;
}

static void take_line(pf_page *p, const char *path, size_t number, const char *text)
{
  json_error_t e;
  char *place = NULL;
  json_t *line = json_loads(text, JSON_REJECT_DUPLICATES, &e);
  const char *fault = line ? fault_of(line) : e.text;
  if (!fault) {
    pf_json_append(&p->status, line);
    return;
  }
  if (asprintf(&place, "%s: line %zu", path, number) < 0)
    place = NULL;
  pf_page_bad(p, place ? place : path, fault);
  free(place);
  json_decref(line);
}

void pf_page_read_status(pf_page *p)
{
  char *path = pf_triage_path(p->folder, "status.jsonl", NULL), *line = NULL;
  size_t room = 0, number = 0;
  FILE *from = path ? fopen(path, "r") : NULL;
  if (!from && errno != ENOENT)
    pf_page_bad(p, path ? path : "status.jsonl", strerror(errno));
  /* a last line without its end was being written when the run was killed */
  while (from && getline(&line, &room, from) > 0 && line[strlen(line) - 1] == '\n')
    take_line(p, path, ++number, line);
  if (from)
    fclose(from);
  free(line);
  free(path);
}
