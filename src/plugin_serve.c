/* The other side of an engine in another process: opens it, and runs what is asked. */
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "plugin_parts.h"

enum { FENCE = 512, ALIGNMENT = 64, PATTERN = 0xa5 };  /* bytes; what they hold */

/* The memory of a call, kept from call to call. */
typedef struct pf_bench {
  pf_plugin *plugin;
  pf_frame frame;
  uint8_t *copy;      /* of the frame's data before the call */
  size_t copy_size;
  uint8_t *fenced;    /* the output, with fences */
  size_t fenced_size;
} pf_bench;

static bool reserve(uint8_t **at, size_t *have, size_t size)
{
  if (*at && *have >= size)
    return true;
  free(*at);
  *have = (size + 4096) / ALIGNMENT * ALIGNMENT;
  *at = aligned_alloc(ALIGNMENT, *have);
  return *at;
}

/* The output in a place of its own, as aligned as it was; c with it where they are one. */
static uint8_t *fence_output(pf_bench *b, pf_wire_request *r, size_t bytes)
{
  uint8_t *from = r->out.data;
  const size_t at = FENCE + (size_t)((uintptr_t)from % ALIGNMENT);
  if (!reserve(&b->fenced, &b->fenced_size, at + bytes + FENCE))
    return NULL;
  memset(b->fenced, PATTERN, at + bytes + FENCE);
  if (bytes)
    memcpy(b->fenced + at, from, bytes);
  r->out.data = b->fenced + at;
  if (r->call.in_place && r->call.tensor[PFE_C])
    r->tensor[PFE_C].data = r->out.data;
  return b->fenced + at;
}

static void look_around(const pf_bench *b, const uint8_t *out, size_t bytes, pf_wire_seen *seen)
{
  const uint8_t *const ends = out + bytes + FENCE;
  for (const uint8_t *p = b->fenced; p < ends && !seen->outside; p++)
    if ((p < out || p >= out + bytes) && *p != PATTERN) {
      seen->outside = 1;
      seen->stray = p - out;
    }
}

static json_t *refuse(const char *key, const char *why)
{
  return json_pack("{s:s}", key, why);
}

static pfe_status call_engine(pf_plugin *p, const pfe_call *call)
{
  p->answer.text[0] = p->answer.kernel[0] = p->answer.row[0] = 0;
  p->answer.settings = p->info.settings;
  const pfe_status able =
      p->public->supports ? p->public->supports(p->state, call, &p->answer) : PFE_OK;
  if (able)
    return PFE_UNSUPPORTED;
  return p->public->run(p->state, call, &p->answer);
}

/* Runs the call in the frame; *out and *size are its result. */
static json_t *run_call(pf_bench *b, const uint8_t **out, size_t *size)
{
  pf_wire_request r = {0};
  pf_error e = {0};
  pf_wire_seen seen = {0};
  *out = NULL;
  *size = 0;
  if (pf_wire_read_call(&b->frame, &r, &e))
    return refuse("error", e.text);
  const size_t bytes = pf_wire_span(&r.call, &r.out);
  uint8_t *result = fence_output(b, &r, bytes);
  if (!result || !reserve(&b->copy, &b->copy_size, b->frame.size))
    return refuse("error", "out of memory");
  if (b->frame.size)
    memcpy(b->copy, b->frame.data, b->frame.size);
  const unsigned control = pf_control_get();
  pfe_status status = call_engine(b->plugin, &r.call);
  seen.control = pf_control_get() != control;
  pf_control_set(control);
  seen.input = b->frame.size && memcmp(b->copy, b->frame.data, b->frame.size);
  look_around(b, result, bytes, &seen);
  if (status == PFE_OK) {
    *out = result;
    *size = bytes;
  } else if (status != PFE_UNSUPPORTED) {
    status = PFE_ERROR;
  }
  pfe_answer *a = &b->plugin->answer;
  a->text[sizeof a->text - 1] = a->kernel[sizeof a->kernel - 1] = a->row[sizeof a->row - 1] = 0;
  return pf_wire_answer(status, a, &b->plugin->info.settings, &seen);
}

static int converse(pf_bench *b, int in, int out)
{
  for (;;) {
    pf_error e = {0};
    const uint8_t *result;
    size_t size;
    const pf_wire w = pf_wire_receive(in, &b->frame, -1, &e);
    if (w)
      return w != PF_WIRE_CLOSED;
    json_t *head = run_call(b, &result, &size);
    const pf_wire sent = pf_wire_send(out, head, result, size, -1);
    json_decref(head);
    if (sent)
      return sent != PF_WIRE_CLOSED;
  }
}

/* The first frame says how to open; the answer says what was opened, or why nothing was. */
static int greet(pf_bench *b, const char *spec, const pf_plugin_options *options, int in, int out)
{
  pf_error e = {0};
  pf_plugin_options here = *options;
  if (pf_wire_receive(in, &b->frame, -1, &e))
    return 1;
  const json_int_t threads = json_integer_value(json_object_get(b->frame.head, "threads"));
  here.threads = threads > 0 && threads <= 1024 ? (int)threads : 1;
  const pf_status status = pf_plugin_open_here(spec, &here, &b->plugin, &e);
  json_t *head = status == PF_OK ? pf_wire_hello(b->plugin->public, &b->plugin->info)
                                 : refuse(status == PF_UNSUPPORTED ? "absent" : "error", e.text);
  if (!status && b->plugin->changed_control)
    json_object_set_new(head, "control", json_true());
  const pf_wire sent = pf_wire_send(out, head, NULL, 0, -1);
  json_decref(head);
  return status || sent;
}

int pf_plugin_serve(const char *spec, const pf_plugin_options *options, int in, int out)
{
  pf_bench b = {0};
  int code = greet(&b, spec, options, in, out);
  if (!code)
    code = converse(&b, in, out);
  pf_plugin_close(b.plugin);
  pf_frame_free(&b.frame);
  free(b.copy);
  free(b.fenced);
  return code;
}
