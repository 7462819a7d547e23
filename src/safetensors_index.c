/* Reading the index of a model in several files, a member at a time. */
#include "safetensors_index.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "safetensors_parts.h"

enum { MAX_FILES = 4096 };

typedef struct parser {
  const uint8_t *data;
  pf_shards *out;
  pf_shard_entry *entry;
  const char **file;
  char *text;            /* free part of the pool for texts */
  bool has_map;
  pf_error *error;
} parser;

static pf_status no_memory(const parser *p)
{
  return pf_fail(p->error, PF_NO_MEMORY, 0, "index: not enough memory");
}

/* A decoded text is never longer than its JSON, quotes included, with the NUL that ends it. */
static pf_status read_text(parser *p, pf_json_span s, const char *what, const char **out)
{
  json_t *value = json_loadb((const char *)p->data + s.at, s.size, JSON_DECODE_ANY, NULL);
  if (!json_is_string(value)) {
    json_decref(value);
    return pf_fail(p->error, PF_BAD_INPUT, s.at, "index: %s is no string", what);
  }
  const size_t length = json_string_length(value);
  memcpy(p->text, json_string_value(value), length + 1);
  *out = p->text;
  p->text += length + 1;
  json_decref(value);
  return PF_OK;
}

/* The number of the file; it mostly is the last one's. */
static pf_status find_file(parser *p, const char *name, size_t at, size_t *out)
{
  for (size_t i = p->out->files; i-- > 0;)
    if (strcmp(p->file[i], name) == 0) {
      *out = i;
      return PF_OK;
    }
  if (name[0] == '\0' || name[0] == '.' || strchr(name, '/') != NULL)
    return pf_fail(p->error, PF_BAD_INPUT, at, "index: '%s' is no file beside the index",
                   pf_quote(name, strlen(name)).text);
  if (p->out->files == MAX_FILES)
    return pf_fail(p->error, PF_UNSUPPORTED, at, "index: more than %d files", MAX_FILES);
  *out = p->out->files++;
  p->file[*out] = name;
  return PF_OK;
}

static int by_name(const void *a, const void *b)
{
  const pf_shard_entry *const *x = a, *const *y = b;
  const int order = strcmp((*x)->name, (*y)->name);
  return order != 0 ? order : (*x > *y) - (*x < *y);
}

static pf_status check_names(const parser *p)
{
  const size_t count = p->out->count;
  const pf_shard_entry **order = pf_alloc_array(&p->out->memory, count, sizeof *order);
  if (order == NULL)
    return no_memory(p);
  for (size_t i = 0; i < count; i++)
    order[i] = &p->entry[i];
  qsort(order, count, sizeof *order, by_name);
  for (size_t i = 1; i < count; i++)
    if (strcmp(order[i - 1]->name, order[i]->name) == 0)
      return pf_fail(p->error, PF_BAD_INPUT, order[i]->place, "index: tensor '%s' occurs twice",
                     pf_quote(order[i]->name, strlen(order[i]->name)).text);
  return PF_OK;
}

static pf_status read_map(parser *p, pf_json_span s)
{
  pf_json_walk w = {.data = p->data, .at = s.at, .end = s.at + s.size, .error = p->error};
  pf_json_member m;
  size_t count;
  bool more;
  if (p->has_map)
    return pf_fail(p->error, PF_BAD_INPUT, s.at, "index: weight_map occurs twice");
  p->has_map = true;
  PF_TRY(pf_json_count(w, &count));
  p->out->entry = p->entry = pf_alloc_array(&p->out->memory, count, sizeof *p->entry);
  if (p->entry == NULL)
    return no_memory(p);
  for (;;) {
    const char *file;
    PF_TRY(pf_json_next(&w, &m, &more));
    if (!more)
      return check_names(p);
    pf_shard_entry *t = &p->entry[p->out->count];
    t->place = m.key.at;
    PF_TRY(read_text(p, m.key, "a tensor's name", &t->name));
    PF_TRY(read_text(p, m.value, "a file's name", &file));
    PF_TRY(find_file(p, file, m.value.at, &t->file));
    p->out->count++;
  }
}

static pf_status read_index(parser *p, size_t size)
{
  static const char wanted[] = "\"weight_map\"";
  pf_json_walk w = {.data = p->data, .end = size, .error = p->error};
  pf_json_member m;
  size_t members;
  bool more;
  p->text = pf_alloc_raw(&p->out->memory, size + 1);
  p->file = pf_alloc_array(&p->out->memory, MAX_FILES, sizeof *p->file);
  if (p->text == NULL || p->file == NULL)
    return no_memory(p);
  p->out->file = p->file;
  PF_TRY(pf_json_count(w, &members));
  for (;;) {
    PF_TRY(pf_json_next(&w, &m, &more));
    if (!more)
      break;
    if (m.key.size == strlen(wanted) && memcmp(p->data + m.key.at, wanted, m.key.size) == 0)
      PF_TRY(read_map(p, m.value));
  }
  return p->has_map ? PF_OK : pf_fail(p->error, PF_BAD_INPUT, 0, "index: no weight_map");
}

bool pf_shards_is(const void *data, size_t size)
{
  const uint8_t *bytes = data;
  size_t at = 0;
  while (at < size && (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\r' ||
                       bytes[at] == '\t'))
    at++;
  return at < size && bytes[at] == '{';
}

pf_status pf_shards_parse(const void *data, size_t size, pf_shards *out, pf_error *e)
{
  *out = (pf_shards){0};
  parser p = {.data = data, .out = out, .error = e};
  if (size > PF_SAFETENSORS_HEADER_MAX)
    return pf_fail(e, PF_UNSUPPORTED, 0, "index: %zu bytes, at most %d", size,
                   PF_SAFETENSORS_HEADER_MAX);
  const pf_status status = read_index(&p, size);
  if (status != PF_OK)
    pf_shards_close(out);
  return status;
}

void pf_shards_close(pf_shards *s)
{
  pf_arena_free(&s->memory);
  *s = (pf_shards){0};
}
