/* A dot product in double with its own error bound.

   Products p_k of operands of at most 24 bits are exact in double (f32: 2^-298 to 2^256).  With
   s and a the double sums of p_k and |p_k|, in any order, rho0 = (K - 1) 2^-53 and S = sum |p_k|:
   |s - sum p_k| <= rho0 S (Rump, BIT 52, 2012), a / (1 + rho0) <= S <= a / (1 - rho0), hence
   S <= a (1 + 2 rho0) and S >= a (1 - 2 rho0) for rho0 <= 1/2.  Where a < 2^53 g, g dividing every
   product, all partial sums are multiples of g below 2^53 g: nothing rounds.  Each later operation
   with alpha, beta, c or bias rounds once more, by at most 2^-53 of its result (what underflows on
   the way is bounded by the smallest subnormal each).  Radii are rounded up, T is rounded down.

   For wider operands h = x y and r = fma(x, y, -h), the product's error, and TwoSum keep what each
   addition loses: after Dot2 (Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26(6), 2005) the pair
   lies within (K + 2) 2^-53 w (1 + 4 (K + 2) 2^-53) of the sum, w the sum of the absolute corrections,
   and K 2^-1074 more where products underflow.  h infinite makes r NaN and ends it. */
#include "certified.h"

#include <math.h>

#include "directed.h"

#define UNIT 0x1p-53

typedef struct pf_dot {
  double sum, absolute;
} pf_dot;

static pf_dot dot(const pf_sum *s)
{
  enum { LANES = 4 };
  double sum[LANES] = {0}, absolute[LANES] = {0};
  int64_t k = 0;
  for (; k + LANES <= s->k; k += LANES)
    for (int l = 0; l < LANES; l++) {
      const double p = s->x[k + l] * s->y[k + l];
      sum[l] += p;
      absolute[l] += fabs(p);
    }
  for (; k < s->k; k++) {
    const double p = s->x[k] * s->y[k];
    sum[0] += p;
    absolute[0] += fabs(p);
  }
  return (pf_dot){(sum[0] + sum[1]) + (sum[2] + sum[3]),
                  (absolute[0] + absolute[1]) + (absolute[2] + absolute[3])};
}

double pf_certified_low(const pf_certified *v, double e)
{
  const double d = v->value - e, part = d - v->value;
  const double lost = (v->value - (d - part)) + (-e - part);  /* TwoSum: value - e = d + lost */
  if (lost == 0 && v->tail == 0 && v->radius == 0)
    return d;
  const double rest = nextafter(nextafter(lost + v->tail, INFINITY) + v->radius, INFINITY);
  const double low = d + rest, rest_part = low - d;
  return (d - (low - rest_part)) + (rest - rest_part) > 0 ? nextafter(low, INFINITY) : low;
}

double pf_certified_high(const pf_certified *v, double e)
{
  const pf_certified mirrored = {-v->value, -v->tail, v->radius, v->magnitude};
  return -pf_certified_low(&mirrored, e);
}

/* Adds alpha, beta * c and bias to an enclosed sum of products of magnitude at least `least`. */
static bool add_up(const pf_sum *s, double v, double tail, double radius, double least,
                   pf_certified *out)
{
  *out = (pf_certified){v, tail, radius, least};
  if (s->alpha != 1 || s->beta != 0 || s->bias != 0) {
    /* with alpha 1 or -1, and where an addition is exact, the radius is larger than it need be */
    const double scaled = s->alpha * v, c = s->beta != 0 ? s->beta * s->c : 0;
    const double with_c = scaled + c;
    const double first = pf_up(fabs(scaled) + fabs(c));
    const double rounded = pf_up(first + pf_up(fabs(with_c) + fabs(with_c + s->bias)));
    const double before = pf_up(fabs(s->alpha) * pf_up(radius + fabs(tail)));
    out->value = with_c + s->bias;
    out->tail = 0;
    out->radius = pf_up(pf_up(before + pf_up(UNIT * rounded)) + 0x1p-1072);
    const double products = pf_down(fabs(s->alpha) * least);
    out->magnitude = pf_down(pf_down(products + pf_down(fabs(c))) + fabs(s->bias));
    out->magnitude = pf_down(out->magnitude);
  }
  return isfinite(out->value) && isfinite(out->tail) && isfinite(out->radius);
}

bool pf_certify(const pf_sum *s, int quantum, pf_certified *out)
{
  const pf_dot d = dot(s);
  if (s->k <= 1 || d.absolute < ldexp(1, 53 + quantum))
    return add_up(s, d.sum, 0, 0, d.absolute, out);
  const double rho0 = (double)(s->k - 1) * UNIT;
  const double most = pf_up(d.absolute * (1 + 2 * rho0));
  return add_up(s, d.sum, 0, pf_up(rho0 * most), pf_down(d.absolute * (1 - 2 * rho0)), out);
}

bool pf_certify_f64(const pf_sum *s, int quantum, pf_certified *out)
{
  double high = 0, low = 0, weight = 0, absolute = 0;
  for (int64_t k = 0; k < s->k; k++) {
    const double h = s->x[k] * s->y[k];
    const double r = fma(s->x[k], s->y[k], -h);
    const double sum = high + h, part = sum - high;
    const double t = ((high - (sum - part)) + (h - part)) + r;
    high = sum;
    low += t;
    weight += fabs(t);
    absolute += fabs(h);
  }
  if (quantum >= -1074 && absolute < ldexp(1, 53 + quantum))
    return add_up(s, high + low, 0, 0, absolute, out);
  const double units = (double)(s->k + 2) * UNIT;
  const double rounded = pf_up(pf_up(units * weight) * (1 + 4 * units));
  const double radius = pf_up(rounded + (double)s->k * 0x1p-1074);
  const double least = pf_down(pf_down(absolute * (1 - 2 * units)) - (double)s->k * 0x1p-1074);
  return isfinite(weight) && add_up(s, high, low, pf_up(radius), least > 0 ? least : 0, out);
}

static double part(double term, bool negative)
{
  return negative ? fmax(-term, 0) : fmax(term, 0);
}

double pf_one_sided(const pf_sum *s, bool negative)
{
  double sum = part(s->bias, negative);
  if (s->beta != 0)
    sum = pf_up(sum + pf_up(part(s->beta * s->c, negative)));
  for (int64_t k = 0; k < s->k; k++)
    sum = pf_up(sum + pf_up(part(s->alpha * s->x[k] * s->y[k], negative)));
  return sum;
}
