/* XNNPACK's product of matrices as far as the adapter uses it, for f32; of f16 it says that the
   processor has none.  Like the real one it reads behind its operands, and it is strict: a workspace
   that is not aligned, or a sum of nothing, is refused. */
#include <stdint.h>
#include <stdlib.h>

#include "../../src/engines/xnnpack_abi.h"

#define PUBLIC __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { RANK = 4, ALIGNMENT = 64, UNINITIALIZED = 1, INVALID = 2, NO_HARDWARE = 5, NO_MEMORY = 6 };

typedef struct fake_operator {
  size_t rank, a_batch[RANK], b_batch[RANK], m, k, n;
  const float *a, *b;
  float *out;
  uint32_t flags;
} fake_operator;

static int ready;

PUBLIC int xnn_initialize(const void *allocator)
{
  ready = 1;
  return allocator ? INVALID : PF_XNN_SUCCESS;
}

PUBLIC int xnn_create_batch_matrix_multiply_nc_f32(uint32_t flags, void **op)
{
  if (!ready || flags > PF_XNN_TRANSPOSE_B)
    return ready ? INVALID : UNINITIALIZED;
  *op = calloc(1, sizeof(fake_operator));
  if (!*op)
    return NO_MEMORY;
  ((fake_operator *)*op)->flags = flags;
  return PF_XNN_SUCCESS;
}

PUBLIC int xnn_delete_operator(void *op)
{
  free(op);
  return PF_XNN_SUCCESS;
}

PUBLIC int xnn_reshape_batch_matrix_multiply_nc_f32(
  fake_operator *op, size_t rank, const size_t *a_batch, const size_t *b_batch, size_t m, size_t k,
  size_t n, size_t *bytes, size_t *alignment, void *threads)
{
  if (rank > RANK || !m || !k || !n || threads)
    return INVALID;
  for (size_t i = 0; i < rank; i++) {
    if (a_batch[i] != b_batch[i] && a_batch[i] != 1 && b_batch[i] != 1)
      return INVALID;
    op->a_batch[i] = a_batch[i];
    op->b_batch[i] = b_batch[i];
  }
  op->rank = rank;
  op->m = m;
  op->k = k;
  op->n = n;
  *bytes = 4 * k * n;
  *alignment = ALIGNMENT;
  return PF_XNN_SUCCESS;
}

PUBLIC int xnn_setup_batch_matrix_multiply_nc_f32(fake_operator *op, void *workspace,
                                                  const float *a, const float *b, float *out)
{
  if ((uintptr_t)workspace % ALIGNMENT)
    return INVALID;
  op->a = a;
  op->b = b;
  op->out = out;
  return PF_XNN_SUCCESS;
}

static void read_behind(const float *data, size_t elements)
{
  const volatile char *end = (const volatile char *)(data + elements);
  for (int i = 0; i < PF_XNN_EXTRA_BYTES; i++)
    (void)end[i];
}

static size_t size_of(const fake_operator *op, size_t i)
{
  return op->a_batch[i] == 1 ? op->b_batch[i] : op->a_batch[i];
}

/* Of batch `number` of the output: that of an operand. */
static size_t batch_of(const fake_operator *op, const size_t *batch, size_t number)
{
  size_t found = 0, step = 1;
  for (size_t i = op->rank; i-- > 0; number /= size_of(op, i)) {
    found += batch[i] == 1 ? 0 : number % size_of(op, i) * step;
    step *= batch[i];
  }
  return found;
}

static size_t count(const fake_operator *op, const size_t *batch)
{
  size_t all = 1;
  for (size_t i = 0; i < op->rank; i++)
    all *= batch ? batch[i] : size_of(op, i);
  return all;
}

PUBLIC int xnn_run_operator(const fake_operator *op, void *threads)
{
  const size_t m = op->m, n = op->n, k = op->k;
  read_behind(op->a, count(op, op->a_batch) * m * k);
  read_behind(op->b, count(op, op->b_batch) * k * n);
  for (size_t e = 0; e < count(op, NULL) * m * n; e++) {
    const size_t row = e / n % m, column = e % n, number = e / n / m;
    const float *a = op->a + (batch_of(op, op->a_batch, number) * m + row) * k;
    const float *b = op->b + batch_of(op, op->b_batch, number) * k * n;
    float sum = 0;
    for (size_t l = 0; l < k; l++)
      sum += a[l] * (op->flags ? b[column * k + l] : b[l * n + column]);
    op->out[e] = sum;
  }
  return threads ? INVALID : PF_XNN_SUCCESS;
}

PUBLIC int xnn_create_batch_matrix_multiply_nc_f16(void) { return NO_HARDWARE; }
PUBLIC int xnn_reshape_batch_matrix_multiply_nc_f16(void) { return INVALID; }
PUBLIC int xnn_setup_batch_matrix_multiply_nc_f16(void) { return INVALID; }
