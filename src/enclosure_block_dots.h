/* Loops over vectors of operands, written once and included once per target.  The includer defines
     TARGET      the attribute that says what the functions may be compiled to
     NAME(f)     how its copy of function f is called
   Arrays are of PF_BLOCK doubles, multiples of eight of which are read and written.  No include
   guard: on purpose. */

/* Sums over the lanes of eight vectors, one a lane. */
PF_LANES_INLINE TARGET void NAME(reduce)(const pf_lanes *v, pf_lanes *to)
{
  pf_lanes half[4], quarter[2];
  for (int i = 0; i < 4; i++)
    half[i] =
        __builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14) +
        __builtin_shufflevector(v[2 * i], v[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  for (int i = 0; i < 2; i++)
    quarter[i] =
        __builtin_shufflevector(half[2 * i], half[2 * i + 1], 0, 1, 8, 9, 4, 5, 12, 13) +
        __builtin_shufflevector(half[2 * i], half[2 * i + 1], 2, 3, 10, 11, 6, 7, 14, 15);
  *to = __builtin_shufflevector(quarter[0], quarter[1], 0, 1, 2, 3, 8, 9, 10, 11) +
        __builtin_shufflevector(quarter[0], quarter[1], 4, 5, 6, 7, 12, 13, 14, 15);
}

/* Least last bits, as powers of two, sums and whether all are finite, lane by lane.  Clearing the
   last bit of a significand takes just that bit's value away; a significand without bits is a power
   of two itself. */
PF_LANES_INLINE TARGET void NAME(scan_step)(const pf_lanes *v, pf_lanes *unit, pf_lanes *absolute,
                                            pf_masks *finite)
{
  const pf_masks bits = (pf_masks)*v;
  const pf_lanes zero = {0}, infinite = PF_LANES_OF(INFINITY);
  const pf_masks known = PF_LANES_ABS(*v) < INFINITY;
  const pf_lanes without =
      PF_LANES_SELECT((bits & (((int64_t)1 << 52) - 1)) == 0, zero, bits & (bits - 1));
  const pf_lanes last = PF_LANES_ABS(*v - without);
  const pf_lanes here = PF_LANES_SELECT(known & (*v != 0.0), last, infinite);
  *unit = PF_LANES_SELECT(here < *unit, here, *unit);
  *absolute += PF_LANES_SELECT(known, PF_LANES_ABS(*v), zero);
  *finite &= known;
}

/* The same for less than a vector's worth, one by one. */
static TARGET bool NAME(scan_few)(const double *v, int64_t k, double *unit, double *absolute)
{
  bool all = true;
  *unit = INFINITY;
  *absolute = 0;
  for (int64_t i = 0; i < k; i++) {
    uint64_t bits;
    double without = 0;
    if (!(fabs(v[i]) < INFINITY)) {
      all = false;
      continue;
    }
    memcpy(&bits, &v[i], sizeof bits);
    if (bits << 12) {
      bits &= bits - 1;
      memcpy(&without, &bits, sizeof without);
    }
    const double last = fabs(v[i] - without);
    if (v[i] != 0 && last < *unit)
      *unit = last;
    *absolute += fabs(v[i]);
  }
  return all;
}

/* Of k finite numbers the greatest power of two that all are multiples of, infinite where all are 0,
   and the sum of their absolute values.  Others are left out; true if there are none. */
static TARGET bool NAME(scan)(const double *v, int64_t k, double *unit, double *absolute)
{
  if (k < PF_LANES_WIDTH)
    return NAME(scan_few)(v, k, unit, absolute);
  pf_lanes least = PF_LANES_OF(INFINITY), sum = {0}, a;
  pf_masks finite = ~(pf_masks){0};
  int64_t i = 0;
  for (; i + PF_LANES_WIDTH <= k; i += PF_LANES_WIDTH) {
    PF_LANES_LOAD(a, v + i);
    NAME(scan_step)(&a, &least, &sum, &finite);
  }
  if (i < k) {
    a = (pf_lanes){0};
    memcpy(&a, v + i, (size_t)(k - i) * sizeof *v);
    NAME(scan_step)(&a, &least, &sum, &finite);
  }
  bool all = true;
  *unit = INFINITY;
  *absolute = 0;
  for (int l = 0; l < PF_LANES_WIDTH; l++) {
    *unit = least[l] < *unit ? least[l] : *unit;
    *absolute += sum[l];
    all &= finite[l] != 0;
  }
  return all;
}

/* Onto sum[j], absolute[j]: the terms [from, k) of x and y + j * k. */
static TARGET void NAME(tails)(const double *x, const double *y, int64_t from, int64_t k, int n,
                               double *sum, double *absolute)
{
  for (int j = 0; j < n; j++, y += k) {
    double s = sum[j], a = absolute[j];
    for (int64_t i = from; i < k; i++) {
      const double p = x[i] * y[i];
      s += p;
      a += fabs(p);
    }
    sum[j] = s;
    absolute[j] = a;
  }
}

/* The first `whole` terms, a multiple of eight, of four sums side by side. */
static TARGET void NAME(four)(const double *x, const double *y, int64_t whole, int64_t k,
                              double *sum, double *absolute)
{
  pf_lanes v[8] = {{0}}, to, a, b;
  for (int64_t i = 0; i < whole; i += PF_LANES_WIDTH) {
    PF_LANES_LOAD(a, x + i);
    for (int j = 0; j < 4; j++) {
      PF_LANES_LOAD(b, y + j * k + i);
      b *= a;
      v[j] += b;
      v[4 + j] += PF_LANES_ABS(b);
    }
  }
  NAME(reduce)(v, &to);
  memcpy(sum, &to, 4 * sizeof *sum);
  memcpy(absolute, (const double *)&to + 4, 4 * sizeof *absolute);
}

/* One sum in four parts. */
static TARGET void NAME(one)(const double *x, const double *y, int64_t whole, double *sum,
                             double *absolute)
{
  pf_lanes v[8] = {{0}}, to, a, b;
  int64_t i = 0;
  for (; i + 4 * PF_LANES_WIDTH <= whole; i += 4 * PF_LANES_WIDTH)
    for (int j = 0; j < 4; j++) {
      PF_LANES_LOAD(a, x + i + j * PF_LANES_WIDTH);
      PF_LANES_LOAD(b, y + i + j * PF_LANES_WIDTH);
      b *= a;
      v[j] += b;
      v[4 + j] += PF_LANES_ABS(b);
    }
  for (; i < whole; i += PF_LANES_WIDTH) {
    PF_LANES_LOAD(a, x + i);
    PF_LANES_LOAD(b, y + i);
    b *= a;
    v[0] += b;
    v[4] += PF_LANES_ABS(b);
  }
  NAME(reduce)(v, &to);
  *sum = (to[0] + to[1]) + (to[2] + to[3]);
  *absolute = (to[4] + to[5]) + (to[6] + to[7]);
}

/* sum[j] and absolute[j]: of the k products of x and y + j * k. */
static TARGET void NAME(dots)(const double *x, const double *y, int64_t k, int n, double *sum,
                              double *absolute)
{
  const int64_t whole = k / PF_LANES_WIDTH * PF_LANES_WIDTH;
  int j = 0;
  if (!whole) {
    memset(sum, 0, (size_t)n * sizeof *sum);
    memset(absolute, 0, (size_t)n * sizeof *absolute);
  }
  for (; whole && j + 4 <= n; j += 4)
    NAME(four)(x, y + j * k, whole, k, sum + j, absolute + j);
  for (; whole && j < n; j++)
    NAME(one)(x, y + j * k, whole, sum + j, absolute + j);
  if (whole < k)
    NAME(tails)(x, y, whole, k, n, sum, absolute);
}

/* Onto a sum of a[j]: h, its error r, what the addition loses, all magnitudes.  Dot2's step. */
PF_LANES_INLINE TARGET void NAME(dot2_step)(const pf_lanes *x, const pf_lanes *y, pf_lanes *high,
                                            pf_lanes *low, pf_lanes *weight, pf_lanes *absolute)
{
  const pf_lanes h = *x * *y;
  pf_lanes r;
  for (int l = 0; l < PF_LANES_WIDTH; l++)
    r[l] = __builtin_fma((*x)[l], (*y)[l], -h[l]);
  const pf_lanes sum = *high + h, part = sum - *high;
  const pf_lanes t = ((*high - (sum - part)) + (h - part)) + r;
  *high = sum;
  *low += t;
  *weight += PF_LANES_ABS(t);
  *absolute += PF_LANES_ABS(h);
}

/* For operands of up to 53 bits: the products of x and y + j * k sum to sum[j] + tail[j], within
   radius[j]. */
static TARGET void NAME(dots2)(const double *x, const double *y, int64_t k, int n, double *sum,
                               double *tail, double *absolute, double *radius)
{
  for (int j = 0; j < n; j++, y += k) {
    pf_lanes high = {0}, low = {0}, weight = {0}, all = {0}, a, b;
    int64_t i = 0;
    for (; i + PF_LANES_WIDTH <= k; i += PF_LANES_WIDTH) {
      PF_LANES_LOAD(a, x + i);
      PF_LANES_LOAD(b, y + i);
      NAME(dot2_step)(&a, &b, &high, &low, &weight, &all);
    }
    if (i < k) {
      a = b = (pf_lanes){0};
      memcpy(&a, x + i, (size_t)(k - i) * sizeof *x);
      memcpy(&b, y + i, (size_t)(k - i) * sizeof *y);
      NAME(dot2_step)(&a, &b, &high, &low, &weight, &all);
    }
    double s = 0, t = 0, w = 0, m = 0;
    for (int l = 0; l < PF_LANES_WIDTH; l++) {
      const double next = s + high[l], part = next - s;
      const double lost = (s - (next - part)) + (high[l] - part);
      s = next;
      t += lost + low[l];
      w += fabs(lost) + weight[l];
      m += all[l];
    }
    const double units = (double)(k + 4 * PF_LANES_WIDTH) * 0x1p-53;
    sum[j] = s;
    tail[j] = t;
    absolute[j] = m;
    radius[j] = units * w * (1 + 8 * units) + (double)k * 0x1p-1073;
  }
}
