/* Operators of libtorch that its interface for C has not: dot, mv, addmv, linear and the matmul of
   tensors of any rank. make torch-ops builds it where libtorch's headers are; the adapter torch
   loads it. */
#include <ATen/core/Tensor.h>
#include <ATen/ops/addmv.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mv.h>
#include <c10/core/InferenceMode.h>

#include <cstdio>
#include <cstring>

/* self may be null. A handle of the interface for C is an at::Tensor. 0, or text says what failed.
   */
extern "C" __attribute__((visibility("default"))) int32_t
precfuzz_torch_op(const char *op, at::Tensor *out, at::Tensor *self, at::Tensor *a, at::Tensor *b,
                  double beta, double alpha, char *text, size_t size)
{
  try {
    const c10::InferenceMode inference;
    if (!std::strcmp(op, "matmul"))
      at::matmul_out(*out, *a, *b);
    else if (!std::strcmp(op, "dot"))
      at::dot_out(*out, *a, *b);
    else if (!std::strcmp(op, "mv"))
      at::mv_out(*out, *a, *b);
    else if (!std::strcmp(op, "addmv"))
      at::addmv_out(*out, *self, *a, *b, beta, alpha);
    else
      out->copy_(at::linear(*a, *b, self ? *self : at::Tensor()));
    return 0;
  } catch (const std::exception &e) {
    std::snprintf(text, size, "%s: %.*s", op, (int)std::strcspn(e.what(), "\n"), e.what());
    return 1;
  }
}
