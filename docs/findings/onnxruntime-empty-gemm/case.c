/* torch.addmm(c, x, y, beta=beta, alpha=alpha) by onnxruntime:empty: what it answers, and what is exact.
   addmm x=f32[1,0] y=f32[0,1] c=f32[] beta=-1 c.values=equal:0
   cc -std=gnu11 case.c -o case -I/usr/include/onnxruntime -lonnxruntime -lm && ./case */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <onnxruntime_c_api.h>

enum { BATCHES = 1, M = 1, N = 1, K = 0 };

/* Encodings; what belongs to no element is NaN. */
static uint32_t x_storage[] = {0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000}, *const x = x_storage + 0;
static const long x_batch[] = {0};
static uint32_t y_storage[] = {0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000}, *const y = y_storage + 0;
static const long y_batch[] = {0};
static uint32_t z_storage[] = {0x3f800000,
  0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000}, *const z = z_storage + 0;
static const long z_batch[] = {0};
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
  v *= 0x1p+0;
  v += -0x1p+0 * (__float128)f32(z[z_batch[b] + 0 * m + 0 * n]);
  return (double)v;
}

/* out = Gemm(x, y, c), as ONNX writes it. */
static const unsigned char model[] = {
  8, 9, 58, 110, 10, 53, 10, 1, 120, 10, 1, 121, 10, 1, 99, 18, 3, 111, 117, 116, 34, 4, 71, 101,
  109, 109, 42, 15, 10, 5, 97, 108, 112, 104, 97, 21, 0, 0, 128, 63, 160, 1, 1, 42, 14, 10, 4, 98,
  101, 116, 97, 21, 0, 0, 128, 191, 160, 1, 1, 18, 7, 112, 114, 111, 100, 117, 99, 116, 90, 9, 10, 1,
  120, 18, 4, 10, 2, 8, 1, 90, 9, 10, 1, 121, 18, 4, 10, 2, 8, 1, 90, 9, 10, 1, 99, 18,
  4, 10, 2, 8, 1, 98, 11, 10, 3, 111, 117, 116, 18, 4, 10, 2, 8, 1, 66, 2, 16, 19};

#define TRY(call) do { OrtStatus *const failed = (call); if (failed) { \
  printf("%s\n", api->GetErrorMessage(failed)); return 1; } } while (0)

static int run(void)
{
  const OrtApi *const api = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  OrtEnv *env;
  OrtSessionOptions *options;
  OrtSession *session;
  OrtMemoryInfo *info;
  static uint32_t dense_x[BATCHES * M * K + 128];
  for (long b = 0; b < BATCHES; b++)
    for (long i = 0; i < M; i++)
      for (long j = 0; j < K; j++)
        dense_x[(b * M + i) * K + j] = x[x_batch[b] + 1 * i + 1 * j];
  static uint32_t dense_y[BATCHES * K * N + 128];
  for (long b = 0; b < BATCHES; b++)
    for (long i = 0; i < K; i++)
      for (long j = 0; j < N; j++)
        dense_y[(b * K + i) * N + j] = y[y_batch[b] + 1 * i + 1 * j];
  static uint32_t dense_out[BATCHES * M * N + 128];
  for (long b = 0; b < BATCHES; b++)
    for (long i = 0; i < M; i++)
      for (long j = 0; j < N; j++)
        dense_out[(b * M + i) * N + j] = out[out_batch[b] + 1 * i + 1 * j];
  static uint32_t dense_z[BATCHES * M * N + 128];
  for (long b = 0; b < BATCHES; b++)
    for (long i = 0; i < M; i++)
      for (long j = 0; j < N; j++)
        dense_z[(b * M + i) * N + j] = z[z_batch[b] + 0 * i + 0 * j];
  TRY(api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "case", &env));
  TRY(api->CreateSessionOptions(&options));
  TRY(api->SetIntraOpNumThreads(options, 1));
  TRY(api->CreateSessionFromArray(env, model, sizeof model, options, &session));
  TRY(api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &info));
  for (long b = 0; b < BATCHES; b++) {
    OrtValue *in[3], *result;
    TRY(api->CreateTensorWithDataAsOrtValue(info, dense_x + b * M * K,
        sizeof *dense_x * M * K, (const int64_t[]){M, K}, 2,
        (ONNXTensorElementDataType)1, &in[0]));
    TRY(api->CreateTensorWithDataAsOrtValue(info, dense_y + b * K * N,
        sizeof *dense_y * K * N, (const int64_t[]){K, N}, 2,
        (ONNXTensorElementDataType)1, &in[1]));
    TRY(api->CreateTensorWithDataAsOrtValue(info, dense_z + b * M * N,
        sizeof *dense_z * M * N, (const int64_t[]){M, N}, 2,
        (ONNXTensorElementDataType)1, &in[2]));
    TRY(api->CreateTensorWithDataAsOrtValue(info, dense_out + b * M * N,
        sizeof *dense_out * M * N, (const int64_t[]){M, N}, 2,
        (ONNXTensorElementDataType)1, &result));
    TRY(api->Run(session, NULL, (const char *[]){"x", "y", "c"}, (const OrtValue *const *)in, 3,
        (const char *[]){"out"}, 1, &result));
  }
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
