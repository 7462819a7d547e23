/* Case to archive. */
#include "form_archive.h"

#include <string.h>

#include "form_archive_fields.h"

const uint8_t pf_archive_magic[PF_ARCHIVE_MAGIC] = {0x89, 'p', 'f', 'c', 'a', 's', 'e', '\n'};

/* What a nibble of the remainder becomes over the next 32 bits, by its place: ISO 3309's CRC-32, four
   bytes at a time in steps that do not wait for each other. */
static const uint32_t of_nibble[8][16] = {
  {0x00000000, 0xb8bc6765, 0xaa09c88b, 0x12b5afee, 0x8f629757, 0x37def032, 0x256b5fdc, 0x9dd738b9,
   0xc5b428ef, 0x7d084f8a, 0x6fbde064, 0xd7018701, 0x4ad6bfb8, 0xf26ad8dd, 0xe0df7733, 0x58631056},
  {0x00000000, 0x5019579f, 0xa032af3e, 0xf02bf8a1, 0x9b14583d, 0xcb0d0fa2, 0x3b26f703, 0x6b3fa09c,
   0xed59b63b, 0xbd40e1a4, 0x4d6b1905, 0x1d724e9a, 0x764dee06, 0x2654b999, 0xd67f4138, 0x866616a7},
  {0x00000000, 0x01c26a37, 0x0384d46e, 0x0246be59, 0x0709a8dc, 0x06cbc2eb, 0x048d7cb2, 0x054f1685,
   0x0e1351b8, 0x0fd13b8f, 0x0d9785d6, 0x0c55efe1, 0x091af964, 0x08d89353, 0x0a9e2d0a, 0x0b5c473d},
  {0x00000000, 0x1c26a370, 0x384d46e0, 0x246be590, 0x709a8dc0, 0x6cbc2eb0, 0x48d7cb20, 0x54f16850,
   0xe1351b80, 0xfd13b8f0, 0xd9785d60, 0xc55efe10, 0x91af9640, 0x8d893530, 0xa9e2d0a0, 0xb5c473d0},
  {0x00000000, 0x191b3141, 0x32366282, 0x2b2d53c3, 0x646cc504, 0x7d77f445, 0x565aa786, 0x4f4196c7,
   0xc8d98a08, 0xd1c2bb49, 0xfaefe88a, 0xe3f4d9cb, 0xacb54f0c, 0xb5ae7e4d, 0x9e832d8e, 0x87981ccf},
  {0x00000000, 0x4ac21251, 0x958424a2, 0xdf4636f3, 0xf0794f05, 0xbabb5d54, 0x65fd6ba7, 0x2f3f79f6,
   0x3b83984b, 0x71418a1a, 0xae07bce9, 0xe4c5aeb8, 0xcbfad74e, 0x8138c51f, 0x5e7ef3ec, 0x14bce1bd},
  {0x00000000, 0x77073096, 0xee0e612c, 0x990951ba, 0x076dc419, 0x706af48f, 0xe963a535, 0x9e6495a3,
   0x0edb8832, 0x79dcb8a4, 0xe0d5e91e, 0x97d2d988, 0x09b64c2b, 0x7eb17cbd, 0xe7b82d07, 0x90bf1d91},
  {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
   0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c},
};

uint32_t pf_archive_crc(const uint8_t *data, size_t size)
{
  uint32_t crc = UINT32_MAX;
  size_t i = 0;
  for (; size - i >= 4; i += 4) {
    const uint32_t word = crc ^ ((uint32_t)data[i] | (uint32_t)data[i + 1] << 8 |
                                 (uint32_t)data[i + 2] << 16 | (uint32_t)data[i + 3] << 24);
    crc = 0;
    for (int n = 0; n < 8; n++)
      crc ^= of_nibble[n][word >> 4 * n & 15];
  }
  for (; i < size; i++) {
    crc ^= data[i];
    crc = crc >> 4 ^ of_nibble[7][crc & 15];
    crc = crc >> 4 ^ of_nibble[7][crc & 15];
  }
  return ~crc;
}

static uint8_t *put_le(uint8_t *to, uint64_t value, int bytes)
{
  for (int i = 0; i < bytes; i++)
    *to++ = (uint8_t)(value >> 8 * i);
  return to;
}

static uint8_t *put_field(uint8_t *to, int tag, size_t length)
{
  return put_le(put_le(to, (uint64_t)tag, 2), length, 4);
}

static uint8_t *put_numbers(uint8_t *to, int count, const int64_t *from)
{
  for (int i = 0; i < count; i++)
    to = put_le(to, (uint64_t)from[i], 4);
  return to;
}

static size_t verbatim_bytes(const pf_operand *o)
{
  return (size_t)pf_operand_count(o) * (size_t)pf_dtype_of(o->dtype)->bytes;
}

static size_t scale_bytes(const pf_scale *s)
{
  return PF_ARCHIVE_SCALE + (size_t)s->count * sizeof *s->values;
}

static bool has_output(const pf_case *c)
{
  return !c->out_is_c && !pf_operand_dense(&c->operand[PF_OUT]);
}

/* Every limit of a case together stays far below SIZE_MAX. */
static size_t archive_bytes(const pf_case *c)
{
  size_t bytes = PF_ARCHIVE_HEADER + PF_ARCHIVE_FIELD + 3 + PF_ARCHIVE_TRAILER;
  if (pf_graph_of(c->graph)->has_c)
    bytes += PF_ARCHIVE_FIELD + 16;
  if (pf_graph_of(c->graph)->scaled)
    bytes += PF_ARCHIVE_FIELD + 1;
  for (pf_role r = PF_X; r < PF_OUT; r++) {
    const pf_operand *o = &c->operand[r];
    if (!o->present)
      continue;
    bytes += PF_ARCHIVE_FIELD + 2 + 8 * (size_t)o->rank + 4 + PF_ARCHIVE_FIELD + 7;
    if (o->values.kind == PF_VERBATIM)
      bytes += PF_ARCHIVE_FIELD + verbatim_bytes(o);
    if (o->scale.kind != PF_SCALE_NONE)
      bytes += PF_ARCHIVE_FIELD + scale_bytes(&o->scale);
    if (o->values.edit_count > 0)
      bytes += PF_ARCHIVE_FIELD + (size_t)o->values.edit_count * PF_ARCHIVE_EDIT;
  }
  if (c->origin)
    bytes += PF_ARCHIVE_FIELD + strlen(c->origin);
  if (has_output(c))
    bytes += PF_ARCHIVE_FIELD + 1 + 4 * (size_t)c->operand[PF_OUT].rank + 4;
  return bytes;
}

static uint8_t *put_values(uint8_t *to, pf_role role, const pf_operand *o)
{
  const pf_values *v = &o->values;
  to = put_field(to, PF_TAG_VALUES + role, 7);
  *to++ = (uint8_t)v->kind;
  *to++ = (uint8_t)v->other;
  *to++ = v->mix;
  to = put_le(to, v->seed, 4);
  if (v->kind == PF_VERBATIM) {
    const size_t bytes = verbatim_bytes(o);
    to = put_field(to, PF_TAG_BYTES + role, bytes);
    if (bytes > 0)
      memcpy(to, v->verbatim, bytes);
    to += bytes;
  }
  if (v->edit_count > 0)
    to = put_field(to, PF_TAG_EDITS + role, (size_t)v->edit_count * PF_ARCHIVE_EDIT);
  for (int64_t i = 0; i < v->edit_count; i++)
    to = put_le(put_le(to, (uint64_t)v->edits[i].index, 4), v->edits[i].bits, 8);
  return to;
}

static uint8_t *put_scale(uint8_t *to, pf_role role, const pf_scale *s)
{
  if (s->kind == PF_SCALE_NONE)
    return to;
  to = put_field(to, PF_TAG_SCALE + role, scale_bytes(s));
  *to++ = (uint8_t)s->kind;
  to = put_le(put_le(to, (uint64_t)s->block, 2), s->seed, 4);
  for (int64_t i = 0; i < s->count; i++, to += sizeof *s->values)
    pf_store(PF_F32, to, (double)s->values[i]);
  return to;
}

static uint8_t *put_tensor(uint8_t *to, pf_role role, const pf_operand *o)
{
  to = put_field(to, PF_TAG_TENSOR + role, 2 + 8 * (size_t)o->rank + 4);
  *to++ = (uint8_t)o->dtype;
  *to++ = (uint8_t)o->rank;
  to = put_numbers(to, o->rank, o->dim);
  to = put_numbers(to, o->rank, o->stride);
  to = put_le(to, (uint64_t)o->offset, 4);
  return put_scale(put_values(to, role, o), role, &o->scale);
}

static uint8_t *put_origin(uint8_t *to, const char *origin)
{
  const size_t length = strlen(origin);
  to = put_field(to, PF_TAG_ORIGIN, length);
  memcpy(to, origin, length);
  return to + length;
}

static uint8_t *put_output(uint8_t *to, const pf_operand *o)
{
  to = put_field(to, PF_TAG_TENSOR + PF_OUT, 1 + 4 * (size_t)o->rank + 4);
  *to++ = (uint8_t)o->rank;
  to = put_numbers(to, o->rank, o->stride);
  return put_le(to, (uint64_t)o->offset, 4);
}

pf_status pf_archive_encode(const pf_case *c, pf_arena *a, uint8_t **out, size_t *size, pf_error *e)
{
  const size_t bytes = archive_bytes(c);
  if (bytes > UINT32_MAX)
    return pf_fail(e, PF_UNSUPPORTED, 0, "archive: %zu bytes do not fit its length", bytes);
  uint8_t *start = pf_alloc_raw(a, bytes), *to = start;
  if (!start)
    return pf_fail(e, PF_NO_MEMORY, 0, "archive: no memory for %zu bytes", bytes);
  memcpy(to, pf_archive_magic, PF_ARCHIVE_MAGIC);
  to = put_le(put_le(to + PF_ARCHIVE_MAGIC, PF_ARCHIVE_VERSION, 4), bytes, 4);
  to = put_field(to, PF_TAG_WHAT, 3);
  *to++ = (uint8_t)c->op;
  *to++ = (uint8_t)c->graph;
  *to++ = c->out_is_c ? PF_ARCHIVE_IN_PLACE : 0;
  if (pf_graph_of(c->graph)->has_c) {
    to = put_field(to, PF_TAG_SCALARS, 16);
    pf_store(PF_F64, to, c->alpha);
    pf_store(PF_F64, to + 8, c->beta);
    to += 16;
  }
  if (pf_graph_of(c->graph)->scaled) {
    to = put_field(to, PF_TAG_RESULT, 1);
    *to++ = (uint8_t)c->operand[PF_OUT].dtype;
  }
  for (pf_role r = PF_X; r < PF_OUT; r++)
    if (c->operand[r].present)
      to = put_tensor(to, r, &c->operand[r]);
  if (has_output(c))
    to = put_output(to, &c->operand[PF_OUT]);
  if (c->origin)
    to = put_origin(to, c->origin);
  put_le(to, pf_archive_crc(start, (size_t)(to - start)), PF_ARCHIVE_TRAILER);
  *out = start;
  *size = bytes;
  return PF_OK;
}
