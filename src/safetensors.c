/* The safetensors reader.

   The claim for strangers' files: a parsed file's tensors lie inside the file, side by side, and
   cover everything behind the header; each has the bytes that its dtype and shape need; names are
   unique, UTF-8 and free of NUL.  The header is cut into members and jansson parses one at a time:
   parsed as a whole, 100 MB of "[],[]," would take gigabytes. */
#include "safetensors.h"

#include <endian.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "safetensors_parts.h"

/* Eight dims and two offsets of 19 digits need about 250 bytes. */
#define DESCRIPTION_MAX ((size_t)4096)

const pf_safetensors_dtype pf_safetensors_dtypes[] = {
  {"BOOL", 8, NULL},         {"F4", 4, NULL},
  {"F6_E2M3", 6, NULL},      {"F6_E3M2", 6, NULL},
  {"U8", 8, "u8"},           {"I8", 8, "s8"},
  {"F8_E5M2", 8, "f8_e5m2"}, {"F8_E4M3", 8, "f8_e4m3fn"},
  {"F8_E8M0", 8, NULL},      {"F8_E4M3FNUZ", 8, "f8_e4m3fnuz"},
  {"F8_E5M2FNUZ", 8, "f8_e5m2fnuz"},
  {"I16", 16, NULL},         {"U16", 16, NULL},
  {"F16", 16, "f16"},        {"BF16", 16, "bf16"},
  {"I32", 32, "s32"},        {"U32", 32, NULL},
  {"F32", 32, "f32"},        {"C64", 64, NULL},
  {"F64", 64, "f64"},        {"I64", 64, NULL},
  {"U64", 64, NULL},         {NULL, 0, NULL},
};

typedef struct parser {
  pf_tensor_file *file;
  size_t header_end;     /* where the data begin */
  pf_tensor_entry *entry;
  size_t *declared;      /* offset of each entry's name */
  char *text;            /* free part of the pool for texts */
  bool has_metadata;
  pf_error *error;
} parser;

static pf_status no_memory(pf_error *e)
{
  return pf_fail(e, PF_NO_MEMORY, 0, "safetensors: not enough memory for the header");
}

/* A decoded text is never longer than its JSON, quotes included, with the NUL that ends it. */
static pf_status parse_json(const parser *p, pf_json_span s, const char *what, json_t **out)
{
  json_error_t why;
  *out = json_loadb((const char *)p->file->data + s.at, s.size,
                    JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &why);
  if (*out != NULL)
    return PF_OK;
  if (json_error_code(&why) == json_error_out_of_memory)
    return no_memory(p->error);
  for (char *c = why.text; *c != '\0'; c++) /* jansson quotes the file */
    *c = *c >= ' ' && *c <= '~' ? *c : '?';
  const size_t at = why.position > 0 ? (size_t)why.position : 0;
  return pf_fail(p->error, PF_BAD_INPUT, s.at + (at < s.size ? at : s.size),
                 "safetensors: header: %s: %s", what, why.text);
}

/* The string in the span, kept in the pool. */
static pf_status parse_text(parser *p, pf_json_span s, const char *what, const char **out)
{
  json_t *value;
  if (p->file->data[s.at] != '"')
    return pf_fail(p->error, PF_BAD_INPUT, s.at, "safetensors: header: %s is not a string", what);
  const pf_status status = parse_json(p, s, what, &value);
  if (status != PF_OK)
    return status;
  const size_t length = json_string_length(value);
  memcpy(p->text, json_string_value(value), length + 1);
  *out = p->text;
  p->text += length + 1;
  json_decref(value);
  return PF_OK;
}

static pf_status bad_tensor(const parser *p, const pf_tensor_entry *t, size_t at, const char *why)
{
  return pf_fail(p->error, PF_BAD_INPUT, at, "safetensors: tensor '%s': %s",
                 pf_quote(t->name, strlen(t->name)).text, why);
}

static pf_status set_dtype(const parser *p, pf_tensor_entry *t, size_t at, const json_t *name,
                           int *bits)
{
  const pf_safetensors_dtype *d = pf_safetensors_dtypes;
  *bits = 0;
  if (!json_is_string(name))
    return bad_tensor(p, t, at, "dtype is not a string");
  while (d->name != NULL && strcmp(d->name, json_string_value(name)) != 0)
    d++;
  if (d->name == NULL)
    return pf_fail(p->error, PF_UNSUPPORTED, at, "safetensors: tensor '%s': unknown dtype '%s'",
                   pf_quote(t->name, strlen(t->name)).text,
                   pf_quote(json_string_value(name), json_string_length(name)).text);
  t->dtype_name = d->name;
  t->has_dtype = d->own != NULL && pf_dtype_find(d->own, strlen(d->own), &t->dtype);
  *bits = d->bits;
  return PF_OK;
}

/* An array of between least and most integers, none negative. */
static pf_status read_integers(const parser *p, const pf_tensor_entry *t, size_t at,
                               const json_t *array, size_t least, size_t most, int64_t *to)
{
  if (!json_is_array(array))
    return bad_tensor(p, t, at, "shape and data_offsets must be arrays");
  const size_t count = json_array_size(array);
  if (count < least || count > most)
    return pf_fail(p->error, least == most ? PF_BAD_INPUT : PF_UNSUPPORTED, at,
                   "safetensors: tensor '%s': %s of %zu numbers, not %zu to %zu",
                   pf_quote(t->name, strlen(t->name)).text,
                   least == most ? "data_offsets" : "shape", count, least, most);
  for (size_t i = 0; i < count; i++) {
    const json_t *number = json_array_get(array, i);
    if (!json_is_integer(number))
      return bad_tensor(p, t, at, "shape and data_offsets must hold integers");
    to[i] = json_integer_value(number);
  }
  return PF_OK;
}

static pf_status set_place(const parser *p, pf_tensor_entry *t, size_t at, const int64_t *offsets)
{
  const size_t room = p->file->size - p->header_end;
  if (offsets[0] > offsets[1])
    return bad_tensor(p, t, at, "data_offsets end before they begin");
  if ((uint64_t)offsets[1] > room)
    return bad_tensor(p, t, at, "data_offsets run past the end of the file");
  if ((uint64_t)(offsets[1] - offsets[0]) != t->bytes)
    return pf_fail(p->error, PF_BAD_INPUT, at,
                   "safetensors: tensor '%s': data_offsets of %zu bytes, dtype and shape need %zu",
                   pf_quote(t->name, strlen(t->name)).text,
                   (size_t)(offsets[1] - offsets[0]), t->bytes);
  t->offset = p->header_end + (size_t)offsets[0];
  t->data = p->file->data + t->offset;
  return PF_OK;
}

static pf_status read_description(const parser *p, pf_tensor_entry *t, size_t at,
                                  const json_t *description)
{
  const json_t *dtype = json_object_get(description, "dtype");
  const json_t *shape = json_object_get(description, "shape");
  const json_t *offsets = json_object_get(description, "data_offsets");
  if (dtype == NULL || shape == NULL || offsets == NULL || json_object_size(description) != 3)
    return bad_tensor(p, t, at, "must have dtype, shape and data_offsets, and nothing else");
  int64_t dim[PF_TENSOR_MAX_RANK], place[2];
  int bits;
  pf_status status = set_dtype(p, t, at, dtype, &bits);
  if (status == PF_OK)
    status = read_integers(p, t, at, shape, 0, PF_TENSOR_MAX_RANK, dim);
  if (status == PF_OK)
    status = read_integers(p, t, at, offsets, 2, 2, place);
  if (status != PF_OK)
    return status;
  if (!pf_tensor_set_shape(t, bits, (int)json_array_size(shape), dim))
    return bad_tensor(p, t, at, "shape too large, or not of whole bytes");
  return set_place(p, t, at, place);
}

static pf_status read_tensor(parser *p, const pf_json_member *m, const char *name)
{
  const size_t i = p->file->count++;
  pf_tensor_entry *t = &p->entry[i];
  t->name = name;
  p->declared[i] = m->key.at;
  if (p->file->data[m->value.at] != '{')
    return bad_tensor(p, t, m->value.at, "is not described by an object");
  if (m->value.size > DESCRIPTION_MAX)
    return bad_tensor(p, t, m->value.at, "a description that long cannot be right");
  json_t *description;
  pf_status status = parse_json(p, m->value, "tensor", &description);
  if (status == PF_OK) {
    status = read_description(p, t, m->value.at, description);
    json_decref(description);
  }
  return status;
}

static int by_key(const void *a, const void *b)
{
  return strcmp(((const pf_metadata *)a)->key, ((const pf_metadata *)b)->key);
}

static pf_status read_metadata(parser *p, pf_json_span s)
{
  pf_json_walk w = {.data = p->file->data, .at = s.at, .end = s.at + s.size, .error = p->error};
  size_t count, done = 0;
  if (p->has_metadata)
    return pf_fail(p->error, PF_BAD_INPUT, s.at, "safetensors: __metadata__ occurs twice");
  p->has_metadata = true;
  pf_status status = pf_json_count(w, &count);
  if (status != PF_OK)
    return status;
  pf_metadata *to = pf_alloc_array(&p->file->memory, count, sizeof *to);
  if (to == NULL)
    return no_memory(p->error);
  pf_json_member m;
  bool more;
  while ((status = pf_json_next(&w, &m, &more)) == PF_OK && more) {
    status = parse_text(p, m.key, "a key of __metadata__", &to[done].key);
    if (status == PF_OK)
      status = parse_text(p, m.value, "a value of __metadata__", &to[done++].value);
    if (status != PF_OK)
      return status;
  }
  qsort(to, count, sizeof *to, by_key);
  for (size_t i = 1; i < count; i++)
    if (strcmp(to[i - 1].key, to[i].key) == 0)
      return pf_fail(p->error, PF_BAD_INPUT, s.at, "safetensors: key '%s' twice in __metadata__",
                     pf_quote(to[i].key, strlen(to[i].key)).text);
  p->file->metadata = to;
  p->file->metadata_count = count;
  return PF_OK;
}

static pf_status read_members(parser *p, pf_json_walk w)
{
  pf_json_member m;
  bool more;
  for (;;) {
    const char *name;
    pf_status status = pf_json_next(&w, &m, &more);
    if (status != PF_OK || !more)
      return status;
    status = parse_text(p, m.key, "a name", &name);
    if (status == PF_OK)
      status = strcmp(name, PF_SAFETENSORS_METADATA) == 0 ? read_metadata(p, m.value)
                                                          : read_tensor(p, &m, name);
    if (status != PF_OK)
      return status;
  }
}

/* Equal names in the order of their declaration. */
static int by_name(const void *a, const void *b, void *entries)
{
  const pf_tensor_entry *entry = entries;
  const size_t i = *(const size_t *)a, j = *(const size_t *)b;
  const int order = strcmp(entry[i].name, entry[j].name);
  return order != 0 ? order : (i > j) - (i < j);
}

/* Empty tensors before the one that begins where they lie. */
static int by_place(const void *a, const void *b, void *entries)
{
  const pf_tensor_entry *x = (const pf_tensor_entry *)entries + *(const size_t *)a;
  const pf_tensor_entry *y = (const pf_tensor_entry *)entries + *(const size_t *)b;
  if (x->offset != y->offset)
    return x->offset < y->offset ? -1 : 1;
  return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static pf_status check_names(const parser *p, size_t *order)
{
  const size_t count = p->file->count;
  for (size_t i = 0; i < count; i++)
    order[i] = i;
  qsort_r(order, count, sizeof *order, by_name, p->entry);
  for (size_t i = 1; i < count; i++)
    if (strcmp(p->entry[order[i - 1]].name, p->entry[order[i]].name) == 0)
      return bad_tensor(p, &p->entry[order[i]], p->declared[order[i]], "the name occurs twice");
  return PF_OK;
}

static pf_status check_places(const parser *p, size_t *order)
{
  const size_t count = p->file->count;
  size_t end = p->header_end;
  for (size_t i = 0; i < count; i++)
    order[i] = i;
  qsort_r(order, count, sizeof *order, by_place, p->entry);
  for (size_t i = 0; i < count; i++) {
    const pf_tensor_entry *t = &p->entry[order[i]];
    if (t->offset != end)
      return bad_tensor(p, t, p->declared[order[i]],
                        t->offset < end ? "its data overlap those of another tensor"
                                        : "a gap before its data");
    end += t->bytes;
  }
  if (end != p->file->size)
    return pf_fail(p->error, PF_BAD_INPUT, end,
                   "safetensors: %zu bytes at the end of the file belong to no tensor",
                   p->file->size - end);
  return PF_OK;
}

static pf_status parse_header(parser *p)
{
  pf_tensor_file *f = p->file;
  const pf_json_walk w = {.data = f->data, .at = PF_SAFETENSORS_LENGTH, .end = p->header_end,
                          .error = p->error};
  const uint8_t *nul = memchr(f->data + w.at, '\0', w.end - w.at);
  size_t members;
  if (nul != NULL) /* jansson overlooks one behind a number */
    return pf_fail(p->error, PF_BAD_INPUT, (size_t)(nul - f->data),
                   "safetensors: header: a NUL byte");
  if (f->data[w.at] != '{')
    return pf_fail(p->error, PF_BAD_INPUT, w.at, "safetensors: the header does not begin with {");
  pf_status status = pf_json_count(w, &members);
  if (status != PF_OK)
    return status;
  p->entry = pf_alloc_array(&f->memory, members, sizeof *p->entry);
  p->declared = pf_alloc_array(&f->memory, members, sizeof *p->declared);
  p->text = pf_alloc_raw(&f->memory, p->header_end);
  size_t *names = pf_alloc_array(&f->memory, members, sizeof *names);
  size_t *places = pf_alloc_array(&f->memory, members, sizeof *places);
  if (p->entry == NULL || p->declared == NULL || p->text == NULL || names == NULL ||
      places == NULL)
    return no_memory(p->error);
  f->entry = p->entry;
  f->by_name = names;
  status = read_members(p, w);
  if (status == PF_OK)
    status = check_names(p, names);
  return status == PF_OK ? check_places(p, places) : status;
}

static pf_status read_length(parser *p)
{
  const pf_tensor_file *f = p->file;
  uint64_t length;
  if (f->size < PF_SAFETENSORS_LENGTH + 2)
    return pf_fail(p->error, PF_BAD_INPUT, 0, "safetensors: a file of %zu bytes is too short",
                   f->size);
  memcpy(&length, f->data, sizeof length);
  length = le64toh(length);
  if (length > PF_SAFETENSORS_HEADER_MAX)
    return pf_fail(p->error, PF_BAD_INPUT, 0,
                   "safetensors: a header of %llu bytes is above the format's limit",
                   (unsigned long long)length);
  if (length < 2 || length > f->size - PF_SAFETENSORS_LENGTH)
    return pf_fail(p->error, PF_BAD_INPUT, 0,
                   "safetensors: a header of %llu bytes in a file of %zu",
                   (unsigned long long)length, f->size);
  p->header_end = PF_SAFETENSORS_LENGTH + (size_t)length;
  return PF_OK;
}

bool pf_safetensors_is(const void *data, size_t size)
{
  const uint8_t *bytes = data;
  uint64_t length;
  if (size < PF_SAFETENSORS_LENGTH + 1)
    return false;
  memcpy(&length, bytes, sizeof length);
  return le64toh(length) <= PF_SAFETENSORS_HEADER_MAX && bytes[PF_SAFETENSORS_LENGTH] == '{';
}

pf_status pf_safetensors_parse(const void *data, size_t size, pf_tensor_file *out, pf_error *e)
{
  *out = (pf_tensor_file){.format = "safetensors", .data = data, .size = size};
  parser p = {.file = out, .error = e};
  pf_status status = read_length(&p);
  if (status == PF_OK)
    status = parse_header(&p);
  if (status != PF_OK)
    pf_tensor_file_close(out);
  return status;
}
