/* Loops over the elements of a block, likewise, behind enclosure_block_dots.h. */

/* v moved to the next double above it; 0 and what is not finite stay. */
INLINE DOUBLES ISA_NAME(step_up)(DOUBLES v)
{
  const DOUBLES zero = {0};
  const LONGS bits = (LONGS)v;
  const DOUBLES next = SELECT(GT(v, zero), (DOUBLES)(bits + 1), (DOUBLES)(bits - 1));
  return SELECT(NE(v, zero) & LT(MAGNITUDE(v), SPLAT(INFINITY)), next, v);
}

/* a + b, rounded; *lost = what is missing to the exact sum (TwoSum). */
INLINE DOUBLES ISA_NAME(two_sum)(DOUBLES a, DOUBLES b, DOUBLES *lost)
{
  const DOUBLES sum = a + b, part = sum - a;
  *lost = (a - (sum - part)) + (b - part);
  return sum;
}

/* Where a sum of finite numbers overflowed. */
INLINE MASKS ISA_NAME(overflowed)(DOUBLES sum, DOUBLES a, DOUBLES b)
{
  const DOUBLES infinite = SPLAT(INFINITY);
  return EQ(MAGNITUDE(sum), infinite) & LT(MAGNITUDE(a), infinite) & LT(MAGNITUDE(b), infinite);
}

/* The least double that is certainly not below a + b; a + b itself where that is one.  Unknown where
   finite numbers overflow. */
INLINE DOUBLES ISA_NAME(sum_up)(DOUBLES a, DOUBLES b)
{
  const DOUBLES zero = {0};
  DOUBLES lost;
  const DOUBLES s = ISA_NAME(two_sum)(a, b, &lost);
  const DOUBLES up = SELECT(GT(lost, zero), ISA_NAME(step_up)(s), s);
  return SELECT(ISA_NAME(overflowed)(s, a, b), SPLAT(NAN), up);
}

/* A double not below value + tail - e for all that lies within radius, and hardly above it. */
INLINE DOUBLES ISA_NAME(low_end)(DOUBLES value, DOUBLES tail, DOUBLES radius, DOUBLES e)
{
  DOUBLES lost;
  const DOUBLES d = ISA_NAME(two_sum)(value, -e, &lost);
  const DOUBLES size = MAGNITUDE(lost) + MAGNITUDE(tail) + radius;
  return ISA_NAME(sum_up)(d, (lost + tail) + radius + size * SPLAT(0x1p-50));
}

/* What E is at least, and what it and the magnitudes together are at most. */
typedef struct ISA_NAME(errors) {
  DOUBLES e, most;
  MASKS weak, strong;   /* surely; where neither is set it is not known */
} ISA_NAME(errors);

INLINE ISA_NAME(errors) ISA_NAME(bound)(const pf_block_rates *r, DOUBLES t_near, DOUBLES unit,
                                        DOUBLES g, DOUBLES bias, DOUBLES exposed)
{
  const DOUBLES zero = {0}, quantum = SPLAT(r->quantum), shrink = SPLAT(r->shrink);
  const MASKS never_rounds =
      GE(g, quantum) & LE(t_near, g * SPLAT(r->exact_scale)) & MASK_OF(r->plain_alpha);
  const DOUBLES relative = SELECT(NE(bias, zero), SPLAT(r->relative[1]), SPLAT(r->relative[0]));
  const MASKS fits = GE(unit, quantum);
  const DOUBLES lost = SELECT(fits, SPLAT(r->lost[1]), SPLAT(r->lost[0]));
  const DOUBLES lost_most = SELECT(fits, SPLAT(r->lost_most[1]), SPLAT(r->lost_most[0]));
  const DOUBLES t_lost = SPLAT(r->t_lost), t_least = t_near * shrink - t_lost;
  const DOUBLES least = (relative * SELECT(GT(t_least, zero), t_least, zero) + lost) * shrink;
  const DOUBLES most = (relative * t_near + lost_most + exposed * quantum) * SPLAT(1.5);
  ISA_NAME(errors) to;
  to.e = SELECT(never_rounds, zero, least);
  to.most = SELECT(never_rounds, zero, most);
  /* a magnitude of 0 is one, but for wide operands, whose products may have vanished */
  to.strong = never_rounds | LT(most + most, t_near) | (EQ(t_near, zero) & MASK_OF(r->narrow));
  to.weak = NOT(to.strong) & GT(t_near, zero) & GT(to.e, t_near * SPLAT(1 + 0x1p-40) + t_lost);
  return to;
}

/* What the sums of a vector of elements are made of. */
typedef struct ISA_NAME(sums) {
  DOUBLES sum, absolute, c, bias, finite;   /* as in pf_block_terms */
  DOUBLES value, size;   /* of v, rounded, and of T */
  DOUBLES beyond;        /* bounds what all roundings together may add to a partial sum */
} ISA_NAME(sums);

/* Ends of elements that are not known, where what is infinite or NaN decides. */
INLINE void ISA_NAME(special_ends)(const pf_block_rates *r, const ISA_NAME(sums) *s, DOUBLES *low,
                                   DOUBLES *high)
{
  const DOUBLES zero = {0}, infinite = SPLAT(INFINITY), max = SPLAT(r->max), half = SPLAT(0.5);
  const DOUBLES size = MAGNITUDE(s->value);
  const MASKS scaled = MASK_OF(r->scaled), narrow = MASK_OF(r->narrow);
  /* the sum leaves the range on one side, and no partial sum can on the other */
  const DOUBLES one_side =
      (s->size * SPLAT(1 + 0x1p-40) - size) * half + (s->beyond + s->beyond);
  const MASKS leaves = GE(size - s->beyond, max + max) & LT(s->size, infinite) &
                       LT(one_side, max * half) & NOT(scaled);
  /* an infinite term, and finite ones that stay far from overflow */
  const DOUBLES c = MAGNITUDE(s->c), bias = MAGNITUDE(s->bias);
  const DOUBLES finite_c = SELECT(LT(c, infinite), c, zero);
  const DOUBLES finite_bias = SELECT(LT(bias, infinite), bias, zero);
  const DOUBLES finite = s->finite + finite_c + finite_bias + SPLAT(r->lost_most[0]);
  const MASKS given = EQ(size, infinite) & NOT(scaled) & LT(finite * SPLAT(4), max) &
                      (narrow | LT(MAGNITUDE(s->sum), infinite));
  const DOUBLES end = SELECT(GT(s->value, zero), infinite, -infinite);
  *low = SELECT(leaves | given, end, *low);
  *high = SELECT(leaves | given, end, *high);
  /* products of narrow operands are finite unless an operand is not, and so are their sums where
     the magnitudes' is */
  const MASKS product_nan =
      NE(s->sum, s->sum) & LT(s->finite, infinite) & narrow & NOT(MASK_OF(r->no_products));
  const MASKS addend_nan = (NE(s->c, s->c) | NE(s->bias, s->bias)) & EQ(s->finite, s->finite);
  *low = SELECT(product_nan | addend_nan, infinite, *low);
  *high = SELECT(product_nan | addend_nan, -infinite, *high);
}

/* The sums of a vector of elements with everything that belongs to them.  What is missing of v to
   s->value is *rest, and at most *radius. */
INLINE void ISA_NAME(add_up)(const pf_block_rates *r, const pf_block_terms *t, int i, DOUBLES g,
                             MASKS dot_exact, ISA_NAME(sums) *s, DOUBLES *rest, DOUBLES *radius)
{
  const DOUBLES zero = {0}, alpha = SPLAT(r->alpha), abs_alpha = SPLAT(r->abs_alpha);
  DOUBLES lost_c, lost_bias;
  s->c = ISA_NAME(load)(t->c + i);
  s->bias = ISA_NAME(load)(t->bias + i);
  const DOUBLES scaled = s->sum * alpha, low_part = ISA_NAME(load)(t->tail + i) * alpha;
  const DOUBLES with_c = ISA_NAME(two_sum)(scaled, s->c, &lost_c);
  s->value = ISA_NAME(two_sum)(with_c, s->bias, &lost_bias);
  s->size = s->absolute * abs_alpha + (MAGNITUDE(s->c) + MAGNITUDE(s->bias));
  const DOUBLES small = MAGNITUDE(low_part) + MAGNITUDE(lost_c) + MAGNITUDE(lost_bias);
  const MASKS exact = LT(s->size, g * SPLAT(0x1p52)) & dot_exact & MASK_OF(r->plain_alpha);
  const DOUBLES of_dot = ISA_NAME(load)(t->radius + i) + s->absolute * SPLAT(r->rho);
  const DOUBLES all = SELECT(dot_exact & MASK_OF(r->narrow), zero, of_dot) * abs_alpha +
                      MAGNITUDE(scaled) * SPLAT(r->alpha_loss) +
                      MAGNITUDE(s->c) * SPLAT(r->beta_loss) + small * SPLAT(0x1p-50) +
                      SPLAT(0x1p-1071);
  *radius = SELECT(exact, zero, all);
  *rest = SELECT(exact, zero, low_part + lost_c + lost_bias);
}

/* The same where r->bare. */
INLINE void ISA_NAME(add_up_bare)(const pf_block_rates *r, DOUBLES g, MASKS dot_exact,
                                  ISA_NAME(sums) *s, DOUBLES *rest, DOUBLES *radius)
{
  const DOUBLES zero = {0};
  s->c = s->bias = *rest = zero;
  s->value = s->sum;
  s->size = s->absolute;
  const MASKS exact = LT(s->size, g * SPLAT(0x1p52)) & dot_exact;
  const DOUBLES all = SELECT(dot_exact, zero, s->absolute * SPLAT(r->rho)) + SPLAT(0x1p-1071);
  *radius = SELECT(exact, zero, all);
}

INLINE uint64_t ISA_NAME(ends_of)(const pf_block_rates *r, const pf_block_terms *t, bool bare, int n,
                                  double *lo, double *hi)
{
  uint64_t weak = 0;
  for (int i = 0; i < n; i += LANES) {
    ISA_NAME(sums) s;
    DOUBLES rest, radius;
    const DOUBLES zero = {0}, unit = ISA_NAME(load)(t->unit + i);
    const DOUBLES g = bare ? unit : ISA_NAME(load)(t->all_unit + i);
    const DOUBLES exposed = bare ? zero : ISA_NAME(load)(t->exposed + i);
    s.sum = ISA_NAME(load)(t->sum + i);
    s.absolute = ISA_NAME(load)(t->absolute + i);
    s.finite = ISA_NAME(load)(t->finite + i);
    const MASKS dot_exact = LT(s.absolute, unit * SPLAT(0x1p53)) | MASK_OF(r->one_product);
    if (bare)
      ISA_NAME(add_up_bare)(r, g, dot_exact, &s, &rest, &radius);
    else
      ISA_NAME(add_up)(r, t, i, g, dot_exact, &s, &rest, &radius);

    const ISA_NAME(errors) b = ISA_NAME(bound)(r, s.size, unit, g, s.bias, exposed);
    DOUBLES low = ISA_NAME(low_end)(s.value, rest, radius, b.e);
    DOUBLES high = -ISA_NAME(low_end)(-s.value, -rest, radius, b.e);

    /* nothing overflows in any order */
    s.beyond = b.most + radius + MAGNITUDE(rest);
    const DOUBLES max = SPLAT(r->max * (1 - 0x1p-10));
    MASKS known = LT(s.size * SPLAT(1 + 0x1p-40) + s.beyond, max) & (b.weak | b.strong);
    if (!bare)  /* what alpha multiplies has been rounded, and is again */
      known &= NOT(MASK_OF(r->scaled)) |
               (LT(s.size * SPLAT(1 + r->unscaled) + s.beyond + b.most, max) &
                LT(exposed, SPLAT(r->most_exposed)) & LT(s.absolute, SPLAT(r->most_products)) &
                LT(s.absolute * SPLAT(r->abs_alpha), SPLAT(0x1p900)));
    weak |= BITS(known & b.weak) << i;
    if (!ALL(known)) {
      low = SELECT(known, low, SPLAT(NAN));
      high = SELECT(known, high, SPLAT(NAN));
      ISA_NAME(special_ends)(r, &s, &low, &high);
    }
    ISA_NAME(store)(lo + i, low);
    ISA_NAME(store)(hi + i, high);
  }
  return weak;
}

/* Returns which elements are weak. */
static TARGET uint64_t ISA_NAME(ends)(const pf_block_rates *r, const pf_block_terms *t, int n,
                                      double *lo, double *hi)
{
  return r->bare ? ISA_NAME(ends_of)(r, t, true, n, lo, hi)
                 : ISA_NAME(ends_of)(r, t, false, n, lo, hi);
}

/* See pf_block_loops.  Where T > 2^p g for a g that the unit divides, sums are not exact, and E is
   that of rounded ones, at least with all products multiples of the smallest subnormal, at most with
   none.  2^-20 covers the roundings of T. */
static TARGET bool ISA_NAME(ends_rounding)(const pf_block_rates *r, const pf_block_terms *t, int n,
                                           double *lo, double *hi, uint64_t *weak)
{
  const DOUBLES zero = {0}, relative = SPLAT(r->relative[0]), shrink = SPLAT(r->shrink);
  *weak = 0;
  for (int i = 0; i < n; i += LANES) {
    const DOUBLES value = ISA_NAME(load)(t->sum + i), size = ISA_NAME(load)(t->absolute + i);
    const DOUBLES rounds = ISA_NAME(load)(t->unit + i) * SPLAT(r->exact_scale * (1 + 0x1p-20));
    const DOUBLES radius = size * SPLAT(r->rho) + SPLAT(0x1p-1071);
    const DOUBLES e = (relative * (size * shrink) + SPLAT(r->lost[1])) * shrink;
    const DOUBLES most = (relative * size + SPLAT(r->lost_most[0])) * SPLAT(1.5);
    const MASKS strong = LT(most + most, size), is_weak = GT(e, size * SPLAT(1 + 0x1p-40));
    const MASKS known =
        LT(size * SPLAT(1 + 0x1p-40) + (most + radius), SPLAT(r->max * (1 - 0x1p-10))) &
        (strong | is_weak) & GT(size, rounds);
    if (!ALL(known))
      return false;
    *weak |= BITS(NOT(strong) & is_weak) << i;
    ISA_NAME(store)(lo + i, ISA_NAME(low_end)(value, zero, radius, e));
    ISA_NAME(store)(hi + i, -ISA_NAME(low_end)(-value, zero, radius, e));
  }
  return true;
}

/* RN with an unbounded range: of normal numbers by an addition to the bits that carries into what is
   kept, below them by an addition that leaves no smaller bits. */
INLINE DOUBLES ISA_NAME(round_lanes)(const pf_block_format *f, DOUBLES v)
{
  if (!f->shift)
    return v;
  const LONGS bits = (LONGS)v, odd = (bits >> f->shift) & 1;
  const LONGS cut =
      (bits + ((INT64_C(1) << (f->shift - 1)) - 1) + odd) & -(INT64_C(1) << f->shift);
  const DOUBLES magic = SPLAT(f->magic), small = (v + magic) - magic;
  const DOUBLES r =
      SELECT(GE(MAGNITUDE(v), SPLAT(f->smallest_normal)), (DOUBLES)cut, small);
  return SELECT(LT(MAGNITUDE(v), SPLAT(INFINITY)), r, v);
}

/* An integer modulo what the format wraps at; only points come out right. */
INLINE DOUBLES ISA_NAME(wrap_lanes)(const pf_block_format *f, DOUBLES low, DOUBLES high)
{
  const DOUBLES magic = SPLAT(0x1.8p52), whole = (low + magic) - magic;
  const DOUBLES turns = (low - SPLAT(f->lowest)) * SPLAT(f->per_modulus);
  DOUBLES floor = (turns + magic) - magic;
  floor = SELECT(GT(floor, turns), floor - SPLAT(1), floor);
  const MASKS known = EQ(low, high) & EQ(low, whole) & LT(MAGNITUDE(low), SPLAT(0x1p50));
  return SELECT(known, low - floor * SPLAT(f->modulus), SPLAT(NAN));
}

INLINE DOUBLES ISA_NAME(clamp)(DOUBLES v, DOUBLES max)
{
  v = SELECT(GT(v, max), max, v);
  return SELECT(LT(v, -max), -max, v);
}

/* Returns where an end lies so near the end of the range, or beyond it, that the exact set may hold
   what overflows, too. */
INLINE MASKS ISA_NAME(round_pair)(const pf_block_format *f, DOUBLES *low, DOUBLES *high)
{
  const DOUBLES infinite = SPLAT(INFINITY), most = SPLAT(f->most), max = SPLAT(f->max);
  if (f->modulus > 0) {
    *low = *high = ISA_NAME(wrap_lanes)(f, *low, *high);
    return MASK_OF((int64_t)0);
  }
  const MASKS nan = EQ(*low, infinite) & EQ(*high, -infinite);
  if (f->saturates) {
    *low = ISA_NAME(clamp)(*low, max);
    *high = ISA_NAME(clamp)(*high, max);
  }
  const DOUBLES from = *low, to = *high;
  *low = ISA_NAME(round_lanes)(f, from);
  *high = ISA_NAME(round_lanes)(f, to);
  const MASKS closed = LE(MAGNITUDE(*low), most) & LE(MAGNITUDE(*high), most) & NOT(nan);
  if (ALL(closed))
    return NOT(closed);
  /* numbers beyond the range are none of the exact set's, the end of the range is */
  const MASKS reached = LE(*low, max) & GE(*high, -max);
  *low = SELECT(reached, SELECT(LT(*low, -max), -max, *low), SPLAT(NAN));
  *high = SELECT(reached, SELECT(GT(*high, max), max, *high), SPLAT(NAN));
  /* all overflows: the exact interval's near end lies inside by a small share of the width */
  const DOUBLES beyond = SPLAT(f->beyond), half = SPLAT(0.5);
  const MASKS above = GE(from, beyond) & GE(to, beyond) & GE(from, to * half);
  const MASKS below = LE(from, -beyond) & LE(to, -beyond) & LE(to, from * half);
  /* {inf} is [inf, inf]; {NaN} is written [inf, -inf] */
  *low = SELECT(above | nan, infinite, *low);
  *high = SELECT(above, SPLAT(f->above), *high);
  *low = SELECT(below, SPLAT(-f->above), *low);
  *high = SELECT(below | nan, -infinite, *high);
  return NOT(closed | above | below | nan);
}

/* These three return the bits of elements whose exact set may hold what overflows. */
static TARGET uint64_t ISA_NAME(round)(const pf_block_format *f, const pf_block_ends *a, int n,
                                       double *lo, double *hi)
{
  uint64_t open = 0;
  for (int i = 0; i < n; i += LANES) {
    DOUBLES low = ISA_NAME(load)(a->lo + i), high = ISA_NAME(load)(a->hi + i);
    open |= BITS(ISA_NAME(round_pair)(f, &low, &high)) << i;
    ISA_NAME(store)(lo + i, low);
    ISA_NAME(store)(hi + i, high);
  }
  return open;
}

/* What rounding to f takes for a + b: its double to odd (format.h), or for double itself the
   nearest.  Unknown where finite numbers overflow. */
INLINE DOUBLES ISA_NAME(sum_for)(const pf_block_format *f, DOUBLES a, DOUBLES b)
{
  const DOUBLES zero = {0};
  DOUBLES lost;
  DOUBLES s = ISA_NAME(two_sum)(a, b, &lost);
  const MASKS overflowed = ISA_NAME(overflowed)(s, a, b);
  if (f->shift) {
    /* lost may be NaN, which is no loss */
    const MASKS inexact = LT(lost, zero) | GT(lost, zero);
    const LONGS bits = (LONGS)s, beyond = ((LONGS)lost ^ bits) >> 63;
    s = SELECT(inexact, (DOUBLES)((bits + beyond) | 1), s);
  }
  return SELECT(overflowed, SPLAT(NAN), s);
}

static TARGET uint64_t ISA_NAME(add)(const pf_block_format *f, const pf_block_ends *a,
                                     const pf_block_ends *b, int n, double *lo, double *hi)
{
  uint64_t open = 0;
  for (int i = 0; i < n; i += LANES) {
    DOUBLES low = ISA_NAME(sum_for)(f, ISA_NAME(load)(a->lo + i), ISA_NAME(load)(b->lo + i));
    DOUBLES high = ISA_NAME(sum_for)(f, ISA_NAME(load)(a->hi + i), ISA_NAME(load)(b->hi + i));
    open |= BITS(ISA_NAME(round_pair)(f, &low, &high)) << i;
    ISA_NAME(store)(lo + i, low);
    ISA_NAME(store)(hi + i, high);
  }
  return open;
}

/* exact: products of the ends and the factors are doubles, or the one rounding of them is f's. */
static TARGET uint64_t ISA_NAME(scale)(const pf_block_format *f, const pf_block_ends *a,
                                       const double *factor, bool exact, int n, double *lo,
                                       double *hi)
{
  uint64_t open = 0;
  const DOUBLES zero = {0}, infinite = SPLAT(INFINITY);
  const MASKS inexact = MASK_OF(exact ? (int64_t)0 : (int64_t)-1);
  for (int i = 0; i < n; i += LANES) {
    const DOUBLES p = ISA_NAME(load)(a->lo + i), q = ISA_NAME(load)(a->hi + i);
    const DOUBLES by = ISA_NAME(load)(factor + i), from = p * by, to = q * by;
    DOUBLES low = SELECT(LT(by, zero), to, from), high = SELECT(LT(by, zero), -from, -to);
    if (!exact) {
      low = ISA_NAME(step_up)(low);
      high = ISA_NAME(step_up)(high);
    }
    high = -high;
    /* what vanishes or overflows, and infinite factors, are for the careful paths */
    const MASKS vanished = NE(by, zero) & inexact & ((NE(p, zero) & EQ(from, zero)) |
                                                     (NE(q, zero) & EQ(to, zero)));
    const MASKS overflowed = (EQ(MAGNITUDE(from), infinite) & LT(MAGNITUDE(p), infinite)) |
                             (EQ(MAGNITUDE(to), infinite) & LT(MAGNITUDE(q), infinite));
    const MASKS unknown = vanished | overflowed | NOT(LT(MAGNITUDE(by), infinite));
    low = SELECT(unknown, SPLAT(NAN), low);
    open |= BITS(ISA_NAME(round_pair)(f, &low, &high)) << i;
    ISA_NAME(store)(lo + i, low);
    ISA_NAME(store)(hi + i, high);
  }
  return open;
}

/* Which of got[i] are allowed, a bit each. */
static TARGET uint64_t ISA_NAME(compare)(const pf_block_ends *a, const double *got, int n)
{
  const DOUBLES infinite = SPLAT(INFINITY);
  uint64_t inside = 0;
  for (int i = 0; i < n; i += LANES) {
    const DOUBLES low = ISA_NAME(load)(a->lo + i), high = ISA_NAME(load)(a->hi + i);
    const DOUBLES v = ISA_NAME(load)(got + i);
    const MASKS nan = EQ(low, infinite) & EQ(high, -infinite) & NE(v, v);
    inside |= BITS((GE(v, low) & LE(v, high)) | nan) << i;
  }
  return inside;
}

/* Ends of values that are known: a NaN is written as round_pair has it. */
static TARGET void ISA_NAME(points)(const double *v, int n, double *lo, double *hi)
{
  for (int i = 0; i < n; i += LANES) {
    const DOUBLES at = ISA_NAME(load)(v + i);
    ISA_NAME(store)(lo + i, SELECT(NE(at, at), SPLAT(INFINITY), at));
    ISA_NAME(store)(hi + i, SELECT(NE(at, at), SPLAT(-INFINITY), at));
  }
}

static const pf_block_loops ISA_NAME(loops) = {
  ISA_NAME(scan_grid), ISA_NAME(scan), ISA_NAME(dots), ISA_NAME(dots2), ISA_NAME(ends),
  ISA_NAME(ends_rounding), ISA_NAME(round), ISA_NAME(add), ISA_NAME(scale), ISA_NAME(compare),
  ISA_NAME(points)};
