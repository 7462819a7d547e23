/* A process that answers, seen from the side that asks. */
#include "remote.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "remote_child.h"

enum { MOST_TYPES = 1024 };

struct pf_remote {
  pf_remote_how how;
  pf_child child;
  pf_frame frame;
  uint8_t *packed;     /* the data of a call */
  size_t packed_size;
  bool died;
  bool called;         /* since the process began */
  pf_wire_seen seen;
  char said[PF_CHILD_SAID];
  int threads;
  char *argument;      /* as opened; NULL */
  char name[64];
  pfe_types types[MOST_TYPES];
};

pf_remote *pf_remote_new(const pf_remote_how *how)
{
  pf_remote *r = calloc(1, sizeof *r);
  if (!r)
    return NULL;
  r->how = *how;
  r->child = (pf_child){.fd = -1, .said = -1};
  return r;
}

void pf_remote_free(pf_remote *r)
{
  char text[80];
  if (!r)
    return;
  pf_child_end(&r->child, false, text);
  pf_frame_free(&r->frame);
  free(r->packed);
  free(r->argument);
  free(r);
}

/* The process is no more, or no use: says what became of it. */
static pfe_status give_up(pf_remote *r, pf_wire w, const pf_error *e, int milliseconds, char *text,
                          size_t size)
{
  char end[80];
  r->died = w != PF_WIRE_FAILED;
  if (w == PF_WIRE_CLOSED) {
    /* what it had to say is complete when it has ended */
    const int said = r->child.said < 0 ? -1 : dup(r->child.said);
    pf_child_end(&r->child, false, end);
    pf_child_said(&(pf_child){.said = said}, r->said);
    if (said >= 0)
      close(said);
    snprintf(text, size, "%s", end);
    return PFE_ERROR;
  }
  pf_child_said(&r->child, r->said);
  pf_child_end(&r->child, true, end);
  if (w == PF_WIRE_LATE)
    snprintf(text, size, "no answer within %g s", milliseconds / 1e3);
  else
    snprintf(text, size, "%.180s", w == PF_WIRE_GARBAGE ? e->text : "out of memory");
  return PFE_ERROR;
}

/* Sends what is asked and takes the answer into the frame. */
static pf_wire ask(pf_remote *r, const json_t *head, const void *data, size_t size, int milliseconds,
                   pf_error *e)
{
  const pf_wire sent = pf_wire_send(r->child.fd, head, data, size, milliseconds);
  /* one that died while it was sent to may have said why before */
  return sent && sent != PF_WIRE_CLOSED
             ? sent
             : pf_wire_receive(r->child.fd, &r->frame, milliseconds, e);
}

static json_t *greeting(const pf_remote *r)
{
  json_t *head = json_object();
  json_object_set_new(head, "precfuzz", json_integer(PF_WIRE_VERSION));
  json_object_set_new(head, "threads", json_integer(r->threads));
  if (r->argument)
    json_object_set_new(head, "argument", json_string(r->argument));
  return head;
}

static pfe_status take_hello(pf_remote *r, pfe_engine *engine, pfe_info *info, char text[192])
{
  pfe_status status;
  pfe_answer refusal = {.text = ""};
  pf_wire_seen seen;
  pf_error e = {0};
  if (!json_object_get(r->frame.head, "precfuzz") &&
      !pf_wire_read_answer(r->frame.head, &status, &refusal, &seen, NULL) && status) {
    snprintf(text, 192, "%s", refusal.text);
    return status;
  }
  if (!pf_wire_read_hello(r->frame.head, engine, r->name, sizeof r->name, info, r->types,
                          MOST_TYPES, &e)) {
    engine->name = r->name;
    r->seen.control = json_is_true(json_object_get(r->frame.head, "control"));
    return PFE_OK;
  }
  snprintf(text, 192, "its hello: %.170s", e.text);
  return PFE_ERROR;
}

static pfe_status start(pf_remote *r, pfe_engine *engine, pfe_info *info, char text[192])
{
  char end[80];
  pf_error e = {0};
  r->called = false;
  if (pf_child_start(&r->child, &r->how, &e)) {
    pf_child_end(&r->child, true, end);
    snprintf(text, 192, "%.180s", e.text);
    return PFE_ERROR;
  }
  json_t *head = greeting(r);
  const pf_wire w = ask(r, head, NULL, 0, r->how.open_milliseconds, &e);
  json_decref(head);
  if (w)
    return give_up(r, w, &e, r->how.open_milliseconds, text, 192);
  const pfe_status status = take_hello(r, engine, info, text);
  if (status)
    pf_child_end(&r->child, false, end);
  return status;
}

pfe_status pf_remote_open(pf_remote *r, const pfe_request *request, pfe_engine *e, pfe_info *info,
                          char text[192], bool *died)
{
  r->threads = request->threads;
  r->argument = request->argument ? strdup(request->argument) : NULL;
  *e = (pfe_engine){.version = PFE_VERSION, .size = sizeof *e};
  const pfe_status status = start(r, e, info, text);
  *died = r->died;
  return status;
}

/* After a death, or in a fork of the process that opened it. */
static pfe_status start_again(pf_remote *r, pfe_answer *answer)
{
  char end[80];
  pfe_engine engine = {0};
  pfe_info info = {.settings = {.accumulator = PFE_NONE}};
  if (r->child.fd >= 0 && r->child.owner == getpid())
    return PFE_OK;
  pf_child_end(&r->child, false, end);
  const pfe_status status = start(r, &engine, &info, answer->text);
  return status ? PFE_ERROR : PFE_OK;
}

static uint8_t *pack(pf_remote *r, const pfe_call *call, const pf_wire_layout *l)
{
  if (!r->packed || r->packed_size < l->size) {
    free(r->packed);
    r->packed_size = l->size + 4096;
    r->packed = malloc(r->packed_size);
  }
  if (r->packed)
    pf_wire_pack(call, l, r->packed);
  return r->packed;
}

/* Checks the answer in the frame and puts the result where it belongs. */
static pfe_status take_result(pf_remote *r, const pfe_call *call, const pf_wire_layout *l,
                              pfe_answer *answer)
{
  pf_error e = {0};
  pfe_status status;
  pf_status read = pf_wire_read_answer(r->frame.head, &status, answer, &r->seen, &e);
  if (!read && status == PFE_OK && r->frame.size != l->out_bytes)
    read = pf_fail(&e, PF_BAD_INPUT, 0, "its result has %zu bytes, %zu expected", r->frame.size,
                   l->out_bytes);
  if (read)
    return give_up(r, PF_WIRE_GARBAGE, &e, 0, answer->text, sizeof answer->text);
  if (status == PFE_OK && l->out_bytes)
    memcpy(call->out->data, r->frame.data, l->out_bytes);
  return status == PFE_ABSENT ? PFE_ERROR : status;
}

pfe_status pf_remote_run(void *state, const pfe_call *call, pfe_answer *answer)
{
  pf_remote *r = state;
  pf_wire_layout l;
  pf_error e = {0};
  r->died = false;
  r->said[0] = 0;
  r->seen = (pf_wire_seen){0};
  const pfe_status started = start_again(r, answer);
  if (started)
    return started;
  r->called = true;
  pf_child_listen(&r->child);
  pf_wire_plan(call, &l);
  const uint8_t *data = pack(r, call, &l);
  json_t *head = pf_wire_call(call, &l);
  const pf_wire w =
      data && head ? ask(r, head, data, l.size, r->how.call_milliseconds, &e) : PF_WIRE_FAILED;
  json_decref(head);
  if (w)
    return give_up(r, w, &e, r->how.call_milliseconds, answer->text, sizeof answer->text);
  return take_result(r, call, &l, answer);
}

void pf_remote_renew(pf_remote *r)
{
  char end[80];
  if (r->called)
    pf_child_end(&r->child, true, end);
  r->called = false;
}

bool pf_remote_died(const pf_remote *r)
{
  return r->died;
}

const pf_wire_seen *pf_remote_seen(const pf_remote *r)
{
  return &r->seen;
}

const char *pf_remote_said(const pf_remote *r)
{
  return r->said;
}
