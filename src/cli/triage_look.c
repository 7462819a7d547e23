/* What a crash file shows: on each engine the first finding that is not known. */
#include "triage.h"

#include <string.h>

typedef struct pf_looking {
  pf_settings *settings;
  const char *path;
  const pf_case *what;
  pf_looked *out;
} pf_looking;

/* The finding there is says more than an engine that could not. */
static int tell_failures(const pf_looking *l, const pf_sight *sight)
{
  return sight->failed[0] && !sight->found
             ? pf_cli_fail(PF_EXIT_MACHINERY, "%s: %s", l->path, sight->failed)
             : PF_EXIT_CLEAN;
}

static int look_on(pf_looking *l, const pf_engine *engine)
{
  pf_options *o = &l->settings->session.options;
  pf_minimize_job job = {.settings = l->settings};
  pf_minimized_file m;
  pf_sight sight;
  o->engine[0] = engine;
  o->engine_count = 1;
  pf_progress_start(&job.progress);
  const int code = pf_minimize_look(&job, l->what, &m, &sight);
  if (code)
    return code;
  if (sight.known)
    snprintf(l->out->known, sizeof l->out->known, "%s", sight.known->name);
  if (sight.found)
    l->out->seen[l->out->count++] = (pf_sighting){m.finding, m.before};
  return tell_failures(l, &sight);
}

/* Each engine for itself, as one may hide what another shows. */
static int look(pf_looking *l)
{
  pf_options *o = &l->settings->session.options;
  const pf_options all = *o;
  int code = PF_EXIT_CLEAN;
  for (int i = 0; i < all.engine_count && !pf_interrupted(); i++) {
    const int looked = look_on(l, all.engine[i]);
    code = pf_cli_worse(code, looked);
    *o = all;
  }
  return code;
}

int pf_triage_look(void *triage, pf_settings *s, size_t index)
{
  pf_triage *t = triage;
  pf_looked *out = &t->looked[index];
  pf_case_file f;
  pf_looking l = {s, t->paths.path[index], &f.what, out};
  pf_arena_reset(&s->session.cases);
  out->code = pf_triage_read(t, l.path, &s->session.cases, &f);
  if (!out->code)
    out->code = pf_settings_check_rows(s, &f.what, f.file.name);
  if (!out->code) {
    out->work = (uint64_t)pf_case_shape(&f.what).work;
    out->code = look(&l);
  }
  pf_case_file_free(&f);
  out->tried = !pf_interrupted();
  return out->tried ? out->code : PF_POOL_LEFT;
}
