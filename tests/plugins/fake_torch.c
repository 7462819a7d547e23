/* libtorch's interface for C as far as the adapter uses it, for f32, f16 and bf16. Like the real
   one it takes any strides; it is strict: sizes and dtypes that do not fit are refused, and so is
   a call while gradients are wanted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/engines/onednn_abi.h"
#include "../../src/engines/torch_abi.h"
#include "fake_torch.h"

#define PUBLIC __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { F64 = 7, F16 = 5, BF16 = 15, S32 = 3, CPU = 0 };

static bool gradients = true;

PUBLIC int32_t aoti_torch_device_type_cpu(void) { return CPU; }
PUBLIC int32_t aoti_torch_dtype_float64(void) { return F64; }
PUBLIC int32_t aoti_torch_dtype_float32(void) { return FAKE_F32; }
PUBLIC int32_t aoti_torch_dtype_float16(void) { return F16; }
PUBLIC int32_t aoti_torch_dtype_bfloat16(void) { return BF16; }
PUBLIC int32_t aoti_torch_dtype_int32(void) { return S32; }
PUBLIC void aoti_torch_grad_mode_set_enabled(bool enabled) { gradients = enabled; }
PUBLIC int dnnl_get_effective_cpu_isa(void) { return PF_DNNL_AVX512_CORE_BF16; }

PUBLIC int32_t aoti_torch_create_tensor_from_blob(void *data, int64_t rank, const int64_t *sizes,
                                                  const int64_t *strides, int64_t offset,
                                                  int32_t dtype, int32_t device, int32_t index,
                                                  pf_torch_tensor *out)
{
  const bool known = rank <= FAKE_RANK && !offset && device == CPU && !index;
  pf_torch_tensor t = known ? calloc(1, sizeof *t) : NULL;
  if (!t)
    return 1;
  t->data = data;
  t->rank = rank;
  t->dtype = dtype;
  memcpy(t->size, sizes, (size_t)rank * sizeof *sizes);
  memcpy(t->stride, strides, (size_t)rank * sizeof *strides);
  *out = t;
  return 0;
}

PUBLIC int32_t aoti_torch_delete_tensor_object(pf_torch_tensor t)
{
  free(t->own);
  free(t);
  return 0;
}

PUBLIC int32_t aoti_torch_get_dtype(pf_torch_tensor t, int32_t *out)
{
  *out = t->dtype;
  return 0;
}

static char *at(const struct pf_torch_opaque *t, int64_t b, int64_t i, int64_t j)
{
  const int64_t index[] = {b, i, j};
  int64_t offset = 0;
  for (int64_t d = 0; d < t->rank; d++)
    offset += index[FAKE_RANK - t->rank + d] * t->stride[d];
  return t->data + offset * (t->dtype == FAKE_F32 ? 4 : 2);
}

static double load(const struct pf_torch_opaque *t, int64_t b, int64_t i, int64_t j)
{
  uint32_t bits = 0;
  float v;
  memcpy(&bits, at(t, b, i, j), t->dtype == FAKE_F32 ? 4 : 2);
  if (t->dtype == F16)
    return (bits & 0x8000 ? -1 : 1) * ldexp(1024 + (bits & 1023), (int)(bits >> 10 & 31) - 25);
  if (t->dtype == BF16)
    bits <<= 16;
  memcpy(&v, &bits, sizeof v);
  return v;
}

/* To nearest even; f16 cut, which is enough for the one number that is asked. */
static void store(const struct pf_torch_opaque *t, int64_t b, int64_t i, int64_t j, double value)
{
  const float v = (float)value;
  uint32_t bits;
  int exponent;
  memcpy(&bits, &v, sizeof bits);
  if (t->dtype == F16)
    bits = (uint32_t)(fabs(frexp(value, &exponent)) * 2048 - 1024) +
           (uint32_t)(exponent + 14) * 1024;
  if (t->dtype == BF16)
    bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  memcpy(at(t, b, i, j), &bits, t->dtype == FAKE_F32 ? 4 : 2);
}

static int64_t size(const struct pf_torch_opaque *t, int from_last)
{
  return from_last <= t->rank ? t->size[t->rank - from_last] : 1;
}

static bool fits(const struct pf_torch_opaque *t, int64_t rank, int32_t dtype, int64_t b, int64_t m,
                 int64_t n)
{
  return t->rank == rank && t->dtype == dtype &&
         (dtype == FAKE_F32 || dtype == F16 || dtype == BF16) && size(t, 3) == b && size(t, 2) == m && size(t, 1) == n;
}

static int32_t multiply(int64_t rank, pf_torch_tensor out, pf_torch_tensor self, pf_torch_tensor x,
                        pf_torch_tensor y, double beta, double alpha)
{
  const int64_t batches = size(out, 3), m = size(out, 2), n = size(out, 1), depth = size(x, 1);
  if (gradients || !fits(out, rank, x->dtype, batches, m, n) ||
      !fits(x, rank, x->dtype, batches, m, depth) || !fits(y, rank, x->dtype, batches, depth, n) ||
      (self && !fits(self, self->rank, x->dtype, self->rank < 3 ? 1 : batches,
                     self->rank < 2 ? 1 : m, n)))
    return 1;
  for (int64_t e = 0; e < batches * m * n; e++) {
    const int64_t j = e % n, i = e / n % m, b = e / n / m;
    double sum = 0;
    for (int64_t k = 0; k < depth; k++)
      sum += load(x, b, i, k) * load(y, b, k, j);
    sum *= alpha;
    if (self && beta != 0)
      sum += beta * load(self, b, i, j);
    store(out, b, i, j, sum);
  }
  return 0;
}

PUBLIC int32_t aoti_torch_cpu_mm_out(pf_torch_tensor out, pf_torch_tensor a, pf_torch_tensor b)
{
  return multiply(2, out, NULL, a, b, 0, 1);
}

PUBLIC int32_t aoti_torch_cpu_bmm_out(pf_torch_tensor out, pf_torch_tensor a, pf_torch_tensor b)
{
  return multiply(3, out, NULL, a, b, 0, 1);
}

PUBLIC int32_t aoti_torch_cpu_addmm_out(pf_torch_tensor out, pf_torch_tensor self,
                                        pf_torch_tensor a, pf_torch_tensor b, double beta,
                                        double alpha)
{
  return multiply(2, out, self, a, b, beta, alpha);
}

PUBLIC int32_t aoti_torch_cpu_baddbmm_out(pf_torch_tensor out, pf_torch_tensor self,
                                          pf_torch_tensor a, pf_torch_tensor b, double beta,
                                          double alpha)
{
  return multiply(3, out, self, a, b, beta, alpha);
}

/* Its result is a tensor of its own, like oneDNN's its bias is read densely, and it has no f16. */
PUBLIC int32_t aoti_torch_cpu__linear_pointwise(pf_torch_tensor x, pf_torch_tensor w,
                                                pf_torch_tensor *bias, const char *attr,
                                                const double **scalars, int64_t count,
                                                const char **algorithm, pf_torch_tensor *out)
{
  const int64_t sizes[] = {size(x, 2), size(w, 2)}, strides[] = {size(w, 2), 1};
  struct pf_torch_opaque y = *w;
  if (strcmp(attr, "none") || scalars || count || algorithm || x->dtype == F16 || !size(x, 1) ||
      (bias && ((*bias)->rank != 1 || (*bias)->stride[0] != 1)))
    return 1;
  y.size[0] = w->size[1], y.size[1] = w->size[0];
  y.stride[0] = w->stride[1], y.stride[1] = w->stride[0];
  void *data = calloc((size_t)(sizes[0] * sizes[1]) + 1, 4);
  aoti_torch_create_tensor_from_blob(data, 2, sizes, strides, 0, x->dtype, CPU, 0, out);
  (*out)->own = data;
  return multiply(2, *out, bias ? *bias : NULL, x, &y, 1, 1);
}

PUBLIC int32_t aoti_torch_copy_(pf_torch_tensor to, pf_torch_tensor from, int32_t non_blocking)
{
  const int64_t batches = size(from, 3), m = size(from, 2), n = size(from, 1);
  if (non_blocking || !fits(to, from->rank, from->dtype, batches, m, n))
    return 1;
  for (int64_t e = 0; e < batches * m * n; e++)
    memcpy(at(to, e / n / m, e / n % m, e % n), at(from, e / n / m, e / n % m, e % n),
           to->dtype == FAKE_F32 ? 4 : 2);
  return 0;
}
