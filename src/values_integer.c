/* Integer elements by kind and seed, on the streams of draws that floats have, too.

   Values are worked on as int64_t, which holds every dtype's, and stored as the low bits: two's
   complement.  Nothing is computed in floating point (values.c says why). */
#include "values_integer.h"

#include <string.h>

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

static int64_t value_normal(const integers *n, pf_stream s)
{
  const int sigma = n->bits == 8 ? 5 : 12;  /* log2 */
  const int shift = -NORMAL_QUANTUM - sigma;
  const int64_t x = draw_normal(&s), half = INT64_C(1) << (shift - 1);
  const int64_t middle = is_signed(n) ? 0 : n->max / 2 + 1;
  const int64_t rounded = (x < 0 ? half - x : half + x) >> shift;
  return clamp(middle + (x < 0 ? -rounded : rounded), n->lowest, n->max);
}

static int64_t value_corner(const integers *n, pf_stream s)
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
static int64_t value_small(const integers *n, pf_stream s, int64_t reach)
{
  const int64_t lowest = is_signed(n) ? -reach : 0;
  return lowest + (int64_t)below(next(&s), (uint64_t)(reach - lowest + 1));
}

static int64_t value_equal(const integers *n, uint32_t seed, pf_stream s)
{
  const int64_t x = seed == 0 ? 1 : value_normal(n, s);
  return x == 0 ? 1 : x;
}

/* A bit length that a non-negative number can have, then a number of that length. */
static int64_t value_wide(const integers *n, pf_stream s)
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
static int64_t value_cancel(const integers *n, const pf_place *place, pf_stream s)
{
  const int64_t x = value_normal(n, s);
  const int64_t with_negative = x == n->lowest ? x + 1 : x;
  return place->negate && place->k & 1 ? -with_negative : with_negative;
}

static uint64_t encode(const integers *n, int64_t x)
{
  return (uint64_t)x & (UINT64_MAX >> (64 - n->bits));
}

/* A run of elements of one kind. */
typedef struct run {
  integers n;
  uint64_t elements, lines;  /* keys of streams */
  uint32_t seed;
  pf_walk at;
  int count;
} run;

/* The loop of a kind whose elements know only themselves: `kind` is a constant to the compiler. */
static inline __attribute__((always_inline)) void run_alone(const run *r, pf_kind kind, int draws,
                                                            uint64_t *to)
{
  const integers n = r->n;
  pf_draws d;
  pf_draw_elements(r->elements, r->at.place.index, r->count, draws, &d);
  for (int i = 0; i < r->count; i++) {
    pf_stream s = stream_of(&d, i);
    switch (kind) {
    case PF_BITS: to[i] = encode(&n, (int64_t)next(&s)); break;
    case PF_CORNER: to[i] = encode(&n, value_corner(&n, s)); break;
    case PF_INTEGER: to[i] = encode(&n, value_small(&n, s, 8)); break;
    case PF_MIDPOINT: to[i] = encode(&n, value_small(&n, s, 3)); break;
    case PF_WIDE: to[i] = encode(&n, value_wide(&n, s)); break;
    case PF_SUBNORMAL: to[i] = encode(&n, value_small(&n, s, 1)); break;
    default: to[i] = encode(&n, value_normal(&n, s)); break;
    }
  }
}

static void run_equal(const run *r, uint64_t *to)
{
  pf_draws d;
  pf_draw_elements(r->elements, 0, 1, 4, &d);
  const uint64_t value = encode(&r->n, value_equal(&r->n, r->seed, stream_of(&d, 0)));
  for (int i = 0; i < r->count; i++)
    to[i] = value;
}

static int64_t lone_normal(const run *r, int64_t index)
{
  pf_draws d;
  pf_draw_elements(r->elements, index, 1, 4, &d);
  return value_normal(&r->n, stream_of(&d, 0));
}

static void run_cancel(const run *r, uint64_t *to)
{
  pf_draws d;
  pf_walk at = r->at;
  pf_draw_lines(r->lines, at, r->count, 0, &d);
  for (int i = 0; i < r->count; i++, pf_walk_on(&at))
    d.start[i] ^= (uint64_t)(at.place.k >> 1);
  pf_draw(r->count, 4, &d);
  at = r->at;
  for (int i = 0; i < r->count; i++, pf_walk_on(&at)) {
    const bool lone = (at.place.k | 1) >= at.place.k_count;
    to[i] = encode(&r->n, lone ? lone_normal(r, at.place.index)
                               : value_cancel(&r->n, &at.place, stream_of(&d, i)));
  }
}

void pf_integer_run(const pf_values *v, pf_kind kind, pf_dtype t, pf_walk at, int count,
                    uint64_t *to)
{
  const run r = {
    .n = integers_of(t), .at = at, .count = count, .seed = v->seed,
    .elements = stream_key(v, &at.place, (int)kind),
    .lines = stream_key(v, &at.place, (int)kind + PURPOSE_LINE),
  };
  switch (kind) {
  case PF_NORMAL: run_alone(&r, PF_NORMAL, 4, to); break;
  case PF_BITS: run_alone(&r, PF_BITS, 1, to); break;
  case PF_CORNER: run_alone(&r, PF_CORNER, 2, to); break;
  case PF_INTEGER: run_alone(&r, PF_INTEGER, 1, to); break;
  case PF_EQUAL: run_equal(&r, to); break;
  case PF_MIDPOINT: run_alone(&r, PF_MIDPOINT, 1, to); break;
  case PF_WIDE: run_alone(&r, PF_WIDE, 2, to); break;
  case PF_SUBNORMAL: run_alone(&r, PF_SUBNORMAL, 1, to); break;
  case PF_CANCEL:
    if (at.place.k_count > 0)
      run_cancel(&r, to);
    else
      run_alone(&r, PF_NORMAL, 4, to);
    break;
  case PF_VERBATIM:
  case PF_KIND_COUNT: memset(to, 0, (size_t)count * sizeof *to); break;
  }
}
