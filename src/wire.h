/* What goes between precfuzz and an engine in another process: frames of a JSON object and bytes.
   docs/engines.md describes the protocol. */
#ifndef PF_WIRE_H
#define PF_WIRE_H

#include <jansson.h>
#include <stdbool.h>

#include <precfuzz/engine.h>

#include "status.h"

enum { PF_WIRE_VERSION = 1 };

/* How sending or receiving ended. */
typedef enum pf_wire {
  PF_WIRE_OK,
  PF_WIRE_CLOSED,   /* the other side is gone */
  PF_WIRE_LATE,     /* not within the time */
  PF_WIRE_GARBAGE,  /* what came is no frame; the error says what it begins with */
  PF_WIRE_FAILED    /* no memory */
} pf_wire;

typedef struct pf_frame {
  json_t *head;      /* an object */
  uint8_t *data;     /* aligned to 64 bytes; grows, and is kept from frame to frame */
  size_t size, capacity;
} pf_frame;

/* milliseconds: for all of the frame; -1: for ever. */
pf_wire pf_wire_send(int fd, const json_t *head, const void *data, size_t size, int milliseconds);
/* Replaces what *f holds. */
pf_wire pf_wire_receive(int fd, pf_frame *f, int milliseconds, pf_error *e);
void pf_frame_free(pf_frame *f);

/* --- hello --------------------------------------------------------------------------------- */

json_t *pf_wire_hello(const pfe_engine *e, const pfe_info *info);
/* types: room for `most`; *count is how many there were.  PF_BAD_INPUT says what is wrong with it. */
pf_status pf_wire_read_hello(const json_t *head, pfe_engine *e, char *name, size_t name_size,
                             pfe_info *info, pfe_types *types, int most, pf_error *error);

/* --- calls --------------------------------------------------------------------------------- */

/* The tensors that a call reads and its output, one behind the other in `data`, aligned as they are
   in memory. */
typedef struct pf_wire_layout {
  size_t at[PFE_STEP + PFE_MAX_STEPS], out;   /* bytes from the start of the data */
  size_t bytes[PFE_STEP + PFE_MAX_STEPS], out_bytes;
  size_t scale_x, scale_y, scale_bytes_x, scale_bytes_y;
  size_t size;
} pf_wire_layout;

/* Bytes from element (0, ..., 0) to the end of the last; 0 for an empty tensor. */
size_t pf_wire_span(const pfe_call *call, const pfe_tensor *t);

void pf_wire_plan(const pfe_call *call, pf_wire_layout *l);
void pf_wire_pack(const pfe_call *call, const pf_wire_layout *l, uint8_t *data);
json_t *pf_wire_call(const pfe_call *call, const pf_wire_layout *l);

/* A call read from a frame: everything points into it and into the frame's data, the output too. */
typedef struct pf_wire_request {
  pfe_call call;
  pfe_step step[PFE_MAX_STEPS];
  pfe_tensor tensor[PFE_STEP + PFE_MAX_STEPS], out;
  char graph[64];
} pf_wire_request;

pf_status pf_wire_read_call(const pf_frame *f, pf_wire_request *to, pf_error *e);

/* --- answers ------------------------------------------------------------------------------- */

/* What a host sees of a call that its engine ran. */
typedef struct pf_wire_seen {
  int control;        /* it left another floating-point environment */
  int input;          /* it changed an operand */
  int outside;        /* it wrote outside its output: stray bytes from the first element */
  int64_t stray;
} pf_wire_seen;

json_t *pf_wire_answer(pfe_status status, const pfe_answer *a, const pfe_settings *known,
                       const pf_wire_seen *seen);
/* a->settings are left as they are where the answer has none. */
pf_status pf_wire_read_answer(const json_t *head, pfe_status *status, pfe_answer *a,
                              pf_wire_seen *seen, pf_error *e);

#endif
