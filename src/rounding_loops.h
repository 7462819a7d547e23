/* The loop over an array, written once and included once per target, behind rounding_lanes.h.  No
   include guard: on purpose. */

typedef float ISA_NAME(singles) __attribute__((vector_size(VECTOR_BYTES / 2)));

INLINE DOUBLES ISA_NAME(one)(const pf_lane_format *f, pf_rounded what, DOUBLES a, DOUBLES b)
{
  const DOUBLES v = what == PF_ROUNDED_SUM       ? ISA_NAME(sum_to_odd)(a, b)
                    : what == PF_ROUNDED_PRODUCT ? a * b
                                                 : a;
  if (f->is_single)
    return __builtin_convertvector(__builtin_convertvector(v, ISA_NAME(singles)), DOUBLES);
  return ISA_NAME(round)(f, v);
}

/* The last vector reaches back over numbers that come before it, and is read before any of them is
   written. */
INLINE void ISA_NAME(all)(const pf_lane_format *f, pf_rounded what, const double *a,
                          const double *b, int64_t n, double *to)
{
  enum { LANES = LANES_OF(DOUBLES, double) };
  DOUBLES x, y;
  memcpy(&x, a + n - LANES, sizeof x);
  memcpy(&y, b + n - LANES, sizeof y);
  const DOUBLES last = ISA_NAME(one)(f, what, x, y);
  for (int64_t i = 0; i < n - LANES; i += LANES) {
    memcpy(&x, a + i, sizeof x);
    memcpy(&y, b + i, sizeof y);
    const DOUBLES v = ISA_NAME(one)(f, what, x, y);
    memcpy(to + i, &v, sizeof v);
  }
  memcpy(to + n - LANES, &last, sizeof last);
}

INLINE void ISA_NAME(few)(const pf_lane_format *f, pf_rounded what, const double *a,
                          const double *b, int64_t n, double *to)
{
  DOUBLES x = {0}, y = {0};
  for (int64_t i = 0; i < n; i++) {
    x[i] = a[i];
    y[i] = b[i];
  }
  const DOUBLES v = ISA_NAME(one)(f, what, x, y);
  for (int64_t i = 0; i < n; i++)
    to[i] = v[i];
}

static TARGET void ISA_NAME(each)(const pf_lane_format *f, pf_rounded what, const double *a,
                                  const double *b, int64_t n, double *to)
{
  b = what == PF_ROUNDED_VALUE ? a : b;
  if (n < LANES_OF(DOUBLES, double))
    ISA_NAME(few)(f, what, a, b, n, to);
  else if (what == PF_ROUNDED_VALUE)
    ISA_NAME(all)(f, PF_ROUNDED_VALUE, a, a, n, to);
  else if (what == PF_ROUNDED_SUM)
    ISA_NAME(all)(f, PF_ROUNDED_SUM, a, b, n, to);
  else
    ISA_NAME(all)(f, PF_ROUNDED_PRODUCT, a, b, n, to);
}
