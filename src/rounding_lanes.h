/* Rounding in lanes, written once and included once per target, behind isa_target.h.  No include
   guard: on purpose. */

/* RN_f(v).  Adding a power of two whose last place is that of the result rounds there, in the
   default rounding mode; taking it away again is exact.  Below the smallest normal number all
   places are the same. */
INLINE DOUBLES ISA_NAME(round)(const pf_lane_format *f, DOUBLES v)
{
  const MASKS bits = (MASKS)v;
  const DOUBLES magnitude = LESSER((DOUBLES)(bits & INT64_MAX), SPLAT(f->beyond));
  const DOUBLES normal = GREATER(magnitude, SPLAT(f->smallest_normal));
  const DOUBLES big = (DOUBLES)(((MASKS)normal & INT64_C(0x7ff0000000000000)) + f->magic);
  DOUBLES rounded = (magnitude + big) - big;
  rounded = SELECT(rounded > SPLAT(f->max), SPLAT(f->overflow), rounded);
  const MASKS sign = bits & INT64_MIN & ((rounded != 0.0) | f->zero_sign);
  return SELECT(v == v, (DOUBLES)((MASKS)rounded | sign), v);
}

/* pf_sum_to_odd but for sums of more than DBL_MAX, which stay infinite: no format here holds
   either. */
INLINE DOUBLES ISA_NAME(sum_to_odd)(DOUBLES a, DOUBLES b)
{
  const DOUBLES s = a + b;
  const DOUBLES second = s - a, first = s - second;
  const DOUBLES error = (a - first) + (b - second);
  const MASKS bits = (MASKS)s;
  const MASKS inexact = (error < 0.0) | (error > 0.0);
  const MASKS outward = ((MASKS)error ^ bits) >> 63;  /* 0: away from zero, -1: toward it */
  return (DOUBLES)(bits + (((outward | 1) & inexact) & ~(-(bits & 1))));
}
