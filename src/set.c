/* Sets of possible results, and the steps' images of them. */
#include "set.h"

#include <math.h>
#include <stdio.h>

pf_set pf_set_empty(void)
{
  return (pf_set){.lo = INFINITY, .hi = -INFINITY};
}

pf_set pf_set_point(double v)
{
  pf_set s = pf_set_empty();
  if (isnan(v))
    s.nan = true;
  else if (isinf(v))
    *(v > 0 ? &s.plus_infinity : &s.minus_infinity) = true;
  else
    s.lo = s.hi = v;
  return s;
}

bool pf_set_has_finite(const pf_set *s)
{
  return s->lo <= s->hi;
}

bool pf_set_allows(const pf_set *s, double v)
{
  if (isnan(v))
    return s->nan;
  if (isinf(v))
    return v > 0 ? s->plus_infinity : s->minus_infinity;
  return v >= s->lo && v <= s->hi;
}

bool pf_set_equal(const pf_set *a, const pf_set *b)
{
  const bool finite = pf_set_has_finite(a);
  return finite == pf_set_has_finite(b) && (!finite || (a->lo == b->lo && a->hi == b->hi)) &&
         a->plus_infinity == b->plus_infinity && a->minus_infinity == b->minus_infinity &&
         a->nan == b->nan;
}

bool pf_set_overlap(const pf_set *a, const pf_set *b)
{
  return (pf_set_has_finite(a) && pf_set_has_finite(b) && a->lo <= b->hi && b->lo <= a->hi) ||
         (a->plus_infinity && b->plus_infinity) || (a->minus_infinity && b->minus_infinity) ||
         (a->nan && b->nan);
}

pf_set pf_set_hull(const pf_set *a, const pf_set *b)
{
  pf_set r = pf_set_has_finite(a) ? *a : *b;
  if (pf_set_has_finite(a) && pf_set_has_finite(b)) {
    r.lo = fmin(a->lo, b->lo);
    r.hi = fmax(a->hi, b->hi);
  }
  r.plus_infinity = a->plus_infinity || b->plus_infinity;
  r.minus_infinity = a->minus_infinity || b->minus_infinity;
  r.nan = a->nan || b->nan;
  return r;
}

bool pf_set_is_open(const pf_set *s)
{
  return pf_set_has_finite(s) + s->plus_infinity + s->minus_infinity + s->nan > 1;
}

/* Adds the rounded value v, whatever it is, to *s. */
static void include(pf_set *s, double v)
{
  if (isnan(v)) {
    s->nan = true;
  } else if (isinf(v)) {
    *(v > 0 ? &s->plus_infinity : &s->minus_infinity) = true;
  } else {
    s->lo = fmin(s->lo, v);
    s->hi = fmax(s->hi, v);
  }
}

/* Whether an interval comes apart where integers wrap: its rounded ends then lie in different
   periods.  Ends in one period keep their order as they wrap; less than a period apart, but in two,
   they change it. */
static bool wraps_between(const pf_format *f, double from, double to)
{
  const pf_format grid = {.precision = 52, .emin = 51, .max = 0x1p51 - 1, .rounding = f->rounding,
                          .overflow = PF_OVERFLOW_SATURATE, .range = PF_TWOS_COMPLEMENT};
  const double lo = pf_round(&grid, from), hi = pf_round(&grid, to);
  return lo <= -grid.max || hi >= grid.max || hi - lo > f->max - pf_lowest(f) ||
         pf_round(f, lo) > pf_round(f, hi);
}

/* The image of an interval whose ends, of the signs of `from` and `to`, were rounded to lo and hi:
   where an end overflowed, every finite value from the largest on is possible before it; where it
   comes apart, every value is. */
static void include_image(pf_set *s, const pf_format *f, double from, double to, double lo,
                          double hi)
{
  if (f->overflow == PF_OVERFLOW_WRAP && from != to && wraps_between(f, from, to)) {
    include(s, pf_lowest(f));
    include(s, f->max);
    return;
  }
  const bool all = from < 0 && to > 0;
  include(s, lo);
  include(s, hi);
  if (!isfinite(lo) && (all || isfinite(hi)))
    include(s, -f->max);
  if (!isfinite(hi) && (all || isfinite(lo)))
    include(s, f->max);
}

/* Adds the images of infinities and NaN; in integers those are finite. */
static void include_special(pf_set *s, const pf_format *f, bool plus, bool minus, bool nan)
{
  if (plus)
    include(s, pf_round(f, INFINITY));
  if (minus)
    include(s, pf_round(f, -INFINITY));
  if (nan)
    include(s, pf_round(f, NAN));
}

pf_set pf_set_round(const pf_format *f, const pf_set *s)
{
  pf_set r = pf_set_empty();
  if (pf_set_has_finite(s))
    include_image(&r, f, s->lo, s->hi, pf_round(f, s->lo), pf_round(f, s->hi));
  include_special(&r, f, s->plus_infinity, s->minus_infinity, s->nan);
  return r;
}

pf_set pf_set_add(const pf_format *f, const pf_set *a, const pf_set *b)
{
  pf_set r = pf_set_empty();
  const bool a_finite = pf_set_has_finite(a), b_finite = pf_set_has_finite(b);
  if (a_finite && b_finite)
    include_image(&r, f, a->lo + b->lo, a->hi + b->hi, pf_round_sum(f, a->lo, b->lo),
                  pf_round_sum(f, a->hi, b->hi));
  include_special(
      &r, f,
      (a->plus_infinity && (b_finite || b->plus_infinity)) || (b->plus_infinity && a_finite),
      (a->minus_infinity && (b_finite || b->minus_infinity)) || (b->minus_infinity && a_finite),
      a->nan || b->nan || (a->plus_infinity && b->minus_infinity) ||
          (a->minus_infinity && b->plus_infinity));
  return r;
}

pf_set pf_set_scale(const pf_format *f, const pf_set *s, double factor)
{
  pf_set r = pf_set_empty();
  if (pf_set_has_finite(s)) {
    const double from = factor < 0 ? s->hi : s->lo, to = factor < 0 ? s->lo : s->hi;
    const double lo = factor != 0 ? pf_round_product(f, factor, from) : 0;
    const double hi = factor != 0 ? pf_round_product(f, factor, to) : 0;
    include_image(&r, f, factor * from, factor * to, lo, hi);
  }
  const bool keeps = factor > 0, turns = factor < 0;
  include_special(&r, f, (keeps && s->plus_infinity) || (turns && s->minus_infinity),
                  (keeps && s->minus_infinity) || (turns && s->plus_infinity),
                  s->nan || (!keeps && !turns && (s->plus_infinity || s->minus_infinity)));
  return r;
}

void pf_set_print(const pf_set *s, char *to, size_t size)
{
  char finite[128] = "";
  if (pf_set_has_finite(s)) {
    if (s->lo == s->hi)
      snprintf(finite, sizeof finite, "%.9g (%a)", s->lo, s->lo);
    else
      snprintf(finite, sizeof finite, "[%.9g, %.9g] ([%a, %a])", s->lo, s->hi, s->lo, s->hi);
  }
  const char *const parts[] = {finite, s->plus_infinity ? "+inf" : "",
                               s->minus_infinity ? "-inf" : "", s->nan ? "NaN" : ""};
  size_t used = 0;
  to[0] = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (parts[i][0] && used < size)
      used += (size_t)snprintf(to + used, size - used, "%s%s", used ? " or " : "", parts[i]);
}
