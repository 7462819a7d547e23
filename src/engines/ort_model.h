/* The bytes of a model with one product in it, as ONNX writes models: protobuf (onnx.proto3). */
#ifndef PF_ORT_MODEL_H
#define PF_ORT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum pf_ort_product { PF_ORT_MATMUL, PF_ORT_MATMUL_INTEGER, PF_ORT_GEMM } pf_ort_product;

/* Inputs "x", "y" and perhaps "c", of any shape, output "out".  Compared as bytes, so that there is
   no padding. */
typedef struct pf_ort_model {
  int32_t product;           /* pf_ort_product */
  int32_t x, y, out;         /* dtypes of the interface; c has that of out */
  int32_t cast;              /* not 0: x and y are cast to out first */
  int32_t has_c;             /* Gemm only, as alpha and beta */
  float alpha, beta;
} pf_ort_model;

enum { PF_ORT_MODEL_BYTES = 512 };

extern const char *const pf_ort_product_names[];

/* How many bytes were written; never more than there is room for. */
size_t pf_ort_model_write(const pf_ort_model *m, unsigned char to[PF_ORT_MODEL_BYTES]);

#endif
