/* When may a planted fault show?  Said a second time, from the case's exact values and layouts and
   from the right kernel's results; nothing here knows the faulty loops.  A predicate may say "yes"
   too often, never too seldom. */
#ifndef PF_FAULT_PREDICATES_H
#define PF_FAULT_PREDICATES_H

#include <math.h>

#include "engine.h"

typedef struct scene {
  pf_arena arena;
  pf_case what;
  pf_problem problem;
  pf_plan plan;
  const pf_step *step;  /* the plan's first: a MATMUL or MULSUM of x and y */
} scene;

/* What of the case, or of the right kernel's answer, decides whether a fault can show. */
typedef struct facts {
  const scene *scene;
  const double *unrounded;  /* the right kernel's results before their last rounding */
  double integer_sum;       /* largest sum of |x * y|; infinite where operands are no integers */
} facts;

static const double *x_of(const pf_problem *p, int64_t i)
{
  return p->x_vectors + (p->x_line[i / p->shape.n / p->shape.m] + i / p->shape.n % p->shape.m) *
                            p->shape.k;
}

static const double *y_of(const pf_problem *p, int64_t i)
{
  return p->y_vectors + (p->y_line[i / p->shape.n / p->shape.m] + i % p->shape.n) * p->shape.k;
}

static double integer_sum_of(const pf_problem *p)
{
  double most = 0;
  for (int64_t i = 0; i < p->shape.outputs; i++) {
    const double *x = x_of(p, i), *y = y_of(p, i);
    double sum = 0;
    for (int64_t k = 0; k < p->shape.k; k++) {
      if (x[k] != floor(x[k]) || y[k] != floor(y[k]) || isinf(x[k]) || isinf(y[k])) {
        return INFINITY;
      }
      sum += fabs(x[k] * y[k]);
    }
    most = fmax(most, sum);
  }
  return most;
}

/* v in units of the last place that a value of its size has in f. */
static double in_units(const pf_format *f, double v)
{
  const int exponent = v == 0 || ilogb(v) < f->emin ? f->emin : ilogb(v);
  return ldexp(v, f->precision - 1 - exponent);
}

static bool is_value(pf_dtype t, double v)
{
  const pf_format *f = pf_format_of(t);
  if (!isfinite(v)) return true;
  return in_units(f, v) == floor(in_units(f, v)) && fabs(v) <= f->max;
}

static bool any_result(const facts *f, bool (*is)(const scene *s, double v))
{
  for (int64_t i = 0; i < f->scene->problem.shape.outputs; i++) {
    if (is(f->scene, f->unrounded[i])) return true;
  }
  return false;
}

static bool any_factor(const facts *f, bool (*is)(pf_dtype t, double v))
{
  const pf_problem *p = &f->scene->problem;
  for (int64_t i = 0; i < p->x_lines * p->shape.k; i++) {
    if (is(p->x.dtype, p->x_vectors[i])) return true;
  }
  for (int64_t i = 0; i < p->y_lines * p->shape.k; i++) {
    if (is(p->y.dtype, p->y_vectors[i])) return true;
  }
  return false;
}

static bool is_tie(const scene *s, double v)
{
  if (!isfinite(v)) return false;
  const double units = in_units(&s->step->out, v);
  return units - floor(units) == 0.5;
}

static bool is_no_bf16(const scene *s, double v)
{
  (void)s;
  return !is_value(PF_BF16, v);
}

static bool is_no_f16(const scene *s, double v)
{
  (void)s;
  return !is_value(PF_F16, v);
}

static bool is_zero(const scene *s, double v)
{
  (void)s;
  return v == 0;
}

static bool is_subnormal(pf_dtype t, double v)
{
  return v != 0 && fabs(v) < pf_smallest_normal(pf_format_of(t));
}

/* More than 10 bits behind the point, or in f32 below TF32's smallest subnormal. */
static bool is_no_tf32(pf_dtype t, double v)
{
  const pf_format tf32 = {.precision = 11, .emin = -126};
  return t == PF_F32 && isfinite(v) && in_units(&tf32, v) != floor(in_units(&tf32, v));
}

static bool is_e4m3fn(pf_dtype t, double v)
{
  return t == PF_F8_E4M3FN && !(v == 0 && !signbit(v));
}

/* Beyond what the result's format has, and this format saturates or gives NaN. */
static bool overflows(const scene *s, double v)
{
  return s->step->out.overflow != PF_OVERFLOW_INFINITY && fabs(v) > s->step->out.max;
}

static bool has_alpha(const facts *f)
{
  return f->scene->step->alpha && f->scene->what.alpha != 1;
}

static bool reads_c(const facts *f)
{
  return f->scene->step->c && f->scene->what.beta != 0;
}

static bool sums_leave(const facts *f, int bits)
{
  return f->scene->problem.shape.k > 0 && f->integer_sum > ldexp(1, bits);
}

static bool m01(const facts *f) { return sums_leave(f, 8); }
static bool m02(const facts *f) { return sums_leave(f, 11); }
static bool m04(const facts *f) { return sums_leave(f, f->scene->step->out.precision); }
static bool m10(const facts *f) { return any_result(f, is_tie); }
static bool m12(const facts *f) { return any_result(f, is_no_f16); }
static bool m15(const facts *f) { return f->scene->problem.shape.n % 2 == 1; }
static bool m19(const facts *f) { return f->scene->what.out_is_c && reads_c(f); }
static bool m21(const facts *f) { return f->scene->problem.shape.k == 0; }
static bool m24(const facts *f) { return reads_c(f) && f->scene->what.beta != 1; }
static bool m32(const facts *f) { return any_factor(f, is_e4m3fn); }
static bool m33(const facts *f) { return any_factor(f, is_no_tf32); }

static bool m31(const facts *f) { return any_result(f, overflows); }

static bool m07(const facts *f)
{
  return !pf_format_contains(&f->scene->step->out, pf_format_of(PF_F32)) &&
         (has_alpha(f) || reads_c(f) || f->scene->step->bias);
}

static bool m08(const facts *f)
{
  return (has_alpha(f) && !is_value(PF_BF16, f->scene->what.alpha)) ||
         (reads_c(f) && !is_value(PF_BF16, f->scene->what.beta));
}

static bool m11(const facts *f)
{
  return pf_format_equal(&f->scene->step->out, pf_format_of(PF_F32)) && any_result(f, is_no_bf16);
}

/* M13 loses the last terms, M16 earlier ones: of 8 lanes, K = 9 leaves one. */
static bool m13(const facts *f)
{
  return f->scene->problem.shape.k > 8 && f->scene->problem.shape.k % 8 != 0;
}

/* Strides count from two rows or columns on only. */
static bool m17(const facts *f)
{
  const pf_matrix *y = &f->scene->problem.y;
  const int64_t n = f->scene->problem.shape.n, k = f->scene->problem.shape.k;
  if (y->row_stride == 1 && y->column_stride != 1) return n > 1 && y->column_stride != k;
  return k > 1 && y->row_stride != n;
}

static bool m20(const facts *f)
{
  return m21(f) && (reads_c(f) || f->scene->step->bias);
}

/* beta = 0 with a c that is not finite, or of a sign that makes a zero of the result change its. */
static bool m22(const facts *f)
{
  const pf_problem *p = &f->scene->problem;
  if (!f->scene->step->c || f->scene->what.beta != 0) return false;
  for (int64_t i = 0; i < p->shape.outputs; i++) {
    if (!isfinite(p->c_values[i])) return true;
  }
  return any_result(f, is_zero);
}

static bool m29(const facts *f)
{
  const pf_problem *p = &f->scene->problem;
  if (any_factor(f, is_subnormal)) return true;
  for (int64_t i = 0; i < p->shape.outputs; i++) {
    const double *x = x_of(p, i), *y = y_of(p, i);
    for (int64_t k = 0; k < p->shape.k; k++) {
      if (is_subnormal(PF_F32, x[k] * y[k])) return true;
    }
  }
  return false;
}

/* The product is a zero where the result without c is one. */
static bool m30(const facts *f)
{
  return f->scene->step->alpha && f->scene->what.alpha < 0 && !m21(f) &&
         (reads_c(f) || any_result(f, is_zero));
}

#endif
