/* Loading a library that may not be there. */
#ifndef PF_LIBRARY_H
#define PF_LIBRARY_H

#include <precfuzz/engine.h>

/* A function to look up: where its address goes, and its name.  NULL stays where an optional one is
   missing. */
typedef struct pf_symbol {
  void **to;
  const char *name;
  int optional;
} pf_symbol;

/* Loads the first of `names` that there is, with its symbols to itself (RTLD_LOCAL, RTLD_NOW), and
   looks up `symbols`; both lists end with NULL.  PFE_ABSENT where no name can be loaded: text then
   names `package`; PFE_ERROR where a symbol that is not optional is missing.  *out is for dlclose,
   which a library with threads of its own may not survive. */
pfe_status pf_library_open(const char *const *names, const char *package, const pf_symbol *symbols,
                           void **out, char text[192]);

/* The first of `places`, paths from the running program's folder that end with NULL, with which
   `file` is there: path is that file's.  Nonzero: there is none. */
int pf_library_beside(const char *const *places, const char *file, char path[512]);

/* What follows an adapter's name and a ':': one of `modes` (which end with NULL; *mode counts from
   0 and stays as it is where none is said), a library's path, which has a '/', or PATH:MODE. path
   is empty where none is said. Nonzero: it is none of these, and text says so. */
int pf_library_argument(const char *argument, const char *const *modes, int *mode, char path[512],
                        char text[192]);

#endif
