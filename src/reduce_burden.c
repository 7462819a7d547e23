/* How far a case is from simple. */
#include <math.h>
#include <stdlib.h>

#include "reduce_parts.h"

/* A finite value other than 0, 1 and -1 counts so much for each bit of its significand down to the
   last one that is set, so much for each that is set, and twice its exponent; none of these reaches
   the one before. */
static const uint64_t length_burden = 1 << 18, bit_burden = 1 << 12;
static const uint64_t infinity_burden = 1 << 25, nan_burden = 1 << 26;

static uint64_t burden_of_significand(double v)
{
  int exponent;
  const uint64_t whole = (uint64_t)ldexp(fabs(frexp(v, &exponent)), 53);
  return length_burden * (uint64_t)(52 - __builtin_ctzll(whole)) +
         bit_burden * (uint64_t)(__builtin_popcountll(whole) - 1);
}

uint64_t pf_burden_of_value(pf_dtype t, uint64_t bits)
{
  const double v = pf_decode(t, bits);
  const uint64_t sign = signbit(v) != 0;
  if (isnan(v))
    return nan_burden + (bits != pf_encode(t, NAN));
  if (isinf(v))
    return infinity_burden + sign;
  if (v == 0)
    return sign ? 3 : 0;
  if (fabs(v) == 1)
    return sign ? 2 : 1;
  return 4 + 2 * (uint64_t)abs(ilogb(v)) + sign + burden_of_significand(v);
}

static uint64_t burden_of_scalar(const pf_case *c, double v)
{
  const bool f64 = c->operand[PF_X].dtype == PF_F64 || c->operand[PF_Y].dtype == PF_F64;
  const pf_dtype t = f64 ? PF_F64 : PF_F32;
  return v == 1 ? 0 : v == 0 && !signbit(v) ? 1 : pf_burden_of_value(t, pf_encode(t, v));
}

static uint64_t burden_of_dtype(pf_dtype t)
{
  static const uint8_t places[PF_DTYPE_COUNT] = {
    [PF_F32] = 0, [PF_S8] = 1, [PF_F64] = 2, [PF_BF16] = 3, [PF_F16] = 4, [PF_S32] = 5, [PF_U8] = 6,
    [PF_F8_E4M3FN] = 7, [PF_F8_E5M2] = 8, [PF_F8_E4M3FNUZ] = 9, [PF_F8_E5M2FNUZ] = 10,
  };
  return places[t];
}

static uint64_t burden_of_values(const pf_operand *o)
{
  const int64_t count = pf_operand_count(o);
  const int bytes = pf_dtype_of(o->dtype)->bytes;
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; i++)
    sum += pf_burden_of_value(o->dtype, pf_load_bits(o->dtype, o->values.verbatim + i * bytes));
  for (int64_t i = 0; i < o->scale.count; i++)
    sum += pf_burden_of_value(PF_F32, pf_encode(PF_F32, (double)o->scale.values[i]));
  return sum;
}

static void add_layout(pf_burden *b, const pf_operand *o)
{
  int64_t dense[PF_MAX_RANK];
  if (pf_operand_dense(o))
    return;
  pf_dense_strides(o->rank, o->dim, dense);
  b->part[PF_BURDEN_LAYOUTS]++;
  b->part[PF_BURDEN_STRIDES] += (uint64_t)o->offset;
  for (int i = 0; i < o->rank; i++)
    b->part[PF_BURDEN_STRIDES] += (uint64_t)llabs(o->stride[i] - dense[i]);
}

pf_burden pf_burden_of(const pf_case *c)
{
  pf_burden b = {{0}};
  for (pf_role r = PF_X; r < PF_ROLE_COUNT; r++) {
    const pf_operand *o = &c->operand[r];
    if (!o->present)
      continue;
    b.part[PF_BURDEN_ELEMENTS] += (uint64_t)pf_operand_count(o);
    b.part[PF_BURDEN_SIZES] += (uint64_t)o->rank;
    for (int i = 0; i < o->rank; i++)
      b.part[PF_BURDEN_SIZES] += (uint64_t)o->dim[i];
    b.part[PF_BURDEN_TENSORS] += 1 + (uint64_t)o->scale.kind;
    b.part[PF_BURDEN_DTYPES] += burden_of_dtype(o->dtype);
    add_layout(&b, o);
    if (r != PF_OUT)
      b.part[PF_BURDEN_VALUES] += burden_of_values(o);
  }
  b.part[PF_BURDEN_LAYOUTS] += c->out_is_c;
  b.part[PF_BURDEN_SCALARS] = burden_of_scalar(c, c->alpha) + burden_of_scalar(c, c->beta);
  return b;
}

int pf_burden_compare(const pf_burden *a, const pf_burden *b)
{
  for (int i = 0; i < PF_BURDENS; i++)
    if (a->part[i] != b->part[i])
      return a->part[i] < b->part[i] ? -1 : 1;
  return 0;
}
