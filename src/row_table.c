/* The strategies: which steps a backend takes for a graph.  What the rows of the user's graph claim
   was measured on PyTorch 2.6.0, CPU; `in+f32` reads "f32, or f64 where an operand is f64, or s32
   where both are integers".  The rows by name compute in less than the operands' precision, as
   torch.backends.cuda.matmul.allow_tf32, or torch.set_float32_matmul_precision, lets a library. */
#include "row.h"

#include <string.h>

/* A row's note, and whether it is taken by name only. */
#define EAGER_NOTE "library call, output as the graph says", false
#define AOT_NOTE "library call with an output of the operands' dtype", false
#define INDUCTOR_NOTE \
  "generated loop: operands cast up, products summed, nothing rounded between", false
#define PRINTED_NOTE "inductor's graph as printed: rounds where the generated code does not", false
#define NARROW_NOTE "partial sums in the operands' dtype, first to last, bit for bit", false

#define TF32_NOTE "operands cut down to TF32, then as eager", true
#define BF16_NOTE "operands cut down to bf16, then as eager", true

#define SCALED_NOTE "library call, its sums scaled in f32, rounded once at the end", false
#define AOT_SCALED_NOTE "operands scaled in f32, a library call, rounded last", false
#define DEQUANTIZE "t0 = SCALE(x, scale_x; f32)  t1 = SCALE(y, scale_y; f32)  "

#define LESS(F) "t0 = CAST(x; " F ")  t1 = CAST(y; " F ")  "
/* An eager row and what it is with operands of less precision. */
#define IN_LESS(GRAPH, HEAD, TAIL)                                                            \
  {GRAPH, "eager_tf32", LESS("tf32") HEAD "MATMUL(t0, t1" TAIL, TF32_NOTE},                   \
  {GRAPH, "eager_bf16", LESS("bf16") HEAD "MATMUL(t0, t1" TAIL, BF16_NOTE}

#define CASTS "t0 = CAST(x; in+f32)  t1 = CAST(y; in+f32)  "

const pf_row pf_rows[] = {
  /* matmul(x, y, out=f32) + bias */
  {PF_MATMUL_OUT_F32_ADD, "eager",
   "t0 = MATMUL(x, y; acc in+f32, out f32)  out = ADD(t0, bias; result)", EAGER_NOTE},
  {PF_MATMUL_OUT_F32_ADD, "inductor",
   CASTS "t2 = MULSUM(t0, t1; acc in+f32, out f32)  out = ADD(t2, bias; result)", INDUCTOR_NOTE},
  {PF_MATMUL_OUT_F32_ADD, "aot_eager",
   "t0 = MATMUL(x, y; acc in+f32, out in)  t1 = CAST(t0; f32)  out = ADD(t1, bias; result)",
   AOT_NOTE},
  {PF_MATMUL_OUT_F32_ADD, "inductor_graph",
   CASTS "t2 = MULSUM(t0, t1; acc in+f32)  t3 = CAST(t2; in)  t4 = CAST(t3; f32)  "
   "out = ADD(t4, bias; result)", PRINTED_NOTE},
  {PF_MATMUL_OUT_F32_ADD, "aot_eager_bf16acc",
   "t0 = MATMUL(x, y; acc in, order forward, unfused)  t1 = CAST(t0; f32)  "
   "out = ADD(t1, bias; result)", NARROW_NOTE},
  IN_LESS(PF_MATMUL_OUT_F32_ADD, "t2 = ", "; acc in+f32, out f32)  out = ADD(t2, bias; result)"),

  /* x @ y + bias */
  {PF_MATMUL_ADD, "eager",
   "t0 = MATMUL(x, y; acc in+f32, out in)  out = ADD(t0, bias; result)", EAGER_NOTE},
  {PF_MATMUL_ADD, "inductor",
   CASTS "t2 = MULSUM(t0, t1; acc in+f32)  t3 = ADD(t2, bias; result+f32)  "
   "out = CAST(t3; result)", INDUCTOR_NOTE},
  {PF_MATMUL_ADD, "aot_eager",
   "t0 = MATMUL(x, y; acc in+f32, out in)  out = ADD(t0, bias; result)", AOT_NOTE},
  {PF_MATMUL_ADD, "inductor_graph",
   CASTS "t2 = MULSUM(t0, t1; acc in+f32)  t3 = CAST(t2; in)  t4 = ADD(t3, bias; result+f32)  "
   "out = CAST(t4; result)", PRINTED_NOTE},
  {PF_MATMUL_ADD, "aot_eager_bf16acc",
   "t0 = MATMUL(x, y; acc in, order forward, unfused)  out = ADD(t0, bias; result)", NARROW_NOTE},
  IN_LESS(PF_MATMUL_ADD, "t2 = ", "; acc in+f32, out in)  out = ADD(t2, bias; result)"),

  /* (x @ y).float() + bias.float() */
  {PF_MATMUL_CAST_F32_ADD, "eager",
   "t0 = MATMUL(x, y; acc in+f32, out in)  t1 = CAST(t0; f32)  t2 = CAST(bias; f32)  "
   "out = ADD(t1, t2; f32)", EAGER_NOTE},
  {PF_MATMUL_CAST_F32_ADD, "inductor",
   CASTS "t2 = MULSUM(t0, t1; acc in+f32, out f32)  t3 = CAST(bias; f32)  out = ADD(t2, t3; f32)",
   INDUCTOR_NOTE},
  {PF_MATMUL_CAST_F32_ADD, "aot_eager",
   "t0 = MATMUL(x, y; acc in+f32, out in)  t1 = CAST(t0; f32)  t2 = CAST(bias; f32)  "
   "out = ADD(t1, t2; f32)", AOT_NOTE},
  {PF_MATMUL_CAST_F32_ADD, "inductor_graph",
   CASTS "t2 = MULSUM(t0, t1; acc in+f32)  t3 = CAST(t2; in)  t4 = CAST(t3; f32)  "
   "t5 = CAST(bias; f32)  out = ADD(t4, t5; f32)", PRINTED_NOTE},
  {PF_MATMUL_CAST_F32_ADD, "aot_eager_bf16acc",
   "t0 = MATMUL(x, y; acc in, order forward, unfused)  t1 = CAST(t0; f32)  t2 = CAST(bias; f32)  "
   "out = ADD(t1, t2; f32)", NARROW_NOTE},
  IN_LESS(PF_MATMUL_CAST_F32_ADD, "t2 = ",
          "; acc in+f32, out in)  t3 = CAST(t2; f32)  t4 = CAST(bias; f32)  "
          "out = ADD(t3, t4; f32)"),

  /* x @ y */
  {PF_MATMUL_PLAIN, "eager", "out = MATMUL(x, y; acc in+f32, out in)", EAGER_NOTE},
  {PF_MATMUL_PLAIN, "inductor",
   CASTS "t2 = MULSUM(t0, t1; acc in+f32)  out = CAST(t2; in)", INDUCTOR_NOTE},
  {PF_MATMUL_PLAIN, "aot_eager", "out = MATMUL(x, y; acc in+f32, out in)", AOT_NOTE},
  {PF_MATMUL_PLAIN, "inductor_graph",
   CASTS "t2 = MULSUM(t0, t1; acc in+f32)  out = CAST(t2; in)", PRINTED_NOTE},
  {PF_MATMUL_PLAIN, "aot_eager_bf16acc",
   "out = MATMUL(x, y; acc in, order forward, unfused)", NARROW_NOTE},
  IN_LESS(PF_MATMUL_PLAIN, "out = ", "; acc in+f32, out in)"),

  /* linear(x, weight, bias): the bias is inside the call */
  {PF_LINEAR, "eager", "out = MATMUL(x, y, bias; acc result+f32, out result)", EAGER_NOTE},
  {PF_LINEAR, "inductor",
   CASTS "out = MULSUM(t0, t1, bias; acc result+f32, out result)", INDUCTOR_NOTE},
  {PF_LINEAR, "aot_eager", "out = MATMUL(x, y, bias; acc result+f32, out result)", AOT_NOTE},
  {PF_LINEAR, "inductor_graph",
   CASTS "t2 = MULSUM(t0, t1; acc in+f32)  t3 = CAST(t2; in)  t4 = ADD(t3, bias; result+f32)  "
   "out = CAST(t4; result)", PRINTED_NOTE},
  {PF_LINEAR, "aot_eager_bf16acc",
   "t0 = MATMUL(x, y; acc in, order forward, unfused)  out = ADD(t0, bias; result)", NARROW_NOTE},
  IN_LESS(PF_LINEAR, "out = ", ", bias; acc result+f32, out result)"),

  /* beta * c + alpha * (x @ y): c, alpha and beta are inside the call */
  {PF_ADDMM, "eager", "out = MATMUL(x, y, alpha, c, beta; acc result+f32, out result)", EAGER_NOTE},
  {PF_ADDMM, "inductor",
   CASTS "out = MULSUM(t0, t1, alpha, c, beta; acc result+f32, out result)", INDUCTOR_NOTE},
  {PF_ADDMM, "aot_eager", "out = MATMUL(x, y, alpha, c, beta; acc result+f32, out result)",
   AOT_NOTE},
  {PF_ADDMM, "inductor_graph",
   CASTS "t2 = MULSUM(t0, t1; acc in+f32)  t3 = CAST(t2; in)  t4 = SCALE(t3, alpha; in+f32)  "
   "t5 = CAST(t4; in)  t6 = SCALE(c, beta; result+f32)  t7 = CAST(t6; result)  "
   "out = ADD(t5, t7; result)", PRINTED_NOTE},
  {PF_ADDMM, "aot_eager_bf16acc",
   "t0 = MATMUL(x, y; acc in, order forward, unfused)  t1 = SCALE(t0, alpha; result+f32)  "
   "t2 = SCALE(c, beta; result+f32)  t3 = ADD(t1, t2; result+f32)  out = CAST(t3; result)",
   NARROW_NOTE},
  IN_LESS(PF_ADDMM, "out = ", ", alpha, c, beta; acc result+f32, out result)"),

  /* (scale_x * x) @ (scale_y * y) + bias, in a dtype that the call names.  A library scales what it
     has summed, which scales along K do not allow; generated code scales the operands. */
  {PF_SCALED_MATMUL, "eager",
   "t0 = MATMUL(x, y; acc in+f32)  t1 = CAST(t0; f32)  t2 = SCALE(t1, scale_x; f32)  "
   "t3 = SCALE(t2, scale_y; f32)  t4 = ADD(t3, bias; result+f32)  out = CAST(t4; result)",
   SCALED_NOTE},
  {PF_SCALED_MATMUL, "inductor",
   DEQUANTIZE "t2 = MULSUM(t0, t1; acc f32)  t3 = ADD(t2, bias; result+f32)  "
   "out = CAST(t3; result)", INDUCTOR_NOTE},
  {PF_SCALED_MATMUL, "aot_eager",
   DEQUANTIZE "t2 = MATMUL(t0, t1; acc f32)  t3 = ADD(t2, bias; result+f32)  "
   "out = CAST(t3; result)", AOT_SCALED_NOTE},
  {PF_SCALED_MATMUL, "dequantize",
   DEQUANTIZE "t2 = MATMUL(t0, t1; acc f32)  t3 = ADD(t2, bias; result+f32)  "
   "out = CAST(t3; result)", AOT_SCALED_NOTE},
  IN_LESS(PF_SCALED_MATMUL, "t2 = ",
          "; acc in+f32)  t3 = CAST(t2; f32)  t4 = SCALE(t3, scale_x; f32)  "
          "t5 = SCALE(t4, scale_y; f32)  t6 = ADD(t5, bias; result+f32)  out = CAST(t6; result)"),

  {PF_GRAPH_COUNT, NULL, NULL, NULL, false}
};

const pf_row *pf_row_find(pf_graph g, const char *strategy)
{
  for (const pf_row *r = pf_rows; r->text; r++)
    if (r->graph == g && !strcmp(r->strategy, strategy))
      return r;
  return NULL;
}
