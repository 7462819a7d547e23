/* Every path by which the code converts a number.

   Each promises one rounding: the primitives of format.h and what storage makes of them, the steps
   of the interpreter, the reference engine's sum of one product, the images that enclosures take,
   and the MPFR oracle's own nearest. */
#include <math.h>
#include <string.h>

#include "cast.h"
#include "reference.h"
#include "rounding.h"
#include "set.h"

/* The dtype whose format, overflow included, f is. */
static bool find_stored(const pf_format *f, pf_dtype *out)
{
  for (int t = 0; t < PF_DTYPE_COUNT; t++)
    if (pf_format_equal(pf_format_of((pf_dtype)t), f)) {
      *out = (pf_dtype)t;
      return true;
    }
  return false;
}

void pf_cast_step_set(pf_cast_step *s, const pf_format *from, const pf_format *to)
{
  s->from = *from;
  s->to = *to;
  s->stored = find_stored(to, &s->dtype);
  if (!s->stored)
    pf_dtype_for(to, &s->dtype);  /* some dtype does: f64 holds every value of every format */
  memset(&s->plan, 0, sizeof s->plan);
  s->plan.count = 1;
  s->plan.step[0] = (pf_step){.kind = PF_CAST, .name = "out", .a = PF_REF_X, .b = PF_REF_NONE,
                              .out = *to, .storage = s->dtype};
}

/* --- primitives and storage ---------------------------------------------------------------- */

static double by_round(const pf_cast_step *s, double x, double due)
{
  (void)due;
  return pf_round(&s->to, x);
}

static double through_memory(pf_dtype t, double x, double (*load)(pf_dtype, const void *))
{
  unsigned char memory[8];
  pf_store(t, memory, x);
  return load(t, memory);
}

static double load_by_definition(pf_dtype t, const void *at)
{
  return pf_mpfr_decode(t, pf_load_bits(t, at));
}

static bool takes_stores(const pf_cast_step *s, double x)
{
  (void)x;
  return s->stored;
}

static double by_store(const pf_cast_step *s, double x, double due)
{
  (void)due;
  return through_memory(s->dtype, x, load_by_definition);
}

/* What was rounded already must come back from storage as it went. */
static double by_storage(const pf_cast_step *s, double x, double due)
{
  (void)due;
  return through_memory(s->dtype, pf_round(&s->to, x), pf_load);
}

static double by_product(const pf_cast_step *s, double x, double due)
{
  (void)due;
  return pf_round_product(&s->to, x, 1);
}

/* Minus zero is what adds nothing to either zero. */
static double by_sum(const pf_cast_step *s, double x, double due)
{
  (void)due;
  return pf_round_sum(&s->to, x, -0.0);
}

static double by_fma(const pf_cast_step *s, double x, double due)
{
  (void)due;
  return pf_round_fma(&s->to, 1, x, -0.0);
}

/* --- steps of the interpreter -------------------------------------------------------------- */

/* Arrays are rounded in lanes and what is left over by itself: both must give the same. */
enum { COPIES = 9 };

static double only_value(const double *of)
{
  for (int i = 1; i < COPIES; i++)
    if (memcmp(&of[i], &of[0], sizeof *of) && !(of[i] != of[i] && of[0] != of[0]))
      return of[i];
  return of[0];
}

static void copies(double x, double *to)
{
  for (int i = 0; i < COPIES; i++)
    to[i] = x;
}

static double by_cast(const pf_cast_step *s, double x, double due)
{
  double a[COPIES], to[COPIES];
  (void)due;
  copies(x, a);
  pf_round_each(&s->to, a, COPIES, to);
  return only_value(to);
}

static double by_scale(const pf_cast_step *s, double x, double due)
{
  double a[COPIES], b[COPIES], to[COPIES];
  (void)due;
  copies(x, a);
  copies(1, b);
  pf_round_products(&s->to, a, b, COPIES, to);
  return only_value(to);
}

static double by_add(const pf_cast_step *s, double x, double due)
{
  double a[COPIES], b[COPIES], to[COPIES];
  (void)due;
  copies(x, a);
  copies(-0.0, b);
  pf_round_sums(&s->to, a, b, COPIES, to);
  return only_value(to);
}

static const pf_case unit = {.alpha = 1, .beta = 1};
static const pf_problem one_element = {.what = &unit, .x_lines = 1,
                                       .shape = {.batches = 1, .m = 1, .n = 1, .k = 1}};

static double by_operand_cast(const pf_cast_step *s, double x, double due)
{
  const double *to;
  pf_arena_reset(s->arena);
  if (pf_cast_vectors(&one_element, &s->plan, 0, &x, s->arena, &to) != PF_OK)
    return due;  /* no memory says nothing of numbers */
  return *to;
}

/* Where a CAST would change nothing the interpreter leaves it out. */
static bool takes_exact(const pf_cast_step *s, double x)
{
  (void)x;
  return pf_conversion_exact(&s->to, &s->from);
}

static double by_leaving_out(const pf_cast_step *s, double x, double due)
{
  (void)s;
  (void)due;
  return x;
}

/* --- the reference engine ------------------------------------------------------------------ */

/* A matmul of one term, accumulated where x is a value, then rounded to the result's format. */
static double by_matmul(const pf_cast_step *s, double x, double due)
{
  static const double one = 1;
  static const pf_summation forward = {.order = PF_FORWARD};
  const pf_accumulator acc = {.format = s->from, .product = s->from};
  const pf_sum terms = {.k = 1, .x = &x, .y = &one, .alpha = 1};
  (void)due;
  return pf_reference_sum(&acc, &forward, false, &s->to, &terms);
}

/* --- enclosures ---------------------------------------------------------------------------- */

/* due where the set is that one value, else another member of it. */
static double member(const pf_set *s, double due)
{
  const pf_set expected = pf_set_point(due);
  if (pf_set_equal(s, &expected))
    return due;
  if (pf_set_has_finite(s) && s->lo != due)
    return s->lo;
  if (pf_set_has_finite(s) && s->hi != due)
    return s->hi;
  if (s->plus_infinity && due != INFINITY)
    return INFINITY;
  if (s->minus_infinity && due != -INFINITY)
    return -INFINITY;
  return isnan(due) ? 0 : NAN;
}

static double by_enclosure(const pf_cast_step *s, double x, double due)
{
  const pf_set point = pf_set_point(x), image = pf_set_round(&s->to, &point);
  return member(&image, due);
}

static double by_enclosed_sum(const pf_cast_step *s, double x, double due)
{
  const pf_set point = pf_set_point(x), zero = pf_set_point(0);
  const pf_set image = pf_set_add(&s->to, &point, &zero);
  return member(&image, due);
}

static double by_enclosed_product(const pf_cast_step *s, double x, double due)
{
  const pf_set point = pf_set_point(x), image = pf_set_scale(&s->to, &point, 1);
  return member(&image, due);
}

/* --- the oracle ---------------------------------------------------------------------------- */

static bool takes_finite(const pf_cast_step *s, double x)
{
  (void)s;
  return isfinite(x);
}

static double by_oracle(const pf_cast_step *s, double x, double due)
{
  const pf_sum terms = {.alpha = 1, .bias = x};
  pf_truth truth;
  (void)due;
  s->oracle->sum(s->oracle->state, &terms, &truth);
  return s->oracle->nearest(s->oracle->state, &s->to);
}

const pf_cast_route pf_cast_routes[] = {
  {"round", "pf_round", NULL, by_round, false},
  {"store", "pf_store", takes_stores, by_store, false},
  {"storage", "pf_round, pf_store, pf_load", NULL, by_storage, false},
  {"product", "pf_round_product by 1", NULL, by_product, false},
  {"sum", "pf_round_sum with -0", NULL, by_sum, false},
  {"fma", "pf_round_fma by 1 with -0", NULL, by_fma, false},
  {"CAST", "the interpreter's CAST of a result", NULL, by_cast, false},
  {"SCALE", "the interpreter's SCALE by 1", NULL, by_scale, false},
  {"ADD", "the interpreter's ADD of -0", NULL, by_add, false},
  {"CAST-operand", "the interpreter's CAST of x or y", NULL, by_operand_cast, false},
  {"CAST-exact", "a CAST left out as exact", takes_exact, by_leaving_out, false},
  {"MATMUL", "the reference engine's sum of one product", NULL, by_matmul, true},
  {"set", "pf_set_round of a point", NULL, by_enclosure, true},
  {"set-sum", "pf_set_add of a point and 0", NULL, by_enclosed_sum, true},
  {"set-product", "pf_set_scale of a point by 1", NULL, by_enclosed_product, true},
  {"oracle", "the MPFR oracle's nearest", takes_finite, by_oracle, true},
  {NULL, NULL, NULL, NULL, false},
};
