/* What all summation trees together can give.

   The addends are K products, beta * c and the bias.  Every binary tree over them, in every order
   of the leaves, by recursion over subsets: what a set of addends can sum to is what two disjoint
   parts of it can, added.  Where a part is one product (or beta * c, or alpha times a sum) the
   addition may be fused with it.  alpha sits on one of the operands (which is the caller's choice:
   no kernel takes x here and y there), on the product or on any sum of products alone, each
   product's place chosen by itself: so a kernel that adds alpha times the sums of blocks onto c is
   among them.

   Only some results of each subset are kept, all of them attained.  Rounding is monotone, so the
   extremes of a set follow from those of its parts; they are always kept. */
#ifndef PF_TESTS_EVERY_TREE_H
#define PF_TESTS_EVERY_TREE_H

#include <math.h>
#include <stdbool.h>

#include "format.h"
#include "truth.h"

enum { MOST_LEAVES = 7, MOST_FINITE = 8 };

typedef struct arithmetic {
  const pf_format *format;
  double (*sum)(const pf_format *, double, double);
  double (*product)(const pf_format *, double, double);
  double (*fma)(const pf_format *, double, double, double);
} arithmetic;

/* Some results of one subset: [0] is the least finite one, [1] the greatest. */
typedef struct results {
  int count;
  double finite[MOST_FINITE];
  bool plus_infinity, minus_infinity, nan;
} results;

static inline void include_finite(results *r, double v)
{
  for (int i = 0; i < r->count; i++)
    if (r->finite[i] == v)
      return;
  if (r->count >= 1 && v < r->finite[0]) {
    const double old = r->finite[0];
    r->finite[0] = v;
    v = old;
  }
  if (r->count >= 2 && v > r->finite[1]) {
    const double old = r->finite[1];
    r->finite[1] = v;
    v = old;
  }
  if (r->count < MOST_FINITE)
    r->finite[r->count++] = v;
}

static inline void include_result(results *r, double v)
{
  if (isnan(v))
    r->nan = true;
  else if (isinf(v))
    *(v > 0 ? &r->plus_infinity : &r->minus_infinity) = true;
  else
    include_finite(r, v);
}

/* All of it in one list. */
static inline int list_results(const results *r, double out[MOST_FINITE + 3])
{
  int n = 0;
  for (; n < r->count; n++)
    out[n] = r->finite[n];
  if (r->plus_infinity)
    out[n++] = (double)INFINITY;
  if (r->minus_infinity)
    out[n++] = -(double)INFINITY;
  if (r->nan)
    out[n++] = (double)NAN;
  return n;
}

/* A product about to be added: rounded first, or fused. */
typedef struct factors {
  double a, b;
} factors;

typedef struct forest {
  const arithmetic *how;
  const pf_sum *sum;
  int products, leaves;
  int pairs[MOST_LEAVES];
  bool alpha_on_y;
  factors pair[MOST_LEAVES][2];         /* of each leaf, alpha applied */
  results plain[1 << MOST_LEAVES];      /* subsets of the products, without alpha */
  results all[1 << MOST_LEAVES];        /* any subset, alpha applied */
} forest;

static inline void add_pair(forest *f, int leaf, double a, double b)
{
  const int n = f->pairs[leaf]++;
  f->pair[leaf][n] = (factors){a, b};
}

static inline void plant_product(forest *f, int k)
{
  const arithmetic *h = f->how;
  const double x = f->sum->x[k], y = f->sum->y[k], alpha = f->sum->alpha;
  include_result(&f->plain[1 << k], h->product(h->format, x, y));
  if (alpha == 1) {
    add_pair(f, k, x, y);
    return;
  }
  if (f->alpha_on_y)
    add_pair(f, k, x, h->product(h->format, alpha, y));
  else
    add_pair(f, k, h->product(h->format, alpha, x), y);
  add_pair(f, k, alpha, h->product(h->format, x, y));
}

static inline void plant(forest *f)
{
  const pf_sum *s = f->sum;
  f->products = f->leaves = (int)s->k;
  for (int k = 0; k < MOST_LEAVES; k++)
    f->pairs[k] = 0;
  for (int i = 0; i < 1 << MOST_LEAVES; i++)
    f->plain[i] = f->all[i] = (results){0};
  for (int k = 0; k < f->products; k++)
    plant_product(f, k);
  if (s->beta != 0)
    add_pair(f, f->leaves++, s->beta, s->c);
  if (s->bias != 0)
    add_pair(f, f->leaves++, 1, s->bias);
  for (int k = 0; k < f->leaves; k++)
    for (int i = 0; i < f->pairs[k]; i++)
      include_result(&f->all[1 << k],
                     f->how->product(f->how->format, f->pair[k][i].a, f->pair[k][i].b));
}

static inline void add_all(const arithmetic *h, results *to, const results *a, const results *b)
{
  double left[MOST_FINITE + 3], right[MOST_FINITE + 3];
  const int m = list_results(a, left), n = list_results(b, right);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      include_result(to, h->sum(h->format, left[i], right[j]));
}

static inline void fuse_all(const arithmetic *h, results *to, double a, double b, const results *c)
{
  double addend[MOST_FINITE + 3];
  const int n = list_results(c, addend);
  for (int i = 0; i < n; i++)
    include_result(to, h->fma(h->format, a, b, addend[i]));
}

/* `part` and the rest of `set`. */
static inline void split_subset(forest *f, int set, int part)
{
  const arithmetic *h = f->how;
  const int rest = set ^ part;
  const bool products = set < 1 << f->products;
  const bool one = (part & (part - 1)) == 0;
  const int leaf = __builtin_ctz((unsigned)part);
  if (part > rest) {
    add_all(h, &f->all[set], &f->all[part], &f->all[rest]);
    if (products && f->sum->alpha != 1)
      add_all(h, &f->plain[set], &f->plain[part], &f->plain[rest]);
  }
  for (int i = 0; one && i < f->pairs[leaf]; i++)
    fuse_all(h, &f->all[set], f->pair[leaf][i].a, f->pair[leaf][i].b, &f->all[rest]);
  if (f->sum->alpha == 1)
    return;
  if (one && products)
    fuse_all(h, &f->plain[set], f->sum->x[leaf], f->sum->y[leaf], &f->plain[rest]);
  if (part < 1 << f->products) {
    double sum[MOST_FINITE + 3];
    const int n = list_results(&f->plain[part], sum);
    for (int i = 0; i < n; i++)
      fuse_all(h, &f->all[set], f->sum->alpha, sum[i], &f->all[rest]);
  }
}

/* Products alone, summed, then times alpha. */
static inline void scale_subset(forest *f, int set)
{
  const arithmetic *h = f->how;
  double sum[MOST_FINITE + 3];
  if (f->sum->alpha == 1 || set >= 1 << f->products)
    return;
  const int n = list_results(&f->plain[set], sum);
  for (int i = 0; i < n; i++)
    include_result(&f->all[set], h->product(h->format, f->sum->alpha, sum[i]));
}

/* What some order gives for the sum; K + [beta not 0] + [bias not 0] <= MOST_LEAVES.  The empty
   sum gives 0. */
static inline results every_tree(forest *f, const arithmetic *how, const pf_sum *sum,
                                 bool alpha_on_y)
{
  f->how = how;
  f->alpha_on_y = alpha_on_y;
  f->sum = sum;
  plant(f);
  for (int set = 1; set < 1 << f->leaves; set++) {
    for (int part = (set - 1) & set; part; part = (part - 1) & set)
      split_subset(f, set, part);
    scale_subset(f, set);
  }
  if (!f->leaves)
    include_result(&f->all[0], 0);
  return f->all[(1 << f->leaves) - 1];
}

#endif
