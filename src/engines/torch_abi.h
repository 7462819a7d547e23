/* What is used of libtorch's interface for C ("AOTI shim"), written down by hand: its own headers
   are C++. The interface is kept from version to version; these functions are in 2.6 and later. */
#ifndef PF_TORCH_ABI_H
#define PF_TORCH_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pf_torch_opaque *pf_torch_tensor;

typedef int32_t pf_torch_number(void);
/* Functions that answer an int32_t answer 0, or have failed, which takes them milliseconds and a
   stack trace on standard error. */
typedef int32_t pf_torch_product(pf_torch_tensor out, pf_torch_tensor a, pf_torch_tensor b);
typedef int32_t pf_torch_sum(pf_torch_tensor out, pf_torch_tensor self, pf_torch_tensor a,
                             pf_torch_tensor b, double beta, double alpha);

typedef struct pf_torch_functions {
  pf_torch_number *cpu, *f64, *f32, *f16, *bf16, *s32;
  int32_t (*from_blob)(void *data, int64_t rank, const int64_t *sizes, const int64_t *strides,
                       int64_t offset, int32_t dtype, int32_t device, int32_t device_index,
                       pf_torch_tensor *out);
  int32_t (*drop)(pf_torch_tensor tensor);
  int32_t (*copy)(pf_torch_tensor to, pf_torch_tensor from, int32_t non_blocking);
  int32_t (*dtype_of)(pf_torch_tensor tensor, int32_t *out);
  void (*set_grad_mode)(bool enabled);
  pf_torch_product *mm, *bmm;
  pf_torch_sum *addmm, *baddbmm;
  /* weight [n,k]; *bias [n], or bias = NULL; attr "none" wants no scalars and no algorithm. */
  int32_t (*linear)(pf_torch_tensor x, pf_torch_tensor weight, pf_torch_tensor *bias,
                    const char *attr, const double **scalars, int64_t scalars_count,
                    const char **algorithm, pf_torch_tensor *out);
  void (*set_threads)(int count);  /* C++'s at::set_num_threads */
  /* Of libraries that come with it, where they can be seen. */
  int (*dnnl_isa)(void);
  const char *(*dnnl_isa_name)(int isa);
  char *(*openblas_config)(void), *(*openblas_core)(void);
} pf_torch_functions;

/* What AOTInductor's compiled graphs export. */
typedef struct pf_torch_model {
  int32_t (*create)(void **container, size_t models, const char *device, const char *folder);
  int32_t (*destroy)(void *container);
  /* Takes the inputs over, and makes the outputs. */
  int32_t (*run)(void *container, pf_torch_tensor *inputs, size_t input_count,
                 pf_torch_tensor *outputs, size_t output_count, void *stream, void *executor);
} pf_torch_model;

#endif
