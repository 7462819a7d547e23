/* Comparing versions number by number. */
#include "version.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

size_t pf_version_length(const char *text)
{
  size_t n = 0;
  while (is_digit(text[n]) || (n && text[n] == '.' && is_digit(text[n + 1])))
    n++;
  return n;
}

/* The number at *at, which moves on to the next one; 0 at the version's end. */
static unsigned long next_number(const char **at, const char *end)
{
  char *after;
  if (*at >= end)
    return 0;
  const unsigned long n = strtoul(*at, &after, 10);
  *at = after < end ? after + 1 : end;
  return n;
}

static int compare(const char *a, const char *b)
{
  const char *const a_end = a + pf_version_length(a), *const b_end = b + pf_version_length(b);
  while (a < a_end || b < b_end) {
    const unsigned long x = next_number(&a, a_end), y = next_number(&b, b_end);
    if (x != y)
      return x < y ? -1 : 1;
  }
  return 0;
}

/* Signs of a comparison that a condition takes. */
enum { LESS = 1, SAME = 2, MORE = 4 };

static const char *read_sign(const char *text, int *signs)
{
  const bool more = *text == '>', less = *text == '<';
  *signs = more ? MORE : less ? LESS : 0;
  text += more || less;
  if (*text == '=' || !*signs)
    *signs |= SAME;
  return text + (*text == '=');
}

/* Hands each condition on; false where the text is no range or one does not hold. */
static bool all(const char *range, const char *version)
{
  const char *at = range + strspn(range, " ");
  if (!*at)
    return false;
  while (*at) {
    int signs;
    at = read_sign(at, &signs);
    const size_t length = pf_version_length(at);
    if (!length || (at[length] && at[length] != ' '))
      return false;
    const int c = version ? compare(version, at) : 0;
    if (version && !(signs & (c < 0 ? LESS : c > 0 ? MORE : SAME)))
      return false;
    at += length;
    at += strspn(at, " ");
  }
  return true;
}

bool pf_version_is_range(const char *text)
{
  return all(text, NULL);
}

bool pf_version_in(const char *text, const char *range)
{
  return pf_version_length(text) && all(range, text);
}
