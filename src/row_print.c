/* Plans compared and printed, in the words that pf_plan_parse reads. */
#include "row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool summation_equal(const pf_summation *a, const pf_summation *b)
{
  return a->order == b->order && a->width == b->width && a->fused == b->fused;
}

static bool accumulator_equal(const pf_accumulator *a, const pf_accumulator *b)
{
  return pf_format_equal(&a->format, &b->format) && pf_format_equal(&a->product, &b->product) &&
         summation_equal(&a->sum, &b->sum) && a->start_c == b->start_c && a->split == b->split &&
         a->drop == b->drop && a->ftz_in == b->ftz_in && a->ftz_out == b->ftz_out;
}

static bool step_equal(const pf_step *a, const pf_step *b)
{
  return a->kind == b->kind && a->a == b->a && a->b == b->b && pf_format_equal(&a->out, &b->out) &&
         (a->kind > PF_MULSUM || (a->alpha == b->alpha && a->c == b->c && a->bias == b->bias &&
                                  accumulator_equal(&a->acc, &b->acc)));
}

bool pf_plan_equal(const pf_plan *a, const pf_plan *b)
{
  if (a->count != b->count)
    return false;
  for (int i = 0; i < a->count; i++)
    if (!step_equal(&a->step[i], &b->step[i]))
      return false;
  return true;
}

void pf_summation_print(const pf_summation *s, char *to, size_t size)
{
  static const char *const names[] = {"any", "forward", "backward", "pairwise", "blocked", "lanes"};
  if (s->width)
    snprintf(to, size, "%s%d%s", names[s->order], s->width, s->fused ? ", fused" : "");
  else
    snprintf(to, size, "%s%s", names[s->order], s->fused ? ", fused" : "");
}

static const char *ref_name(const pf_plan *p, int ref)
{
  static const char *const names[] = {"x", "y", "c", "bias", "alpha", "beta",
                                      "scale_x", "scale_y"};
  return ref == PF_REF_NONE ? "" : ref < PF_REF_STEP ? names[ref] : p->step[ref - PF_REF_STEP].name;
}

static void knobs_print(const pf_accumulator *a, char *to, size_t size)
{
  char text[64], product[48], split[24], drop[24];
  to[0] = 0;
  if (a->sum.order == PF_ANY_ORDER)
    return;
  pf_format_print(&a->product, text, sizeof text);
  snprintf(product, sizeof product, ", product %.36s", text);
  snprintf(split, sizeof split, ", split %d", a->split);
  snprintf(drop, sizeof drop, ", drop %d", a->drop);
  pf_summation_print(&a->sum, text, sizeof text);
  snprintf(to, size, ", order %s%s%s%s%s%s%s%s", text, a->sum.fused ? "" : ", unfused",
           pf_format_equal(&a->product, &a->format) ? "" : product, a->start_c ? ", start c" : "",
           a->split > 1 ? split : "", a->drop ? drop : "", a->ftz_in ? ", ftz_in" : "",
           a->ftz_out ? ", ftz_out" : "");
}

void pf_step_print(const pf_step *s, const pf_plan *p, char *to, size_t size)
{
  static const char *const kinds[] = {"MATMUL", "MULSUM", "CAST", "SCALE", "ADD"};
  char out[48], acc[48], knobs[256];
  pf_format_print(&s->out, out, sizeof out);
  if (s->kind > PF_MULSUM) {
    snprintf(to, size, "%s = %s(%s%s%s; %s)", s->name, kinds[s->kind], ref_name(p, s->a),
             s->b == PF_REF_NONE ? "" : ", ", ref_name(p, s->b), out);
    return;
  }
  pf_format_print(&s->acc.format, acc, sizeof acc);
  knobs_print(&s->acc, knobs, sizeof knobs);
  snprintf(to, size, "%s = %s(%s, %s%s%s%s; acc %s, out %s%s)", s->name, kinds[s->kind],
           ref_name(p, s->a), ref_name(p, s->b), s->alpha ? ", alpha" : "",
           s->c ? ", c, beta" : "", s->bias ? ", bias" : "", acc, out, knobs);
}

static int64_t log2_up(int64_t n)
{
  int64_t bits = 0;
  while (((int64_t)1 << bits) < n)
    bits++;
  return bits;
}

int64_t pf_summation_depth(const pf_summation *s, int64_t k)
{
  const int64_t w = s->width < k ? s->width : k;
  switch (s->order) {
  case PF_PAIRWISE: return log2_up(k);
  case PF_BLOCKED: return (w - 1) + ((k + s->width - 1) / s->width - 1);
  case PF_LANES: return ((k + s->width - 1) / s->width - 1) + log2_up(w);
  default: return k - 1;
  }
}
