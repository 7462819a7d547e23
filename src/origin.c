/* What may be an origin. */
#include "origin.h"

bool pf_origin_is(const void *text, size_t length)
{
  const char *at = text;
  for (size_t i = 0; i < length; i++)
    if (at[i] < ' ' || at[i] > '~')
      return false;
  return length > 0 && length < PF_ORIGIN_TEXT;
}
