/* Chains of roundings: what cast_chain.c claims of them against what they do.

   Two roundings one after the other, none of which wraps, are a monotone function of the value; so
   is one.  They differ if and only if they differ beside a place where the one rounding jumps: at
   the values of the first format next to a midpoint of the last, on either side.  To try these, and
   the ends, is to try all values, of f64 too.

   Planted and seen: claims by precision alone, by twice the precision and two more, without a look
   at the ends, with a low end of half the least value for ties that go away from zero. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cast.h"
#include "random_source.h"

#define SEED UINT64_C(0x636861696e732031)

enum { STEP = 10 / FEWER(10) };

static bool is_same(double a, double b)
{
  return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b);
}

static bool is_once(const pf_format *via, const pf_format *to, double x)
{
  return is_same(pf_round(to, pf_round(via, x)), pf_round(to, x));
}

static bool is_value(const pf_format *f, double x)
{
  if (!isfinite(x)) {
    return isnan(x) ? !pf_is_integer(f) : f->has_infinity;
  }
  return pf_round(f, x) == x && (x != 0 || !signbit(x) || f->has_negative_zero);
}

static bool is_once_around(const pf_format *from, const pf_format *via, const pf_format *to,
                           double x)
{
  pf_format near = *from;
  near.overflow = PF_OVERFLOW_SATURATE;
  const double middle = pf_round(&near, x);
  const double points[] = {middle, pf_next_up(from, middle), pf_next_down(from, middle)};
  for (int i = 0; i < 3; i++) {
    if (is_value(from, points[i]) && !is_once(via, to, points[i])) {
      return false;
    }
  }
  return true;
}

static bool is_once_at_ends(const pf_format *from, const pf_format *via, const pf_format *to)
{
  const double ends[] = {INFINITY, -INFINITY, NAN, 0, -0.0, from->max, pf_lowest(from)};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    if (is_value(from, ends[i]) && !is_once(via, to, ends[i])) {
      return false;
    }
  }
  return true;
}

/* The truth for a `to` of few values, neither format wrapping. */
static bool rounds_once(const pf_format *from, const pf_format *via, const pf_format *to)
{
  const double last = fmax(to->max, -pf_lowest(to));
  if (!is_once_at_ends(from, via, to)) {
    return false;
  }
  double v = 0;
  do {
    const double above = v + pf_ulp(to, v);
    const double jump = to->rounding == PF_TOWARD_ZERO ? above : v + (above - v) / 2;
    if (!is_once_around(from, via, to, jump) || !is_once_around(from, via, to, -jump)) {
      return false;
    }
    v = above;
  } while (v <= last);
  return true;
}

static void fail_claim(const pf_format *from, const pf_format *via, const pf_format *to)
{
  const pf_cast_chain c = {.count = 3, .format = {*from, *via, *to}};
  char text[PF_CAST_TEXT];
  pf_cast_chain_print(&c, text, sizeof text);
  fail_msg("%s is claimed to round as if once", text);
}

static bool wraps(const pf_format *f)
{
  return f->overflow == PF_OVERFLOW_WRAP;
}

typedef struct counts {
  int claimed, unclaimed, missed;
} counts;

static void compare(const pf_format *from, const pf_format *via, const pf_format *to, counts *n)
{
  if (pf_cast_innocuous(from, via, to)) {
    n->claimed++;
    if (!rounds_once(from, via, to)) {
      fail_claim(from, via, to);
    }
  } else {
    n->unclaimed++;
    n->missed += via->rounding == PF_NEAREST_EVEN && to->rounding == PF_NEAREST_EVEN &&
                 rounds_once(from, via, to);
  }
}

/* A `to` of 8 bits or less, each format with all its roundings and policies. */
static void test_small_exhaustively(void **unused)
{
  (void)unused;
  counts n = {0};
  for (int i = 0; i < pf_cast_pool(); i++) {
    for (int j = 0; j < pf_cast_pool(); j++) {
      for (int k = 0; k < pf_cast_pool(); k++) {
        const pf_format from = pf_cast_format(i), middle = pf_cast_format(j);
        const pf_format end = pf_cast_format(k);
        if (end.precision > (pf_is_integer(&end) ? 9 : 5)) {
          continue;
        }
        for (int v = 0; v < pf_cast_variants(&middle); v++) {
          for (int w = (i + j + k) % STEP; w < pf_cast_variants(&end); w += STEP) {
            const pf_format via = pf_cast_variant(&middle, v), to = pf_cast_variant(&end, w);
            if (!wraps(&via) && !wraps(&to)) {
              compare(&from, &via, &to, &n);
            }
          }
        }
      }
    }
  }
  print_message("%d claimed and true, %d not claimed, of which at least %d true all the same\n",
                n.claimed, n.unclaimed, n.missed);
  assert_true(n.claimed > FEWER(20000) && n.missed < n.claimed / 20);
}

/* All dtypes to the 16-bit ones and tf32 by way of every other. */
static void test_16_bits_exhaustively(void **unused)
{
  (void)unused;
  counts n = {0};
  for (int i = 0; i <= PF_DTYPE_COUNT; i++) {
    for (int j = 0; j <= PF_DTYPE_COUNT; j++) {
      for (int k = 0; k < 2 && (i + j) % STEP == 0; k++) {
        const pf_format from = pf_cast_format(i), middle = pf_cast_format(j);
        const pf_format via = pf_conversion(&middle, &from);
        const pf_format *to = pf_format_of(k ? PF_BF16 : PF_F16);
        if (!wraps(&via)) {
          compare(&from, &via, to, &n);
        }
      }
    }
  }
  print_message("%d claimed, %d not, of which %d true all the same\n", n.claimed, n.unclaimed,
                n.missed);
  assert_true(n.claimed > 0 && n.unclaimed > n.missed);
}

/* What cannot be tried in full: wide formats, and integers that wrap. */
static void test_wide_at_random(void **unused)
{
  (void)unused;
  random_source r = {SEED};
  int claimed = 0;
  for (int i = 0; i < FEWER(30000); i++) {
    pf_format f[3];
    for (int j = 0; j < 3; j++) {
      const pf_format usual = pf_cast_format(draw_below(&r, pf_cast_pool()));
      f[j] = pf_cast_variant(&usual, j ? draw_below(&r, pf_cast_variants(&usual)) : 0);
    }
    if (!pf_cast_innocuous(&f[0], &f[1], &f[2])) {
      continue;
    }
    claimed++;
    for (int j = 0; j < 40; j++) {
      const uint64_t bits = draw_bits(&r);
      pf_format near = f[0];
      double x;
      memcpy(&x, &bits, sizeof x);
      near.overflow = PF_OVERFLOW_SATURATE;
      x = j % 2 ? x : (double)(int64_t)bits / (double)(UINT64_C(1) << draw_below(&r, 64));
      x = pf_round(&near, x);
      const double v = pf_round(&f[2], x);
      const double middle = isfinite(v) ? v + pf_ulp(&f[2], v) / 2 : x;
      if (is_value(&f[0], x) && (!is_once(&f[1], &f[2], x) ||
                                 !is_once_around(&f[0], &f[1], &f[2], middle))) {
        fail_claim(&f[0], &f[1], &f[2]);
      }
    }
  }
  print_message("%d claimed\n", claimed);
  assert_true(claimed > FEWER(3000));
}

static bool is_claimed(int count, const pf_format *const *formats)
{
  pf_cast_chain c = {.count = count};
  for (int i = 0; i < count; i++) {
    c.format[i] = *formats[i];
  }
  return pf_cast_chain_innocuous(&c, pf_cast_innocuous);
}

#define CHAIN(...)                                                                    \
  is_claimed((int)(sizeof(const pf_format *const[]){__VA_ARGS__} / sizeof(void *)),   \
             (const pf_format *const[]){__VA_ARGS__})

/* The chains that people ask about. */
static void test_by_name(void **unused)
{
  (void)unused;
  const pf_format *f64 = pf_format_of(PF_F64), *f32 = pf_format_of(PF_F32);
  const pf_format *f16 = pf_format_of(PF_F16), *bf16 = pf_format_of(PF_BF16);
  const pf_format *e4m3 = pf_format_of(PF_F8_E4M3FN), *s8 = pf_format_of(PF_S8);
  const pf_format *s32 = pf_format_of(PF_S32), *e5m2 = pf_format_of(PF_F8_E5M2);
  pf_format tf32_cut = pf_tf32, bf16_cut = *bf16, s8_end = *s8;
  tf32_cut.rounding = bf16_cut.rounding = PF_TOWARD_ZERO;
  s8_end.overflow = PF_OVERFLOW_SATURATE;

  assert_false(CHAIN(f64, f32, bf16));       /* 24 >= 2 * 8 + 2 does not help */
  assert_false(CHAIN(f32, f16, e4m3));
  assert_false(CHAIN(f32, bf16, e4m3));
  assert_false(CHAIN(f32, &pf_tf32, bf16));
  assert_false(CHAIN(s32, f32, bf16));
  assert_true(CHAIN(bf16, f32, f16));        /* the first step is exact */
  assert_true(CHAIN(s32, f64, f32));
  assert_true(CHAIN(f32, f64, bf16));
  assert_true(CHAIN(s32, f32, f16));         /* f32 rounds only what f16 takes for infinity */
  assert_true(CHAIN(s32, f16, e4m3));
  assert_false(CHAIN(s32, bf16, e4m3));      /* 465 > 464 > 448 */
  assert_true(CHAIN(bf16, f16, e4m3));       /* f16 rounds only what e4m3fn takes for zero */
  assert_true(CHAIN(bf16, f16, e5m2));
  assert_true(CHAIN(f32, &tf32_cut, &bf16_cut));
  assert_false(CHAIN(f32, &tf32_cut, bf16));
  assert_false(CHAIN(f32, &pf_tf32, &bf16_cut));
  assert_true(CHAIN(s32, f32, &s8_end));
  assert_false(CHAIN(f32, s32, s8));         /* saturates, then wraps */
  assert_false(CHAIN(s32, f32, s8));
  assert_true(CHAIN(f32, bf16, f32, bf16));  /* one rounding, and two that change nothing */
  assert_false(CHAIN(f64, f32, f64, bf16));
  assert_false(CHAIN(f32, e4m3, f32));
  assert_false(CHAIN(bf16, f32, e4m3, f32)); /* the second part harms, whatever the first does */
}

/* What the pool has no formats for. */
static void test_odd_formats(void **unused)
{
  (void)unused;
  const pf_format *f32 = pf_format_of(PF_F32), *fnuz = pf_format_of(PF_F8_E4M3FNUZ);
  const pf_format *s32 = pf_format_of(PF_S32), *s8 = pf_format_of(PF_S8);
  const pf_format *u8 = pf_format_of(PF_U8);

  /* infinity at both ends, and 300 between them */
  const pf_format near = {.precision = 4, .emin = -6, .max = 240, .has_infinity = true,
                          .has_negative_zero = true};
  pf_format far = near;
  far.max = 480;
  assert_false(CHAIN(f32, &near, &far));
  assert_true(CHAIN(f32, &far, &near));

  /* the least value's sign is lost on the way */
  pf_format unsigned_zero = far;
  unsigned_zero.has_negative_zero = false;
  assert_false(CHAIN(fnuz, &unsigned_zero, &far));
  assert_true(CHAIN(fnuz, &far, &unsigned_zero));

  /* the ends agree modulo 256, and so do not 40000 and 32767 */
  const pf_format s16 = {.precision = 16, .emin = 15, .max = 32767,
                         .overflow = PF_OVERFLOW_SATURATE, .range = PF_TWOS_COMPLEMENT};
  assert_false(CHAIN(s32, &s16, s8));
  /* 65535 is past the end as it stands and as 255, but 256 becomes 0 */
  const pf_format u16 = {.precision = 17, .emin = 16, .max = 65535,
                         .overflow = PF_OVERFLOW_WRAP, .range = PF_UNSIGNED};
  const pf_format three = {.precision = 2, .emin = -1, .max = 3, .has_infinity = true,
                           .has_negative_zero = true};
  assert_false(CHAIN(&u16, u8, &three));
  assert_true(CHAIN(s32, &u16, u8) && CHAIN(s32, &u16, s8) && !CHAIN(s32, s8, &u16));
}

int main(void)
{
  printf("seed 0x%" PRIx64 "\n", SEED);
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_small_exhaustively), cmocka_unit_test(test_16_bits_exhaustively),
    cmocka_unit_test(test_wide_at_random),     cmocka_unit_test(test_by_name),
    cmocka_unit_test(test_odd_formats),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
