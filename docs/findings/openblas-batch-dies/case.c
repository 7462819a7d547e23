/* x @ y by openblas:gemm_batch: what it answers, and what is exact.
   matmul x=f32[1,0] y=f32[0,1]
   cc -std=gnu11 case.c -o case -lopenblas -lm && ./case */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cblas.h>

enum { BATCHES = 1, M = 1, N = 1, K = 0 };

/* Encodings; what belongs to no element is NaN. */
static uint32_t x_storage[] = {0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000}, *const x = x_storage + 0;
static const long x_batch[] = {0};
static uint32_t y_storage[] = {0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000}, *const y = y_storage + 0;
static const long y_batch[] = {0};
static uint32_t out_storage[33], *const out = out_storage + 16;
static const long out_batch[] = {0};

static double f32(uint32_t w)
{
  float v;
  memcpy(&v, &w, sizeof v);
  return v;
}

/* Exact as far as 113 bits hold it. */
static double exact(long b, long m, long n)
{
  __float128 v = 0;
  for (long k = 0; k < K; k++)
    v += (__float128)f32(x[x_batch[b] + 1 * m + 1 * k]) * f32(y[y_batch[b] + 1 * k + 1 * n]);
  return (double)v;
}

static int run(void)
{
  for (long b = 0; b < BATCHES; b++) {
    const CBLAS_TRANSPOSE ta = CblasNoTrans, tb = CblasNoTrans;
    const blasint m = 1, n = 1, k = K, lda = 1, ldb = 1, ldc = 1,
                  one = 1;
    const float alpha = 0x1p+0, beta = 0x0p+0;
    const float *left = (const float *)x + x_batch[b], *right = (const float *)y + y_batch[b];
    float *to = (float *)out + out_batch[b];
    cblas_sgemm_batch(CblasRowMajor, &ta, &tb, &m, &n, &k, &alpha, &left, &lda, &right, &ldb,
                       &beta, &to, &ldc, 1, &one);
  }
  return 0;
}

static double distance(double got, double v)
{
  return got == v || (got != got && v != v) ? 0 : got - v == got - v ? fabs(got - v) : INFINITY;
}

/* Libraries read it when they are loaded, which they are by now: so it starts again. */
static void set_environment(char **argv)
{
  static const char *const variable[][2] = {{"OMP_NUM_THREADS", "1"}};
  int missing = 0;
  for (size_t i = 0; i < sizeof variable / sizeof *variable; i++)
    if (!getenv(variable[i][0]))
      missing = !setenv(variable[i][0], variable[i][1], 0);
  if (missing)
    execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
  (void)argc;
  set_environment(argv);
  setvbuf(stdout, NULL, _IOLBF, 0);  /* the library may die */
  enum { STORED = sizeof out_storage / sizeof *out_storage, COUNT = BATCHES * M * N };
  static char is_element[STORED], shown[COUNT + 1];
  for (long i = 0; i < STORED; i++)
    out_storage[i] = 0x7fc00000;
  const int status = run();
  if (status)
    printf("refused: status %d\n", status);
  for (int line = 0; line < 8 && line < COUNT && !status; line++) {
    double most = -1, got = 0, wanted = 0;
    long worst = 0, i = 0;
    for (long b = 0; b < BATCHES; b++)
      for (long m = 0; m < M; m++)
        for (long n = 0; n < N; n++, i++) {
          const double g = f32(out[out_batch[b] + 1 * m + 1 * n]), v = exact(b, m, n);
          is_element[&out[out_batch[b] + 1 * m + 1 * n] - out_storage] = 1;
          if (!shown[i] && distance(g, v) > most)
            most = distance(g, v), got = g, wanted = v, worst = i;
        }
    shown[worst] = 1;
    printf("element %ld: exact %.9g (%a)\n  got %.9g (%a)\n", worst, wanted, wanted, got, got);
  }
  for (long i = 0; i < STORED && COUNT; i++)
    if (!is_element[i] && out_storage[i] != 0x7fc00000)
      printf("wrote outside its output: %ld elements from the first\n", i - (long)(out - out_storage));
  return status != 0;
}
