/* Bytes to a chain of formats and values of its first one.

   A conversion can only fail where its answer jumps: at the midpoints of the formats of the chain,
   at their ends and at their specials.  So a record names a point of that kind in one of them, by
   the number of an encoding, and gives the value of the first format that is nearest to it and both
   of that one's neighbours. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "cast.h"
#include "reader.h"

/* One conversion as often as a chain of two or three, or of a row. */
static void read_chain(pf_reader *r, const pf_cast_rows *rows, pf_cast_chain *out)
{
  static const int conversions[] = {1, 1, 2, 3};
  const uint8_t head = pf_read_u8(r);
  if (head % 8 == 7) {
    *out = rows->chain[pf_read_le(r, 2) % (uint64_t)rows->count];
    return;
  }
  out->count = 1 + conversions[head / 8 % 4];
  for (int i = 0; i < out->count; i++) {
    const pf_format f = pf_cast_format(pf_read_u8(r) % pf_cast_pool());
    const int knob = pf_read_u8(r);
    /* What a value was rounded by says nothing of it: the first format is as it is. */
    const int variant = i == 0 || knob % 2 == 0 ? 0 : knob / 2 % pf_cast_variants(&f);
    out->format[i] = pf_cast_variant(&f, variant);
    /* A store keeps the low bits of a float, a CAST saturates. */
    if (i > 0 && knob < 0xc0)
      out->format[i] = pf_conversion(&out->format[i], &out->format[i - 1]);
  }
}

/* Values of f from zero to the largest one; they number as in every encoding. */
static uint64_t count_magnitudes(const pf_format *f)
{
  if (pf_is_integer(f))
    return (uint64_t)f->max + 1;
  int e;
  const double significand = ldexp(frexp(f->max, &e), f->precision);
  const uint64_t hidden = (uint64_t)1 << (f->precision - 1);
  return (uint64_t)(e - 1 - f->emin) * hidden + (uint64_t)significand + 1;
}

static double nth_magnitude(const pf_format *f, uint64_t n)
{
  const uint64_t hidden = (uint64_t)1 << (f->precision - 1);
  if (pf_is_integer(f) || n < hidden)
    return ldexp((double)n, pf_quantum(f));
  return ldexp((double)(n % hidden + hidden), pf_quantum(f) + (int)(n / hidden) - 1);
}

static double special(uint64_t word)
{
  static const double values[] = {0, INFINITY, NAN, DBL_MAX, 0x1p-1074, 1, 0x1p52, 0x1p31};
  return values[word % 8];
}

/* Where f's range ends: from its largest value to what is twice as far out. */
static double beyond(const pf_format *f, uint64_t word)
{
  const double end = word / 8 % 2 ? fmax(f->max, -pf_lowest(f)) : f->max;
  return word % 8 == 7 ? 2 * end : end + (double)(word % 8) * pf_ulp(f, end) / 4;
}

/* Where f's subnormals begin and end. */
static double around_least(const pf_format *f, uint64_t word)
{
  const double quantum = ldexp(1, pf_quantum(f));
  return word / 8 % 2 ? pf_smallest_normal(f) - (double)(word % 4) * quantum / 2
                      : (double)(word % 8) * quantum / 4;
}

enum { VALUE, END, LEAST, SPECIAL, QUARTERS, MIDPOINT, KINDS = 8 };  /* the rest: midpoints, too */

static double magnitude(const pf_format *f, int kind, uint64_t word)
{
  const double v = nth_magnitude(f, word % count_magnitudes(f));
  switch (kind) {
  case VALUE: return v;
  case END: return beyond(f, word);
  case LEAST: return around_least(f, word);
  case SPECIAL: return special(word);
  case QUARTERS: return (double)(word % 4096) / 4;
  default: return v + pf_ulp(f, v) / 2;
  }
}

/* The nearest value of f that is one; x itself where it is no number, if f has it. */
static double nearest(const pf_format *f, double x)
{
  pf_format near = *f;
  if (isfinite(x))
    near.overflow = PF_OVERFLOW_SATURATE;
  return pf_mpfr_round(&near, x);
}

static void read_record(pf_reader *r, const pf_cast_chain *c, uint64_t *word, double *values)
{
  const pf_format *from = &c->format[0];
  const uint64_t lap = r->size > 0 ? r->next / r->size : r->next;
  const int kind = (int)((pf_read_u8(r) + lap) % 256);
  const int which = pf_read_u8(r);
  *word = pf_read_le(r, 8) + lap * 0x9e3779b97f4a7c15;
  /* nothing is rounded to the first format */
  const int first = kind % KINDS >= MIDPOINT;
  const pf_format *f = &c->format[first + which % (c->count - first)];
  const pf_format *other = &c->format[which / 16 % c->count];
  double x = magnitude(f, kind % KINDS, *word);
  /* a midpoint of another format beside it, for what ties twice */
  if (kind / 8 % 4 == 3 && isfinite(x))
    x += (kind / 32 % 2 ? -0.5 : 0.5) * pf_ulp(other, x);
  x = nearest(from, kind / 64 % 2 ? -x : x);
  values[0] = x;
  values[1] = nearest(from, pf_next_up(from, x));
  values[2] = nearest(from, pf_next_down(from, x));
}

void pf_cast_decode(const uint8_t *data, size_t size, const pf_cast_rows *rows,
                    pf_cast_input *out)
{
  pf_reader r = {.data = data, .size = size};
  read_chain(&r, rows, &out->chain);
  for (int i = 0; i < PF_CAST_RECORDS; i++)
    read_record(&r, &out->chain, &out->word[i], &out->value[3 * i]);
}
