/* The columns of a step lie in lanes, and each row is taken against a panel of them; where there
   are more rows than columns the two change places, as factors may.

   Arithmetics are those of reference.c: float and double, integers modulo 2^32, and narrow formats
   as doubles rounded after each operation.  The sum of two numbers of at most 25 bits may be
   rounded to double first: double has the 2 p + 2 bits that make this harmless (Figueroa, When is
   double rounding innocuous?, SIGNUM Newsletter 30(3), 1995), and where the result is subnormal the
   sum is exact.  Products of such numbers are exact, and a fused sum goes by way of
   round-to-odd. */
#include "reference_lanes.h"

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "reference.h"
#include "rounding.h"

enum { MOST_PRECISION = 25 };

/* Vectors of x or y: groups of `count`, one group a batch. */
typedef struct pf_lane_side {
  const double *vectors;
  const int64_t *line;     /* by output batch: first vector */
  int64_t count, groups;
  int64_t stride;          /* in results, from one vector's to the next's */
} pf_lane_side;

typedef struct pf_lane_job {
  pf_summation order;
  pf_lane_format format;   /* of narrow sums */
  int64_t k, batches, outputs;
  pf_lane_side rows, columns;
  bool ends;               /* alpha is not 1, beta is not 0, or there is a bias */
  double alpha, beta;
  const double *c, *bias;  /* by output; bias may be NULL */
  void *lines, *panels;    /* scratch: rows as the arithmetic has them, columns packed */
  double *results;
} pf_lane_job;

typedef void sums_fn(const pf_lane_job *j);

/* An integer modulo 2^32. */
static inline uint32_t word_of(double v)
{
  if (fabs(v) < 0x1p53)
    return (uint32_t)(int64_t)v;
  return (uint32_t)(int64_t)pf_round(pf_format_of(PF_S32), v);
}

#define ISA ISA_PORTABLE
#include "isa_target.h"
#include "reference_lanes_target.h"
#undef ISA
#if defined(__x86_64__)
#define ISA ISA_AVX2
#include "isa_target.h"
#include "reference_lanes_target.h"
#undef ISA
#endif

#define AVX2_SUMS                                                                          \
  {[PF_BY_FLOAT] = avx2_float_sums, [PF_BY_DOUBLE] = avx2_double_sums,                     \
   [PF_BY_WORD] = avx2_word_sums, [PF_BY_RULES] = avx2_narrow_sums}

static sums_fn *const sums[PF_ISA_COUNT][PF_ARITHMETIC_COUNT] = {
  [PF_ISA_PORTABLE] = {[PF_BY_FLOAT] = portable_float_sums, [PF_BY_DOUBLE] = portable_double_sums,
                       [PF_BY_WORD] = portable_word_sums, [PF_BY_RULES] = portable_narrow_sums},
#if defined(__x86_64__)
  [PF_ISA_AVX2] = AVX2_SUMS, [PF_ISA_AVX512] = AVX2_SUMS,
#endif
};

static bool lanes_know(const pf_accumulator *acc, pf_arithmetic by, pf_lane_format *format)
{
  if (by == PF_BY_WORD)
    return !acc->drop;
  if (by != PF_BY_RULES)
    return true;
  return !acc->start_c && acc->split <= 1 && !acc->drop && !acc->ftz_in && !acc->ftz_out &&
         pf_format_equal(&acc->product, &acc->format) && acc->format.precision <= MOST_PRECISION &&
         pf_lane_format_of(&acc->format, format);
}

/* Rows are rows, but where columns are fewer. */
static void set_sides(pf_lane_job *j, const pf_problem *p, const double *x, const double *y)
{
  const pf_shape *s = &p->shape;
  const pf_lane_side of_x = {x, p->x_line, s->m, p->x_lines / s->m, s->n};
  const pf_lane_side of_y = {y, p->y_line, s->n, p->y_lines / s->n, 1};
  j->rows = s->m > s->n ? of_y : of_x;
  j->columns = s->m > s->n ? of_x : of_y;
}

static bool allocate(pf_lane_job *j, pf_arithmetic by, pf_arena *scratch)
{
  const bool doubles = by == PF_BY_DOUBLE || by == PF_BY_RULES;
  const size_t size = doubles ? sizeof(double) : sizeof(float);
  const int64_t widest = 32 / (int64_t)size;
  const int64_t columns = (j->columns.count + widest - 1) / widest * widest;
  j->panels = pf_alloc_raw(scratch, (size_t)(j->columns.groups * columns * j->k) * size);
  if (!doubles)
    j->lines = pf_alloc_raw(scratch, (size_t)(j->rows.groups * j->rows.count * j->k) * size);
  return j->panels && (doubles || j->lines);
}

/* Knobs are those that lanes_know asks for: none. */
static bool is_same(const pf_kept_sum *a, const pf_kept_sum *b)
{
  return a->sums && a->order.order == b->order.order && a->order.width == b->order.width &&
         a->order.fused == b->order.fused && a->alpha == b->alpha && a->c == b->c &&
         a->bias == b->bias && pf_format_equal(&a->acc.format, &b->acc.format) &&
         pf_format_equal(&a->acc.product, &b->acc.product);
}

static const double *find_kept(const pf_kept *kept, const pf_kept_sum *wanted)
{
  for (int i = 0; i < PF_KEPT_SUMS; i++)
    if (is_same(&kept->sum[i], wanted))
      return kept->sum[i].sums;
  return NULL;
}

/* The next place to keep sums in, with memory for them; NULL if there is none. */
static pf_kept_sum *keep(pf_kept *kept, const pf_kept_sum *wanted, int64_t outputs)
{
  pf_kept_sum *to = &kept->sum[kept->next];
  *to = *wanted;
  to->sums = pf_alloc_array_raw(kept->arena, (size_t)outputs, sizeof *to->sums);
  kept->next = (kept->next + 1) % PF_KEPT_SUMS;
  return to->sums ? to : NULL;
}

static bool add_up(pf_isa isa, pf_lane_job *j, pf_arithmetic by, pf_arena *scratch)
{
  const pf_arena_mark mark = pf_arena_mark_here(scratch);
  const bool allocated = allocate(j, by, scratch);
  if (allocated)
    sums[isa][by](j);
  pf_arena_release(scratch, mark);
  return allocated;
}

static pf_lane_job job_of(const pf_problem *p, const pf_kept_sum *wanted, const double *x,
                          const double *y)
{
  pf_lane_job j = {
    .order = wanted->order, .k = p->shape.k, .batches = p->shape.batches,
    .outputs = p->shape.outputs, .alpha = wanted->alpha ? p->what->alpha : 1,
    .beta = wanted->c ? p->what->beta : 0, .c = p->c_values,
    .bias = wanted->bias ? p->bias_values : NULL};
  j.ends = j.alpha != 1 || j.beta != 0 || j.bias;
  set_sides(&j, p, x, y);
  return j;
}

bool pf_reference_lanes(pf_isa isa, const pf_problem *p, const pf_step *step,
                        const pf_summation *s, const double *x_vectors, const double *y_vectors,
                        pf_arena *scratch, double *results)
{
  const pf_arithmetic by = pf_arithmetic_of(&step->acc);
  const pf_kept_sum wanted = {
    .acc = step->acc, .order = pf_reference_order(&step->acc, s, step->kind == PF_MULSUM),
    .alpha = step->alpha, .c = step->c, .bias = step->bias};
  const bool own = x_vectors == p->x_vectors && y_vectors == p->y_vectors;
  pf_kept *kept = own ? p->kept : NULL;
  const int64_t n = p->shape.outputs;
  pf_lane_format narrow = {0};
  if (!n || (p->shape.m * p->shape.n == 1 && by != PF_BY_RULES) ||
      !lanes_know(&step->acc, by, &narrow))
    return false;
  const double *sum = kept ? find_kept(kept, &wanted) : NULL;
  if (!sum) {
    pf_lane_job j = job_of(p, &wanted, x_vectors, y_vectors);
    pf_kept_sum *place = kept ? keep(kept, &wanted, n) : NULL;
    j.format = narrow;
    j.results = place ? place->sums : results;
    if (!add_up(isa, &j, by, scratch)) {
      if (place)
        place->sums = NULL;
      return false;
    }
    sum = j.results;
  }
  if (!pf_format_equal(&step->out, &step->acc.format))
    pf_round_by(isa, PF_ROUNDED_VALUE, &step->out, sum, NULL, n, results);
  else if (sum != results)
    memcpy(results, sum, (size_t)n * sizeof *results);
  return true;
}
