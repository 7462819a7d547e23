/* What the parts of the ONNX reader share: protobuf's wire format, cut into fields. */
#ifndef PF_ONNX_PARTS_H
#define PF_ONNX_PARTS_H

#include "onnx.h"

/* A walk over the fields of a message.  Fields stay where they are; what is in one is for another
   walk or for protobuf-c to say.  So a model of any size is read in small pieces, with exact offsets,
   and its data are never copied. */
typedef struct pf_wire_walk {
  const uint8_t *data;   /* the file; all places are offsets in it, bytes */
  size_t at, end;
  pf_error *error;
} pf_wire_walk;

typedef enum pf_wire_type { PF_WIRE_VARINT = 0, PF_WIRE_64 = 1, PF_WIRE_BYTES = 2,
                            PF_WIRE_32 = 5 } pf_wire_type;

typedef struct pf_wire_field {
  uint32_t number;
  pf_wire_type type;
  uint64_t value;        /* PF_WIRE_VARINT */
  size_t start;          /* of the field, its tag included */
  size_t at, size;       /* of what it holds */
} pf_wire_field;

/* The next field; *more is false at the message's end.  PF_BAD_INPUT, PF_UNSUPPORTED (groups). */
pf_status pf_wire_next(pf_wire_walk *w, pf_wire_field *f, bool *more);
pf_status pf_wire_varint(pf_wire_walk *w, uint64_t *out);
/* Over what a field of PF_WIRE_BYTES holds; PF_BAD_INPUT for others. */
pf_status pf_wire_enter(const pf_wire_walk *w, const pf_wire_field *f, pf_wire_walk *out);

/* The entry of a TensorProto, and where its data are if elsewhere (*external, location NULL if not).
   t->name is set first, for errors. */
pf_status pf_onnx_tensor(pf_onnx *o, pf_wire_walk w, pf_tensor_entry *t,
                         pf_onnx_external *external, pf_error *e);

/* Fills use[] from the graph's nodes; the entries are there and indexed. */
pf_status pf_onnx_find_uses(pf_onnx *o, pf_wire_walk graph, pf_error *e);

#endif
