/* Reading pieces of a line. */
#include "form_text_scan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool pf_is_blank(char c)
{
  return c == ' ' || c == '\t';
}

pf_status pf_scan_bad(const pf_scanner *p, const char *at, const char *why)
{
  char token[33];
  size_t n = 0;
  while (n + 1 < sizeof token && at + n < p->end && !pf_is_blank(at[n])) {
    token[n] = at[n] >= ' ' && at[n] <= '~' ? at[n] : '?';
    n++;
  }
  token[n] = '\0';
  if (n == 0)
    return pf_fail(p->error, PF_BAD_INPUT, (size_t)(at - p->text), "text: %s", why);
  return pf_fail(p->error, PF_BAD_INPUT, (size_t)(at - p->text), "text: %s at '%s'", why, token);
}

bool pf_scan_accept(pf_span *s, char c)
{
  if (s->at == s->end || *s->at != c)
    return false;
  s->at++;
  return true;
}

int pf_digit_of(char c)
{
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return 16;
}

pf_status pf_scan_number(const pf_scanner *p, pf_span *s, int base, uint64_t most, uint64_t *out)
{
  const char *start = s->at;
  uint64_t value = 0;
  for (; s->at < s->end && pf_digit_of(*s->at) < base; s->at++) {
    const unsigned digit = (unsigned)pf_digit_of(*s->at);
    if (digit > most || value > (most - digit) / (unsigned)base)
      return pf_scan_bad(p, start, "number too large");
    value = value * (unsigned)base + digit;
  }
  if (s->at == start)
    return pf_scan_bad(p, start, base == 16 ? "expected a hex number" : "expected a number");
  *out = value;
  return PF_OK;
}

pf_status pf_scan_numbers(const pf_scanner *p, pf_span *s, char close, int64_t most, int *count,
                         int64_t *to)
{
  *count = 0;
  if (pf_scan_accept(s, close))
    return PF_OK;
  for (;;) {
    uint64_t value;
    if (*count == PF_MAX_RANK)
      return pf_scan_bad(p, s->at, "too many dimensions");
    const pf_status status = pf_scan_number(p, s, 10, (uint64_t)most, &value);
    if (status != PF_OK)
      return status;
    to[(*count)++] = (int64_t)value;
    if (pf_scan_accept(s, close))
      return PF_OK;
    if (!pf_scan_accept(s, ','))
      return pf_scan_bad(p, s->at, close == ']' ? "expected , or ]" : "expected , or )");
  }
}

pf_status pf_scan_end(const pf_scanner *p, const pf_span *s)
{
  return s->at == s->end ? PF_OK : pf_scan_bad(p, s->at, "unexpected text");
}

pf_span pf_scan_name(pf_span *s)
{
  const pf_span n = {s->at, s->at};
  while (s->at < s->end &&
         ((*s->at >= 'a' && *s->at <= 'z') || pf_digit_of(*s->at) < 10 || *s->at == '_'))
    s->at++;
  return (pf_span){n.at, s->at};
}

size_t pf_span_length(pf_span s)
{
  return (size_t)(s.end - s.at);
}

bool pf_span_is(pf_span s, const char *text)
{
  return pf_span_length(s) == strlen(text) && memcmp(s.at, text, pf_span_length(s)) == 0;
}

pf_status pf_scan_scalar(const pf_scanner *p, pf_span s, bool f64, double *out)
{
  char text[64], *end;
  size_t n = 0;
  bool hex = false;
  if (pf_span_is(s, "inf") || pf_span_is(s, "-inf") || pf_span_is(s, "nan")) {
    *out = pf_span_is(s, "nan") ? NAN : pf_span_is(s, "inf") ? INFINITY : -INFINITY;
    return PF_OK;
  }
  for (; n + 1 < sizeof text && s.at + n < s.end; n++) {
    const char c = s.at[n];
    if (pf_digit_of(c) == 16 && (c == '\0' || !strchr("xXpP+-.", c)))
      return pf_scan_bad(p, s.at, "expected a number, inf or nan");
    hex = hex || c == 'x' || c == 'X';
    text[n] = c;
  }
  text[n] = '\0';
  errno = 0;
  *out = f64 || hex ? strtod(text, &end) : strtof(text, &end);
  if (n == 0 || n != pf_span_length(s) || *end != '\0')
    return pf_scan_bad(p, s.at, "expected a number, inf or nan");
  if (errno == ERANGE && (isinf(*out) || *out == 0))
    return pf_scan_bad(p, s.at, "number out of range");
  return PF_OK;
}
