/* Engines that add in orders of their own, each output element in another: random trees and random
   chains on the machine's float and double, with and without fused multiply-add, alpha and the
   addends anywhere.  They state no order, so they are judged as any correct library is. */
#ifndef PF_TESTS_OTHER_ORDERS_H
#define PF_TESTS_OTHER_ORDERS_H

#include <math.h>
#include <string.h>

#include "engine_reference.h"
#include "random_source.h"

enum { MOST_ADDENDS = 1 << 12 };

typedef struct manner {
  bool tree;   /* any two partial sums; else a chain over a random permutation */
  bool fused;
  bool wide;   /* in double, and rounded to the row's accumulator in the end: finer is right */
} manner;

static random_source order_source = {0x6f7264657231};

/* Partial sums; an addend that is still a product may be fused into the other side. */
typedef struct partial {
  bool product;
  double v, a, b;  /* v = a * b, rounded, where it is a product */
} partial;

typedef struct adder {
  bool single, fused;
  partial list[MOST_ADDENDS];
  int n;
} adder;

static inline double adder_mul(const adder *d, double a, double b)
{
  return d->single ? (double)((float)a * (float)b) : a * b;
}

static inline double adder_sum(const adder *d, double a, double b)
{
  return d->single ? (double)((float)a + (float)b) : a + b;
}

static inline double adder_fma(const adder *d, double a, double b, double s)
{
  return d->single ? (double)fmaf((float)a, (float)b, (float)s) : fma(a, b, s);
}

static inline void push(adder *d, double a, double b)
{
  d->list[d->n++] = (partial){.product = true, .v = adder_mul(d, a, b), .a = a, .b = b};
}

static inline partial combine(const adder *d, const partial *p, const partial *q)
{
  if (d->fused && p->product)
    return (partial){.v = adder_fma(d, p->a, p->b, q->v)};
  if (d->fused && q->product)
    return (partial){.v = adder_fma(d, q->a, q->b, p->v)};
  return (partial){.v = adder_sum(d, p->v, q->v)};
}

/* Sums list[from, n) into list[from]. */
static inline void reduce(adder *d, int from, const manner *how)
{
  while (d->n - from > 1) {
    const int i = how->tree ? draw_between(&order_source, from, d->n - 2) : from;
    const int j = draw_between(&order_source, i + 1, d->n - 1);
    d->list[i] = combine(d, &d->list[i], &d->list[j]);
    d->list[j] = d->list[--d->n];
  }
}

typedef enum alpha_place { ON_X, ON_Y, ON_PRODUCT, ON_SUM, PLACES } alpha_place;

static inline void push_products(adder *d, const pf_sum *t, alpha_place place)
{
  for (int64_t k = 0; k < t->k; k++)
    if (t->alpha == 1 || place == ON_SUM)
      push(d, t->x[k], t->y[k]);
    else if (place == ON_X)
      push(d, adder_mul(d, t->alpha, t->x[k]), t->y[k]);
    else if (place == ON_Y)
      push(d, t->x[k], adder_mul(d, t->alpha, t->y[k]));
    else
      push(d, t->alpha, adder_mul(d, t->x[k], t->y[k]));
}

static inline double sum_somehow(adder *d, const pf_sum *t, const manner *how)
{
  const alpha_place place = (alpha_place)draw_below(&order_source, PLACES);
  d->n = 0;
  push_products(d, t, place);
  if (place == ON_SUM && t->alpha != 1 && t->k) {
    reduce(d, 0, how);
    d->n = 0;
    push(d, t->alpha, d->list[0].v);
  }
  if (t->beta != 0)
    push(d, t->beta, t->c);
  if (t->bias != 0)
    push(d, 1, t->bias);
  if (!d->n)
    return 0;
  reduce(d, 0, how);
  return d->list[0].v;
}

static inline pf_status other_supports(const pf_engine *e, const pf_call *call, const char **why)
{
  const pf_step *s = call->steps;
  (void)e;
  if (call->count == 1 && s->kind <= PF_MULSUM && s->acc.sum.order == PF_ANY_ORDER &&
      call->problem->shape.k <= MOST_ADDENDS - 2 &&
      (pf_format_equal(&s->acc.format, pf_format_of(PF_F32)) ||
       pf_format_equal(&s->acc.format, pf_format_of(PF_F64))))
    return PF_OK;
  *why = "one sum at a time, in f32 or f64";
  return PF_UNSUPPORTED;
}

static inline pf_status other_run(const pf_engine *e, const pf_call *call, pf_arena *scratch)
{
  const pf_problem *p = call->problem;
  const pf_step *s = call->steps;
  const pf_matrix *out = call->out;
  adder *d = pf_alloc_raw(scratch, sizeof *d);
  const manner *how = e->data;
  if (!d)
    return PF_NO_MEMORY;
  d->single = !how->wide && pf_format_equal(&s->acc.format, pf_format_of(PF_F32));
  d->fused = how->fused;
  for (int64_t i = 0; i < p->shape.outputs; i++) {
    const int64_t column = i % p->shape.n, row = i / p->shape.n % p->shape.m;
    const int64_t at = pf_batch_offset(p, out, i / p->shape.n / p->shape.m) +
                       row * out->row_stride + column * out->column_stride;
    const pf_sum t = pf_step_terms(p, s, call->x_vectors, call->y_vectors, i);
    pf_store(out->dtype, (char *)out->data + at * pf_dtype_of(out->dtype)->bytes,
             pf_round(&s->out, pf_round(&s->acc.format, sum_somehow(d, &t, how))));
  }
  return PF_OK;
}

static const manner tree_manner = {.tree = true}, tree_fma_manner = {.tree = true, .fused = true};
static const manner chain_manner = {.tree = false}, chain_fma_manner = {.fused = true};
static const manner wide_manner = {.tree = true, .wide = true};

#define OTHER_ENGINE(NAME, MANNER)                                                     \
  {.name = NAME, .note = "", .sum = {PF_ANY_ORDER, 0, false}, .reads_vectors = true,   \
   .data = MANNER, .supports = other_supports, .run = other_run}

enum { OTHER_ENGINES = 5 };

static const pf_engine other_engines[OTHER_ENGINES] = {
  OTHER_ENGINE("other:tree", &tree_manner),
  OTHER_ENGINE("other:tree+fma", &tree_fma_manner),
  OTHER_ENGINE("other:permuted", &chain_manner),
  OTHER_ENGINE("other:permuted+fma", &chain_fma_manner),
  OTHER_ENGINE("other:wide", &wide_manner),
};

#endif
