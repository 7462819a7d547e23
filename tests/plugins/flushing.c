/* A library that switches flush-to-zero on when it is loaded, as -ffast-math makes it, and whose
   engine is right. */
#include <precfuzz/engine.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

__attribute__((constructor)) static void loaded(void)
{
#if defined(__SSE2__)
  _mm_setcsr(_mm_getcsr() | 0x8040u);
#endif
}

static pfe_status open_engine(const pfe_engine *self, const pfe_request *request, pfe_info *info,
                              void **state, char text[192])
{
  (void)self, (void)request, (void)info, (void)state, (void)text;
  return PFE_OK;
}

static pfe_status run(void *state, const pfe_call *call, pfe_answer *answer)
{
  (void)state, (void)call, (void)answer;
  return PFE_UNSUPPORTED;
}

static const pfe_engine engine = {.version = PFE_VERSION, .size = sizeof engine,
                                  .name = "flushing", .open = open_engine, .run = run};

const pfe_engine *precfuzz_engine(void)
{
  return &engine;
}
