/* Groups that become known findings. */
#include "triage.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "regress.h"

/* The signature of whatever strategy, as a row that makes the same call shows the same fault; two
   rows that are held against each other stay what they are.  To be freed; NULL: no memory. */
static char *widen(const char *signature)
{
  enum { FROM_THE_END = 4 };  /* an engine's name may hold blanks */
  char *copy = NULL;
  const char *at = signature + strlen(signature), *end = at;
  for (int i = 0; i < FROM_THE_END && at > signature; i++) {
    end = at;
    while (at > signature && *--at != ' ')
      ;
  }
  if (memchr(at, '~', (size_t)(end - at)))
    return strdup(signature);
  return asprintf(&copy, "%.*s *%s", (int)(at - signature), signature, end) < 0 ? NULL : copy;
}

static int note_accepted(const pf_triage *t, const pf_group *g, const char *folder)
{
  char *path = pf_triage_path(folder, PF_BUNDLE_ACCEPTED, NULL), *text = NULL;
  const int length = asprintf(&text, "known finding %s: %s\n", g->name, t->accept);
  const int code = path && length >= 0
                       ? pf_cli_write(path, (const uint8_t *)text, (size_t)length)
                       : pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  if (length >= 0)
    free(text);
  free(path);
  return code;
}

static int accept(const pf_triage *t, pf_settings *s, const pf_group *g, const char *folder)
{
  char *file = pf_triage_path(folder, PF_BUNDLE_CASE, NULL);
  char *signature = widen(g->seen->finding.signature);
  const pf_new_entry entry = {.name = g->name, .signature = signature, .reason = t->accept,
                              .file = file};
  int code = file && signature ? pf_regress_add(s, &entry)
                               : pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  if (!code)
    code = note_accepted(t, g, folder);
  free(file);
  free(signature);
  return code;
}

int pf_triage_accept(void *triage, pf_settings *s, size_t index)
{
  const pf_triage *t = triage;
  int code = PF_EXIT_CLEAN;
  (void)index;  /* the list is written by one alone */
  if (!s->known_folder || !strcmp(s->known_folder, "none"))
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "--accept: no folder of known findings: name one by "
                                          "--known");
  for (size_t i = 0; i < t->groups && !pf_interrupted(); i++) {
    char *folder = pf_triage_path(t->output, t->group[i].name, NULL);
    if (folder && (t->group[i].was_there || t->group[i].made)) {
      const int accepted = accept(t, s, &t->group[i], folder);
      code = pf_cli_worse(code, accepted);
    }
    free(folder);
  }
  return code;
}
