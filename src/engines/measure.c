/* Small experiments, for what a library does not say of itself. */
#include "measure.h"

const char *pf_measure_isa(void)
{
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("avx512bf16")   ? "avx512bf16"
         : __builtin_cpu_supports("avx512vnni") ? "avx512vnni"
         : __builtin_cpu_supports("avx512f")    ? "avx512f"
         : __builtin_cpu_supports("avx2")       ? "avx2"
                                                : "sse2";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "unknown instructions";
#endif
}

/* 2^8 times (1 + 2^-10)^2 - 2 (1 + 2^-9) + (1 + 2^-10)^2, whose squares need 21 bits: a sum that is
   rounded to f16 after either of them has lost its 2^-20.  All numbers are normal. */
pfe_status pf_measure_f16(const pfe_engine *engine, void *state, bool *narrow, pfe_answer *answer)
{
  const uint16_t x[] = {0x5c01, 0x6000, 0x5c01}, y[] = {0x3c01, 0xbc02, 0x3c01};
  enum { RIGHT = 0x1000 };
  uint16_t got = 0x7e00;
  const pfe_format f16 = {PFE_F16, 11, -14, 1, 1, 0, 0, 0, 65504};
  const pfe_format f32 = {PFE_F32, 24, -126, 1, 1, 0, 0, 0, 0x1.fffffep127};
  const pfe_step step = {.a = PFE_X, .b = PFE_Y, .acc = PFE_F32, .out = PFE_F16, .plain = 1,
                         .accumulator = f32, .product = f32, .result = f16};
  const pfe_tensor a = {.data = (void *)x, .dtype = PFE_F16, .row_stride = 3, .column_stride = 1};
  const pfe_tensor b = {.data = (void *)y, .dtype = PFE_F16, .shape = PFE_SHAPE_Y,
                        .row_stride = 1, .column_stride = 1};
  const pfe_tensor out = {.data = &got, .dtype = PFE_F16, .shape = PFE_SHAPE_OUT,
                          .row_stride = 1, .column_stride = 1};
  const pfe_call call = {.graph = "matmul", .batches = 1, .m = 1, .n = 1, .k = 3, .alpha = 1,
                         .beta = 1, .count = 1, .steps = &step,
                         .tensor = {[PFE_X] = &a, [PFE_Y] = &b}, .out = &out};
  const pfe_status status = engine->run(state, &call, answer);
  *narrow = got != RIGHT;
  return status;
}
