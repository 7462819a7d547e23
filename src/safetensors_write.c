/* The safetensors writer. */
#include "safetensors.h"

#include <endian.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "safetensors_parts.h"

typedef struct writer {
  const pf_tensor_entry *entry;
  size_t count;
  pf_error *error;
} writer;

typedef struct placed {
  const pf_tensor_entry *tensor;
  const pf_safetensors_dtype *dtype;
} placed;

static pf_status no_memory(const writer *w)
{
  return pf_fail(w->error, PF_NO_MEMORY, 0, "safetensors: not enough memory for the header");
}

/* jansson gives NULL for texts that are not UTF-8, and where memory is short. */
static pf_status text_failure(const writer *w, const char *text)
{
  if (errno == ENOMEM)
    return no_memory(w);
  return pf_fail(w->error, PF_BAD_INPUT, 0, "safetensors: '%s' is not UTF-8",
                 pf_quote(text, strlen(text)).text);
}

static const pf_safetensors_dtype *find_dtype(const pf_tensor_entry *t)
{
  const char *own = t->has_dtype ? pf_dtype_of(t->dtype)->name : NULL;
  for (const pf_safetensors_dtype *d = pf_safetensors_dtypes; d->name != NULL; d++)
    if (own != NULL ? d->own != NULL && strcmp(d->own, own) == 0
                    : strcmp(d->name, t->dtype_name) == 0)
      return d;
  return NULL;
}

static pf_status check_tensor(const writer *w, const pf_tensor_entry *t, placed *out)
{
  const pf_quoted name = pf_quote(t->name, strlen(t->name));
  pf_tensor_entry whole;
  *out = (placed){t, find_dtype(t)};
  if (out->dtype == NULL)
    return pf_fail(w->error, PF_UNSUPPORTED, 0, "safetensors: tensor '%s': no dtype for '%s'",
                   name.text, t->dtype_name);
  if (!pf_tensor_set_shape(&whole, out->dtype->bits, t->rank, t->dim) || whole.bytes != t->bytes)
    return pf_fail(w->error, PF_BAD_INPUT, 0, "safetensors: tensor '%s': impossible shape",
                   name.text);
  if (!pf_tensor_is_c_order(t))
    return pf_fail(w->error, PF_BAD_INPUT, 0, "safetensors: tensor '%s' is not in C order",
                   name.text);
  if (strcmp(t->name, PF_SAFETENSORS_METADATA) == 0)
    return pf_fail(w->error, PF_BAD_INPUT, 0, "safetensors: no tensor can be called '%s'",
                   name.text);
  return PF_OK;
}

static int widest_first(const void *a, const void *b)
{
  const placed *x = a, *y = b;
  if (x->dtype != y->dtype)
    return x->dtype > y->dtype ? -1 : 1;
  return strcmp(x->tensor->name, y->tensor->name);
}

static pf_status add_metadata(const writer *w, json_t *header, const pf_metadata *metadata,
                              size_t count)
{
  json_t *object = json_object();
  if (json_object_set_new(header, PF_SAFETENSORS_METADATA, object) != 0)
    return no_memory(w);
  for (size_t i = 0; i < count; i++) {
    if (json_object_get(object, metadata[i].key) != NULL)
      return pf_fail(w->error, PF_BAD_INPUT, 0, "safetensors: metadata '%s' twice",
                     pf_quote(metadata[i].key, strlen(metadata[i].key)).text);
    errno = 0;
    json_t *value = json_string(metadata[i].value);
    if (value == NULL)
      return text_failure(w, metadata[i].value);
    if (json_object_set_new(object, metadata[i].key, value) != 0)
      return text_failure(w, metadata[i].key);
  }
  return PF_OK;
}

static pf_status add_tensor(const writer *w, json_t *header, const placed *p, size_t *end)
{
  const pf_tensor_entry *t = p->tensor;
  if (json_object_get(header, t->name) != NULL)
    return pf_fail(w->error, PF_BAD_INPUT, 0, "safetensors: tensor '%s' twice",
                   pf_quote(t->name, strlen(t->name)).text);
  json_t *shape = json_array();
  for (int d = 0; d < t->rank; d++)
    if (json_array_append_new(shape, json_integer(t->dim[d])) != 0) {
      json_decref(shape);
      return no_memory(w);
    }
  if (__builtin_add_overflow(*end, t->bytes, end) || *end > INT64_MAX) {
    json_decref(shape);
    return pf_fail(w->error, PF_BAD_INPUT, 0, "safetensors: too many bytes for one file");
  }
  json_t *description = json_pack("{s:s, s:o, s:[I, I]}", "dtype", p->dtype->name, "shape", shape,
                                  "data_offsets", (json_int_t)(*end - t->bytes),
                                  (json_int_t)*end);
  if (description == NULL)
    return no_memory(w);
  errno = 0;
  return json_object_set_new(header, t->name, description) == 0 ? PF_OK
                                                               : text_failure(w, t->name);
}

static pf_status build_header(const writer *w, const placed *order, const pf_metadata *metadata,
                              size_t metadata_count, char **text)
{
  json_t *header = json_object();
  size_t end = 0;
  pf_status status = header != NULL ? PF_OK : no_memory(w);
  if (status == PF_OK && metadata_count != 0)
    status = add_metadata(w, header, metadata, metadata_count);
  for (size_t i = 0; i < w->count && status == PF_OK; i++)
    status = add_tensor(w, header, &order[i], &end);
  if (status == PF_OK) {
    *text = json_dumps(header, JSON_COMPACT);
    if (*text == NULL)
      status = no_memory(w);
  }
  json_decref(header);
  return status;
}

static pf_status write_file(const writer *w, const char *path, const char *header,
                            const placed *order, pf_bytes *piece)
{
  const size_t length = strlen(header);
  const size_t padding = (8 - length % 8) % 8;
  const uint64_t field = htole64(length + padding);
  if (length + padding > PF_SAFETENSORS_HEADER_MAX)
    return pf_fail(w->error, PF_BAD_INPUT, 0,
                   "safetensors: a header of %zu bytes is above the format's limit", length);
  piece[0] = (pf_bytes){&field, sizeof field};
  piece[1] = (pf_bytes){header, length};
  piece[2] = (pf_bytes){"       ", padding};
  for (size_t i = 0; i < w->count; i++)
    piece[3 + i] = (pf_bytes){order[i].tensor->data, order[i].tensor->bytes};
  return pf_file_write(path, piece, 3 + w->count, w->error);
}

pf_status pf_safetensors_write(const char *path, const pf_tensor_entry *entry, size_t count,
                               const pf_metadata *metadata, size_t metadata_count, pf_error *e)
{
  const writer w = {entry, count, e};
  pf_arena memory = {0};
  placed *order = pf_alloc_array(&memory, count, sizeof *order);
  pf_bytes *piece = pf_alloc_array(&memory, count + 3, sizeof *piece);
  char *header = NULL;
  pf_status status = order != NULL && piece != NULL ? PF_OK : no_memory(&w);
  for (size_t i = 0; i < count && status == PF_OK; i++)
    status = check_tensor(&w, &entry[i], &order[i]);
  if (status == PF_OK) {
    qsort(order, count, sizeof *order, widest_first);
    status = build_header(&w, order, metadata, metadata_count, &header);
  }
  if (status == PF_OK)
    status = write_file(&w, path, header, order, piece);
  free(header);
  pf_arena_free(&memory);
  return status;
}
