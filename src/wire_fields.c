/* Fields of structs as members of JSON objects.  Floating-point numbers are text in C's %a, since
   JSON has neither all their bits nor infinity and NaN. */
#include <stdlib.h>
#include <string.h>

#include "dtype.h"
#include "wire_parts.h"

static const char *const maybe[] = {"never", "may", "does", NULL};
static const char *const orders[] = {"any", "forward", "backward", "pairwise", "blocked", "lanes",
                                     NULL};
static const char *const alpha_zero[] = {"open", "skips", "reads", NULL};
static const char *const overflow[] = {"usual", "saturate", "either", NULL};

#define SETTING(NAME, KIND, WORDS) {#NAME, offsetof(pfe_settings, NAME), KIND, WORDS}

const pf_field pf_settings_fields[] = {
  SETTING(order, PF_FIELD_WORD, orders),
  SETTING(width, PF_FIELD_INT, NULL),
  SETTING(accumulator, PF_FIELD_DTYPE, NULL),
  SETTING(flush_inputs, PF_FIELD_WORD, maybe),
  SETTING(flush_sums, PF_FIELD_WORD, maybe),
  SETTING(flush_outputs, PF_FIELD_WORD, maybe),
  SETTING(alpha_zero, PF_FIELD_WORD, alpha_zero),
  SETTING(zero_skip, PF_FIELD_WORD, maybe),
  SETTING(s32_overflow, PF_FIELD_WORD, overflow),
  SETTING(f8_overflow, PF_FIELD_WORD, overflow),
  SETTING(c_last, PF_FIELD_BOOL, NULL),
  SETTING(threads, PF_FIELD_INT, NULL),
  {0}
};

static json_t *number_text(double v)
{
  char text[40];
  snprintf(text, sizeof text, "%a", v);
  return json_string(text);
}

static json_t *member_of(const pf_field *f, const void *at)
{
  if (f->kind == PF_FIELD_DOUBLE)
    return number_text(*(const double *)at);
  if (f->kind == PF_FIELD_INT64)
    return json_integer(*(const int64_t *)at);
  const int32_t v = *(const int32_t *)at;
  switch (f->kind) {
  case PF_FIELD_WORD: return v ? json_string(f->words[v]) : NULL;
  case PF_FIELD_DTYPE:
    return v == PFE_NONE ? NULL : json_string(pf_dtype_of((pf_dtype)v)->name);
  case PF_FIELD_BOOL: return v ? json_true() : NULL;
  default: return v ? json_integer(v) : NULL;
  }
}

void pf_fields_write(json_t *to, const void *from, const pf_field *fields)
{
  for (const pf_field *f = fields; f->key; f++) {
    json_t *member = member_of(f, (const char *)from + f->offset);
    if (member)
      json_object_set_new(to, f->key, member);
  }
}

static bool find_word(const char *word, const char *const *words, int32_t *out)
{
  for (*out = 0; words[*out]; ++*out)
    if (!strcmp(words[*out], word))
      return true;
  return false;
}

static bool read_word(const json_t *from, const pf_field *f, int32_t *to)
{
  const char *word = json_string_value(from);
  pf_dtype t;
  if (!word)
    return false;
  if (f->kind == PF_FIELD_WORD)
    return find_word(word, f->words, to);
  if (!pf_dtype_find(word, strlen(word), &t))
    return false;
  *to = (int32_t)t;
  return true;
}

static bool read_double(const json_t *from, double *to)
{
  char *end;
  const char *text = json_string_value(from);
  if (!text || !*text)
    return false;
  *to = strtod(text, &end);
  return !*end;
}

static bool read_member(const json_t *from, const pf_field *f, void *to)
{
  const json_int_t v = json_integer_value(from);
  switch (f->kind) {
  case PF_FIELD_WORD:
  case PF_FIELD_DTYPE: return read_word(from, f, to);
  case PF_FIELD_DOUBLE: return read_double(from, to);
  case PF_FIELD_BOOL:
    *(int32_t *)to = json_is_true(from);
    return json_is_boolean(from);
  case PF_FIELD_INT64:
    *(int64_t *)to = v;
    return json_is_integer(from) && v >= 0;
  case PF_FIELD_INT:
    *(int32_t *)to = (int32_t)v;
    return json_is_integer(from) && v >= INT32_MIN && v <= INT32_MAX;
  }
  return false;
}

static bool is_known(const char *key, const pf_field *fields, const char *const *others)
{
  for (const pf_field *f = fields; f->key; f++)
    if (!strcmp(f->key, key))
      return true;
  for (; *others; others++)
    if (!strcmp(*others, key))
      return true;
  return false;
}

pf_status pf_fields_read(const json_t *from, void *to, const pf_field *fields,
                         const char *const *others, pf_error *e)
{
  const char *key;
  json_t *value;
  if (!json_is_object(from))
    return pf_fail(e, PF_BAD_INPUT, 0, "an object expected");
  json_object_foreach((json_t *)from, key, value)
    if (others && !is_known(key, fields, others))
      return pf_fail(e, PF_BAD_INPUT, 0, "'%.60s' is no member", key);
  for (const pf_field *f = fields; f->key; f++) {
    const json_t *member = json_object_get(from, f->key);
    if (member && !read_member(member, f, (char *)to + f->offset))
      return pf_fail(e, PF_BAD_INPUT, 0, "'%s' has no such value", f->key);
  }
  return PF_OK;
}

pf_status pf_wire_text(const json_t *from, const char *key, char *to, size_t size, pf_error *e)
{
  const json_t *member = json_object_get(from, key);
  to[0] = 0;
  if (!member)
    return PF_OK;
  if (!json_is_string(member))
    return pf_fail(e, PF_BAD_INPUT, 0, "'%s' is no text", key);
  snprintf(to, size, "%s", json_string_value(member));
  return PF_OK;
}
