/* Files of the reference implementation of safetensors, and files made of a header and data. */
#ifndef PF_TESTS_SAFETENSORS_FILES_H
#define PF_TESTS_SAFETENSORS_FILES_H

#include "tensor_files.h"

/* What the Python package safetensors 0.8.0 wrote: one tensor of each dtype of ours, one scalar,
   one without elements. */
static const char reference_header[] =
  "{\"__metadata__\":{\"made by\":\"safetensors 0.8.0\"},"
  "\"f64\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]},"
  "\"none\":{\"dtype\":\"F32\",\"shape\":[4,0,2],\"data_offsets\":[8,8]},"
  "\"x.f32\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[8,16]},"
  "\"i32\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[16,20]},"
  "\"bf16\":{\"dtype\":\"BF16\",\"shape\":[3],\"data_offsets\":[20,26]},"
  "\"f16\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[26,28]},"
  "\"e5m2z\":{\"dtype\":\"F8_E5M2FNUZ\",\"shape\":[1],\"data_offsets\":[28,29]},"
  "\"e4m3z\":{\"dtype\":\"F8_E4M3FNUZ\",\"shape\":[1],\"data_offsets\":[29,30]},"
  "\"e4m3\":{\"dtype\":\"F8_E4M3\",\"shape\":[2],\"data_offsets\":[30,32]},"
  "\"e5m2\":{\"dtype\":\"F8_E5M2\",\"shape\":[1],\"data_offsets\":[32,33]},"
  "\"i8\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[33,34]},"
  "\"u8\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[34,35]}}     ";
static const uint8_t reference_data[35] = {
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1, 2, 3, 4, 16, 17, 18, 19, 20, 21, 0,
  0x3c, 0x81, 0x80, 0x7e, 0xff, 0x7b, 0xfe, 0xfd};

/* The same of dtypes that are not ours; F4 holds two elements in its byte. */
static const char others_header[] =
  "{\"u64\":{\"dtype\":\"U64\",\"shape\":[1],\"data_offsets\":[0,8]},"
  "\"i64\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[8,16]},"
  "\"c64\":{\"dtype\":\"C64\",\"shape\":[1],\"data_offsets\":[16,24]},"
  "\"u32\":{\"dtype\":\"U32\",\"shape\":[1],\"data_offsets\":[24,28]},"
  "\"u16\":{\"dtype\":\"U16\",\"shape\":[1],\"data_offsets\":[28,30]},"
  "\"i16\":{\"dtype\":\"I16\",\"shape\":[1],\"data_offsets\":[30,32]},"
  "\"e8m0\":{\"dtype\":\"F8_E8M0\",\"shape\":[1],\"data_offsets\":[32,33]},"
  "\"f4\":{\"dtype\":\"F4\",\"shape\":[2],\"data_offsets\":[33,34]},"
  "\"b\":{\"dtype\":\"BOOL\",\"shape\":[1],\"data_offsets\":[34,35]}}       ";
static const uint8_t others_data[35] = "abcdefgh12345678ABCDEFGH\5\6\7\10\3\4\1\2\x7f\x21\1";

static inline block file_of(const char *header, const uint8_t *data, size_t bytes, size_t shift)
{
  const size_t length = strlen(header);
  block b = block_new(8 + length + bytes, shift);
  for (int i = 0; i < 8; i++)
    b.data[i] = (uint8_t)((uint64_t)length >> (8 * i));
  memcpy(b.data + 8, header, length);
  if (bytes != 0)
    memcpy(b.data + 8 + length, data, bytes);
  return b;
}

#endif
