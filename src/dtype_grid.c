/* Decoding many encodings at once: gathered as integers, then decoded without a branch, several in
   a vector where the machine has AVX2.  As in dtype.c neither flush-to-zero nor a rounding mode can
   change a value: what arithmetic there is, is exact and on normal numbers. */
#include <endian.h>
#include <math.h>
#include <string.h>

#include "dtype.h"

enum {
  RUN = 64,  /* encodings decoded at a time */
  WHOLE = 4  /* of them, what a vector takes */
};

static inline __attribute__((always_inline)) void gather(int bytes, const uint8_t *at,
                                                         int64_t step, int count, uint64_t *to)
{
  for (int i = 0; i < count; i++, at += step) {
    uint64_t bits = 0;
    memcpy(&bits, at, (size_t)bytes);
    to[i] = le64toh(bits);
  }
}

static void gather_bits(int bytes, const uint8_t *at, int64_t step, int count, uint64_t *to)
{
  switch (bytes) {
  case 8: gather(8, at, step, count, to); break;
  case 4: gather(4, at, step, count, to); break;
  case 2: gather(2, at, step, count, to); break;
  default: gather(1, at, step, count, to); break;
  }
}

#define SIGN (UINT64_C(1) << 63)

static uint64_t bits_of(double x)
{
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* Any NaN becomes the one that pf_decode gives. */
static void decode_f64(const uint64_t *bits, int count, double *to)
{
  const uint64_t nan = bits_of((double)NAN), infinity = bits_of((double)INFINITY);
  for (int i = 0; i < count; i++) {
    const uint64_t one = (bits[i] & ~SIGN) > infinity ? nan : bits[i];
    memcpy(to + i, &one, sizeof one);
  }
}

/* The sign bit stands for its negative: 0 where there is none. */
static void decode_integers(int64_t sign_bit, const uint64_t *bits, int count, double *to)
{
  for (int i = 0; i < count; i++)
    to[i] = (double)(((int64_t)bits[i] ^ sign_bit) - sign_bit);
}

#if defined(__x86_64__)
typedef uint64_t words __attribute__((vector_size(8 * WHOLE)));
typedef int64_t numbers __attribute__((vector_size(8 * WHOLE)));  /* masks, and words below 2^63 */
typedef double doubles __attribute__((vector_size(8 * WHOLE)));

/* mask ? a : b, lane by lane. */
#define SELECT(mask, a, b) (((words)(mask) & (a)) | (~(words)(mask) & (b)))

/* Floats of at most 32 bits; `bits` and `to` have room for whole vectors. */
__attribute__((target("avx2"))) static void decode_avx2(pf_dtype t, const uint64_t *bits, int count,
                                                        double *to)
{
  const pf_dtype_info *info = pf_dtype_of(t);
  const pf_format *f = &info->format;
  const uint64_t sign_bit = UINT64_C(1) << (8 * info->bytes - 1);
  const uint64_t nan = bits_of((double)NAN), infinity = bits_of((double)INFINITY);
  const uint64_t rebias = (uint64_t)(1022 + f->emin) << 52;
  const int64_t normal = INT64_C(1) << (f->precision - 1), max = (int64_t)bits_of(f->max);
  /* Encodings of no number; those that there are not, do not occur. */
  const uint64_t top = f->has_infinity ? sign_bit - (uint64_t)normal : UINT64_MAX;
  const uint64_t negative_zero = f->has_negative_zero ? UINT64_MAX : sign_bit;
  const words quantum = (words){} + ((uint64_t)(1023 + pf_quantum(f)) << 52);
  for (int i = 0; i < count; i += WHOLE) {
    words b;
    memcpy(&b, bits + i, sizeof b);
    const words magnitude = b & (sign_bit - 1), sign = (b & sign_bit) << (64 - 8 * info->bytes);
    /* A subnormal's fraction is an integer, which 2^52 takes into a double; the sign bit goes since
       2^52 - 2^52 is -0 where rounding is toward -infinity. */
    const doubles units = (doubles)(magnitude | bits_of(0x1p52)) - 0x1p52;
    const words subnormal = (words)(units * (doubles)quantum) & ~SIGN;
    words wide = (magnitude << (53 - f->precision)) + rebias;
    wide = SELECT((numbers)magnitude < normal, subnormal, wide);
    const words beyond = SELECT(magnitude == top, sign | infinity, (words){} + nan);
    wide = SELECT((numbers)wide > max, beyond, wide | sign);
    wide = SELECT(b == negative_zero, (words){} + nan, wide);
    memcpy(to + i, &wide, sizeof wide);
  }
}
#endif

static void decode_floats(pf_dtype t, const uint64_t *bits, int count, double *to)
{
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    double whole[RUN];
    decode_avx2(t, bits, count, whole);
    memcpy(to, whole, (size_t)count * sizeof *to);
    return;
  }
#endif
  for (int i = 0; i < count; i++)
    to[i] = pf_decode(t, bits[i]);
}

static void decode(pf_dtype t, const uint64_t *bits, int count, double *to)
{
  const pf_format *f = pf_format_of(t);
  if (t == PF_F64)
    decode_f64(bits, count, to);
  else if (pf_is_integer(f))
    decode_integers(f->range == PF_UNSIGNED ? 0 : INT64_C(1) << (f->precision - 1), bits, count,
                    to);
  else
    decode_floats(t, bits, count, to);
}

void pf_load_grid(pf_dtype t, const pf_grid *from, double *to)
{
  const int bytes = pf_dtype_of(t)->bytes;
  const int64_t step = from->column_stride * bytes;
  uint64_t bits[RUN];
  int used = 0;
  for (int64_t i = 0; i < from->rows; i++) {
    const uint8_t *at = (const uint8_t *)from->data + i * from->row_stride * bytes;
    for (int64_t j = 0; j < from->columns;) {
      const int64_t left = from->columns - j;
      const int n = left < RUN - used ? (int)left : RUN - used;
      gather_bits(bytes, at + j * step, step, n, bits + used);
      used += n;
      j += n;
      if (used == RUN) {
        decode(t, bits, RUN, to);
        to += RUN;
        used = 0;
      }
    }
  }
  for (int i = used; i % WHOLE; i++)
    bits[i] = 0;
  decode(t, bits, used, to);
}
