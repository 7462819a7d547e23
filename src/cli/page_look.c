/* Looking at the cases of a page, in children: what they saw stays behind as a file for each. */
#include "triage.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "form_archive.h"
#include "form_text.h"
#include "page.h"

enum { MOST_RESULTS = PF_MAX_ENGINES * PF_MAX_STRATEGIES, TRIES = 5 };

/* The results of the case in hand, copied, with its problem: what these point to lives in the
   session until the next case. */
typedef struct pf_page_results {
  pf_session *session;
  pf_problem problem;
  const pf_result *result[MOST_RESULTS];
  int count;
  bool full;            /* no memory */
} pf_page_results;

static void on_result(void *user, const pf_result *r)
{
  pf_page_results *all = user;
  pf_result *copy = pf_alloc_raw(&all->session->work, sizeof *copy);
  all->full |= !copy;
  if (!copy || all->count == MOST_RESULTS)
    return;
  all->problem = *r->problem;
  all->problem.kept = NULL;
  *copy = *r;
  copy->problem = &all->problem;
  all->result[all->count++] = copy;
}

static int out_of_memory(void)
{
  return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
}

/* --- the engine of a bundle ------------------------------------------------------------------- */

/* Bundles come from anywhere, and what they name must not run unless it is ours, an adapter, or was
   chosen by who runs this: no file, no command. */
static bool is_harmless(const char *engine)
{
  return !strpbrk(engine, "/,") && strncmp(engine, "exec:", 5) != 0;
}

static const pf_engine *find_engine(const pf_options *o, const char *name)
{
  for (int i = 0; i < o->engine_count; i++)
    if (!strcmp(o->engine[i]->name, name))
      return o->engine[i];
  return NULL;
}

/* NULL with what to say of it. */
static const pf_engine *engine_of(pf_options *o, const char *name, pf_error *e)
{
  const pf_engine *engine = find_engine(o, name);
  if (!engine && !is_harmless(name))
    snprintf(e->text, sizeof e->text, "%.150s is a program of its own: --engine lets it run", name);
  else if (!engine && !pf_options_add_engines(o, name, e))
    engine = find_engine(o, name);
  return engine;
}

/* What the bundle was judged by.  false: it cannot be looked at again, and *e says why. */
static bool take_bundles_options(pf_options *o, const json_t *facts, pf_error *e)
{
  const char *rule = pf_page_text(json_object_get(facts, "result"), "rule");
  const pf_engine *engine = engine_of(o, pf_page_text(facts, "engine"), e);
  if (!engine || (rule[0] && pf_options_rule(o, rule, e)))
    return false;
  o->engine[0] = engine;
  o->engine_count = 1;
  return true;
}

/* What was opened for a bundle stays open for others. */
static void restore_options(pf_options *o, const pf_options *all)
{
  const pf_options used = *o;
  *o = *all;
  o->plugin_count = used.plugin_count;
  memcpy(o->plugin, used.plugin, sizeof o->plugin);
}

/* --- a case ----------------------------------------------------------------------------------- */

static int examine(pf_settings *s, const pf_case *c, pf_page_results *all)
{
  all->session = &s->session;
  all->count = 0;
  all->full = false;
  return pf_session_examine(&s->session, c, on_result, all) || all->full ? out_of_memory()
                                                                         : PF_EXIT_CLEAN;
}

static bool shows(const json_t *seen)
{
  return json_array_size(json_object_get(seen, "findings")) > 0;
}

/* Until it shows what is wanted: not everything does so every time, and some rows are taken only by
   name. */
static int look_at_case(pf_settings *s, const pf_page_item *item, const pf_case *c, json_t **out)
{
  pf_page_results all;
  const char *strategy = pf_page_text(json_object_get(item->facts, "result"), "strategy");
  *out = NULL;
  for (int i = 0; i < (item->facts ? TRIES : 1) && !shows(*out) && !pf_interrupted(); i++) {
    if (i == 1 && !s->session.options.strategy_count && !strchr(strategy, '='))
      pf_options_strategies(&s->session.options, strategy, NULL);
    const int code = examine(s, c, &all);
    if (code)
      return code;
    json_decref(*out);
    *out = pf_page_seen(s, all.result, all.count, item->path, item->facts);
    if (!*out)
      return out_of_memory();
  }
  return PF_EXIT_CLEAN;
}

/* Does the bundle show again what it tells of?  Where it cannot be asked, its own word stands. */
static int look_at_bundle(pf_settings *s, const pf_page_item *item, const pf_case *c,
                          json_t **out)
{
  pf_options *o = &s->session.options;
  pf_error e = {0};
  const bool can = take_bundles_options(o, item->facts, &e);
  if (can)
    return look_at_case(s, item, c, out);
  *out = json_object();
  pf_json_set(out, "not_run", pf_json_text(e.text));
  return PF_EXIT_CLEAN;
}

/* As it was found, a case mostly has more to look at than the smallest one that shows the same.  It
   may be any bytes. */
static int read_found(const char *path, pf_arena *a, pf_case_file *out)
{
  pf_case none;
  *out = (pf_case_file){0};
  const int code = pf_file_read(path, &out->file);
  if (code)
    return code;
  pf_form form = pf_file_form(&out->file);
  if (form == PF_FORM_ARCHIVE &&
      pf_archive_decode(out->file.data, out->file.size, a, &none, NULL))
    form = PF_FORM_FUZZ;
  return pf_case_file_decode(out, form, NULL, a);
}

static int look_at_found(pf_settings *s, const pf_page_item *item, json_t **out)
{
  char *path = pf_triage_path(item->bundle, PF_BUNDLE_FOUND, NULL);
  pf_case_file f = {0};
  int code = path ? PF_EXIT_CLEAN : out_of_memory();
  pf_arena_reset(&s->session.cases);
  if (!code && !access(path, F_OK))
    code = read_found(path, &s->session.cases, &f);
  if (!code && f.file.data)
    code = look_at_bundle(s, item, &f.what, out);
  pf_case_file_free(&f);
  free(path);
  return code;
}

static int look_at_file(const pf_page *p, pf_settings *s, const pf_page_item *item, json_t **out)
{
  const pf_triage reader = {.form = p->form};
  pf_case_file f;
  pf_arena_reset(&s->session.cases);
  int code = pf_triage_read(&reader, item->path, &s->session.cases, &f);
  if (!code)
    code = pf_settings_check_rows(s, &f.what, f.file.name);
  if (!code)
    code = item->facts ? look_at_bundle(s, item, &f.what, out)
                       : look_at_case(s, item, &f.what, out);
  pf_case_file_free(&f);
  return code;
}

static int look_at_item(const pf_page *p, pf_settings *s, const pf_page_item *item, json_t **out)
{
  const pf_options all = s->session.options;
  const int code = item->facts ? look_at_found(s, item, out) : PF_EXIT_CLEAN;
  if (code || shows(*out))
    return code;
  json_decref(*out);
  *out = NULL;
  restore_options(&s->session.options, &all);
  return look_at_file(p, s, item, out);
}

/* --- cases for comparison --------------------------------------------------------------------- */

enum { DRAWN_LONGEST = 4096, DRAWN_EACH = 4 };

/* The strategies on the user's graph by our own loops, whatever the folder holds. */
static int look_at_drawn(pf_settings *s, json_t **out)
{
  const pf_page_item item = {0};
  char text[200];
  pf_case c;
  json_t *all = json_array(), *seen;
  s->session.options.engine[0] = pf_engines[0];
  s->session.options.engine_count = 1;
  s->session.options.strategy_count = 0;
  for (int k = 1; k <= DRAWN_LONGEST && !pf_interrupted(); k *= 2)
    for (int seed = 1; seed <= DRAWN_EACH; seed++) {
      const int length =
          snprintf(text, sizeof text, "matmul_out_f32_add x=bf16[4,%d] y=bf16[%d,4] bias=bf16[4] "
                   "x.values=normal:%d y.values=normal:%d", k, k, 2 * seed, 2 * seed + 1);
      pf_arena_reset(&s->session.cases);
      if (pf_text_parse(text, (size_t)length, &s->session.cases, &c, NULL) ||
          look_at_case(s, &item, &c, &seen)) {
        json_decref(all);
        return out_of_memory();
      }
      json_array_extend(all, json_object_get(seen, "parted"));
      json_decref(seen);
    }
  *out = json_object();
  pf_json_set(out, "drawn", all);
  return PF_EXIT_CLEAN;
}

/* --- an item ---------------------------------------------------------------------------------- */

/* What is said goes to a file beside what was seen, from where the page has it, too. */
static int divert(const char *path)
{
  const int was = dup(STDERR_FILENO);
  const int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  fflush(stderr);
  if (to >= 0)
    dup2(to, STDERR_FILENO);
  close(to);
  return was;
}

static void restore(int was)
{
  fflush(stderr);
  dup2(was, STDERR_FILENO);
  close(was);
}

static int look(const pf_page *p, pf_settings *s, const pf_page_item *item, const char *path)
{
  const pf_options all = s->session.options;
  json_t *seen = NULL;
  int code = item->path ? look_at_item(p, s, item, &seen) : look_at_drawn(s, &seen);
  restore_options(&s->session.options, &all);
  if (!code && !pf_interrupted() && json_dump_file(seen, path, JSON_COMPACT))
    code = pf_cli_fail(PF_EXIT_MACHINERY, "%s: cannot be written", path);
  json_decref(seen);
  return code;
}

int pf_page_look(void *page, pf_settings *s, size_t index)
{
  const pf_page *p = page;
  char seen[32], said[32];
  snprintf(seen, sizeof seen, "%zu.json", index);
  snprintf(said, sizeof said, "%zu.err", index);
  char *to = pf_triage_path(p->work, seen, NULL), *messages = pf_triage_path(p->work, said, NULL);
  if (!to || !messages)
    return out_of_memory();
  const int was = divert(messages);
  const int code = look(p, s, &p->item[index], to);
  restore(was);
  free(to);
  free(messages);
  return pf_interrupted() ? PF_POOL_LEFT : code;
}
