/* Cutting a JSON object into members (RFC 8259).

   Only as much is checked as is needed to find the ends: strings with their escapes, containers by
   the depth of their brackets.  Each piece then goes through jansson, which refuses what is wrong
   inside it. */
#include "safetensors_parts.h"

static pf_status bad(const pf_json_walk *w, size_t at, const char *why)
{
  return pf_fail(w->error, PF_BAD_INPUT, at, "safetensors: header: %s", why);
}

static void skip_blanks(pf_json_walk *w)
{
  while (w->at < w->end && (w->data[w->at] == ' ' || w->data[w->at] == '\t' ||
                            w->data[w->at] == '\n' || w->data[w->at] == '\r'))
    w->at++;
}

static bool accept(pf_json_walk *w, uint8_t c)
{
  skip_blanks(w);
  if (w->at == w->end || w->data[w->at] != c)
    return false;
  w->at++;
  return true;
}

/* w stands on the opening quote. */
static pf_status skip_string(pf_json_walk *w)
{
  const size_t start = w->at++;
  while (w->at < w->end) {
    const uint8_t c = w->data[w->at++];
    if (c == '"')
      return PF_OK;
    if (c == '\\')
      w->at++;
  }
  return bad(w, start, "a string without an end");
}

static pf_status skip_container(pf_json_walk *w)
{
  const size_t start = w->at;
  int depth = 0;
  while (w->at < w->end) {
    const uint8_t c = w->data[w->at];
    if (c == '"') {
      const pf_status status = skip_string(w);
      if (status != PF_OK)
        return status;
      continue;
    }
    if (c == '-')
      return bad(w, w->at, "a negative number");
    if ((c == '{' || c == '[') && ++depth > 2)
      return bad(w, w->at, "nested too deeply");
    w->at++;
    if ((c == '}' || c == ']') && --depth == 0)
      return PF_OK;
  }
  return bad(w, start, "a value without an end");
}

static pf_status skip_scalar(pf_json_walk *w)
{
  const size_t start = w->at;
  for (; w->at < w->end; w->at++) {
    const uint8_t c = w->data[w->at];
    if (c == ',' || c == '}' || c == ' ' || c == '\t' || c == '\n' || c == '\r')
      break;
  }
  return w->at > start ? PF_OK : bad(w, start, "expected a value");
}

static pf_status skip_value(pf_json_walk *w)
{
  skip_blanks(w);
  const uint8_t c = w->at < w->end ? w->data[w->at] : 0;
  if (c == '"')
    return skip_string(w);
  return c == '{' || c == '[' ? skip_container(w) : skip_scalar(w);
}

static pf_status next_key(pf_json_walk *w, pf_json_span *key)
{
  skip_blanks(w);
  if (w->at == w->end || w->data[w->at] != '"')
    return bad(w, w->at, "expected a name in double quotes");
  key->at = w->at;
  const pf_status status = skip_string(w);
  key->size = w->at - key->at;
  return status;
}

pf_status pf_json_next(pf_json_walk *w, pf_json_member *m, bool *more)
{
  *more = false;
  if (!w->inside) {
    if (!accept(w, '{'))
      return bad(w, w->at, "expected {");
    w->inside = true;
    if (accept(w, '}'))
      return PF_OK;
  } else if (accept(w, '}')) {
    return PF_OK;
  } else if (!accept(w, ',')) {
    return bad(w, w->at, "expected , or }");
  }
  pf_status status = next_key(w, &m->key);
  if (status != PF_OK)
    return status;
  if (!accept(w, ':'))
    return bad(w, w->at, "expected :");
  skip_blanks(w);
  m->value.at = w->at;
  status = skip_value(w);
  m->value.size = w->at - m->value.at;
  *more = status == PF_OK;
  return status;
}

pf_status pf_json_count(pf_json_walk w, size_t *members)
{
  pf_json_member m;
  bool more;
  *members = 0;
  for (;;) {
    const pf_status status = pf_json_next(&w, &m, &more);
    if (status != PF_OK)
      return status;
    if (!more)
      break;
    ++*members;
  }
  skip_blanks(&w);
  return w.at == w.end ? PF_OK : bad(&w, w.at, "something behind the closing brace");
}
