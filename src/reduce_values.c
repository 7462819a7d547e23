/* Simpler values: a whole tensor's, then those of halves, down to one element at a time. */
#include <math.h>
#include <string.h>

#include "reduce_parts.h"

/* --- one value ----------------------------------------------------------------------------- */

enum {
  ZERO, ONE, MINUS_ONE, POSITIVE, POWER_BELOW, POWER_ABOVE, BEYOND_ONE, HALF_SIGNIFICAND,
  LAST_BIT_DOWN, LAST_BIT_UP, ENDS, HALF_EXPONENT, LESS_EXPONENT
};

/* The significand's bits down to the last one that is set. */
static int length_of(double significand)
{
  return 53 - __builtin_ctzll((uint64_t)ldexp(fabs(significand), 53));
}

/* A finite value other than 0 with a shorter significand or a smaller exponent. */
static double shorten(double v, int how)
{
  int exponent;
  const double significand = frexp(v, &exponent), sign = copysign(1, v);
  const int length = length_of(significand), power = exponent - 1;
  switch (how) {
  case POWER_BELOW: return ldexp(sign, power);
  case POWER_ABOVE: return ldexp(sign, power + (length > 1));
  case ENDS: return ldexp(sign, power) + (length > 1 ? ldexp(sign, exponent - length) : 0);
  case HALF_SIGNIFICAND:
    return ldexp(trunc(ldexp(significand, (length + 1) / 2)), exponent - (length + 1) / 2);
  case LAST_BIT_DOWN: return ldexp(trunc(ldexp(significand, length - 1)), exponent - length + 1);
  case LAST_BIT_UP:
    return ldexp(trunc(ldexp(significand, length - 1)) + sign, exponent - length + 1);
  case HALF_EXPONENT: return ldexp(v, power / 2 - power);
  default: return ldexp(v, power > 0 ? -1 : power < 0);
  }
}

/* BEYOND_ONE: so large that the dtype lacks the sum with 1; the two round where it took long
   significands before. */
static double simplify(pf_dtype t, double v, int how)
{
  switch (how) {
  case ZERO: return 0;
  case ONE: return 1;
  case MINUS_ONE: return -1;
  case POSITIVE: return fabs(v);
  case BEYOND_ONE: return ldexp(copysign(1, v), pf_format_of(t)->precision);
  default: return v == 0 || !isfinite(v) ? v : shorten(v, how);
  }
}

bool pf_simpler_value(pf_dtype t, uint64_t bits, int how, uint64_t *out)
{
  *out = pf_encode(t, simplify(t, pf_decode(t, bits), how));
  return *out != bits && pf_burden_of_value(t, *out) < pf_burden_of_value(t, bits);
}

/* --- pieces -------------------------------------------------------------------------------- */

/* The length of pieces after n: half of it, rounded up; 0 after 1. */
static int64_t next_length(int64_t length)
{
  return length > 1 ? (length + 1) / 2 : 0;
}

int64_t pf_pieces_count(int64_t n)
{
  int64_t count = 0;
  for (int64_t length = n; length; length = next_length(length))
    count += (n + length - 1) / length;
  return count;
}

pf_piece pf_pieces_at(int64_t n, int64_t index)
{
  int64_t length = n;
  while (index >= (n + length - 1) / length) {
    index -= (n + length - 1) / length;
    length = next_length(length);
  }
  const int64_t from = index * length;
  return (pf_piece){from, n - from < length ? n - from : length};
}

/* --- tensors ------------------------------------------------------------------------------- */

int64_t pf_values_count(const pf_case *c, int role)
{
  const pf_operand *o = &c->operand[role];
  return o->present ? pf_pieces_count(pf_operand_count(o)) * PF_SIMPLER_VALUES : 0;
}

/* Those elements of the piece that become simpler do. */
pf_status pf_values_make(int role, int64_t index, pf_arena *a, pf_case *c)
{
  pf_operand *o = &c->operand[role];
  const int64_t count = pf_operand_count(o);
  const size_t each = (size_t)pf_dtype_of(o->dtype)->bytes, bytes = (size_t)count * each;
  const pf_piece piece = pf_pieces_at(count, index / PF_SIMPLER_VALUES);
  const uint8_t *from = o->values.verbatim;
  uint8_t *to = NULL;
  for (int64_t i = piece.from; i < piece.from + piece.length; i++) {
    uint64_t bits;
    if (!pf_simpler_value(o->dtype, pf_load_bits(o->dtype, from + (size_t)i * each),
                          (int)(index % PF_SIMPLER_VALUES), &bits))
      continue;
    if (!to) {
      to = pf_alloc_raw(a, bytes);
      if (!to)
        return PF_NO_MEMORY;
      memcpy(to, from, bytes);
    }
    pf_store_bits(o->dtype, to + (size_t)i * each, bits);
  }
  if (!to)
    return PF_UNSUPPORTED;
  o->values.verbatim = to;
  return PF_OK;
}
