/* Certified arithmetic against MPFR: whatever the one settles the other must say, too.

     bench_agreement random ELEMENTS SEED
     bench_agreement conditions CASES SEED

   A set found by certified arithmetic holds results that it calls right.  Both ends of it must
   lie in the set found by MPFR: then no result between them gets two verdicts.  An element counts
   once a row of different steps.  Columns: elements, products (the sum of their K), settled (the
   set was not empty), different.

   Table agreement, row random: cases decoded from random bytes, every graph, dtype and kind of
   values.  Table conditions: f64 dot products of 64 terms, most of which cancel; rows the decimal
   exponent of sum |x y| / |sum x y|, from which on five are counted together. */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "form_fuzz.h"
#include "mpfr_oracle.h"
#include "options.h"

enum {
  LENGTH = 192,      /* bytes of a random case */
  WORK = 512,        /* of a random case, at most */
  TERMS = 64,
  DECADES = 30,      /* the last one holds what is above, too */
  GROUP = 5,
  PROGRESS_S = 10
};

typedef struct counts {
  uint64_t elements, products, settled, different;
} counts;

typedef struct rows {
  int count;
  pf_plan plan[PF_MAX_STRATEGIES];
  pf_ask ask[PF_MAX_STRATEGIES];
} rows;

typedef struct comparison {
  pf_oracle oracle;
  pf_arena cases, work;
  uint64_t seed, drawn;
} comparison;

static uint64_t draw(comparison *c)
{
  return pf_hash(c->seed ^ pf_hash(c->drawn++));
}

static bool is_new(const rows *r, const pf_plan *plan)
{
  for (int i = 0; i < r->count; i++)
    if (pf_plan_equal(&r->plan[i], plan))
      return false;
  return true;
}

static void bind_rows(rows *r, const pf_case *what, const pf_summation *order)
{
  r->count = 0;
  for (const pf_row *row = pf_rows; row->text && r->count < PF_MAX_STRATEGIES; row++) {
    pf_plan plan;
    if (row->graph != what->graph || row->by_name ||
        pf_plan_parse(row->strategy, row->text, what, &plan, NULL) || !is_new(r, &plan))
      continue;
    r->plan[r->count] = plan;
    r->ask[r->count] = (pf_ask){.plan = &r->plan[r->count], .order = *order};
    r->count++;
  }
}

static bool same_verdict(const pf_enclosure *certified, const pf_enclosure *exact)
{
  if (certified->whole)
    return pf_set_equal(&certified->set, &exact->set);
  return !exact->weak && exact->set.lo <= certified->set.lo && certified->set.hi <= exact->set.hi;
}

static void compare(comparison *c, const pf_problem *p, const rows *r, counts *n)
{
  pf_encloser *e;
  const char *why;
  const pf_status s =
      r->count ? pf_encloser_new(p, &c->oracle, r->ask, r->count, &c->work, &e, &why)
               : PF_UNSUPPORTED;
  if (s == PF_NO_MEMORY)
    bench_die("out of memory");
  for (int64_t i = 0; !s && i < p->shape.outputs; i++) {
    pf_enclosure certified[PF_MAX_STRATEGIES], exact[PF_MAX_STRATEGIES];
    pf_enclose_inside(e, i, certified);
    pf_enclose(e, i, exact);
    for (int row = 0; row < r->count; row++) {
      n->elements++;
      n->products += (uint64_t)p->shape.k;
      if (!certified[row].whole && !pf_set_has_finite(&certified[row].set))
        continue;
      n->settled++;
      n->different += !same_verdict(&certified[row], &exact[row]);
    }
  }
}

static void report(const char *table, const char *row, const counts *n)
{
  bench_sample(table, row, "elements", 1, (double)n->elements);
  bench_sample(table, row, "products", 1, (double)n->products);
  bench_sample(table, row, "settled", 1, (double)n->settled);
  bench_sample(table, row, "different", 1, (double)n->different);
}

/* --- random cases -------------------------------------------------------------------------- */

static void compare_random(comparison *c, counts *n)
{
  uint64_t words[LENGTH / 8];
  const pf_filter filter = {.max_work = WORK};
  pf_case what;
  pf_problem p;
  pf_options o;
  rows r;
  pf_arena_reset(&c->cases);
  pf_arena_reset(&c->work);
  for (size_t i = 0; i < LENGTH / 8; i++)
    words[i] = draw(c);
  pf_options_default(&o);
  const pf_engine *engine = o.engine[draw(c) % (uint64_t)o.engine_count];
  if (pf_fuzz_decode((const uint8_t *)words, sizeof words, &filter, &c->cases, &what) ||
      pf_problem_build(&what, &c->work, &p))
    bench_die("out of memory");
  bind_rows(&r, &what, &engine->sum);
  compare(c, &p, &r, n);
}

static void run_random(comparison *c, uint64_t elements)
{
  counts n = {0};
  double shown = bench_now();
  while (n.elements < elements) {
    compare_random(c, &n);
    if (bench_now() - shown > (double)PROGRESS_S) {
      shown = bench_now();
      fprintf(stderr, "bench: %.1f %% of the elements compared, %llu different\n",
              100 * (double)n.elements / (double)elements, (unsigned long long)n.different);
    }
  }
  report("agreement", "random", &n);
}

/* --- condition numbers --------------------------------------------------------------------- */

/* A significand of 53 random bits, of random sign, times 2^exponent. */
static double random_double(comparison *c, int exponent)
{
  const uint64_t bits = draw(c);
  const double v = ldexp((double)(bits >> 11 | (uint64_t)1 << 52), exponent - 52);
  return bits & 1 ? -v : v;
}

/* Pairs of opposite products of about 2^exponent, two terms about 1, in random order. */
static void fill(comparison *c, int exponent, double *x, double *y)
{
  for (int i = 0; i < TERMS; i += 2) {
    const bool cancels = i + 2 < TERMS;
    for (int j = i; j < i + 2; j++) {
      x[j] = cancels && j > i ? -x[i] : random_double(c, cancels ? exponent / 2 : 0);
      y[j] = cancels && j > i ? y[i] : random_double(c, cancels ? exponent - exponent / 2 : 0);
    }
  }
  for (int i = TERMS - 1; i > 0; i--) {
    const int j = (int)(draw(c) % (uint64_t)(i + 1));
    const double a = x[i], b = y[i];
    x[i] = x[j];
    y[i] = y[j];
    x[j] = a;
    y[j] = b;
  }
}

static int decade_of(comparison *c, const double *x, const double *y)
{
  const pf_sum sum = {.k = TERMS, .x = x, .y = y, .alpha = 1};
  pf_truth truth;
  c->oracle.sum(c->oracle.state, &sum, &truth);
  const double v = c->oracle.nearest(c->oracle.state, pf_format_of(PF_F64));
  const double decade = floor(log10((truth.positive + truth.negative) / fabs(v)));
  return decade < (double)DECADES ? (int)decade : DECADES;
}

static void compare_condition(comparison *c, int exponent, counts *n)
{
  bench_case at;
  double x[TERMS], y[TERMS];
  rows r;
  pf_error e = {0};
  fill(c, exponent, x, y);
  bench_case_open(&at, "matmul x=f64[%d] y=f64[%d]", TERMS, TERMS);
  at.what.operand[PF_X].values = (pf_values){.kind = PF_VERBATIM, .verbatim = (uint8_t *)x};
  at.what.operand[PF_Y].values = (pf_values){.kind = PF_VERBATIM, .verbatim = (uint8_t *)y};
  if (pf_case_finish(&at.what, &e) || pf_problem_build(&at.what, &at.arena, &at.problem))
    bench_die("%s", e.text);
  pf_arena_reset(&c->work);
  bind_rows(&r, &at.what, &(pf_summation){.order = PF_ANY_ORDER});
  compare(c, &at.problem, &r, &n[decade_of(c, x, y) / GROUP]);
  bench_case_close(&at);
}

static void run_conditions(comparison *c, uint64_t cases)
{
  counts n[DECADES / GROUP + 1] = {{0}};
  for (uint64_t i = 0; i < cases; i++)
    compare_condition(c, (int)(draw(c) % 108), n);
  for (int i = 0; i <= DECADES / GROUP; i++) {
    char row[16];
    snprintf(row, sizeof row, "%d", GROUP * i);
    if (n[i].elements)
      report("conditions", row, &n[i]);
  }
}

int main(int argc, char **argv)
{
  comparison c = {0};
  if (argc != 4 || (strcmp(argv[1], "random") && strcmp(argv[1], "conditions")))
    bench_die("usage: %s random|conditions COUNT SEED", argv[0]);
  const uint64_t count = (uint64_t)bench_number("COUNT", argv[2], 1, (int64_t)1 << 50);
  c.seed = (uint64_t)bench_number("SEED", argv[3], 0, INT64_MAX);
  if (pf_mpfr_oracle_new(&c.oracle))
    bench_die("out of memory");
  (strcmp(argv[1], "random") ? run_conditions : run_random)(&c, count);
  pf_mpfr_oracle_free(&c.oracle);
  pf_arena_free(&c.cases);
  pf_arena_free(&c.work);
  return 0;
}
