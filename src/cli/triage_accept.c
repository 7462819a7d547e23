/* Groups that become known findings. */
#include "triage.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "regress.h"

/* The model that explains the finding, to be freed; NULL: none. */
static char *model_of(const char *folder)
{
  char *path = pf_triage_path(folder, PF_BUNDLE_FACTS, NULL);
  json_t *facts = path ? json_load_file(path, 0, NULL) : NULL;
  const char *name = json_string_value(json_object_get(
      json_object_get(json_object_get(facts, "result"), "model"), "model"));
  char *copy = name ? strdup(name) : NULL;
  json_decref(facts);
  free(path);
  return copy;
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
  char *file = pf_triage_path(folder, PF_BUNDLE_CASE, NULL), *model = model_of(folder);
  const pf_new_entry entry = {.name = g->name, .signature = g->seen->finding.signature,
                              .reason = t->accept, .model = model, .file = file};
  int code = file ? pf_regress_add(s, &entry) : pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  if (!code)
    code = note_accepted(t, g, folder);
  free(file);
  free(model);
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
