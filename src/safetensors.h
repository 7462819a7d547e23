/* The safetensors format: the length of a header (8 bytes, little endian), the header (JSON: name
   -> dtype, shape, place; "__metadata__": strings by strings), the data of all tensors in C order
   without a gap.  https://github.com/huggingface/safetensors#format

   dtypes of ours: F64 F32 F16 BF16 F8_E4M3 (f8_e4m3fn) F8_E5M2 F8_E4M3FNUZ F8_E5M2FNUZ I8 U8 I32.
   Others that the format knows are read and written without has_dtype. */
#ifndef PF_SAFETENSORS_H
#define PF_SAFETENSORS_H

#include "tensorfile.h"

/* Whether the bytes begin as a safetensors file does, cut off or not: with the length of a header
   within the format's limit that begins with '{'. */
bool pf_safetensors_is(const void *data, size_t size);

/* Reads a whole file that lies in memory, which must outlive *out.  Stricter than the reference
   implementation: no unknown or repeated key anywhere, no rank above PF_TENSOR_MAX_RANK.  Needs
   memory in proportion to the header, whatever it says.  PF_BAD_INPUT, PF_UNSUPPORTED (a dtype
   that the format does not know), PF_NO_MEMORY; then *out is zeroed. */
pf_status pf_safetensors_parse(const void *data, size_t size, pf_tensor_file *out, pf_error *e);

/* Writes what a reader gives: name, dtype (or dtype_name where has_dtype is false), shape, data;
   strides must be those of C order.  The data begin at a multiple of 8 bytes, those of the widest
   dtypes first, then by name: every element lies aligned to its size.  The file at path is
   complete or is not there.  PF_BAD_INPUT: repeated names, texts that are not UTF-8, another
   order, a header beyond the format's limit; PF_UNSUPPORTED: the format has no such dtype. */
pf_status pf_safetensors_write(const char *path, const pf_tensor_entry *entry, size_t count,
                               const pf_metadata *metadata, size_t metadata_count, pf_error *e);

#endif
