/* What double arithmetic says, held against the exact sets, of rows that nobody wrote: up to eight
   steps in formats small and odd, behind any sum, in three orders, of engines that flush.  The rows
   of the table are kinder than these. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "case_builder.h"
#include "form_text.h"
#include "oracle_fixture.h"
#include "random_source.h"

enum { CASES = FEWER(300000), LARGEST_K = 70, LARGEST_M = 3, LARGEST_N = 5, MORE_STEPS = 6,
       ROW_TEXT = 600, SEED = 20260517 };

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static const char *const accumulators[] = {
  "f32", "f16", "bf16", "f64", "p4:-2:7.5", "p5:-6:1.9375p3", "p3:-4:14", "p8:-5:255",
  "p26:-60:0x1p60", "p12:-14:0x1p15"};
static const char *const formats[] = {
  "f32", "f16", "bf16", "f64", "f8_e4m3fn", "f8_e5m2", "f8_e4m3fn/sat", "f8_e5m2/sat", "p4:-2:7.5",
  "p3:-4:14", "p3:-4:14/nan", "p8:-5:255", "p2:-3:12", "p24:-20:0x1p10", "p26:-60:0x1p60"};
static const pf_dtype dtypes[] = {PF_F32, PF_F16, PF_BF16, PF_F64, PF_F8_E4M3FN};
static const pf_order orders[] = {PF_ANY_ORDER, PF_PAIRWISE, PF_FORWARD};

typedef struct drawn {
  scene s;
  char row[ROW_TEXT];
  pf_declared declared;
  int64_t m, k, n;
  double x[LARGEST_M * LARGEST_K], y[LARGEST_K * LARGEST_N], c[LARGEST_M * LARGEST_N];
} drawn;

typedef struct tally {
  int64_t elements, known, infinite, weak, wrong;
} tally;

/* Small numbers, so that sums are exact, cancel and meet ties often. */
static double draw_value(random_source *r)
{
  const int kind = draw_below(r, 8);
  if (kind == 2)
    return 0;
  if (kind > 2)
    return draw_between(r, -7, 7);
  const int digits = kind ? draw_between(r, -2047, 2047) : draw_between(r, -15, 15);
  return ldexp(digits, kind ? draw_between(r, -20, 4) : draw_between(r, -8, 8));
}

static double draw_factor(random_source *r)
{
  int digits;
  switch (draw_below(r, 6)) {
  case 0: return 1;
  case 1: return -1;
  case 2: return ldexp(1, draw_between(r, -12, 12));
  case 3:
    digits = draw_between(r, -63, 63);
    return ldexp(digits, draw_between(r, -10, 40));
  case 4: return 0;
  default: return draw_between(r, -100, 100) / 8.0;
  }
}

static double draw_addend(random_source *r)
{
  static const double special[] = {INFINITY, -INFINITY, NAN};
  if (!draw_below(r, 6))
    return special[draw_below(r, 3)];
  const double value = draw_value(r);
  return ldexp(value, draw_between(r, -4, 6));
}

static void draw_operands(random_source *r, drawn *d)
{
  const pf_dtype t = dtypes[draw_below(r, COUNT(dtypes))];
  const pf_dtype addend = dtypes[draw_below(r, COUNT(dtypes) - 1)];
  const int scale = draw_below(r, 3) ? 0 : draw_between(r, -20, 20);
  const int far = draw_below(r, 4) ? 0 : 30;
  d->k = draw_below(r, 5) ? draw_between(r, 0, 9) : draw_between(r, 30, LARGEST_K);
  d->m = draw_between(r, 1, LARGEST_M);
  d->n = draw_between(r, 1, LARGEST_N);
  for (int64_t i = 0; i < d->m * d->k; i++)
    d->x[i] = pf_round(pf_format_of(t), ldexp(draw_value(r), scale));
  for (int64_t i = 0; i < d->k * d->n; i++) {
    const double value = draw_value(r);
    d->y[i] = pf_round(pf_format_of(t), ldexp(value, draw_between(r, -far, far)));
  }
  for (int64_t i = 0; i < d->m * d->n; i++)
    d->c[i] = pf_round(pf_format_of(addend), draw_addend(r));
  scene_reset(&d->s, PF_ADDMM);
  d->s.what.alpha = draw_factor(r);
  d->s.what.beta = draw_factor(r);
  scene_operand(&d->s, PF_X, t, 2, d->m, d->k, d->x);
  scene_operand(&d->s, PF_Y, t, 2, d->k, d->n, d->y);
  scene_operand(&d->s, PF_C, addend, 2, d->m, d->n, d->c);
}

static const char *draw_format(random_source *r)
{
  if (draw_below(r, 2))
    return formats[draw_below(r, COUNT(formats))];
  return draw_below(r, 2) ? "f32" : "f64";
}

/* Step i of those behind the sum reads c, the step before, or any earlier one. */
static int draw_step(random_source *r, int i, char *to, size_t size)
{
  const char *format = draw_format(r);
  const int read = draw_below(r, 6), before = draw_below(r, i);
  char operand[8] = "c";
  if (read)
    snprintf(operand, sizeof operand, "s%d", read < 5 ? i - 1 : before);
  const int kind = draw_below(r, 3), other = draw_below(r, 2);
  if (kind == 0)
    return snprintf(to, size, "s%d = CAST(%s; %s) ", i, operand, format);
  if (kind == 1)
    return snprintf(to, size, "s%d = SCALE(%s, %s; %s) ", i, operand, other ? "alpha" : "beta",
                    format);
  return other ? snprintf(to, size, "s%d = ADD(%s, c; %s) ", i, operand, format)
               : snprintf(to, size, "s%d = ADD(c, %s; %s) ", i, operand, format);
}

static void draw_row(random_source *r, drawn *d)
{
  const int inside = draw_below(r, 4);
  const char *acc = accumulators[draw_below(r, COUNT(accumulators))];
  int at = snprintf(d->row, ROW_TEXT, "s0 = MATMUL(x, y%s%s; acc %s", inside & 1 ? ", alpha" : "",
                    inside & 2 ? ", c, beta" : "", acc);
  if (draw_below(r, 2))
    at += snprintf(d->row + at, ROW_TEXT - at, ", out %s", formats[draw_below(r, COUNT(formats))]);
  at += snprintf(d->row + at, ROW_TEXT - at, ") ");
  const int more = draw_between(r, 0, MORE_STEPS);
  for (int i = 1; i <= more; i++)
    at += draw_step(r, i, d->row + at, ROW_TEXT - at);
  snprintf(d->row + at, ROW_TEXT - at, "out = CAST(s%d; %s)", more,
           formats[draw_below(r, COUNT(formats))]);
}

static void draw_engine(random_source *r, drawn *d)
{
  const pf_summation order = {.order = orders[draw_below(r, COUNT(orders))]};
  d->declared = (pf_declared){.sum = order};
  d->declared.flush_sums = (pf_maybe)draw_below(r, 3);
  d->declared.flush_inputs = (pf_maybe)draw_below(r, 3);
  d->declared.flush_outputs = (pf_maybe)draw_below(r, 2);
  d->s.ask = (pf_ask){.plan = &d->s.plan, .order = order};
  if (!draw_below(r, 5) && pf_declared_matters(&d->declared))
    d->s.ask.declared = &d->declared;
}

/* False where the case or the row is none, or its bounds hold for no such accumulator. */
static bool draw_case(random_source *r, drawn *d)
{
  pf_error e = {0};
  const char *why;
  draw_operands(r, d);
  draw_row(r, d);
  draw_engine(r, d);
  return !pf_case_finish(&d->s.what, &e) &&
         !pf_plan_parse("drawn", d->row, &d->s.what, &d->s.plan, &e) &&
         !pf_problem_build(&d->s.what, &d->s.arena, &d->s.problem) &&
         !pf_encloser_new(&d->s.problem, &oracle, &d->s.ask, 1, &d->s.arena, &d->s.encloser, &why);
}

static bool span_is_right(const pf_span *span, int i, const pf_enclosure *exact, tally *t)
{
  const pf_set *set = &exact->set;
  const double lo = span->lo[i], hi = span->hi[i];
  const bool nan = lo == INFINITY && hi == -INFINITY, infinite = isinf(lo) && lo == hi;
  const bool weak = span->weak >> i & 1, closed = !pf_set_is_open(set);
  if (!nan && !(lo <= hi))
    return true;
  t->known++;
  t->infinite += nan || infinite;
  t->weak += weak;
  if (weak != exact->weak)
    return false;
  if (nan)
    return closed && set->nan;
  if (infinite)
    return closed && pf_set_allows(set, lo);
  return lo >= set->lo && hi <= set->hi;
}

static bool inside_is_right(const pf_enclosure *inside, const pf_enclosure *exact)
{
  const pf_set *a = &inside->set, *b = &exact->set;
  const bool finite = a->lo <= a->hi;
  return !(inside->whole && !pf_set_equal(a, b)) &&
         !(finite && !(a->lo >= b->lo && a->hi <= b->hi)) && a->nan <= b->nan &&
         a->plus_infinity <= b->plus_infinity && a->minus_infinity <= b->minus_infinity &&
         !(exact->weak && (inside->whole || finite));
}

static void tell(const drawn *d, int i, const pf_span *span, const pf_enclosure *exact)
{
  char set[200];
  pf_set_print(&exact->set, set, sizeof set);
  printf("%s\n  order %d, flushes %d %d %d, element %d: [%a, %a], exact %s%s\n  ", d->row,
         (int)d->s.ask.order.order, d->s.ask.declared ? (int)d->declared.flush_inputs : -1,
         (int)d->declared.flush_sums, (int)d->declared.flush_outputs, i, span->lo[i], span->hi[i],
         set, exact->weak ? ", weak" : "");
  pf_text_print(&d->s.what, stdout);
  putchar('\n');
}

static void hold(drawn *d, tally *t)
{
  const int elements = (int)(d->m * d->n);
  pf_span span;
  pf_enclose_block(d->s.encloser, 0, elements, &span);
  for (int i = 0; i < elements; i++) {
    const pf_enclosure exact = scene_enclose(&d->s, i);
    pf_enclosure inside;
    pf_enclose_inside(d->s.encloser, i, &inside);
    t->elements++;
    if (span_is_right(&span, i, &exact, t) && inside_is_right(&inside, &exact))
      continue;
    if (!t->wrong++)
      tell(d, i, &span, &exact);
  }
}

static void rows_of_all_kinds(void **state)
{
  static drawn d;
  random_source r = {SEED};
  tally t = {0};
  (void)state;
  for (int i = 0; i < CASES; i++)
    if (draw_case(&r, &d))
      hold(&d, &t);
  pf_arena_free(&d.s.arena);
  printf("seed %d: %lld elements, %lld settled, %lld infinite or NaN, %lld weak\n", SEED,
         (long long)t.elements, (long long)t.known, (long long)t.infinite, (long long)t.weak);
  assert_int_equal(t.wrong, 0);
  assert_true(t.known > t.elements / 4 && t.infinite > t.elements / 100 &&
              t.weak > t.elements / 2000);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows_of_all_kinds)};
  return cmocka_run_group_tests(tests, open_oracle, close_oracle);
}
