/* Integer elements by kind and seed, on the streams of draws that floats have, too.

   Values are worked on as int64_t, which holds every dtype's, and stored as the low bits: two's
   complement.  Nothing is computed in floating point (values.c says why). */
#include "values_integer.h"

#include "values_draw.h"

typedef struct integers {
  int bits;             /* of an encoding */
  int64_t lowest, max;
} integers;

static integers integers_of(pf_dtype t)
{
  const pf_format *f = pf_format_of(t);
  return (integers){8 * pf_dtype_of(t)->bytes, (int64_t)pf_lowest(f), (int64_t)f->max};
}

static int64_t clamp(int64_t x, int64_t lo, int64_t hi)
{
  return x < lo ? lo : x > hi ? hi : x;
}

static bool is_signed(const integers *n)
{
  return n->lowest < 0;
}

static int64_t value_normal(const integers *n, uint64_t s)
{
  const int sigma = n->bits == 8 ? 5 : 12;  /* log2 */
  const int shift = -NORMAL_QUANTUM - sigma;
  const int64_t x = draw_normal(&s), half = INT64_C(1) << (shift - 1);
  const int64_t middle = is_signed(n) ? 0 : n->max / 2 + 1;
  const int64_t rounded = (x < 0 ? half - x : half + x) >> shift;
  return clamp(middle + (x < 0 ? -rounded : rounded), n->lowest, n->max);
}

static int64_t value_corner(const integers *n, uint64_t s)
{
  const uint64_t draw = next(&s);
  const int64_t ends[] = {n->lowest, n->lowest + 1, -1, 0, 1, n->max - 1, n->max};
  if ((draw & 1) == 0)
    return clamp(ends[below(draw >> 1, sizeof ends / sizeof *ends)], n->lowest, n->max);
  const int64_t power = INT64_C(1) << below(next(&s), (uint64_t)n->bits);
  const int64_t x = power + (int64_t)below(draw >> 8, 3) - 1;
  return clamp(is_signed(n) && draw & 2 ? -x : x, n->lowest, n->max);
}

/* -reach..reach, or 0..reach. */
static int64_t value_small(const integers *n, uint64_t s, int64_t reach)
{
  const int64_t lowest = is_signed(n) ? -reach : 0;
  return lowest + (int64_t)below(next(&s), (uint64_t)(reach - lowest + 1));
}

static int64_t value_equal(const integers *n, uint32_t seed, uint64_t s)
{
  const int64_t x = seed == 0 ? 1 : value_normal(n, s);
  return x == 0 ? 1 : x;
}

/* A bit length that a non-negative number can have, then a number of that length. */
static int64_t value_wide(const integers *n, uint64_t s)
{
  const uint64_t draw = next(&s);
  const int longest = is_signed(n) ? n->bits - 1 : n->bits;
  const int length = (int)below(draw >> 1, (uint64_t)longest + 1);
  const uint64_t top = length > 0 ? UINT64_C(1) << (length - 1) : 0;
  const int64_t x = length > 0 ? (int64_t)(top | (next(&s) & (top - 1))) : 0;
  return is_signed(n) && draw & 1 ? -x : x;
}

/* Both halves of a pair are one draw of x's line, the second one negated: modulo 2^bits where there
   are no negative numbers.  y repeats over the pair. */
static int64_t value_cancel(const integers *n, const streams *of, const pf_place *place)
{
  if (place->k_count <= 0 || (place->k | 1) >= place->k_count)
    return value_normal(n, stream(of->elements, place->index));
  const uint64_t line = stream(of->lines, place->line);
  const int64_t x = value_normal(n, hash(line ^ (uint64_t)(place->k >> 1)));
  const int64_t with_negative = x == n->lowest ? x + 1 : x;
  return place->negate && place->k & 1 ? -with_negative : with_negative;
}

/* One kind's loop over elements: `kind` is a constant to the compiler. */
static inline __attribute__((always_inline)) void run(const integers *range, const streams *from,
                                                      pf_kind kind, pf_walk at, int count,
                                                      uint64_t *to)
{
  const integers n = *range;
  const streams of = *from;
  for (int i = 0; i < count; i++, pf_walk_on(&at)) {
    uint64_t s = stream(of.elements, at.place.index);
    int64_t x = 0;
    switch (kind) {
    case PF_NORMAL: x = value_normal(&n, s); break;
    case PF_BITS: x = (int64_t)next(&s); break;
    case PF_CORNER: x = value_corner(&n, s); break;
    case PF_INTEGER: x = value_small(&n, s, 8); break;
    case PF_CANCEL: x = value_cancel(&n, &of, &at.place); break;
    case PF_EQUAL: x = value_equal(&n, of.seed, stream(of.elements, 0)); break;
    case PF_MIDPOINT: x = value_small(&n, s, 3); break;
    case PF_WIDE: x = value_wide(&n, s); break;
    case PF_SUBNORMAL: x = value_small(&n, s, 1); break;
    case PF_VERBATIM:
    case PF_KIND_COUNT: break;
    }
    to[i] = (uint64_t)x & (UINT64_MAX >> (64 - n.bits));
  }
}

void pf_integer_run(const pf_values *v, pf_kind kind, pf_dtype t, pf_walk at, int count,
                    uint64_t *to)
{
  const integers n = integers_of(t);
  const streams of = streams_of(v, kind, &at.place);
  switch (kind) {
  case PF_NORMAL: run(&n, &of, PF_NORMAL, at, count, to); break;
  case PF_BITS: run(&n, &of, PF_BITS, at, count, to); break;
  case PF_CORNER: run(&n, &of, PF_CORNER, at, count, to); break;
  case PF_INTEGER: run(&n, &of, PF_INTEGER, at, count, to); break;
  case PF_CANCEL: run(&n, &of, PF_CANCEL, at, count, to); break;
  case PF_EQUAL: run(&n, &of, PF_EQUAL, at, count, to); break;
  case PF_MIDPOINT: run(&n, &of, PF_MIDPOINT, at, count, to); break;
  case PF_WIDE: run(&n, &of, PF_WIDE, at, count, to); break;
  case PF_SUBNORMAL: run(&n, &of, PF_SUBNORMAL, at, count, to); break;
  case PF_VERBATIM:
  case PF_KIND_COUNT: run(&n, &of, PF_VERBATIM, at, count, to); break;
  }
}
