/* The loops behind blocks of enclosures, by every set of instructions that the machine has: sums in
   the order that they promise, scans against each number by itself, roundings beside the end of a range.

   What was planted and seen: a lane summed out of turn, a tile's row or column taken for another, a
   tail left out or read too far, Dot2's lanes gathered in another order, a transposition gone
   wrong, a grid that what is too large or too fine fits, a zero's sign taken for a bit, an end beyond
   the range kept, overflow claimed too early or after what may have overflowed, a class settled
   that is open, a sum called rounded that is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bound.h"
#include "case_builder.h"
#include "check.h"
#include "enclosure_block_parts.h"
#include "oracle_fixture.h"
#include "random_source.h"

static const uint64_t SEED = 0x6c6f6f7073;

enum { MOST_ROWS = 5, MOST_COLUMNS = 9, MOST_K = 40, LINES = MOST_ROWS + MOST_COLUMNS };

/* --- sums ------------------------------------------------------------------------------------ */

static double sum_parts(const double *part)
{
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

/* The order of enclosure_block_dots.h, one by one. */
static void slow_dot(const double *x, const double *y, int k, double *sum, double *absolute)
{
  double part[8] = {0}, size[8] = {0};
  const int whole = k / 8 * 8;
  for (int i = 0; i < whole; i++) {
    part[i % 8] += x[i] * y[i];
    size[i % 8] += fabs(x[i] * y[i]);
  }
  *sum = sum_parts(part);
  *absolute = sum_parts(size);
  for (int i = whole; i < k; i++) {
    *sum += x[i] * y[i];
    *absolute += fabs(x[i] * y[i]);
  }
}

typedef struct dot2_result {
  double sum, tail, absolute, radius;
} dot2_result;

/* *to += v; what is lost. */
static double add_losing(double *to, double v)
{
  const double sum = *to + v, part = sum - *to;
  const double lost = (*to - (sum - part)) + (v - part);
  *to = sum;
  return lost;
}

static dot2_result slow_dot2(const double *x, const double *y, int k)
{
  double high[8] = {0}, low[8] = {0}, weight[8] = {0}, size[8] = {0}, lost = 0, lost_size = 0;
  dot2_result r = {0};
  for (int i = 0; i < k; i++) {
    const double h = x[i] * y[i], error = fma(x[i], y[i], -h);
    const double t = add_losing(&high[i % 8], h) + error;
    low[i % 8] += t;
    weight[i % 8] += fabs(t);
    size[i % 8] += fabs(h);
  }
  for (int l = 0; l < 8; l++) {
    const double t = add_losing(&r.sum, high[l]);
    lost += t;
    lost_size += fabs(t);
  }
  const double units = (double)(k + 32) * 0x1p-53, w = lost_size + sum_parts(weight);
  r.tail = lost + sum_parts(low);
  r.absolute = sum_parts(size);
  r.radius = units * w * (1 + 8 * units) + (double)k * 0x1p-1073;
  return r;
}

static void check_dots(const pf_block_loops *loops, const double *x, const double *y, int k,
                       int rows, int n)
{
  double sum[PF_BLOCK], tail[PF_BLOCK], absolute[PF_BLOCK], radius[PF_BLOCK];
  sum[rows * n] = absolute[rows * n] = tail[rows * n] = radius[rows * n] = 77;
  loops->dots(x, y, k, rows, n, sum, absolute);
  for (int i = 0; i < rows * n; i++) {
    double v, size;
    slow_dot(x + i / n * k, y + i % n * k, k, &v, &size);
    if (sum[i] != v || absolute[i] != size)
      fail_msg("%d rows of %d, k %d, element %d: %a, %a, not %a, %a", rows, n, k, i, sum[i],
               absolute[i], v, size);
  }
  loops->dots2(x, y, k, rows, n, sum, tail, absolute, radius);
  for (int i = 0; i < rows * n; i++) {
    const dot2_result r = slow_dot2(x + i / n * k, y + i % n * k, k);
    if (sum[i] != r.sum || tail[i] != r.tail || absolute[i] != r.absolute || radius[i] != r.radius)
      fail_msg("%d rows of %d, k %d, element %d: %a + %a in %a, not %a + %a in %a", rows, n, k, i,
               sum[i], tail[i], radius[i], r.sum, r.tail, r.radius);
  }
  assert_true(sum[rows * n] == 77 && absolute[rows * n] == 77 && tail[rows * n] == 77 &&
              radius[rows * n] == 77);
}

static void sums_are_taken_in_one_order(void **state)
{
  (void)state;
  random_source r = {SEED};
  for (int i = 0; i < FEWER(3000); i++) {
    double v[LINES * MOST_K];
    const int k = draw_between(&r, 0, MOST_K), rows = draw_between(&r, 1, MOST_ROWS);
    const int n = draw_between(&r, 1, MOST_COLUMNS);
    /* behind the last number there is nothing that may be read or added */
    for (int j = 0; j < LINES * MOST_K; j++)
      v[j] = j < (rows + n) * k
                 ? ldexp((double)draw_between(&r, -(1 << 23), 1 << 23), draw_between(&r, -60, 60))
                 : NAN;
    for (int isa = PF_ISA_PORTABLE; isa <= (int)pf_isa_best(); isa++)
      check_dots(pf_block_loops_of((pf_isa)isa), v, v + rows * k, k, rows, n);
  }
}

/* --- scans ----------------------------------------------------------------------------------- */

static double odd_number(random_source *r)
{
  static const double odd[] = {0, -0.0, 0x1p-1074, -0x1.8p-1060, 0x1.fffffffffffffp1023, INFINITY,
                               -INFINITY, NAN, 0x1p-30, 0x1p44, -0x1p51, 0x1p53, 1 + 0x1p-52};
  return odd[draw_below(r, sizeof odd / sizeof *odd)];
}

static void fill_line(random_source *r, double *v, int k, int bits, int base, int spread)
{
  for (int i = 0; i < k; i++)
    v[i] = (double)draw_between(r, -(1 << bits), 1 << bits);
  for (int i = 0; i < k; i++)
    v[i] = ldexp(v[i], draw_between(r, base, base + spread));
  if (k && !draw_below(r, 3))
    v[draw_below(r, k)] = odd_number(r);
}

/* What is said of a line, against each number by itself. */
static void check_line(const double *v, int k, const pf_line *line)
{
  int quantum = PF_NO_QUANTUM;
  bool special = false;
  double absolute = 0;
  for (int i = 0; i < k; i++) {
    special |= !isfinite(v[i]);
    if (!isfinite(v[i]))
      continue;
    const int last = pf_last_bit(v[i]);
    quantum = last < quantum ? last : quantum;
    absolute += fabs(v[i]);
  }
  assert_int_equal(line->special, special);
  assert_int_equal(line->quantum, quantum);
  assert_true(quantum == PF_NO_QUANTUM ? line->unit == INFINITY : line->unit == ldexp(1, quantum));
  assert_true(line->absolute >= absolute);
}

/* A grid that fits tells the last bit; one that does not, says so. */
static void check_grid(pf_isa isa, const double *v, int k, int q)
{
  uint64_t places;
  int quantum = PF_NO_QUANTUM;
  bool fits = true;
  for (int i = 0; i < k; i++) {
    const int last = isfinite(v[i]) ? pf_last_bit(v[i]) : 0;
    fits &= isfinite(v[i]) && fabs(v[i]) < ldexp(1, 51 + q) && last >= q;
    quantum = last < quantum ? last : quantum;
  }
  const bool said = pf_block_loops_of(isa)->scan_grid(v, k, ldexp(1.5, 52 + q), &places);
  /* the lowest number of a grid fits, too */
  assert_true(said == fits || (said && quantum >= q));
  if (fits)
    assert_true(quantum == PF_NO_QUANTUM ? !places
                                         : q + __builtin_ctzll(places) == quantum);
}

static void scans_tell_last_bits(void **state)
{
  (void)state;
  random_source r = {SEED + 1};
  pf_arena a = {0};
  long fitting = 0;
  for (int i = 0; i < FEWER(20000); i++) {
    enum { ROWS = 3 };
    double v[ROWS * MOST_K];
    const int k = draw_between(&r, 0, MOST_K), bits = draw_between(&r, 1, 29);
    const int base = draw_between(&r, -300, 300), spread = draw_between(&r, 0, 30);
    for (int j = 0; j < ROWS; j++)
      fill_line(&r, v + j * k, k, bits, base, spread);
    pf_arena_reset(&a);
    const pf_line *line = pf_lines_scan(pf_lines_new(v, ROWS, k, &a));
    for (int j = 0; j < ROWS; j++)
      check_line(v + j * k, k, &line[j]);
    for (int isa = PF_ISA_PORTABLE; isa <= (int)pf_isa_best(); isa++) {
      double unit, absolute;
      pf_line slow;
      slow.special = !pf_block_loops_of((pf_isa)isa)->scan(v, k, &unit, &absolute);
      slow.unit = unit;
      slow.quantum = unit < INFINITY ? pf_last_bit(unit) : PF_NO_QUANTUM;
      slow.absolute = absolute * (1 + 0x1p-40);
      check_line(v, k, &slow);
      check_grid((pf_isa)isa, v, k, base + draw_between(&r, -25, 5));
    }
    fitting += bits + spread < 40;
  }
  assert_true(fitting > 0);
  pf_arena_free(&a);
}

/* --- ends of ranges -------------------------------------------------------------------------- */

/* Rows, and the largest number of a format that their sums are rounded to. */
static const struct {
  const char *row;
  double max;
} narrow_rows[] = {
  {"out = MATMUL(x, y; acc f16, out f8_e4m3fn)", 448},
  {"t0 = MATMUL(x, y; acc f16, out f8_e4m3fn) out = ADD(t0, bias; f32)", 448},
  {"t0 = MATMUL(x, y; acc f16, out f8_e4m3fnuz) t1 = ADD(t0, bias; f16) out = CAST(t1; f8_e5m2)",
   240},
  {"t0 = MATMUL(x, y; acc f16, out f8_e4m3fn) t1 = ADD(t0, bias; f32) out = CAST(t1; p4:-8:0x1.cp8)",
   448},
  {"t0 = MATMUL(x, y; acc f16, out f8_e4m3fn) t1 = ADD(t0, bias; f16) out = CAST(t1; p2:-8:0x1p14)",
   448},
  {"t0 = MATMUL(x, y; acc f16) t1 = ADD(t0, bias; f32) out = CAST(t1; f8_e4m3fn)", 448},
  {"t0 = MATMUL(x, y; acc f32, out f8_e5m2) t1 = ADD(t0, bias; f16) out = CAST(t1; f8_e4m3fn/sat)",
   57344},
  {"t0 = MATMUL(x, y; acc f32, out bf16) out = CAST(t0; f8_e5m2)", 57344},
  {"t0 = MATMUL(x, y; acc f16, out f8_e4m3fn/sat) out = ADD(t0, bias; f16)", 448},
};

/* Does what a block says of an element hold of the exact set, and is enough said? */
static bool check_end(const pf_span *s, int i, const pf_enclosure *exact)
{
  const double lo = s->lo[i], hi = s->hi[i];
  const pf_set *set = &exact->set;
  const bool is_nan = lo == INFINITY && hi == -INFINITY, open = pf_set_is_open(set);
  if (is_nan)
    assert_true(set->nan && !open);
  else if (lo <= hi && isinf(lo))
    assert_true(lo == hi && !open && (lo > 0 ? set->plus_infinity : set->minus_infinity));
  else if (lo <= hi)
    assert_true(lo >= set->lo && hi <= set->hi);
  return is_nan || lo <= hi;
}

/* What certified arithmetic settles counts as it does by the oracle. */
static void check_settled(scene *s, int64_t element, const pf_enclosure *exact)
{
  const double got[] = {NAN, INFINITY, -INFINITY, exact->set.lo, exact->set.hi, 0, 448, -448};
  pf_enclosure subset;
  pf_enclose_inside(s->encloser, element, &subset);
  for (size_t i = 0; i < sizeof got / sizeof *got; i++) {
    pf_tally fast, slow;
    if (!pf_tally_settles(&subset, got[i]))
      continue;
    pf_tally_start(&fast);
    pf_tally_start(&slow);
    assert_true(pf_tally_element(&fast, &subset, got[i]));
    assert_true(pf_tally_element(&slow, exact, got[i]));
    assert_true(fast.order == slow.order && fast.weak == slow.weak);
  }
}

/* Sums of about 0.4 to 2.4 times the largest number of a row. */
static void draw_sums(random_source *r, double max, int k, int n, double *x, double *y)
{
  for (int i = 0; i < k; i++)
    x[i] = draw_between(r, 128, 255);
  for (int j = 0; j < n; j++) {
    double v = 0;
    for (int i = 0; i < k; i++) {
      y[j * k + i] = draw_between(r, -50, 255);
      v += x[i] * y[j * k + i];
    }
    const double target = max * draw_between(r, 40, 240) / 100 * (draw_below(r, 2) ? 1 : -1);
    for (int i = 0; i < k; i++)
      y[j * k + i] = pf_round(pf_format_of(PF_BF16), y[j * k + i] * (target / v));
  }
}

/* Known for the most part, open classes, too, and the same by every set of instructions. */
static void sums_beside_the_end_of_a_range(void **state)
{
  (void)state;
  enum { K = 64, N = 8 };
  static const double odd[] = {1024, -1024, INFINITY, -INFINITY};
  static scene s;
  random_source r = {SEED + 2};
  long known = 0, elements = 0, open = 0, open_known = 0;
  for (int i = 0; i < FEWER(3000); i++) {
    double x[K], y[K * N], bias[N];
    const int row = draw_below(&r, sizeof narrow_rows / sizeof *narrow_rows);
    draw_sums(&r, narrow_rows[row].max, K, N, x, y);
    for (int j = 0; j < N; j++)
      bias[j] = draw_below(&r, 8) ? (double)draw_between(&r, -8, 8) : odd[draw_below(&r, 4)];
    const bool with_bias = strstr(narrow_rows[row].row, "bias") != NULL;
    scene_reset(&s, PF_LINEAR);
    scene_operand(&s, PF_X, PF_BF16, 2, 1, K, x);
    scene_operand(&s, PF_Y, PF_BF16, 2, N, K, y);
    if (with_bias)
      scene_operand(&s, PF_BIAS, PF_F8_E5M2, 1, 1, N, bias);
    scene_finish(&s);
    scene_row(&s, &oracle, narrow_rows[row].row);
    for (int isa = PF_ISA_PORTABLE; isa <= (int)pf_isa_best(); isa++) {
      pf_span span;
      pf_encloser_restrict(s.encloser, (pf_isa)isa);
      pf_enclose_block(s.encloser, 0, N, &span);
      for (int j = 0; j < N; j++) {
        const pf_enclosure exact = scene_enclose(&s, j);
        const bool is_known = check_end(&span, j, &exact), is_open = pf_set_is_open(&exact.set);
        check_settled(&s, j, &exact);
        known += is_known;
        open += is_open;
        open_known += is_open && is_known;
        elements++;
      }
    }
  }
  print_message("%ld elements, %ld known; %ld open, %ld of them known\n", elements, known, open,
                open_known);
  assert_true(known > elements / 10 * 9 && open_known > open / 2 && open > elements / 100);
  pf_arena_free(&s.arena);
}

/* v - E so near below a tie that a block takes it for the tie, which is rounded to a number beyond
   the next format's range; what lies below the tie is not. */
static void an_end_beside_a_tie(void **state)
{
  (void)state;
  enum { K = 8 };
  static scene s;
  double x[K], y[K] = {400.000030517578125, 71, 0.875, 0x1p-14, 0x1p-15, 0x1p-16};
  int64_t below = 0, above = INT64_C(1) << 44;  /* in 2^-46 */
  for (int k = 0; k < K; k++)
    x[k] = 1;
  while (above - below > 1) {
    const int64_t middle = below + (above - below) / 2;
    y[K - 2] = ldexp((double)(middle >> 23), -23);
    y[K - 1] = ldexp((double)(middle & ((1 << 23) - 1)), -46);
    scene_reset(&s, PF_MATMUL_PLAIN);
    scene_operand(&s, PF_X, PF_F32, 2, 1, K, x);
    scene_operand(&s, PF_Y, PF_F32, 2, K, 1, y);
    scene_finish(&s);
    scene_row(&s, &oracle, "out = MATMUL(x, y; acc f32, out f64)");
    const bool is_below = scene_enclose(&s, 0).set.lo < 472;
    below = is_below ? middle : below;
    above = is_below ? above : middle;
    scene_row(&s, &oracle,
              "t0 = MATMUL(x, y; acc f32, out p5:-8:0x1.fp20) out = CAST(t0; f8_e4m3fn)");
    pf_span span;
    pf_enclose_block(s.encloser, 0, 1, &span);
    const pf_enclosure exact = scene_enclose(&s, 0);
    check_end(&span, 0, &exact);
    check_settled(&s, 0, &exact);
  }
  assert_true(below > 0 && above < INT64_C(1) << 44);
  pf_arena_free(&s.arena);
}

/* --- sums that are rounded, or not ------------------------------------------------------------- */

/* Integers whose magnitudes sum to about 2^24, beside an odd number or none, first ones large or
   small: a sum is one point where it never rounds, and only there. */
static void sums_about_to_round(void **state)
{
  (void)state;
  enum { K = 64, N = 9 };
  static scene s;
  random_source r = {SEED + 3};
  long points = 0, elements = 0;
  for (int i = 0; i < FEWER(1500); i++) {
    double x[K], y[K * N];
    const int scale = draw_between(&r, 0, 3), first = draw_between(&r, 0, 3);
    for (int k = 0; k < K; k++)
      x[k] = k < 4 ? ldexp(1, first) : draw_between(&r, 1, 3);
    for (int j = 0; j < N; j++) {
      const int most = (1 << 24 >> 7) + draw_between(&r, -(1 << 16), 1 << 16);
      for (int k = 0; k < K; k++)
        y[j * K + k] = ldexp((double)draw_between(&r, most / 2, most), scale);
      y[j * K + draw_below(&r, K)] += draw_below(&r, 2);
    }
    scene_reset(&s, PF_LINEAR);
    scene_operand(&s, PF_X, PF_F32, 2, 1, K, x);
    scene_operand(&s, PF_Y, PF_F32, 2, N, K, y);
    scene_finish(&s);
    scene_row(&s, &oracle, "out = MATMUL(x, y; acc f32)");
    for (int isa = PF_ISA_PORTABLE; isa <= (int)pf_isa_best(); isa++) {
      pf_span span;
      pf_encloser_restrict(s.encloser, (pf_isa)isa);
      pf_enclose_block(s.encloser, 0, N, &span);
      for (int j = 0; j < N; j++) {
        const pf_enclosure exact = scene_enclose(&s, j);
        assert_true(check_end(&span, j, &exact));
        assert_true((exact.set.lo == exact.set.hi) == (span.lo[j] == span.hi[j]));
        points += exact.set.lo == exact.set.hi;
        elements++;
      }
    }
  }
  print_message("%ld of %ld elements are points\n", points, elements);
  assert_true(points > elements / 10 && points < elements / 10 * 9);
  pf_arena_free(&s.arena);
}

int main(void)
{
  print_message("seed %#llx\n", (unsigned long long)SEED);
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(sums_are_taken_in_one_order),
    cmocka_unit_test(scans_tell_last_bits),
    cmocka_unit_test(sums_beside_the_end_of_a_range),
    cmocka_unit_test(an_end_beside_a_tie),
    cmocka_unit_test(sums_about_to_round),
  };
  return cmocka_run_group_tests(tests, open_oracle, close_oracle);
}
