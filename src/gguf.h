/* GGUF, the files of llama.cpp: magic, version, keys with values, descriptions of tensors, their
   data, each at a multiple of the alignment.
   https://github.com/ggml-org/ggml/blob/master/docs/gguf.md

   dtypes of ours: F64 F32 F16 BF16 I8 I32.  Q8_0, and whatever else the format knows, is read
   without has_dtype. */
#ifndef PF_GGUF_H
#define PF_GGUF_H

#include "tensorfile.h"

/* Whether the bytes begin as a GGUF file does. */
bool pf_gguf_is(const void *data, size_t size);

/* Reads a whole file, version 2 or 3, that lies in memory, which must outlive *out.  Sizes are
   turned to C order: the last one is that of neighbours.  Values of keys are skipped but for
   general.alignment.  A tensor of a type whose size is not known here has no data.  Needs memory in
   proportion to the header, whatever it says.  PF_BAD_INPUT; PF_UNSUPPORTED: another version, big
   endian; PF_NO_MEMORY; then *out is zeroed. */
pf_status pf_gguf_parse(const void *data, size_t size, pf_tensor_file *out, pf_error *e);

/* Q8_0: blocks of 32 neighbours, each an f16 scale and 32 signed bytes; a value is scale * byte, and
   an f32 holds it. */
enum { PF_Q8_0_BLOCK = 32, PF_Q8_0_BYTES = 34 };
bool pf_gguf_is_q8_0(const pf_tensor_entry *t);

#endif
