/* A complete engine: f32 and bf16 matrices by the loop that everybody writes first.

     cc -std=c11 -O2 -fPIC -shared -Iinclude examples/engine_naive.c -o naive.so
     precfuzz engine-test ./naive.so
     precfuzz random --engine ./naive.so --dtype f32,bf16 */
#include <precfuzz/engine.h>

#include <stdio.h>
#include <string.h>

static const pfe_types types[] = {  /* x, y, sums, result, c, bias */
  {PFE_F32, PFE_F32, PFE_F32, PFE_F32, PFE_F32, PFE_F32},
  {PFE_BF16, PFE_BF16, PFE_F32, PFE_F32, PFE_F32, PFE_F32},
  {PFE_BF16, PFE_BF16, PFE_F32, PFE_BF16, PFE_BF16, PFE_BF16},
};

static float load(const pfe_tensor *t, const void *batch, int64_t i, int64_t j)
{
  const int64_t at = i * t->row_stride + j * t->column_stride;
  float v;
  if (t->dtype == PFE_F32)
    return ((const float *)batch)[at];
  memcpy(&v, &(uint32_t){(uint32_t)((const uint16_t *)batch)[at] << 16}, sizeof v);
  return v;
}

static void store(const pfe_tensor *t, void *batch, int64_t i, int64_t j, float v)
{
  const int64_t at = i * t->row_stride + j * t->column_stride;
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  if (t->dtype == PFE_F32)
    ((float *)batch)[at] = v;
  else  /* to nearest, ties to even */
    ((uint16_t *)batch)[at] =
        v != v ? 0x7fc0 : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static pfe_status open_engine(const pfe_engine *self, const pfe_request *request, pfe_info *info,
                              void **state, char text[192])
{
  (void)self, (void)request, (void)state, (void)text;
  snprintf(info->version, sizeof info->version, "1");
  info->types = types;
  info->types_count = sizeof types / sizeof *types;
  return PFE_OK;
}

static pfe_status run(void *state, const pfe_call *call, pfe_answer *answer)
{
  const pfe_step *s = call->steps;  /* one plain MATMUL, since there are no flags */
  const pfe_tensor *a = call->tensor[s->a], *b = call->tensor[s->b], *out = call->out;
  const pfe_tensor *c = call->tensor[PFE_C], *bias = call->tensor[PFE_BIAS];
  (void)state, (void)answer;
  for (int64_t batch = 0; batch < call->batches; batch++)
    for (int64_t i = 0; i < call->m; i++)
      for (int64_t j = 0; j < call->n; j++) {
        float sum = 0;
        for (int64_t k = 0; k < call->k; k++)
          sum += load(a, pfe_batch(call, a, batch), i, k) * load(b, pfe_batch(call, b, batch), k, j);
        if (s->has_alpha)
          sum *= (float)call->alpha;
        if (s->has_c && call->beta != 0)
          sum += (float)call->beta * load(c, pfe_batch(call, c, batch), i, j);
        if (s->has_bias)
          sum += load(bias, pfe_batch(call, bias, batch), i, j);
        store(out, pfe_batch(call, out, batch), i, j, sum);
      }
  return PFE_OK;
}

static const pfe_engine engine = {
  .version = PFE_VERSION, .size = sizeof engine, .name = "naive", .note = "three loops",
  .open = open_engine, .run = run};

const pfe_engine *precfuzz_engine(void)
{
  return &engine;
}
