/* Opening engines of the public kind, and calling them. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control.h"
#include "engines/engines.h"
#include "plugin_parts.h"

#define COMMAND "exec:"

enum { PATIENCE = 10000, TO_OPEN = 6 };  /* milliseconds for a call; times that to open */

/* --- calls --------------------------------------------------------------------------------- */

static bool takes(const pf_plugin *p, uint32_t flag)
{
  return (p->public->flags & flag) != 0;
}

/* What an engine without PFE_TAKES_STEPS is not asked. */
static const char *not_offered(const pf_plugin *p, pf_public_call *c)
{
  pfe_step *s = c->step;
  if (takes(p, PFE_RUNS_GRAPHS))
    return NULL;
  if (!takes(p, PFE_TAKES_STEPS)) {
    if (c->call.count != 1 || s->kind > PFE_MULSUM)
      return "it runs one MATMUL at a time";
    if (!s->plain)
      return "it takes no step that states an order or rounds in a way of its own";
    s->elementwise = s->kind == PFE_MULSUM;
    s->kind = PFE_MATMUL;
  }
  if (c->call.count == 1 && s->kind <= PFE_MULSUM && p->info.types &&
      !pf_public_types_hold(p->info.types, p->info.types_count, c))
    return "these dtypes are not in its table";
  return NULL;
}

static void take_control_back(const pf_call *call, unsigned control)
{
  if (pf_control_get() == control)
    return;
  pf_control_set(control);
  call->answer->misdeed = PF_CHANGED_FENV;
}

static pf_status supports(const pf_engine *e, const pf_call *call, const char **why)
{
  pf_plugin *p = (pf_plugin *)e->data;
  pf_public_call c;
  pf_public_call_set(call, &c);
  p->answer.text[0] = p->answer.kernel[0] = p->answer.row[0] = 0;
  p->answer.settings = p->info.settings;
  *why = not_offered(p, &c);
  if (*why)
    return PF_UNSUPPORTED;
  if (!p->public->supports)
    return PF_OK;
  const unsigned control = pf_control_get();
  const pfe_status status = p->public->supports(p->state, &c.call, &p->answer);
  take_control_back(call, control);
  p->answer.text[sizeof p->answer.text - 1] = 0;
  *why = p->answer.text[0] ? p->answer.text : "it does not say why";
  return status == PFE_OK ? PF_OK : PF_UNSUPPORTED;
}

/* What is seen of another process. */
static void take_remote(const pf_plugin *p, pf_answer *to)
{
  const pf_wire_seen *seen = pf_remote_seen(p->remote);
  to->said = pf_remote_said(p->remote)[0] ? pf_remote_said(p->remote) : NULL;
  to->stray = seen->stray;
  to->misdeed = pf_remote_died(p->remote) ? PF_DIED
                : seen->outside           ? PF_WROTE_OUTSIDE
                : seen->input             ? PF_CHANGED_INPUT
                : seen->control           ? PF_CHANGED_FENV
                                          : PF_MISDEED_NONE;
}

/* The answer that the engine left, as ours. */
static pf_status take_answer(pf_plugin *p, const pf_call *call, pfe_status status)
{
  pfe_answer *from = &p->answer;
  pf_answer *to = call->answer;
  const char *field = "";
  from->text[sizeof from->text - 1] = 0;
  from->kernel[sizeof from->kernel - 1] = 0;
  from->row[sizeof from->row - 1] = 0;
  to->why = from->text[0] ? from->text : "it does not say why";
  to->kernel = from->kernel[0] ? from->kernel : NULL;
  to->row = from->row[0] ? from->row : NULL;
  to->declared = &p->of_call;
  if (p->remote)
    take_remote(p, to);
  if (status == PFE_OK && !pf_declared_from(&from->settings, &p->of_call, &field)) {
    snprintf(from->text, sizeof from->text, "its answer's settings: %s has no such value", field);
    return PF_ENGINE_ERROR;
  }
  return status == PFE_OK            ? PF_OK
         : status == PFE_UNSUPPORTED ? PF_UNSUPPORTED
                                     : PF_ENGINE_ERROR;
}

static pf_status run(const pf_engine *e, const pf_call *call, pf_arena *scratch)
{
  pf_plugin *p = (pf_plugin *)e->data;
  pf_public_call c;
  (void)scratch;
  pf_public_call_set(call, &c);
  not_offered(p, &c);
  call->answer->as_matmul = call->count == 1 && c.step[0].elementwise;
  p->answer.text[0] = 0;
  const unsigned control = pf_control_get();
  const pfe_status status = p->public->run(p->state, &c.call, &p->answer);
  take_control_back(call, control);
  return take_answer(p, call, status);
}

/* --- opening ------------------------------------------------------------------------------- */

static const pfe_engine *find_adapter(const char *spec, size_t length)
{
  for (const pfe_engine *const *a = pf_adapters; *a; a++)
    if (strlen((*a)->name) == length && !memcmp((*a)->name, spec, length))
      return *a;
  return NULL;
}

static bool is_command(const char *spec)
{
  return !strncmp(spec, COMMAND, strlen(COMMAND));
}

bool pf_plugin_is(const char *spec)
{
  return is_command(spec) || strchr(spec, '/') || find_adapter(spec, strcspn(spec, ":"));
}

size_t pf_plugin_length(const char *list)
{
  return is_command(list) ? strlen(list) : strcspn(list, ",");
}

static pf_status load(pf_plugin *p, const char *path, pf_error *e)
{
  const pfe_engine *(*symbol)(void);
  p->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!p->library)
    return pf_fail(e, access(path, F_OK) ? PF_UNSUPPORTED : PF_BAD_INPUT, 0, "%.200s", dlerror());
  *(void **)&symbol = dlsym(p->library, "precfuzz_engine");
  if (!symbol)
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: has no symbol precfuzz_engine (precfuzz/engine.h)",
                   path);
  p->public = symbol();
  if (!p->public)
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: precfuzz_engine() answers NULL", path);
  return PF_OK;
}

static pf_status check(const pfe_engine *public, const char *spec, pf_error *e)
{
  if (public->version != PFE_VERSION)
    return pf_fail(e, PF_BAD_INPUT, 0,
                   "%s: made for version %u of precfuzz/engine.h, this is version %u", spec,
                   public->version, PFE_VERSION);
  if (public->size != sizeof *public)
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: its pfe_engine has %u bytes, %zu expected", spec,
                   public->size, sizeof *public);
  if (!public->name || !public->name[0] ||
      public->name[strspn(public->name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789_-.")])
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: its name must be letters, digits and \"_-.\"", spec);
  if (public->flags & ~(uint32_t)(PFE_TAKES_STEPS | PFE_RUNS_GRAPHS))
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: its flags 0x%x hold one that does not exist", spec,
                   public->flags);
  return PF_OK;
}

static pf_status check_info(pf_plugin *p, const char *spec, pf_error *e)
{
  const char *field = "";
  p->info.version[sizeof p->info.version - 1] = 0;
  p->info.details[sizeof p->info.details - 1] = 0;
  if (!pf_declared_from(&p->info.settings, &p->declared, &field))
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: its settings: %s has no such value", spec, field);
  if (p->info.types_count < 0 || (p->info.types_count && !p->info.types))
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: its table of dtypes has %d lines", spec,
                   p->info.types_count);
  return PF_OK;
}

static pf_status open_engine(pf_plugin *p, const char *spec, const char *argument,
                             const pf_plugin_options *options, pf_error *e)
{
  char text[sizeof p->answer.text] = "";
  const pfe_request request = {.argument = argument, .threads = options->threads};
  PF_TRY(check(p->public, spec, e));
  if (!p->public->open || !p->public->run)
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: open and run must not be NULL", spec);
  p->info.settings.accumulator = PFE_NONE;
  const pfe_status status = p->public->open(p->public, &request, &p->info, &p->state, text);
  text[sizeof text - 1] = 0;
  p->opened = status == PFE_OK;
  if (p->opened)
    return check_info(p, spec, e);
  return pf_fail(e, status == PFE_ABSENT ? PF_UNSUPPORTED : PF_BAD_INPUT, 0, "%s: %s", spec,
                 text[0] ? text : "open failed and does not say why");
}

/* NAME or PATH, then perhaps ':' and an argument; both stand in *copy. */
static pf_status split(const char *spec, char **copy, char **argument)
{
  *copy = strdup(spec);
  if (!*copy)
    return PF_NO_MEMORY;
  char *colon = strchr(*copy, ':');
  *argument = colon ? colon + 1 : NULL;
  if (colon)
    *colon = 0;
  return PF_OK;
}

static pf_status find(pf_plugin *p, const char *spec, const char *name, pf_error *e)
{
  p->public = find_adapter(name, strlen(name));
  if (p->public)
    return PF_OK;
  if (strchr(name, '/'))
    return load(p, name, e);
  return pf_fail(e, PF_BAD_INPUT, 0, "no engine is called '%s' (precfuzz engines lists them)", spec);
}

static void fill_engine(pf_plugin *p)
{
  const char *name = p->public->name;
  snprintf(p->note, sizeof p->note, "%s", p->public->note ? p->public->note : "");
  snprintf(p->version, sizeof p->version, "%s%s%s%s%s", name, p->info.version[0] ? " " : "",
           p->info.version, p->info.details[0] ? ", " : "", p->info.details);
  p->engine = (pf_engine){
    .name = p->spec, .note = p->note, .version = p->version,
    .release = p->info.version[0] ? p->info.version : NULL,
    .details = p->info.details[0] ? p->info.details : NULL, .sum = p->declared.sum,
    .foreign = true, .as_is = p->options.as_is, .one_step = !takes(p, PFE_TAKES_STEPS),
    .whole_graph = takes(p, PFE_RUNS_GRAPHS), .data = p, .supports = supports, .run = run};
}

static pf_plugin *new_plugin(const char *spec, const pf_plugin_options *options)
{
  pf_plugin *p = calloc(1, sizeof *p);
  if (!p)
    return NULL;
  p->spec = strdup(spec);
  p->options = *options;
  p->options.threads = options->threads ? options->threads : 1;
  p->options.milliseconds = options->milliseconds ? options->milliseconds : PATIENCE;
  if (p->spec)
    return p;
  free(p);
  return NULL;
}

static pf_status finish(pf_plugin *p, pf_status status, pf_plugin **out)
{
  if (status) {
    pf_plugin_close(p);
    return status;
  }
  fill_engine(p);
  *out = p;
  return PF_OK;
}

pf_status pf_plugin_open_here(const char *spec, const pf_plugin_options *options, pf_plugin **out,
                              pf_error *e)
{
  pf_plugin *p = new_plugin(spec, options);
  char *name, *argument;
  if (!p || split(spec, &name, &argument))
    return finish(p, PF_NO_MEMORY, out);
  const unsigned control = pf_control_get();
  pf_status status = find(p, spec, name, e);
  if (!status)
    status = open_engine(p, spec, argument, &p->options, e);
  if (pf_control_get() != control) {
    p->changed_control = true;
    pf_control_set(control);
  }
  free(name);
  return finish(p, status, out);
}

/* What the child of an isolated engine does. */
static int serve(void *user, int fd)
{
  const pf_plugin *p = user;
  return pf_plugin_serve(p->spec, &p->options, fd, fd);
}

/* A process of our own that lives has named the engine in its text. */
static pf_status fail_remote(const pf_plugin *p, pfe_status status, bool died, const char *text,
                             pf_error *e)
{
  const char *said = pf_remote_said(p->remote);
  const pf_status s = status == PFE_ABSENT ? PF_UNSUPPORTED : PF_BAD_INPUT;
  if (!died && !is_command(p->spec))
    return pf_fail(e, s, 0, "%s", text);
  return pf_fail(e, s, 0, "%s: %s%s%s%s", p->spec, died ? "DIED when it was opened: " : "", text,
                 said[0] ? ": " : "", said);
}

static pf_status open_remote(pf_plugin *p, pf_error *e)
{
  char text[sizeof p->answer.text] = "";
  bool died;
  const pf_remote_how how = {
    .command = is_command(p->spec) ? p->spec + strlen(COMMAND) : NULL, .serve = serve, .user = p,
    .open_milliseconds = p->options.milliseconds * TO_OPEN,
    .call_milliseconds = p->options.milliseconds};
  const pfe_request request = {.threads = p->options.threads};
  p->remote = pf_remote_new(&how);
  if (!p->remote)
    return PF_NO_MEMORY;
  p->info.settings.accumulator = PFE_NONE;
  const pfe_status status =
      pf_remote_open(p->remote, &request, &p->of_remote, &p->info, text, &died);
  if (status)
    return fail_remote(p, status, died, text, e);
  p->changed_control = pf_remote_seen(p->remote)->control != 0;
  p->of_remote.run = pf_remote_run;
  p->public = &p->of_remote;
  p->state = p->remote;
  PF_TRY(check(p->public, p->spec, e));
  return check_info(p, p->spec, e);
}

static pf_status open_elsewhere(const char *spec, const pf_plugin_options *options,
                                pf_plugin **out, pf_error *e)
{
  pf_plugin *p = new_plugin(spec, options);
  return finish(p, p ? open_remote(p, e) : PF_NO_MEMORY, out);
}

pf_status pf_plugin_open(const char *spec, const pf_plugin_options *options, pf_plugin **out,
                         pf_error *e)
{
  if (options->isolate || is_command(spec))
    return open_elsewhere(spec, options, out, e);
  pf_plugin *trial;
  PF_TRY(open_elsewhere(spec, options, &trial, e));
  pf_plugin_close(trial);
  return pf_plugin_open_here(spec, options, out, e);
}

void pf_plugin_renew(pf_plugin *p)
{
  if (p->remote)
    pf_remote_renew(p->remote);
}

void pf_plugin_close(pf_plugin *p)
{
  if (!p)
    return;
  if (p->opened && p->public->close)
    p->public->close(p->state);
  if (p->library)
    dlclose(p->library);
  pf_remote_free(p->remote);
  free(p->spec);
  free(p);
}

const pf_engine *pf_plugin_engine(const pf_plugin *p)
{
  return &p->engine;
}

const pf_declared *pf_plugin_declared(const pf_plugin *p)
{
  return &p->declared;
}

const pfe_types *pf_plugin_types(const pf_plugin *p, int *count)
{
  *count = p->info.types ? p->info.types_count : 0;
  return p->info.types;
}

bool pf_plugin_changed_control(const pf_plugin *p)
{
  return p->changed_control;
}
