/* The models.  Each changes a copy of the plan; none if it would change nothing. */
#include "model.h"

#include <math.h>
#include <string.h>

typedef struct pf_model {
  const char *name, *says;
  /* Turns the knob of one MATMUL or MULSUM; false if it does not apply. */
  bool (*turn)(pf_step *s, const pf_problem *p);
} pf_model;

static bool daz(pf_step *s, const pf_problem *p)
{
  (void)p;
  s->acc.ftz_in = true;
  return true;
}

static bool ftz(pf_step *s, const pf_problem *p)
{
  (void)p;
  s->acc.ftz_out = true;
  return true;
}

static bool daz_ftz(pf_step *s, const pf_problem *p)
{
  return daz(s, p) && ftz(s, p);
}

static bool drop_tail(pf_step *s, const pf_problem *p, int width)
{
  s->acc.drop = (int)(p->shape.k % width);
  return s->acc.drop > 0;
}

static bool drop_last(pf_step *s, const pf_problem *p)
{
  s->acc.drop = 1;
  return p->shape.k > 0;
}

static bool drop_tail_4(pf_step *s, const pf_problem *p) { return drop_tail(s, p, 4); }
static bool drop_tail_8(pf_step *s, const pf_problem *p) { return drop_tail(s, p, 8); }
static bool drop_tail_16(pf_step *s, const pf_problem *p) { return drop_tail(s, p, 16); }
static bool drop_tail_32(pf_step *s, const pf_problem *p) { return drop_tail(s, p, 32); }

static bool accumulate_in(pf_step *s, pf_dtype t)
{
  const pf_format *f = pf_format_of(t);
  if (pf_is_integer(&s->acc.format) || f->precision >= s->acc.format.precision)
    return false;
  s->acc.format = *f;
  s->acc.product = *f;
  return true;
}

static bool accumulate_bf16(pf_step *s, const pf_problem *p)
{
  (void)p;
  return accumulate_in(s, PF_BF16);
}

static bool accumulate_f16(pf_step *s, const pf_problem *p)
{
  (void)p;
  return accumulate_in(s, PF_F16);
}

/* Sums of integers that stay at the end of s16, or of s32, where they should go round. */
static bool saturate_in(pf_step *s, int bits)
{
  if (!pf_is_integer(&s->acc.format))
    return false;
  s->acc.format = (pf_format){.precision = bits, .emin = bits - 1, .max = ldexp(1, bits - 1) - 1,
                              .overflow = PF_OVERFLOW_SATURATE, .range = PF_TWOS_COMPLEMENT};
  s->acc.product = s->acc.format;
  return true;
}

static bool saturate_s16(pf_step *s, const pf_problem *p)
{
  (void)p;
  return saturate_in(s, 16);
}

static bool saturate_s32(pf_step *s, const pf_problem *p)
{
  (void)p;
  return saturate_in(s, 32);
}

static bool split_in(pf_step *s, const pf_problem *p, int parts)
{
  s->acc.split = parts;
  return p->shape.k > 1 && !pf_format_equal(&s->out, &s->acc.format);
}

static bool split_2(pf_step *s, const pf_problem *p) { return split_in(s, p, 2); }
static bool split_4(pf_step *s, const pf_problem *p) { return split_in(s, p, 4); }
static bool split_8(pf_step *s, const pf_problem *p) { return split_in(s, p, 8); }

static bool round_out(pf_step *s, pf_rounding r)
{
  if (s->out.precision > 51 || pf_format_equal(&s->out, &s->acc.format))
    return false;
  s->out.rounding = r;
  return true;
}

static bool truncate_out(pf_step *s, const pf_problem *p)
{
  (void)p;
  return round_out(s, PF_TOWARD_ZERO);
}

static bool ties_away(pf_step *s, const pf_problem *p)
{
  (void)p;
  return round_out(s, PF_NEAREST_AWAY);
}

static bool no_rounding(pf_step *s, const pf_problem *p)
{
  (void)p;
  if (pf_format_equal(&s->out, &s->acc.format))
    return false;
  s->out = s->acc.format;
  s->storage = s->acc.format.precision > 24 ? PF_F64 : PF_F32;
  return true;
}

static bool narrow_out(pf_step *s, pf_dtype t)
{
  const pf_format *f = pf_format_of(t);
  if (f->precision >= s->out.precision)
    return false;
  s->out = *f;
  return true;
}

static bool out_through_bf16(pf_step *s, const pf_problem *p)
{
  (void)p;
  return narrow_out(s, PF_BF16);
}

static bool out_through_f16(pf_step *s, const pf_problem *p)
{
  (void)p;
  return narrow_out(s, PF_F16);
}

static bool no_addends(pf_step *s, const pf_problem *p)
{
  (void)p;
  const bool any = s->c || s->bias;
  s->c = s->bias = false;
  return any;
}

static bool no_alpha(pf_step *s, const pf_problem *p)
{
  const bool any = s->alpha && p->what->alpha != 1;
  s->alpha = false;
  return any;
}

/* Flushes come first: they change nothing but on subnormal data, where with few terms whatever
   leaves some out may fit, too. */
static const pf_model models[] = {
  {"daz", "reads subnormal operands as zero", daz},
  {"ftz", "flushes subnormal products and sums to zero", ftz},
  {"daz+ftz", "reads subnormal operands as zero and flushes subnormal sums", daz_ftz},
  {"drop-last", "leaves out the last term of K", drop_last},
  {"drop-tail-4", "leaves out the last K % 4 terms", drop_tail_4},
  {"drop-tail-8", "leaves out the last K % 8 terms", drop_tail_8},
  {"drop-tail-16", "leaves out the last K % 16 terms", drop_tail_16},
  {"drop-tail-32", "leaves out the last K % 32 terms", drop_tail_32},
  {"no-addends", "leaves out c and bias", no_addends},
  {"no-alpha", "leaves out alpha", no_alpha},
  {"ties-away", "rounds ties of the product away from zero", ties_away},
  {"truncates", "rounds the product toward zero", truncate_out},
  {"unrounded", "keeps the product in the accumulator's format", no_rounding},
  {"out-bf16", "rounds the product to bf16 on its way", out_through_bf16},
  {"out-f16", "rounds the product to f16 on its way", out_through_f16},
  {"split-2", "rounds the sums of 2 parts of K to the output's format", split_2},
  {"split-4", "rounds the sums of 4 parts of K to the output's format", split_4},
  {"split-8", "rounds the sums of 8 parts of K to the output's format", split_8},
  {"acc-bf16", "accumulates in bf16", accumulate_bf16},
  {"acc-f16", "accumulates in f16", accumulate_f16},
  {"saturates-s32", "integer sums saturate at the ends of s32", saturate_s32},
  {"saturates-s16", "integer sums saturate at the ends of s16", saturate_s16},
};

static bool turn_plan(const pf_model *m, const pf_problem *p, pf_plan *plan)
{
  bool turned = false;
  for (int i = 0; i < plan->count; i++)
    if (plan->step[i].kind <= PF_MULSUM) {
      pf_step copy = plan->step[i];
      if (m->turn(&copy, p)) {
        plan->step[i] = copy;
        turned = true;
      }
    }
  return turned;
}

static bool same_bits(const double *a, const double *b, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i])))
      return false;
  return true;
}

static pf_status try_model(const pf_problem *p, const pf_plan *plan, const pf_model *m,
                           const double *got, pf_arena *scratch, pf_match *out)
{
  for (const pf_engine *const *e = pf_engines; *e; e++) {
    pf_plan turned = *plan;
    pf_run run;
    if (strncmp((*e)->name, "reference:", 10) || !turn_plan(m, p, &turned))
      continue;
    pf_arena_reset(scratch);
    const pf_status status = pf_interpret(p, &turned, *e, scratch, &run);
    if (status)
      return status;
    if (same_bits(run.got, got, p->shape.outputs)) {
      *out = (pf_match){m->name, m->says, (*e)->name};
      return PF_OK;
    }
  }
  return PF_OK;
}

pf_status pf_model_find(const pf_problem *p, const pf_plan *plan, const double *got,
                        pf_arena *scratch, pf_match *out)
{
  *out = (pf_match){0};
  for (size_t i = 0; i < sizeof models / sizeof *models && !out->model; i++) {
    const pf_status status = try_model(p, plan, &models[i], got, scratch, out);
    if (status)
      return status;
  }
  return PF_OK;
}
