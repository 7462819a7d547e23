/* Where a case's values come from, for people: a model's file, its layer, what was cut out of it.
   One line of printable ASCII.  No part of what the case asks. */
#ifndef PF_ORIGIN_H
#define PF_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>

enum { PF_ORIGIN_TEXT = 400 };  /* bytes, the NUL included */

/* Of 1 to PF_ORIGIN_TEXT - 1 bytes, all from ' ' to '~'. */
bool pf_origin_is(const void *text, size_t length);

#endif
