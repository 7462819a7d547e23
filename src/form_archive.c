/* Archive to case.  Fields are found first and understood afterwards, in an order that does not
   depend on theirs; whatever is wrong is reported with the offset of the byte that is. */
#include "form_archive.h"

#include <inttypes.h>
#include <string.h>

#include "form_archive_fields.h"

typedef struct field {
  const uint8_t *at;  /* payload; NULL where there is no such field */
  size_t length;
} field;

typedef struct archive {
  const uint8_t *data;
  field fields[PF_TAGS];  /* by the low byte of the tag */
  pf_arena *arena;
  pf_case *c;
  pf_error *error;
} archive;

static uint64_t get_le(const uint8_t *at, int bytes)
{
  uint64_t value = 0;
  for (int i = 0; i < bytes; i++)
    value |= (uint64_t)at[i] << 8 * i;
  return value;
}

static bool is_known(unsigned tag)
{
  if (tag == PF_TAG_WHAT || tag == PF_TAG_SCALARS || tag == PF_TAG_RESULT || tag == PF_TAG_ORIGIN)
    return true;
  const unsigned group = tag & 0xfff0, role = tag & 15;
  if (group == PF_TAG_TENSOR)
    return role <= PF_OUT;
  return role < PF_OUT &&
         (group == PF_TAG_VALUES || group == PF_TAG_BYTES || group == PF_TAG_EDITS ||
          group == PF_TAG_SCALE);
}

static const field *field_of(const archive *r, int tag)
{
  const field *f = &r->fields[tag & 0xff];
  return f->at ? f : NULL;
}

static size_t offset_of(const archive *r, const uint8_t *at)
{
  return (size_t)(at - r->data);
}

static pf_status missing(const archive *r, size_t end, int tag)
{
  return pf_fail(r->error, PF_BAD_INPUT, end, "archive: no field %04x", (unsigned)tag);
}

static pf_status no_memory(const archive *r, size_t bytes)
{
  return pf_fail(r->error, PF_NO_MEMORY, 0, "archive: no memory for %zu bytes", bytes);
}

static pf_status expect_length(const archive *r, const field *f, size_t length)
{
  if (f->length == length)
    return PF_OK;
  const size_t tag_at = offset_of(r, f->at) - PF_ARCHIVE_FIELD;
  return pf_fail(r->error, PF_BAD_INPUT, tag_at + 2, "archive: field %04x has %zu bytes, not %zu",
                 (unsigned)get_le(r->data + tag_at, 2), f->length, length);
}

static pf_status expect_absent(const archive *r, int tag, const char *why)
{
  const field *f = field_of(r, tag);
  if (!f)
    return PF_OK;
  return pf_fail(r->error, PF_BAD_INPUT, offset_of(r, f->at) - PF_ARCHIVE_FIELD,
                 "archive: field %04x, but %s", (unsigned)tag, why);
}

/* Below `limit`, or the byte is to blame. */
static pf_status get_below(const archive *r, const uint8_t *at, unsigned limit, const char *what,
                           unsigned *out)
{
  *out = *at;
  if (*out < limit)
    return PF_OK;
  return pf_fail(r->error, PF_BAD_INPUT, offset_of(r, at), "archive: %s %u, known are 0..%u", what,
                 *out, limit - 1);
}

static pf_status check_frame(const uint8_t *data, size_t size, pf_error *e)
{
  if (!pf_archive_is(data, size))
    return pf_fail(e, PF_BAD_INPUT, 0, "archive: no magic");
  if (size < PF_ARCHIVE_HEADER + PF_ARCHIVE_TRAILER)
    return pf_fail(e, PF_BAD_INPUT, size, "archive: ends in its header");
  if (get_le(data + 8, 4) != PF_ARCHIVE_VERSION)
    return pf_fail(e, PF_BAD_INPUT, 8, "archive: version %" PRIu64 ", this build reads %d",
                   get_le(data + 8, 4), PF_ARCHIVE_VERSION);
  if (get_le(data + 12, 4) != size)
    return pf_fail(e, PF_BAD_INPUT, 12, "archive: says %" PRIu64 " bytes, has %zu",
                   get_le(data + 12, 4), size);
  const uint32_t crc = pf_archive_crc(data, size - PF_ARCHIVE_TRAILER);
  if (get_le(data + size - PF_ARCHIVE_TRAILER, PF_ARCHIVE_TRAILER) != crc)
    return pf_fail(e, PF_BAD_INPUT, size - PF_ARCHIVE_TRAILER,
                   "archive: CRC is %08" PRIx64 ", its bytes give %08" PRIx32,
                   get_le(data + size - PF_ARCHIVE_TRAILER, PF_ARCHIVE_TRAILER), crc);
  return PF_OK;
}

static pf_status index_fields(archive *r, size_t end)
{
  size_t at = PF_ARCHIVE_HEADER;
  while (at < end) {
    if (end - at < PF_ARCHIVE_FIELD)
      return pf_fail(r->error, PF_BAD_INPUT, at, "archive: %zu bytes that are no field", end - at);
    const unsigned tag = (unsigned)get_le(r->data + at, 2);
    const size_t length = (size_t)get_le(r->data + at + 2, 4);
    if (length > end - at - PF_ARCHIVE_FIELD)
      return pf_fail(r->error, PF_BAD_INPUT, at + 2,
                     "archive: field %04x of %zu bytes, %zu are left", tag, length,
                     end - at - PF_ARCHIVE_FIELD);
    if (!is_known(tag) && tag & PF_MUST_KNOW)
      return pf_fail(r->error, PF_BAD_INPUT, at, "archive: unknown field %04x", tag);
    if (is_known(tag)) {
      if (field_of(r, (int)tag))
        return pf_fail(r->error, PF_BAD_INPUT, at, "archive: field %04x twice", tag);
      r->fields[tag & 0xff] = (field){.at = r->data + at + PF_ARCHIVE_FIELD, .length = length};
    }
    at += PF_ARCHIVE_FIELD + length;
  }
  return PF_OK;
}

static pf_status read_what(archive *r, size_t end)
{
  const field *f = field_of(r, PF_TAG_WHAT);
  unsigned op, graph, flags;
  if (!f)
    return missing(r, end, PF_TAG_WHAT);
  pf_status s = expect_length(r, f, 3);
  if (s == PF_OK)
    s = get_below(r, f->at, PF_OP_COUNT, "operation", &op);
  if (s == PF_OK)
    s = get_below(r, f->at + 1, PF_GRAPH_COUNT, "graph", &graph);
  if (s == PF_OK)
    s = get_below(r, f->at + 2, PF_ARCHIVE_IN_PLACE + 1, "flags", &flags);
  if (s != PF_OK)
    return s;
  r->c->op = (pf_op)op;
  r->c->graph = (pf_graph)graph;
  r->c->out_is_c = flags & PF_ARCHIVE_IN_PLACE;
  return PF_OK;
}

static pf_status read_scalars(archive *r, size_t end)
{
  const field *f = field_of(r, PF_TAG_SCALARS);
  if (!pf_graph_of(r->c->graph)->has_c)
    return expect_absent(r, PF_TAG_SCALARS, "the graph has no alpha and beta");
  if (!f)
    return missing(r, end, PF_TAG_SCALARS);
  const pf_status s = expect_length(r, f, 16);
  if (s == PF_OK) {
    r->c->alpha = pf_load(PF_F64, f->at);
    r->c->beta = pf_load(PF_F64, f->at + 8);
  }
  return s;
}

static pf_status read_result(archive *r, size_t end)
{
  const field *f = field_of(r, PF_TAG_RESULT);
  unsigned dtype;
  if (!pf_graph_of(r->c->graph)->scaled)
    return expect_absent(r, PF_TAG_RESULT, "the graph decides the dtype of its result");
  if (!f)
    return missing(r, end, PF_TAG_RESULT);
  pf_status s = expect_length(r, f, 1);
  if (s == PF_OK)
    s = get_below(r, f->at, PF_DTYPE_COUNT, "dtype", &dtype);
  if (s == PF_OK && dtype == PF_F64)
    return pf_fail(r->error, PF_BAD_INPUT, offset_of(r, f->at), "archive: a result of f64");
  if (s == PF_OK)
    r->c->operand[PF_OUT].dtype = (pf_dtype)dtype;
  return s;
}

static void get_numbers(const uint8_t *at, int count, int64_t *to)
{
  for (int i = 0; i < count; i++)
    to[i] = (int64_t)get_le(at + 4 * i, 4);
}

/* From the rank's byte on. */
static pf_status read_layout(archive *r, const field *f, const uint8_t *at, int numbers,
                             pf_operand *o)
{
  unsigned rank;
  if (f->length <= (size_t)(at - f->at))
    return expect_length(r, f, (size_t)(at - f->at) + 5);
  pf_status s = get_below(r, at, PF_MAX_RANK + 1, "rank", &rank);
  if (s == PF_OK)
    s = expect_length(r, f, (size_t)(at + 1 - f->at) + (size_t)numbers * 4 * rank + 4);
  if (s != PF_OK)
    return s;
  at++;
  o->present = true;
  o->rank = (int)rank;
  if (numbers == 2) {
    get_numbers(at, o->rank, o->dim);
    at += 4 * rank;
  }
  get_numbers(at, o->rank, o->stride);
  o->offset = (int64_t)get_le(at + 4 * rank, 4);
  return PF_OK;
}

static pf_status read_values(archive *r, size_t end, pf_role role, pf_values *v)
{
  const field *f = field_of(r, PF_TAG_VALUES + role);
  unsigned kind, other;
  if (!f)
    return missing(r, end, PF_TAG_VALUES + role);
  pf_status s = expect_length(r, f, 7);
  if (s == PF_OK)
    s = get_below(r, f->at, PF_KIND_COUNT, "kind", &kind);
  if (s == PF_OK)
    s = get_below(r, f->at + 1, PF_KIND_COUNT, "kind", &other);
  if (s != PF_OK)
    return s;
  v->kind = (pf_kind)kind;
  v->other = (pf_kind)other;
  v->mix = f->at[2];
  v->seed = (uint32_t)get_le(f->at + 3, 4);
  return PF_OK;
}

static pf_status read_bytes(archive *r, size_t end, pf_role role, pf_operand *o)
{
  const field *f = field_of(r, PF_TAG_BYTES + role);
  const int64_t count = pf_operand_count(o);
  if (o->values.kind != PF_VERBATIM)
    return expect_absent(r, PF_TAG_BYTES + role, "the values are not verbatim");
  if (!f)
    return missing(r, end, PF_TAG_BYTES + role);
  /* Compared by division: sizes are not checked yet and may multiply to anything. */
  const size_t bytes = (size_t)pf_dtype_of(o->dtype)->bytes;
  if (f->length % bytes != 0 || f->length / bytes != (size_t)count)
    return pf_fail(r->error, PF_BAD_INPUT, offset_of(r, f->at) - 4,
                   "archive: %zu bytes for %" PRId64 " elements of %zu", f->length, count, bytes);
  uint8_t *copy = pf_alloc_raw(r->arena, f->length);
  if (!copy)
    return no_memory(r, f->length);
  memcpy(copy, f->at, f->length);
  o->values.verbatim = copy;
  return PF_OK;
}

static pf_status read_edits(archive *r, pf_role role, pf_values *v)
{
  const field *f = field_of(r, PF_TAG_EDITS + role);
  if (!f)
    return PF_OK;
  if (f->length == 0 || f->length % PF_ARCHIVE_EDIT != 0)
    return pf_fail(r->error, PF_BAD_INPUT, offset_of(r, f->at) - 4,
                   "archive: %zu bytes of edits, %d each", f->length, PF_ARCHIVE_EDIT);
  const size_t count = f->length / PF_ARCHIVE_EDIT;
  pf_edit *edits = pf_alloc_array(r->arena, count, sizeof *edits);
  if (!edits)
    return no_memory(r, f->length);
  for (size_t i = 0; i < count; i++) {
    edits[i].index = (int64_t)get_le(f->at + PF_ARCHIVE_EDIT * i, 4);
    edits[i].bits = get_le(f->at + PF_ARCHIVE_EDIT * i + 4, 8);
  }
  v->edits = edits;
  v->edit_count = (int64_t)count;
  return PF_OK;
}

static pf_status read_scale(archive *r, pf_role role, pf_scale *out)
{
  const field *f = field_of(r, PF_TAG_SCALE + role);
  unsigned kind;
  if (!f)
    return PF_OK;
  if (f->length < PF_ARCHIVE_SCALE || (f->length - PF_ARCHIVE_SCALE) % sizeof *out->values != 0)
    return expect_length(r, f, PF_ARCHIVE_SCALE);
  const pf_status s = get_below(r, f->at, PF_SCALE_COUNT, "kind of scale", &kind);
  if (s != PF_OK)
    return s;
  const size_t count = (f->length - PF_ARCHIVE_SCALE) / sizeof *out->values;
  *out = (pf_scale){.kind = (pf_scale_kind)kind, .block = (int)get_le(f->at + 1, 2),
                    .seed = (uint32_t)get_le(f->at + 3, 4), .count = (int64_t)count};
  if (count == 0)
    return PF_OK;
  float *values = pf_alloc_array(r->arena, count, sizeof *values);
  if (!values)
    return no_memory(r, f->length);
  for (size_t i = 0; i < count; i++)
    values[i] = (float)pf_load(PF_F32, f->at + PF_ARCHIVE_SCALE + sizeof *values * i);
  out->values = values;
  return PF_OK;
}

static pf_status read_tensor(archive *r, size_t end, pf_role role)
{
  const field *f = field_of(r, PF_TAG_TENSOR + role);
  pf_operand *o = &r->c->operand[role];
  unsigned dtype;
  if (!f) {
    pf_status s = expect_absent(r, PF_TAG_VALUES + role, "there is no such tensor");
    if (s == PF_OK)
      s = expect_absent(r, PF_TAG_BYTES + role, "there is no such tensor");
    if (s == PF_OK)
      s = expect_absent(r, PF_TAG_SCALE + role, "there is no such tensor");
    return s == PF_OK ? expect_absent(r, PF_TAG_EDITS + role, "there is no such tensor") : s;
  }
  if (f->length == 0)
    return expect_length(r, f, 6);
  pf_status s = get_below(r, f->at, PF_DTYPE_COUNT, "dtype", &dtype);
  if (s != PF_OK)
    return s;
  o->dtype = (pf_dtype)dtype;
  s = read_layout(r, f, f->at + 1, 2, o);
  if (s == PF_OK)
    s = read_values(r, end, role, &o->values);
  if (s == PF_OK)
    s = read_bytes(r, end, role, o);
  if (s == PF_OK)
    s = read_edits(r, role, &o->values);
  if (s == PF_OK)
    s = read_scale(r, role, &o->scale);
  return s;
}

static pf_status read_output(archive *r)
{
  const field *f = field_of(r, PF_TAG_TENSOR + PF_OUT);
  if (r->c->out_is_c)
    return expect_absent(r, PF_TAG_TENSOR + PF_OUT, "the output is c");
  return f ? read_layout(r, f, f->at, 1, &r->c->operand[PF_OUT]) : PF_OK;
}

static pf_status read_origin(archive *r)
{
  const field *f = field_of(r, PF_TAG_ORIGIN);
  if (!f)
    return PF_OK;
  if (!pf_origin_is(f->at, f->length))
    return pf_fail(r->error, PF_BAD_INPUT, offset_of(r, f->at), "archive: an origin that is no line "
                   "of text");
  char *copy = pf_alloc(r->arena, f->length + 1);
  if (!copy)
    return no_memory(r, f->length);
  memcpy(copy, f->at, f->length);
  r->c->origin = copy;
  return PF_OK;
}

bool pf_archive_is(const uint8_t *data, size_t size)
{
  return size >= PF_ARCHIVE_MAGIC && memcmp(data, pf_archive_magic, PF_ARCHIVE_MAGIC) == 0;
}

pf_status pf_archive_decode(const uint8_t *data, size_t size, pf_arena *a, pf_case *out,
                            pf_error *e)
{
  archive r = {.data = data, .arena = a, .c = out, .error = e};
  *out = (pf_case){0};
  pf_status s = check_frame(data, size, e);
  if (s != PF_OK)
    return s;
  const size_t end = size - PF_ARCHIVE_TRAILER;
  s = index_fields(&r, end);
  if (s == PF_OK)
    s = read_what(&r, end);
  if (s == PF_OK)
    s = read_scalars(&r, end);
  if (s == PF_OK)
    s = read_result(&r, end);
  for (pf_role role = PF_X; role < PF_OUT && s == PF_OK; role++)
    s = read_tensor(&r, end, role);
  if (s == PF_OK)
    s = read_output(&r);
  if (s == PF_OK)
    s = read_origin(&r);
  return s == PF_OK ? pf_case_finish(out, e) : s;
}
