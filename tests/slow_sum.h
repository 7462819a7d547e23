/* A sum in a stated order, a second time and slowly: the order as an explicit tree, each operation
   by MPFR, rounded once (twice only where a product has a format of its own). */
#ifndef PF_TESTS_SLOW_SUM_H
#define PF_TESTS_SLOW_SUM_H

#include "format_reference.h"
#include "row.h"
#include "truth.h"

enum { MOST_NODES = 4096 };

/* A product, or the sum of two nodes; `onto`: the right one is a product that may be fused. */
typedef struct node {
  int term, left, right;  /* term: -1 for a sum */
  bool onto;
} node;

typedef struct slow_tree {
  node list[MOST_NODES];
  int n;
} slow_tree;

static inline int slow_leaf(slow_tree *t, int64_t term)
{
  t->list[t->n] = (node){.term = (int)term, .left = -1, .right = -1};
  return t->n++;
}

static inline int slow_node(slow_tree *t, int left, int right, bool onto)
{
  if (left < 0)
    return right;
  t->list[t->n] = (node){.term = -1, .left = left, .right = right, .onto = onto};
  return t->n++;
}

/* from, from + step, ... `count` terms, each added onto those before; -1 where there are none. */
static inline int slow_chain(slow_tree *t, int64_t from, int64_t step, int64_t count)
{
  int s = -1;
  for (int64_t i = 0; i < count; i++)
    s = slow_node(t, s, slow_leaf(t, from + i * step), true);
  return s;
}

static inline int slow_halves(slow_tree *t, int64_t from, int64_t count, bool fused)
{
  if (count <= 1 || (fused && count == 2))
    return slow_chain(t, from, 1, count);
  const int left = slow_halves(t, from, count / 2, fused);
  return slow_node(t, left, slow_halves(t, from + count / 2, count - count / 2, fused), false);
}

static inline int slow_blocks(slow_tree *t, int64_t from, int64_t count, int64_t width)
{
  int s = -1;
  for (int64_t done = 0; done < count; done += width)
    s = slow_node(t, s, slow_chain(t, from + done, 1, count - done < width ? count - done : width),
                  false);
  return s;
}

/* Neighbours, then neighbours of these. */
static inline int slow_lanes(slow_tree *t, int64_t from, int64_t count, int64_t width)
{
  int lane[64], lanes = 0;
  for (int64_t l = 0; l < width && l < count; l++)
    lane[lanes++] = slow_chain(t, from + l, width, (count - l + width - 1) / width);
  while (lanes > 1) {
    int pairs = 0;
    for (int i = 0; i < lanes; i += 2)
      lane[pairs++] = i + 1 < lanes ? slow_node(t, lane[i], lane[i + 1], false) : lane[i];
    lanes = pairs;
  }
  return lanes ? lane[0] : -1;
}

static inline int slow_order(slow_tree *t, const pf_summation *s, int64_t from, int64_t count)
{
  switch (s->order) {
  case PF_BACKWARD: return slow_chain(t, from + count - 1, -1, count);
  case PF_PAIRWISE: return slow_halves(t, from, count, s->fused);
  case PF_BLOCKED: return slow_blocks(t, from, count, s->width);
  case PF_LANES: return slow_lanes(t, from, count, s->width);
  default: return slow_chain(t, from, 1, count);
  }
}

static inline int slow_depth(const slow_tree *t, int at)
{
  if (at < 0 || t->list[at].term >= 0)
    return 0;
  const int left = slow_depth(t, t->list[at].left), right = slow_depth(t, t->list[at].right);
  return 1 + (left > right ? left : right);
}

/* --- arithmetic ---------------------------------------------------------------------------- */

typedef struct slow_unit {
  const pf_accumulator *acc;
  bool fused;
  const pf_sum *terms;
  mpfr_t a, b;
} slow_unit;

static inline double slow_flush(const slow_unit *u, bool on, double v)
{
  return on && fabs(v) < ldexp(1, u->acc->format.emin) ? 0 : v;
}

static inline double slow_add(slow_unit *u, double a, double b)
{
  mpfr_set_d(u->a, a, MPFR_RNDN);
  mpfr_set_d(u->b, b, MPFR_RNDN);
  mpfr_add(u->a, u->a, u->b, MPFR_RNDN);
  return slow_flush(u, u->acc->ftz_out, reference_round(&u->acc->format, u->a));
}

static inline void slow_exact_product(slow_unit *u, double x, double y)
{
  mpfr_set_d(u->a, slow_flush(u, u->acc->ftz_in, x), MPFR_RNDN);
  mpfr_set_d(u->b, slow_flush(u, u->acc->ftz_in, y), MPFR_RNDN);
  mpfr_mul(u->a, u->a, u->b, MPFR_RNDN);
}

static inline double slow_mul(slow_unit *u, double x, double y)
{
  slow_exact_product(u, x, y);
  mpfr_set_d(u->a, reference_round(&u->acc->product, u->a), MPFR_RNDN);
  return slow_flush(u, u->acc->ftz_out, reference_round(&u->acc->format, u->a));
}

static inline double slow_fma(slow_unit *u, double x, double y, double s)
{
  slow_exact_product(u, x, y);
  mpfr_set_d(u->b, s, MPFR_RNDN);
  mpfr_add(u->a, u->a, u->b, MPFR_RNDN);
  return slow_flush(u, u->acc->ftz_out, reference_round(&u->acc->format, u->a));
}

/* `before`: what the first product of the chain is added onto. */
static inline double slow_value(slow_unit *u, const slow_tree *t, int at, double before)
{
  if (at < 0)
    return before;
  const node *n = &t->list[at];
  if (n->term >= 0) {
    const double x = u->terms->x[n->term], y = u->terms->y[n->term];
    return u->fused ? slow_fma(u, x, y, before) : slow_add(u, before, slow_mul(u, x, y));
  }
  const double left = slow_value(u, t, n->left, before);
  if (n->onto)
    return slow_value(u, t, n->right, left);
  return slow_add(u, left, slow_value(u, t, n->right, 0));
}

static inline double slow_part(slow_unit *u, const pf_summation *s, int64_t from, int64_t to,
                               double before)
{
  slow_tree *t = malloc(sizeof *t);
  assert_non_null(t);
  t->n = 0;
  const double v = slow_value(u, t, slow_order(t, s, from, to - from), before);
  free(t);
  return v;
}

static inline double slow_products(slow_unit *u, const pf_summation *s, const pf_format *out)
{
  const pf_accumulator *a = u->acc;
  const int64_t k = u->terms->k > a->drop ? u->terms->k - a->drop : 0;
  const double first =
      a->start_c && u->terms->beta != 0 ? slow_mul(u, u->terms->beta, u->terms->c) : 0;
  double v = first;
  if (a->split > 1)
    for (int i = 0; i < a->split; i++) {
      const double part = slow_part(u, s, k * i / a->split, k * (i + 1) / a->split, 0);
      mpfr_set_d(u->a, part, MPFR_RNDN);
      v = slow_add(u, v, reference_round(out, u->a));
    }
  else if (s->order == PF_FORWARD)
    v = slow_part(u, s, 0, k, first);
  else
    v = slow_add(u, first, slow_part(u, s, 0, k, 0));
  return v;
}

/* As pf_reference_sum. */
static inline double slow_sum(const pf_accumulator *acc, const pf_summation *order,
                              bool elementwise, const pf_format *out, const pf_sum *terms)
{
  const pf_summation *s = acc->sum.order == PF_ANY_ORDER ? order : &acc->sum;
  slow_unit u = {.acc = acc, .fused = s->fused && !elementwise, .terms = terms};
  pf_summation unfused = *s;
  unfused.fused = u.fused;
  mpfr_inits2(EXACT_BITS, u.a, u.b, (mpfr_ptr)NULL);
  double v = slow_products(&u, &unfused, out);
  if (terms->alpha != 1 && terms->k)
    v = slow_mul(&u, v, terms->alpha);
  if (terms->beta != 0 && !acc->start_c)
    v = u.fused ? slow_fma(&u, terms->beta, terms->c, v)
                : slow_add(&u, v, slow_mul(&u, terms->beta, terms->c));
  if (terms->bias != 0)
    v = slow_add(&u, v, terms->bias);
  mpfr_set_d(u.a, v, MPFR_RNDN);
  v = reference_round(out, u.a);
  mpfr_clears(u.a, u.b, (mpfr_ptr)NULL);
  return v;
}

#endif
