/* A CBLAS library that writes down how it is called.  As strict as a real one: a leading dimension
   that is too small, or an increment of 0, is noted and nothing is computed. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef INTEGER
#define INTEGER int32_t
#define NAME(f) f
#endif

#define PUBLIC __attribute__((visibility("default")))
PUBLIC const char *fake_blas_calls(void);
PUBLIC size_t NAME(cblas_isamax)(INTEGER n, const float *x, INTEGER step);

static char calls[1024], answer[1024];
static size_t used;

/* The calls since the last question. */
const char *fake_blas_calls(void)
{
  memcpy(answer, calls, sizeof answer);
  calls[0] = 0;
  used = 0;
  return answer;
}

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(calls + used, sizeof calls - used, format, arguments);
  va_end(arguments);
  used += (size_t)length;
  if (used >= sizeof calls)
    used = sizeof calls - 1;
}

static char letter(int op)
{
  return op == 111 ? 'N' : op == 112 ? 'T' : '?';
}

static const char *order_name(int order)
{
  return order == 101 ? "row" : order == 102 ? "column" : "?";
}

size_t NAME(cblas_isamax)(INTEGER n, const float *x, INTEGER step)
{
  size_t best = 0;
  for (INTEGER i = 1; i < n; i++)
    if (x[i * step] > x[(INTEGER)best * step])
      best = (size_t)i;
  return best;
}

static int too_small(int by_rows, int op, INTEGER rows, INTEGER columns, INTEGER ld)
{
  const INTEGER line = by_rows == (op == 111) ? columns : rows;
  return ld < (line > 1 ? line : 1);
}

static INTEGER at(int by_rows, int op, INTEGER i, INTEGER j, INTEGER ld)
{
  return by_rows == (op == 111) ? i * ld + j : j * ld + i;
}

static float of_s(float v)
{
  return v;
}

static double of_d(double v)
{
  return v;
}

static float of_sb(uint16_t v)
{
  float f;
  memcpy(&f, &(uint32_t){(uint32_t)v << 16}, sizeof f);
  return f;
}

#define GEMM(P, IN, REAL)                                                                        \
  static void P##_product(int order, int ta, int tb, INTEGER m, INTEGER n, INTEGER k,           \
                          REAL alpha, const IN *a, INTEGER lda, const IN *b, INTEGER ldb,        \
                          REAL beta, REAL *c, INTEGER ldc)                                       \
  {                                                                                              \
    const int rows = order == 101;                                                               \
    if (too_small(rows, ta, m, k, lda) || too_small(rows, tb, k, n, ldb) ||                      \
        too_small(rows, 111, m, n, ldc)) {                                                       \
      note(" illegal leading dimension");                                                        \
      return;                                                                                    \
    }                                                                                            \
    for (INTEGER i = 0; i < m; i++)                                                              \
      for (INTEGER j = 0; j < n; j++) {                                                          \
        REAL sum = 0;                                                                            \
        for (INTEGER l = 0; l < k && alpha != 0; l++)                                            \
          sum += of_##P(a[at(rows, ta, i, l, lda)]) * of_##P(b[at(rows, tb, l, j, ldb)]);        \
        REAL *out = &c[at(rows, 111, i, j, ldc)];                                                \
        *out = beta == 0 ? alpha * sum : alpha * sum + beta * *out;                              \
      }                                                                                          \
  }                                                                                              \
  PUBLIC void NAME(cblas_##P##gemm)(int order, int ta, int tb, INTEGER m, INTEGER n, INTEGER k,  \
                                    REAL alpha, const IN *a, INTEGER lda, const IN *b,           \
                                    INTEGER ldb, REAL beta, REAL *c, INTEGER ldc);               \
  void NAME(cblas_##P##gemm)(int order, int ta, int tb, INTEGER m, INTEGER n, INTEGER k,         \
                             REAL alpha, const IN *a, INTEGER lda, const IN *b, INTEGER ldb,     \
                             REAL beta, REAL *c, INTEGER ldc)                                    \
  {                                                                                              \
    note(#P "gemm %s %c%c %d %d %d ld %d %d %d alpha %g beta %g;", order_name(order),            \
         letter(ta), letter(tb), (int)m, (int)n, (int)k, (int)lda, (int)ldb, (int)ldc,           \
         (double)alpha, (double)beta);                                                           \
    P##_product(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                    \
  }                                                                                              \
  PUBLIC void NAME(cblas_##P##gemv)(int order, int op, INTEGER m, INTEGER n, REAL alpha,         \
                                    const IN *a, INTEGER lda, const IN *x, INTEGER incx,         \
                                    REAL beta, REAL *y, INTEGER incy);                           \
  void NAME(cblas_##P##gemv)(int order, int op, INTEGER m, INTEGER n, REAL alpha, const IN *a,   \
                             INTEGER lda, const IN *x, INTEGER incx, REAL beta, REAL *y,         \
                             INTEGER incy)                                                       \
  {                                                                                              \
    note(#P "gemv %s %c %d %d ld %d inc %d %d alpha %g beta %g;", order_name(order), letter(op), \
         (int)m, (int)n, (int)lda, (int)incx, (int)incy, (double)alpha, (double)beta);           \
    if (too_small(order == 101, 111, m, n, lda) || !incx || !incy) {                             \
      note(" illegal leading dimension or increment");                                           \
      return;                                                                                    \
    }                                                                                            \
    if (m == 0 || n == 0)                                                                        \
      return;                                                                                    \
    const INTEGER rows = op == 111 ? m : n, columns = op == 111 ? n : m;                         \
    for (INTEGER i = 0; i < rows; i++) {                                                         \
      REAL sum = 0;                                                                              \
      for (INTEGER l = 0; l < columns && alpha != 0; l++)                                        \
        sum += of_##P(a[at(order == 101, op, i, l, lda)]) * of_##P(x[l * incx]);                 \
      y[i * incy] = beta == 0 ? alpha * sum : alpha * sum + beta * y[i * incy];                  \
    }                                                                                            \
  }                                                                                              \
  PUBLIC REAL NAME(cblas_##P##dot)(INTEGER n, const IN *x, INTEGER incx, const IN *y,            \
                                   INTEGER incy);                                                \
  REAL NAME(cblas_##P##dot)(INTEGER n, const IN *x, INTEGER incx, const IN *y, INTEGER incy)     \
  {                                                                                              \
    REAL sum = 0;                                                                                \
    note(#P "dot %d inc %d %d;", (int)n, (int)incx, (int)incy);                                  \
    for (INTEGER l = 0; l < n; l++)                                                              \
      sum += of_##P(x[l * incx]) * of_##P(y[l * incy]);                                          \
    return sum;                                                                                  \
  }

GEMM(s, float, float)
GEMM(d, double, double)
GEMM(sb, uint16_t, float)

PUBLIC void NAME(cblas_sgemm_batch)(int order, const int *ta, const int *tb, const INTEGER *m,
                                    const INTEGER *n, const INTEGER *k, const float *alpha,
                                    const float **a, const INTEGER *lda, const float **b,
                                    const INTEGER *ldb, const float *beta, float **c,
                                    const INTEGER *ldc, INTEGER groups, const INTEGER *size);
void NAME(cblas_sgemm_batch)(int order, const int *ta, const int *tb, const INTEGER *m,
                             const INTEGER *n, const INTEGER *k, const float *alpha,
                             const float **a, const INTEGER *lda, const float **b,
                             const INTEGER *ldb, const float *beta, float **c, const INTEGER *ldc,
                             INTEGER groups, const INTEGER *size)
{
  note("sgemm_batch %d of %d;", (int)groups, (int)*size);
  for (INTEGER i = 0; i < *size; i++)
    s_product(order, *ta, *tb, *m, *n, *k, *alpha, a[i], *lda, b[i], *ldb, *beta, c[i], *ldc);
}
