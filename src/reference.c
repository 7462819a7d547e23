/* Reference sums.  f32 and f64 accumulators without other knobs run on the machine's own float and
   double (the tests prove that nothing is contracted, widened or flushed); everything else on
   doubles that are rounded to the accumulator's format after each operation, which is what a
   machine with that format would give: format.c rounds exact sums, products and fused
   multiply-adds once.

   Integers that wrap form a ring: whatever the order, a sum of products modulo 2^32 is that of its
   terms modulo 2^32, so one loop stands for all orders.  Where they saturate the order counts, and
   the loops for all formats run it. */
#include "reference.h"

#include <math.h>

#define REAL float
#define NAME(function) float_##function
#define MUL(x, y) ((x) * (y))
#define ADD(a, b) ((a) + (b))
#define FMA(x, y, s) fmaf(x, y, s)
#include "reference_loops.h"
#undef REAL
#undef NAME
#undef MUL
#undef ADD
#undef FMA

#define REAL double
#define NAME(function) double_##function
#define MUL(x, y) ((x) * (y))
#define ADD(a, b) ((a) + (b))
#define FMA(x, y, s) fma(x, y, s)
#include "reference_loops.h"
#undef REAL
#undef NAME
#undef MUL
#undef ADD
#undef FMA

static double flush(const pf_accumulator *a, bool on, double v)
{
  return on && fabs(v) < pf_smallest_normal(&a->format) ? 0 : v;
}

static double generic_mul(const pf_accumulator *a, double x, double y)
{
  const double p = pf_round_product(&a->product, flush(a, a->ftz_in, x), flush(a, a->ftz_in, y));
  return flush(a, a->ftz_out, pf_round(&a->format, p));
}

static double generic_add(const pf_accumulator *a, double s, double t)
{
  return flush(a, a->ftz_out, pf_round_sum(&a->format, s, t));
}

static double generic_fma(const pf_accumulator *a, double x, double y, double s)
{
  const double v = pf_round_fma(&a->format, flush(a, a->ftz_in, x), flush(a, a->ftz_in, y), s);
  return flush(a, a->ftz_out, v);
}

#define REAL double
#define NAME(function) generic_##function
#define MUL(x, y) generic_mul(f, x, y)
#define ADD(a, b) generic_add(f, a, b)
#define FMA(x, y, s) generic_fma(f, x, y, s)
#include "reference_loops.h"

/* Parts of K whose sums are rounded to the output before they are added. */
static double generic_split(const pf_accumulator *a, const pf_summation *s, const pf_format *out,
                            const pf_sum *t, int64_t k)
{
  double sum = 0;
  for (int i = 0; i < a->split; i++) {
    const int64_t from = k * i / a->split, to = k * (i + 1) / a->split;
    const double part = generic_products(a, s, t->x + from, t->y + from, to - from);
    sum = generic_add(a, sum, pf_round(out, part));
  }
  return sum;
}

static double generic_sum(const pf_accumulator *a, const pf_summation *s, const pf_format *out,
                          const pf_sum *t)
{
  const int64_t k = t->k > a->drop ? t->k - a->drop : 0;
  double v;
  if (a->split > 1)
    v = generic_split(a, s, out, t, k);
  else
    v = generic_products(a, s, t->x, t->y, k);
  return generic_epilogue(a, s, t, v);
}

/* beta * c comes first: the chain begins with it, other orders add their sum onto it. */
static double generic_sum_onto_c(const pf_accumulator *a, const pf_summation *s, const pf_sum *t)
{
  const int64_t k = t->k > a->drop ? t->k - a->drop : 0;
  const double start = t->beta != 0 ? generic_mul(a, t->beta, t->c) : 0;
  double v;
  if (s->order == PF_FORWARD)
    v = generic_chain(a, s->fused, t->x, t->y, 0, k, 1, start);
  else
    v = generic_add(a, start, generic_products(a, s, t->x, t->y, k));
  return generic_epilogue(a, s, t, v);
}

static bool is_plain(const pf_accumulator *a, const pf_format *native)
{
  return pf_format_equal(&a->format, native) && pf_format_equal(&a->product, native) &&
         !a->start_c && a->split <= 1 && !a->drop && !a->ftz_in && !a->ftz_out;
}

/* Nothing but the terms decides the sum: start and flushing change no integer. */
static bool is_wrapping(const pf_accumulator *a)
{
  const pf_format *s32 = pf_format_of(PF_S32);
  return pf_format_equal(&a->format, s32) && pf_format_equal(&a->product, s32) && a->split <= 1;
}

/* x * y modulo 2^32.  An integer product below 2^53 is exact as a double. */
static uint32_t wrapping_mul(const pf_format *s32, double x, double y)
{
  const double p = x * y;
  if (fabs(p) < 0x1p53 && (double)(int64_t)p == p)
    return (uint32_t)(int64_t)p;
  return (uint32_t)(int64_t)pf_round_product(s32, x, y);
}

static double wrapping_sum(const pf_accumulator *a, const pf_sum *t)
{
  const pf_format *s32 = &a->format;
  const int64_t k = t->k > a->drop ? t->k - a->drop : 0;
  uint32_t sum = 0;
  for (int64_t i = 0; i < k; i++)
    sum += wrapping_mul(s32, t->x[i], t->y[i]);
  if (t->alpha != 1)
    sum = wrapping_mul(s32, (int32_t)sum, t->alpha);
  if (t->beta != 0)
    sum += wrapping_mul(s32, t->beta, t->c);
  return (int32_t)(sum + wrapping_mul(s32, t->bias, 1));
}

pf_arithmetic pf_arithmetic_of(const pf_accumulator *acc)
{
  if (is_plain(acc, pf_format_of(PF_F32)))
    return PF_BY_FLOAT;
  if (is_plain(acc, pf_format_of(PF_F64)))
    return PF_BY_DOUBLE;
  return is_wrapping(acc) ? PF_BY_WORD : PF_BY_RULES;
}

pf_summation pf_reference_order(const pf_accumulator *acc, const pf_summation *order,
                                bool elementwise)
{
  pf_summation s = acc->sum.order == PF_ANY_ORDER ? *order : acc->sum;
  if (elementwise)
    s.fused = false;
  return s;
}

double pf_reference_sum(const pf_accumulator *acc, const pf_summation *order, bool elementwise,
                        const pf_format *out, const pf_sum *t)
{
  const pf_summation s = pf_reference_order(acc, order, elementwise);
  double v = 0;
  switch (pf_arithmetic_of(acc)) {
  case PF_BY_FLOAT:
    v = (double)float_epilogue(acc, &s, t, float_products(acc, &s, t->x, t->y, t->k));
    break;
  case PF_BY_DOUBLE:
    v = double_epilogue(acc, &s, t, double_products(acc, &s, t->x, t->y, t->k));
    break;
  case PF_BY_WORD: v = wrapping_sum(acc, t); break;
  default: v = acc->start_c ? generic_sum_onto_c(acc, &s, t) : generic_sum(acc, &s, out, t);
  }
  return pf_round(out, v);
}
