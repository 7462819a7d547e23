/* Versions of libraries, and ranges of them. */
#ifndef PF_VERSION_H
#define PF_VERSION_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the version that a text begins with: numbers with dots between, "3.7.2" of
   "3.7.2+ds".  0: it begins with none. */
size_t pf_version_length(const char *text);

/* ">=3.0 <3.8": conditions with blanks between, all of which must hold; of >=, >, <=, < and =,
   which may be left out.  Numbers are compared one by one, those that are missing count as 0. */
bool pf_version_is_range(const char *text);
/* Does the version that `text` begins with lie in the range?  One that begins with none lies in no
   range. */
bool pf_version_in(const char *text, const char *range);

#endif
