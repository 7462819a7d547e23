/* Storage types: a name, an encoding in bytes, and the format of its values. */
#ifndef PF_DTYPE_H
#define PF_DTYPE_H

#include <stddef.h>
#include <stdint.h>

#include "format.h"

/* The numbers are part of the archive form: never reuse or renumber one. */
typedef enum pf_dtype {
  PF_F64 = 0, PF_F32 = 1, PF_F16 = 2, PF_BF16 = 3,
  PF_F8_E4M3FN = 4, PF_F8_E5M2 = 5, PF_F8_E4M3FNUZ = 6, PF_F8_E5M2FNUZ = 7,
  PF_S8 = 8, PF_U8 = 9, PF_S32 = 10,
  PF_DTYPE_COUNT
} pf_dtype;

typedef struct pf_dtype_info {
  const char *name;   /* "bf16" */
  const char *torch;  /* "torch.bfloat16" */
  int bytes;
  int exponent_bits;  /* 0 for integers */
  pf_format format;   /* overflow as in torch: fn and fnuz give NaN, integers wrap */
} pf_dtype_info;

const pf_dtype_info *pf_dtype_of(pf_dtype t);
const pf_format *pf_format_of(pf_dtype t);
bool pf_dtype_find(const char *name, size_t length, pf_dtype *out);

/* Bits are the little-endian encoding, in the low bytes of a uint64_t. */
uint64_t pf_load_bits(pf_dtype t, const void *at);
void pf_store_bits(pf_dtype t, void *at, uint64_t bits);
double pf_decode(pf_dtype t, uint64_t bits);   /* exact; a NaN loses its payload */
uint64_t pf_encode(pf_dtype t, double value);  /* rounds once; NaN gives the quiet one, integer 0 */
/* What marks memory that nobody should read, or leave as it is: NaN, or an integer in its place. */
uint64_t pf_marker_bits(pf_dtype t);
double pf_load(pf_dtype t, const void *at);
void pf_store(pf_dtype t, void *at, double value);

/* Encodings in memory that are read as [rows, columns]. */
typedef struct pf_grid {
  const void *data;                   /* element (0, 0) */
  int64_t rows, columns;
  int64_t row_stride, column_stride;  /* elements */
} pf_grid;
/* pf_load of all of them, row by row: to[i * columns + j]. */
void pf_load_grid(pf_dtype t, const pf_grid *r, double *to);

/* What torch.promote_types answers: bf16 with f16 is f32, an integer with a float is that float.
   Where that is no answer here: two different fp8 give f32 and fp8 with a wider float that float
   (torch refuses both), s8 with u8 gives s32 (torch's s16 is no dtype here). */
pf_dtype pf_promote(pf_dtype a, pf_dtype b);

/* The dtype whose format f is but for rounding and overflow, or else the smallest float of at least
   16 bits that holds every value of f; false if none does. */
bool pf_dtype_for(const pf_format *f, pf_dtype *out);

#endif
