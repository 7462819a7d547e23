/* What an output element may be: a closed interval of finite numbers, and which of the infinities
   and NaN. */
#ifndef PF_SET_H
#define PF_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "format.h"

typedef struct pf_set {
  double lo, hi;          /* value units; nothing finite where !(lo <= hi); an end may be infinite
                             where no bound is known */
  bool plus_infinity, minus_infinity, nan;
} pf_set;

pf_set pf_set_empty(void);
pf_set pf_set_point(double v);  /* also an infinity or NaN */
bool pf_set_has_finite(const pf_set *s);
bool pf_set_allows(const pf_set *s, double v);  /* zeros are equal */
bool pf_set_equal(const pf_set *a, const pf_set *b);
bool pf_set_overlap(const pf_set *a, const pf_set *b);
/* The least set that holds both. */
pf_set pf_set_hull(const pf_set *a, const pf_set *b);
/* More than one of finite, +inf, -inf and NaN is possible. */
bool pf_set_is_open(const pf_set *s);

/* Rounding is monotone, so the ends of an interval go to the ends of its image: ties, subnormals,
   overflow and saturation come out exactly.  So does wrapping in integers within one period of it;
   an interval over more than one becomes the format's whole range. */
pf_set pf_set_round(const pf_format *f, const pf_set *s);
pf_set pf_set_add(const pf_format *f, const pf_set *a, const pf_set *b);
/* factor 0 gives 0 for finite values, NaN for infinities. */
pf_set pf_set_scale(const pf_format *f, const pf_set *s, double factor);
/* "[-0x1p+0, 0x1p+0] or NaN", for people. */
void pf_set_print(const pf_set *s, char *to, size_t size);

#endif
