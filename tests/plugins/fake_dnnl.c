/* oneDNN's C interface as far as the adapter uses it, for f32, counting what is made.  As strict as
   the real one: it refuses strides under which elements overlap.  Like the real one, it leaves the
   output of an empty sum as it is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/engines/onednn_abi.h"

#define PUBLIC __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

typedef struct fake_desc {
  int ndims;
  int64_t dims[12], strides[12];
} fake_desc;

typedef struct fake_memory {
  fake_desc desc;
  float *data;
} fake_memory;

typedef struct fake_attr {
  int scaled;
  float beta;
} fake_attr;

typedef struct fake_primitive {
  fake_attr attr;
} fake_primitive;

static int made;

/* Primitives since the last question. */
PUBLIC int fake_dnnl_made(void)
{
  const int n = made;
  made = 0;
  return n;
}

PUBLIC const pf_dnnl_version *dnnl_version(void)
{
  static const pf_dnnl_version v = {3, 99, 1, "", 0, 0};
  return &v;
}

PUBLIC int dnnl_get_effective_cpu_isa(void)
{
  return 0x7;
}

static int make(void **to, size_t size)
{
  *to = calloc(1, size);
  return *to ? 0 : 1;
}

static int drop(void *it)
{
  free(it);
  return 0;
}

PUBLIC int dnnl_engine_create(void **engine, int kind, size_t index)
{
  return kind == 1 && !index ? make(engine, 1) : 2;
}

PUBLIC int dnnl_stream_create(void **stream, void *engine, unsigned flags)
{
  (void)engine;
  return flags == 1 ? make(stream, 1) : 2;
}

PUBLIC int dnnl_engine_destroy(void *it) { return drop(it); }
PUBLIC int dnnl_stream_destroy(void *it) { return drop(it); }
PUBLIC int dnnl_memory_desc_destroy(void *it) { return drop(it); }
PUBLIC int dnnl_memory_destroy(void *it) { return drop(it); }
PUBLIC int dnnl_primitive_attr_destroy(void *it) { return drop(it); }
PUBLIC int dnnl_post_ops_destroy(void *it) { return drop(it); }
PUBLIC int dnnl_primitive_desc_destroy(void *it) { return drop(it); }
PUBLIC int dnnl_primitive_destroy(void *it) { return drop(it); }
PUBLIC int dnnl_primitive_attr_create(void **it) { return make(it, sizeof(fake_attr)); }
PUBLIC int dnnl_post_ops_create(void **it) { return make(it, sizeof(float)); }
PUBLIC int dnnl_stream_wait(void *stream) { return stream ? 0 : 2; }

/* A dimension must step over all that the smaller strides reach; also where its size is 1, which is
   where the real one goes wrong. */
static int overlaps(const fake_desc *d)
{
  for (int i = 0; i < d->ndims; i++) {
    int64_t reach = 1;
    for (int j = 0; j < d->ndims; j++)
      if (j != i && d->dims[j] > 1 && d->strides[j] != PF_DNNL_RUNTIME &&
          (d->strides[j] < d->strides[i] || (d->dims[i] == 1 && j > i)))
        reach += (d->dims[j] - 1) * d->strides[j];
    if (d->strides[i] != PF_DNNL_RUNTIME && d->dims[i] && d->strides[i] < reach)
      return 1;
  }
  return 0;
}

PUBLIC int dnnl_memory_desc_create_with_strides(void **desc, int ndims, const pf_dnnl_dims dims,
                                                int type, const pf_dnnl_dims strides)
{
  fake_desc d = {.ndims = ndims};
  memcpy(d.dims, dims, (size_t)ndims * sizeof *dims);
  memcpy(d.strides, strides, (size_t)ndims * sizeof *strides);
  if (type != PF_DNNL_F32)
    return 3;
  if (overlaps(&d))
    return 2;
  if (make(desc, sizeof d))
    return 1;
  memcpy(*desc, &d, sizeof d);
  return 0;
}

PUBLIC int dnnl_memory_create(void **memory, const fake_desc *desc, void *engine, void *data)
{
  for (int d = 0; d < desc->ndims; d++)
    if (desc->dims[d] == PF_DNNL_RUNTIME || desc->strides[d] == PF_DNNL_RUNTIME)
      return 2;
  if (!engine || make(memory, sizeof(fake_memory)))
    return 1;
  *(fake_memory *)*memory = (fake_memory){*desc, data};
  return 0;
}

PUBLIC int dnnl_memory_set_data_handle(fake_memory *memory, void *data)
{
  memory->data = data;
  return 0;
}

PUBLIC int dnnl_primitive_attr_set_scales_mask(fake_attr *attr, int arg, int mask)
{
  attr->scaled = 1;
  return arg == PF_DNNL_ARG_SRC && !mask ? 0 : 2;
}

PUBLIC int dnnl_post_ops_append_sum(float *post_ops, float scale, int32_t zero_point, int type)
{
  *post_ops = scale;
  return zero_point || type ? 2 : 0;
}

PUBLIC int dnnl_primitive_attr_set_post_ops(fake_attr *attr, const float *post_ops)
{
  attr->beta = *post_ops;
  return 0;
}

static int is_broadcast(const fake_desc *d, const fake_desc *out, int i)
{
  return d->dims[i] == out->dims[i] || d->dims[i] == 1;
}

PUBLIC int dnnl_matmul_primitive_desc_create(void **pd, void *engine, const fake_desc *source,
                                             const fake_desc *weights, const fake_desc *bias,
                                             const fake_desc *out, const fake_attr *attr)
{
  const int n = out->ndims;
  if (!engine || source->ndims != n || weights->ndims != n || (bias && bias->ndims != n) ||
      source->dims[n - 1] != weights->dims[n - 2])
    return 2;
  for (int i = 0; i < n; i++)
    if ((i < n - 1 && !is_broadcast(source, out, i)) ||
        (i != n - 2 && !is_broadcast(weights, out, i)) || (bias && !is_broadcast(bias, out, i)))
      return 2;
  if (make(pd, sizeof(fake_primitive)))
    return 1;
  if (attr)
    ((fake_primitive *)*pd)->attr = *attr;
  return 0;
}

PUBLIC int dnnl_primitive_desc_query(const void *pd, int what, int index, void *result)
{
  *(const char **)result = "fake";
  return pd && what == 8 && !index ? 0 : 2;
}

PUBLIC int dnnl_primitive_create(void **primitive, const fake_primitive *pd)
{
  made++;
  if (make(primitive, sizeof *pd))
    return 1;
  memcpy(*primitive, pd, sizeof *pd);
  return 0;
}

static float *at(const fake_memory *m, const int64_t *index, int64_t row, int64_t column)
{
  const fake_desc *d = &m->desc;
  const int n = d->ndims;
  int64_t offset = 0;
  for (int i = 0; i < n; i++) {
    const int64_t where = i == n - 2 ? row : i == n - 1 ? column : index[i];
    offset += d->dims[i] == 1 ? 0 : where * d->strides[i];
  }
  return m->data + offset;
}

static const fake_memory *argument(const pf_dnnl_exec_arg *args, int count, int name)
{
  for (int i = 0; i < count; i++)
    if (args[i].arg == name)
      return args[i].memory;
  return NULL;
}

static void multiply(const fake_primitive *p, const pf_dnnl_exec_arg *args, int count,
                     const int64_t *index)
{
  const fake_memory *a = argument(args, count, PF_DNNL_ARG_SRC);
  const fake_memory *b = argument(args, count, PF_DNNL_ARG_WEIGHTS);
  const fake_memory *out = argument(args, count, PF_DNNL_ARG_DST);
  const fake_memory *bias = argument(args, count, PF_DNNL_ARG_BIAS);
  const fake_memory *scale = argument(args, count, PF_DNNL_ARG_ATTR_SCALES | PF_DNNL_ARG_SRC);
  const int n = out->desc.ndims;
  const int64_t k = a->desc.dims[n - 1];
  for (int64_t i = 0; i < out->desc.dims[n - 2]; i++)
    for (int64_t j = 0; j < out->desc.dims[n - 1]; j++) {
      float sum = 0, *to = at(out, index, i, j);
      for (int64_t l = 0; l < k; l++)
        sum += *at(a, index, i, l) * *at(b, index, l, j);
      sum = p->attr.scaled ? *scale->data * sum : sum;
      sum = bias ? sum + *at(bias, index, i, j) : sum;
      *to = p->attr.beta != 0 ? sum + p->attr.beta * *to : sum;
    }
}

PUBLIC int dnnl_primitive_execute(const fake_primitive *p, void *stream, int count,
                                  const pf_dnnl_exec_arg *args)
{
  const fake_desc *out = &argument(args, count, PF_DNNL_ARG_DST)->desc;
  const fake_desc *a = &argument(args, count, PF_DNNL_ARG_SRC)->desc;
  const int rank = out->ndims - 2;
  int64_t index[12] = {0}, batches = 1;
  if (!stream)
    return 2;
  for (int d = 0; d < rank; d++)
    batches *= out->dims[d];
  for (int64_t b = 0; b < batches && a->dims[rank + 1]; b++) {
    int64_t rest = b;
    for (int d = rank; d-- > 0; rest /= out->dims[d])
      index[d] = rest % out->dims[d];
    multiply(p, args, count, index);
  }
  return 0;
}

static int64_t offset(char op, int64_t i, int64_t j, int64_t ld)
{
  return op == 'N' ? i * ld + j : j * ld + i;
}

PUBLIC int dnnl_sgemm(char ta, char tb, int64_t m, int64_t n, int64_t k, float alpha,
                      const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                      float *c, int64_t ldc)
{
  if (lda < (ta == 'N' ? k : m) || ldb < (tb == 'N' ? n : k) || ldc < n || !k)
    return 2;
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      float sum = 0, *to = &c[i * ldc + j];
      for (int64_t l = 0; l < k; l++)
        sum += a[offset(ta, i, l, lda)] * b[offset(tb, l, j, ldb)];
      *to = beta != 0 ? alpha * sum + beta * *to : alpha * sum;
    }
  return 0;
}

PUBLIC int dnnl_gemm_s8s8s32(void) { return 3; }
PUBLIC int dnnl_gemm_u8s8s32(void) { return 3; }
