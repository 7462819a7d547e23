/* A file's finding: which it is, how often it shows, and a simpler case for it, kept in a file on
   the way. */
#include "minimize_file.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "form_archive.h"

enum { FEWEST = 3, MOST_SECONDS = 2 };  /* tries in any case, time for the others */

static const double write_interval = 1;  /* seconds */

static int out_of_memory(void)
{
  return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
}

/* --- which finding ------------------------------------------------------------------------- */

typedef struct pf_choice {
  const pf_minimize_job *job;
  pf_minimized_file *out;
  pf_sight *sight;
  pf_options options;           /* those of the finding alone */
  pf_status status;
} pf_choice;

static bool is_wanted(const pf_minimize_job *job, const pf_finding *f)
{
  return !job->signature ||
         (!strcmp(job->signature, f->signature) && (!job->at || !strcmp(job->at, f->at)));
}

static void note_failure(pf_sight *sight, const pf_result *r)
{
  if (!sight->failed[0])
    snprintf(sight->failed, sizeof sight->failed, "%s: %s: %s", r->engine->name, r->strategy,
             r->why ? r->why : pf_status_name(r->machinery));
}

static void choose(void *user, const pf_result *r)
{
  pf_choice *c = user;
  pf_session *s = &c->job->settings->session;
  pf_finding *f = &c->out->finding;
  if (r->machinery)
    note_failure(c->sight, r);
  if (c->sight->found || c->status || r->machinery || !pf_verdict_is_finding(r->verdict))
    return;
  const pf_regression *known = pf_settings_know(c->job->settings, r);
  if (known && !c->job->signature) {
    c->sight->known = known;
    return;
  }
  pf_arena_reset(&s->scratch);
  c->status = pf_finding_of(r, &s->oracle, &s->scratch, f);
  if (!is_wanted(c->job, f)) {
    memcpy(c->sight->other, f->signature, sizeof c->sight->other);
    return;
  }
  c->options = s->options;
  c->options.no_models = known || s->options.no_models;
  pf_options_narrow(&c->options, r);
  c->out->foreign = r->engine->foreign;
  c->out->known = known;
  c->out->sums = r->problem->shape.k > 0;
  c->sight->found = true;
}

static int nothing_found(const pf_minimize_job *job, const pf_sight *sight, const pf_case_file *f)
{
  const char *name = f->file.name;
  if (sight->known)
    return pf_cli_fail(PF_EXIT_BAD_INPUT,
                       "%s: shows only what is known: %s (--known none takes it)", name,
                       sight->known->name);
  if (sight->other[0])
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: does not show '%s%s%s' in %d tries, but '%s'", name,
                       job->signature, job->at ? " at " : "", job->at ? job->at : "", sight->tries,
                       sight->other);
  return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: shows no finding in %d tr%s, read as %s", name,
                     sight->tries, sight->tries == 1 ? "y" : "ies", pf_form_name(f->form));
}

/* Which model fits is part of some known findings of these engines, and takes time. */
static bool needs_models(const pf_settings *s)
{
  const pf_options *o = &s->session.options;
  bool needs = false;
  for (size_t i = 0; i < s->known.count; i++)
    for (int e = 0; e < o->engine_count && s->known.entry[i].model; e++)
      needs |= !strcmp(s->known.entry[i].engine, o->engine[e]->name);
  return needs;
}

void pf_minimize_renew(const pf_settings *s)
{
  for (int i = 0; i < s->session.options.plugin_count; i++)
    pf_plugin_renew(s->session.options.plugin[i]);
}

/* Libraries get as many tries as it may take. */
static int find(pf_minimize_job *job, const pf_case *what, pf_minimized_file *out, pf_sight *sight)
{
  pf_session *s = &job->settings->session;
  pf_choice c = {.job = job, .out = out, .sight = sight};
  int tries = 1;
  for (int i = 0; i < s->options.engine_count; i++)
    if (s->options.engine[i]->foreign)
      tries = PF_TRIES;
  s->options.no_models = !needs_models(job->settings);
  while (sight->tries < tries && !sight->found && !pf_interrupted()) {
    if (pf_session_examine(s, what, choose, &c) || c.status)
      return out_of_memory();
    sight->tries++;
  }
  if (sight->found)
    s->options = c.options;
  return PF_EXIT_CLEAN;
}

/* Has a simpler case lost the fault?  It has where what it shows is known, by another kernel say;
   and with K = 0, which libraries treat apart, where there were terms to be summed. */
typedef struct pf_kept {
  const pf_settings *settings;
  const pf_minimized_file *of;
} pf_kept;

static bool is_kept(void *user, const pf_result *r)
{
  const pf_kept *kept = user;
  const bool is_value = r->verdict == PF_VERDICT_IMPOSSIBLE || r->verdict == PF_VERDICT_SPECIAL;
  if (kept->of->foreign && kept->of->sums && is_value && !r->problem->shape.k)
    return false;
  return kept->of->known || !pf_settings_know(kept->settings, r);
}

/* --- how often ----------------------------------------------------------------------------- */

static bool late(const pf_minimize_job *job)
{
  const bool limited = job->seconds > 0;
  return pf_interrupted() || (limited && pf_progress_seconds(&job->progress) >= job->seconds);
}

/* A hang takes its whole time each time. */
static bool enough(const pf_minimize_job *job, double begin, int tries)
{
  const double used = pf_progress_seconds(&job->progress) - begin;
  return tries && (pf_interrupted() || (used > MOST_SECONDS && (tries >= FEWEST || late(job))));
}

static int count_shown(const pf_minimize_job *job, const pf_minimized_file *out, const pf_case *c,
                       pf_shown *shown)
{
  pf_kept kept = {job->settings, out};
  const pf_finding_filter filter = {is_kept, &kept};
  const double begin = pf_progress_seconds(&job->progress);
  const int most = out->foreign ? PF_TRIES : 1;  /* ours are the same every time */
  *shown = (pf_shown){0};
  while (shown->tries < most && !enough(job, begin, shown->tries)) {
    bool yes;
    if (pf_finding_look(&job->settings->session, c, &out->finding, &filter, &yes))
      return out_of_memory();
    shown->times += yes;
    shown->tries++;
  }
  return PF_EXIT_CLEAN;
}

int pf_minimize_look(pf_minimize_job *job, const pf_case *c, pf_minimized_file *out,
                     pf_sight *sight)
{
  *out = (pf_minimized_file){0};
  *sight = (pf_sight){0};
  pf_minimize_renew(job->settings);
  const int code = find(job, c, out, sight);
  return code || !sight->found ? code : count_shown(job, out, c, &out->before);
}

/* So many that a candidate which shows the finding as often as the file does is taken but for one
   time in a hundred. */
static int tries_for(const pf_shown *s)
{
  if (s->times == s->tries)
    return 1;
  const double missed = 1 - (double)(s->times ? s->times : 1) / (s->tries + 1);
  return (int)ceil(log(0.01) / log(missed));
}

/* --- on the way ---------------------------------------------------------------------------- */

typedef struct pf_way {
  pf_minimize_job *job;
  double written;        /* when, seconds since the start */
  bool pending;          /* the best case is not in the file yet */
  bool full;             /* the file could not be written */
  bool anew;             /* new processes for each candidate */
} pf_way;

static bool stop(void *user, const pf_minimized *now)
{
  pf_way *w = user;
  pf_minimize_job *job = w->job;
  if (pf_progress_due(&job->progress))
    fprintf(stderr, "%" PRIu64 " elements, %" PRIu64 " of %" PRIu64 " candidates taken, pass %"
            PRIu64 ": %s", now->burden.part[PF_BURDEN_ELEMENTS], now->taken, now->candidates,
            now->passes + 1, now->reduction);
  if (w->anew)
    pf_minimize_renew(job->settings);
  return late(job);
}

/* A disk that is full now may have room at the end: the search goes on, and the file keeps what it
   has. */
static void better(void *user, const pf_minimized *now)
{
  pf_way *w = user;
  const double seconds = pf_progress_seconds(&w->job->progress);
  w->pending = true;
  if (seconds - w->written < write_interval || w->full)
    return;
  w->written = seconds;
  pf_progress_clear(&w->job->progress);
  w->full = pf_cli_write(w->job->output, now->data, now->size) != PF_EXIT_CLEAN;
  w->pending = w->full;
}

static int minimize(pf_minimize_job *job, const uint8_t *data, size_t size, pf_arena *keep,
                    pf_minimized_file *out)
{
  pf_way way = {.job = job, .anew = out->anew};
  pf_kept kept = {job->settings, out};
  const pf_finding_filter filter = {is_kept, &kept};
  const pf_minimize how = {.session = &job->settings->session, .finding = &out->finding,
                           .filter = &filter,
                           .tries = tries_for(&out->before), .stop = stop, .better = better,
                           .user = &way};
  const pf_status status = pf_minimize_case(&how, data, size, keep, &out->now);
  pf_progress_clear(&job->progress);
  out->seconds = pf_progress_seconds(&job->progress);
  if (!out->now.data)
    return out_of_memory();
  const int code = way.pending ? pf_cli_write(job->output, out->now.data, out->now.size)
                               : PF_EXIT_CLEAN;
  return status ? pf_cli_worse(code, out_of_memory()) : code;
}

/* Reads what was written, as anyone will, in a process that has seen nothing else. */
static int look_again(pf_minimize_job *job, pf_minimized_file *out)
{
  const pf_status status = pf_archive_decode(out->now.data, out->now.size,
                                             &job->settings->session.cases, &out->best, NULL);
  pf_minimize_renew(job->settings);
  return status ? out_of_memory() : count_shown(job, out, &out->best, &out->after);
}

/* A case that shows nothing by itself owes what it showed to those before it: then once more, from
   the file's, with a new process for each. */
static int minimize_by_itself(pf_minimize_job *job, const uint8_t *data, size_t size, pf_arena *keep,
                              pf_minimized_file *out)
{
  int code = minimize(job, data, size, keep, out);
  if (out->now.data)
    code = pf_cli_worse(code, look_again(job, out));
  if (code || out->after.times || !out->foreign || pf_interrupted())
    return code;
  out->anew = true;
  code = pf_cli_write(job->output, data, size);
  if (!code)
    code = minimize(job, data, size, keep, out);
  return out->now.data ? pf_cli_worse(code, look_again(job, out)) : code;
}

int pf_minimize_file(pf_minimize_job *job, const pf_case_file *file, pf_arena *keep,
                     pf_minimized_file *out)
{
  uint8_t *data;
  size_t size;
  pf_error e = {0};
  pf_sight sight;
  pf_progress_start(&job->progress);
  int code = pf_minimize_look(job, &file->what, out, &sight);
  if (!code && !sight.found)
    code = nothing_found(job, &sight, file);
  if (code)
    return code;
  const pf_status status =
      pf_archive_encode(&file->what, &job->settings->session.cases, &data, &size, &e);
  if (status)
    return pf_cli_report(status, &e, false, file->file.name);
  code = pf_cli_write(job->output, data, size);
  if (code)
    return code;
  return minimize_by_itself(job, data, size, keep, out);
}
