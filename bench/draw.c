/* Drawing cases that PyTorch takes, too. */
#include "draw.h"

#include <math.h>
#include <string.h>

#include "form_fuzz.h"
#include "form_text.h"

enum { LENGTH = 192, WORK = 4096 };

bench_draw_kind bench_draw_kind_of(const char *name)
{
  if (!strcmp(name, "one_shape"))
    return BENCH_ONE_SHAPE;
  if (strcmp(name, "varying"))
    bench_die("'%s' is neither varying nor one_shape", name);
  return BENCH_VARYING;
}

static bool all_finite(const double *v, int64_t count)
{
  for (int64_t i = 0; i < count; i++)
    if (!isfinite(v[i]))
      return false;
  return true;
}

/* One dtype throughout, something to compute, nothing infinite: what assert_close is made for. */
static bool is_plain(const pf_problem *p)
{
  const pf_operand *o = p->what->operand;
  const int64_t k = p->shape.k;
  return o[PF_X].dtype == o[PF_Y].dtype && o[PF_X].dtype == o[PF_BIAS].dtype && p->shape.work > 0 &&
         all_finite(p->x_vectors, p->x_lines * k) && all_finite(p->y_vectors, p->y_lines * k) &&
         all_finite(p->bias_values, p->shape.outputs);
}

static void draw_varying(uint64_t seed, pf_arena *a, pf_case *what, pf_problem *p)
{
  const pf_filter filter = {
    .dtypes = 1u << PF_BF16 | 1u << PF_F16 | 1u << PF_F32,
    .graphs = 1u << PF_MATMUL_ADD,
    .kinds = 1u << PF_NORMAL | 1u << PF_INTEGER | 1u << PF_CANCEL | 1u << PF_EQUAL |
             1u << PF_MIDPOINT | 1u << PF_SUBNORMAL,
    .dense_only = true,
    .max_work = WORK,
  };
  for (uint64_t attempt = 0;; attempt++) {
    uint64_t words[LENGTH / 8];
    const uint64_t base = pf_hash(seed ^ pf_hash(attempt));
    for (size_t i = 0; i < LENGTH / 8; i++)
      words[i] = pf_hash(base + i);
    if (pf_fuzz_decode((const uint8_t *)words, sizeof words, &filter, a, what) ||
        pf_problem_build(what, a, p))
      bench_die("out of memory");
    if (is_plain(p))
      return;
  }
}

static void draw_one_shape(uint64_t seed, pf_arena *a, pf_case *what, pf_problem *p)
{
  char text[256];
  pf_error e = {0};
  const int size = snprintf(text, sizeof text,
                            "matmul_add x=bf16[2,4,16] y=bf16[2,16,4] bias=bf16[4] "
                            "x.values=normal:%u y.values=normal:%u bias.values=normal:%u",
                            (unsigned)pf_hash(seed), (unsigned)pf_hash(seed + 1),
                            (unsigned)pf_hash(seed + 2));
  if (pf_text_parse(text, (size_t)size, a, what, &e) || pf_problem_build(what, a, p))
    bench_die("%s: %s", text, e.text);
}

void bench_draw(bench_draw_kind kind, uint64_t seed, int64_t index, pf_arena *a, pf_case *what,
                pf_problem *problem)
{
  const uint64_t own = pf_hash(pf_hash(seed) ^ (uint64_t)index);
  (kind == BENCH_VARYING ? draw_varying : draw_one_shape)(own, a, what, problem);
}
