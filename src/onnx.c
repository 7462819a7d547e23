/* The ONNX reader.

   The claim for strangers' files: a parsed file's tensors with data lie inside the file, or were
   copied out of it; each has the bytes that its type and shape need; names are unique and UTF-8;
   paths of data elsewhere stay below the model's folder. */
#include "onnx.h"

#include <string.h>

#include "onnx_parts.h"

enum {
  GRAPH = 7,             /* field of ModelProto */
  INITIALIZER = 5,       /* field of GraphProto */
  MAX_TENSORS = 1 << 18  /* entries of 240 bytes, whatever little the file has of each */
};

bool pf_onnx_is(const void *data, size_t size)
{
  const uint8_t *bytes = data;
  return size >= 2 && bytes[0] == 0x08 && bytes[1] > 0 && bytes[1] < 0x80;
}

static pf_status find_graph(pf_wire_walk w, pf_wire_walk *graph)
{
  pf_wire_field f;
  bool more, found = false;
  for (;;) {
    PF_TRY(pf_wire_next(&w, &f, &more));
    if (!more)
      break;
    if (f.number != GRAPH)
      continue;
    if (found)
      return pf_fail(w.error, PF_UNSUPPORTED, f.start, "onnx: a second graph");
    found = true;
    PF_TRY(pf_wire_enter(&w, &f, graph));
  }
  return found ? PF_OK : pf_fail(w.error, PF_BAD_INPUT, w.end, "onnx: no graph");
}

static pf_status count_tensors(pf_wire_walk w, size_t *count)
{
  pf_wire_field f;
  bool more;
  *count = 0;
  for (;;) {
    PF_TRY(pf_wire_next(&w, &f, &more));
    if (!more)
      return PF_OK;
    if (f.number == INITIALIZER && ++*count > MAX_TENSORS)
      return pf_fail(w.error, PF_UNSUPPORTED, f.start, "onnx: more than %d initializers",
                     MAX_TENSORS);
  }
}

static pf_status read_tensors(pf_onnx *o, pf_wire_walk w, pf_tensor_entry *entry, size_t *place)
{
  pf_wire_walk tensor;
  pf_wire_field f;
  bool more;
  for (;;) {
    PF_TRY(pf_wire_next(&w, &f, &more));
    if (!more)
      return PF_OK;
    if (f.number != INITIALIZER)
      continue;
    const size_t i = o->file.count;
    pf_onnx_external *external = &o->external[o->external_count];
    *external = (pf_onnx_external){.entry = i};
    place[i] = f.start;
    PF_TRY(pf_wire_enter(&w, &f, &tensor));
    PF_TRY(pf_onnx_tensor(o, tensor, &entry[i], external, w.error));
    o->external_count += external->location != NULL;
    o->file.count++;
  }
}

static pf_status read_model(pf_onnx *o, pf_error *e)
{
  pf_tensor_file *f = &o->file;
  const pf_wire_walk all = {.data = f->data, .end = f->size, .error = e};
  pf_wire_walk graph;
  size_t count;
  PF_TRY(find_graph(all, &graph));
  PF_TRY(count_tensors(graph, &count));
  pf_tensor_entry *entry = pf_alloc_array(&f->memory, count, sizeof *entry);
  size_t *place = pf_alloc_array(&f->memory, count, sizeof *place);
  o->external = pf_alloc_array(&f->memory, count + 1, sizeof *o->external);
  if (entry == NULL || place == NULL || o->external == NULL)
    return pf_fail(e, PF_NO_MEMORY, 0, "onnx: not enough memory for the initializers");
  f->entry = entry;
  PF_TRY(read_tensors(o, graph, entry, place));
  PF_TRY(pf_tensor_index(f, place, e));
  return pf_onnx_find_uses(o, graph, e);
}

pf_status pf_onnx_parse(const void *data, size_t size, pf_onnx *out, pf_error *e)
{
  *out = (pf_onnx){.file = {.format = "onnx", .data = data, .size = size}};
  const pf_status status = read_model(out, e);
  if (status != PF_OK)
    pf_onnx_close(out);
  return status;
}

pf_status pf_onnx_attach(pf_onnx *o, const pf_onnx_external *external, const uint8_t *data,
                         size_t size, pf_error *e)
{
  pf_tensor_entry *t = (pf_tensor_entry *)(uintptr_t)&o->file.entry[external->entry];
  if (external->offset > size || t->bytes > size - (size_t)external->offset)
    return pf_fail(e, PF_BAD_INPUT, (size_t)external->offset,
                   "onnx: tensor '%s': %zu bytes of data in a file of %zu",
                   pf_quote(t->name, strlen(t->name)).text, t->bytes, size);
  t->offset = (size_t)external->offset;
  t->data = data + t->offset;
  return PF_OK;
}

void pf_onnx_close(pf_onnx *o)
{
  pf_tensor_file_close(&o->file);
  *o = (pf_onnx){0};
}
