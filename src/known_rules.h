/* How the test suites of well-known libraries decide whether the result of a matmul is close
   enough: the rules, with the constants that they take where a test says nothing.  Each is given
   the exact result v, or its rounding to the output's format where the suite holds results against
   one of that dtype: the best reference that it could have.

     PyTorch  torch.testing.assert_close, torch/testing/_comparison.py (commit 539f6ce)
     JAX      the defaults of jax/_src/public_test_util.py (commit 055a883), atol = rtol, as
              JaxTestCase.assertAllClose hands them to numpy.testing.assert_allclose
     ORT      ONNX Runtime, DefaultTolerance in onnxruntime/test/providers/checkers.cc (commit
              102e952), of inference on the CPU
     ggml     max_nmse_err of test_mul_mat, tests/test-backend-ops.cpp (llama.cpp, 2025): 5e-4 of
              the f32 output; here of f16 and bf16 outputs as well
     CUTLASS  include/cutlass/relatively_equal.h, version 3 (read in copies of it; that of 2021,
              commit 0e13748, compares the floor with the difference), with epsilon 0.05 and nonzero
              floor 1/256, the defaults of tools/profiler/src/options.cu (commit 02acda7); its unit
              tests ask for equality, of small integers
     rocBLAS  near_check_general of testing_gemm.hpp with sum_error_tolerance,
              clients/include/near.hpp (commit 0042aef): absolute, K times a constant of the dtype.
              Not verified: that its get_epsilon is std::numeric_limits'.  Data other than hpl's are
              tested for equality
     benchdnn oneDNN, compare_p2p of tests/benchdnn/utils/compare.cpp (commit 025f33e) with the
              threshold of tests/benchdnn/matmul/matmul.cpp as of 2023; by 2025 (commit 7970a64)
              that sets none: equality, on data whose sums are exact
     BLAS     the test ratio of BLAS/TESTING/sblat3.f and dblat3.f (reference BLAS 3.7.0), threshold
              16: |got - v| < 16 eps T, T the sum of absolute terms; f32 and f64 only */
#ifndef PF_KNOWN_RULES_H
#define PF_KNOWN_RULES_H

#include "rule.h"

/* One element of an output; the oracle holds its v. */
typedef struct pf_known_element {
  const pf_oracle *oracle;
  const pf_step *last;   /* gives the output: its format and dtype */
  double got;
  double expected;       /* RN_o(v) */
  double magnitude;      /* T, value units */
} pf_known_element;

typedef struct pf_known_rule {
  const char *name;
  const char *says;      /* the limit in a few characters; NULL: what `rule` gives, as text */
  /* The same as one of the familiar rules; false where the suite has none for an output of this
     dtype.  k: the K of the sums. */
  bool (*rule)(pf_dtype out, int64_t k, pf_rule *r);
  /* Or, where `rule` is NULL, a judgement of its own. */
  bool (*covers)(pf_dtype out);
  bool (*passes)(const pf_known_element *e);
} pf_known_rule;

enum { PF_KNOWN_RULES = 8 };
extern const pf_known_rule pf_known_rules[PF_KNOWN_RULES];

#endif
