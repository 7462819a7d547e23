/* Sums in toy formats, and their search for the worst: shared by the tests of the bound. */
#ifndef PF_TESTS_TOY_SUMS_H
#define PF_TESTS_TOY_SUMS_H

#include <math.h>
#include <string.h>

#include "bound.h"
#include "every_tree.h"
#include "random_source.h"

enum { TOY_TERMS = 16 };

/* Values from 2^emin (and subnormals) to below 2^(emax + 1). */
static inline pf_format toy_format(int precision, int emin, int emax)
{
  return (pf_format){.precision = precision, .emin = emin,
                     .max = ldexp(2 - ldexp(1, 1 - precision), emax),
                     .has_infinity = true, .has_negative_zero = true};
}

/* One sum, held together with what it points to. */
typedef struct toy_sum {
  double x[TOY_TERMS], y[TOY_TERMS];
  int k;
  double alpha, beta, c, bias;
} toy_sum;

static inline pf_sum terms_of(const toy_sum *t)
{
  return (pf_sum){.k = t->k, .x = t->x, .y = t->y, .alpha = t->alpha, .beta = t->beta, .c = t->c,
                  .bias = t->bias};
}

/* What a kind of toy sums may hold. */
typedef struct toy_kind {
  pf_format acc, x, y;
  int k;
  bool alpha, c, bias;
} toy_kind;

/* Zero, a subnormal, a power of two or anything: corners are where bounds are reached. */
static inline double toy_value(random_source *r, const pf_format *f)
{
  int top;
  frexp(f->max, &top);
  const int e = draw_between(r, f->emin - 2, top - 1);
  double v = ldexp(1, e);
  switch (draw_below(r, 8)) {
  case 0: v = draw_below(r, 4) ? f->max : 0; break;
  case 1: break;
  case 2: v = pf_next_up(f, v); break;
  case 3: v = pf_next_down(f, v); break;
  default: v += ldexp((double)draw_below(r, 1 << 20), e - 20); break;
  }
  v = fmin(pf_round(f, v), f->max);
  return draw_below(r, 2) ? -v : v;
}

static inline double toy_scalar(random_source *r, const pf_format *f)
{
  static const double common[] = {0.5, 2, -1, -2, 1.5, 0.75, 0};
  if (draw_below(r, 2))
    return toy_value(r, f);
  return pf_round(f, common[draw_below(r, sizeof common / sizeof *common)]);
}

static inline toy_sum toy_random(random_source *r, const toy_kind *kind)
{
  toy_sum t = {.k = kind->k, .alpha = 1};
  for (int i = 0; i < t.k; i++) {
    t.x[i] = toy_value(r, &kind->x);
    t.y[i] = draw_below(r, 2) ? 1 : toy_value(r, &kind->y);
  }
  if (kind->alpha)
    t.alpha = toy_scalar(r, &kind->acc);
  if (kind->c) {
    t.beta = draw_below(r, 2) ? 1 : toy_scalar(r, &kind->acc);
    t.c = toy_value(r, &kind->acc);
  }
  if (kind->bias)
    t.bias = toy_value(r, &kind->acc);
  return t;
}

/* One large term and many that each lose half a place of it: where sequential sums err most. */
static inline toy_sum toy_stagnating(random_source *r, const toy_kind *kind)
{
  toy_sum t = toy_random(r, kind);
  const double small = pf_round(&kind->x, ldexp(1, -kind->acc.precision));
  const int first = draw_below(r, t.k + 1);
  for (int i = 0; i < t.k; i++) {
    t.x[i] = i == first ? 1 : small;
    t.y[i] = 1;
  }
  if (kind->c && t.c != 0)
    t.c = first == t.k ? 1 : small;
  return t;
}

static inline double toy_step(random_source *r, const pf_format *f, double v)
{
  double w = v;
  switch (draw_below(r, 6)) {
  case 0: w = pf_next_up(f, v); break;
  case 1: w = pf_next_down(f, v); break;
  case 2: w = -v; break;
  case 3: w = pf_round(f, 2 * v); break;
  case 4: w = pf_round(f, v / 2); break;
  default: w = toy_value(r, f); break;
  }
  return fabs(w) <= f->max ? w : v;
}

/* A neighbour: one or two numbers changed. */
static inline toy_sum toy_mutate(random_source *r, const toy_kind *kind, const toy_sum *from)
{
  toy_sum t = *from;
  for (int n = draw_between(r, 1, 2); n > 0; n--) {
    const int at = draw_below(r, 2 * t.k + 4), i = at / 2;
    if (i < t.k && at % 2)
      t.x[i] = toy_step(r, &kind->x, t.x[i]);
    else if (i < t.k)
      t.y[i] = toy_step(r, &kind->y, t.y[i]);
    else if (at == 2 * t.k && kind->alpha)
      t.alpha = toy_step(r, &kind->acc, t.alpha);
    else if (at == 2 * t.k + 1 && kind->c)
      t.beta = toy_step(r, &kind->acc, t.beta);
    else if (at == 2 * t.k + 2 && kind->c)
      t.c = toy_step(r, &kind->acc, t.c);
    else if (at == 2 * t.k + 3 && kind->bias)
      t.bias = toy_step(r, &kind->acc, t.bias);
  }
  return t;
}

static inline int least_last_bit(const double *v, int64_t k)
{
  int least = PF_NO_QUANTUM;
  for (int64_t i = 0; i < k; i++)
    if (isfinite(v[i]) && pf_last_bit(v[i]) < least)
      least = pf_last_bit(v[i]);
  return least;
}

typedef struct bounded {
  pf_bound bound;
  double lo, hi;  /* v - E and v + E, rounded outward */
} bounded;

static inline bounded bound_of(const pf_oracle *o, const toy_kind *kind, pf_summation order,
                               const pf_sum *s)
{
  pf_truth truth;
  o->sum(o->state, s, &truth);
  const pf_bound_input in = {
    .acc = &kind->acc, .order = order,
    .x_precision = kind->x.precision, .y_precision = kind->y.precision,
    .x_quantum = least_last_bit(s->x, s->k), .y_quantum = least_last_bit(s->y, s->k),
    .sum = s, .truth = &truth,
  };
  bounded b = {.bound = pf_bound_of(&in)};
  b.lo = o->below(o->state, b.bound.error);
  b.hi = o->above(o->state, b.bound.error);
  return b;
}

/* Results that the bound does not allow; *ratio: of the worst finite error to E, 0 where E is. */
static inline bool violates(const pf_oracle *o, const bounded *b, const results *r, double *ratio)
{
  bool bad = (r->plus_infinity && !b->bound.plus_infinity) ||
             (r->minus_infinity && !b->bound.minus_infinity) || (r->nan && !b->bound.nan);
  *ratio = 0;
  for (int i = 0; i < r->count && i < 2; i++) {
    const double v = r->finite[i], error = o->distance(o->state, v);
    bad |= !(error <= b->bound.error) || !(v >= b->lo && v <= b->hi);
    if (error > 0 && b->bound.error > 0)
      *ratio = fmax(*ratio, error / b->bound.error);
  }
  return bad;
}

static inline void print_toy(const toy_kind *kind, const toy_sum *t, const bounded *b,
                             const results *r)
{
  print_message("p=%d emin=%d max=%a; x of %d bits, y of %d; alpha=%a beta=%a c=%a bias=%a\n",
                kind->acc.precision, kind->acc.emin, kind->acc.max, kind->x.precision,
                kind->y.precision, t->alpha, t->beta, t->c, t->bias);
  for (int i = 0; i < t->k; i++)
    print_message("  x=%a y=%a\n", t->x[i], t->y[i]);
  print_message("  allowed: E=%a [%a, %a]%s%s%s%s\n", b->bound.error, b->lo, b->hi,
                b->bound.exact ? " exact" : "", b->bound.plus_infinity ? " +inf" : "",
                b->bound.minus_infinity ? " -inf" : "", b->bound.nan ? " NaN" : "");
  print_message("  attained:");
  double all[MOST_FINITE + 3];
  const int n = list_results(r, all);
  for (int i = 0; i < n; i++)
    print_message(" %a", all[i]);
  print_message("\n");
}

#endif
