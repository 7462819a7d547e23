/* x @ y by xnnpack: what it answers, and what is exact.
   matmul x=f16[1,1] y=f16[1,1]
   cc -std=gnu11 case.c -o case -lXNNPACK -lpthreadpool -lpthread -lm && ./case */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xnnpack.h>

enum { BATCHES = 1, M = 1, N = 1, K = 1 };

/* Encodings; what belongs to no element is NaN. */
static uint16_t x_storage[] = {0x7e00,
  0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00}, *const x = x_storage + 0;
static const long x_batch[] = {0};
static uint16_t y_storage[] = {0x0000,
  0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00, 0x7e00}, *const y = y_storage + 0;
static const long y_batch[] = {0};
static uint16_t out_storage[33], *const out = out_storage + 16;
static const long out_batch[] = {0};

static double f16(uint16_t w)
{
  const int e = w >> 10 & 31, f = w & 1023;
  const double v = e == 31 ? (f ? NAN : INFINITY) : ldexp(e ? f + 1024 : f, (e ? e : 1) - 25);
  return w >> 15 ? -v : v;
}

/* Exact as far as 113 bits hold it. */
static double exact(long b, long m, long n)
{
  __float128 v = 0;
  for (long k = 0; k < K; k++)
    v += (__float128)f16(x[x_batch[b] + 1 * m + 1 * k]) * f16(y[y_batch[b] + 1 * k + 1 * n]);
  return (double)v;
}

#define TRY(call) do { const int failed = (int)(call); if (failed) return failed; } while (0)

static int run(void)
{
  xnn_operator_t op;
  size_t bytes, alignment;
  const size_t batches = BATCHES;
  static uint16_t dense_x[BATCHES * M * K + 128];
  for (long b = 0; b < BATCHES; b++)
    for (long i = 0; i < M; i++)
      for (long j = 0; j < K; j++)
        dense_x[(b * M + i) * K + j] = x[x_batch[b] + 1 * i + 1 * j];
  static uint16_t dense_y[BATCHES * K * N + 128];
  for (long b = 0; b < BATCHES; b++)
    for (long i = 0; i < K; i++)
      for (long j = 0; j < N; j++)
        dense_y[(b * K + i) * N + j] = y[y_batch[b] + 1 * i + 1 * j];
  static uint16_t dense_out[BATCHES * M * N + 128];
  for (long b = 0; b < BATCHES; b++)
    for (long i = 0; i < M; i++)
      for (long j = 0; j < N; j++)
        dense_out[(b * M + i) * N + j] = out[out_batch[b] + 1 * i + 1 * j];
  TRY(xnn_initialize(NULL));
  TRY(xnn_create_batch_matrix_multiply_nc_f16(0, &op));
  TRY(xnn_reshape_batch_matrix_multiply_nc_f16(op, 1, &batches, &batches, M, K, N,
                                              &bytes, &alignment, NULL));
  void *const workspace = aligned_alloc(4096, (bytes / 4096 + 1) * 4096);
  TRY(xnn_setup_batch_matrix_multiply_nc_f16(op, workspace, dense_x, dense_y, dense_out));
  TRY(xnn_run_operator(op, NULL));
  for (long b = 0; b < BATCHES; b++)
    for (long i = 0; i < M; i++)
      for (long j = 0; j < N; j++)
        out[out_batch[b] + 1 * i + 1 * j] = dense_out[(b * M + i) * N + j];
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
    out_storage[i] = 0x7e00;
  const int status = run();
  if (status)
    printf("refused: status %d\n", status);
  for (int line = 0; line < 8 && line < COUNT && !status; line++) {
    double most = -1, got = 0, wanted = 0;
    long worst = 0, i = 0;
    for (long b = 0; b < BATCHES; b++)
      for (long m = 0; m < M; m++)
        for (long n = 0; n < N; n++, i++) {
          const double g = f16(out[out_batch[b] + 1 * m + 1 * n]), v = exact(b, m, n);
          is_element[&out[out_batch[b] + 1 * m + 1 * n] - out_storage] = 1;
          if (!shown[i] && distance(g, v) > most)
            most = distance(g, v), got = g, wanted = v, worst = i;
        }
    shown[worst] = 1;
    printf("element %ld: exact %.9g (%a)\n  got %.9g (%a)\n", worst, wanted, wanted, got, got);
  }
  for (long i = 0; i < STORED && COUNT; i++)
    if (!is_element[i] && out_storage[i] != 0x7e00)
      printf("wrote outside its output: %ld elements from the first\n", i - (long)(out - out_storage));
  return status != 0;
}
