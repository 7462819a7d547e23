/* Random cases of every graph, dtype, layout and kind of values, and rows that no table has. */
#ifndef PF_TESTS_RANDOM_CASES_H
#define PF_TESTS_RANDOM_CASES_H

#include "form_fuzz.h"
#include "random_source.h"

static inline void random_case(random_source *r, const pf_filter *filter, pf_arena *a, pf_case *c)
{
  uint8_t bytes[200];
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (uint8_t)draw_bits(r);
  pf_arena_reset(a);
  assert_int_equal(pf_fuzz_decode(bytes, sizeof bytes, filter, a, c), PF_OK);
}

/* Half of the cases hold one kind of values only, so that none is rare. */
static inline pf_filter random_filter(random_source *r)
{
  pf_filter f = {.max_work = 1 << draw_between(r, 4, 11)};
  f.dense_only = draw_below(r, 3);
  if (draw_below(r, 2))
    f.kinds = 1u << draw_below(r, PF_KIND_COUNT);
  return f;
}

/* Accumulators of unknown order in narrow and odd formats, casts of operands, outputs that
   truncate, saturate or round ties away, scalings. */
static const char *const odd_rows[] = {
  "a: out = MATMUL(x, y; acc f16, out bf16)",
  "b: t0 = CAST(x; bf16) t1 = CAST(y; f16) out = MATMUL(t0, t1; acc bf16, out f16/rna)",
  "c: t0 = CAST(x; p11:-126:0x1.ffcp127) t1 = CAST(y; p11:-126:0x1.ffcp127) "
  "out = MATMUL(t0, t1; acc f32, out bf16/rz)",
  "d: t0 = CAST(x; f32) t1 = CAST(y; f32) "
  "out = MATMUL(t0, t1, alpha, c, beta; acc f32, out p4:-6:240/sat)",
  "e: t0 = CAST(x; f32) t1 = CAST(y; f32) out = MATMUL(t0, t1, alpha, c, beta; acc f64, out f32)",
  "f: t0 = CAST(x; f16) t1 = CAST(y; bf16) "
  "out = MATMUL(t0, t1, alpha, c, beta; acc f16, out f16)",
  "g: t0 = CAST(x; bf16/sat) t1 = CAST(y; f16/rz) out = MATMUL(t0, t1, bias; acc bf16, out f32)",
  "h: t0 = CAST(x; f32) t1 = CAST(y; f32) t2 = MATMUL(t0, t1; acc p12:-20:0x1.ffep20) "
  "t3 = SCALE(t2, alpha; f32) t4 = CAST(t3; p5:-10:0x1p10/rz) out = CAST(t4; f16)",
  "i: t0 = CAST(x; f32) t1 = CAST(y; f32) t2 = MULSUM(t0, t1, bias; acc p9:-126:0x1.fep127/rna) "
  "out = ADD(t2, bias; f64)",
  "j: t0 = CAST(x; f32) t1 = CAST(y; f32) "
  "out = MATMUL(t0, t1, alpha, c, beta; acc p26:-126:0x1p127)",
};

enum { ODD_ROWS = sizeof odd_rows / sizeof *odd_rows };

#endif
