/* Sums side by side, written once and included once per arithmetic and target, behind isa_target.h
   and rounding_lanes.h.  The includer defines what reference_loops.h asks for and
     SCALAR      one lane of REAL
     ENCODE(v)   a double as a SCALAR;   DECODE(v)  and back
     PACK(line, i, to)  of as many columns as there are lanes the elements i to i + 3
   No include guard: on purpose. */
#include "reference_loops.h"

/* Columns in panels of as many as there are lanes: element k of all of them, then k + 1.  Lanes
   beyond the last column repeat the panel's first.  Four elements of each column at a time, the
   last four over some that came before. */
static TARGET void NAME(pack)(const pf_lane_job *j, SCALAR *to)
{
  enum { WIDTH = LANES_OF(REAL, SCALAR) };
  const int64_t k = j->k;
  const double *from = j->columns.vectors, *line[WIDTH];
  for (int64_t group = 0; group < j->columns.groups; group++)
    for (int64_t first = 0; first < j->columns.count; first += WIDTH, to += k * WIDTH) {
      const int64_t left = j->columns.count - first, count = left < WIDTH ? left : WIDTH;
      for (int64_t l = 0; l < WIDTH; l++)
        line[l] = from + (l < count ? l * k : 0);
      from += count * k;
      for (int64_t i = 0; i + 4 <= k; i += 4)
        PACK(line, i, to + i * WIDTH);
      if (k >= 4 && k % 4)
        PACK(line, k - 4, to + (k - 4) * WIDTH);
      for (int64_t i = 0; k < 4 && i < k; i++)
        for (int64_t l = 0; l < WIDTH; l++)
          to[i * WIDTH + l] = ENCODE(line[l][i]);
    }
}

/* The rows; converted where doubles are not what is added up. */
static TARGET const SCALAR *NAME(lines)(const pf_lane_job *j)
{
  const int64_t n = j->rows.groups * j->rows.count * j->k;
  const double *restrict from = j->rows.vectors;
  SCALAR *restrict to = j->lines;
  if (!to)
    return (const SCALAR *)(const void *)from;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int64_t l = 0; l < 8; l++)
      to[i + l] = ENCODE(from[i + l]);
  for (; i < n; i++)
    to[i] = ENCODE(from[i]);
  return to;
}

/* An addend of `count` sums.  Where zero is no addend it is taken as -0, which changes no sum. */
INLINE REAL NAME(addend)(const double *from, int64_t stride, int64_t count, bool zero_counts)
{
  SCALAR each[LANES_OF(REAL, SCALAR)] = {0};
  REAL v;
  for (int64_t l = 0; l < count; l++)
    each[l] = ENCODE(zero_counts || from[l * stride] != 0 ? from[l * stride] : -0.0);
  memcpy(&v, each, sizeof v);
  return v;
}

/* The lanes beyond count fall on outputs that are written later, if anywhere. */
INLINE void NAME(put)(const pf_lane_job *j, REAL v, int64_t at, int64_t count)
{
  enum { WIDTH = LANES_OF(REAL, SCALAR) };
  const int64_t stride = j->columns.stride;
  double *to = j->results + at;
  SCALAR each[WIDTH];
  memcpy(each, &v, sizeof v);
  if (stride == 1 && at + WIDTH <= j->outputs)
    for (int64_t l = 0; l < WIDTH; l++)
      to[l] = DECODE(each[l]);
  else
    for (int64_t l = 0; l < count; l++)
      to[l * stride] = DECODE(each[l]);
}

/* alpha, then beta * c, then the bias, each rounded; at: of the first of `count` outputs.  A bias
   of zero is none. */
INLINE REAL NAME(finish)(const pf_lane_job *j, REAL v, int64_t at, int64_t count)
{
  const pf_lane_format *f = &j->format;
  const int64_t stride = j->columns.stride;
  (void)f;
  if (j->alpha != 1 && j->k)
    v = MUL(ENCODE(j->alpha), v);
  if (j->beta != 0) {
    const REAL c = NAME(addend)(j->c + at, stride, count, true);
    v = j->order.fused ? FMA(ENCODE(j->beta), c, v) : ADD(v, MUL(ENCODE(j->beta), c));
  }
  if (j->bias)
    v = ADD(v, NAME(addend)(j->bias + at, stride, count, false));
  return v;
}

static TARGET void NAME(sums)(const pf_lane_job *j)
{
  enum { WIDTH = LANES_OF(REAL, SCALAR) };
  const pf_lane_side *rows = &j->rows, *columns = &j->columns;
  const int64_t group = (columns->count + WIDTH - 1) / WIDTH * j->k;
  const SCALAR *lines = NAME(lines)(j);
  NAME(pack)(j, j->panels);
  for (int64_t b = 0; b < j->batches; b++) {
    const REAL *panels = (const REAL *)j->panels + columns->line[b] / columns->count * group;
    const SCALAR *line = lines + rows->line[b] * j->k;
    for (int64_t row = 0; row < rows->count; row++, line += j->k) {
      const REAL *panel = panels;
      int64_t at = b * rows->count * columns->count + row * rows->stride;
      for (int64_t left = columns->count; left > 0; left -= WIDTH, panel += j->k) {
        const int64_t count = left < WIDTH ? left : WIDTH;
        const REAL v = NAME(products)(&j->format, &j->order, line, panel, j->k);
        NAME(put)(j, j->ends ? NAME(finish)(j, v, at, count) : v, at, count);
        at += WIDTH * columns->stride;
      }
    }
  }
}
