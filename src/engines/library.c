/* Loading a library that may not be there. */
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>

static pfe_status look_up(void *library, const pf_symbol *symbols, char text[192])
{
  for (const pf_symbol *s = symbols; s->name; s++) {
    *s->to = dlsym(library, s->name);
    if (!*s->to && !s->optional) {
      snprintf(text, 192, "the library has no %s: too old, or built without it", s->name);
      return PFE_ERROR;
    }
  }
  return PFE_OK;
}

pfe_status pf_library_open(const char *const *names, const char *package, const pf_symbol *symbols,
                           void **out, char text[192])
{
  void *library = NULL;
  for (; *names && !library; names++)
    library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    snprintf(text, 192, "not installed (package %s): %.120s", package, why ? why : "");
    return PFE_ABSENT;
  }
  const pfe_status status = look_up(library, symbols, text);
  if (status)
    dlclose(library);
  else
    *out = library;
  return status;
}
