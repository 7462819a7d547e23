/* Element values by kind and seed.

   Claim: an element's encoding is the same from every compiler, libm and rounding mode.  Reason:
   nothing here is computed in floating point.  Random draws are splitmix64 (Steele, Lea and Flood,
   "Fast splittable pseudorandom number generators", OOPSLA 2014); encodings are assembled and
   rounded as integers from what the dtype's format says of itself.

   A stream of draws starts from (seed, purpose, place), never from another element's stream: an
   element does not know its neighbours, except that kinds which shape whole sums let the members
   of a pair, or of a line, read one common stream.  What the kinds make of these draws is
   values_float.c's and values_integer.c's. */
#include "values.h"

#include <endian.h>
#include <string.h>

#include "values_draw.h"
#include "values_float.h"
#include "values_integer.h"

uint64_t pf_hash(uint64_t x)
{
  return hash(x);
}

static const char *const kind_names[PF_KIND_COUNT] = {
  [PF_NORMAL] = "normal",     [PF_BITS] = "bits",         [PF_CORNER] = "corner",
  [PF_INTEGER] = "integer",   [PF_CANCEL] = "cancel",     [PF_EQUAL] = "equal",
  [PF_MIDPOINT] = "midpoint", [PF_WIDE] = "wide",         [PF_SUBNORMAL] = "subnormal",
  [PF_VERBATIM] = "verbatim",
};

const char *pf_kind_name(pf_kind k)
{
  return kind_names[k];
}

bool pf_kind_find(const char *name, size_t length, pf_kind *out)
{
  for (int k = 0; k < PF_KIND_COUNT; k++)
    if (strlen(kind_names[k]) == length && memcmp(kind_names[k], name, length) == 0) {
      *out = (pf_kind)k;
      return true;
    }
  return false;
}

/* `to` has room for PF_RUN. */
static void run_kind(const pf_values *v, pf_kind kind, pf_dtype t, pf_walk at, int count,
                     uint64_t *to)
{
  if (pf_is_integer(pf_format_of(t)))
    pf_integer_run(v, kind, t, at, count, to);
  else
    pf_float_run(v, kind, t, at, count, to);
}

/* Which elements are of the other kind. */
static void mix(const pf_values *v, const pf_walk *at, int count, const uint64_t *other,
                uint64_t *to)
{
  pf_draws d;
  pf_draw_elements(stream_key(v, &at->place, PURPOSE_MIX), at->place.index, count, 1, &d);
  for (int i = 0; i < count; i++)
    to[i] = v->mix > (d.draw[0][i] & 255) ? other[i] : to[i];
}

static void run_mixed(const pf_values *v, pf_dtype t, pf_walk at, int count, uint64_t *to)
{
  uint64_t other[PF_RUN];
  run_kind(v, v->kind, t, at, count, to);
  if (v->mix == 0)
    return;
  run_kind(v, v->other, t, at, count, other);
  mix(v, &at, count, other, to);
}

uint64_t pf_value_bits(const pf_values *v, pf_dtype t, const pf_place *place)
{
  uint64_t bits[PF_RUN];
  run_mixed(v, t, (pf_walk){.place = *place, .columns = 1}, 1, bits);
  return bits[0];
}

/* Stores encodings one behind the other. */
static uint8_t *store_run(pf_dtype t, const uint64_t *from, int count, uint8_t *to)
{
  const int bytes = pf_dtype_of(t)->bytes;
  switch (bytes) {
  case 8:
    for (int i = 0; i < count; i++)
      memcpy(to + 8 * i, &(const uint64_t){htole64(from[i])}, 8);
    break;
  case 4:
    for (int i = 0; i < count; i++)
      memcpy(to + 4 * i, &(const uint32_t){htole32((uint32_t)from[i])}, 4);
    break;
  case 2:
    for (int i = 0; i < count; i++)
      memcpy(to + 2 * i, &(const uint16_t){htole16((uint16_t)from[i])}, 2);
    break;
  default:
    for (int i = 0; i < count; i++)
      to[i] = (uint8_t)from[i];
    break;
  }
  return to + (size_t)bytes * (size_t)count;
}

/* n elements on. */
static void skip(pf_walk *at, int n)
{
  pf_place *p = &at->place;
  p->index += n;
  if (p->k_count <= 0)
    return;
  const int64_t column = at->column + n, k = p->k + column / at->columns;
  p->line += column % at->columns - at->column + k / p->k_count * at->columns;
  p->k = k % p->k_count;
  at->column = column % at->columns;
}

void pf_values_generate(const pf_values *v, pf_dtype t, pf_walk at, int64_t count, void *to)
{
  uint64_t bits[PF_RUN];
  uint8_t *behind = to;
  for (; count > PF_RUN; count -= PF_RUN) {
    run_mixed(v, t, at, PF_RUN, bits);
    behind = store_run(t, bits, PF_RUN, behind);
    skip(&at, PF_RUN);
  }
  run_mixed(v, t, at, (int)count, bits);
  store_run(t, bits, (int)count, behind);
}
