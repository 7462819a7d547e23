/* Scales of an operand: positive f32 factors that low-precision operands carry beside them. */
#ifndef PF_SCALE_H
#define PF_SCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

/* What shares a scale.  The numbers are part of the archive form. */
typedef enum pf_scale_kind {
  PF_SCALE_NONE = 0,
  PF_SCALE_TENSOR = 1,  /* all */
  PF_SCALE_ROW = 2,     /* a vector along K: a row of x, a column of y */
  PF_SCALE_BLOCK = 3,   /* a run of elements along K of one vector */
  PF_SCALE_COUNT
} pf_scale_kind;

enum { PF_MAX_SCALE_BLOCK = 1024 };

typedef struct pf_scale {
  pf_scale_kind kind;
  int block;            /* PF_SCALE_BLOCK: elements, 1 to PF_MAX_SCALE_BLOCK; else 0 */
  uint32_t seed;        /* of generated values; 0: ones; even: powers of two; odd: any significand;
                           exponents of -8 to 8 */
  int64_t count;        /* of `values` */
  const float *values;  /* NULL: generated; else one a scale, vector by vector, finite, above 0 */
} pf_scale;

const char *pf_scale_kind_name(pf_scale_kind k);
bool pf_scale_kind_find(const char *name, size_t length, pf_scale_kind *out);

/* Scales of one vector of k elements that no other vector has; 0 where all share one. */
int64_t pf_scale_blocks(const pf_scale *s, int64_t k);
/* Scales of an operand of `lines` vectors of k elements. */
int64_t pf_scale_count(const pf_scale *s, int64_t lines, int64_t k);
/* Scale number `index`, of x or of y: the same bits from every compiler. */
float pf_scale_value(const pf_scale *s, bool of_x, int64_t index);
bool pf_scale_equal(const pf_scale *a, const pf_scale *b);

/* Checks and normalizes.  name: the operand's, for errors. */
pf_status pf_scale_finish(pf_scale *s, const char *name, int64_t lines, int64_t k, pf_error *e);

#endif
