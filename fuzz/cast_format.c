/* The formats of fuzz_cast and their names. */
#include <stdio.h>
#include <string.h>

#include "cast.h"

/* What rows and models round to besides dtypes: s16 (model "saturates-s16"), and formats at the
   limits of what a row can write (row.h). */
static const pf_format others[] = {
  {16, 15, 32767, false, false, PF_NEAREST_EVEN, PF_OVERFLOW_SATURATE, PF_TWOS_COMPLEMENT},
  {2, -1, 3, true, true, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, PF_SYMMETRIC},
  {26, -500, 0x1.ffffff8p510, true, true, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, PF_SYMMETRIC},
  {3, 500, 0x1.cp510, true, true, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, PF_SYMMETRIC},
  {12, -20, 0x1.2p15, true, true, PF_NEAREST_EVEN, PF_OVERFLOW_INFINITY, PF_SYMMETRIC},
};

int pf_cast_pool(void)
{
  return PF_DTYPE_COUNT + 1 + (int)(sizeof others / sizeof *others);
}

pf_format pf_cast_format(int i)
{
  return i < PF_DTYPE_COUNT    ? *pf_format_of((pf_dtype)i)
         : i == PF_DTYPE_COUNT ? pf_tf32
                               : others[i - PF_DTYPE_COUNT - 1];
}

/* The policies that f can have, f's own first. */
static int policies(const pf_format *f, pf_overflow to[3])
{
  int n = 0;
  to[n++] = f->overflow;
  for (pf_overflow o = PF_OVERFLOW_INFINITY; o <= PF_OVERFLOW_WRAP; o++) {
    const bool possible = pf_is_integer(f) ? o == PF_OVERFLOW_WRAP || o == PF_OVERFLOW_SATURATE
                                           : o != PF_OVERFLOW_WRAP &&
                                                 (o != PF_OVERFLOW_INFINITY || f->has_infinity);
    if (possible && o != f->overflow)
      to[n++] = o;
  }
  return n;
}

/* Every double is a value of f64, and no row may round it otherwise. */
int pf_cast_variants(const pf_format *f)
{
  pf_overflow policy[3];
  return f->precision > 51 ? 1 : 3 * policies(f, policy);
}

pf_format pf_cast_variant(const pf_format *f, int i)
{
  pf_overflow policy[3];
  pf_format g = *f;
  policies(f, policy);
  g.rounding = (pf_rounding)(i % 3);
  g.overflow = policy[i / 3];
  return g;
}

void pf_cast_chain_print(const pf_cast_chain *c, char *to, size_t size)
{
  size_t used = 0;
  for (int i = 0; i < c->count && used < size; i++) {
    char name[PF_CAST_NAME];
    pf_format_print(&c->format[i], name, sizeof name);
    used += (size_t)snprintf(to + used, size - used, "%s%s", i ? " > " : "", name);
  }
}
