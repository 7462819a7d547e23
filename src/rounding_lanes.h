/* Rounding in lanes, written once and included once per target, behind isa_target.h.  No include
   guard: on purpose. */

/* RN_f(v).  Adding 1.5 times a power of two whose last place is that of the result rounds there, in
   the default rounding mode; taking it away again is exact, and leaves +0 of what rounds to zero.
   Below the smallest normal number all places are the same.  What overflows, infinity too, may come
   out as anything before it is replaced; NaN stays NaN. */
INLINE DOUBLES ISA_NAME(round)(const pf_lane_format *f, DOUBLES v)
{
  const MASKS bits = (MASKS)v;
  const DOUBLES power = (DOUBLES)(bits & INT64_C(0x7ff0000000000000));
  const DOUBLES normal = GREATER(power, SPLAT(f->smallest_normal));
  const DOUBLES big = (DOUBLES)((MASKS)normal + f->magic);
  const DOUBLES rounded = (DOUBLES)((MASKS)((v + big) - big) | (bits & f->zero_sign));
  const DOUBLES overflow = (DOUBLES)((MASKS)SPLAT(f->overflow) | (bits & INT64_MIN));
  return SELECT((DOUBLES)(bits & INT64_MAX) >= SPLAT(f->limit), overflow, rounded);
}

/* pf_sum_to_odd but for sums of more than DBL_MAX, which stay infinite: no format here holds
   either.  The error is NaN where the sum is no number, or too near DBL_MAX to matter. */
INLINE DOUBLES ISA_NAME(sum_to_odd)(DOUBLES a, DOUBLES b)
{
  const DOUBLES s = a + b;
  const DOUBLES second = s - a, first = s - second;
  const DOUBLES error = (a - first) + (b - second);
  const MASKS bits = (MASKS)s;
  const MASKS inexact = (error != 0.0) & ((bits & INT64_MAX) < INT64_C(0x7ff0000000000000));
  const MASKS outward = ((MASKS)error ^ bits) >> 63;  /* 0: away from zero, -1: toward it */
  return (DOUBLES)(bits + (((outward | 1) & inexact) & ~(-(bits & 1))));
}
