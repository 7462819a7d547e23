/* The oracle at single points that chance seldom meets, and its manners: MPFR's exponent range,
   memory.  Random cases are in test_oracle.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <float.h>
#include <gmp.h>
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

#include "mpfr_oracle.h"

static const pf_format binary64 = {
  53, -1022, DBL_MAX, true, true, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, PF_SYMMETRIC};

static bool same(double a, double b)
{
  return a == b && !signbit(a) == !signbit(b);
}

static void ask_sum(const pf_oracle *o, int64_t k, const double *x, const double *y, double bias,
                    pf_truth *out)
{
  const pf_sum ask = {k, x, y, 1, 0, NAN, bias};
  o->sum(o->state, &ask, out);
}

/* At 2^1024 (1 - 2^-54) and beyond an end is infinite; a hair below it is the largest double. */
static void test_overflow_threshold(void **state)
{
  const pf_oracle *o = *state;
  const double at[] = {DBL_MAX, 0x1p970}, one[] = {1, 1}, minus[] = {-1, -1};
  const double hair = 0x1p-1074;
  pf_truth truth;
  ask_sum(o, 2, at, one, 0, &truth);
  assert_true(same(o->below(o->state, 0), INFINITY));
  assert_true(same(o->below(o->state, hair), DBL_MAX));
  assert_true(same(o->above(o->state, 0), INFINITY));
  assert_true(same(o->nearest(o->state, &binary64), INFINITY));
  ask_sum(o, 2, at, one, -hair, &truth);
  assert_true(same(o->below(o->state, 0), DBL_MAX));
  assert_true(same(o->above(o->state, 0), INFINITY));
  assert_true(same(o->nearest(o->state, &binary64), DBL_MAX));
  assert_true(same(o->distance(o->state, DBL_MAX), 0x1p970));
  ask_sum(o, 2, at, minus, 0, &truth);
  assert_true(same(o->above(o->state, 0), -INFINITY));
  assert_true(same(o->above(o->state, hair), -DBL_MAX));
  assert_true(same(o->below(o->state, 0), -INFINITY));
  ask_sum(o, 2, at, minus, hair, &truth);
  assert_true(same(o->above(o->state, 0), -DBL_MAX));
  assert_true(same(o->nearest(o->state, &binary64), -DBL_MAX));
}

/* All three are scaled as soon as one is above 2^1000, however little. */
static void test_scale(void **state)
{
  const pf_oracle *o = *state;
  const double x[] = {0x1p500, -3}, y[] = {0x1p500, 1};
  pf_truth truth;
  ask_sum(o, 1, x, y, -0x1p1000, &truth);
  assert_int_equal(truth.scale, 0);
  assert_true(same(truth.positive, 0x1p1000) && same(truth.negative, 0x1p1000));
  assert_true(same(truth.products, 0x1p1000));
  ask_sum(o, 1, x, y, -nextafter(0x1p1000, INFINITY), &truth);
  assert_int_equal(truth.scale, 1100);
  ask_sum(o, 2, x, y, 0, &truth);
  assert_int_equal(truth.scale, 1100);
  assert_true(same(truth.positive, 0x1p-100) && same(truth.negative, 0x1p-1074));
  assert_true(same(truth.products, nextafter(0x1p-100, 1)));
  assert_true(same(o->below(o->state, 0), nextafter(0x1p1000, 0)));  /* never scaled */
}

static void test_left_out(void **state)
{
  const pf_oracle *o = *state;
  const double x[] = {NAN, 2, INFINITY, 3, 0}, y[] = {1, 5, 0, -INFINITY, NAN};
  const pf_sum ask = {5, x, y, -2, 4, NAN, -INFINITY};
  pf_truth truth;
  o->sum(o->state, &ask, &truth);
  assert_true(same(truth.positive, 0) && same(truth.negative, 20) && same(truth.products, 10));
  const pf_sum nothing = {0, NULL, NULL, 7, 0, NAN, 0};
  o->sum(o->state, &nothing, &truth);
  assert_true(same(truth.positive, 0) && same(truth.negative, 0) && same(truth.products, 0));
  assert_true(same(o->nearest(o->state, &binary64), 0) && same(o->below(o->state, 1), -1));
}

/* MPFR keeps its exponent range per thread: code that emulates a format narrows it. */
static void test_exponent_range(void **state)
{
  const pf_oracle *o = *state;
  const double x[] = {0x1p-900, 0x1p900}, y[] = {0x1p-900, 0x1p900};
  pf_truth truth;
  mpfr_set_emin(-148);
  mpfr_set_emax(128);
  ask_sum(o, 2, x, y, 0, &truth);
  assert_int_equal(truth.scale, 1100);
  assert_true(same(truth.products, nextafter(0x1p700, INFINITY)));
}

/* MPFR takes its memory by these two counters. */

static int64_t allocations, blocks;

static void *count_allocate(size_t size)
{
  allocations++;
  blocks++;
  return malloc(size);
}

static void *count_reallocate(void *p, size_t old, size_t size)
{
  (void)old;
  allocations++;
  return realloc(p, size);
}

static void count_free(void *p, size_t size)
{
  (void)size;
  blocks--;
  free(p);
}

/* From the first sum on nothing is allocated, whatever the precision; free frees everything. */
static void test_memory(void **state)
{
  (void)state;
  mpfr_free_cache();
  mp_set_memory_functions(count_allocate, count_reallocate, count_free);
  pf_oracle o;
  assert_int_equal(pf_mpfr_oracle_new(&o), PF_OK);
  mpfr_t pi;
  mpfr_init2(pi, 1000);
  mpfr_const_pi(pi, MPFR_RNDN);  /* stays in MPFR's cache until someone frees that */
  mpfr_clear(pi);
  const int64_t before = allocations;
  const double x[] = {DBL_MAX, 0x1p-1074}, y[] = {DBL_MAX, 0x1p-1074};
  for (int64_t k = 0; k <= 2; k++) {
    const pf_sum ask = {k, x, y, DBL_MAX, 0x1p-1074, 0x1p-1074, 1};  /* some 5,220 bits */
    pf_truth truth;
    o.sum(o.state, &ask, &truth);
    o.below(o.state, 1);
    o.above(o.state, 1);
    o.distance(o.state, 1);
    o.nearest(o.state, &binary64);
  }
  assert_int_equal(allocations, before);
  pf_mpfr_oracle_free(&o);
  assert_int_equal(blocks, 0);
  mp_set_memory_functions(NULL, NULL, NULL);
}

static int make_oracle(void **state)
{
  static pf_oracle oracle;
  *state = &oracle;
  return pf_mpfr_oracle_new(&oracle) != PF_OK;
}

static int free_oracle(void **state)
{
  pf_mpfr_oracle_free(*state);
  return 0;
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(test_overflow_threshold, make_oracle, free_oracle),
    cmocka_unit_test_setup_teardown(test_scale, make_oracle, free_oracle),
    cmocka_unit_test_setup_teardown(test_left_out, make_oracle, free_oracle),
    cmocka_unit_test_setup_teardown(test_exponent_range, make_oracle, free_oracle),
    cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
