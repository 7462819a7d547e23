/* torch.addmm(c, x, y, beta=beta, alpha=alpha) by torch:raw: what it answers, and what is exact.
   addmm x=bf16[1,0] y=bf16[0,1] c=bf16[] beta=0x1.01p+0
   cc -std=gnu11 case.c -o case -l:libtorch_cpu.so.2.6 -lm && ./case */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCHES = 1, M = 1, N = 1, K = 0 };

/* Encodings; what belongs to no element is NaN. */
static uint16_t x_storage[] = {0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0}, *const x = x_storage + 0;
static const long x_batch[] = {0};
static uint16_t y_storage[] = {0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0}, *const y = y_storage + 0;
static const long y_batch[] = {0};
static uint16_t z_storage[] = {0x3fc0,
  0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0, 0x7fc0}, *const z = z_storage + 0;
static const long z_batch[] = {0};
static uint16_t out_storage[33], *const out = out_storage + 16;
static const long out_batch[] = {0};

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
    v += (__float128)bf16(x[x_batch[b] + 1 * m + 1 * k]) * bf16(y[y_batch[b] + 1 * k + 1 * n]);
  v *= 0x1p+0;
  v += 0x1.01p+0 * (__float128)bf16(z[z_batch[b] + 0 * m + 0 * n]);
  return (double)v;
}

/* libtorch's interface for C, whose own header is C++ */
typedef struct AtenTensorOpaque *tensor;
int32_t aoti_torch_device_type_cpu(void);
int32_t aoti_torch_dtype_bfloat16(void);
int32_t aoti_torch_create_tensor_from_blob(void *data, int64_t rank, const int64_t *sizes,
    const int64_t *strides, int64_t offset, int32_t dtype, int32_t device, int32_t device_index,
    tensor *to);
void aoti_torch_grad_mode_set_enabled(bool enabled);
int32_t aoti_torch_cpu_addmm_out(tensor out, tensor self, tensor a, tensor b, double beta,
    double alpha);

#define TRY(call) do { const int failed = (int)(call); if (failed) return failed; } while (0)

static int run(void)
{
  aoti_torch_grad_mode_set_enabled(false);
  tensor x_tensor;
  TRY(aoti_torch_create_tensor_from_blob(x, 2, (const int64_t[]){1, 0},
      (const int64_t[]){1, 1}, 0, aoti_torch_dtype_bfloat16(), aoti_torch_device_type_cpu(), 0, &x_tensor));
  tensor y_tensor;
  TRY(aoti_torch_create_tensor_from_blob(y, 2, (const int64_t[]){0, 1},
      (const int64_t[]){1, 1}, 0, aoti_torch_dtype_bfloat16(), aoti_torch_device_type_cpu(), 0, &y_tensor));
  tensor out_tensor;
  TRY(aoti_torch_create_tensor_from_blob(out, 2, (const int64_t[]){1, 1},
      (const int64_t[]){1, 1}, 0, aoti_torch_dtype_bfloat16(), aoti_torch_device_type_cpu(), 0, &out_tensor));
  tensor z_tensor;
  TRY(aoti_torch_create_tensor_from_blob(z, 2, (const int64_t[]){1, 1},
      (const int64_t[]){0, 0}, 0, aoti_torch_dtype_bfloat16(), aoti_torch_device_type_cpu(), 0, &z_tensor));
  return aoti_torch_cpu_addmm_out(out_tensor, z_tensor, x_tensor, y_tensor, 0x1.01p+0, 0x1p+0);
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
    out_storage[i] = 0x7fc0;
  const int status = run();
  if (status)
    printf("refused: status %d\n", status);
  for (int line = 0; line < 8 && line < COUNT && !status; line++) {
    double most = -1, got = 0, wanted = 0;
    long worst = 0, i = 0;
    for (long b = 0; b < BATCHES; b++)
      for (long m = 0; m < M; m++)
        for (long n = 0; n < N; n++, i++) {
          const double g = bf16(out[out_batch[b] + 1 * m + 1 * n]), v = exact(b, m, n);
          is_element[&out[out_batch[b] + 1 * m + 1 * n] - out_storage] = 1;
          if (!shown[i] && distance(g, v) > most)
            most = distance(g, v), got = g, wanted = v, worst = i;
        }
    shown[worst] = 1;
    printf("element %ld: exact %.9g (%a)\n  got %.9g (%a)\n", worst, wanted, wanted, got, got);
  }
  for (long i = 0; i < STORED && COUNT; i++)
    if (!is_element[i] && out_storage[i] != 0x7fc0)
      printf("wrote outside its output: %ld elements from the first\n", i - (long)(out - out_storage));
  return status != 0;
}
