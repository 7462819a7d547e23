/* Certified arithmetic against MPFR: whatever the one settles the other must say, too.

     bench_agreement random ELEMENTS SEED
     bench_agreement conditions CASES SEED

   Each case is examined twice: with both oracles (PF_ORACLE_BOTH), so that every set that certified
   arithmetic finds is held against the one that MPFR finds, and with certified arithmetic first.
   Columns: elements judged, products (the sum of their K), sums that MPFR was asked for the first
   time, open (those of the second time), different.

   Table agreement, row random: cases decoded from random bytes, every graph, dtype and kind of
   values.  Table conditions: f64 dot products of 64 terms, most of which cancel; rows the decimal
   exponent of sum |x y| / |sum x y|, from which on five are counted together. */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "form_fuzz.h"
#include "mpfr_oracle.h"
#include "session.h"

enum {
  LENGTH = 192,      /* bytes of a random case */
  WORK = 512,        /* of a random case, at most */
  TERMS = 64,
  DECADES = 30,      /* the last one holds what is above, too */
  GROUP = 5,
  PROGRESS_S = 10
};

typedef struct counts {
  uint64_t elements, products, sums, open, different;
} counts;

typedef struct comparison {
  pf_oracle oracle;  /* MPFR's, without a count */
  pf_session session;
  uint64_t asked;    /* sums so far */
  uint64_t seed, drawn;
} comparison;

static uint64_t draw(comparison *c)
{
  return pf_hash(c->seed ^ pf_hash(c->drawn++));
}

/* --- an oracle that counts its sums -------------------------------------------------------- */

static void count_sum(void *state, const pf_sum *ask, pf_truth *out)
{
  comparison *c = state;
  c->asked++;
  c->oracle.sum(c->oracle.state, ask, out);
}

static double count_below(void *state, double e)
{
  const pf_oracle *o = &((comparison *)state)->oracle;
  return o->below(o->state, e);
}

static double count_above(void *state, double e)
{
  const pf_oracle *o = &((comparison *)state)->oracle;
  return o->above(o->state, e);
}

static double count_nearest(void *state, const pf_format *f)
{
  const pf_oracle *o = &((comparison *)state)->oracle;
  return o->nearest(o->state, f);
}

static double count_distance(void *state, double got)
{
  const pf_oracle *o = &((comparison *)state)->oracle;
  return o->distance(o->state, got);
}

static void count_within(void *state, double absolute, double relative, double *lo, double *hi)
{
  const pf_oracle *o = &((comparison *)state)->oracle;
  o->within(o->state, absolute, relative, lo, hi);
}

/* --- one case ------------------------------------------------------------------------------ */

static void on_result(void *user, const pf_result *r)
{
  (void)user;
  if (pf_verdict_is_finding(r->verdict))
    bench_die("%s: %s: %s", r->engine->name, r->strategy, pf_verdict_name(r->verdict));
}

static void examine(comparison *c, const pf_case *what, pf_oracle_use use)
{
  c->session.options.oracle = use;
  if (pf_session_examine(&c->session, what, on_result, NULL))
    bench_die("out of memory");
}

static void compare(comparison *c, const pf_case *what, counts *n)
{
  pf_session *s = &c->session;
  pf_options_default(&s->options);
  s->options.engine[0] = s->options.engine[draw(c) % (uint64_t)s->options.engine_count];
  s->options.engine_count = 1;
  const uint64_t elements = s->elements, products = s->products, differing = s->differing;
  const uint64_t begin = c->asked;
  examine(c, what, PF_ORACLE_BOTH);
  n->elements += s->elements - elements;
  n->products += s->products - products;
  n->different += s->differing - differing;
  const uint64_t middle = c->asked;
  examine(c, what, PF_ORACLE_CERTIFIED);
  n->sums += middle - begin;
  n->open += c->asked - middle;
}

static void report(const char *table, const char *row, const counts *n)
{
  bench_sample(table, row, "elements", 1, (double)n->elements);
  bench_sample(table, row, "products", 1, (double)n->products);
  bench_sample(table, row, "sums", 1, (double)n->sums);
  bench_sample(table, row, "open", 1, (double)n->open);
  bench_sample(table, row, "different", 1, (double)n->different);
}

/* --- random cases -------------------------------------------------------------------------- */

static void compare_random(comparison *c, counts *n)
{
  uint64_t words[LENGTH / 8];
  const pf_filter filter = {.max_work = WORK};
  pf_case what;
  pf_arena_reset(&c->session.cases);
  for (size_t i = 0; i < LENGTH / 8; i++)
    words[i] = draw(c);
  if (pf_fuzz_decode((const uint8_t *)words, sizeof words, &filter, &c->session.cases, &what))
    bench_die("out of memory");
  compare(c, &what, n);
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

static int decade_of(const comparison *c, const double *x, const double *y)
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
  pf_error e = {0};
  fill(c, exponent, x, y);
  bench_case_open(&at, "matmul x=f64[%d] y=f64[%d]", TERMS, TERMS);
  at.what.operand[PF_X].values = (pf_values){.kind = PF_VERBATIM, .verbatim = (uint8_t *)x};
  at.what.operand[PF_Y].values = (pf_values){.kind = PF_VERBATIM, .verbatim = (uint8_t *)y};
  if (pf_case_finish(&at.what, &e))
    bench_die("%s", e.text);
  compare(c, &at.what, &n[decade_of(c, x, y) / GROUP]);
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
  c.session.oracle = (pf_oracle){
    .name = c.oracle.name,
    .state = &c,
    .sum = count_sum,
    .below = count_below,
    .above = count_above,
    .nearest = count_nearest,
    .distance = count_distance,
    .within = count_within,
  };
  (strcmp(argv[1], "random") ? run_conditions : run_random)(&c, count);
  pf_mpfr_oracle_free(&c.oracle);
  pf_session_free(&c.session);
  return 0;
}
