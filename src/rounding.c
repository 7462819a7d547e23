/* Arrays rounded in lanes where the format allows it, else one by one. */
#include "rounding.h"

#include <float.h>
#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "dtype.h"

/* No sum of two numbers of such a format, and no place of one, leaves double's range. */
#define REACH 0x1p512
enum { MOST_PRECISION = 50, LEAST_EMIN = -900 };

static bool overflows_alike(const pf_format *f)
{
  switch (f->overflow) {
  case PF_OVERFLOW_INFINITY: return f->has_infinity;
  case PF_OVERFLOW_NAN: return !f->has_infinity;
  case PF_OVERFLOW_SATURATE: return true;
  case PF_OVERFLOW_WRAP: break;
  }
  return false;
}

/* The least magnitude that rounds to more than max: halfway to the next value, or the next double
   where the tie goes to max, the even one.  NaN if max is no normal value of f. */
static double overflow_limit(const pf_format *f)
{
  const int64_t half = INT64_C(1) << (DBL_MANT_DIG - 1 - f->precision);
  int64_t bits;
  double limit;
  memcpy(&bits, &f->max, sizeof bits);
  if ((bits & (2 * half - 1)) != 0 || f->max < pf_smallest_normal(f))
    return (double)NAN;
  bits += half + ((bits & 2 * half) == 0);
  memcpy(&limit, &bits, sizeof limit);
  return limit;
}

bool pf_lane_format_of(const pf_format *f, pf_lane_format *out)
{
  if (pf_is_integer(f) || f->rounding != PF_NEAREST_EVEN || f->precision > MOST_PRECISION ||
      f->emin < LEAST_EMIN || f->max > REACH || !overflows_alike(f))
    return false;
  *out = (pf_lane_format){
    .smallest_normal = pf_smallest_normal(f),
    .magic = ((int64_t)(53 - f->precision) << 52) | INT64_C(1) << 51,
    .limit = overflow_limit(f),
    .overflow = f->overflow == PF_OVERFLOW_INFINITY ? (double)INFINITY
                : f->overflow == PF_OVERFLOW_NAN    ? (double)NAN
                                                    : f->max,
    .zero_sign = f->has_negative_zero ? INT64_MIN : 0,
    .is_single = pf_format_equal(f, pf_format_of(PF_F32)),
  };
  return out->limit > 0;
}

typedef void each_fn(const pf_lane_format *f, pf_rounded what, const double *a, const double *b,
                     int64_t n, double *to);

#define ISA ISA_PORTABLE
#include "isa_target.h"
#include "rounding_lanes.h"
#include "rounding_loops.h"
#undef ISA
#if defined(__x86_64__)
#define ISA ISA_AVX2
#include "isa_target.h"
#include "rounding_lanes.h"
#include "rounding_loops.h"
#undef ISA
#endif

static each_fn *const loops[PF_ISA_COUNT] = {
  [PF_ISA_PORTABLE] = portable_each,
#if defined(__x86_64__)
  [PF_ISA_AVX2] = avx2_each, [PF_ISA_AVX512] = avx2_each,
#endif
};

static double one(pf_rounded what, const pf_format *f, double a, double b)
{
  switch (what) {
  case PF_ROUNDED_SUM: return pf_round_sum(f, a, b);
  case PF_ROUNDED_PRODUCT: return pf_round_product(f, a, b);
  case PF_ROUNDED_VALUE: break;
  }
  return pf_round(f, a);
}

void pf_round_by(pf_isa isa, pf_rounded what, const pf_format *f, const double *a, const double *b,
                 int64_t n, double *to)
{
  pf_lane_format lanes;
  if (pf_lane_format_of(f, &lanes)) {
    loops[isa](&lanes, what, a, b, n, to);
    return;
  }
  if (what != PF_ROUNDED_VALUE && f->precision == DBL_MANT_DIG) {
    for (int64_t i = 0; i < n; i++)
      to[i] = what == PF_ROUNDED_SUM ? a[i] + b[i] : a[i] * b[i];
    return;
  }
  for (int64_t i = 0; i < n; i++)
    to[i] = one(what, f, a[i], what == PF_ROUNDED_VALUE ? 0 : b[i]);
}

void pf_round_each(const pf_format *f, const double *a, int64_t n, double *to)
{
  pf_round_by(pf_isa_best(), PF_ROUNDED_VALUE, f, a, NULL, n, to);
}

void pf_round_sums(const pf_format *f, const double *a, const double *b, int64_t n, double *to)
{
  pf_round_by(pf_isa_best(), PF_ROUNDED_SUM, f, a, b, n, to);
}

void pf_round_products(const pf_format *f, const double *a, const double *b, int64_t n, double *to)
{
  pf_round_by(pf_isa_best(), PF_ROUNDED_PRODUCT, f, a, b, n, to);
}
