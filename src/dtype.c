/* Encodings, read off the table: sign, exponent_bits, precision - 1 fraction bits, from the top.

   The bias is 1 - emin.  Where the format has infinity, the largest exponent field holds it and the
   NaNs (IEEE 754-2019, 3.4); where it has none, every encoding is a number except those above max,
   which are NaN (e4m3fn; OCP 8-bit Floating Point Specification 1.0, table 1), or, in formats
   without negative zero, the one that would be -0 (fnuz; Noune et al., 8-bit Numerical Formats for
   Deep Neural Networks, 2022).  All bits move as integers: neither flush-to-zero nor a rounding
   mode can change a value on its way. */
#include "dtype.h"

#include <endian.h>
#include <float.h>
#include <math.h>
#include <string.h>

#define DOUBLE_FRACTION 52
#define DOUBLE_BIAS 1023
#define DOUBLE_SIGN (UINT64_C(1) << 63)

#define IEEE PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, PF_SYMMETRIC
#define FINITE PF_NEAREST_EVEN, PF_OVERFLOW_NAN, PF_SYMMETRIC

static const pf_dtype_info dtypes[PF_DTYPE_COUNT] = {
  [PF_F64] = {"f64", "torch.float64", 8, 11, {53, -1022, DBL_MAX, true, true, IEEE}},
  [PF_F32] = {"f32", "torch.float32", 4, 8, {24, -126, 0x1.fffffep127, true, true, IEEE}},
  [PF_F16] = {"f16", "torch.float16", 2, 5, {11, -14, 65504, true, true, IEEE}},
  [PF_BF16] = {"bf16", "torch.bfloat16", 2, 8, {8, -126, 0x1.fep127, true, true, IEEE}},
  [PF_F8_E4M3FN] = {"f8_e4m3fn", "torch.float8_e4m3fn", 1, 4, {4, -6, 448, false, true, FINITE}},
  [PF_F8_E5M2] = {"f8_e5m2", "torch.float8_e5m2", 1, 5, {3, -14, 57344, true, true, IEEE}},
  [PF_F8_E4M3FNUZ] = {"f8_e4m3fnuz", "torch.float8_e4m3fnuz", 1, 4,
                      {4, -7, 240, false, false, FINITE}},
  [PF_F8_E5M2FNUZ] = {"f8_e5m2fnuz", "torch.float8_e5m2fnuz", 1, 5,
                      {3, -15, 57344, false, false, FINITE}},
  [PF_S8] = {"s8", "torch.int8", 1, 0,
             {8, 7, 127, false, false, PF_NEAREST_EVEN, PF_OVERFLOW_WRAP, PF_TWOS_COMPLEMENT}},
  [PF_U8] = {"u8", "torch.uint8", 1, 0,
             {9, 8, 255, false, false, PF_NEAREST_EVEN, PF_OVERFLOW_WRAP, PF_UNSIGNED}},
  [PF_S32] = {"s32", "torch.int32", 4, 0,
              {32, 31, 2147483647, false, false, PF_NEAREST_EVEN, PF_OVERFLOW_WRAP,
               PF_TWOS_COMPLEMENT}},
};

const pf_dtype_info *pf_dtype_of(pf_dtype t)
{
  return &dtypes[t];
}

const pf_format *pf_format_of(pf_dtype t)
{
  return &dtypes[t].format;
}

bool pf_dtype_find(const char *name, size_t length, pf_dtype *out)
{
  for (int t = 0; t < PF_DTYPE_COUNT; t++) {
    if (strlen(dtypes[t].name) == length && memcmp(dtypes[t].name, name, length) == 0) {
      *out = (pf_dtype)t;
      return true;
    }
  }
  return false;
}

uint64_t pf_load_bits(pf_dtype t, const void *at)
{
  uint64_t bits64;
  uint32_t bits32;
  uint16_t bits16;
  switch (dtypes[t].bytes) {
  case 8: memcpy(&bits64, at, sizeof bits64); return le64toh(bits64);
  case 4: memcpy(&bits32, at, sizeof bits32); return le32toh(bits32);
  case 2: memcpy(&bits16, at, sizeof bits16); return le16toh(bits16);
  default: return *(const uint8_t *)at;
  }
}

void pf_store_bits(pf_dtype t, void *at, uint64_t bits)
{
  const uint64_t bits64 = htole64(bits);
  const uint32_t bits32 = htole32((uint32_t)bits);
  const uint16_t bits16 = htole16((uint16_t)bits);
  switch (dtypes[t].bytes) {
  case 8: memcpy(at, &bits64, sizeof bits64); break;
  case 4: memcpy(at, &bits32, sizeof bits32); break;
  case 2: memcpy(at, &bits16, sizeof bits16); break;
  default: *(uint8_t *)at = (uint8_t)bits; break;
  }
}

static uint64_t double_to_bits(double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static double bits_to_double(uint64_t bits)
{
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* The encoding's sign bit. */
static uint64_t sign_of(const pf_dtype_info *d)
{
  return UINT64_C(1) << (8 * d->bytes - 1);
}

/* The magnitude with every exponent bit set and no fraction: infinity, where there is one. */
static uint64_t top_of(const pf_dtype_info *d)
{
  return ((UINT64_C(1) << d->exponent_bits) - 1) << (d->format.precision - 1);
}

static uint64_t nan_of(const pf_dtype_info *d)
{
  if (!d->format.has_negative_zero) {
    return sign_of(d);
  }
  return d->format.has_infinity ? top_of(d) | UINT64_C(1) << (d->format.precision - 2)
                                : sign_of(d) - 1;
}

/* What a double's exponent field has to be lowered by for the dtype's; in place, as bits. */
static uint64_t rebias_of(const pf_format *f)
{
  return (uint64_t)(DOUBLE_BIAS - (1 - f->emin)) << DOUBLE_FRACTION;
}

/* A subnormal, fraction * 2^quantum, as the normal double it is. */
static uint64_t widen_subnormal(const pf_format *f, uint64_t fraction)
{
  const int top = 63 - __builtin_clzll(fraction);
  const uint64_t field = (uint64_t)(top + pf_quantum(f) + DOUBLE_BIAS);
  return (field << DOUBLE_FRACTION) + ((fraction ^ UINT64_C(1) << top) << (DOUBLE_FRACTION - top));
}

/* Two's complement: the upper half of the encodings stands for the numbers 2^bits below. */
static double decode_integer(const pf_dtype_info *d, uint64_t bits)
{
  const double v = (double)(int64_t)(bits & (2 * sign_of(d) - 1));
  return v > d->format.max ? v - 2 * (double)sign_of(d) : v;
}

double pf_decode(pf_dtype t, uint64_t bits)
{
  const pf_dtype_info *d = &dtypes[t];
  const pf_format *f = &d->format;
  if (pf_is_integer(f)) {
    return decode_integer(d, bits);
  }
  const uint64_t magnitude = bits & (sign_of(d) - 1);
  const uint64_t sign = (bits & sign_of(d)) != 0 ? DOUBLE_SIGN : 0;
  if (d->bytes == 8) {
    return magnitude > top_of(d) ? (double)NAN : bits_to_double(bits);
  }
  if (magnitude >> (f->precision - 1) == 0) {
    if (magnitude == 0) {
      return sign != 0 && !f->has_negative_zero ? (double)NAN : bits_to_double(sign);
    }
    return bits_to_double(sign | widen_subnormal(f, magnitude));
  }
  if (f->has_infinity && magnitude == top_of(d)) {
    return bits_to_double(sign | double_to_bits((double)INFINITY));
  }
  const uint64_t wide = (magnitude << (DOUBLE_FRACTION - (f->precision - 1))) + rebias_of(f);
  return wide > double_to_bits(f->max) ? (double)NAN : bits_to_double(sign | wide);
}

uint64_t pf_encode(pf_dtype t, double value)
{
  const pf_dtype_info *d = &dtypes[t];
  const pf_format *f = &d->format;
  if (pf_is_integer(f)) {
    return (uint64_t)(int64_t)pf_round(f, value) & (2 * sign_of(d) - 1);
  }
  const uint64_t rounded = double_to_bits(pf_round(f, value));
  const uint64_t sign = (rounded & DOUBLE_SIGN) != 0 ? sign_of(d) : 0;
  const uint64_t wide = rounded & ~DOUBLE_SIGN;
  const uint64_t infinity = double_to_bits((double)INFINITY);
  if (wide >= infinity) {
    return wide > infinity ? nan_of(d) : sign | top_of(d);
  }
  if (d->bytes == 8) {
    return rounded;
  }
  if (wide >= double_to_bits(pf_smallest_normal(f))) {
    return sign | (wide - rebias_of(f)) >> (DOUBLE_FRACTION - (f->precision - 1));
  }
  if (wide == 0) {
    return sign;
  }
  const uint64_t significand = (wide & ((UINT64_C(1) << DOUBLE_FRACTION) - 1)) |
                               UINT64_C(1) << DOUBLE_FRACTION;
  const int last = (int)(wide >> DOUBLE_FRACTION) - DOUBLE_BIAS - DOUBLE_FRACTION;
  return sign | significand >> (pf_quantum(f) - last);
}

uint64_t pf_marker_bits(pf_dtype t)
{
  const pf_dtype_info *d = &dtypes[t];
  return pf_is_integer(&d->format) ? UINT64_C(0xa5a5a5a5) & (2 * sign_of(d) - 1)
                                   : pf_encode(t, (double)NAN);
}

double pf_load(pf_dtype t, const void *at)
{
  return pf_decode(t, pf_load_bits(t, at));
}

void pf_store(pf_dtype t, void *at, double value)
{
  pf_store_bits(t, at, pf_encode(t, value));
}

pf_dtype pf_promote(pf_dtype a, pf_dtype b)
{
  const pf_format *f = &dtypes[a].format, *g = &dtypes[b].format;
  if (a == b) {
    return a;
  }
  if (pf_is_integer(f) || pf_is_integer(g)) {
    return !pf_is_integer(g) ? b : !pf_is_integer(f) ? a : PF_S32;
  }
  return pf_format_contains(f, g) ? a : pf_format_contains(g, f) ? b : PF_F32;
}

bool pf_dtype_for(const pf_format *f, pf_dtype *out)
{
  bool found = false;
  for (int t = 0; t < PF_DTYPE_COUNT; t++) {
    pf_format same = dtypes[t].format;
    same.rounding = f->rounding;
    same.overflow = f->overflow;
    if (pf_format_equal(&same, f)) {
      *out = (pf_dtype)t;
      return true;
    }
    if (dtypes[t].bytes > 1 && pf_format_contains(&dtypes[t].format, f) &&
        (!found || dtypes[t].bytes < dtypes[*out].bytes)) {
      *out = (pf_dtype)t;
      found = true;
    }
  }
  return found;
}
