/* One TensorProto.

   protobuf-c reads the description, cut out of the message; the data, which may be all of the file,
   are found by a walk.  Packed numbers of 32 and 64 bits lie as an array of them would; what
   int32_data hold one a varint is copied. */
#include <onnx.pb-c.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_parts.h"

/* Eight sizes, a name and a path need far less. */
enum { DESCRIPTION_MAX = 1 << 16 };

enum { EXTERNAL = 1 };  /* data_location */

/* Fields of TensorProto. */
enum {
  DIMS = 1, DATA_TYPE = 2, SEGMENT = 3, FLOAT_DATA = 4, INT32_DATA = 5, INT64_DATA = 7, NAME = 8,
  RAW_DATA = 9, DOUBLE_DATA = 10, UINT64_DATA = 11, EXTERNAL_DATA = 13, DATA_LOCATION = 14
};

typedef struct onnx_type {
  const char *name;
  int bits;
  int typed;          /* the field that holds its elements if RAW_DATA does not */
  const char *own;    /* the pf_dtype's name; NULL: we have none */
} onnx_type;

/* By number; bits 0: elements of no size. */
static const onnx_type types[] = {
  {"UNDEFINED", 0, 0, NULL},
  {"FLOAT", 32, FLOAT_DATA, "f32"},
  {"UINT8", 8, INT32_DATA, "u8"},
  {"INT8", 8, INT32_DATA, "s8"},
  {"UINT16", 16, INT32_DATA, NULL},
  {"INT16", 16, INT32_DATA, NULL},
  {"INT32", 32, INT32_DATA, "s32"},
  {"INT64", 64, INT64_DATA, NULL},
  {"STRING", 0, 0, NULL},
  {"BOOL", 8, INT32_DATA, NULL},
  {"FLOAT16", 16, INT32_DATA, "f16"},
  {"DOUBLE", 64, DOUBLE_DATA, "f64"},
  {"UINT32", 32, UINT64_DATA, NULL},
  {"UINT64", 64, UINT64_DATA, NULL},
  {"COMPLEX64", 64, FLOAT_DATA, NULL},
  {"COMPLEX128", 128, DOUBLE_DATA, NULL},
  {"BFLOAT16", 16, INT32_DATA, "bf16"},
  {"FLOAT8E4M3FN", 8, INT32_DATA, "f8_e4m3fn"},
  {"FLOAT8E4M3FNUZ", 8, INT32_DATA, "f8_e4m3fnuz"},
  {"FLOAT8E5M2", 8, INT32_DATA, "f8_e5m2"},
  {"FLOAT8E5M2FNUZ", 8, INT32_DATA, "f8_e5m2fnuz"},
};

typedef struct reader {
  pf_onnx *o;
  pf_wire_walk tensor;    /* the message */
  pf_tensor_entry *t;
  pf_error *error;
  uint8_t *text;          /* its description, without data */
  size_t text_size;
  size_t raw_at, raw_size;
  bool has_raw;
  size_t typed_bytes;     /* of all fields of typed data */
} reader;

static bool is_data(uint32_t field)
{
  return field == FLOAT_DATA || field == INT32_DATA || field == INT64_DATA ||
         field == DOUBLE_DATA || field == UINT64_DATA;
}

static bool is_description(uint32_t field)
{
  return field == DIMS || field == DATA_TYPE || field == NAME || field == EXTERNAL_DATA ||
         field == DATA_LOCATION;
}

static pf_status bad(const reader *r, size_t at, const char *why)
{
  const char *name = r->t->name;
  return pf_fail(r->error, PF_BAD_INPUT, at, "onnx: tensor '%s': %s",
                 pf_quote(name, strlen(name)).text, why);
}

static pf_status no_memory(const reader *r)
{
  return pf_fail(r->error, PF_NO_MEMORY, r->tensor.at, "onnx: not enough memory for a tensor");
}

/* Sorts the fields of the message into description and data. */
static pf_status cut(reader *r)
{
  pf_wire_walk w = r->tensor;
  pf_wire_field f;
  bool more;
  for (;;) {
    PF_TRY(pf_wire_next(&w, &f, &more));
    if (!more)
      return PF_OK;
    if (f.number == SEGMENT)
      return bad(r, f.start, "is cut into segments");
    if (f.number == NAME && f.type == PF_WIRE_BYTES)
      PF_TRY(pf_tensor_text(&r->o->file, f.at, f.size, "a tensor's name", &r->t->name, r->error));
    if (f.number == RAW_DATA && f.type == PF_WIRE_BYTES) {
      r->has_raw = true;
      r->raw_at = f.at;
      r->raw_size = f.size;
    }
    if (is_data(f.number))
      r->typed_bytes += f.size;
    if (!is_description(f.number))
      continue;
    const size_t size = w.at - f.start;
    if (size > DESCRIPTION_MAX - r->text_size)
      return bad(r, f.start, "a description that long cannot be right");
    memcpy(r->text + r->text_size, w.data + f.start, size);
    r->text_size += size;
  }
}

static pf_status set_shape(reader *r, const PfOnnx__Tensor *m, const onnx_type **out)
{
  const size_t at = r->tensor.at;
  const unsigned number = (unsigned)m->data_type;
  if (number >= sizeof types / sizeof types[0])
    return pf_fail(r->error, PF_UNSUPPORTED, at, "onnx: tensor '%s': data_type %d",
                   pf_quote(r->t->name, strlen(r->t->name)).text, m->data_type);
  const onnx_type *type = *out = &types[number];
  if (m->n_dims > PF_TENSOR_MAX_RANK)
    return bad(r, at, "more than 8 dimensions");
  r->t->dtype_name = type->name;
  r->t->has_dtype = type->own != NULL && pf_dtype_find(type->own, strlen(type->own),
                                                       &r->t->dtype);
  if (!pf_tensor_set_shape(r->t, type->bits, (int)m->n_dims, m->dims))
    return bad(r, at, "shape too large, or negative");
  return PF_OK;
}

/* --- data ---------------------------------------------------------------------------------- */

static pf_status wrong_size(const reader *r, size_t at, size_t got)
{
  return pf_fail(r->error, PF_BAD_INPUT, at,
                 "onnx: tensor '%s': %zu bytes of data, type and shape need %zu",
                 pf_quote(r->t->name, strlen(r->t->name)).text, got, r->t->bytes);
}

static void set_data(reader *r, size_t at)
{
  r->t->offset = at;
  r->t->data = r->tensor.data + at;
}

/* The low bytes of a varint; wider fields as they are. */
static pf_status put_number(reader *r, const pf_wire_field *f, uint64_t value, size_t bytes,
                            size_t *done)
{
  if (*done + bytes > r->t->bytes)
    return bad(r, f->start, "more elements than its shape has");
  uint8_t *to = (uint8_t *)(uintptr_t)r->t->data + *done;
  for (size_t i = 0; i < bytes; i++)
    to[i] = (uint8_t)(value >> 8 * i);
  *done += bytes;
  return PF_OK;
}

static pf_status copy_field(reader *r, const pf_wire_field *f, size_t bytes, size_t *done)
{
  pf_wire_walk w;
  if (f->type == PF_WIRE_VARINT)
    return put_number(r, f, f->value, bytes, done);
  if (f->type == PF_WIRE_BYTES && (f->number == FLOAT_DATA || f->number == DOUBLE_DATA)) {
    if (f->size > r->t->bytes - *done)
      return bad(r, f->start, "more elements than its shape has");
    if (f->size > 0)
      memcpy((uint8_t *)(uintptr_t)r->t->data + *done, r->tensor.data + f->at, f->size);
    *done += f->size;
    return PF_OK;
  }
  if (f->type != PF_WIRE_BYTES) { /* one float, not packed */
    uint64_t bits = 0;
    memcpy(&bits, r->tensor.data + f->at, f->size);
    return put_number(r, f, bits, f->size, done);
  }
  PF_TRY(pf_wire_enter(&r->tensor, f, &w));
  while (w.at < w.end) {
    uint64_t value;
    PF_TRY(pf_wire_varint(&w, &value));
    PF_TRY(put_number(r, f, value, bytes, done));
  }
  return PF_OK;
}

/* One packed field of floats is an array of them already. */
static bool is_in_place(const reader *r, const onnx_type *type, pf_wire_field *f)
{
  pf_wire_walk w = r->tensor;
  bool more, found = false;
  while (!found && pf_wire_next(&w, f, &more) == PF_OK && more)
    found = f->number == (uint32_t)type->typed;
  return found && (type->typed == FLOAT_DATA || type->typed == DOUBLE_DATA) &&
         f->type == PF_WIRE_BYTES && f->size == r->t->bytes;
}

static pf_status copy_typed(reader *r, const onnx_type *type)
{
  const size_t bytes = (size_t)(type->bits / 8);
  pf_wire_walk w = r->tensor;
  pf_wire_field f;
  size_t done = 0;
  bool more;
  /* An element takes a byte of the file at least: what is asked for is no more than it can fill. */
  if (r->t->bytes / 8 > r->typed_bytes)
    return wrong_size(r, w.at, r->typed_bytes);
  uint8_t *to = pf_alloc_raw(&r->o->file.memory, r->t->bytes);
  if (to == NULL)
    return no_memory(r);
  r->t->data = to;
  for (;;) {
    PF_TRY(pf_wire_next(&w, &f, &more));
    if (!more)
      break;
    if (f.number == (uint32_t)type->typed)
      PF_TRY(copy_field(r, &f, bytes, &done));
  }
  r->t->offset = r->tensor.at;
  return done == r->t->bytes ? PF_OK : wrong_size(r, r->tensor.at, done);
}

static pf_status find_typed(reader *r, const onnx_type *type)
{
  pf_wire_field f;
  if (r->t->bytes == 0) {
    set_data(r, r->tensor.at);
    return PF_OK;
  }
  if (!is_in_place(r, type, &f))
    return copy_typed(r, type);
  set_data(r, f.at);
  return PF_OK;
}

/* --- data elsewhere ------------------------------------------------------------------------ */

/* Neither absolute nor out of the model's folder. */
static bool stays_below(const char *path)
{
  if (path[0] == '\0' || path[0] == '/')
    return false;
  for (const char *p = path; p != NULL; p = strchr(p, '/')) {
    p += *p == '/';
    const size_t length = strcspn(p, "/");
    if (length == 0 || (length == 2 && memcmp(p, "..", 2) == 0))
      return false;
  }
  return true;
}

static bool read_decimal(const char *text, uint64_t *out)
{
  uint64_t value = 0;
  for (const char *p = text; *p != '\0'; p++)
    if (*p < '0' || *p > '9' || __builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
      return false;
  *out = value;
  return text[0] != '\0';
}

static pf_status read_external(reader *r, const PfOnnx__Tensor *m, pf_onnx_external *out)
{
  const size_t at = r->tensor.at;
  uint64_t length = r->t->bytes;
  for (size_t i = 0; i < m->n_external_data; i++) {
    const char *key = m->external_data[i]->key, *value = m->external_data[i]->value;
    if (key == NULL || value == NULL)
      return bad(r, at, "external_data without a key or a value");
    if (strcmp(key, "location") == 0) {
      char *copy = pf_alloc(&r->o->file.memory, strlen(value) + 1);
      if (copy == NULL)
        return no_memory(r);
      out->location = strcpy(copy, value);
    } else if ((strcmp(key, "offset") == 0 && !read_decimal(value, &out->offset)) ||
               (strcmp(key, "length") == 0 && !read_decimal(value, &length)))
      return bad(r, at, "external_data: offset or length is no number");
  }
  if (out->location == NULL)
    return bad(r, at, "external_data without a location");
  if (!stays_below(out->location))
    return pf_fail(r->error, PF_BAD_INPUT, at,
                   "onnx: tensor '%s': its data are at '%s', outside the model's folder",
                   pf_quote(r->t->name, strlen(r->t->name)).text,
                   pf_quote(out->location, strlen(out->location)).text);
  return length == r->t->bytes ? PF_OK : wrong_size(r, at, (size_t)length);
}

static pf_status read_data(reader *r, const PfOnnx__Tensor *m, const onnx_type *type,
                           pf_onnx_external *external)
{
  if (m->data_location == EXTERNAL)
    return read_external(r, m, external);
  if (type->bits == 0) { /* strings: named, and no more */
    set_data(r, r->tensor.at);
    return PF_OK;
  }
  if (!r->has_raw)
    return find_typed(r, type);
  set_data(r, r->raw_at);
  return r->raw_size == r->t->bytes ? PF_OK : wrong_size(r, r->raw_at, r->raw_size);
}

static pf_status read_message(reader *r, pf_onnx_external *external)
{
  const onnx_type *type = &types[0];
  r->t->name = "";
  PF_TRY(cut(r));
  PfOnnx__Tensor *m = pf_onnx__tensor__unpack(NULL, r->text_size, r->text);
  if (m == NULL)
    return bad(r, r->tensor.at, "protobuf-c cannot read its description");
  pf_status status = set_shape(r, m, &type);
  if (status == PF_OK)
    status = read_data(r, m, type, external);
  pf_onnx__tensor__free_unpacked(m, NULL);
  return status;
}

pf_status pf_onnx_tensor(pf_onnx *o, pf_wire_walk w, pf_tensor_entry *t,
                         pf_onnx_external *external, pf_error *e)
{
  const size_t room = w.end - w.at < DESCRIPTION_MAX ? w.end - w.at : DESCRIPTION_MAX;
  reader r = {.o = o, .tensor = w, .t = t, .error = e, .text = malloc(room + 1)};
  if (r.text == NULL)
    return no_memory(&r);
  const pf_status status = read_message(&r, external);
  free(r.text);
  return status;
}
