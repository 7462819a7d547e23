/* The folders of known findings: which, and is a result one of them? */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* As installed, and in the tree that precfuzz is built in: from the program's folder. */
static const char *const places[] = {"../share/precfuzz/regressions", "../corpus/regressions"};

/* FOLDER/PLACE if there is a list; NULL. */
static char *find_place(const char *folder, const char *place)
{
  char *list = NULL, *found = NULL;
  if (asprintf(&list, "%s/%s/" PF_KNOWN_LIST, folder, place) < 0)
    return NULL;
  if (!access(list, F_OK)) {
    *strrchr(list, '/') = 0;
    found = realpath(list, NULL);
  }
  free(list);
  return found;
}

/* NULL: none is there. */
static char *find_own(void)
{
  const char *started_as = (const char *)(uintptr_t)getauxval(AT_EXECFN);
  char *program = started_as ? realpath(started_as, NULL) : NULL, *found = NULL;
  if (!program)
    return NULL;
  *strrchr(program, '/') = 0;
  for (size_t i = 0; i < sizeof places / sizeof *places && !found; i++)
    found = find_place(program, places[i]);
  free(program);
  return found;
}

int pf_settings_open_known(pf_settings *s)
{
  const char *from_environment = getenv("PRECFUZZ_KNOWN"), *named_by = "--known";
  pf_error e = {0};
  if (!s->known_folder && from_environment && *from_environment) {
    s->known_folder = from_environment;
    named_by = "PRECFUZZ_KNOWN";
  }
  if (!s->known_folder) {
    s->known_folder = s->own_folder = find_own();
    named_by = NULL;
  }
  const pf_status status =
      s->known_folder ? pf_known_open(s->known_folder, &s->known, &e) : PF_OK;
  return status ? pf_cli_report(status, &e, false, named_by) : PF_EXIT_CLEAN;
}

const pf_regression *pf_settings_know(const pf_settings *s, const pf_result *r)
{
  return pf_regressions_find(&s->known, r);
}

void pf_cli_print_known(const pf_regression *k, FILE *to)
{
  fprintf(to, "    known     %s: %s\n", k->name, k->reason);
}
