/* A bundle: all that a group's reader needs, in a folder that is there whole or not at all. */
#include "triage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "form_archive.h"
#include "form_text.h"

static int out_of_memory(void)
{
  return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
}

static int cannot_make(const char *path)
{
  return pf_cli_fail(PF_EXIT_MACHINERY, "%s: cannot be made: %s", path, strerror(errno));
}

char *pf_triage_path(const char *folder, const char *name, const char *file)
{
  char *path = NULL;
  const int length = asprintf(&path, "%s/%s%s%s", folder, name, file ? "/" : "", file ? file : "");
  return length < 0 ? NULL : path;
}

/* --- the output folder --------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
  (void)info;
  (void)kind;
  (void)where;
  return remove(path);
}

static void remove_tree(const char *path)
{
  nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* As files that are being written are called (pf_cli_write), and bundles. */
static int is_unfinished(const struct dirent *entry)
{
  const size_t length = strlen(entry->d_name);
  return !strncmp(entry->d_name, ".precfuzz-", 10) && !strcmp(entry->d_name + length - 4, ".tmp");
}

static void clear_unfinished(const char *folder)
{
  struct dirent **entry;
  const int count = scandir(folder, &entry, is_unfinished, NULL);
  for (int i = 0; i < count; i++) {
    char *path = pf_triage_path(folder, entry[i]->d_name, NULL);
    if (path)
      remove_tree(path);
    free(path);
    free(entry[i]);
  }
  if (count >= 0)
    free(entry);
}

int pf_triage_take_output(const pf_triage *t)
{
  if (mkdir(t->output, 0777) && errno != EEXIST)
    return cannot_make(t->output);
  const int folder = open(t->output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);  /* open until the end */
  if (folder < 0 || access(t->output, W_OK | X_OK))
    return pf_cli_fail(PF_EXIT_MACHINERY, "%s: cannot be written: %s", t->output, strerror(errno));
  if (flock(folder, LOCK_EX | LOCK_NB))
    return pf_cli_fail(PF_EXIT_MACHINERY, "%s: %s", t->output,
                       errno == EWOULDBLOCK ? "another precfuzz triage writes there"
                                            : strerror(errno));
  clear_unfinished(t->output);
  return PF_EXIT_CLEAN;
}

bool pf_bundle_is_there(const pf_triage *t, const char *name)
{
  char *path = pf_triage_path(t->output, name, PF_BUNDLE_FACTS);
  const bool is = path && !access(path, F_OK);
  free(path);
  return is;
}

/* --- files --------------------------------------------------------------------------------- */

static int write_file(const char *folder, const char *name, const void *data, size_t size)
{
  char *path = pf_triage_path(folder, name, NULL);
  const int code = path ? pf_cli_write(path, data, size) : out_of_memory();
  free(path);
  return code;
}

/* A file that `print` writes. */
static int write_printed(const pf_bundle *b, const char *folder, const char *name,
                         void (*print)(const pf_bundle *, FILE *))
{
  char *text = NULL;
  size_t size;
  FILE *to = open_memstream(&text, &size);
  if (!to)
    return out_of_memory();
  print(b, to);
  const bool failed = ferror(to);
  const int code = fclose(to) || failed ? out_of_memory() : write_file(folder, name, text, size);
  free(text);
  return code;
}

static void print_text(const pf_bundle *b, FILE *to)
{
  pf_text_print(b->result->problem->what, to);
  fputc('\n', to);
}

static int write_facts(const pf_bundle *b, const char *folder)
{
  json_t *facts = pf_bundle_facts(b);
  char *text = facts ? json_dumps(facts, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
  const int code = text ? write_file(folder, PF_BUNDLE_FACTS, text, strlen(text)) : out_of_memory();
  free(text);
  json_decref(facts);
  return code;
}

static int write_program(pf_bundle *b, pf_emit_target t, pf_arena *a, const char *folder)
{
  pf_error e = {0};
  const pf_emit_wish wish = {.target = t, .engine = b->result->engine->name,
                             .environment = b->environment};
  FILE *to = open_memstream(&b->program[t].text, &b->program[t].size);
  if (!to)
    return out_of_memory();
  const pf_status status = pf_emit(b->result->problem, &wish, a, to, &e);
  const bool failed = ferror(to);
  if (fclose(to) || failed || status == PF_NO_MEMORY)
    return out_of_memory();
  if (!status)
    return write_file(folder, pf_bundle_program(t), b->program[t].text, b->program[t].size);
  snprintf(b->program[t].why, sizeof b->program[t].why, "%s", e.text);
  free(b->program[t].text);
  b->program[t].text = NULL;
  return PF_EXIT_CLEAN;
}

/* Reports last: they tell of programs that could not be written. */
static int write_all(pf_bundle *b, pf_arena *a, const char *folder)
{
  int code = write_printed(b, folder, PF_BUNDLE_TEXT, print_text);
  for (int t = 0; t < PF_EMIT_TARGETS && !code; t++)
    code = write_program(b, (pf_emit_target)t, a, folder);
  if (!code)
    code = write_printed(b, folder, PF_BUNDLE_REPORT, pf_bundle_report);
  return code ? code : write_facts(b, folder);
}

/* --- while the result lives ---------------------------------------------------------------- */

typedef struct pf_bundling {
  pf_settings *settings;
  const pf_group *group;
  pf_minimized_file *minimized;
  const char *folder;
  bool as_found;   /* what was minimized does not show it any more */
  bool written;
  int code;
} pf_bundling;

static void on_result(void *user, const pf_result *r)
{
  pf_bundling *w = user;
  pf_session *s = &w->settings->session;
  pf_finding f;
  pf_bundle b = {.settings = w->settings, .group = w->group, .minimized = w->minimized,
                 .result = r, .as_found = w->as_found,
                 .environment = pf_variables_list(r->engine->foreign, &s->cases)};
  if (w->written || w->code || r->machinery || !pf_verdict_is_finding(r->verdict))
    return;
  pf_arena_reset(&s->scratch);
  if (!b.environment || pf_finding_of(r, &s->oracle, &s->scratch, &f)) {
    w->code = out_of_memory();
  } else if (pf_finding_equal(&f, &w->group->seen->finding) &&
             !pf_settings_know(w->settings, r)) {
    w->code = write_all(&b, &s->cases, w->folder);
    w->written = true;
    for (int t = 0; t < PF_EMIT_TARGETS; t++)
      free(b.program[t].text);
  }
}

static int look_again(pf_bundling *w)
{
  pf_session *s = &w->settings->session;
  pf_minimize_renew(w->settings);
  for (int i = 0; i < PF_TRIES && !w->written && !w->code; i++)
    if (pf_session_examine(s, &w->minimized->best, on_result, w))
      return out_of_memory();
  return w->code;
}

/* What a call that writes anywhere does depends on what lies there, and so a walk to simpler cases
   can lose it: then the case is left as it is. */
static int take_back(pf_bundling *w, const pf_case_file *f)
{
  pf_minimized_file *m = w->minimized;
  uint8_t *data;
  size_t size;
  pf_error e = {0};
  const pf_status status =
      pf_archive_encode(&f->what, &w->settings->session.cases, &data, &size, &e);
  m->best = f->what;
  m->after = m->before;
  m->now.finished = false;
  w->as_found = true;
  return status ? pf_cli_report(status, &e, false, f->file.name)
                : write_file(w->folder, PF_BUNDLE_CASE, data, size);
}

static int write_reports(pf_bundling *w, const pf_case_file *f)
{
  w->settings->session.options.no_models = false;
  int code = look_again(w);
  if (!code && !w->written)
    code = take_back(w, f);
  if (!code && !w->written)
    code = look_again(w);
  if (!code && !w->written)
    code = pf_cli_fail(PF_EXIT_MACHINERY, "%s: does not show again", w->group->name);
  return code;
}

/* --- a bundle ------------------------------------------------------------------------------ */

static int minimize(const pf_triage *t, pf_settings *s, const pf_group *g, const char *folder)
{
  pf_case_file f;
  pf_arena keep = {0};
  pf_minimized_file m = {0};
  const pf_options all = s->session.options;
  char *best = pf_triage_path(folder, PF_BUNDLE_CASE, NULL);
  pf_minimize_job job = {.settings = s, .signature = g->seen->finding.signature,
                         .at = g->seen->finding.at, .output = best, .seconds = t->seconds};
  pf_bundling w = {.settings = s, .group = g, .minimized = &m, .folder = folder};
  pf_arena_reset(&s->session.cases);
  int code = pf_triage_read(t, t->paths.path[g->file], &s->session.cases, &f);
  if (!code && !best)
    code = out_of_memory();
  if (!code)
    code = write_file(folder, PF_BUNDLE_FOUND, f.file.data, f.file.size);
  if (!code)
    code = pf_minimize_file(&job, &f, &keep, &m);
  if (!code && !pf_interrupted())
    code = write_reports(&w, &f);
  s->session.options = all;
  pf_case_file_free(&f);
  pf_arena_free(&keep);
  free(best);
  return code;
}

static int make_bundle(const pf_triage *t, pf_settings *s, const pf_group *g, const char *folder,
                       const char *path)
{
  if (mkdir(folder, 0777))
    return cannot_make(folder);
  int code = minimize(t, s, g, folder);
  if (pf_interrupted())
    code = PF_POOL_LEFT;
  if (!code && rename(folder, path))
    code = cannot_make(path);
  if (code)
    remove_tree(folder);
  return code;
}

int pf_triage_bundle(void *triage, pf_settings *s, size_t index)
{
  const pf_triage *t = triage;
  const pf_group *g = &t->group[index];
  char hidden[PF_BUNDLE_NAME + 24];
  if (g->was_there)
    return PF_EXIT_CLEAN;
  snprintf(hidden, sizeof hidden, ".precfuzz-%s.tmp", g->name);
  char *path = pf_triage_path(t->output, g->name, NULL);
  char *folder = pf_triage_path(t->output, hidden, NULL);
  const int code = path && folder ? make_bundle(t, s, g, folder, path) : out_of_memory();
  free(path);
  free(folder);
  return code;
}

int pf_triage_update(const char *path, const char *text, size_t size)
{
  pf_file old = {0};
  const bool same = !access(path, R_OK) && !pf_file_read(path, &old) && old.size == size &&
                    !memcmp(old.data, text, size);
  pf_file_free(&old);
  return same ? PF_EXIT_CLEAN : pf_cli_write(path, (const uint8_t *)text, size);
}
