/* The table, promotion, bytes in memory; encodings of IEEE formats: every 16-bit one, f32 and f64
   densely, and the exact bits each double is stored as.  Those of 8 bits and of integers are in
   test_dtype_small.c. */
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

#include "dtype.h"

#define SEED UINT64_C(0x6474797065203031)

static uint64_t state = SEED;

static uint64_t next_random(void) /* splitmix64, Steele, Lea, Flood, OOPSLA 2014 */
{
  uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static uint64_t bits_of(double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static double double_of(uint64_t bits)
{
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static float float_of(uint32_t bits)
{
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static uint32_t float_bits_of(float x)
{
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

enum { IEEE_DTYPES = PF_BF16 + 1 }; /* f64, f32, f16 and bf16 */

static void test_table(void **unused)
{
  (void)unused;
  static const char *const names[] = {
    "f64",     "f32",         "f16",         "bf16", "f8_e4m3fn",
    "f8_e5m2", "f8_e4m3fnuz", "f8_e5m2fnuz", "s8",   "u8",  "s32"};
  static const char *const torch[] = {
    "float64",     "float32",         "float16",         "bfloat16", "float8_e4m3fn",
    "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "int8",     "uint8", "int32"};
  static const int bytes[] = {8, 4, 2, 2, 1, 1, 1, 1, 1, 1, 4};
  assert_int_equal(PF_DTYPE_COUNT, 11);
  for (int t = 0; t < PF_DTYPE_COUNT; t++) {
    const pf_dtype_info *d = pf_dtype_of((pf_dtype)t);
    pf_dtype found = PF_DTYPE_COUNT;
    assert_string_equal(d->name, names[t]);
    assert_memory_equal(d->torch, "torch.", 6);
    assert_string_equal(d->torch + 6, torch[t]);
    assert_int_equal(d->bytes, bytes[t]);
    assert_true(pf_dtype_find(names[t], strlen(names[t]), &found) && found == (pf_dtype)t);
    assert_ptr_equal(pf_format_of((pf_dtype)t), &d->format);
    assert_int_equal(pf_is_integer(&d->format), t >= PF_S8);
  }
  for (int t = 0; t < IEEE_DTYPES; t++) {
    const pf_dtype_info *d = pf_dtype_of((pf_dtype)t);
    const int p = d->format.precision;
    assert_int_equal(1 + d->exponent_bits + p - 1, 8 * d->bytes);
    assert_int_equal(d->format.emin, 2 - (1 << (d->exponent_bits - 1)));
    assert_true(d->format.max == ldexp(2 - ldexp(1, 1 - p), 1 - d->format.emin));
  }
  pf_dtype out = PF_F16;
  assert_false(pf_dtype_find("bf", 2, &out) || pf_dtype_find("f321", 4, &out));
  assert_false(pf_dtype_find("", 0, &out) || pf_dtype_find("F32", 3, &out));
  assert_false(pf_dtype_find("f8_e4m3", 7, &out) || pf_dtype_find("s3", 2, &out));
  assert_true(pf_dtype_find("bf16[3]", 4, &out) && out == PF_BF16);
}

/* What IEEE 754-2019, 3.4 says an encoding means; by ldexp, not by moving bits. */
static double meaning(pf_dtype t, uint64_t bits)
{
  const pf_dtype_info *d = pf_dtype_of(t);
  const int fraction_bits = 8 * d->bytes - 1 - d->exponent_bits;
  const int field = (int)(bits >> fraction_bits) & ((1 << d->exponent_bits) - 1);
  const int bias = (1 << (d->exponent_bits - 1)) - 1;
  const double fraction = (double)(bits & ((UINT64_C(1) << fraction_bits) - 1));
  double x;
  if (field == (1 << d->exponent_bits) - 1) {
    x = fraction == 0 ? (double)INFINITY : (double)NAN;
  } else if (field == 0) {
    x = ldexp(fraction, 1 - bias - fraction_bits);
  } else {
    x = ldexp(fraction + ldexp(1, fraction_bits), field - bias - fraction_bits);
  }
  return (bits >> (8 * d->bytes - 1)) != 0 ? -x : x;
}

static const pf_dtype sixteen[] = {PF_F16, PF_BF16};
static const uint64_t quiet_nan[IEEE_DTYPES] = {UINT64_C(0x7ff8000000000000), 0x7fc00000, 0x7e00,
                                                0x7fc0};

static void check_encoding(pf_dtype t, uint64_t bits)
{
  const double want = meaning(t, bits);
  const double got = pf_decode(t, bits);
  if (isnan(want)) {
    assert_true(isnan(got));
    assert_int_equal(pf_encode(t, got), quiet_nan[t]);
  } else {
    assert_int_equal(bits_of(got), bits_of(want));
    assert_int_equal(pf_encode(t, got), bits);
  }
}

/* The doubles between the magnitudes n and n + 1: whose encoding they must get is plain.  This
   needs no reference for rounding, and catches a store that truncates, rounds ties away or rounds
   subnormals and the step to infinity differently from the rest. */
static void check_between(pf_dtype t, uint64_t n)
{
  const pf_dtype_info *d = pf_dtype_of(t);
  const uint64_t sign = UINT64_C(1) << (8 * d->bytes - 1);
  const double x = meaning(t, n);
  double above = meaning(t, n + 1);
  above = isinf(above) ? ldexp(1, 2 - d->format.emin) : above;
  const double middle = x + (above - x) / 2;
  const uint64_t even = n + (n & 1);
  assert_int_equal(pf_encode(t, middle), even);
  assert_int_equal(pf_encode(t, -middle), even | sign);
  assert_int_equal(pf_encode(t, nextafter(middle, 0)), n);
  assert_int_equal(pf_encode(t, nextafter(middle, INFINITY)), n + 1);
  assert_int_equal(pf_encode(t, nextafter(x, INFINITY)), n);
  assert_int_equal(pf_encode(t, -nextafter(above, 0)), (n + 1) | sign);
}

static void test_every_16_bit_encoding(void **unused)
{
  (void)unused;
  for (int i = 0; i < 2; i++) {
    for (uint64_t bits = 0; bits < 65536; bits++) {
      check_encoding(sixteen[i], bits);
    }
    uint64_t n = 0;
    for (; !isinf(meaning(sixteen[i], n)); n++) {
      check_between(sixteen[i], n);
    }
    print_message("%s: %" PRIu64 " finite magnitudes\n", pf_dtype_of(sixteen[i])->name, n);
  }
}

static void check_f32(uint32_t bits)
{
  const float x = float_of(bits);
  const double got = pf_decode(PF_F32, bits);
  if (isnan(x)) {
    assert_true(isnan(got));
  } else {
    assert_int_equal(bits_of(got), bits_of((double)x));
    assert_int_equal(pf_encode(PF_F32, got), bits);
  }
}

static void test_f32(void **unused)
{
  (void)unused;
  static const uint32_t fractions[] = {0, 1, 2, 0x3fffff, 0x400000, 0x400001, 0x7ffffe, 0x7fffff};
  for (uint32_t field = 0; field < 512; field++) {
    for (int i = 0; i < 8; i++) {
      check_encoding(PF_F32, field << 23 | fractions[i]);
      if (field < 255) {
        check_between(PF_F32, field << 23 | fractions[i]);
      }
    }
  }
  for (int i = 0; i < 4000000; i++) {
    const uint64_t random = next_random();
    check_f32((uint32_t)random);
    check_f32((uint32_t)(random >> 32) & UINT32_C(0x80ffffff));
    const double x = (double)float_of((uint32_t)random) * (1 + 0x1p-30 * (double)(random >> 40));
    if (!isnan(x)) {
      assert_int_equal(pf_encode(PF_F32, x), float_bits_of((float)x));
    }
  }
}

static void test_f64(void **unused)
{
  (void)unused;
  for (uint64_t field = 0; field < 4096; field++) {
    check_encoding(PF_F64, field << 52);
    check_encoding(PF_F64, field << 52 | 1);
    check_encoding(PF_F64, field << 52 | UINT64_C(0xfffffffffffff));
    check_encoding(PF_F64, field << 52 | next_random() >> 12);
  }
  for (int i = 0; i < 1000000; i++) {
    const uint64_t bits = next_random() & (i % 2 == 0 ? UINT64_MAX : UINT64_C(0x800fffffffffffff));
    if (!isnan(double_of(bits))) {
      assert_int_equal(bits_of(pf_decode(PF_F64, bits)), bits);
      assert_int_equal(pf_encode(PF_F64, double_of(bits)), bits);
    }
  }
}

/* Little endian, at any address, and nothing written beside the element. */
static void test_bytes(void **unused)
{
  (void)unused;
  static const uint8_t encoded[PF_DTYPE_COUNT][8] = {
    [PF_F64] = {0x01, 0, 0, 0, 0, 0, 0xf0, 0x3f},
    [PF_F32] = {0x01, 0, 0x80, 0x3f},
    [PF_F16] = {0x01, 0x3c},
    [PF_BF16] = {0x81, 0x3f},
    [PF_F8_E4M3FN] = {0x39},
    [PF_F8_E5M2] = {0x3d},
    [PF_F8_E4M3FNUZ] = {0x41},
    [PF_F8_E5M2FNUZ] = {0x41},
    [PF_S8] = {0xfe},
    [PF_U8] = {0xfe},
    [PF_S32] = {0xfe, 0x01, 0x02, 0x83},
  };
  static const double value[PF_DTYPE_COUNT] = {
    1 + 0x1p-52, 1 + 0x1p-23, 1 + 0x1p-10, 1 + 0x1p-7, 1.125, 1.25, 1.125, 1.25,
    -2,          254,         (double)0x830201fe - 0x1p32};
  for (int i = 0; i < PF_DTYPE_COUNT; i++) {
    const pf_dtype t = (pf_dtype)i;
    const size_t bytes = (size_t)pf_dtype_of(t)->bytes;
    for (size_t offset = 1; offset <= 9; offset++) {
      uint8_t memory[24];
      uint8_t want[24];
      memset(memory, 0xa5, sizeof memory);
      memset(want, 0xa5, sizeof want);
      memcpy(want + offset, encoded[t], bytes);
      pf_store(t, memory + offset, value[t]);
      assert_memory_equal(memory, want, sizeof memory);
      assert_true(pf_load(t, memory + offset) == value[t]);
      const uint64_t bits = pf_load_bits(t, memory + offset);
      pf_store_bits(t, memory + offset, ~bits);
      for (size_t j = 0; j < bytes; j++) {
        want[offset + j] = (uint8_t)~want[offset + j];
      }
      assert_memory_equal(memory, want, sizeof memory);
    }
  }
}

/* A library may leave flush-to-zero on; what bytes mean must not depend on it. */
static void test_environment(void **unused)
{
  (void)unused;
#if defined(__SSE2__)
  double between[PF_DTYPE_COUNT]; /* 2.75 quanta; f64 has no such number */
  double three[PF_DTYPE_COUNT];
  uint64_t decoded[PF_DTYPE_COUNT];
  uint64_t encoded[PF_DTYPE_COUNT];
  for (int t = 0; t < PF_DTYPE_COUNT; t++) {
    between[t] = ldexp(2.75, pf_quantum(pf_format_of((pf_dtype)t)));
    three[t] = ldexp(3, pf_quantum(pf_format_of((pf_dtype)t)));
  }
  const unsigned int before = _mm_getcsr();
  _mm_setcsr(before | 0x8040 | 0x6000); /* FTZ, DAZ, rounding toward zero */
  for (int t = 0; t < PF_DTYPE_COUNT; t++) {
    decoded[t] = bits_of(pf_decode((pf_dtype)t, 3));
    encoded[t] = pf_encode((pf_dtype)t, between[t]);
  }
  _mm_setcsr(before);
  for (int t = 0; t < PF_DTYPE_COUNT; t++) {
    assert_int_equal(decoded[t], bits_of(three[t]));
    assert_int_equal(encoded[t], 3);
  }
#else
  skip();
#endif
}

static void test_promote(void **unused)
{
  (void)unused;
  static const char *const want[PF_DTYPE_COUNT] = {
    /* by row and column: f64 f32 f16 bf16, the fp8, s8 u8 s32, in hexadecimal */
    "00000000000", "01111111111", "01212222222", "01133333333",
    "01234111444", "01231511555", "01231161666", "01231117777",
    "012345678aa", "01234567a9a", "01234567aaa",
  };
  for (int a = 0; a < PF_DTYPE_COUNT; a++) {
    for (int b = 0; b < PF_DTYPE_COUNT; b++) {
      const int promoted = (int)pf_promote((pf_dtype)a, (pf_dtype)b);
      assert_int_equal("0123456789a"[promoted], want[a][b]);
    }
  }
}

static void test_dtype_for(void **unused)
{
  (void)unused;
  pf_dtype out = PF_DTYPE_COUNT;
  for (int t = 0; t < PF_DTYPE_COUNT; t++) {
    pf_format f = *pf_format_of((pf_dtype)t);
    assert_true(pf_dtype_for(&f, &out) && out == (pf_dtype)t);
    f.overflow = PF_OVERFLOW_SATURATE;
    f.rounding = PF_TOWARD_ZERO;
    assert_true(pf_dtype_for(&f, &out) && out == (pf_dtype)t);
  }
  assert_true(pf_dtype_for(&pf_tf32, &out) && out == PF_F32);
  /* What 8 bits could hold, but is none of their formats, goes to a wider float. */
  pf_format f = {3, -1, 7, true, true, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, PF_SYMMETRIC};
  assert_true(pf_dtype_for(&f, &out) && pf_dtype_of(out)->bytes == 2);
  f = (pf_format){4, -6, 240, false, true, PF_NEAREST_EVEN, PF_OVERFLOW_NAN, PF_SYMMETRIC};
  assert_true(pf_dtype_for(&f, &out) && pf_dtype_of(out)->bytes == 2);
  f = (pf_format){32, -126, FLT_MAX, true, true, PF_TOWARD_ZERO, 0, PF_SYMMETRIC};
  assert_true(pf_dtype_for(&f, &out) && out == PF_F64);
  f = (pf_format){54, -1022, DBL_MAX, true, true, PF_NEAREST_EVEN, 0, PF_SYMMETRIC};
  assert_false(pf_dtype_for(&f, &out));
}

int main(void)
{
  printf("seed 0x%" PRIx64 "\n", SEED);
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_table),       cmocka_unit_test(test_every_16_bit_encoding),
    cmocka_unit_test(test_f32),         cmocka_unit_test(test_f64),
    cmocka_unit_test(test_bytes),       cmocka_unit_test(test_environment),
    cmocka_unit_test(test_promote),     cmocka_unit_test(test_dtype_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
