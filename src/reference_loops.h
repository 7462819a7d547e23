/* The summation orders, written once and included once per arithmetic.  The includer defines
     REAL        type of a partial sum
     NAME(f)     how its copy of function f is called
     MUL(x, y)   a product, rounded;      ADD(a, b)   a sum, rounded
     FMA(x, y, s)  x * y + s, rounded once
   and, with LANES, where REAL is many sums side by side, what has a default below.  Each function
   takes `f`, the accumulator, for arithmetics that need it.  In a sum from zero the first product
   is rounded by FMA(x, y, 0) just as by MUL.  No include guard: on purpose. */

#ifndef LANES
#define TARGET                  /* attributes of a function */
#define RULES pf_accumulator    /* what f is */
#define X_TYPE double           /* elements of x and y, and what they are as factors */
#define Y_TYPE double
#define FACTOR(v) ((REAL)(v))
#endif

/* terms [from, to) of x[k] * y[k], first to last, onto s */
static inline TARGET REAL NAME(chain)(const RULES *f, bool fused, const X_TYPE *x,
                                      const Y_TYPE *y, int64_t from, int64_t to, int64_t step,
                                      REAL s)
{
  (void)f;
  if (fused)
    for (int64_t k = from; k != to; k += step)
      s = FMA(FACTOR(x[k]), FACTOR(y[k]), s);
  else
    for (int64_t k = from; k != to; k += step)
      s = ADD(s, MUL(FACTOR(x[k]), FACTOR(y[k])));
  return s;
}

/* Halves of as equal size as can be; a leaf is one product, or two where the second is fused. */
static TARGET REAL NAME(pairwise)(const RULES *f, bool fused, const X_TYPE *x, const Y_TYPE *y,
                                  int64_t n)
{
  const int64_t leaf = fused ? 2 : 1, half = n / 2;
  if (n <= leaf)
    return NAME(chain)(f, fused, x, y, 0, n, 1, (REAL){0});
  const REAL a = half <= leaf ? NAME(chain)(f, fused, x, y, 0, half, 1, (REAL){0})
                              : NAME(pairwise)(f, fused, x, y, half);
  const REAL b = n - half <= leaf ? NAME(chain)(f, fused, x, y, half, n, 1, (REAL){0})
                                  : NAME(pairwise)(f, fused, x + half, y + half, n - half);
  return ADD(a, b);
}

static TARGET REAL NAME(blocked)(const RULES *f, const pf_summation *s, const X_TYPE *x,
                                 const Y_TYPE *y, int64_t n)
{
  REAL sum = {0};
  for (int64_t from = 0; from < n; from += s->width) {
    const int64_t to = from + s->width < n ? from + s->width : n;
    const REAL block = NAME(chain)(f, s->fused, x, y, from, to, 1, (REAL){0});
    sum = from ? ADD(sum, block) : block;
  }
  return sum;
}

/* Term k goes to lane k mod width; then neighbours are added, in a tree. */
static TARGET REAL NAME(lanes)(const RULES *f, const pf_summation *s, const X_TYPE *x,
                               const Y_TYPE *y, int64_t n)
{
  REAL lane[64];
  const int width = s->width < n ? s->width : (int)n;
  (void)f;
  for (int l = 0; l < width; l++)
    lane[l] = (REAL){0};
  for (int64_t k = 0; k < n; k += width) {
    const int count = width < n - k ? width : (int)(n - k);
    if (s->fused)
      for (int l = 0; l < count; l++)
        lane[l] = FMA(FACTOR(x[k + l]), FACTOR(y[k + l]), lane[l]);
    else
      for (int l = 0; l < count; l++)
        lane[l] = ADD(lane[l], MUL(FACTOR(x[k + l]), FACTOR(y[k + l])));
  }
  for (int apart = 1; apart < width; apart *= 2)
    for (int l = 0; l + apart < width; l += 2 * apart)
      lane[l] = ADD(lane[l], lane[l + apart]);
  return width ? lane[0] : (REAL){0};
}

/* All n products in the stated order, from zero. */
static TARGET REAL NAME(products)(const RULES *f, const pf_summation *s, const X_TYPE *x,
                                  const Y_TYPE *y, int64_t n)
{
  switch (s->order) {
  case PF_BACKWARD: return NAME(chain)(f, s->fused, x, y, n - 1, -1, -1, (REAL){0});
  case PF_PAIRWISE: return NAME(pairwise)(f, s->fused, x, y, n);
  case PF_BLOCKED: return NAME(blocked)(f, s, x, y, n);
  case PF_LANES: return NAME(lanes)(f, s, x, y, n);
  default: return NAME(chain)(f, s->fused, x, y, 0, n, 1, (REAL){0});
  }
}

#ifndef LANES
/* alpha, then beta * c, then the bias, each rounded. */
static REAL NAME(epilogue)(const pf_accumulator *f, const pf_summation *s, const pf_sum *t, REAL v)
{
  (void)f;
  if (t->alpha != 1 && t->k)
    v = MUL(v, (REAL)t->alpha);
  if (t->beta != 0 && !f->start_c)
    v = s->fused ? FMA((REAL)t->beta, (REAL)t->c, v) : ADD(v, MUL((REAL)t->beta, (REAL)t->c));
  if (t->bias != 0)
    v = ADD(v, (REAL)t->bias);
  return v;
}

#undef TARGET
#undef RULES
#undef X_TYPE
#undef Y_TYPE
#undef FACTOR
#endif
