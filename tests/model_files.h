/* Files of models made by hand, byte by byte: GGUF and ONNX. */
#ifndef PF_TESTS_MODEL_FILES_H
#define PF_TESTS_MODEL_FILES_H

#include "tensor_files.h"

typedef struct bytes {
  uint8_t data[4096];
  size_t size;
} bytes;

static inline void put(bytes *b, const void *data, size_t size)
{
  assert_true(size <= sizeof b->data - b->size);
  if (size != 0)
    memcpy(b->data + b->size, data, size);
  b->size += size;
}

static inline void put_le(bytes *b, uint64_t value, int count)
{
  for (int i = 0; i < count; i++)
    put(b, &(uint8_t){(uint8_t)(value >> 8 * i)}, 1);
}

static inline void put_float(bytes *b, float value)
{
  put(b, &value, sizeof value);
}

/* --- GGUF ---------------------------------------------------------------------------------- */

static inline void put_string(bytes *b, const char *text)
{
  put_le(b, strlen(text), 8);
  put(b, text, strlen(text));
}

static inline void gguf_head(bytes *b, uint32_t version, uint64_t tensors, uint64_t pairs)
{
  *b = (bytes){.size = 0};
  put(b, "GGUF", 4);
  put_le(b, version, 4);
  put_le(b, tensors, 8);
  put_le(b, pairs, 8);
}

/* dim: as the file has them, that of neighbours first. */
static inline void gguf_tensor(bytes *b, const char *name, int rank, const uint64_t *dim,
                               uint32_t type, uint64_t offset)
{
  put_string(b, name);
  put_le(b, (uint64_t)rank, 4);
  for (int i = 0; i < rank; i++)
    put_le(b, dim[i], 8);
  put_le(b, type, 4);
  put_le(b, offset, 8);
}

static inline void pad(bytes *b, size_t alignment)
{
  while (b->size % alignment != 0)
    put_le(b, 0, 1);
}

/* --- ONNX ---------------------------------------------------------------------------------- */

static inline void put_varint(bytes *b, uint64_t value)
{
  for (; value >= 0x80; value >>= 7)
    put_le(b, (value & 0x7f) | 0x80, 1);
  put_le(b, value, 1);
}

static inline void pb_number(bytes *b, uint32_t field, uint64_t value)
{
  put_varint(b, field << 3);
  put_varint(b, value);
}

static inline void pb_bytes(bytes *b, uint32_t field, const void *data, size_t size)
{
  put_varint(b, field << 3 | 2);
  put_varint(b, size);
  put(b, data, size);
}

static inline void pb_text(bytes *b, uint32_t field, const char *text)
{
  pb_bytes(b, field, text, strlen(text));
}

static inline void pb_message(bytes *b, uint32_t field, const bytes *message)
{
  pb_bytes(b, field, message->data, message->size);
}

enum { ONNX_FLOAT = 1, ONNX_INT8 = 3, ONNX_FLOAT16 = 10, ONNX_DOUBLE = 11 };

/* A TensorProto without data. */
static inline bytes onnx_tensor(const char *name, int type, int rank, const int64_t *dim)
{
  bytes t = {.size = 0};
  for (int i = 0; i < rank; i++)
    pb_number(&t, 1, (uint64_t)dim[i]);
  pb_number(&t, 2, (uint64_t)type);
  pb_text(&t, 8, name);
  return t;
}

static inline bytes onnx_model(const bytes *graph)
{
  bytes m = {.size = 0};
  pb_number(&m, 1, 8);
  pb_message(&m, 7, graph);
  return m;
}

#endif
