/* Loops over vectors of operands, written once and included once per target, behind isa_target.h.
   What is summed is summed in eight parts, the terms 0, 8, 16..., 1, 9, 17... and so on, and then
   (0 + 1) + (2 + 3) and (4 + 5) + (6 + 7), whatever the width of the vectors: all targets compute
   the same bits.  Arrays are of PF_BLOCK doubles, multiples of eight of which are read and written.
   No include guard: on purpose. */
#ifndef VECTORS
#define VECTORS ((int)(PF_LANES_WIDTH / LANES_OF(DOUBLES, double)))  /* of one sum */
#define LANES LANES_OF(DOUBLES, double)
/* Sums side by side, as many as there are registers for. */
#define TILE_ROWS (VECTOR_BYTES == 64 ? 2 : 1)
#define TILE_COLUMNS (VECTOR_BYTES / 16)
#endif

/* Of one vector of PF_LANES_WIDTH lanes. */
INLINE double ISA_NAME(total)(const DOUBLES *v)
{
  double l[PF_LANES_WIDTH];
  memcpy(l, v, sizeof l);
  return ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7]));
}

#if ISA == ISA_AVX512
/* The same of eight vectors, one a lane. */
INLINE DOUBLES avx512_totals(const DOUBLES *v)
{
  DOUBLES half[4], quarter[2];
  UNROLL for (int i = 0; i < 4; i++)
    half[i] =
        __builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14) +
        __builtin_shufflevector(v[2 * i], v[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  UNROLL for (int i = 0; i < 2; i++)
    quarter[i] =
        __builtin_shufflevector(half[2 * i], half[2 * i + 1], 0, 1, 8, 9, 4, 5, 12, 13) +
        __builtin_shufflevector(half[2 * i], half[2 * i + 1], 2, 3, 10, 11, 6, 7, 14, 15);
  return __builtin_shufflevector(quarter[0], quarter[1], 0, 1, 2, 3, 8, 9, 10, 11) +
         __builtin_shufflevector(quarter[0], quarter[1], 4, 5, 6, 7, 12, 13, 14, 15);
}
#endif

/* --- scans --------------------------------------------------------------------------------- */

/* Least last bits, as powers of two, sums and whether all are finite, lane by lane.  Clearing the
   last bit of a significand takes just that bit's value away; a significand without bits is a power
   of two itself. */
INLINE void ISA_NAME(scan_step)(DOUBLES v, DOUBLES *unit, DOUBLES *absolute, MASKS *finite)
{
  const LONGS bits = (LONGS)v;
  const DOUBLES zero = {0}, infinite = SPLAT(INFINITY);
  const MASKS known = LT(MAGNITUDE(v), infinite);
  const LONGS rest = bits & (bits - 1);
  /* without a bit the significand's low part is that of 1 */
  const DOUBLES low_part = (DOUBLES)((bits & ((INT64_C(1) << 52) - 1)) | INT64_C(0x3ff) << 52);
  const DOUBLES without = SELECT(EQ(low_part, SPLAT(1)), zero, (DOUBLES)rest);
  const DOUBLES last = MAGNITUDE(v - without);
  const DOUBLES here = SELECT(known & NE(v, zero), last, infinite);
  *unit = SELECT(LT(here, *unit), here, *unit);
  *absolute += SELECT(known, MAGNITUDE(v), zero);
  *finite &= known;
}

/* Up to eight numbers, and zeros behind them. */
INLINE void ISA_NAME(load_few)(const double *from, int64_t count, DOUBLES *to)
{
#if ISA == ISA_AVX512
  *to = (DOUBLES)_mm512_maskz_loadu_pd((__mmask8)((1 << count) - 1), from);
#else
  double few[PF_LANES_WIDTH] = {0};
  for (int64_t i = 0; i < count; i++)
    few[i] = from[i];
  memcpy(to, few, sizeof few);
#endif
}

/* See pf_block_loops. */
static TARGET bool ISA_NAME(scan)(const double *v, int64_t k, double *unit, double *absolute)
{
  DOUBLES least[VECTORS], sum[VECTORS], a[VECTORS];
  MASKS finite = MASK_OF((int64_t)-1);
  UNROLL for (int p = 0; p < VECTORS; p++) {
    least[p] = SPLAT(INFINITY);
    sum[p] = SPLAT(0);
  }
  int64_t i = 0;
  for (; i + PF_LANES_WIDTH <= k; i += PF_LANES_WIDTH)
    UNROLL for (int p = 0; p < VECTORS; p++)
      ISA_NAME(scan_step)(ISA_NAME(load)(v + i + p * LANES), &least[p], &sum[p], &finite);
  if (i < k) {
    ISA_NAME(load_few)(v + i, k - i, a);
    UNROLL for (int p = 0; p < VECTORS; p++)
      ISA_NAME(scan_step)(a[p], &least[p], &sum[p], &finite);
  }
  double units[PF_LANES_WIDTH];
  memcpy(units, least, sizeof units);
  *unit = units[0];
  for (int l = 1; l < PF_LANES_WIDTH; l++)
    *unit = units[l] < *unit ? units[l] : *unit;
  *absolute = ISA_NAME(total)(sum);
  return ALL(finite);
}

/* v + magic holds v in its low bits, as an integer times the value of magic's last place: all the
   bits that differ from magic's, if none of v is lost that way. */
INLINE void ISA_NAME(grid_step)(DOUBLES v, DOUBLES magic, LONGS *places, LONGS *lost)
{
  const DOUBLES on_grid = v + magic;
  *places |= (LONGS)on_grid ^ (LONGS)magic;
  *lost |= (LONGS)(on_grid - magic) ^ (LONGS)v;
}

static TARGET bool ISA_NAME(scan_grid)(const double *v, int64_t k, double magic, uint64_t *places)
{
  const DOUBLES base = SPLAT(magic);
  DOUBLES a[VECTORS];
  LONGS set = {0}, lost = {0};
  int64_t i = 0;
  for (; i + PF_LANES_WIDTH <= k; i += PF_LANES_WIDTH)
    UNROLL for (int p = 0; p < VECTORS; p++)
      ISA_NAME(grid_step)(ISA_NAME(load)(v + i + p * LANES), base, &set, &lost);
  if (i < k) {
    ISA_NAME(load_few)(v + i, k - i, a);
    UNROLL for (int p = 0; p < VECTORS; p++)
      ISA_NAME(grid_step)(a[p], base, &set, &lost);
  }
  *places = OR_LANES(set);
  return !(OR_LANES(lost) << 1) && !(*places >> 52);  /* the sign of a zero may be lost */
}

/* --- sums of products that are exact in double ---------------------------------------------- */

/* Sums and absolute sums of rows * columns products of vectors k apart, rows * columns <= 8; written
   to to[i], to[rows * columns + i].  After inlining all loops but that over i are gone. */
INLINE void ISA_NAME(tile)(const double *x, const double *y, int64_t k, int rows, int columns,
                           double *to)
{
  const int64_t whole = k / PF_LANES_WIDTH * PF_LANES_WIDTH;
  const int sums = rows * columns;
  DOUBLES v[2 * TILE_ROWS * TILE_COLUMNS * VECTORS];
  UNROLL for (int j = 0; j < 2 * sums * VECTORS; j++)
    v[j] = SPLAT(0);
  for (int64_t i = 0; i < whole; i += PF_LANES_WIDTH)
    UNROLL for (int p = 0; p < VECTORS; p++) {
      DOUBLES a[TILE_ROWS];
      UNROLL for (int r = 0; r < rows; r++)
        a[r] = ISA_NAME(load)(x + r * k + i + p * LANES);
      UNROLL for (int c = 0; c < columns; c++) {
        const DOUBLES b = ISA_NAME(load)(y + c * k + i + p * LANES);
        UNROLL for (int r = 0; r < rows; r++) {
          DOUBLES *sum = &v[(r * columns + c) * VECTORS + p], *absolute = sum + sums * VECTORS;
          *sum = ADD_EXACT(a[r], b, *sum);
          *absolute = ADD_EXACT(MAGNITUDE(a[r]), MAGNITUDE(b), *absolute);
        }
      }
    }
  int done = 0;
#if ISA == ISA_AVX512
  UNROLL for (; done + 8 <= 2 * sums; done += 8)
    ISA_NAME(store)(to + done, avx512_totals(v + done));
#endif
  UNROLL for (; done < 2 * sums; done++)
    to[done] = ISA_NAME(total)(v + done * VECTORS);
}

/* What is left of k when eights are taken, onto one sum. */
INLINE void ISA_NAME(add_tail)(const double *x, const double *y, int64_t k, double *sum,
                               double *absolute)
{
  for (int64_t i = k / PF_LANES_WIDTH * PF_LANES_WIDTH; i < k; i++) {
    const double p = x[i] * y[i];
    *sum += p;
    *absolute += fabs(p);
  }
}

INLINE void ISA_NAME(tile_into)(const double *x, const double *y, int64_t k, int rows, int columns,
                                int stride, double *sum, double *absolute)
{
  double to[2 * TILE_ROWS * TILE_COLUMNS];
  ISA_NAME(tile)(x, y, k, rows, columns, to);
  UNROLL for (int r = 0; r < rows; r++) {
    memcpy(sum + r * stride, to + r * columns, (size_t)columns * sizeof *to);
    memcpy(absolute + r * stride, to + (rows + r) * columns, (size_t)columns * sizeof *to);
  }
}

INLINE void ISA_NAME(band)(const double *x, const double *y, int64_t k, int rows, int n,
                           double *sum, double *absolute)
{
  int c = 0;
  for (; c + TILE_COLUMNS <= n; c += TILE_COLUMNS)
    ISA_NAME(tile_into)(x, y + c * k, k, rows, TILE_COLUMNS, n, sum + c, absolute + c);
  for (; TILE_COLUMNS > 1 && c < n; c++)
    ISA_NAME(tile_into)(x, y + c * k, k, rows, 1, n, sum + c, absolute + c);
}

/* sum[r * n + c] and absolute[r * n + c]: of the k products of x + r * k and y + c * k. */
static TARGET void ISA_NAME(dots)(const double *x, const double *y, int64_t k, int rows, int n,
                                  double *sum, double *absolute)
{
  int r = 0;
  if (k < PF_LANES_WIDTH) {
    memset(sum, 0, (size_t)rows * n * sizeof *sum);
    memset(absolute, 0, (size_t)rows * n * sizeof *sum);
    r = rows;
  }
  for (; r + TILE_ROWS <= rows; r += TILE_ROWS)
    ISA_NAME(band)(x + r * k, y, k, TILE_ROWS, n, sum + r * n, absolute + r * n);
  for (; TILE_ROWS > 1 && r < rows; r++)
    ISA_NAME(band)(x + r * k, y, k, 1, n, sum + r * n, absolute + r * n);
  if (k % PF_LANES_WIDTH)
    for (r = 0; r < rows; r++)
      for (int c = 0; c < n; c++)
        ISA_NAME(add_tail)(x + r * k, y + c * k, k, sum + r * n + c, absolute + r * n + c);
}

/* --- sums of products of wide operands ------------------------------------------------------- */

/* Dot2 in lanes: sums, what they lack, the absolute values of that, absolute sums. */
typedef struct ISA_NAME(dot2) {
  DOUBLES high[VECTORS], low[VECTORS], weight[VECTORS], absolute[VECTORS];
} ISA_NAME(dot2);

/* One vector of products: h, its error r, what the addition loses. */
INLINE void ISA_NAME(dot2_step)(DOUBLES x, DOUBLES y, int p, ISA_NAME(dot2) *d)
{
  const DOUBLES h = x * y, r = FUSED(x, y, -h);
  const DOUBLES sum = d->high[p] + h, part = sum - d->high[p];
  const DOUBLES t = ((d->high[p] - (sum - part)) + (h - part)) + r;
  d->high[p] = sum;
  d->low[p] += t;
  d->weight[p] += MAGNITUDE(t);
  d->absolute[p] += MAGNITUDE(h);
}

/* Sums over the lanes of what belongs to one element, the high parts one after another by TwoSum. */
INLINE void ISA_NAME(dot2_total)(const ISA_NAME(dot2) *d, double *sum, double *tail, double *weight,
                                 double *absolute)
{
  double high[PF_LANES_WIDTH], s = 0, t = 0, w = 0;
  memcpy(high, d->high, sizeof high);
  for (int l = 0; l < PF_LANES_WIDTH; l++) {
    const double next = s + high[l], part = next - s;
    const double lost = (s - (next - part)) + (high[l] - part);
    s = next;
    t += lost;
    w += fabs(lost);
  }
  *sum = s;
  *tail = t + ISA_NAME(total)(d->low);
  *weight = w + ISA_NAME(total)(d->weight);
  *absolute = ISA_NAME(total)(d->absolute);
}

#if ISA == ISA_AVX512
/* Lane l of vector i becomes lane i of vector l. */
INLINE void avx512_transpose(DOUBLES *v)
{
  DOUBLES pair[8], four[8];
  UNROLL for (int i = 0; i < 8; i += 2) {
    pair[i] = __builtin_shufflevector(v[i], v[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    pair[i + 1] = __builtin_shufflevector(v[i], v[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  UNROLL for (int i = 0; i < 8; i++) {
    const int at = i & 5;
    four[i] = i & 2 ? __builtin_shufflevector(pair[at], pair[at + 2], 2, 3, 10, 11, 6, 7, 14, 15)
                    : __builtin_shufflevector(pair[at], pair[at + 2], 0, 1, 8, 9, 4, 5, 12, 13);
  }
  UNROLL for (int i = 0; i < 4; i++) {
    v[i] = __builtin_shufflevector(four[i], four[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    v[i + 4] = __builtin_shufflevector(four[i], four[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/* Eight elements at once, in the same order. */
INLINE void avx512_dot2_totals(const avx512_dot2 *d, double *sum, double *tail, double *weight,
                               double *absolute)
{
  DOUBLES high[8], low[8], w[8], all[8];
  UNROLL for (int i = 0; i < 8; i++) {
    high[i] = d[i].high[0];
    low[i] = d[i].low[0];
    w[i] = d[i].weight[0];
    all[i] = d[i].absolute[0];
  }
  avx512_transpose(high);
  DOUBLES s = {0}, t = {0}, size = {0};
  UNROLL for (int l = 0; l < 8; l++) {
    const DOUBLES next = s + high[l], part = next - s;
    const DOUBLES lost = (s - (next - part)) + (high[l] - part);
    s = next;
    t += lost;
    size += MAGNITUDE(lost);
  }
  avx512_store(sum, s);
  avx512_store(tail, t + avx512_totals(low));
  avx512_store(weight, size + avx512_totals(w));
  avx512_store(absolute, avx512_totals(all));
}
#endif

INLINE void ISA_NAME(dot2_of)(const double *x, const double *y, int64_t k, ISA_NAME(dot2) *to)
{
  ISA_NAME(dot2) d;
  DOUBLES a[VECTORS], b[VECTORS];
  UNROLL for (int p = 0; p < VECTORS; p++)
    d.high[p] = d.low[p] = d.weight[p] = d.absolute[p] = SPLAT(0);
  int64_t i = 0;
  for (; i + PF_LANES_WIDTH <= k; i += PF_LANES_WIDTH)
    UNROLL for (int p = 0; p < VECTORS; p++)
      ISA_NAME(dot2_step)(ISA_NAME(load)(x + i + p * LANES), ISA_NAME(load)(y + i + p * LANES), p,
                          &d);
  if (i < k) {
    ISA_NAME(load_few)(x + i, k - i, a);
    ISA_NAME(load_few)(y + i, k - i, b);
    UNROLL for (int p = 0; p < VECTORS; p++)
      ISA_NAME(dot2_step)(a[p], b[p], p, &d);
  }
  *to = d;
}

/* Element r * n + c, for operands of up to 53 bits: the k products of x + r * k and y + c * k sum to
   sum + tail, within radius. */
static TARGET void ISA_NAME(dots2)(const double *x, const double *y, int64_t k, int rows, int n,
                                   double *sum, double *tail, double *absolute, double *radius)
{
  const double units = (double)(k + 4 * PF_LANES_WIDTH) * 0x1p-53;
  for (int from = 0, r = 0, c = 0; from < rows * n; from += PF_LANES_WIDTH) {
    const int left = rows * n - from, count = left < PF_LANES_WIDTH ? left : PF_LANES_WIDTH;
    double s[PF_LANES_WIDTH], t[PF_LANES_WIDTH], w[PF_LANES_WIDTH], m[PF_LANES_WIDTH];
    ISA_NAME(dot2) d[PF_LANES_WIDTH];
    memset(d + count, 0, (size_t)(PF_LANES_WIDTH - count) * sizeof *d);
    for (int j = 0; j < count; j++) {
      ISA_NAME(dot2_of)(x + r * k, y + c * k, k, &d[j]);
      c = c + 1 < n ? c + 1 : 0;
      r += !c;
    }
#if ISA == ISA_AVX512
    avx512_dot2_totals(d, s, t, w, m);
#else
    for (int j = 0; j < count; j++)
      ISA_NAME(dot2_total)(&d[j], &s[j], &t[j], &w[j], &m[j]);
#endif
    for (int j = 0; j < count; j++) {
      sum[from + j] = s[j];
      tail[from + j] = t[j];
      absolute[from + j] = m[j];
      radius[from + j] = units * w[j] * (1 + 8 * units) + (double)k * 0x1p-1073;
    }
  }
}
