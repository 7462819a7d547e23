/* Storage types: a name, an encoding in bytes, and the format of its values. */
#ifndef PF_DTYPE_H
#define PF_DTYPE_H

#include <stddef.h>
#include <stdint.h>

#include "format.h"

/* The numbers are part of the archive form: never reuse or renumber one. */
typedef enum pf_dtype { PF_F64 = 0, PF_F32 = 1, PF_F16 = 2, PF_BF16 = 3, PF_DTYPE_COUNT } pf_dtype;

typedef struct pf_dtype_info {
  const char *name;   /* "bf16" */
  const char *torch;  /* "torch.bfloat16" */
  int bytes;
  int exponent_bits;
  pf_format format;
} pf_dtype_info;

const pf_dtype_info *pf_dtype_of(pf_dtype t);
const pf_format *pf_format_of(pf_dtype t);
bool pf_dtype_find(const char *name, size_t length, pf_dtype *out);

/* Bits are the little-endian encoding, in the low bytes of a uint64_t. */
uint64_t pf_load_bits(pf_dtype t, const void *at);
void pf_store_bits(pf_dtype t, void *at, uint64_t bits);
double pf_decode(pf_dtype t, uint64_t bits);   /* exact; a NaN loses its payload */
uint64_t pf_encode(pf_dtype t, double value);  /* rounds once; NaN gives the quiet one */
double pf_load(pf_dtype t, const void *at);
void pf_store(pf_dtype t, void *at, double value);

/* What torch.promote_types answers: bf16 with f16 is f32. */
pf_dtype pf_promote(pf_dtype a, pf_dtype b);

/* The smallest dtype that holds every value of f; false if none does. */
bool pf_dtype_for(const pf_format *f, pf_dtype *out);

#endif
