/* protobuf's wire format: tags, varints, lengths.
   https://protobuf.dev/programming-guides/encoding/ */
#include "onnx_parts.h"

static pf_status bad(const pf_wire_walk *w, size_t at, const char *why)
{
  return pf_fail(w->error, PF_BAD_INPUT, at, "onnx: %s", why);
}

pf_status pf_wire_varint(pf_wire_walk *w, uint64_t *out)
{
  const size_t start = w->at;
  *out = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (w->at == w->end)
      return bad(w, start, "a number without an end");
    const uint8_t byte = w->data[w->at++];
    *out |= (uint64_t)(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0)
      return shift < 63 || byte < 2 ? PF_OK : bad(w, start, "a number of more than 64 bits");
  }
  return bad(w, start, "a number of more than 64 bits");
}

static pf_status skip(pf_wire_walk *w, pf_wire_field *f, uint64_t size)
{
  if (size > w->end - w->at)
    return pf_fail(w->error, PF_BAD_INPUT, f->start,
                   "onnx: field %u of %llu bytes where %zu are left", (unsigned)f->number,
                   (unsigned long long)size, w->end - w->at);
  f->at = w->at;
  f->size = (size_t)size;
  w->at += f->size;
  return PF_OK;
}

pf_status pf_wire_next(pf_wire_walk *w, pf_wire_field *f, bool *more)
{
  uint64_t tag, size;
  *f = (pf_wire_field){.start = w->at};
  *more = w->at < w->end;
  if (!*more)
    return PF_OK;
  PF_TRY(pf_wire_varint(w, &tag));
  if (tag >> 3 == 0 || tag >> 32 != 0)
    return bad(w, f->start, "a field without a number: no ONNX model");
  f->number = (uint32_t)(tag >> 3);
  f->type = (pf_wire_type)(tag & 7);
  switch (tag & 7) {
  case PF_WIRE_VARINT:
    f->at = w->at;
    PF_TRY(pf_wire_varint(w, &f->value));
    f->size = w->at - f->at;
    return PF_OK;
  case PF_WIRE_64: return skip(w, f, 8);
  case PF_WIRE_32: return skip(w, f, 4);
  case PF_WIRE_BYTES:
    PF_TRY(pf_wire_varint(w, &size));
    return skip(w, f, size);
  default:
    return pf_fail(w->error, PF_UNSUPPORTED, f->start, "onnx: field %u is of wire type %u",
                   (unsigned)f->number, (unsigned)(tag & 7));
  }
}

pf_status pf_wire_enter(const pf_wire_walk *w, const pf_wire_field *f, pf_wire_walk *out)
{
  if (f->type != PF_WIRE_BYTES)
    return pf_fail(w->error, PF_BAD_INPUT, f->start, "onnx: field %u is no message",
                   (unsigned)f->number);
  *out = (pf_wire_walk){.data = w->data, .at = f->at, .end = f->at + f->size, .error = w->error};
  return PF_OK;
}
