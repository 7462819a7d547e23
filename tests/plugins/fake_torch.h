/* A tensor of fake_torch.c, which fake_inductor.c makes, too. */
#ifndef PF_TEST_FAKE_TORCH_H
#define PF_TEST_FAKE_TORCH_H

#include <stdint.h>

enum { FAKE_RANK = 3, FAKE_F32 = 6 };

struct pf_torch_opaque {
  char *data;
  int64_t rank, size[FAKE_RANK], stride[FAKE_RANK];
  int32_t dtype;
  void *own;
};

#endif
