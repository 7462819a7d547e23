/* Special values by the extended reals.  beta c and the bias are terms like the products, since a
   kernel may begin with them as well as end.
     a NaN term (a NaN operand, 0 times infinity)   NaN
     infinite terms of both signs                   NaN
     infinite terms of one sign s                   s infinity; NaN too where the finite terms may
                                                    overflow to the other side on their way, or where
                                                    alpha, applied to an operand first, may turn a
                                                    factor of the infinity into 0 (a factor of a 0
                                                    that it makes infinite counts as overflow)
     alpha = 0                                      beta c + bias, NaN too if an operand is not
                                                    finite: libraries may skip the product or not,
                                                    unless one declares which
     0 times NaN or infinity                        may count as 0 where an engine declares that it
                                                    skips zeros; what alpha makes 0 of a factor, too
   NaN or infinity from anywhere else is a fault. */
#include "special.h"

#include <math.h>

typedef struct pf_terms {
  bool nan, plus, minus;  /* a term of the kind exists; signs with alpha's applied */
  bool alpha_may_spoil;   /* an infinity may meet a zero made by alpha */
  bool skipped;           /* alpha is 0 and an operand is not finite */
} pf_terms;

/* How an engine treats zeros and what is near them. */
typedef struct pf_zeros {
  bool skipped;   /* zero times anything is 0, */
  bool by_alpha;  /* also where alpha, applied to it first, makes the zero */
  bool flushes;   /* what is subnormal may count as one */
} pf_zeros;

static bool may_vanish(const pf_format *f, const pf_zeros *z, double a, double b)
{
  return a != 0 && b != 0 &&
         (pf_round(f, a * b) == 0 || (z->flushes && fabs(a * b) < pf_smallest_normal(f)));
}

static bool is_skipped(double x, double y, double alpha, const pf_format *acc, const pf_zeros *z)
{
  if (!z->skipped || x == 0 || y == 0)
    return z->skipped;
  return z->by_alpha && ((isfinite(x) && may_vanish(acc, z, alpha, x)) ||
                         (isfinite(y) && may_vanish(acc, z, alpha, y)));
}

static void note_term(pf_terms *t, double x, double y, double alpha, const pf_format *acc,
                      const pf_zeros *z)
{
  if ((isfinite(x) && isfinite(y)) || is_skipped(x, y, alpha, acc, z))
    return;
  if (alpha == 0) {
    t->skipped = true;
    return;
  }
  const double p = x * y;
  if (isnan(p)) {
    t->nan = true;
    return;
  }
  *((p < 0) != (alpha < 0) ? &t->minus : &t->plus) = true;
  t->alpha_may_spoil |= (isfinite(y) && may_vanish(acc, z, alpha, y)) ||
                        (isfinite(x) && may_vanish(acc, z, alpha, x));
}

static void note_addend(pf_terms *t, double v)
{
  t->nan |= isnan(v);
  t->plus |= v == INFINITY;
  t->minus |= v == -INFINITY;
}

static pf_terms classify(const pf_sum *s, const pf_format *acc, const pf_zeros *z)
{
  pf_terms t = {0};
  for (int64_t k = 0; k < s->k; k++)
    note_term(&t, s->x[k], s->y[k], s->alpha, acc, z);
  if (s->beta != 0 && !isfinite(s->c))
    note_addend(&t, s->beta * s->c);
  note_addend(&t, s->bias);
  return t;
}

bool pf_sum_is_special(const pf_sum *s)
{
  /* x - x is 0 for what is finite, NaN for all else */
  double odd = (s->beta != 0 ? s->c - s->c : 0) + (s->bias - s->bias);
  for (int64_t k = 0; k < s->k; k++)
    odd += (s->x[k] - s->x[k]) + (s->y[k] - s->y[k]);
  return odd != 0;
}

bool pf_special_certain(const pf_sum *s, const pf_format *acc, bool no_overflow, pf_set *out)
{
  const pf_terms t = classify(s, acc, &(pf_zeros){.skipped = false});
  const bool both = t.plus && t.minus, one = t.plus != t.minus;
  if (t.nan || both)
    *out = pf_set_point(NAN);
  else if (one && no_overflow && !t.skipped)
    *out = pf_set_point(t.plus ? INFINITY : -INFINITY);
  else
    return false;
  return true;
}

static pf_set set_of(const pf_sum *s, const pf_format *acc, const pf_bound *finite_bound,
                     pf_alpha_zero alpha_zero, const pf_zeros *z, const pf_set *finite)
{
  const pf_terms all = classify(s, acc, z), *t = &all;
  if (t->nan || (t->plus && t->minus) || (t->skipped && alpha_zero == PF_ALPHA_ZERO_READS))
    return pf_set_point(NAN);
  pf_set r = *finite;
  if (t->plus || t->minus) {
    r = pf_set_point(t->plus ? INFINITY : -INFINITY);
    r.nan = (t->plus ? finite_bound->minus_infinity : finite_bound->plus_infinity) ||
            ((fabs(s->alpha) != 1 || (z->flushes && s->alpha == -1)) && t->alpha_may_spoil) ||
            (z->flushes && isinf(s->c) && may_vanish(acc, z, s->beta, 1));
  }
  r.nan |= t->skipped && alpha_zero == PF_ALPHA_ZERO_OPEN;
  return r;
}

pf_set pf_special_set(const pf_sum *s, const pf_format *acc, const pf_bound *finite_bound,
                      const pf_declared *declared, const pf_set *finite)
{
  const pf_alpha_zero alpha_zero = declared ? declared->alpha_zero : PF_ALPHA_ZERO_OPEN;
  const pf_maybe skips = declared ? declared->zero_skip : PF_NEVER;
  pf_zeros z = {.skipped = skips == PF_DOES,
                .flushes = declared && (declared->flush_inputs || declared->flush_sums)};
  pf_set r = set_of(s, acc, finite_bound, alpha_zero, &z, finite);
  for (int by_alpha = 0; by_alpha < 2 && skips; by_alpha++) {
    z.skipped = true;
    z.by_alpha = by_alpha;
    const pf_set without = set_of(s, acc, finite_bound, alpha_zero, &z, finite);
    r = pf_set_hull(&r, &without);
  }
  return r;
}
