/* Other people's rules, as constants and, where they are no interval of a familiar kind, as code.
   They are evaluated in double here, not in the dtypes that the suites use. */
#include "known_rules.h"

#include <math.h>

static bool is_integer(pf_dtype t)
{
  return pf_dtype_of(t)->exponent_bits == 0;
}

static bool is_float8(pf_dtype t)
{
  return pf_dtype_of(t)->bytes == 1 && !is_integer(t);
}

/* 2^(1-p), C++'s numeric_limits::epsilon. */
static double epsilon_of(pf_dtype t)
{
  return ldexp(1, 1 - pf_format_of(t)->precision);
}

static bool close_rule(double abs, double rel, pf_rule *r)
{
  *r = (pf_rule){.kind = PF_RULE_CLOSE, .abs = abs, .rel = rel};
  return true;
}

/* To be equal to the expected output. */
static bool equal_rule(pf_rule *r)
{
  *r = (pf_rule){.kind = PF_RULE_ULP};
  return true;
}

static bool torch_rule(pf_dtype out, int64_t k, pf_rule *r)
{
  (void)k;
  const pf_tolerance t = pf_torch_tolerance(out);
  return t.abs == 0 && t.rel == 0 ? equal_rule(r) : close_rule(t.abs, t.rel, r);
}

static bool jax_rule(pf_dtype out, int64_t k, pf_rule *r)
{
  (void)k;
  switch (out) {
  case PF_F64: return close_rule(1e-15, 1e-15, r);
  case PF_F32: return close_rule(1e-6, 1e-6, r);
  case PF_F16: return close_rule(1e-3, 1e-3, r);
  case PF_BF16: return close_rule(1e-2, 1e-2, r);
  default: return is_float8(out) ? close_rule(1e-1, 1e-1, r) : equal_rule(r);
  }
}

static bool ort_rule(pf_dtype out, int64_t k, pf_rule *r)
{
  (void)k;
  switch (out) {
  case PF_F64: return close_rule(1e-5, 1e-5, r);
  case PF_F32: return close_rule(1e-5, 1e-4, r);
  case PF_F16: return close_rule(0.0025, 0.001, r);
  case PF_BF16: return close_rule(0.02, 0.01, r);
  default: return equal_rule(r);
  }
}

static bool ggml_rule(pf_dtype out, int64_t k, pf_rule *r)
{
  (void)k;
  *r = (pf_rule){.kind = PF_RULE_NMSE, .nmse = 5e-4};
  return out == PF_F32 || out == PF_F16 || out == PF_BF16;
}

static bool rocblas_rule(pf_dtype out, int64_t k, pf_rule *r)
{
  switch (out) {
  case PF_F64:
  case PF_F32: return close_rule((double)k * epsilon_of(out), 0, r);
  case PF_F16: return close_rule((double)k / 900, 0, r);
  case PF_BF16: return close_rule((double)k / 100, 0, r);
  default: return false;
  }
}

static bool cutlass_covers(pf_dtype out)
{
  return !is_float8(out) && !is_integer(out);
}

static bool cutlass_passes(const pf_known_element *e)
{
  const double epsilon = 0.05, floor = 1.0 / 256;
  const double a = e->got, b = e->expected, apart = fabs(a - b);
  if (a == b)
    return true;
  if (a == 0 || b == 0 || fabs(a) + fabs(b) < floor)
    return apart < epsilon * floor;
  return apart < epsilon * (fabs(a) + fabs(b));
}

static bool benchdnn_covers(pf_dtype out)
{
  return out == PF_F32 || out == PF_F16 || out == PF_BF16;
}

static bool benchdnn_passes(const pf_known_element *e)
{
  const pf_dtype out = e->last->storage;
  const double limit = out == PF_F32 ? 1e-6 : epsilon_of(out);
  const double apart = fabs(e->expected - e->got), size = fabs(e->expected);
  if (isnan(e->expected) || isinf(e->expected))
    return isnan(e->expected) ? isnan(e->got) : e->got == e->expected;
  return (size > 1e-5 ? apart / size : apart) <= limit;
}

static bool blas_covers(pf_dtype out)
{
  return out == PF_F32 || out == PF_F64;
}

static bool blas_passes(const pf_known_element *e)
{
  const double gauge = e->magnitude != 0 ? e->magnitude : 1;
  return isfinite(e->got) && e->oracle->distance(e->oracle->state, e->got) /
                                     epsilon_of(e->last->storage) / gauge < 16;
}

const pf_known_rule pf_known_rules[PF_KNOWN_RULES] = {
  {.name = "PyTorch", .rule = torch_rule},
  {.name = "JAX", .rule = jax_rule},
  {.name = "ONNX Runtime", .rule = ort_rule},
  {.name = "ggml", .rule = ggml_rule},
  {.name = "CUTLASS", .says = "0.05 (|got| + |v|)", .covers = cutlass_covers,
   .passes = cutlass_passes},
  {.name = "rocBLAS", .rule = rocblas_rule},
  {.name = "benchdnn", .says = "eps (f32: 1e-6) of RN(v)", .covers = benchdnn_covers,
   .passes = benchdnn_passes},
  {.name = "BLAS tests", .says = "16 eps S", .covers = blas_covers, .passes = blas_passes},
};
