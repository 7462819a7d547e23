/* An engine with habits, and what it declares of them: "DEEDS/SAYS", words with '+' between.
     deeds  daz ftz flush bf16 skip skip-scaled reads saturate c-first
     says   daz ftz flush (does), may-daz may-ftz may-flush, bf16, f64, skip may-skip, reads,
            skips-alpha, saturate either, c-last
   f32 matrices, and s8 with sums in s32.  Sums run first to last. */
#include <precfuzz/engine.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct habits {
  char deeds[128], says[128];
} habits;

static const pfe_types types[] = {
  {PFE_F32, PFE_F32, PFE_F32, PFE_F32, PFE_F32, PFE_F32},
  {PFE_S8, PFE_S8, PFE_S32, PFE_S32, PFE_S32, PFE_S32},
};

static int has(const char *list, const char *word)
{
  const size_t n = strlen(word);
  for (const char *at = list; (at = strstr(at, word)) != NULL; at += n)
    if ((at == list || at[-1] == '+') && (at[n] == '+' || at[n] == 0))
      return 1;
  return 0;
}

static int32_t maybe(const char *says, const char *word)
{
  char may[32];
  snprintf(may, sizeof may, "may-%s", word);
  return has(says, word) ? PFE_DOES : has(says, may) ? PFE_MAY : PFE_NEVER;
}

static void declare(const char *says, pfe_settings *s)
{
  s->flush_inputs = maybe(says, "daz");
  s->flush_sums = maybe(says, "ftz");
  s->flush_outputs = maybe(says, "flush");
  s->zero_skip = maybe(says, "skip");
  if (has(says, "bf16"))
    s->accumulator = PFE_BF16;
  if (has(says, "f64"))
    s->accumulator = PFE_F64;
  s->alpha_zero = has(says, "reads")         ? PFE_ALPHA_ZERO_READS
                  : has(says, "skips-alpha") ? PFE_ALPHA_ZERO_SKIPS
                                             : PFE_ALPHA_ZERO_OPEN;
  s->s32_overflow = has(says, "saturate") ? PFE_OVERFLOW_SATURATE
                    : has(says, "either") ? PFE_OVERFLOW_EITHER
                                          : PFE_OVERFLOW_USUAL;
  s->c_last = has(says, "c-last");
}

static pfe_status open_engine(const pfe_engine *self, const pfe_request *request, pfe_info *info,
                              void **state, char text[192])
{
  habits *h = calloc(1, sizeof *h);
  const char *argument = request->argument ? request->argument : "";
  const char *slash = strchr(argument, '/');
  (void)self, (void)text;
  if (!h)
    return PFE_ERROR;
  snprintf(h->deeds, sizeof h->deeds, "%.*s", slash ? (int)(slash - argument) : 99, argument);
  snprintf(h->says, sizeof h->says, "%s", slash ? slash + 1 : "");
  declare(h->says, &info->settings);
  info->types = types;
  info->types_count = sizeof types / sizeof *types;
  *state = h;
  return PFE_OK;
}

static void close_engine(void *state)
{
  free(state);
}

static float flushed(int on, float v)
{
  return on && fabsf(v) < FLT_MIN ? 0 : v;
}

static float narrowed(int on, float v)
{
  uint32_t bits;
  if (!on || v != v)
    return v;
  memcpy(&bits, &v, sizeof bits);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
  memcpy(&v, &bits, sizeof v);
  return v;
}

static float load(const habits *h, const pfe_call *call, const pfe_tensor *t, int64_t b, int64_t i,
                  int64_t j)
{
  const float *batch = pfe_batch(call, t, b);
  return flushed(has(h->deeds, "daz"), batch[i * t->row_stride + j * t->column_stride]);
}

/* A partial sum or product as the accumulator keeps it. */
static float kept(const habits *h, float v)
{
  return flushed(has(h->deeds, "ftz"), narrowed(has(h->deeds, "bf16"), v));
}

static float sum_f32(const habits *h, const pfe_call *call, int64_t b, int64_t i, int64_t j)
{
  const pfe_step *s = call->steps;
  const int with_c = s->has_c && call->beta != 0, first = has(h->deeds, "c-first");
  const float alpha = s->has_alpha ? (float)call->alpha : 1;
  const float c = with_c ? kept(h, (float)call->beta * load(h, call, call->tensor[PFE_C], b, i, j))
                         : 0;
  float sum = with_c && first ? c : 0;
  for (int64_t k = 0; k < call->k && (alpha != 0 || has(h->deeds, "reads")); k++) {
    const float x = load(h, call, call->tensor[s->a], b, i, k);
    const float y = load(h, call, call->tensor[s->b], b, k, j);
    if (has(h->deeds, "skip") && (x == 0 || y == 0))
      continue;
    const float times = narrowed(has(h->deeds, "bf16") && alpha != -1, alpha * x);
    const float scaled = alpha == 1 ? x : flushed(has(h->deeds, "ftz"), times);
    if (has(h->deeds, "skip-scaled") && scaled == 0)
      continue;
    sum = kept(h, sum + kept(h, scaled * y));
  }
  if (with_c && !first)
    sum = kept(h, sum + c);
  if (s->has_bias)
    sum = kept(h, sum + load(h, call, call->tensor[PFE_BIAS], b, i, j));
  return flushed(has(h->deeds, "flush"), sum);
}

static int32_t sum_s32(const habits *h, const pfe_call *call, int64_t b, int64_t i, int64_t j)
{
  const pfe_tensor *x = call->tensor[call->steps->a], *y = call->tensor[call->steps->b];
  const int8_t *at_x = pfe_batch(call, x, b), *at_y = pfe_batch(call, y, b);
  int64_t sum = 0;
  for (int64_t k = 0; k < call->k; k++) {
    sum += at_x[i * x->row_stride + k * x->column_stride] *
           at_y[k * y->row_stride + j * y->column_stride];
    if (has(h->deeds, "saturate"))
      sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
  }
  return (int32_t)(uint32_t)(uint64_t)sum;
}

static pfe_status supports(void *state, const pfe_call *call, pfe_answer *answer)
{
  const pfe_step *s = call->steps;
  (void)state;
  if (call->out->dtype == PFE_F32 || !(s->has_alpha || s->has_c || s->has_bias))
    return PFE_OK;
  snprintf(answer->text, sizeof answer->text, "only products of s8");
  return PFE_UNSUPPORTED;
}

static pfe_status run(void *state, const pfe_call *call, pfe_answer *answer)
{
  const pfe_tensor *out = call->out;
  (void)answer;
  for (int64_t b = 0; b < call->batches; b++)
    for (int64_t i = 0; i < call->m; i++)
      for (int64_t j = 0; j < call->n; j++) {
        const int64_t at = i * out->row_stride + j * out->column_stride;
        if (out->dtype == PFE_F32)
          ((float *)pfe_batch(call, out, b))[at] = sum_f32(state, call, b, i, j);
        else
          ((int32_t *)pfe_batch(call, out, b))[at] = sum_s32(state, call, b, i, j);
      }
  return PFE_OK;
}

static const pfe_engine engine = {
  .version = PFE_VERSION, .size = sizeof engine, .name = "habits", .note = "for tests",
  .open = open_engine, .supports = supports, .run = run, .close = close_engine};

const pfe_engine *precfuzz_engine(void)
{
  return &engine;
}
