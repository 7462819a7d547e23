/* An engine that multiplies f32 matrices rightly, but not where K is 7 or more: there it does what
   its argument says.  With one row it dies another death, so that a finding might turn into
   another one.

     aborts, hangs, wrong     every time
     sometimes                wrong by 1, one time in three or so
     remembers                wrong by 1 with two rows, and from then on always
     slow                     wrong by 1; every call takes a moment */
#include <precfuzz/engine.h>

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
  char deed[32];
  uint32_t state;
  int spoilt;
} fragile = {.state = 12345};

static const pfe_types types[] = {
  {PFE_F32, PFE_F32, PFE_F32, PFE_F32, PFE_F32, PFE_F32},
};

static pfe_status open_engine(const pfe_engine *self, const pfe_request *request, pfe_info *info,
                              void **state, char text[192])
{
  (void)self;
  (void)text;
  if (request->argument)
    strncpy(fragile.deed, request->argument, sizeof fragile.deed - 1);
  info->types = types;
  info->types_count = 1;
  *state = &fragile;
  return PFE_OK;
}

static int is(const char *deed)
{
  return !strcmp(fragile.deed, deed);
}

/* What is added to each sum. */
static float do_deed(const pfe_call *call)
{
  if (is("slow"))
    usleep(100000);
  if (call->k < 7)
    return 0;
  if (is("aborts"))
    raise(call->m > 1 ? SIGABRT : SIGSEGV);
  for (; is("hangs");)
    pause();
  fragile.spoilt |= call->m > 1;
  if (is("remembers"))
    return (float)fragile.spoilt;
  fragile.state = fragile.state * 1664525 + 1013904223;
  return is("sometimes") ? fragile.state >> 16 < 0x5555 : 1;
}

static pfe_status run(void *state, const pfe_call *call, pfe_answer *answer)
{
  const pfe_step *s = call->steps;
  const pfe_tensor *a = call->tensor[s->a], *b = call->tensor[s->b], *out = call->out;
  const float off = do_deed(call);
  (void)state;
  (void)answer;
  for (int64_t batch = 0; batch < call->batches; batch++) {
    const float *x = pfe_batch(call, a, batch), *y = pfe_batch(call, b, batch);
    float *to = pfe_batch(call, out, batch);
    for (int64_t i = 0; i < call->m; i++)
      for (int64_t j = 0; j < call->n; j++) {
        float sum = off;
        for (int64_t k = 0; k < call->k; k++)
          sum += x[i * a->row_stride + k * a->column_stride] *
                 y[k * b->row_stride + j * b->column_stride];
        to[i * out->row_stride + j * out->column_stride] = sum;
      }
  }
  return PFE_OK;
}

const pfe_engine *precfuzz_engine(void)
{
  static const pfe_engine engine = {
    .version = PFE_VERSION, .size = sizeof engine, .name = "fragile", .note = "breaks at K = 7",
    .open = open_engine, .run = run};
  return &engine;
}
