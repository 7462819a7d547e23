/* Elements of float dtypes by kind and seed.

   Values are assembled and rounded as encodings: nothing is computed in floating point (values.c
   says why). */
#include "values_float.h"

#include <string.h>

#include "values_draw.h"
#include "values_pack.h"

static encoding encoding_of(pf_dtype t)
{
  const pf_dtype_info *info = pf_dtype_of(t);
  const pf_format *f = &info->format;
  uint64_t max;
  memcpy(&max, &f->max, sizeof max);
  const int emax = (int)(max >> 52) - 1023;
  const uint64_t fraction = (max & ((UINT64_C(1) << 52) - 1)) >> (53 - f->precision);
  return (encoding){
    .precision = f->precision,
    .emin = f->emin,
    .emax = emax,
    .quantum = f->emin - (f->precision - 1),
    .sign_at = info->exponent_bits + f->precision - 1,
    .max = ((uint64_t)(emax - f->emin + 1) << (f->precision - 1)) + fraction,
    .has_infinity = f->has_infinity,
    .has_negative_zero = f->has_negative_zero,
  };
}

static int clamp(int x, int lo, int hi)
{
  return x > hi ? hi : x < lo ? lo : x;  /* hi wins where lo > hi */
}

/* The finite magnitude of exponent `exponent` (emin - 1: subnormal) and of the p - 1 bits behind
   the leading one; never zero. */
static inline uint64_t assemble(const encoding *e, int exponent, uint64_t fraction)
{
  const int width = e->precision - 1;
  const uint64_t field = (uint64_t)(clamp(exponent, e->emin - 1, e->emax) - e->emin + 1);
  const uint64_t m = (field << width) + (fraction & ((UINT64_C(1) << width) - 1));
  return m == 0 ? 1 : m > e->max ? e->max : m;
}

static uint64_t value_bits(const encoding *e, pf_stream s)
{
  return next(&s) >> (63 - e->sign_at);
}

/* What corners are combined from. */
typedef struct corners {
  int exponent[22];
  uint64_t fraction[7];
} corners;

static corners corners_of(const encoding *e)
{
  const int p = e->precision, width = p - 1;
  const uint64_t ones = (UINT64_C(1) << width) - 1, half = UINT64_C(1) << (width - 1);
  return (corners){
    .exponent = {
      e->emin - 1, e->emin - 1, e->emin, e->emin + 1,
      -1, 0, 1,
      e->emin / 2 - 1, e->emin / 2, e->emin / 2 + 1,           /* squares at the smallest normal */
      e->quantum / 2 - 1, e->quantum / 2, e->quantum / 2 + 1,  /* at the smallest subnormal */
      e->emax / 2 - 1, e->emax / 2, e->emax / 2 + 1,           /* at overflow */
      -p, 1 - p, p - 1, p,                                 /* an ulp, half an ulp beside one */
      e->emax - 1, e->emax,
    },
    .fraction = {0, 1, ones, ones - 1, half, half + 1, half - 1},
  };
}

static uint64_t corner_fraction(const encoding *e, const corners *of, uint64_t draw)
{
  if ((draw & 7) == 7)
    return UINT64_C(1) << (draw >> 3) % (unsigned)(e->precision - 1);
  return of->fraction[draw & 7];
}

/* Just above `max` lie infinity and the NaNs, or in formats without infinity one NaN. */
static uint64_t corner_special(const encoding *e, pf_stream s, bool nan)
{
  const uint64_t first = e->max + 1;
  if (!nan || !e->has_infinity)
    return first;
  return first + 1 + below(next(&s), (UINT64_C(1) << (e->precision - 1)) - 1);
}

static uint64_t value_corner(const encoding *e, const corners *of, pf_stream s)
{
  const uint64_t draw = next(&s);
  const bool negative = draw & 1;
  const unsigned rare = draw >> 8 & 255;
  if (rare < 2)
    return with_sign(e, negative, corner_special(e, s, rare == 1));
  if (rare < 18)
    return with_sign(e, negative, 0);
  const int exponent = of->exponent[below(next(&s), sizeof of->exponent / sizeof *of->exponent)];
  return with_sign(e, negative, assemble(e, exponent, corner_fraction(e, of, next(&s))));
}

static uint64_t value_integer(const encoding *e, pf_stream s)
{
  const int i = (int)below(next(&s), 17) - 8;
  return pack(e, i < 0, (uint64_t)(i < 0 ? -i : i), 0);
}

/* A random significand with an exponent of -reach..reach, as far as the format has them. */
static uint64_t moderate(const encoding *e, pf_stream *s, int reach)
{
  const int lo = clamp(-reach, e->emin, e->emax), hi = clamp(reach, e->emin, e->emax - 1);
  const int exponent = lo + (int)below(next(s), (uint64_t)(hi - lo + 1));
  return assemble(e, exponent, next(s));
}

/* Seed 0 is one: sums of ones are what a narrow accumulator gets wrong first. */
static uint64_t value_equal(const encoding *e, uint32_t seed, pf_stream s)
{
  if (seed == 0)
    return pack(e, false, 1, 0);
  const uint64_t magnitude = moderate(e, &s, 4);
  return with_sign(e, next(&s) & 1, magnitude);
}

static uint64_t value_wide(const encoding *e, pf_stream s)
{
  const uint64_t draw = next(&s);
  const int exponent = e->emin + (int)below(draw >> 1, (uint64_t)(e->emax - e->emin + 1));
  return with_sign(e, draw & 1, assemble(e, exponent, next(&s)));
}

static uint64_t value_subnormal(const encoding *e, pf_stream s)
{
  const uint64_t draw = next(&s);
  const bool negative = draw & 1;
  uint64_t fraction = next(&s) >> (65 - e->precision);
  if ((draw >> 8 & 7) == 0)
    return with_sign(e, negative, assemble(e, e->emin, draw & 2 ? 0 : fraction));
  if (draw & 2)  /* short ones: without this nearly all have their leading bit near the top */
    fraction >>= (draw >> 16) % (unsigned)(e->precision - 1);
  return with_sign(e, negative, assemble(e, e->emin - 1, fraction));
}

/* Pairs along K: neighbours, or k with k + half so that whole parts of a sum cancel (split K).  x
   decides by its seed; y, which cannot know x's seed, repeats over both partners.  The result is
   the pair's first k, or for y the first of all that must be equal; -1 for a last one alone. */
static int64_t cancel_pair(const pf_place *place, bool by_halves, bool *second)
{
  const int64_t half = place->k_count / 2 & ~INT64_C(1);
  if (place->k < 2 * half && (by_halves || !place->negate)) {
    *second = place->k >= half;
    const int64_t first = *second ? place->k - half : place->k;
    return place->negate ? first : first & ~INT64_C(1);
  }
  *second = place->k & 1;
  return (place->k | 1) < place->k_count ? place->k & ~INT64_C(1) : -1;
}

static uint64_t value_cancel(const encoding *e, bool negate, bool second, pf_stream s)
{
  uint64_t magnitude = moderate(e, &s, negate ? 8 : 4);
  const uint64_t draw = next(&s);
  bool negative = draw & 1;
  if (negate && second) {
    /* Equal in half of the pairs, else off by a few units of the last place. */
    const int off = draw & 2 ? 1 + (int)((draw >> 8) % (e->precision > 4 ? 3 : 1)) : 0;
    const uint64_t moved = magnitude + (uint64_t)(int64_t)(draw & 4 ? -off : off);
    magnitude = moved - 1 < e->max ? moved : magnitude;
    negative = !negative;
  }
  return with_sign(e, negative, magnitude);
}

/* Midpoints.  In units of one power of two, a line of x adds up to 2A + u: A has p bits, u is 1 or
   -1, so that p + 1 bits are needed and the last one is set: a tie of the p-bit format.  A few
   lines have u = +-(1 +- 2^-j), beside the tie, or u = 0, which an addend of +-1 makes a tie.  The
   rest of the line is zero or small and cancels in pairs.  y is a power of two, one for each line
   (3 times that if K = 1: the product 3A of an odd A is then the tie).  Scales are mostly 0, so
   that addends, which know neither line, mostly match. */
static int midpoint_scale(const encoding *e, uint64_t draw)
{
  const int scale = draw & 3 ? 0 : (int)below(draw >> 2, 7) - 3;
  return clamp(scale, e->emin, e->emax - e->precision);
}

typedef enum midpoint_class { ON_GRID, ON_TIE, BESIDE } midpoint_class;

static midpoint_class midpoint_class_of(uint64_t draw)
{
  return (draw & 7) == 0 ? ON_GRID : (draw & 7) < 6 ? ON_TIE : BESIDE;
}

/* +-2^scale, or with an offset of +-2^(scale-j), j < p, as far as subnormals reach. */
static uint64_t midpoint_unit(const encoding *e, bool negative, bool beside, int scale,
                              uint64_t draw)
{
  const int reach = clamp(scale - e->quantum, 0, e->precision - 1);
  const int j = beside && reach > 0 ? 1 + (int)below(draw >> 8, (uint64_t)reach) : 0;
  const uint64_t one = UINT64_C(1) << j;
  const uint64_t m = j == 0 ? one : draw & 2 ? one + 1 : one - 1;
  return pack(e, negative ^ (draw & 1), m, scale - j);
}

/* K = 1: A such that 3A has p + 1 bits, the last one set unless ON_GRID; BESIDE: p + 2 bits. */
static uint64_t midpoint_only(const encoding *e, midpoint_class class, uint64_t draw)
{
  const uint64_t end = UINT64_C(1) << e->precision, last = (2 * end - 1) / 3;
  /* With four bits or less a single A of the upper binade fits: the lower one has the other tie. */
  const uint64_t first = e->precision > 4 ? end >> 1 : (end + 2) / 3;
  if (class == BESIDE)
    return (last + 1 + below(draw, end - last - 1)) | 1;
  const uint64_t odd = (first + below(draw, last - first + 1)) | 1;
  return class == ON_GRID ? odd - 1 : odd > last ? odd - 2 : odd;
}

/* A in (2^(p-1), 2^p): at 2^(p-1) itself the sum 2A - 1 would have p bits only.  All ones, where
   rounding up carries into the exponent, more often than chance has them. */
static uint64_t midpoint_large(const encoding *e, uint64_t draw)
{
  const uint64_t first = UINT64_C(1) << (e->precision - 1);
  if ((draw & 7) == 0)
    return 2 * first - 1;
  return first + 1 + below(draw >> 3, first - 1);
}

/* `pair` is a draw that both of a pair have. */
static uint64_t midpoint_x(const encoding *e, const pf_place *place, uint64_t pair, pf_stream s)
{
  const uint64_t draw = next(&s);
  const bool negative = draw & 1, swapped = draw & 2;
  const midpoint_class class = midpoint_class_of(draw >> 2);
  const int scale = midpoint_scale(e, draw >> 8);
  const uint64_t large = next(&s), unit = next(&s);
  if (place->k_count == 1)
    return pack(e, negative, midpoint_only(e, class, large), scale);
  if (place->k > 1) {
    const bool used = (pair & 3) == 0 && (place->k | 1) < place->k_count;
    return pack(e, place->k & 1, used ? 1 + (pair >> 2) % 3 : 0, scale);
  }
  if ((place->k == 1) == swapped)
    return pack(e, negative, midpoint_large(e, large), scale + 1);
  return class == ON_GRID ? 0 : midpoint_unit(e, negative, class == BESIDE, scale, unit);
}

static uint64_t midpoint_y(const encoding *e, int64_t k_count, pf_stream s)
{
  const uint64_t draw = next(&s);
  return pack(e, draw & 1, k_count == 1 ? 3 : 1, midpoint_scale(e, draw >> 8));
}

static uint64_t midpoint_addend(const encoding *e, pf_stream s)
{
  const uint64_t draw = next(&s);
  if (draw & 2)
    return 0;
  return midpoint_unit(e, draw & 1, draw & 4, 0, next(&s));
}

/* A run of elements of one kind. */
typedef struct run {
  encoding e;
  uint64_t elements, lines;  /* keys of streams */
  uint32_t seed;
  pf_walk at;
  int count;
} run;

/* The loop of a kind whose elements know only themselves: `kind` is a constant to the compiler,
   which leaves of this what that kind needs. */
static inline __attribute__((always_inline)) void run_alone(const run *r, pf_kind kind, int draws,
                                                            uint64_t *to)
{
  const encoding e = r->e;
  const corners edges = kind == PF_CORNER ? corners_of(&e) : (corners){0};
  pf_draws d;
  pf_draw_elements(r->elements, r->at.place.index, r->count, draws, &d);
  for (int i = 0; i < r->count; i++) {
    const pf_stream s = stream_of(&d, i);
    switch (kind) {
    case PF_BITS: to[i] = value_bits(&e, s); break;
    case PF_CORNER: to[i] = value_corner(&e, &edges, s); break;
    case PF_INTEGER: to[i] = value_integer(&e, s); break;
    case PF_MIDPOINT: to[i] = midpoint_addend(&e, s); break;
    case PF_WIDE: to[i] = value_wide(&e, s); break;
    default: to[i] = value_subnormal(&e, s); break;
    }
  }
}

static void run_normal(const run *r, uint64_t *to)
{
  pf_draws d;
  pf_draw_elements(r->elements, r->at.place.index, r->count, NORMAL_DRAWS, &d);
  pf_pack_normals(&r->e, &d, r->count, to);
}

static void run_equal(const run *r, uint64_t *to)
{
  pf_draws d;
  pf_draw_elements(r->elements, 0, 1, 3, &d);
  const uint64_t value = value_equal(&r->e, r->seed, stream_of(&d, 0));
  for (int i = 0; i < r->count; i++)
    to[i] = value;
}

static uint64_t lone_normal(const run *r, int64_t index)
{
  pf_draws d;
  pf_draw_elements(r->elements, index, 1, 4, &d);
  return value_normal(&r->e, stream_of(&d, 0));
}

static void run_cancel(const run *r, bool by_halves, uint64_t *to)
{
  int64_t pair[PF_RUN];
  bool second[PF_RUN];
  pf_draws d;
  pf_walk at = r->at;
  pf_draw_lines(r->lines, at, r->count, 0, &d);
  for (int i = 0; i < r->count; i++, pf_walk_on(&at)) {
    pair[i] = cancel_pair(&at.place, by_halves, &second[i]);
    d.start[i] ^= (uint64_t)pair[i];
  }
  pf_draw(r->count, 3, &d);
  for (int i = 0; i < r->count; i++)
    to[i] = pair[i] < 0 ? lone_normal(r, r->at.place.index + i)
                        : value_cancel(&r->e, r->at.place.negate, second[i], stream_of(&d, i));
}

static void run_midpoint_x(const run *r, uint64_t *to)
{
  pf_draws d, pairs;
  pf_walk at = r->at;
  pf_draw_lines(r->lines, at, r->count, 3, &d);
  memcpy(pairs.start, d.start, sizeof pairs.start);
  for (int i = 0; i < r->count; i++, pf_walk_on(&at))
    pairs.start[i] = (d.start[i] + 3 * PF_GOLDEN_GAMMA) ^ (uint64_t)(at.place.k >> 1);
  pf_draw(r->count, 0, &pairs);
  at = r->at;
  for (int i = 0; i < r->count; i++, pf_walk_on(&at))
    to[i] = midpoint_x(&r->e, &at.place, pairs.start[i], stream_of(&d, i));
}

static void run_midpoint_y(const run *r, uint64_t *to)
{
  pf_draws d;
  pf_draw_lines(r->lines, r->at, r->count, 1, &d);
  for (int i = 0; i < r->count; i++)
    to[i] = midpoint_y(&r->e, r->at.place.k_count, stream_of(&d, i));
}

/* Kinds that shape whole sums. */
static void run_together(const run *r, pf_kind kind, uint64_t *to)
{
  if (kind == PF_CANCEL)
    run_cancel(r, hash(r->seed) & 1, to);
  else if (r->at.place.negate)
    run_midpoint_x(r, to);
  else
    run_midpoint_y(r, to);
}

void pf_float_run(const pf_values *v, pf_kind kind, pf_dtype t, pf_walk at, int count,
                  uint64_t *to)
{
  const bool addend = at.place.k_count <= 0;
  const run r = {
    .e = encoding_of(t), .at = at, .count = count, .seed = v->seed,
    .elements = stream_key(v, &at.place, (int)kind),
    .lines = stream_key(v, &at.place, (int)kind + PURPOSE_LINE),
  };
  switch (kind) {
  case PF_NORMAL: run_normal(&r, to); break;
  case PF_BITS: run_alone(&r, PF_BITS, 1, to); break;
  case PF_CORNER: run_alone(&r, PF_CORNER, 3, to); break;
  case PF_INTEGER: run_alone(&r, PF_INTEGER, 1, to); break;
  case PF_EQUAL: run_equal(&r, to); break;
  case PF_WIDE: run_alone(&r, PF_WIDE, 2, to); break;
  case PF_SUBNORMAL: run_alone(&r, PF_SUBNORMAL, 2, to); break;
  case PF_CANCEL:
    if (addend)
      run_normal(&r, to);
    else
      run_together(&r, kind, to);
    break;
  case PF_MIDPOINT:
    if (addend)
      run_alone(&r, PF_MIDPOINT, 2, to);
    else
      run_together(&r, kind, to);
    break;
  case PF_VERBATIM:
  case PF_KIND_COUNT: memset(to, 0, (size_t)count * sizeof *to); break;
  }
}
