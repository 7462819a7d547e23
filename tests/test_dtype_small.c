/* Encodings of 8 bits and of integers, and every conversion: all encodings of the 8-bit dtypes into
   every dtype, those of 16 bits, f32 and f64 densely and at all midpoints into the 8-bit ones, each
   against what the formats' specifications say an encoding means and one rounding by MPFR.

   Planted and seen: e4m3fn with an infinity at 0x78, 0x80 of fnuz read as zero, a bias of 7 in
   e4m3fnuz, -128 read as 128, a store by way of bf16 (two roundings), 464 that overflows, overflow
   judged before rounding, e5m2 that saturates. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <cmocka.h>
#include <mpfr.h>

#include "dtype.h"
#include "format_reference.h"

static const pf_dtype small[] = {PF_F8_E4M3FN, PF_F8_E5M2, PF_F8_E4M3FNUZ, PF_F8_E5M2FNUZ,
                                 PF_S8,        PF_U8};
enum { SMALL = sizeof small / sizeof *small };

/* A float encoding of `fraction_bits` with a bias; its special values are the caller's matter. */
static double plain_meaning(uint64_t bits, int width, int fraction_bits, int bias)
{
  const uint64_t one = UINT64_C(1) << fraction_bits;
  const int field = (int)((bits & ((UINT64_C(1) << (width - 1)) - 1)) >> fraction_bits);
  const double fraction = (double)(bits & (one - 1));
  const double x = field == 0 ? ldexp(fraction, 1 - bias - fraction_bits)
                              : ldexp(fraction + (double)one, field - bias - fraction_bits);
  return bits >> (width - 1) & 1 ? -x : x;
}

static double ieee_meaning(uint64_t bits, int width, int fraction_bits, int bias)
{
  const uint64_t magnitude = bits & ((UINT64_C(1) << (width - 1)) - 1);
  const uint64_t infinity = (uint64_t)(2 * bias + 1) << fraction_bits;
  if (magnitude > infinity) {
    return (double)NAN;
  }
  return magnitude == infinity ? bits != magnitude ? -(double)INFINITY : (double)INFINITY
                               : plain_meaning(bits, width, fraction_bits, bias);
}

/* By the specifications: IEEE 754-2019, 3.4; OCP 8-bit Floating Point 1.0, table 1; for fnuz the
   bias is one more and the encoding of -0 the only NaN. */
static double meaning(pf_dtype t, uint64_t bits)
{
  switch (t) {
  case PF_F64: return ieee_meaning(bits, 64, 52, 1023);
  case PF_F32: return ieee_meaning(bits, 32, 23, 127);
  case PF_F16: return ieee_meaning(bits, 16, 10, 15);
  case PF_BF16: return ieee_meaning(bits, 16, 7, 127);
  case PF_F8_E4M3FN: return (bits & 0x7f) == 0x7f ? (double)NAN : plain_meaning(bits, 8, 3, 7);
  case PF_F8_E5M2: return ieee_meaning(bits, 8, 2, 15);
  case PF_F8_E4M3FNUZ: return bits == 0x80 ? (double)NAN : plain_meaning(bits, 8, 3, 8);
  case PF_F8_E5M2FNUZ: return bits == 0x80 ? (double)NAN : plain_meaning(bits, 8, 2, 16);
  case PF_S8: return (double)bits - (bits > 127 ? 256 : 0);
  case PF_U8: return (double)bits;
  case PF_S32: return (double)bits - (bits > 0x7fffffff ? 0x1p32 : 0);
  case PF_DTYPE_COUNT: break;
  }
  return 0;
}

static mpfr_t exact;

/* x converted to a dtype by way of `f`, its format or one that overflows otherwise. */
static void check_as(pf_dtype to, const pf_format *f, double x)
{
  mpfr_set_d(exact, x, MPFR_RNDN);
  const double want = reference_round(f, exact);
  const uint64_t bits = pf_encode(to, pf_round(f, x));
  const double got = meaning(to, bits);
  if (!same(got, want) || bits >> (8 * pf_dtype_of(to)->bytes - 1) >> 1 != 0) {
    fail_msg("%a to %s (rounding %d, overflow %d): 0x%" PRIx64 ", which is %a, not %a", x,
             pf_dtype_of(to)->name, (int)f->rounding, (int)f->overflow, bits, got, want);
  }
}

/* The conversion of a value of `from`, and the store as it is. */
static void check_conversion(pf_dtype to, pf_dtype from, double x)
{
  const pf_format f = pf_conversion(pf_format_of(to), pf_format_of(from));
  check_as(to, &f, x);
  check_as(to, pf_format_of(to), x);
  mpfr_set_d(exact, x, MPFR_RNDN);
  assert_true(same(meaning(to, pf_encode(to, x)), reference_round(pf_format_of(to), exact)));
}

static void test_every_encoding(void **unused)
{
  (void)unused;
  static const uint8_t quiet_nan[SMALL] = {0x7f, 0x7e, 0x80, 0x80, 0, 0};
  static const int nans[SMALL] = {2, 6, 1, 1, 0, 0}, infinities[SMALL] = {0, 2, 0, 0, 0, 0};
  for (int i = 0; i < SMALL; i++) {
    const pf_dtype t = small[i];
    int nan = 0, infinite = 0;
    double most = 0;
    for (uint64_t bits = 0; bits < 256; bits++) {
      const double want = meaning(t, bits), got = pf_decode(t, bits);
      const uint8_t byte = (uint8_t)bits;
      uint8_t stored = (uint8_t)~bits;
      assert_true(same(got, want) && same(pf_load(t, &byte), want));
      pf_store(t, &stored, want);
      assert_int_equal(stored, isnan(want) ? quiet_nan[i] : bits);
      assert_int_equal(pf_load_bits(t, &byte), bits);
      nan += isnan(want) != 0;
      infinite += isinf(want) != 0;
      most = isfinite(want) ? fmax(most, want) : most;
    }
    assert_int_equal(pf_encode(t, NAN), quiet_nan[i]);
    assert_int_equal(nan, nans[i]);
    assert_int_equal(infinite, infinities[i]);
    assert_true(most == pf_format_of(t)->max);
  }
}

static void test_from_8_bits(void **unused)
{
  (void)unused;
  for (int i = 0; i < SMALL; i++) {
    for (int to = 0; to < PF_DTYPE_COUNT; to++) {
      for (uint64_t bits = 0; bits < 256; bits++) {
        check_conversion((pf_dtype)to, small[i], meaning(small[i], bits));
      }
    }
  }
}

static void test_from_16_bits(void **unused)
{
  (void)unused;
  static const pf_dtype from[] = {PF_F16, PF_BF16};
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < SMALL; j++) {
      for (uint64_t bits = 0; bits < 65536; bits++) {
        check_conversion(small[j], from[i], meaning(from[i], bits));
      }
    }
    for (uint64_t bits = 0; bits < 65536; bits++) {
      check_conversion(PF_S32, from[i], meaning(from[i], bits));
    }
  }
}

/* Every value of a small dtype, every midpoint, and what lies beside them in f32 and in f64; beyond
   the largest one as far as the next value would be. */
static void check_midpoints(pf_dtype t)
{
  const pf_format *f = pf_format_of(t);
  for (double x = pf_lowest(f); x <= f->max;) {
    double above = pf_next_up(f, x);
    above = isinf(above) ? x + pf_ulp(f, x) : above;
    const double middle = x + (above - x) / 2;
    const double points[] = {x, middle, above};
    for (int i = 0; i < 3; i++) {
      check_conversion(t, PF_F64, points[i]);
      check_conversion(t, PF_F64, nextafter(points[i], INFINITY));
      check_conversion(t, PF_F64, nextafter(points[i], -INFINITY));
      check_conversion(t, PF_F32, (double)nextafterf((float)points[i], INFINITY));
      check_conversion(t, PF_F32, (double)nextafterf((float)points[i], -INFINITY));
    }
    x = above;
  }
}

static void test_from_wide(void **unused)
{
  (void)unused;
  for (int i = 0; i < SMALL; i++) {
    const pf_dtype t = small[i];
    const int low = t >= PF_S8 ? -4 : pf_quantum(pf_format_of(t)) - 4;
    check_midpoints(t);
    for (int j = 0; j < 30000; j++) {
      check_conversion(t, PF_F64, random_double(low, 19));
      check_conversion(t, PF_F32, (double)(float)random_double(low, 19));
      check_conversion(t, PF_F64, random_double(-1022, 1023));
      check_conversion(t, PF_S32, meaning(PF_S32, next_random() >> 32));
      check_conversion(t, PF_S32, meaning(PF_S32, next_random() >> 32 >> random_between(0, 31)));
    }
  }
}

/* s32: ends, midpoints between integers, what f32 and f64 make of it. */
static void test_s32(void **unused)
{
  (void)unused;
  for (int j = 0; j < 100000; j++) {
    const uint64_t bits = next_random() >> 32 >> (j % 3 == 0 ? random_between(0, 31) : 0);
    const double x = meaning(PF_S32, bits);
    assert_true(pf_decode(PF_S32, bits) == x && pf_encode(PF_S32, x) == bits);
    check_conversion(PF_F32, PF_S32, x);
    check_conversion(PF_BF16, PF_S32, x);
    check_conversion(PF_S32, PF_F64, x + 0.5);
    check_conversion(PF_S32, PF_F64, nextafter(x + 0.5, 0));
    check_conversion(PF_S32, PF_F64, random_double(-3, 34));
    check_conversion(PF_S32, PF_F32, (double)(float)random_double(20, 40));
  }
  for (double x = 0x1p31 - 4; x <= 0x1p31 + 4; x += 0.25) {
    check_conversion(PF_S32, PF_F64, x);
    check_conversion(PF_S32, PF_F64, -x);
  }
}

/* In plain numbers.  In fp8 the usual overflow is that of PyTorch's c10/util/Float8_*.h. */
static void test_overflow(void **unused)
{
  (void)unused;
  static const struct {
    pf_dtype t;
    double x;
    uint8_t usual, saturated;
  } cases[] = {
    {PF_F8_E4M3FN, 448, 0x7e, 0x7e},        {PF_F8_E4M3FN, 464, 0x7e, 0x7e},
    {PF_F8_E4M3FN, 465, 0x7f, 0x7e},        {PF_F8_E4M3FN, 480, 0x7f, 0x7e},
    {PF_F8_E4M3FN, -480, 0x7f, 0xfe},       {PF_F8_E4M3FN, INFINITY, 0x7f, 0x7e},
    {PF_F8_E4M3FN, -0.0, 0x80, 0x80},       {PF_F8_E4M3FN, -INFINITY, 0x7f, 0xfe},
    {PF_F8_E4M3FNUZ, 240, 0x7f, 0x7f},      {PF_F8_E4M3FNUZ, 247.9, 0x7f, 0x7f},
    {PF_F8_E4M3FNUZ, 248, 0x80, 0x7f},      {PF_F8_E4M3FNUZ, -248, 0x80, 0xff},
    {PF_F8_E4M3FNUZ, -INFINITY, 0x80, 0xff}, {PF_F8_E4M3FNUZ, -0.0, 0, 0},
    {PF_F8_E4M3FNUZ, -0x1p-12, 0, 0},       {PF_F8_E4M3FNUZ, -0x1p-10, 0x81, 0x81},
    {PF_F8_E5M2, 57344, 0x7b, 0x7b},        {PF_F8_E5M2, 61439, 0x7b, 0x7b},
    {PF_F8_E5M2, 61440, 0x7c, 0x7b},        {PF_F8_E5M2, -1e9, 0xfc, 0xfb},
    {PF_F8_E5M2, INFINITY, 0x7c, 0x7b},     {PF_F8_E5M2, -INFINITY, 0xfc, 0xfb},
    {PF_F8_E5M2FNUZ, 57344, 0x7f, 0x7f},    {PF_F8_E5M2FNUZ, 61440, 0x80, 0x7f},
    {PF_F8_E5M2FNUZ, -61439, 0xff, 0xff},   {PF_F8_E5M2FNUZ, -INFINITY, 0x80, 0xff},
    {PF_S8, 127.5, 0x80, 0x7f},             {PF_S8, 126.5, 0x7e, 0x7e},
    {PF_S8, -128.5, 0x80, 0x80},            {PF_S8, -129, 0x7f, 0x80},
    {PF_S8, 1000, 0xe8, 0x7f},              {PF_S8, INFINITY, 0x7f, 0x7f},
    {PF_U8, 255.5, 0x00, 0xff},             {PF_U8, 254.5, 0xfe, 0xfe},
    {PF_U8, -0.5, 0, 0},                    {PF_U8, -1, 0xff, 0},
    {PF_U8, 300, 44, 0xff},                 {PF_U8, -INFINITY, 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const pf_format saturating =
        with(pf_format_of(cases[i].t), PF_NEAREST_EVEN, PF_OVERFLOW_SATURATE);
    const uint64_t usual = pf_encode(cases[i].t, cases[i].x);
    const uint64_t saturated = pf_encode(cases[i].t, pf_round(&saturating, cases[i].x));
    if (usual != cases[i].usual || saturated != cases[i].saturated) {
      fail_msg("%g to %s: 0x%02x, saturated 0x%02x", cases[i].x, pf_dtype_of(cases[i].t)->name,
               (unsigned)usual, (unsigned)saturated);
    }
  }
}

/* Each rounding and policy on every midpoint; e5m2 alone may overflow to infinity. */
static void test_policies(void **unused)
{
  (void)unused;
  static const pf_rounding roundings[] = {PF_NEAREST_EVEN, PF_NEAREST_AWAY, PF_TOWARD_ZERO};
  static const pf_overflow policies[] = {PF_OVERFLOW_NAN, PF_OVERFLOW_SATURATE,
                                         PF_OVERFLOW_INFINITY};
  for (int i = 0; i < 4 * 9; i++) {
    const pf_dtype t = small[i / 9];
    const pf_format f = with(pf_format_of(t), roundings[i % 3], policies[i / 3 % 3]);
    if (f.overflow == PF_OVERFLOW_INFINITY && !f.has_infinity) {
      continue;
    }
    for (uint64_t bits = 0; bits < 65536; bits++) {
      check_as(t, &f, meaning(PF_F16, bits));
    }
    for (double x = f.max; x <= f.max + 2 * pf_ulp(&f, f.max); x += pf_ulp(&f, f.max) / 8) {
      check_as(t, &f, x);
      check_as(t, &f, -x);
    }
  }
}

static void test_markers(void **unused)
{
  (void)unused;
  for (int t = 0; t < PF_DTYPE_COUNT; t++) {
    const uint64_t bits = pf_marker_bits((pf_dtype)t);
    if (t < PF_S8) {
      assert_true(isnan(meaning((pf_dtype)t, bits)));
    } else {
      assert_true(fabs(meaning((pf_dtype)t, bits)) > 64 && bits >> 8 * pf_dtype_of(t)->bytes == 0);
    }
  }
}

/* Flush-to-zero, denormals as zero and rounding toward -infinity change nothing. */
static void load_grid_strangely(pf_dtype t, const pf_grid *from, double *to)
{
#if defined(__SSE2__)
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040 | 0x2000);
  pf_load_grid(t, from, to);
  _mm_setcsr(before);
#else
  pf_load_grid(t, from, to);
#endif
}

/* Decoding many at a time: every encoding of up to 16 bits, and random ones of the wider dtypes, row
   by row in any strides. */
static void test_grids(void **unused)
{
  (void)unused;
  static uint8_t memory[8 * 65536];
  static double got[65536];
  uint64_t seed = 41;
  print_message("seed %" PRIu64 "\n", seed);
  for (int t = 0; t < PF_DTYPE_COUNT; t++) {
    const int bytes = pf_dtype_of((pf_dtype)t)->bytes;
    for (int64_t i = 0; i < 65536; i++) {
      uint64_t bits = (uint64_t)i;
      for (int b = 16; b < 8 * bytes; b += 16)
        bits = bits << 16 | (seed = seed * 6364136223846793005u + 1442695040888963407u) >> 48;
      pf_store_bits((pf_dtype)t, memory + i * bytes, bits);
    }
    const pf_grid grids[] = {
      {memory, 1, 65536, 0, 1}, {memory, 65536, 1, 1, 0}, {memory, 256, 256, 1, 256},
      {memory + 3 * bytes, 90, 70, 700, 9}, {memory, 5, 3, 0, 0}, {memory, 0, 7, 1, 1},
      {memory, 7, 0, 1, 1},
    };
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
      const pf_grid *of = &grids[g];
      if (g & 1)
        pf_load_grid((pf_dtype)t, of, got);
      else
        load_grid_strangely((pf_dtype)t, of, got);
      for (int64_t i = 0; i < of->rows * of->columns; i++) {
        const int64_t at = i / of->columns * of->row_stride + i % of->columns * of->column_stride;
        const double expected = pf_load((pf_dtype)t, (const uint8_t *)of->data + at * bytes);
        assert_memory_equal(&got[i], &expected, sizeof expected);
      }
    }
  }
}

int main(void)
{
  printf("seed 0x%" PRIx64 "\n", RANDOM_SEED);
  mpfr_init2(exact, 53);
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_grids),
    cmocka_unit_test(test_every_encoding), cmocka_unit_test(test_from_8_bits),
    cmocka_unit_test(test_from_16_bits),   cmocka_unit_test(test_from_wide),
    cmocka_unit_test(test_s32),            cmocka_unit_test(test_overflow),
    cmocka_unit_test(test_policies),       cmocka_unit_test(test_markers),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  mpfr_clear(exact);
  mpfr_free_cache();
  return failed;
}
