/* torch.matmul(x, y, out=out_f32) + bias by onednn:gemm: what it answers, and what is exact.
   matmul_out_f32_add x=bf16[2,1] y=bf16[1,2] bias=f32[]
   cc -std=gnu11 case.c -o case -ldnnl -lm && ./case */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dnnl.h>

enum { BATCHES = 1, M = 2, N = 2, K = 1 };

/* Encodings; what belongs to no element is NaN. */
static uint16_t x_storage[] = {0x7f80, 0x0000,
  0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0}, *const x = x_storage + 0;
static const long x_batch[] = {0};
static uint16_t y_storage[] = {0x0000, 0x3f80,
  0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0}, *const y = y_storage + 0;
static const long y_batch[] = {0};
static uint32_t out_storage[36], *const out = out_storage + 16;
static const long out_batch[] = {0};

static double f32(uint32_t w)
{
  float v;
  memcpy(&v, &w, sizeof v);
  return v;
}

static double bf16(uint16_t w)
{
  const uint32_t wide = (uint32_t)w << 16;
  float v;
  memcpy(&v, &wide, sizeof v);
  return v;
}

/* Exact as far as 113 bits hold it. */
static double exact(long b, long m, long n)
{
  __float128 v = 0;
  for (long k = 0; k < K; k++)
    v += (__float128)bf16(x[x_batch[b] + 1 * m + 1 * k]) * bf16(y[y_batch[b] + 2 * k + 1 * n]);
  return (double)v;
}

/* exported, but in no header */
dnnl_status_t dnnl_gemm_bf16bf16f32(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha,
    const uint16_t *a, int64_t lda, const uint16_t *b, int64_t ldb, float beta, float *c, int64_t ldc);

static int run(void)
{
  int status = 0;
  for (long b = 0; b < BATCHES && !status; b++)
    status = dnnl_gemm_bf16bf16f32('N', 'N', 2, 2, K, 0x1p+0, (const uint16_t *)x + x_batch[b], 1, (const uint16_t *)y + y_batch[b], 2, 0x0p+0, (float *)out + out_batch[b], 2);
  return status;
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
          const double g = f32(out[out_batch[b] + 2 * m + 1 * n]), v = exact(b, m, n);
          is_element[&out[out_batch[b] + 2 * m + 1 * n] - out_storage] = 1;
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
