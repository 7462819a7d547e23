/* What is used of XNNPACK's operators, written down by hand; tests/test_xnnpack.c holds the numbers
   against the header where there is one.  XNNPACK keeps no interface from one version to the next:
   these are the functions of November 2024, which have sizes of both operands' batches and tell
   the alignment of their workspace. */
#ifndef PF_XNNPACK_ABI_H
#define PF_XNNPACK_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { PF_XNN_SUCCESS = 0, PF_XNN_TRANSPOSE_B = 1, PF_XNN_EXTRA_BYTES = 128 };

/* Functions answer 0 or what went wrong; a pool of threads of NULL is the caller's thread. */
typedef int pf_xnn_create(uint32_t flags, void **op);
typedef int pf_xnn_reshape(void *op, size_t batch_rank, const size_t *a_batch,
                           const size_t *b_batch, size_t m, size_t k, size_t n,
                           size_t *workspace_bytes, size_t *workspace_alignment, void *threads);
typedef int pf_xnn_setup(void *op, void *workspace, const void *a, const void *b, void *out);

typedef struct pf_xnn_functions {
  int (*initialize)(const void *allocator);
  int (*run)(void *op, void *threads);
  int (*delete_operator)(void *op);
  pf_xnn_create *create_f32, *create_f16;
  pf_xnn_reshape *reshape_f32, *reshape_f16;
  pf_xnn_setup *setup_f32, *setup_f16;
  void *(*threads_create)(size_t count);
  void (*threads_destroy)(void *threads);
} pf_xnn_functions;

#endif
