/* Loading a library that may not be there. */
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

int pf_library_beside(const char *const *places, const char *file, char path[512])
{
  char *program = realpath("/proc/self/exe", NULL), *slash = program ? strrchr(program, '/') : NULL;
  int missing = 1;
  for (; slash && missing && *places; places++)
    missing = snprintf(path, 512, "%.*s/%s/%s", (int)(slash - program), program, *places, file) >=
                512 || access(path, R_OK);
  free(program);
  return missing;
}

static int find_mode(const char *name, const char *const *modes, int *mode)
{
  for (int m = 0; modes[m]; m++)
    if (!strcmp(name, modes[m])) {
      *mode = m;
      return 1;
    }
  return 0;
}

int pf_library_argument(const char *argument, const char *const *modes, int *mode, char path[512],
                        char text[192])
{
  path[0] = 0;
  if (!argument || find_mode(argument, modes, mode))
    return 0;
  if (!strchr(argument, '/')) {
    int used = snprintf(text, 192, modes[0] ? "'%.60s' is none of"
                                            : "'%.60s': a path to a library is expected", argument);
    for (int m = 0; modes[m] && used < 180; m++)
      used += snprintf(text + used, 192 - (size_t)used, "%s %s", m ? "," : "", modes[m]);
    return 1;
  }
  const char *colon = strrchr(argument, ':');
  const size_t length = colon && find_mode(colon + 1, modes, mode) ? (size_t)(colon - argument)
                                                                   : strlen(argument);
  snprintf(path, 512, "%.*s", (int)length, argument);
  return 0;
}
