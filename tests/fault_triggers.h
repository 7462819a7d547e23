/* The least case on which each planted fault shows, with the right and the wrong value of one
   element of the output of the graph's eager row.  Operands are small integers and powers of two
   wherever the fault allows it, so that any order of summation gives the right value. */
#ifndef PF_FAULT_TRIGGERS_H
#define PF_FAULT_TRIGGERS_H

#include <math.h>
#include <stdint.h>

typedef enum pf_fault_shows {
  PF_SHOWS_VALUE,      /* a wrong value: a finding under every rule */
  PF_SHOWS_STRAY,      /* a byte written outside the output's elements */
  PF_SHOWS_ZERO_SIGN   /* zeros compare equal unless an engine declares their sign */
} pf_fault_shows;

typedef struct pf_fault_trigger {
  const char *fault;   /* the engine's name */
  const char *text;    /* the case */
  pf_fault_shows shows;
  int64_t element;     /* of the output, row-major; PF_SHOWS_STRAY: distance of the first stray
                          element from the first element, in elements */
  double right, wrong; /* PF_SHOWS_STRAY: the value of element 0, which is right */
} pf_fault_trigger;

#define ONES(T, K) "matmul x=" T "[1," K "] y=" T "[" K ",1] x.values=equal:0 y.values=equal:0"
#define ADDMM1 "addmm x=f32[1,1] y=f32[1,1] c=f32[1,1] x.bits=3f800000 y.bits=3f800000 "

static const pf_fault_trigger pf_fault_triggers[] = {
  {"fault:M01", ONES("bf16", "512"), PF_SHOWS_VALUE, 0, 512, 256},
  {"fault:M01", ONES("f32", "257"), PF_SHOWS_VALUE, 0, 257, 256},
  {"fault:M02", ONES("f16", "4096"), PF_SHOWS_VALUE, 0, 4096, 2048},
  {"fault:M02", "matmul x=f16[1,3] y=f16[3,1] x.bits=7bff,7bff,fbff y.values=equal:0",
   PF_SHOWS_VALUE, 0, 65504, INFINITY},
  /* the parts are 257, -256, 257 and -256 */
  {"fault:M04",
   "matmul x=bf16[1,8] y=bf16[8,1] x.bits=4380,3f80,c380,0,4380,3f80,c380,0 y.values=equal:0",
   PF_SHOWS_VALUE, 0, 2, 0},
  /* 257 + 1 against 256 + 1, both rounded to bf16; 257 + 0 in f32, with the cast behind */
  {"fault:M05",
   "matmul_add x=bf16[1,2] y=bf16[2,1] bias=bf16[1] x.bits=4380,3f80 y.values=equal:0 "
   "bias.bits=3f80", PF_SHOWS_VALUE, 0, 256, 258},
  {"fault:M05",
   "matmul_add x=f16[1,2] y=f16[2,1] bias=f16[1] x.bits=6800,3c00 y.values=equal:0 "
   "bias.bits=3c00", PF_SHOWS_VALUE, 0, 2048, 2050},
  {"fault:M06",
   "matmul_cast_f32_add x=bf16[1,2] y=bf16[2,1] bias=bf16[1] x.bits=4380,3f80 y.values=equal:0 "
   "bias.bits=0", PF_SHOWS_VALUE, 0, 256, 257},
  /* 257 - 256 */
  {"fault:M07",
   "linear x=bf16[1,2] y=bf16[1,2] bias=bf16[1] x.bits=4380,3f80 y.values=equal:0 bias.bits=c380",
   PF_SHOWS_VALUE, 0, 1, 0},
  {"fault:M07",
   "addmm x=bf16[1,2] y=bf16[2,1] c=bf16[1,1] alpha=1 beta=1 x.bits=4380,3f80 y.values=equal:0 "
   "c.bits=c380", PF_SHOWS_VALUE, 0, 1, 0},
  /* 3 * 257 = 771 lies between 768 and 772 */
  {"fault:M07",
   "addmm x=bf16[1,2] y=bf16[2,1] c=bf16[1,1] alpha=3 beta=0 x.bits=4380,3f80 y.values=equal:0 "
   "c.bits=0", PF_SHOWS_VALUE, 0, 772, 768},
  {"fault:M08", ADDMM1 "alpha=0x1.99999ap-4 beta=0 c.bits=0", PF_SHOWS_VALUE, 0, 0x1.99999ap-4,
   0x1.9ap-4},
  {"fault:M08",
   "addmm x=f32[1,1] y=f32[1,1] c=f32[1,1] alpha=1 beta=0x1.99999ap-4 x.bits=0 y.bits=0 "
   "c.bits=3f800000", PF_SHOWS_VALUE, 0, 0x1.99999ap-4, 0x1.9ap-4},
  /* 257, between 256 and 258; 2049, between 2048 and 2050 */
  {"fault:M10", "matmul x=bf16[1,2] y=bf16[2,1] x.bits=4380,3f80 y.values=equal:0",
   PF_SHOWS_VALUE, 0, 256, 258},
  {"fault:M10", "matmul x=f16[1,2] y=f16[2,1] x.bits=e800,bc00 y.values=equal:0",
   PF_SHOWS_VALUE, 0, -2048, -2050},
  {"fault:M11", "matmul x=f32[1,1] y=f32[1,1] x.bits=3f800001 y.values=equal:0", PF_SHOWS_VALUE, 0,
   0x1.000002p0, 1},
  {"fault:M12", "matmul x=bf16[1,1] y=bf16[1,1] x.bits=4800 y.values=equal:0", PF_SHOWS_VALUE, 0,
   131072, INFINITY},
  {"fault:M13", ONES("f32", "9"), PF_SHOWS_VALUE, 0, 9, 8},
  {"fault:M13", ONES("bf16", "15"), PF_SHOWS_VALUE, 0, 15, 8},
  {"fault:M15", ONES("f32", "2"), PF_SHOWS_STRAY, 1, 2, 2},
  {"fault:M15",
   "matmul x=bf16[2,1] y=bf16[1,3] x.values=equal:0 y.values=equal:0 out=(5,1)+2",
   PF_SHOWS_STRAY, 3, 1, 1},
  {"fault:M16", ONES("f32", "9"), PF_SHOWS_VALUE, 0, 9, 2},
  {"fault:M16", ONES("bf16", "15"), PF_SHOWS_VALUE, 0, 15, 14},
  /* rows three apart; the second one is looked for two behind the first */
  {"fault:M17",
   "matmul x=f32[1,2] y=f32[2,2](3,1) x.values=equal:0 y.bits=3f800000,40000000,40800000,41000000",
   PF_SHOWS_VALUE, 1, 10, 6},
  /* K = 1, columns two apart */
  {"fault:M17",
   "linear x=f32[1,1] y=f32[4,1](2,1) x.values=equal:0 y.bits=3f800000,40000000,40800000,41000000",
   PF_SHOWS_VALUE, 2, 4, 2},
  {"fault:M19", ADDMM1 "alpha=1 beta=1 c.bits=40000000 out=c", PF_SHOWS_VALUE, 0, 3, 1},
  {"fault:M20", "addmm x=f32[1,0] y=f32[0,1] c=f32[1,1] alpha=1 beta=2 c.bits=3fc00000",
   PF_SHOWS_VALUE, 0, 3, 0},
  {"fault:M20", "linear x=bf16[1,0] y=bf16[1,0] bias=bf16[1] bias.bits=4000", PF_SHOWS_VALUE, 0, 2,
   0},
  {"fault:M21", "matmul x=bf16[1,0] y=bf16[0,1]", PF_SHOWS_VALUE, 0, 0, NAN},
  {"fault:M22", ADDMM1 "alpha=1 beta=0 c.bits=7fc00000", PF_SHOWS_VALUE, 0, 1, NAN},
  {"fault:M24", ADDMM1 "alpha=1 beta=0.5 c.bits=40800000", PF_SHOWS_VALUE, 0, 3, 5},
  /* 2^-133 * 2^100; a product of 2^-100 * 2^-30 */
  {"fault:M29", "matmul x=bf16[1,1] y=bf16[1,1] x.bits=0001 y.bits=7180", PF_SHOWS_VALUE, 0,
   0x1p-33, 0},
  {"fault:M29", "matmul x=bf16[1,1] y=bf16[1,1] x.bits=0d80 y.bits=3080", PF_SHOWS_VALUE, 0,
   0x1p-130, 0},
  {"fault:M30",
   "addmm x=f32[1,1] y=f32[1,1] c=f32[1,1] alpha=-1 beta=0 x.bits=0 y.bits=3f800000 c.bits=0",
   PF_SHOWS_ZERO_SIGN, 0, -0.0, 0.0},
  /* 480, past the tie between 448 and what would be 480; infinity */
  {"fault:M31", "matmul x=f8_e4m3fn[1,2] y=f8_e4m3fn[2,1] x.bits=7e,60 y.values=equal:0",
   PF_SHOWS_VALUE, 0, NAN, 448},
  {"fault:M31",
   "linear x=f8_e4m3fnuz[1,1] y=f8_e4m3fnuz[1,1] x.bits=7f y.bits=ff", PF_SHOWS_VALUE, 0, NAN,
   -240},
  {"fault:M32", "matmul x=f8_e4m3fn[1,1] y=f8_e4m3fn[1,1] x.bits=38 y.bits=b8", PF_SHOWS_VALUE, 0,
   -1, -0.25},
  {"fault:M32", "matmul x=f8_e4m3fn[1,1] y=f8_e4m3fn[1,1] x.bits=80 y.bits=38", PF_SHOWS_VALUE, 0,
   0, NAN},
  {"fault:M33", "matmul x=f32[1,1] y=f32[1,1] x.bits=3f801000 y.values=equal:0", PF_SHOWS_VALUE, 0,
   0x1.002p0, 1},
  /* 2 * 255 * 127 */
  {"fault:M38", "matmul x=u8[1,2] y=s8[2,1] x.bits=ff,ff y.bits=7f,7f", PF_SHOWS_VALUE, 0, 64770,
   32767},
  {"fault:M38", "matmul x=s8[1,3] y=u8[3,1] x.bits=80,80,80 y.bits=ff,ff,ff", PF_SHOWS_VALUE, 0,
   -97920, -65408},
};

#undef ONES
#undef ADDMM1

enum { PF_FAULT_TRIGGER_COUNT = sizeof pf_fault_triggers / sizeof *pf_fault_triggers };

#endif
