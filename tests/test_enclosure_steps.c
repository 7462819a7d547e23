/* What double arithmetic says of rows with several steps, where an end of the subset and that of the
   exact interval come to lie far apart, and of engines that flush.

   What was planted and seen: gaps that no factor makes larger, or no addition relative to less; a
   smallest subnormal, or a place, that is no gap; a radius that is no small part of E; alpha's
   products rounded once, or not at all; weak sums that nothing reads; what is flushed of a small
   range, on the other side, or of alpha. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "bound.h"
#include "case_builder.h"
#include "oracle_fixture.h"

enum { TERMS = 8 };

typedef enum flushed { NOTHING, INPUTS, SUMS } flushed;

typedef struct steps {
  const char *row;
  pf_dtype type;
  double alpha, beta, c;
  int64_t k;
  double x[TERMS], y[TERMS];
  double unit;        /* of x and y */
  flushed flushes;
} steps;

static const steps all[] = {
  /* v - E just above 1.5 times the smallest f16, which 1.5 * 2^39 takes beyond f16 from 2, not 1 */
  {"t0 = MATMUL(x, y; acc f32, out f16) t1 = SCALE(t0, alpha; f32) out = CAST(t1; f16)", PF_F16,
   0x1.8p39, 1, 0, 4, {2047, 1052, -2046, -1025}, {38912, 37, 26640, 20}, 0x1p-24, NOTHING},
  /* v - E just above 60016, a tie: 64 or 32 is left, which 1500 takes beyond f16, or not */
  {"t0 = MATMUL(x, y; acc f32, out f16) t1 = ADD(t0, c; f16) t2 = SCALE(t1, alpha; f32) "
   "out = CAST(t2; f16)", PF_F16, 1500, 1, -59968, 4,
   {2047, 1817, -2047, -915}, {8208, 3, 8180, 3}, 1, NOTHING},
  /* v + E just below it, so that the sum of t3 and -inf is NaN, or not */
  {"t0 = MATMUL(x, y; acc f32, out f16) t1 = ADD(t0, c; f16) t2 = SCALE(t1, alpha; f32) "
   "t3 = CAST(t2; f16) t4 = SCALE(c, beta; f32) t5 = CAST(t4; f16) out = ADD(t3, t5; f16)",
   PF_F16, 1100, 2, -59968, 4, {2047, 1815, -2047, -917}, {8208, 3, 8180, 3}, 1, NOTHING},
  /* the same, but for a subnormal */
  {"t0 = MATMUL(x, y; acc f32, out f16) t1 = SCALE(t0, alpha; f32) t2 = CAST(t1; f16) "
   "t3 = SCALE(c, beta; f32) t4 = CAST(t3; f16) out = ADD(t2, t4; f16)", PF_F16,
   0x1.8p39, 2, -59968, 4, {2047, 1945, -2046, -1466}, {38912, 20, 26640, 14}, 0x1p-24, NOTHING},
  /* alpha * x and beta * c cancel to a few of their last places */
  {"out = MATMUL(x, y, alpha, c, beta; acc f64, out f32)", PF_F64, 1.9, 1.9, -0x1.1999419a18013p178,
   1, {0x1.1999419a18018p178}, {1}, 1, NOTHING},
  /* what alpha shrinks may have overflowed by what the sum was rounded by, and alpha's product */
  {"t0 = MATMUL(x, y, alpha; acc bf16) out = ADD(t0, c; bf16)", PF_BF16, 8, 1, -INFINITY, 8,
   {0x1p60, 0x1p60, 0x1p60, 0x1p60, 0x1p60, 0x1p60, 0x1p60, 0x1p60},
   {0x1.ep61, 0x1.ep61, 0x1.ep61, 0x1.ep61, 0x1.ep61, 0x1.ep61, 0x1.ep61, 0x1.ep61}, 1, NOTHING},
  /* whether products overflow that an alpha of 0 takes away is not known of so coarse sums */
  {"t0 = MATMUL(x, y, alpha; acc p3:-4:14) out = ADD(t0, c; f32)", PF_F32, 0, 1, INFINITY, 8,
   {0x1p-5, 0x1p-5, 0x1p-5, 0x1p-5, 0x1p-5, 0x1p-5, 0x1p-5, 0x1p-5}, {1, 1, 1, 1, 1, 1, 1, 1}, 1,
   NOTHING},
  /* t0 is weak; the result is not */
  {"t0 = MATMUL(x, y; acc p11:-14:65504) t1 = CAST(t0; f32) t2 = SCALE(t1, beta; f32) "
   "out = ADD(t2, c; f32)", PF_F32, 1, 0, 1, 2, {0x1p-13, 0x1p-13}, {0x1p-14, 0x1.000002p-14}, 1,
   NOTHING},
  {"t0 = MATMUL(x, y; acc p11:-14:65504) out = MATMUL(x, y; acc f32)", PF_F32, 1, 0, 1, 2,
   {0x1p-13, 0x1p-13}, {0x1p-14, 0x1.000002p-14}, 1, NOTHING},
  /* flushing may take 0.5 of numbers below 7.5 */
  {"t0 = MATMUL(x, y; acc p4:-2:7.5, out f32) out = ADD(t0, c; f32)", PF_F32, 1, 1, -INFINITY, 1,
   {6.8125}, {1}, 1, SUMS},
  /* 0.25 of each 256 on the other side */
  {"out = MATMUL(x, y, alpha; acc p4:-2:7.5)", PF_F32, -1, 1, 0, 2, {257, 0}, {256, 256}, 1, SUMS},
  /* an alpha that becomes 0 */
  {"out = MATMUL(x, y, alpha; acc p8:-5:255)", PF_F32, 0x1p-7, 1, 0, 1, {100}, {1}, 1, INPUTS},
};

static void build(scene *s, const steps *at)
{
  static const pf_declared flushes[] = {
    [INPUTS] = {.flush_inputs = PF_DOES}, [SUMS] = {.flush_sums = PF_DOES}};
  double x[TERMS], y[TERMS];
  for (int64_t k = 0; k < at->k; k++) {
    x[k] = at->x[k] * at->unit;
    y[k] = at->y[k] * at->unit;
  }
  scene_reset(s, PF_ADDMM);
  s->what.alpha = at->alpha;
  s->what.beta = at->beta;
  scene_operand(s, PF_X, at->type, 2, 1, at->k, x);
  scene_operand(s, PF_Y, at->type, 2, at->k, 1, y);
  scene_operand(s, PF_C, at->type, 2, 1, 1, &at->c);
  scene_finish(s);
  scene_row(s, &oracle, at->row);
  if (!at->flushes)
    return;
  const char *why;
  s->ask.declared = &flushes[at->flushes];
  assert_int_equal(pf_encloser_new(&s->problem, &oracle, &s->ask, 1, &s->arena, &s->encloser,
                                   &why), PF_OK);
}

static void fail_row(const char *row, double lo, double hi, const pf_enclosure *exact)
{
  char text[200];
  pf_set_print(&exact->set, text, sizeof text);
  fail_msg("%s: [%a, %a], but %s%s", row, lo, hi, text, exact->weak ? ", weak" : "");
}

/* What is not finite is closed, what is finite lies inside, and both are as weak. */
static bool span_holds(double lo, double hi, bool weak, const pf_enclosure *exact)
{
  const pf_set *set = &exact->set;
  const bool nan = lo == INFINITY && hi == -INFINITY, closed = !pf_set_is_open(set);
  if (!nan && !(lo <= hi))
    return true;
  if (weak != exact->weak)
    return false;
  if (nan)
    return closed && set->nan;
  return isinf(lo) && lo == hi ? closed && pf_set_allows(set, lo)
                               : lo >= set->lo && hi <= set->hi;
}

static bool subset_holds(const pf_enclosure *subset, const pf_enclosure *exact)
{
  const pf_set *s = &subset->set, *set = &exact->set;
  const bool finite = pf_set_has_finite(s);
  return !(subset->whole && !pf_set_equal(s, set)) &&
         !(finite && (exact->weak || s->lo < set->lo || s->hi > set->hi));
}

static void claims_hold(void **state)
{
  (void)state;
  scene s = {0};
  pf_span span;
  pf_enclosure subset;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    build(&s, &all[i]);
    const pf_enclosure exact = scene_enclose(&s, 0);
    pf_enclose_block(s.encloser, 0, 1, &span);
    if (!span_holds(span.lo[0], span.hi[0], span.weak & 1, &exact))
      fail_row(all[i].row, span.lo[0], span.hi[0], &exact);
    pf_enclose_inside(s.encloser, 0, &subset);
    if (!subset_holds(&subset, &exact))
      fail_row(all[i].row, subset.set.lo, subset.set.hi, &exact);
  }
  pf_arena_free(&s.arena);
}

/* The subset's E is that of a smaller T: so E must not fall as T grows, not even by a last place. */
static void no_error_falls(void **state)
{
  (void)state;
  const double x[] = {0x1p-9, 0x1p-9}, y[] = {1, 1};
  const pf_format acc = {.precision = 8, .emin = -5, .max = 255, .has_infinity = true};
  const pf_sum sum = {.k = 2, .x = x, .y = y, .alpha = 3.25};
  pf_truth truth = {.products = 1};
  pf_bound_input in = {.acc = &acc, .order = {.order = PF_ANY_ORDER}, .x_precision = 11,
                       .y_precision = 11, .x_quantum = -9, .y_quantum = 0, .sum = &sum,
                       .truth = &truth};
  double before = 0;
  truth.positive = 0x1.5p-6;
  for (int i = 0; i < 2000; i++) {
    const double error = pf_bound_of(&in).error;
    assert_true(error >= before);
    before = error;
    truth.positive = nextafter(truth.positive, 1);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(claims_hold),
                                     cmocka_unit_test(no_error_falls)};
  return cmocka_run_group_tests(tests, open_oracle, close_oracle);
}
