/* A compiled graph as the adapter uses it: x @ y, with a third input plus that, in f32; with a
   third input that is a vector, y comes transposed (linear). It is strict: inputs that are not
   dense are refused. Inputs are taken over. */
#include <stdlib.h>
#include <string.h>

#include "../../src/engines/torch_abi.h"
#include "fake_torch.h"

#define PUBLIC __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

PUBLIC int32_t AOTInductorModelContainerCreateWithDevice(void **container, size_t models,
                                                         const char *device, const char *folder)
{
  *container = malloc(1);
  return models != 1 || strcmp(device, "cpu") || folder || !*container;
}

PUBLIC int32_t AOTInductorModelContainerDelete(void *container)
{
  free(container);
  return 0;
}

static int is_dense_f32(const struct pf_torch_opaque *t)
{
  int64_t stride = 1;
  for (int64_t d = t->rank; d-- > 0; stride *= t->size[d])
    if (t->stride[d] != stride)
      return 0;
  return t->dtype == FAKE_F32;
}

static float dot(const float *x, const float *y, int64_t k, int64_t step)
{
  float sum = 0;
  for (int64_t i = 0; i < k; i++)
    sum += x[i] * y[i * step];
  return sum;
}

static pf_torch_tensor multiply(pf_torch_tensor *input, size_t count)
{
  const struct pf_torch_opaque *x = input[0], *y = input[1], *add = count > 2 ? input[2] : NULL;
  const int linear = add && add->rank == 1;
  const int64_t m = x->size[x->rank - 2], k = x->size[x->rank - 1];
  const int64_t n = y->size[y->rank - (linear ? 2 : 1)], batches = x->rank == 3 ? x->size[0] : 1;
  pf_torch_tensor out = calloc(1, sizeof *out);
  float *to = calloc((size_t)(batches * m * n) + 1, sizeof *to);
  *out = (struct pf_torch_opaque){.data = (char *)to, .rank = 2, .size = {m, n}, .stride = {n, 1},
                                  .dtype = FAKE_F32, .own = to};
  if (x->rank == 3)
    *out = (struct pf_torch_opaque){.data = (char *)to, .rank = 3, .size = {batches, m, n},
                                    .stride = {m * n, n, 1}, .dtype = FAKE_F32, .own = to};
  for (int64_t e = 0; e < batches * m * n; e++) {
    const int64_t b = e / n / m, i = e / n % m, j = e % n;
    const float *left = (const float *)(const void *)x->data + (b * m + i) * k;
    const float *right = (const float *)(const void *)y->data + b * k * n + j * (linear ? k : 1);
    to[e] = dot(left, right, k, linear ? 1 : n);
    if (add)
      to[e] += ((const float *)(const void *)add->data)[linear ? j : e];
  }
  return out;
}

PUBLIC int32_t AOTInductorModelContainerRun(void *container, pf_torch_tensor *input, size_t count,
                                            pf_torch_tensor *output, size_t outputs, void *stream,
                                            void *executor)
{
  int dense = container && outputs == 1 && !stream && !executor && count >= 2;
  for (size_t i = 0; i < count; i++)
    dense &= is_dense_f32(input[i]);
  if (dense)
    *output = multiply(input, count);
  for (size_t i = 0; i < count; i++)
    free(input[i]);
  return !dense;
}
