/* JSON documents, written as they come. */
#include "json.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 100, INDENT = 2 };  /* columns */

/* 17 digits, so that a double comes back as it was. */
static const size_t flags = JSON_ENCODE_ANY | JSON_REAL_PRECISION(17);

static const struct argp_option options[] = {
  {.name = "json", .key = 'j', .doc = "JSON instead of text: docs/json.md", .group = 4},
  {0}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
  (void)arg;
  if (key != 'j')
    return ARGP_ERR_UNKNOWN;
  *(bool *)state->input = true;
  return 0;
}

const struct argp pf_json_argp = {.options = options, .parser = parse};

/* --- layout -------------------------------------------------------------------------------- */

static void new_line(const pf_json *j)
{
  printf("\n%*s", INDENT * j->depth, "");
}

/* What stands before a member's value. */
static void begin_member(pf_json *j, const char *key)
{
  if (j->more)
    fputs(j->line ? ", " : ",", stdout);
  if (j->depth && !j->line)
    new_line(j);
  if (key)
    printf("\"%s\": ", key);
  j->more = true;
}

void pf_json_open(pf_json *j, const char *key, char bracket)
{
  if (j->failed)
    return;
  begin_member(j, key);
  putchar(bracket);
  j->close[j->depth++] = bracket == '{' ? '}' : ']';
  j->more = false;
}

void pf_json_close(pf_json *j)
{
  if (j->failed)
    return;
  j->depth--;
  if (j->more && !j->line)
    new_line(j);
  putchar(j->close[j->depth]);
  j->more = true;
}

static bool fits(const pf_json *j, const char *key, const char *flat)
{
  const size_t before = (size_t)(INDENT * j->depth) + (key ? strlen(key) + 4 : 0);
  return j->line || before + strlen(flat) + 1 <= WIDTH;
}

/* On one line where it fits, else a member a line. */
static void put(pf_json *j, const char *key, json_t *value)
{
  char *flat = value && !j->failed ? json_dumps(value, flags) : NULL;
  const char *name;
  json_t *member;
  size_t i;
  if (!flat) {
    j->failed = true;
  } else if (fits(j, key, flat) || (!json_object_size(value) && !json_array_size(value))) {
    begin_member(j, key);
    fputs(flat, stdout);
  } else {
    pf_json_open(j, key, json_is_object(value) ? '{' : '[');
    json_object_foreach(value, name, member)
      put(j, name, member);
    json_array_foreach(value, i, member)
      put(j, NULL, member);
    pf_json_close(j);
  }
  free(flat);
}

void pf_json_put(pf_json *j, const char *key, json_t *value)
{
  put(j, key, value);
  json_decref(value);
}

/* --- documents ----------------------------------------------------------------------------- */

void pf_json_start(pf_json *j, const char *command, bool line)
{
  *j = (pf_json){.line = line};
  pf_json_open(j, NULL, '{');
  pf_json_put(j, "precfuzz", json_pack("{s:s, s:i}", "version", PF_VERSION,
                                       "schema", PF_JSON_SCHEMA));
  pf_json_put(j, "command", json_string(command));
}

int pf_json_end(pf_json *j, int code)
{
  pf_json_close(j);
  if (j->failed)
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory: the JSON document is cut off");
  putchar('\n');
  return code;
}
