/* An engine that takes whole cases: matmul_out_f32_add of bf16 tensors and an f32 bias.  Its argument
   says whether the sum is rounded to bf16 in between (rounds), by how much the result is off (off;
   off7: where K is 7 or more), and which row it claims (claims=ROW); several with ';' between. */
#include <precfuzz/engine.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct habits {
  char argument[128];
} habits;

static pfe_status open_engine(const pfe_engine *self, const pfe_request *request, pfe_info *info,
                              void **state, char text[192])
{
  habits *h = calloc(1, sizeof *h);
  (void)self, (void)info, (void)text;
  if (!h)
    return PFE_ERROR;
  snprintf(h->argument, sizeof h->argument, "%s", request->argument ? request->argument : "");
  *state = h;
  return PFE_OK;
}

static void close_engine(void *state)
{
  free(state);
}

static float widen(const void *at)
{
  uint16_t low;
  memcpy(&low, at, sizeof low);
  const uint32_t bits = (uint32_t)low << 16;
  float v;
  memcpy(&v, &bits, sizeof v);
  return v;
}

static float narrowed(float v)
{
  uint32_t bits;
  memcpy(&bits, &v, sizeof bits);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
  memcpy(&v, &bits, sizeof v);
  return v;
}

static const char *at(const pfe_call *call, const pfe_tensor *t, int64_t b, int64_t i, int64_t j)
{
  return (const char *)pfe_batch(call, t, b) +
         (i * t->row_stride + j * t->column_stride) * (int64_t)pfe_dtype_bytes(t->dtype);
}

static pfe_status supports(void *state, const pfe_call *call, pfe_answer *answer)
{
  (void)state;
  if (!strcmp(call->graph, "matmul_out_f32_add") && call->count == 0 &&
      call->tensor[PFE_X]->dtype == PFE_BF16 && call->tensor[PFE_Y]->dtype == PFE_BF16 &&
      call->tensor[PFE_BIAS]->dtype == PFE_F32 && call->out->dtype == PFE_F32)
    return PFE_OK;
  snprintf(answer->text, sizeof answer->text, "another graph");
  return PFE_UNSUPPORTED;
}

static pfe_status run(void *state, const pfe_call *call, pfe_answer *answer)
{
  const habits *h = state;
  const char *claim = strstr(h->argument, "claims=");
  const pfe_tensor *x = call->tensor[PFE_X], *y = call->tensor[PFE_Y];
  for (int64_t b = 0; b < call->batches; b++)
    for (int64_t i = 0; i < call->m; i++)
      for (int64_t j = 0; j < call->n; j++) {
        float sum = 0, bias;
        for (int64_t k = 0; k < call->k; k++)
          sum += widen(at(call, x, b, i, k)) * widen(at(call, y, b, k, j));
        if (strstr(h->argument, "rounds"))
          sum = narrowed(sum);
        memcpy(&bias, at(call, call->tensor[PFE_BIAS], b, i, j), sizeof bias);
        sum += bias;
        if (strstr(h->argument, "off") && b + i + j == 0 &&
            (call->k >= 7 || !strstr(h->argument, "off7")))
          sum = 2 * sum + 1;
        memcpy((char *)at(call, call->out, b, i, j), &sum, sizeof sum);
      }
  if (claim)
    snprintf(answer->row, sizeof answer->row, "%.*s", (int)strcspn(claim + 7, ";"), claim + 7);
  return PFE_OK;
}

static const pfe_engine engine = {
  .version = PFE_VERSION, .size = sizeof engine, .name = "graphs", .note = "for tests",
  .flags = PFE_RUNS_GRAPHS, .open = open_engine, .supports = supports, .run = run,
  .close = close_engine};

const pfe_engine *precfuzz_engine(void)
{
  return &engine;
}
