/* The bound against every summation tree, in accumulators small enough for a search to reach all of
   it: precisions 2 to 8, few exponents, so that overflow and underflow are never far.

   For up to five products, with and without alpha, c and bias, every tree over every order of the
   addends, each addition fused or not (every_tree.h); a hill climb looks for the inputs that use
   most of the bound.  Then the stated orders, run by the reference loops, for up to sixteen
   products, where d u exceeds 1.

   Planted and seen: one rounding fewer in d (without alpha and with), c or bias not counted, beta's
   rounding or underflow dropped, products taken for exact, each part of the underflow term dropped
   (of products, of alpha times an operand), the exact rule without either of its limits, either
   overflow flag dropped or judged without the error, overflow of what alpha shrinks dropped, each
   stated depth one less.  Not seen: d u in place of gamma under an alpha and in stated orders; no
   tree is known that tells them apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "oracle_fixture.h"
#include "reference.h"
#include "toy_sums.h"

static const uint64_t SEED = 0x746f7931;
static forest trees;

static const pf_summation any_order = {.order = PF_ANY_ORDER};

typedef struct counts {
  double worst;  /* ratio of an error to its bound */
  long sums, exact, open, special;
} counts;

typedef double (*trial)(const toy_kind *kind, const toy_sum *t, counts *n);

static double judge(const toy_kind *kind, const toy_sum *t, const bounded *b, const results *r,
                    counts *n)
{
  double ratio;
  if (violates(&oracle, b, r, &ratio)) {
    print_toy(kind, t, b, r);
    fail_msg("a correct sum outside the bound");
  }
  assert_true(!b->bound.weak || (b->lo <= 0 && b->hi >= 0));
  n->sums++;
  n->exact += b->bound.exact;
  n->open += b->bound.plus_infinity || b->bound.minus_infinity;
  n->special += r->plus_infinity || r->minus_infinity || r->nan;
  n->worst = fmax(n->worst, ratio);
  return ratio;
}

/* Keeps what comes nearer to the bound. */
static void climb(random_source *r, const toy_kind *kind, trial attempt, int steps, counts *n)
{
  toy_sum best = draw_below(r, 4) ? toy_random(r, kind) : toy_stagnating(r, kind);
  double worst = attempt(kind, &best, n);
  for (int i = 0; i < steps; i++) {
    const toy_sum t = toy_mutate(r, kind, &best);
    const double ratio = attempt(kind, &t, n);
    if (ratio >= worst) {
      worst = ratio;
      best = t;
    }
  }
}

/* --- every tree ---------------------------------------------------------------------------- */

static double try_every_tree(const toy_kind *kind, const toy_sum *t, counts *n)
{
  const arithmetic how = {&kind->acc, pf_round_sum, pf_round_product, pf_round_fma};
  const pf_sum s = terms_of(t);
  const bounded b = bound_of(&oracle, kind, any_order, &s);
  double worst = 0;
  for (int side = 0; side < (t->alpha == 1 ? 1 : 2); side++) {
    const results r = every_tree(&trees, &how, &s, side);
    worst = fmax(worst, judge(kind, t, &b, &r, n));
  }
  return worst;
}

/* What a family of kinds has in common. */
typedef struct family {
  bool alpha, c, bias;
  bool exact;  /* the accumulator holds products exactly, but for their range */
  bool wide;   /* enough exponents to keep away from overflow and underflow */
  pf_rounding rounding;
} family;

static toy_kind kind_of(const family *f, int precision, int k)
{
  const int reach = f->wide ? 40 : 3;
  const int operand = f->exact ? precision / 2 : precision;
  toy_kind kind = {
    .acc = toy_format(precision, -reach, reach),
    .x = toy_format(operand, f->wide ? -10 : -3, f->wide ? 10 : 2),
    .k = k, .alpha = f->alpha, .c = f->c, .bias = f->bias,
  };
  kind.y = kind.x;
  kind.acc.rounding = f->rounding;
  if (precision % 3 == 0)  /* as in e4m3fn, the last number of the top binade is none */
    kind.acc.max = pf_next_down(&kind.acc, kind.acc.max);
  return kind;
}

static void explore(random_source *r, const family *f, int climbs, counts *sum)
{
  counts all = {.worst = 0};
  for (int p = f->exact ? 4 : 2; p <= 8; p++)
    for (int k = 0; k <= 5; k++) {
      const toy_kind kind = kind_of(f, p, k);
      const int leaves = k + f->c + f->bias;
      for (int i = 0; i < (leaves > 5 ? climbs / 4 : climbs); i++)
        climb(r, &kind, try_every_tree, 100, &all);
    }
  print_message("%s%s%s products %s, exponents %s: worst %.3f of the bound, %ld sums, %ld exact, "
                "%ld may overflow, %ld do\n", f->alpha ? "alpha " : "", f->c ? "c " : "",
                f->bias ? "bias " : "", f->exact ? "exact" : "rounded", f->wide ? "many" : "few",
                all.worst, all.sums, all.exact, all.open, all.special);
  assert_true(all.worst >= 0.5 && all.worst <= 1);
  assert_true(all.exact > 0);
  sum->open += all.open;
  sum->special += all.special;
}

static void every_tree_keeps_the_bound(void **state)
{
  (void)state;
  random_source r = {SEED};
  counts sum = {.worst = 0};
  print_message("seed %#llx\n", (unsigned long long)SEED);
  for (int i = 0; i < 32; i++) {
    const family f = {.alpha = i & 1, .c = i & 2, .bias = i & 4, .exact = i & 8, .wide = i & 16};
    explore(&r, &f, FEWER(10), &sum);
  }
  /* a flag that is always up would be no flag: a third of them are, at least, by right */
  assert_true(3 * sum.special >= sum.open);
}

static void every_tree_keeps_the_bound_with_ties_away(void **state)
{
  (void)state;
  random_source r = {SEED};
  counts sum = {.worst = 0};
  for (int i = 0; i < 8; i++) {
    const family f = {.alpha = i & 1, .c = i & 2, .exact = i & 4, .rounding = PF_NEAREST_AWAY};
    explore(&r, &f, FEWER(10), &sum);
  }
}

/* --- stated orders ------------------------------------------------------------------------- */

static pf_summation stated;
static bool told;  /* the bound knows the order */

static double try_stated(const toy_kind *kind, const toy_sum *t, counts *n)
{
  const pf_accumulator acc = {.format = kind->acc, .product = kind->acc, .sum = stated};
  const pf_sum s = terms_of(t);
  const bounded b = bound_of(&oracle, kind, told ? stated : any_order, &s);
  results r = {0};
  include_result(&r, pf_reference_sum(&acc, &stated, false, &kind->acc, &s));
  return judge(kind, t, &b, &r, n);
}

static void stated_orders_keep_their_bound(void **state)
{
  (void)state;
  static const pf_summation orders[] = {
    {PF_FORWARD, 0, false}, {PF_BACKWARD, 0, true}, {PF_PAIRWISE, 0, false}, {PF_PAIRWISE, 0, true},
    {PF_BLOCKED, 3, false}, {PF_BLOCKED, 4, true}, {PF_LANES, 3, false}, {PF_LANES, 4, true}};
  random_source r = {SEED};
  for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
    counts n[2] = {{.worst = 0}, {.worst = 0}};
    stated = orders[o];
    for (int i = 0; i < FEWER(1600); i++) {
      const uint64_t bits = draw_bits(&r);
      const family f = {.alpha = !(bits & 3), .c = !(bits & 12), .bias = !(bits & 48),
                        .exact = i & 1, .wide = bits & 192};
      const int k = draw_below(&r, 3) ? draw_between(&r, 1, 6) : draw_between(&r, 7, TOY_TERMS);
      const toy_kind kind = kind_of(&f, draw_between(&r, f.exact ? 4 : 2, 8), k);
      told = draw_below(&r, 4);
      climb(&r, &kind, try_stated, 100, &n[told]);
    }
    char name[32];
    pf_summation_print(&stated, name, sizeof name);
    print_message("%s: worst %.3f of its bound, %.3f of that of any order, %ld sums\n", name,
                  n[1].worst, n[0].worst, n[0].sums + n[1].sums);
    assert_true(n[1].worst >= 0.5 && n[1].worst <= 1);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_tree_keeps_the_bound),
    cmocka_unit_test(every_tree_keeps_the_bound_with_ties_away),
    cmocka_unit_test(stated_orders_keep_their_bound),
  };
  return cmocka_run_group_tests_name("toy", tests, open_oracle, close_oracle);
}
