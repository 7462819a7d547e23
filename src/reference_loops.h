/* The summation orders, written once and included once per arithmetic.  The includer defines
     REAL        type of a partial sum
     NAME(f)     how its copy of function f is called
     MUL(x, y)   a product, rounded;      ADD(a, b)   a sum, rounded
     FMA(x, y, s)  x * y + s, rounded once
   and each function takes `f`, the accumulator, for arithmetics that need it.  In a sum from zero
   the first product is rounded by FMA(x, y, 0) just as by MUL.  No include guard: on purpose. */

/* terms [from, to) of x[k] * y[k], first to last, onto s */
static REAL NAME(chain)(const pf_accumulator *f, bool fused, const double *x, const double *y,
                        int64_t from, int64_t to, int64_t step, REAL s)
{
  (void)f;
  if (fused)
    for (int64_t k = from; k != to; k += step)
      s = FMA((REAL)x[k], (REAL)y[k], s);
  else
    for (int64_t k = from; k != to; k += step)
      s = ADD(s, MUL((REAL)x[k], (REAL)y[k]));
  return s;
}

/* Halves of as equal size as can be; a leaf is one product, or two where the second is fused. */
static REAL NAME(pairwise)(const pf_accumulator *f, bool fused, const double *x, const double *y,
                           int64_t n)
{
  if (n <= (fused ? 2 : 1))
    return NAME(chain)(f, fused, x, y, 0, n, 1, 0);
  const int64_t half = n / 2;
  const REAL a = NAME(pairwise)(f, fused, x, y, half);
  const REAL b = NAME(pairwise)(f, fused, x + half, y + half, n - half);
  return ADD(a, b);
}

static REAL NAME(blocked)(const pf_accumulator *f, const pf_summation *s, const double *x,
                          const double *y, int64_t n)
{
  REAL sum = 0;
  for (int64_t from = 0; from < n; from += s->width) {
    const int64_t to = from + s->width < n ? from + s->width : n;
    const REAL block = NAME(chain)(f, s->fused, x, y, from, to, 1, 0);
    sum = from ? ADD(sum, block) : block;
  }
  return sum;
}

/* Term k goes to lane k mod width; then neighbours are added, in a tree. */
static REAL NAME(lanes)(const pf_accumulator *f, const pf_summation *s, const double *x,
                        const double *y, int64_t n)
{
  REAL lane[64] = {0};
  const int width = s->width < n ? s->width : (int)n;
  (void)f;
  for (int64_t k = 0; k < n; k += width) {
    const int count = width < n - k ? width : (int)(n - k);
    if (s->fused)
      for (int l = 0; l < count; l++)
        lane[l] = FMA((REAL)x[k + l], (REAL)y[k + l], lane[l]);
    else
      for (int l = 0; l < count; l++)
        lane[l] = ADD(lane[l], MUL((REAL)x[k + l], (REAL)y[k + l]));
  }
  for (int apart = 1; apart < width; apart *= 2)
    for (int l = 0; l + apart < width; l += 2 * apart)
      lane[l] = ADD(lane[l], lane[l + apart]);
  return width ? lane[0] : 0;
}

/* All n products in the stated order, from zero. */
static REAL NAME(products)(const pf_accumulator *f, const pf_summation *s, const double *x,
                           const double *y, int64_t n)
{
  switch (s->order) {
  case PF_BACKWARD: return NAME(chain)(f, s->fused, x, y, n - 1, -1, -1, 0);
  case PF_PAIRWISE: return NAME(pairwise)(f, s->fused, x, y, n);
  case PF_BLOCKED: return NAME(blocked)(f, s, x, y, n);
  case PF_LANES: return NAME(lanes)(f, s, x, y, n);
  default: return NAME(chain)(f, s->fused, x, y, 0, n, 1, 0);
  }
}

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
