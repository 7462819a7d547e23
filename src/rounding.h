/* Rounding of arrays: what format.h does to one number, done to many. */
#ifndef PF_ROUNDING_H
#define PF_ROUNDING_H

#include <stdint.h>

#include "format.h"
#include "isa.h"

/* A format as lanes round to it: nearest even, subnormals and overflow included. */
typedef struct pf_lane_format {
  double smallest_normal;
  int64_t magic;      /* onto the bits of 2^e: those of 1.5 times 2^52 places of f at 2^e */
  double limit;       /* the least magnitude that overflows */
  double overflow;    /* what becomes of it: infinity, NaN or the largest value */
  int64_t zero_sign;  /* the sign bit, where zero has one, else 0 */
  bool is_single;     /* f32: the machine converts to it */
} pf_lane_format;

/* False where lanes cannot: integers, other roundings, precisions above 50, ranges near double's, a
   largest value that is no normal one, an infinity that overflow does not give. */
bool pf_lane_format_of(const pf_format *f, pf_lane_format *out);

/* to[i] = pf_round(f, a[i]), pf_round_sum(f, a[i], b[i]) or pf_round_product(f, a[i], b[i]) for
   i < n, with what they ask of their operands; to may be a or b. */
void pf_round_each(const pf_format *f, const double *a, int64_t n, double *to);
void pf_round_sums(const pf_format *f, const double *a, const double *b, int64_t n, double *to);
void pf_round_products(const pf_format *f, const double *a, const double *b, int64_t n, double *to);

typedef enum pf_rounded { PF_ROUNDED_VALUE, PF_ROUNDED_SUM, PF_ROUNDED_PRODUCT } pf_rounded;

/* The three of them by an isa that the machine has; b is not read for PF_ROUNDED_VALUE. */
void pf_round_by(pf_isa isa, pf_rounded what, const pf_format *f, const double *a, const double *b,
                 int64_t n, double *to);

#endif
