/* Non-negative exact numbers as fixed point in limbs of 64 bits, wide enough for sums of products
   of three doubles.  The tests' own arithmetic: no MPFR, no rounding but where it is asked for. */
#ifndef PF_EXACT_INTEGER_H
#define PF_EXACT_INTEGER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* frexp puts 53 bits below the leading one of every double, subnormals too: a product of three
   has no bit below 2^BASE. */
enum { BASE = 3 * (-1074 - 52), LIMBS = 104 };

/* The sum of limb[i] * 2^(64 i + BASE). */
typedef struct big {
  uint64_t limb[LIMBS];
} big;

__extension__ typedef unsigned __int128 uint128;

static uint64_t split(double x, int *exponent)
{
  const double fraction = frexp(fabs(x), exponent);
  *exponent -= 53;
  return (uint64_t)ldexp(fraction, 53);
}

/* to += |a * x * y| */
static void big_add(big *to, double a, double x, double y)
{
  int ea, ex, ey;
  const uint64_t ma = split(a, &ea), mx = split(x, &ex), my = split(y, &ey);
  const uint128 xy = (uint128)mx * my;
  const uint128 low = (uint128)(uint64_t)xy * ma;
  const uint128 high = (uint128)(uint64_t)(xy >> 64) * ma + (uint64_t)(low >> 64);
  const uint64_t part[5] = {0, (uint64_t)low, (uint64_t)high, (uint64_t)(high >> 64), 0};
  const int shift = ea + ex + ey - BASE, word = shift / 64, bit = shift % 64;
  uint64_t carry = 0;
  for (int i = 0; i < 4 || carry; i++) {
    uint128 sum = carry;
    if (i < 4) sum += part[i + 1] << bit | (bit ? part[i] >> (64 - bit) : 0);
    sum += to->limb[word + i];
    to->limb[word + i] = (uint64_t)sum;
    carry = (uint64_t)(sum >> 64);
  }
}

/* out = |a - b|; the sign of a - b. */
static int big_subtract(const big *a, const big *b, big *out)
{
  int top = LIMBS - 1;
  while (top > 0 && a->limb[top] == b->limb[top]) top--;
  if (a->limb[top] < b->limb[top]) return -big_subtract(b, a, out);
  uint64_t borrow = 0;
  for (int i = 0; i < LIMBS; i++) {
    const uint128 d = (uint128)a->limb[i] - b->limb[i] - borrow;
    out->limb[i] = (uint64_t)d;
    borrow = (uint64_t)(d >> 64) & 1;
  }
  return a->limb[top] > b->limb[top];
}

static int big_length(const big *a)
{
  int i = LIMBS - 1;
  while (i >= 0 && !a->limb[i]) i--;
  if (i < 0) return 0;
  int bits = 0;
  for (uint64_t l = a->limb[i]; l; l >>= 1) bits++;
  return 64 * i + bits;
}

static uint64_t big_bit(const big *a, int at)
{
  return at < 64 * LIMBS ? a->limb[at / 64] >> (at % 64) & 1 : 0;
}

static bool big_any_below(const big *a, int at)
{
  uint64_t any = 0;
  for (int i = 0; i < at && i < 64 * LIMBS; i += 64) {
    const uint64_t l = a->limb[i / 64];
    any |= at - i < 64 ? l & (((uint64_t)1 << (at - i)) - 1) : l;
  }
  return any != 0;
}

typedef enum direction { DOWN, UP, EVEN, AWAY } direction;

/* a * 2^-scale to `precision` bits, none below 2^quantum; 2^1024 and more is infinite. */
static double big_round(const big *a, int scale, int precision, int quantum, direction to)
{
  const int length = big_length(a);
  if (!length) return 0;
  const int lowest = quantum - BASE + scale;
  const int unit = length - precision > lowest ? length - precision : lowest;
  uint64_t significand = 0;
  for (int i = length - 1; i >= unit; i--) significand = significand << 1 | big_bit(a, i);
  const bool half = big_bit(a, unit - 1), below = big_any_below(a, unit - 1);
  if (to == UP) significand += half || below;
  if (to == EVEN) significand += half && (below || (significand & 1));
  if (to == AWAY) significand += half;
  return ldexp((double)significand, unit + BASE - scale);
}

static double big_double(const big *a, int scale, direction to)
{
  return big_round(a, scale, 53, -1074, to);
}

#endif
