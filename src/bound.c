/* The accumulation bound.

   A correct kernel computes v = alpha * sum x_k y_k + beta * c + bias (what the call contains) in
   format a, unit roundoff u, in any order, with or without fused multiply-add.  With
   T = |alpha| S + |beta c| + |bias|, n = K + [beta c] + [bias] addends, every addend passes through
   at most d roundings, so that |got - v| <= gamma(d, u) T, gamma(d, u) = d u / (1 - d u)
   (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1), d = n - 1 + r:
     r = 0  products are exact in a (as bf16 times bf16 in f32) and alpha is 1 or -1
     r = 1  products are rounded (a first product of a chain also by FMA(x, y, 0)), or beta c is
     r = 2  with an alpha, which may be applied to x, y, the product or the sum.
   For sums and dot products in any order, without alpha, d u T bounds the error for every n, also
   where d u >= 1 (Rump, BIT 52, 2012; Jeannerod and Rump, SIAM J. Matrix Anal. Appl. 34, 2013).
   A stated order shortens the path: depth of its tree instead of K - 1; c and bias come after it.
   Underflow: each of m operations may lose half the smallest subnormal, eta.  Sums do not underflow;
   products do unless all are multiples of the smallest subnormal.  With an alpha up to three
   products a term may, and what x loses is multiplied by y where alpha sits on x.

   Exact: if all addends are multiples of 2^G, the smallest subnormal divides 2^G, and
   T <= 2^(p + G), then every partial sum is a multiple of 2^G of at most p bits: nothing rounds.

   Overflow: a partial sum of the addends A has a value of at most P_A - N_A + gamma (P_A + N_A) +
   underflow, P_A and N_A the sums of its positive and absolute negative addends.  With gamma < 1
   that is greatest for all positive addends and no others: +inf can only arise if
   (1 + gamma) P + underflow reaches the threshold W of a; -inf likewise; NaN needs both.  With an
   alpha not 1 any intermediate may overflow that v does not show, before alpha shrinks it.

   Where an engine declares that it flushes subnormal products and partial sums to zero, each of up to
   2n operations, and each product with alpha, may lose the smallest normal number; nothing is exact
   then but sums of multiples of it.

   All evaluated in double, each operation rounded up by one nextafter. */
#include "bound.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "directed.h"

/* a + b of numbers >= 0, rounded up: not beyond the least double that is not below it, since T decides
   exactness at a power of two and a smaller T must not have a greater E.  TwoSum tells what s lacks. */
static double sum_up(double a, double b)
{
  const double s = a + b, part = s - a;
  const double lost = (a - (s - part)) + (b - part);
  return lost > 0 ? pf_up(s) : s;
}

int pf_last_bit(double v)
{
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  const int biased = (int)(bits >> 52 & 0x7ff);
  uint64_t significand = bits & 0xfffffffffffff;
  if (!biased && !significand)
    return PF_NO_QUANTUM;
  if (biased)
    significand |= (uint64_t)1 << 52;
  return (biased ? biased : 1) - 1075 + __builtin_ctzll(significand);
}

double pf_gamma(double d, double u)
{
  const double du = d * u;  /* u is a power of two, d an integer below 2^53: exact */
  if (!(du < 1))
    return INFINITY;
  return du == 0 ? 0 : pf_up(du / pf_down(1 - du));
}

static int min_int(int a, int b)
{
  return a < b ? a : b;
}

/* Roundings besides the additions: r above. */
static int extra_roundings(const pf_bound_input *in, int64_t k)
{
  const pf_sum *s = in->sum;
  int r = 0;
  if (k && fabs(s->alpha) != 1)
    r = 2;
  else if (k && in->x_precision + in->y_precision > in->acc->precision)
    r = 1;
  if (s->beta != 0 && fabs(s->beta) != 1 && r < 1)
    r = 1;
  return r;
}

/* Sum of |b_k| over the k where |alpha a_k| falls below the normal range: what a lost half of a
   subnormal is multiplied by if alpha is applied to that operand first. */
static double exposed(const double *a, const double *b, int64_t k, double alpha, double normal)
{
  double sum = 0;
  for (int64_t i = 0; i < k; i++)
    if (fabs(alpha * a[i]) < normal && isfinite(b[i]))
      sum = pf_up(sum + fabs(b[i]));
  return sum;
}

/* What does not depend on single operands of m where alpha is neither 1 nor -1. */
static double scaled_underflows(const pf_sum *s, int64_t k, double scaled_c)
{
  const double products = pf_up((double)k * pf_up(1 + fabs(s->alpha)));
  return pf_up(products + 2 + scaled_c);
}

/* Operations that may lose a normal number where subnormals are flushed, weighted likewise; an alpha
   of -1 may flush what it is multiplied by, too. */
static double flushes(const pf_bound_input *in, int64_t k)
{
  const pf_sum *s = in->sum;
  const double n = (double)(k + (s->beta != 0) + (s->bias != 0));
  if (!k || s->alpha == 1)
    return 2 * n;
  const double normal = pf_smallest_normal(in->acc);
  return pf_up(pf_up(2 * n * pf_up(1 + fabs(s->alpha))) +
               fmax(exposed(s->x, s->y, k, s->alpha, normal),
                    exposed(s->y, s->x, k, s->alpha, normal)));
}

/* m above; a count where alpha is 1 or -1, else weighted by alpha and the operands. */
static double underflows(const pf_bound_input *in, int64_t k)
{
  const pf_sum *s = in->sum;
  const double scaled_c = s->beta != 0 && fabs(s->beta) != 1;
  if (!k)
    return scaled_c;
  if (fabs(s->alpha) == 1) {
    const bool products_fit =
        in->x_quantum + in->y_quantum >= pf_quantum(in->acc) ||
        in->x_quantum == PF_NO_QUANTUM || in->y_quantum == PF_NO_QUANTUM;
    return scaled_c + (products_fit ? 0 : (double)k);
  }
  const double normal = pf_smallest_normal(in->acc);
  const double on_x = exposed(s->x, s->y, k, s->alpha, normal);
  const double on_y = exposed(s->y, s->x, k, s->alpha, normal);
  return pf_up(scaled_underflows(s, k, scaled_c) + fmax(on_x, on_y));
}

static bool is_exact(const pf_bound_input *in, int64_t k, double t, int scale)
{
  const pf_sum *s = in->sum;
  if (k && fabs(s->alpha) != 1)
    return false;
  int g = PF_NO_QUANTUM;
  if (k && in->x_quantum != PF_NO_QUANTUM && in->y_quantum != PF_NO_QUANTUM)
    g = in->x_quantum + in->y_quantum;
  if (s->beta != 0 && s->c != 0 && isfinite(s->c))
    g = min_int(g, pf_last_bit(s->beta) + pf_last_bit(s->c));
  if (s->bias != 0 && isfinite(s->bias))
    g = min_int(g, pf_last_bit(s->bias));
  if (g == PF_NO_QUANTUM)
    return true;
  const int least = in->flushes ? in->acc->emin : pf_quantum(in->acc);
  return g >= least && t <= ldexp(1, in->acc->precision + g - scale);
}

static bool overflows(const pf_format *acc, double v)
{
  return !(fabs(pf_round(acc, v)) <= acc->max);
}

/* Largest magnitude that some place of alpha can bring about before the sum. */
static double largest_scaled(const pf_sum *s, double products)
{
  double most = products;
  for (int64_t i = 0; i < s->k; i++) {
    if (isfinite(s->x[i]))
      most = fmax(most, fabs(s->alpha * s->x[i]));
    if (isfinite(s->y[i]))
      most = fmax(most, fabs(s->alpha * s->y[i]));
  }
  return most;
}

/* What rounding may add to a partial sum of magnitude `most` before alpha has shrunk it. */
static double unscaled_error(const pf_bound_input *in, double most)
{
  const double d = (double)(pf_summation_depth(&in->order, in->sum->k) + 2);
  const double lost = pf_up(ldexp((double)in->sum->k, pf_quantum(in->acc) - 1));
  return pf_up(pf_up(pf_gamma(d, pf_unit_roundoff(in->acc)) * most) + lost);
}

/* gamma or d u above. */
static double relative_error(const pf_bound_input *in, int64_t k)
{
  const pf_sum *s = in->sum;
  const int64_t n = k + (s->beta != 0) + (s->bias != 0);
  const int r = extra_roundings(in, k);
  const int64_t path = k ? pf_summation_depth(&in->order, k) + (n - k) : n - 1;
  const double d = (double)((path > 0 ? path : 0) + r);
  const double u = pf_unit_roundoff(in->acc);
  const bool chain = in->order.order == PF_ANY_ORDER || in->order.order == PF_FORWARD ||
                     in->order.order == PF_BACKWARD;
  return chain && r < 2 ? d * u : pf_gamma(d, u);
}

pf_bound_rates pf_bound_rates_of(const pf_format *acc, const pf_summation *order, int x_precision,
                                 int y_precision, const pf_sum *like)
{
  const pf_bound_input in = {.acc = acc, .order = *order, .x_precision = x_precision,
                             .y_precision = y_precision, .sum = like};
  const double scaled_c = like->beta != 0 && fabs(like->beta) != 1;
  pf_bound_rates r = {.relative = relative_error(&in, like->k)};
  if (fabs(like->alpha) == 1 || !like->k) {
    r.underflows = scaled_c + (double)like->k;
    r.underflows_fitting = scaled_c;
  } else {
    r.underflows = r.underflows_fitting = pf_down(scaled_underflows(like, like->k, scaled_c));
  }
  return r;
}

typedef struct pf_loss {
  double relative;   /* dimensionless */
  double underflow;  /* in halves of the smallest subnormal */
} pf_loss;

/* v * 2^e, rounded up where it is no double. */
static double scale_up(double v, int e)
{
  const double r = ldexp(v, e);
  return ldexp(r, -e) < v ? pf_up(r) : r;
}

/* The error of a sum of magnitude 2^scale t, value units.  Small sums are worked on in units that
   keep clear of double's own subnormals, where each rounding up would add a whole one. */
static double error_of(const pf_bound_input *in, const pf_loss *loss, double t)
{
  const int scale = in->truth->scale;
  const int unit = scale ? scale : t < 0x1p-800 ? -200 : 0;
  const double relative =
      loss->relative == 0 || t == 0 ? 0 : pf_up(loss->relative * ldexp(t, scale - unit));
  const double lost = scale_up(loss->underflow, pf_quantum(in->acc) - 1 - unit);
  return scale_up(sum_up(relative, lost), unit);
}

/* Can partial sums overflow on the side whose addends sum to 2^scale t? */
static bool side_overflows(const pf_bound_input *in, const pf_loss *loss, double error, double t)
{
  const int scale = in->truth->scale;
  const double e = loss->relative < 1 ? error_of(in, loss, t) : error;
  return overflows(in->acc, sum_up(sum_up(ldexp(t, scale), e), in->lost));
}

pf_bound pf_bound_of(const pf_bound_input *in)
{
  const pf_truth *truth = in->truth;
  const pf_sum *s = in->sum;
  /* alpha = 0 leaves the products out, as K = 0 does: 0 times what is finite is exactly 0 */
  const int64_t k = s->alpha == 0 ? 0 : s->k;
  const double t = sum_up(truth->positive, truth->negative);
  pf_bound b = {.exact = in->lost == 0 && is_exact(in, k, t, truth->scale)};
  pf_loss loss = {0};
  if (!b.exact) {
    loss.relative = relative_error(in, k);
    double m = underflows(in, k);
    if (in->flushes)
      m = pf_up(m + flushes(in, k) * ldexp(1, in->acc->precision));
    loss.underflow = m == 0 ? 0 : pf_up(m * pf_up(1 + loss.relative));
    b.error = sum_up(error_of(in, &loss, t), in->lost);
    b.weak = b.error >= ldexp(t, truth->scale) && t > 0;
  }
  b.plus_infinity = side_overflows(in, &loss, b.error, truth->positive);
  b.minus_infinity = side_overflows(in, &loss, b.error, truth->negative);
  if (s->k && fabs(s->alpha) != 1) {
    const double most = fmax(largest_scaled(s, ldexp(truth->products, truth->scale)),
                             ldexp(t, truth->scale));
    if (overflows(in->acc, pf_up(pf_up(most + unscaled_error(in, most)) + b.error)))
      b.plus_infinity = b.minus_infinity = true;
  }
  b.nan = b.plus_infinity && b.minus_infinity;
  return b;
}
