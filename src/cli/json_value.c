/* What documents in JSON are made of. */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *pf_json_number(double v)
{
  char hex[40];
  snprintf(hex, sizeof hex, "%a", v);
  return json_pack("{s:o, s:s}", "value", isfinite(v) ? json_real(v) : json_null(),
                   "hex", isnan(v) ? "nan" : hex);
}

json_t *pf_json_whole(uint64_t n)
{
  return n <= UINT64_C(1) << 53 ? json_integer((json_int_t)n) : json_sprintf("%" PRIu64, n);
}

/* A container that could not take a member is let go. */
static void keep(json_t **container, int failed)
{
  if (failed) {
    json_decref(*container);
    *container = NULL;
  }
}

void pf_json_append(json_t **array, json_t *value)
{
  keep(array, json_array_append_new(*array, value));
}

void pf_json_set(json_t **object, const char *key, json_t *value)
{
  keep(object, json_object_set_new(*object, key, value));
}

/* --- texts --------------------------------------------------------------------------------- */

/* Bytes of the character that s begins with; 0 where they are no UTF-8. */
static size_t character(const char *s, size_t size)
{
  for (size_t length = 1; length <= size && length <= 4; length++) {
    json_t *text = json_stringn(s, length);
    json_decref(text);
    if (text)
      return length;
  }
  return 0;
}

static json_t *mended(const char *s, size_t size)
{
  char *text = NULL;
  size_t length, step;
  FILE *to = open_memstream(&text, &length);
  if (!to)
    return NULL;
  for (size_t i = 0; i < size; i += step ? step : 1) {
    step = character(s + i, size - i);
    fprintf(to, "%.*s", step ? (int)step : 3, step ? s + i : "\xef\xbf\xbd");
  }
  const bool failed = ferror(to);
  json_t *all = fclose(to) || failed ? NULL : json_stringn(text, length);
  free(text);
  return all;
}

static json_t *text_of(const char *s, size_t size)
{
  json_t *text = json_stringn(s, size);
  return text ? text : mended(s, size);
}

json_t *pf_json_text(const char *s)
{
  return s ? text_of(s, strlen(s)) : json_null();
}

bool pf_json_print_start(pf_json_print *p)
{
  *p = (pf_json_print){0};
  p->to = open_memstream(&p->text, &p->size);
  return p->to;
}

json_t *pf_json_print_end(pf_json_print *p)
{
  const bool failed = ferror(p->to);
  json_t *text = fclose(p->to) || failed ? NULL : text_of(p->text, p->size);
  free(p->text);
  return text;
}

/* --- shapes and sets ----------------------------------------------------------------------- */

json_t *pf_json_sizes(int count, const int64_t *size)
{
  json_t *all = json_array();
  for (int i = 0; i < count; i++)
    pf_json_append(&all, json_integer(size[i]));
  return all;
}

json_t *pf_json_index(const pf_shape *s, int64_t element)
{
  int64_t index[PF_MAX_RANK];
  if (element < 0)
    return json_null();
  for (int i = s->out_rank - 1; i >= 0; i--) {
    index[i] = element % s->out[i];
    element /= s->out[i];
  }
  return pf_json_sizes(s->out_rank, index);
}

json_t *pf_json_allowed(const pf_enclosure *e)
{
  const pf_set *s = &e->set;
  const bool finite = pf_set_has_finite(s);
  return json_pack("{s:o, s:o, s:b, s:b, s:b, s:o, s:b}",
                   "lo", finite ? pf_json_number(s->lo) : json_null(),
                   "hi", finite ? pf_json_number(s->hi) : json_null(),
                   "plus_infinity", s->plus_infinity, "minus_infinity", s->minus_infinity,
                   "nan", s->nan, "radius", pf_json_number(e->radius), "weak", e->weak);
}

/* --- rules and counts ---------------------------------------------------------------------- */

json_t *pf_json_rule(const pf_rule *r)
{
  char text[PF_RULE_TEXT];
  pf_rule_print(r, text, sizeof text);
  return json_pack("{s:s, s:s?}", "name", text, "blind_spot", pf_rule_blind_spot(r));
}

json_t *pf_json_counts(const pf_counts *c)
{
  json_t *verdicts = json_object();
  for (int v = 0; v < PF_VERDICT_COUNT; v++)
    pf_json_set(&verdicts, pf_verdict_name((pf_verdict)v), pf_json_whole(c->verdict[v]));
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "cases", pf_json_whole(c->cases),
                   "results", pf_json_whole(c->results), "findings", pf_json_whole(c->findings),
                   "known", pf_json_whole(c->known), "verdicts", verdicts);
}
