/* An engine that does what its argument says, and else multiplies f32 matrices rightly. */
#include <precfuzz/engine.h>

#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct deed {
  const char *name;
  int calls;
} deed;

static const pfe_types types[] = {
  {PFE_F32, PFE_F32, PFE_F32, PFE_F32, PFE_F32, PFE_F32},
};

static int is(const deed *d, const char *name)
{
  return !strcmp(d->name, name);
}

static void hang(void)
{
  for (;;)
    pause();
}

static pfe_status open_engine(const pfe_engine *self, const pfe_request *request, pfe_info *info,
                              void **state, char text[192])
{
  deed *d = calloc(1, sizeof *d + 64);
  (void)self;
  if (!d)
    return PFE_ERROR;
  d->name = strcpy((char *)(d + 1), request->argument ? request->argument : "");
  *state = d;
  info->types = types;
  info->types_count = 1;
  info->settings.threads = request->threads;
  if (is(d, "open-fails") || is(d, "open-absent")) {
    const int absent = is(d, "open-absent");
    snprintf(text, 192, "%s", absent ? "install libmine" : "this is why");
    free(d);
    return absent ? PFE_ABSENT : PFE_ERROR;
  }
  if (is(d, "open-settings"))
    info->settings.flush_sums = 9;
  if (is(d, "open-aborts"))
    abort();
  if (is(d, "open-hangs"))
    hang();
  if (is(d, "open-rounds"))
    fesetround(FE_UPWARD);
  return PFE_OK;
}

static void close_engine(void *state)
{
  free(state);
}

static void multiply(const pfe_call *call)
{
  const pfe_step *s = call->steps;
  const pfe_tensor *a = call->tensor[s->a], *b = call->tensor[s->b], *out = call->out;
  for (int64_t batch = 0; batch < call->batches; batch++) {
    const float *x = pfe_batch(call, a, batch), *y = pfe_batch(call, b, batch);
    float *to = pfe_batch(call, out, batch);
    for (int64_t i = 0; i < call->m; i++)
      for (int64_t j = 0; j < call->n; j++) {
        float sum = 0;
        for (int64_t k = 0; k < call->k; k++)
          sum += x[i * a->row_stride + k * a->column_stride] *
                 y[k * b->row_stride + j * b->column_stride];
        to[i * out->row_stride + j * out->column_stride] = sum;
      }
  }
}

static int has_unit_stride(const pfe_tensor *t)
{
  return t->row_stride == 1 || t->column_stride == 1;
}

static pfe_status supports(void *state, const pfe_call *call, pfe_answer *answer)
{
  const deed *d = state;
  if (call->steps->has_c || call->steps->has_bias || call->steps->has_alpha) {
    snprintf(answer->text, sizeof answer->text, "no alpha, c or bias");
    return PFE_UNSUPPORTED;
  }
  if (is(d, "unit-stride") && !(has_unit_stride(call->tensor[call->steps->a]) &&
                               has_unit_stride(call->tensor[call->steps->b]) &&
                               has_unit_stride(call->out))) {
    snprintf(answer->text, sizeof answer->text, "no stride is 1");
    return PFE_UNSUPPORTED;
  }
  if (is(d, "flushes"))
    answer->settings.flush_outputs = PFE_MAY;
  return PFE_OK;
}

static pfe_status run(void *state, const pfe_call *call, pfe_answer *answer)
{
  deed *d = state;
  float *first = call->out->data;
  const int any = call->batches > 0 && call->m > 0 && call->n > 0;
  multiply(call);
  d->calls++;
  snprintf(answer->kernel, sizeof answer->kernel, "kernel %d", d->calls);
  if (is(d, "run-fails")) {
    snprintf(answer->text, sizeof answer->text, "out of luck");
    return PFE_ERROR;
  }
  if (is(d, "run-declines")) {
    snprintf(answer->text, sizeof answer->text, "thought better of it");
    return PFE_UNSUPPORTED;
  }
  if (is(d, "run-crashes") || (is(d, "run-crashes-third") && d->calls == 3)) {
    fputs("misbehaving: about to crash\n", stderr);
    raise(SIGSEGV);
  }
  if (is(d, "run-exits"))
    exit(7);
  if (is(d, "run-hangs"))
    hang();
  if (is(d, "run-rounds"))
    fesetround(FE_DOWNWARD);
  if (is(d, "writes-before"))
    first[-1] = 1;
  if (is(d, "changes-input") && call->k)
    *(float *)call->tensor[call->steps->a]->data += 1;
  if (is(d, "wrong") && any)
    first[0] = first[0] * 2 + 1;
  if (is(d, "unsteady") && any)
    first[0] *= 1 + (float)(d->calls % 2) * 0x1p-23f;
  return PFE_OK;
}

static const pfe_engine engine = {
  .version = PFE_VERSION, .size = sizeof engine, .name = "misbehaving", .note = "for tests",
  .open = open_engine, .supports = supports, .run = run, .close = close_engine};

const pfe_engine *precfuzz_engine(void)
{
  return &engine;
}
