/* An engine that is what the environment tells it to be: TOLD="VERSION ISA KERNEL DEED", where DEED
   is right, wrong (a sum too large by 1), nan, drifts (not the same twice), dies, declines or
   absent. */
#include <precfuzz/engine.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
  char version[64], isa[64], kernel[64], deed[64];
  int calls;
} told;

static const pfe_types types[] = {
  {PFE_F32, PFE_F32, PFE_F32, PFE_F32, PFE_F32, PFE_F32},
};

static pfe_status open_engine(const pfe_engine *self, const pfe_request *request, pfe_info *info,
                              void **state, char text[192])
{
  const char *says = getenv("TOLD");
  (void)self;
  (void)request;
  if (!says || sscanf(says, "%63s %63s %63s %63s", told.version, told.isa, told.kernel,
                      told.deed) != 4) {
    snprintf(text, 192, "TOLD is not set");
    return PFE_ERROR;
  }
  if (!strcmp(told.deed, "absent")) {
    snprintf(text, 192, "install libtold");
    return PFE_ABSENT;
  }
  if (told.version[0] != '-')
    snprintf(info->version, sizeof info->version, "%s", told.version);
  snprintf(info->details, sizeof info->details, "/lib/libtold.so.2, %s; 1 thread", told.isa);
  info->types = types;
  info->types_count = 1;
  *state = &told;
  return PFE_OK;
}

static pfe_status supports(void *state, const pfe_call *call, pfe_answer *answer)
{
  (void)state;
  (void)call;
  snprintf(answer->text, sizeof answer->text, "it was told to decline");
  return strcmp(told.deed, "declines") ? PFE_OK : PFE_UNSUPPORTED;
}

static float sum(const pfe_call *call, const float *x, const float *y, int64_t i, int64_t j)
{
  const pfe_step *s = call->steps;
  const pfe_tensor *a = call->tensor[s->a], *b = call->tensor[s->b];
  float all = 0;
  for (int64_t k = 0; k < call->k; k++)
    all += x[i * a->row_stride + k * a->column_stride] *
           y[k * b->row_stride + j * b->column_stride];
  return !strcmp(told.deed, "wrong")    ? all + 1
         : !strcmp(told.deed, "drifts") ? all + (float)told.calls
         : !strcmp(told.deed, "nan")    ? NAN
                                        : all;
}

static pfe_status run(void *state, const pfe_call *call, pfe_answer *answer)
{
  const pfe_step *s = call->steps;
  const pfe_tensor *out = call->out;
  (void)state;
  told.calls++;
  if (!strcmp(told.deed, "dies"))
    abort();
  snprintf(answer->kernel, sizeof answer->kernel, "%s", told.kernel);
  for (int64_t batch = 0; batch < call->batches; batch++) {
    const float *x = pfe_batch(call, call->tensor[s->a], batch);
    const float *y = pfe_batch(call, call->tensor[s->b], batch);
    float *to = pfe_batch(call, out, batch);
    for (int64_t i = 0; i < call->m; i++)
      for (int64_t j = 0; j < call->n; j++)
        to[i * out->row_stride + j * out->column_stride] = sum(call, x, y, i, j);
  }
  return PFE_OK;
}

const pfe_engine *precfuzz_engine(void)
{
  static const pfe_engine engine = {
    .version = PFE_VERSION, .size = sizeof engine, .name = "told", .note = "does what it is told",
    .open = open_engine, .supports = supports, .run = run};
  return &engine;
}
