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

static TARGET void ISA_NAME(each)(const pf_lane_format *f, pf_rounded what, const double *a,
                                  const double *b, int64_t n, double *to)
{
  enum { LANES = LANES_OF(DOUBLES, double) };
  if (what == PF_ROUNDED_VALUE)
    b = a;
  for (int64_t i = 0; i < n; i += LANES) {
    const size_t bytes = (n - i < LANES ? (size_t)(n - i) : LANES) * sizeof *to;
    DOUBLES x = {0}, y = {0};
    if (bytes == sizeof x) {
      memcpy(&x, a + i, sizeof x);
      memcpy(&y, b + i, sizeof y);
    } else {
      memcpy(&x, a + i, bytes);
      memcpy(&y, b + i, bytes);
    }
    const DOUBLES v = ISA_NAME(one)(f, what, x, y);
    if (bytes == sizeof v)
      memcpy(to + i, &v, sizeof v);
    else
      memcpy(to + i, &v, bytes);
  }
}
