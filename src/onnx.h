/* ONNX models: the initializers of the main graph, and which matmuls they are operands of.
   https://github.com/onnx/onnx/blob/main/onnx/onnx.proto

   dtypes of ours: DOUBLE FLOAT FLOAT16 BFLOAT16 FLOAT8E4M3FN FLOAT8E5M2 FLOAT8E4M3FNUZ
   FLOAT8E5M2FNUZ INT8 UINT8 INT32.  Other types are read without has_dtype. */
#ifndef PF_ONNX_H
#define PF_ONNX_H

#include "tensorfile.h"

enum { PF_ONNX_NONE = -1 };

/* Data in a file of their own. */
typedef struct pf_onnx_external {
  size_t entry;
  const char *location;   /* UTF-8: a path below the model's folder, without ".." in it */
  uint64_t offset;        /* bytes */
} pf_onnx_external;

/* An initializer of two dimensions as the second operand of a matmul. */
typedef struct pf_onnx_use {
  size_t weight;          /* entry */
  int64_t bias;           /* entry of what is added, of one dimension; PF_ONNX_NONE */
  bool rows;              /* the weight is [N, K], else [K, N] */
} pf_onnx_use;

typedef struct pf_onnx {
  pf_tensor_file file;    /* entries; those with data elsewhere have none yet */
  size_t external_count;
  pf_onnx_external *external;
  size_t use_count;
  pf_onnx_use *use;       /* in the order of the nodes */
} pf_onnx;

/* Whether the bytes can begin an ONNX model: with the field ir_version, as those of all exporters do. */
bool pf_onnx_is(const void *data, size_t size);

/* Reads a whole file that lies in memory, which must outlive *out.  Raw and packed data stay where
   they are, typed data of less than 32 bits are copied.  PF_BAD_INPUT, PF_UNSUPPORTED (groups, more
   than one graph), PF_NO_MEMORY; then *out is zeroed. */
pf_status pf_onnx_parse(const void *data, size_t size, pf_onnx *out, pf_error *e);
/* Gives an entry with data elsewhere those data: `size` bytes at `data` are the whole file that its
   location names.  PF_BAD_INPUT if they do not reach. */
pf_status pf_onnx_attach(pf_onnx *o, const pf_onnx_external *external, const uint8_t *data,
                         size_t size, pf_error *e);
void pf_onnx_close(pf_onnx *o);

#endif
