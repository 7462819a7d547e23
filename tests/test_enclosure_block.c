/* Enclosures a block at a time: inside the exact ones, closed where they say so, the same whatever
   instructions they are made of, and known for almost every element.

   What was planted and seen: E rounded up, rho left out, a tail dropped, Dot2 without the losses of
   its lanes' sum, a sum said never to round for the products' unit alone, an open class called
   closed, overflow on the other side or of alpha's products forgotten, a beta * c beyond double taken
   for infinite, an infinite term beside great finite ones, an element where zero would pass called
   known, underflow counted the wrong way round, a bias counted where there is none, a clamp at the
   wrong end, a tie or a subnormal rounded wrongly, a sum not rounded to odd, an integer wrapped to the
   wrong side, a column's unit shifted by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "case_builder.h"
#include "form_text.h"
#include "oracle_fixture.h"
#include "row_asks.h"

static const uint64_t SEED = 0x626c6f636b;

typedef struct tally {
  long elements, known;
} tally;

static bool is_nan_claim(double lo, double hi)
{
  return lo == INFINITY && hi == -INFINITY;
}

/* Does what [lo, hi] says hold of the exact enclosure? */
static bool holds(double lo, double hi, bool weak, const pf_enclosure *exact)
{
  const pf_set *s = &exact->set;
  if (!is_nan_claim(lo, hi) && !(lo <= hi))
    return true;
  if (weak != exact->weak)
    return false;
  if (is_nan_claim(lo, hi))
    return s->nan && !pf_set_is_open(s);
  if (isinf(lo) || isinf(hi))
    return lo == hi && (lo > 0 ? s->plus_infinity : s->minus_infinity) && !pf_set_is_open(s);
  return lo >= s->lo && hi <= s->hi;
}

static void fail_block(const pf_case *c, const pf_ask *ask, int64_t element, double lo, double hi,
                       const pf_enclosure *exact)
{
  char set[200];
  pf_set_print(&exact->set, set, sizeof set);
  pf_text_print(c, stdout);
  fail_msg(" %s, element %lld: [%a, %a], but %s%s", ask->plan->strategy, (long long)element, lo, hi,
           set, exact->weak ? ", weak" : "");
}

static void check_block(const pf_case *c, pf_encloser *e, const pf_ask *ask, int asks, int64_t from,
                        int n, const pf_span *span, tally *t)
{
  pf_enclosure exact[MOST_ASKS];
  for (int j = 0; j < n; j++) {
    pf_enclose(e, from + j, exact);
    for (int i = 0; i < asks; i++) {
      const double lo = span[i].lo[j], hi = span[i].hi[j];
      if (!holds(lo, hi, span[i].weak >> j & 1, &exact[i]))
        fail_block(c, &ask[i], from + j, lo, hi, &exact[i]);
      t->elements++;
      t->known += is_nan_claim(lo, hi) || lo <= hi;
    }
  }
}

static bool same_number(double a, double b)
{
  return a == b || (isnan(a) && isnan(b));
}

static void check_same(const pf_span *a, const pf_span *b, int asks, int n)
{
  for (int i = 0; i < asks; i++)
    for (int j = 0; j < n; j++) {
      assert_true((a[i].weak >> j & 1) == (b[i].weak >> j & 1));
      assert_true(same_number(a[i].lo[j], b[i].lo[j]));
      assert_true(same_number(a[i].hi[j], b[i].hi[j]));
    }
}

/* All blocks of a case, by every set of instructions that the machine has. */
static void check_blocks(const pf_case *c, pf_arena *a, tally *t)
{
  static pf_span span[MOST_ASKS], other[MOST_ASKS];
  pf_problem p;
  pf_plan plan[MOST_ROWS];
  pf_ask ask[MOST_ASKS];
  pf_encloser *e;
  const char *why;
  const int asks = all_asks(c, plan, ask);
  assert_int_equal(pf_problem_build(c, a, &p), PF_OK);
  if (pf_encloser_new(&p, &oracle, ask, asks, a, &e, &why))
    return;
  for (int64_t from = 0; from < p.shape.outputs; from += PF_BLOCK) {
    const int n = p.shape.outputs - from < PF_BLOCK ? (int)(p.shape.outputs - from) : PF_BLOCK;
    pf_encloser_restrict(e, pf_isa_best());
    pf_enclose_block(e, from, n, span);
    for (int isa = PF_ISA_PORTABLE; isa < (int)pf_isa_best(); isa++) {
      pf_encloser_restrict(e, (pf_isa)isa);
      pf_enclose_block(e, from, n, other);
      check_same(span, other, asks, n);
    }
    check_block(c, e, ask, asks, from, n, span, t);
  }
}

static void blocks_allow_nothing_more(void **state)
{
  (void)state;
  pf_arena cases = {0};
  random_source r = {SEED};
  tally t = {0, 0};
  for (int i = 0; i < FEWER(6000); i++) {
    const pf_filter filter = random_filter(&r);
    pf_case c;
    random_case(&r, &filter, &cases, &c);
    if (pf_case_shape(&c).outputs <= 2 * PF_BLOCK)
      check_blocks(&c, &cases, &t);
  }
  assert_true(t.known > t.elements / 2);
  pf_arena_free(&cases);
}

/* --- what must be known -------------------------------------------------------------------- */

/* A normal matrix product of each dtype and several K: nothing is left to the oracle. */
static void normal_data_is_settled(void **state)
{
  (void)state;
  static const pf_dtype types[] = {PF_F64, PF_F32, PF_F16, PF_BF16, PF_F8_E4M3FN, PF_F8_E5M2};
  static const int sizes[] = {1, 2, 7, 8, 33, 64, 257, 1000};
  static scene s;
  pf_span span;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
      long known = 0;
      scene_reset(&s, PF_MATMUL_PLAIN);
      scene_operand(&s, PF_X, types[t], 2, 6, sizes[k], NULL);
      scene_operand(&s, PF_Y, types[t], 2, sizes[k], 7, NULL);
      scene_finish(&s);
      scene_row(&s, &oracle, "out = MATMUL(x, y; acc in+f32)");
      pf_enclose_block(s.encloser, 0, 42, &span);
      for (int i = 0; i < 42; i++)
        known += span.lo[i] <= span.hi[i];
      assert_true(known >= 41);
    }
  pf_arena_free(&s.arena);
}

/* Integers: one point in any order, and it is the exact sum. */
static void exact_sums_are_points(void **state)
{
  (void)state;
  static scene s;
  random_source r = {SEED + 1};
  double x[3 * 40], y[40 * 5];
  pf_span span;
  for (int i = 0; i < 120; i++)
    x[i] = (double)draw_between(&r, -16, 16);
  for (int i = 0; i < 200; i++)
    y[i] = (double)draw_between(&r, -16, 16);
  scene_reset(&s, PF_MATMUL_PLAIN);
  scene_operand(&s, PF_X, PF_BF16, 2, 3, 40, x);
  scene_operand(&s, PF_Y, PF_BF16, 2, 40, 5, y);
  scene_finish(&s);
  scene_row(&s, &oracle, "out = MATMUL(x, y; acc f32)");
  pf_enclose_block(s.encloser, 0, 15, &span);
  for (int i = 0; i < 15; i++) {
    double v = 0;
    for (int k = 0; k < 40; k++)
      v += x[i / 5 * 40 + k] * y[k * 5 + i % 5];
    assert_true(span.lo[i] == v && span.hi[i] == v);
  }
  pf_arena_free(&s.arena);
}

/* f64 sums that cancel to 2^-100 of their magnitude: Dot2's radius must cover what it lost, and most
   of the result is known all the same. */
static void cancelling_f64_sums(void **state)
{
  (void)state;
  enum { K = 48 };
  static scene s;
  random_source r = {SEED + 2};
  double x[K], y[K];
  long known = 0, cases = 0;
  for (int i = 0; i < FEWER(4000); i++, cases++) {
    const int spread = (int)draw_between(&r, 1, 110);
    for (int k = 0; k < K; k += 2) {
      const int e = (int)draw_between(&r, 0, spread);
      x[k] = ldexp((double)(draw_bits(&r) >> 11 | 1), e - 53);
      y[k] = ldexp((double)(draw_bits(&r) >> 11 | 1), -53);
      x[k + 1] = -x[k];
      y[k + 1] = k ? y[k] : nextafter(y[k], 0);
    }
    scene_reset(&s, PF_MATMUL_PLAIN);
    scene_operand(&s, PF_X, PF_F64, 2, 1, K, x);
    scene_operand(&s, PF_Y, PF_F64, 2, K, 1, y);
    scene_finish(&s);
    scene_row(&s, &oracle, "out = MATMUL(x, y; acc f64)");
    pf_span span;
    pf_enclose_block(s.encloser, 0, 1, &span);
    const pf_enclosure exact = scene_enclose(&s, 0);
    assert_true(holds(span.lo[0], span.hi[0], span.weak & 1, &exact));
    known += span.lo[0] <= span.hi[0];
  }
  assert_true(known > cases / 2);
  pf_arena_free(&s.arena);
}

/* --- claims of infinity and NaN ------------------------------------------------------------- */

/* One sum, of k of these terms, in one row. */
typedef struct claim {
  const char *row;
  pf_order order;
  pf_dtype type;
  int64_t k;
  double alpha, bias;
  double x[10], y[10];  /* the last goes on to the end of k */
} claim;

static double at(const double *v, int64_t k)
{
  return v[k < 10 ? k : 9];
}

/* What spans say of sums that are infinite or NaN by little, or only seem so. */
static void claims_hold(void **state)
{
  (void)state;
  static const claim claims[] = {
    /* infinity stays where overflow is NaN */
    {"t0 = MATMUL(x, y; acc f32) out = CAST(t0; f16/nan)", PF_ANY_ORDER, PF_BF16, 2, 1, 0,
     {INFINITY, 1}, {1, 1}},
    /* an accumulator in which double's own roundings count */
    {"out = MATMUL(x, y; acc f64, out f16)", PF_ANY_ORDER, PF_F32, 4, 1, 0,
     {0x1p40, 0x1p40, 450, 0x1p-20}, {0x1p30, -0x1p30, 450, 0x1p-21}},
    /* products that underflow in numbers overflow beside an infinite one */
    {"out = MATMUL(x, y; acc p6:0:1.9375, out f32)", PF_PAIRWISE, PF_F32, 1000, 1, 0,
     {INFINITY, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13},
     {1, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13}},
    /* the greater part of E is what alpha may lose of one operand */
    {"t0 = MATMUL(x, y, alpha, c, beta; acc f16) out = CAST(t0; p4:-8:0.1171875)", PF_ANY_ORDER,
     PF_F32, 3, 0x1p-12, 0, {0x1p-18, 64, 64}, {0x1p23, 100, -80}},
    /* v - E is 100, of numbers near 2^63 */
    {"out = MATMUL(x, y; acc f32, out f8_e4m3fn)", PF_ANY_ORDER, PF_BF16, 10, 1, 0,
     {0x1p43, 0x1p43, 144, 162, 182, 131, 6},
     {0x1p40, -0x1p40, 0x1p56, 0x1p35, 0x1p14, 0x1p5, 1}},
    /* v - E lies beside a tie of bf16, and then loses its leading digits */
    {"t0 = MATMUL(x, y; acc f32, out bf16) t1 = ADD(t0, bias; f32) out = CAST(t1; f8_e4m3fn)",
     PF_ANY_ORDER, PF_BF16, 10, 1, -0x1p20,
     {0x1p20, 0x1p20, 200, 128, 225, 144, 252, 24},
     {0x1p19, -0x1p19, 0x1p13, 0x1p5, 0x1p-8, 0x1p-16, 0x1p-29, 0x1p-34}},
  };
  static scene s;
  double x[1000], y[1000];
  const double zero = 0;
  for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
    const claim *c = &claims[i];
    for (int64_t k = 0; k < c->k; k++) {
      x[k] = at(c->x, k);
      y[k] = at(c->y, k);
    }
    scene_reset(&s, c->alpha != 1 ? PF_ADDMM : c->bias != 0 ? PF_MATMUL_ADD : PF_MATMUL_PLAIN);
    s.what.alpha = c->alpha;
    scene_operand(&s, PF_X, c->type, 2, 1, c->k, x);
    scene_operand(&s, PF_Y, c->type, 2, c->k, 1, y);
    if (c->alpha != 1)
      scene_operand(&s, PF_C, PF_F16, 2, 1, 1, &zero);
    if (c->bias != 0)
      scene_operand(&s, PF_BIAS, PF_BF16, 1, 1, 1, &c->bias);
    scene_finish(&s);
    scene_row_in_order(&s, &oracle, c->row, (pf_summation){.order = c->order});
    pf_span span;
    pf_enclose_block(s.encloser, 0, 1, &span);
    const pf_enclosure exact = scene_enclose(&s, 0);
    if (!holds(span.lo[0], span.hi[0], span.weak & 1, &exact))
      fail_block(&s.what, &s.ask, 0, span.lo[0], span.hi[0], &exact);
  }
  pf_arena_free(&s.arena);
}

/* Sums of products near 2^1018, the lanes' to either side beyond double: no term is NaN. */
static void sums_beyond_double(void **state)
{
  (void)state;
  enum { K = 3300 };
  static scene s;
  static double x[K], y[K];
  pf_span span;
  for (int k = 0; k < K; k++) {
    x[k] = 0x1p509;
    y[k] = k % 8 == 0 ? 0x1p509 : k % 8 == 2 ? -0x1p509 : 0;
  }
  scene_reset(&s, PF_MATMUL_PLAIN);
  scene_operand(&s, PF_X, PF_F64, 2, 1, K, x);
  scene_operand(&s, PF_Y, PF_F64, 2, K, 1, y);
  scene_finish(&s);
  scene_row(&s, &oracle, "t0 = CAST(x; p24:-500:0x1p510) t1 = CAST(y; p24:-500:0x1p510) "
                         "out = MATMUL(t0, t1; acc p24:-500:0x1p510)");
  pf_enclose_block(s.encloser, 0, 1, &span);
  const pf_enclosure exact = scene_enclose(&s, 0);
  assert_true(holds(span.lo[0], span.hi[0], span.weak & 1, &exact));
  pf_arena_free(&s.arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(blocks_allow_nothing_more),
    cmocka_unit_test(normal_data_is_settled),
    cmocka_unit_test(exact_sums_are_points),
    cmocka_unit_test(cancelling_f64_sums),
    cmocka_unit_test(claims_hold),
    cmocka_unit_test(sums_beyond_double),
  };
  print_message("seed %#llx\n", (unsigned long long)SEED);
  return cmocka_run_group_tests(tests, open_oracle, close_oracle);
}
