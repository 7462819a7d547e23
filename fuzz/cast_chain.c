/* Which two roundings, one after the other, are as good as one.

   Rounding to `via` first does no harm to the values of `from` in any of these cases, where also
   the ends agree: infinities, NaN, the least and the largest values.

   Held: every value that matters to `to` is a value of `via`.  What lies past 2^high overflows in
   `to`, and what lies below 2^low rounds to zero, and since rounding is monotone and both powers
   are values of `via`, rounding to `via` cannot take a number back across them.  (Where `via` ends
   before 2^high, all that lies past it is one to `via`, and the largest value speaks for it; where
   it has no negative numbers, the lowest value speaks for those.)  Halfway to the least value lies
   2^(quantum - 1); where ties go away from zero it must not be reached from below, so the next
   power down takes its place.

   Same places: `via` is `to` with a larger range, and rounds to the same multiples wherever `to`
   does.  Where both wrap, one modulus divides the other.

   Nested: both round toward zero, and every finite value of `to` is one of `via`.

   A `via` that wraps is not monotone, a `to` that wraps has no end: there all of `from` matters.
   "Twice the precision and two more" (Figueroa, SIGNUM Newsletter 30(3), 1995) is about results of
   operations, whose operands are short.  It says nothing of conversions: f64 > f32 > bf16 has it
   and rounds twice. */
#include <float.h>
#include <math.h>

#include "cast.h"

static bool wraps(const pf_format *f)
{
  return f->overflow == PF_OVERFLOW_WRAP;
}

/* Bits of the longest significand; an integer's lowest is a power of two. */
static int longest(const pf_format *f)
{
  return f->precision - (pf_is_integer(f) ? 1 : 0);
}

static int least(int a, int b)
{
  return a < b ? a : b;
}

static int most(int a, int b)
{
  return a > b ? a : b;
}

/* Magnitudes from 2^high on overflow. */
static int high_end(const pf_format *to)
{
  int e;
  frexp(fmax(to->max, -pf_lowest(to)), &e);
  return e;
}

/* The largest of from's values below 2^high. */
static double last_below(const pf_format *from, int high)
{
  return high < DBL_MAX_EXP && from->max >= ldexp(1, high) ? pf_next_down(from, ldexp(1, high))
                                                           : from->max;
}

static bool is_held(const pf_format *from, const pf_format *via, const pf_format *to)
{
  const int high = wraps(via) || wraps(to) ? DBL_MAX_EXP : high_end(to);
  const int low = pf_quantum(to) - (to->rounding == PF_NEAREST_AWAY ? 2 : 1);
  const int bits = least(longest(from), high - pf_quantum(from));
  return bits <= via->precision &&
         most(pf_quantum(from), low - (longest(from) - 1)) >= pf_quantum(via) &&
         last_below(from, high) <= via->max;
}

static bool has_same_places(const pf_format *via, const pf_format *to)
{
  const bool places = pf_is_integer(via) ? pf_is_integer(to)
                                         : !pf_is_integer(to) &&
                                               via->precision == to->precision &&
                                               via->emin == to->emin;
  const bool range = wraps(via) ? via->max - pf_lowest(via) >= to->max - pf_lowest(to)
                                : via->max >= to->max && pf_lowest(via) <= pf_lowest(to);
  return places && range && wraps(via) == wraps(to) && via->rounding == to->rounding;
}

static bool is_nested(const pf_format *via, const pf_format *to)
{
  return via->rounding == PF_TOWARD_ZERO && to->rounding == PF_TOWARD_ZERO && !wraps(via) &&
         !wraps(to) && longest(to) <= via->precision && pf_quantum(to) >= pf_quantum(via) &&
         to->max <= via->max && pf_lowest(to) >= pf_lowest(via);
}

static bool agrees(const pf_format *via, const pf_format *to, double x)
{
  const double twice = pf_mpfr_round(to, pf_mpfr_round(via, x)), once = pf_mpfr_round(to, x);
  return isnan(once) ? isnan(twice) : twice == once && !signbit(twice) == !signbit(once);
}

static bool ends_agree(const pf_format *from, const pf_format *via, const pf_format *to)
{
  const double tiny = pf_next_up(from, 0), lowest = pf_lowest(from);
  return agrees(via, to, from->max) && agrees(via, to, lowest) && agrees(via, to, tiny) &&
         (lowest == 0 || agrees(via, to, -tiny)) &&
         (!from->has_negative_zero || agrees(via, to, -0.0)) &&
         (!from->has_infinity || (agrees(via, to, INFINITY) && agrees(via, to, -INFINITY))) &&
         (pf_is_integer(from) || agrees(via, to, NAN));
}

bool pf_cast_innocuous(const pf_format *from, const pf_format *via, const pf_format *to)
{
  return (is_held(from, via, to) || has_same_places(via, to) || is_nested(via, to)) &&
         ends_agree(from, via, to);
}

/* Rounding from format i by way of all between to format j is one rounding: once[i][j], which holds
   for neighbours, and for others where the chain can be parted at some k. */
bool pf_cast_chain_innocuous(const pf_cast_chain *c, pf_cast_claim claim)
{
  const pf_format *f = c->format;
  bool once[PF_CAST_LONGEST][PF_CAST_LONGEST] = {{false}};
  for (int length = 1; length < c->count; length++)
    for (int i = 0, j = length; j < c->count; i++, j++) {
      once[i][j] = length == 1;
      for (int k = i + 1; k < j && !once[i][j]; k++)
        once[i][j] = once[i][k] && once[k][j] && claim(&f[i], &f[k], &f[j]);
    }
  return once[0][c->count - 1];
}
