/* Arrays are rounded as their numbers are one by one: by every instruction set, in place too, and
   whatever is left over behind whole vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "dtype.h"
#include "random_source.h"
#include "rounding.h"

static const uint64_t SEED = 0x726f756e64;

enum { MOST = 40 };

static bool same(double a, double b)
{
  return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static double rounded(pf_rounded what, const pf_format *f, double a, double b)
{
  return what == PF_ROUNDED_SUM       ? pf_round_sum(f, a, b)
         : what == PF_ROUNDED_PRODUCT ? pf_round_product(f, a, b)
                                      : pf_round(f, a);
}

static void check_array(pf_isa isa, pf_rounded what, const pf_format *f, const double *a,
                        const double *b, int64_t n)
{
  double to[MOST + 1], in_place[MOST + 1];
  to[n] = in_place[n] = 7;
  memcpy(in_place, a, (size_t)n * sizeof *a);
  pf_round_by(isa, what, f, a, b, n, to);
  pf_round_by(isa, what, f, in_place, b, n, in_place);
  for (int64_t i = 0; i < n; i++) {
    const double want = rounded(what, f, a[i], b[i]);
    if (!same(to[i], want) || !same(in_place[i], want))
      fail_msg("isa %d what %d precision %d emin %d overflow %d: %a, %a gives %a, in place %a, "
               "alone %a", isa, what, f->precision, f->emin, f->overflow, a[i], b[i], to[i], in_place[i],
               want);
  }
  assert_true(to[n] == 7 && in_place[n] == 7);
}

static pf_format toy(int precision, int emin, double max)
{
  return (pf_format){.precision = precision, .emin = emin, .max = max, .has_infinity = true,
                     .has_negative_zero = true};
}

/* Dtypes and others, as they are or with another end of their range or another rounding. */
static pf_format pick_format(random_source *r)
{
  const pf_format others[] = {pf_tf32, toy(2, -3, 6), toy(3, -4, 12), toy(5, -8, 0x1.9p7),
                              toy(25, -30, 0x1p40), toy(50, -800, 0x1p500), toy(51, -8, 0x1p9),
                              toy(8, -1000, 0x1p9), toy(8, -10, 0x1p600), toy(4, -6, 0x1.fp7)};
  const int pick = draw_below(r, PF_DTYPE_COUNT + 10);
  pf_format f = pick < PF_DTYPE_COUNT ? *pf_format_of((pf_dtype)pick)
                                      : others[pick - PF_DTYPE_COUNT];
  const bool full = f.precision == 53;
  if (!full && !draw_below(r, 3))
    f.overflow = pf_is_integer(&f) ? PF_OVERFLOW_SATURATE
                                   : (pf_overflow)draw_below(r, f.has_infinity ? 3 : 2);
  if (!pf_is_integer(&f) && f.overflow == PF_OVERFLOW_INFINITY && !f.has_infinity)
    f.overflow = PF_OVERFLOW_NAN;
  if (!full && !draw_below(r, 6))
    f.rounding = draw_below(r, 2) ? PF_TOWARD_ZERO : PF_NEAREST_AWAY;
  return f;
}

/* A number near where f's places, subnormals, midpoints and largest value are, or anywhere. */
static double pick_number(random_source *r, const pf_format *f)
{
  const double special[] = {0, INFINITY, NAN, f->max, f->max + pf_ulp(f, f->max) / 2,
                            f->max + pf_ulp(f, f->max), pf_smallest_normal(f),
                            ldexp(1, pf_quantum(f)), ldexp(1, pf_quantum(f) - 1), 0x1p1023};
  const int kind = draw_below(r, 8);
  double v = special[draw_below(r, 10)];
  if (kind < 5) {
    const int span = ilogb(f->max) - pf_quantum(f) + 4;
    v = ldexp(1 + ldexp((double)(draw_bits(r) >> 12), -52),
              pf_quantum(f) - 2 + draw_below(r, span));
    if (kind < 3 && v > 0)  /* a value of f or a midpoint, perhaps beside it */
      v = ldexp(nearbyint(ldexp(v, f->precision - ilogb(v))), ilogb(v) - f->precision);
    if (kind == 1)
      v = nextafter(v, draw_below(r, 2) ? 0 : (double)INFINITY);
  }
  return draw_below(r, 2) ? -v : v;
}

static void arrays_are_rounded_one_by_one(void **state)
{
  (void)state;
  random_source r = {SEED};
  const int arrays = FEWER(200000);
  int in_lanes = 0;
  for (int i = 0; i < arrays; i++) {
    const pf_format f = pick_format(&r);
    const pf_rounded what = (pf_rounded)draw_below(&r, 3);
    const bool wraps = f.overflow == PF_OVERFLOW_WRAP;
    const int n = draw_below(&r, MOST + 1);
    double a[MOST] = {0}, b[MOST] = {0};
    pf_lane_format lanes;
    for (int j = 0; j < n; j++) {
      a[j] = pick_number(&r, &f);
      b[j] = pick_number(&r, &f);
      if (wraps && what) {  /* operands are integers, and no infinity is one */
        a[j] = isfinite(a[j]) ? rint(fmod(a[j], 0x1p32)) : 1;
        b[j] = isfinite(b[j]) ? rint(fmod(b[j], 0x1p20)) : 1;
      }
    }
    in_lanes += pf_lane_format_of(&f, &lanes);
    for (int isa = 0; isa <= (int)pf_isa_best(); isa++)
      check_array((pf_isa)isa, what, &f, a, b, n);
  }
  print_message("seed %#llx: %d arrays, %d of them in lanes\n", (unsigned long long)SEED, arrays,
                in_lanes);
  assert_in_range(in_lanes, arrays / 4, arrays * 9 / 10);
}

/* Every value of the small dtypes, the midpoint above it, and the doubles beside that. */
static void every_midpoint(void **state)
{
  (void)state;
  static const pf_dtype types[] = {PF_F16, PF_BF16, PF_F8_E4M3FN, PF_F8_E5M2, PF_F8_E4M3FNUZ,
                                   PF_F8_E5M2FNUZ};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (uint64_t bits = 0; bits < UINT64_C(1) << (8 * pf_dtype_of(types[t])->bytes); bits++) {
      const pf_format *f = pf_format_of(types[t]);
      const double v = pf_decode(types[t], bits);
      const double middle = isfinite(v) ? v + copysign(pf_ulp(f, v) / 2, v) : v;
      const double a[] = {v, middle, nextafter(middle, 0), nextafter(middle, 2 * middle), -v};
      for (int isa = 0; isa <= (int)pf_isa_best(); isa++)
        check_array((pf_isa)isa, PF_ROUNDED_VALUE, f, a, a, 5);
    }
}

/* What lanes have no way to do is left to format.c. */
static void lanes_know_their_limits(void **state)
{
  (void)state;
  pf_lane_format lanes;
  pf_format f = *pf_format_of(PF_BF16);
  assert_true(pf_lane_format_of(&f, &lanes));
  f.overflow = PF_OVERFLOW_NAN;  /* of what is finite; infinity stays */
  assert_false(pf_lane_format_of(&f, &lanes));
  f = *pf_format_of(PF_BF16);
  f.rounding = PF_TOWARD_ZERO;
  assert_false(pf_lane_format_of(&f, &lanes));
  f = toy(4, -6, 0x1.f8p7);  /* max has more bits than the format */
  assert_false(pf_lane_format_of(&f, &lanes));
  assert_false(pf_lane_format_of(pf_format_of(PF_F64), &lanes));
  assert_false(pf_lane_format_of(pf_format_of(PF_S8), &lanes));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(arrays_are_rounded_one_by_one),
    cmocka_unit_test(every_midpoint),
    cmocka_unit_test(lanes_know_their_limits),
  };
  return cmocka_run_group_tests_name("rounding", tests, NULL, NULL);
}
