/* The sums behind a block of elements. */
#include <limits.h>
#include <math.h>

#include "bound.h"
#include "directed.h"
#include "enclosure_block_parts.h"

/* Elements of a block in one row of the output, or in several whole ones of a batch: vectors of x and
   of y follow one another. */
typedef struct pf_block_run {
  int at, rows, n;  /* n elements a row */
  int64_t x, y;     /* vectors */
} pf_block_run;

static bool next_run(const pf_problem *p, int64_t from, int n, pf_block_run *r)
{
  const pf_shape *s = &p->shape;
  r->at += r->rows * r->n;
  if (r->at >= n)
    return false;
  const int64_t element = from + r->at, left = n - r->at;
  const int64_t row = element / s->n, column = element - row * s->n;
  const int64_t b = row / s->m, line = row - b * s->m;
  r->x = p->x_line[b] + line;
  r->y = p->y_line[b] + column;
  r->rows = 1;
  r->n = (int)(s->n - column < left ? s->n - column : left);
  if (!column && left >= s->n) {
    const int64_t whole = left / s->n;
    r->rows = (int)(s->m - line < whole ? s->m - line : whole);
  }
  return true;
}

static void fill_products(const pf_encloser *e, const pf_group *g, int64_t from, int n,
                          pf_block_terms *t)
{
  const pf_block_loops *loops = e->block->loops;
  const int64_t k = e->problem->shape.k;
  for (pf_block_run r = {0}; next_run(e->problem, from, n, &r);) {
    const double *x = g->x.values + r.x * k, *y = g->y.values + r.y * k;
    if (g->narrow)
      loops->dots(x, y, k, r.rows, r.n, t->sum + r.at, t->absolute + r.at);
    else
      loops->dots2(x, y, k, r.rows, r.n, t->sum + r.at, t->tail + r.at, t->absolute + r.at,
                   t->radius + r.at);
  }
}

/* Bounds the unit of a vector from above: the last bit of some of its numbers. */
static double coarsest_unit(const double *v)
{
  int least = INT_MAX;
  for (int i = 0; i < 4; i++) {
    uint64_t bits;
    memcpy(&bits, &v[i], sizeof bits);
    const int biased = (int)(bits >> 52 & 0x7ff);
    const int last = __builtin_ctzll(bits | (uint64_t)1 << 52) + biased + !biased;
    least = bits << 1 && last < least ? last : least;
  }
  return pf_power(least < INT_MAX ? least - 1075 : 1024);
}

/* Sums that round for certain, as their terms' last bits say without a look at all of them. */
static bool fill_rounding(const pf_encloser *e, const pf_group *g, const pf_block_rates *rates,
                          int64_t from, int n, pf_block_terms *t, pf_span *to)
{
  const int64_t k = e->problem->shape.k;
  double y_unit[PF_BLOCK];
  for (pf_block_run r = {0}; next_run(e->problem, from, n, &r);) {
    for (int j = 0; j < r.n; j++)
      y_unit[j] = coarsest_unit(g->y.values + (r.y + j) * k);
    for (int row = 0; row < r.rows; row++) {
      const double x_unit = coarsest_unit(g->x.values + (r.x + row) * k);
      for (int j = 0; j < r.n; j++)
        t->unit[r.at + row * r.n + j] = x_unit * y_unit[j];
    }
  }
  for (int i = n; i < pf_block_padded(n); i++) {
    t->sum[i] = t->unit[i] = 0;
    t->absolute[i] = 1;
  }
  return e->block->loops->ends_rounding(rates, t, pf_block_padded(n), to->lo, to->hi, &to->weak);
}

/* What else belongs to products; bare: only what a sum without anything else is made of. */
static void fill_lines(const pf_encloser *e, const pf_group *g, bool bare, int64_t from, int n,
                       pf_block_terms *t)
{
  const double alpha = g->step->alpha ? e->problem->what->alpha : 1;
  const bool none = alpha == 0, scaled = !none && fabs(alpha) != 1;
  for (pf_block_run r = {0}; next_run(e->problem, from, n, &r);) {
    const pf_line *x_line = pf_line_of(&g->x, r.x), *y_line = pf_line_of(&g->y, r.y);
    for (int row = 0, at = r.at; row < r.rows; row++, at += r.n, x_line++) {
      for (int j = 0; j < r.n; j++) {
        t->unit[at + j] = none ? INFINITY : x_line->unit * y_line[j].unit;
        t->finite[at + j] = x_line->absolute * y_line[j].absolute;
      }
      for (int j = 0; j < r.n && !bare; j++)
        t->exposed[at + j] = scaled ? fmax(x_line->absolute, y_line[j].absolute) : 0;
    }
  }
  if (g->narrow && !bare) {
    memset(t->tail, 0, (size_t)n * sizeof *t->tail);
    memset(t->radius, 0, (size_t)n * sizeof *t->radius);
  }
}

static void fill_addends(const pf_encloser *e, const pf_group *g, int64_t from, int n,
                         pf_block_terms *t)
{
  const pf_problem *p = e->problem;
  const double beta = g->step->c ? p->what->beta : 0;
  const int beta_bit = beta != 0 ? pf_last_bit(beta) : 0;
  for (int i = 0; i < n; i++) {
    const double c = beta != 0 ? p->c_values[from + i] : 0;
    const double bias = g->step->bias ? p->bias_values[from + i] : 0;
    double unit = t->unit[i];
    if (c != 0 && isfinite(c))
      unit = fmin(unit, pf_power(beta_bit + pf_last_bit(c)));
    if (bias != 0 && isfinite(bias))
      unit = fmin(unit, pf_power(pf_last_bit(bias)));
    t->c[i] = beta != 0 ? beta * c : 0;
    if (isinf(t->c[i]) && isfinite(c))  /* beyond double: not known here */
      t->c[i] = t->absolute[i] = t->finite[i] = NAN;
    t->bias[i] = bias;
    t->all_unit[i] = unit;
  }
}

static void pad(pf_block_terms *t, int n)
{
  for (int i = n; i < pf_block_padded(n); i++)
    t->sum[i] = t->tail[i] = t->radius[i] = t->absolute[i] = t->finite[i] = t->unit[i] =
        t->all_unit[i] = t->c[i] = t->bias[i] = t->exposed[i] = 0;
}

static uint64_t residue(double v)
{
  return (uint64_t)(int64_t)v;
}

/* Sums of integers modulo 2^64, then brought into the accumulator's range. */
static void fill_integers(const pf_encloser *e, const pf_group *g, int64_t from, int n, double *to)
{
  const pf_problem *p = e->problem;
  const pf_format *acc = &g->step->acc.format;
  const int64_t k = p->shape.k, lowest = (int64_t)pf_lowest(acc);
  const uint64_t mask = (uint64_t)((int64_t)acc->max - lowest);
  for (pf_block_run r = {0}; next_run(p, from, n, &r);)
    for (int j = 0; j < r.rows * r.n; j++) {
      const double *x = g->x.values + (r.x + j / r.n) * k;
      const double *y = g->y.values + (r.y + j % r.n) * k;
      uint64_t sum = 0;
      for (int64_t i = 0; i < k; i++)
        sum += residue(x[i]) * residue(y[i]);
      const int64_t element = from + r.at + j;
      if (g->step->alpha)
        sum *= residue(p->what->alpha);
      if (g->step->c && p->what->beta != 0)
        sum += residue(p->what->beta) * residue(p->c_values[element]);
      if (g->step->bias)
        sum += residue(p->bias_values[element]);
      to[r.at + j] = (double)((int64_t)((sum - (uint64_t)lowest) & mask) + lowest);
    }
  for (int i = n; i < pf_block_padded(n); i++)
    to[i] = 0;
}

void pf_block_fill(pf_encloser *e, int group, int64_t from, int n)
{
  pf_block *b = e->block;
  const pf_group *g = &e->group[group];
  pf_block_terms t;
  pf_span *s = &b->sum[group].span;
  const pf_block_rates *rates = &b->sum[group].rates;
  b->sum[group].filled = true;
  if (pf_is_integer(&g->step->acc.format)) {
    fill_integers(e, g, from, n, s->lo);
    memcpy(s->hi, s->lo, (size_t)pf_block_padded(n) * sizeof *s->hi);
    s->weak = 0;
    return;
  }
  fill_products(e, g, from, n, &t);
  if (rates->rounds && fill_rounding(e, g, rates, from, n, &t, s))
    return;
  fill_lines(e, g, rates->bare, from, n, &t);
  if ((g->step->c && e->problem->what->beta != 0) || g->step->bias) {
    fill_addends(e, g, from, n, &t);
  } else if (!rates->bare) {
    memcpy(t.all_unit, t.unit, (size_t)n * sizeof *t.unit);
    memset(t.c, 0, (size_t)n * sizeof *t.c);
    memset(t.bias, 0, (size_t)n * sizeof *t.bias);
  }
  pad(&t, n);
  s->weak = b->loops->ends(rates, &t, pf_block_padded(n), s->lo, s->hi);
}
