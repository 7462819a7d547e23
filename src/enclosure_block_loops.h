/* Loops over the elements of a block, likewise: behind enclosure_block_dots.h, with the same TARGET and
   NAME. */

/* v moved to the next double above it; 0 and what is not finite stay. */
PF_LANES_INLINE TARGET void NAME(step_up)(pf_lanes *v)
{
  const pf_masks bits = (pf_masks)*v;
  const pf_masks next = bits + ((pf_masks)(*v > 0.0) & 2) - 1;
  *v = PF_LANES_SELECT((*v != 0.0) & (PF_LANES_ABS(*v) < INFINITY), next, *v);
}

/* *s = a + b, rounded; *lost = what is missing to the exact sum (TwoSum). */
PF_LANES_INLINE TARGET void NAME(two_sum)(const pf_lanes *a, const pf_lanes *b, pf_lanes *s,
                                          pf_lanes *lost)
{
  const pf_lanes sum = *a + *b, part = sum - *a;
  *lost = (*a - (sum - part)) + (*b - part);
  *s = sum;
}

/* The least double that is certainly not below a + b; a + b itself where that is one.  Unknown where
   finite numbers overflow. */
PF_LANES_INLINE TARGET void NAME(sum_up)(const pf_lanes *a, const pf_lanes *b, pf_lanes *to)
{
  pf_lanes s, lost;
  NAME(two_sum)(a, b, &s, &lost);
  pf_lanes up = s;
  NAME(step_up)(&up);
  const pf_masks overflowed = (PF_LANES_ABS(s) == INFINITY) & (PF_LANES_ABS(*a) < INFINITY) &
                              (PF_LANES_ABS(*b) < INFINITY);
  s = PF_LANES_SELECT(lost > 0.0, up, s);
  *to = PF_LANES_SELECT(overflowed, PF_LANES_OF(NAN), s);
}

/* A double not below value + tail - e for all that lies within radius, and hardly above it. */
PF_LANES_INLINE TARGET void NAME(low_end)(const pf_lanes *value, const pf_lanes *tail,
                                          const pf_lanes *radius, const pf_lanes *e, pf_lanes *to)
{
  const pf_lanes down = -*e;
  pf_lanes d, lost;
  NAME(two_sum)(value, &down, &d, &lost);
  const pf_lanes size = PF_LANES_ABS(lost) + PF_LANES_ABS(*tail) + *radius;
  const pf_lanes rest = (lost + *tail) + *radius + size * 0x1p-50;
  NAME(sum_up)(&d, &rest, to);
}

/* What E is at least, and what it and the magnitudes together are at most. */
typedef struct NAME(errors) {
  pf_lanes e, most;
  pf_masks weak, strong;   /* surely; where neither is set it is not known */
} NAME(errors);

PF_LANES_INLINE TARGET void NAME(bound)(const pf_block_rates *r, const pf_lanes *t_near,
                                        const pf_lanes *unit, const pf_lanes *g,
                                        const pf_lanes *bias, const pf_lanes *exposed,
                                        NAME(errors) *to)
{
  const pf_masks never_rounds =
      (*g >= r->quantum) & (*t_near <= *g * r->exact_scale) & r->plain_alpha;
  const pf_lanes zero = {0};
  const pf_lanes relative =
      PF_LANES_SELECT(*bias != 0.0, PF_LANES_OF(r->relative[1]), PF_LANES_OF(r->relative[0]));
  const pf_masks fits = *unit >= r->quantum;
  const pf_lanes lost =
      PF_LANES_SELECT(fits, PF_LANES_OF(r->lost[1]), PF_LANES_OF(r->lost[0]));
  const pf_lanes lost_most =
      PF_LANES_SELECT(fits, PF_LANES_OF(r->lost_most[1]), PF_LANES_OF(r->lost_most[0]));
  const pf_lanes t_least = *t_near * r->shrink - r->t_lost;
  const pf_lanes least =
      (relative * PF_LANES_SELECT(t_least > 0.0, t_least, zero) + lost) * r->shrink;
  const pf_lanes most = (relative * *t_near + lost_most + *exposed * r->quantum) * 1.5;
  to->e = PF_LANES_SELECT(never_rounds, zero, least);
  to->most = PF_LANES_SELECT(never_rounds, zero, most);
  /* a magnitude of 0 is one, but for wide operands, whose products may have vanished */
  to->strong = never_rounds | (most * 2 < *t_near) | ((*t_near == 0.0) & r->narrow);
  to->weak = ~to->strong & (*t_near > 0.0) & (to->e > *t_near * (1 + 0x1p-40) + r->t_lost);
}

/* Returns which elements are weak. */
static TARGET uint64_t NAME(ends)(const pf_block_rates *r, const pf_block_terms *t, int n,
                                  double *lo, double *hi)
{
  uint64_t weak = 0;
  for (int i = 0; i < n; i += PF_LANES_WIDTH) {
    const pf_lanes zero = {0}, infinite = PF_LANES_OF(INFINITY);
    pf_lanes sum, tail, absolute, radius, unit, c, bias, g, exposed, finite;
    PF_LANES_LOAD(sum, t->sum + i);
    PF_LANES_LOAD(tail, t->tail + i);
    PF_LANES_LOAD(absolute, t->absolute + i);
    PF_LANES_LOAD(radius, t->radius + i);
    PF_LANES_LOAD(unit, t->unit + i);
    PF_LANES_LOAD(c, t->c + i);
    PF_LANES_LOAD(bias, t->bias + i);
    PF_LANES_LOAD(g, t->all_unit + i);
    PF_LANES_LOAD(exposed, t->exposed + i);
    PF_LANES_LOAD(finite, t->finite + i);

    const pf_lanes scaled = sum * r->alpha;
    pf_lanes with_c, value, lost_c, lost_bias;
    NAME(two_sum)(&scaled, &c, &with_c, &lost_c);
    NAME(two_sum)(&with_c, &bias, &value, &lost_bias);
    const pf_lanes low_part = tail * r->alpha;
    const pf_lanes small = PF_LANES_ABS(low_part) + PF_LANES_ABS(lost_c) + PF_LANES_ABS(lost_bias);
    pf_lanes rest = low_part + lost_c + lost_bias;
    const pf_lanes addends = PF_LANES_ABS(c) + PF_LANES_ABS(bias);
    const pf_lanes t_near = absolute * r->abs_alpha + addends;
    const pf_masks dot_exact = (absolute < unit * 0x1p53) | r->one_product;
    const pf_masks all_exact = (t_near < g * 0x1p52) & dot_exact & r->plain_alpha;
    radius = PF_LANES_SELECT(dot_exact & r->narrow, zero, radius + absolute * r->rho);
    radius = radius * r->abs_alpha + PF_LANES_ABS(scaled) * r->alpha_loss +
             PF_LANES_ABS(c) * r->beta_loss + small * 0x1p-50 + 0x1p-1071;
    radius = PF_LANES_SELECT(all_exact, zero, radius);
    rest = PF_LANES_SELECT(all_exact, zero, rest);

    NAME(errors) b;
    NAME(bound)(r, &t_near, &unit, &g, &bias, &exposed, &b);
    pf_lanes low, high;
    const pf_lanes mirrored = -value, mirrored_rest = -rest;
    NAME(low_end)(&value, &rest, &radius, &b.e, &low);
    NAME(low_end)(&mirrored, &mirrored_rest, &radius, &b.e, &high);
    high = -high;

    /* nothing overflows in any order */
    const pf_lanes beyond = b.most + radius + PF_LANES_ABS(rest);
    const pf_masks alpha_harmless = (exposed < r->most_exposed) & (absolute < r->most_products) &
                                    (absolute * r->abs_alpha < 0x1p900);
    const pf_masks known = (t_near * (1 + 0x1p-40) + beyond < r->max * (1 - 0x1p-10)) &
                           (~r->scaled | alpha_harmless) & (b.weak | b.strong);
    const pf_masks weak_here = known & b.weak;
    for (int l = 0; l < PF_LANES_WIDTH; l++)
      weak |= (uint64_t)(weak_here[l] & 1) << (i + l);
    low = PF_LANES_SELECT(known, low, PF_LANES_OF(NAN));
    high = PF_LANES_SELECT(known, high, PF_LANES_OF(NAN));

    /* the sum leaves the range on one side, and no partial sum can on the other */
    const pf_lanes one_side = (t_near * (1 + 0x1p-40) - PF_LANES_ABS(value)) * 0.5 + beyond * 2;
    const pf_masks leaves = (PF_LANES_ABS(value) - beyond >= r->max * 2) & (t_near < INFINITY) &
                            (one_side < r->max * 0.5) & ~r->scaled;
    /* an infinite term, and finite ones that stay far from overflow */
    const pf_lanes finite_c = PF_LANES_SELECT(PF_LANES_ABS(c) < INFINITY, PF_LANES_ABS(c), zero);
    const pf_lanes finite_bias =
        PF_LANES_SELECT(PF_LANES_ABS(bias) < INFINITY, PF_LANES_ABS(bias), zero);
    const pf_masks given = (PF_LANES_ABS(value) == INFINITY) & ~r->scaled &
                           ((finite + finite_c + finite_bias + r->lost_most[0]) * 4 < r->max) &
                           (r->narrow | (PF_LANES_ABS(sum) < INFINITY));
    const pf_lanes end = PF_LANES_SELECT(value > 0.0, infinite, -infinite);
    low = PF_LANES_SELECT(leaves | given, end, low);
    high = PF_LANES_SELECT(leaves | given, end, high);

    /* products of narrow operands are finite unless an operand is not, and so are their sums where
       the magnitudes' is */
    const pf_masks nan = ((sum != sum) & (finite < INFINITY) & r->narrow & ~r->no_products) |
                         (((c != c) | (bias != bias)) & (finite == finite));
    low = PF_LANES_SELECT(nan, infinite, low);
    high = PF_LANES_SELECT(nan, -infinite, high);
    PF_LANES_STORE(lo + i, low);
    PF_LANES_STORE(hi + i, high);
  }
  return weak;
}

/* RN with an unbounded range: of normal numbers by an addition to the bits that carries into what is
   kept, below them by an addition that leaves no smaller bits. */
PF_LANES_INLINE TARGET void NAME(round_lanes)(const pf_block_format *f, pf_lanes *v)
{
  if (!f->shift)
    return;
  const pf_masks bits = (pf_masks)*v;
  const pf_masks odd = (bits >> f->shift) & 1;
  const pf_masks cut =
      (bits + (((int64_t)1 << (f->shift - 1)) - 1) + odd) & -((int64_t)1 << f->shift);
  const pf_lanes small = (*v + f->magic) - f->magic;
  const pf_lanes r = PF_LANES_SELECT(PF_LANES_ABS(*v) >= f->smallest_normal, cut, small);
  *v = PF_LANES_SELECT(PF_LANES_ABS(*v) < INFINITY, r, *v);
}

/* An integer modulo what the format wraps at; only points come out right. */
PF_LANES_INLINE TARGET void NAME(wrap_lanes)(const pf_block_format *f, pf_lanes *low,
                                             pf_lanes *high)
{
  const double magic = 0x1.8p52;
  const pf_lanes v = *low, whole = (v + magic) - magic;
  const pf_lanes turns = (v - f->lowest) * f->per_modulus;
  pf_lanes floor = (turns + magic) - magic;
  floor = PF_LANES_SELECT(floor > turns, floor - 1.0, floor);
  const pf_masks known =
      (*low == *high) & (v == whole) & (PF_LANES_ABS(v) < 0x1p50);
  const pf_lanes r = v - floor * f->modulus;
  *low = *high = PF_LANES_SELECT(known, r, PF_LANES_OF(NAN));
}

PF_LANES_INLINE TARGET void NAME(round_pair)(const pf_block_format *f, pf_lanes *low,
                                             pf_lanes *high)
{
  if (f->modulus > 0) {
    NAME(wrap_lanes)(f, low, high);
    return;
  }
  const pf_masks nan = (*low == INFINITY) & (*high == -INFINITY);
  NAME(round_lanes)(f, low);
  NAME(round_lanes)(f, high);
  if (f->saturates) {
    *low = PF_LANES_SELECT(*low > f->max, PF_LANES_OF(f->max), *low);
    *low = PF_LANES_SELECT(*low < -f->max, PF_LANES_OF(-f->max), *low);
    *high = PF_LANES_SELECT(*high > f->max, PF_LANES_OF(f->max), *high);
    *high = PF_LANES_SELECT(*high < -f->max, PF_LANES_OF(-f->max), *high);
  }
  /* the exact interval's near end may lie inside by a small share of the width */
  const pf_masks above =
      (*low >= f->beyond) & (*high >= f->beyond) & (*low >= *high * 0x1p-8);
  const pf_masks below =
      (*low <= -f->beyond) & (*high <= -f->beyond) & (*high <= *low * 0x1p-8);
  const pf_masks known = (PF_LANES_ABS(*low) <= f->most) & (PF_LANES_ABS(*high) <= f->most);
  *low = PF_LANES_SELECT(known, *low, PF_LANES_OF(NAN));
  *high = PF_LANES_SELECT(known, *high, PF_LANES_OF(NAN));
  /* {inf} is [inf, inf]; {NaN} is written [inf, -inf] */
  *low = PF_LANES_SELECT(above | nan, PF_LANES_OF(INFINITY), *low);
  *high = PF_LANES_SELECT(above, PF_LANES_OF(f->above), *high);
  *low = PF_LANES_SELECT(below, PF_LANES_OF(-f->above), *low);
  *high = PF_LANES_SELECT(below | nan, PF_LANES_OF(-INFINITY), *high);
}

static TARGET void NAME(round)(const pf_block_format *f, const pf_block_ends *a, int n, double *lo,
                               double *hi)
{
  for (int i = 0; i < n; i += PF_LANES_WIDTH) {
    pf_lanes low, high;
    PF_LANES_LOAD(low, a->lo + i);
    PF_LANES_LOAD(high, a->hi + i);
    NAME(round_pair)(f, &low, &high);
    PF_LANES_STORE(lo + i, low);
    PF_LANES_STORE(hi + i, high);
  }
}

/* What rounding to f takes for a + b: its double to odd (format.h), or for double itself the
   nearest.  Unknown where finite numbers overflow. */
PF_LANES_INLINE TARGET void NAME(sum_for)(const pf_block_format *f, const pf_lanes *a,
                                          const pf_lanes *b, pf_lanes *to)
{
  pf_lanes s, lost;
  NAME(two_sum)(a, b, &s, &lost);
  const pf_masks overflowed = (PF_LANES_ABS(s) == INFINITY) & (PF_LANES_ABS(*a) < INFINITY) &
                              (PF_LANES_ABS(*b) < INFINITY);
  if (f->shift) {
    const pf_masks inexact = (lost < 0.0) | (lost > 0.0);
    const pf_masks beyond = (lost < 0.0) ^ (s < 0.0);
    const pf_masks odd = ((pf_masks)s + beyond) | 1;
    s = PF_LANES_SELECT(inexact, odd, s);
  }
  *to = PF_LANES_SELECT(overflowed, PF_LANES_OF(NAN), s);
}

static TARGET void NAME(add)(const pf_block_format *f, const pf_block_ends *a,
                             const pf_block_ends *b, int n, double *lo, double *hi)
{
  for (int i = 0; i < n; i += PF_LANES_WIDTH) {
    pf_lanes p, q, low, high;
    PF_LANES_LOAD(p, a->lo + i);
    PF_LANES_LOAD(q, b->lo + i);
    NAME(sum_for)(f, &p, &q, &low);
    PF_LANES_LOAD(p, a->hi + i);
    PF_LANES_LOAD(q, b->hi + i);
    NAME(sum_for)(f, &p, &q, &high);
    NAME(round_pair)(f, &low, &high);
    PF_LANES_STORE(lo + i, low);
    PF_LANES_STORE(hi + i, high);
  }
}

/* exact: products of the ends and the factors are doubles, or the one rounding of them is f's. */
static TARGET void NAME(scale)(const pf_block_format *f, const pf_block_ends *a,
                               const double *factor, bool exact, int n, double *lo, double *hi)
{
  const int64_t inexact = exact ? 0 : -1;
  for (int i = 0; i < n; i += PF_LANES_WIDTH) {
    pf_lanes p, q, by;
    PF_LANES_LOAD(p, a->lo + i);
    PF_LANES_LOAD(q, a->hi + i);
    PF_LANES_LOAD(by, factor + i);
    const pf_lanes from = p * by, to = q * by;
    pf_lanes low = PF_LANES_SELECT(by < 0.0, to, from);
    pf_lanes high = PF_LANES_SELECT(by < 0.0, -from, -to);
    if (!exact) {
      NAME(step_up)(&low);
      NAME(step_up)(&high);
    }
    high = -high;
    /* what vanishes or overflows, and infinite factors, are for the careful paths */
    const pf_masks vanished = ((by != 0.0) & (((p != 0.0) & (from == 0.0)) |
                                               ((q != 0.0) & (to == 0.0)))) & inexact;
    const pf_masks overflowed =
        ((PF_LANES_ABS(from) == INFINITY) & (PF_LANES_ABS(p) < INFINITY)) |
        ((PF_LANES_ABS(to) == INFINITY) & (PF_LANES_ABS(q) < INFINITY));
    const pf_masks unknown = vanished | overflowed | ~(PF_LANES_ABS(by) < INFINITY);
    low = PF_LANES_SELECT(unknown, PF_LANES_OF(NAN), low);
    NAME(round_pair)(f, &low, &high);
    PF_LANES_STORE(lo + i, low);
    PF_LANES_STORE(hi + i, high);
  }
}

/* Clears inside[i] where got[i] is not allowed. */
static TARGET void NAME(compare)(const pf_block_ends *a, const double *got, int n, int64_t *inside)
{
  for (int i = 0; i < n; i += PF_LANES_WIDTH) {
    pf_lanes low, high, v;
    pf_masks in;
    PF_LANES_LOAD(low, a->lo + i);
    PF_LANES_LOAD(high, a->hi + i);
    PF_LANES_LOAD(v, got + i);
    memcpy(&in, inside + i, sizeof in);
    const pf_masks nan = (low == INFINITY) & (high == -INFINITY) & (v != v);
    in &= ((v >= low) & (v <= high)) | nan;
    memcpy(inside + i, &in, sizeof in);
  }
}

static const pf_block_loops NAME(loops) = {NAME(scan), NAME(dots), NAME(dots2), NAME(ends),
                                           NAME(round), NAME(add), NAME(scale), NAME(compare)};
