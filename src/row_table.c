/* The strategies: which steps a backend takes for a graph.  What the rows of the user's graph claim
   was measured on PyTorch 2.6.0, CPU; `in+f32` reads "f32, or f64 where an operand is f64". */
#include "row.h"

#include <string.h>

#define EAGER_NOTE "library call, output as the graph says"
#define AOT_NOTE "library call with an output of the operands' dtype"
#define INDUCTOR_NOTE "generated loop: operands cast up, products summed, nothing rounded between"
#define PRINTED_NOTE "inductor's graph as printed: rounds where the generated code does not"
#define NARROW_NOTE "partial sums in the operands' dtype, first to last, bit for bit"

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

  /* x @ y */
  {PF_MATMUL_PLAIN, "eager", "out = MATMUL(x, y; acc in+f32, out in)", EAGER_NOTE},
  {PF_MATMUL_PLAIN, "inductor",
   CASTS "t2 = MULSUM(t0, t1; acc in+f32)  out = CAST(t2; in)", INDUCTOR_NOTE},
  {PF_MATMUL_PLAIN, "aot_eager", "out = MATMUL(x, y; acc in+f32, out in)", AOT_NOTE},
  {PF_MATMUL_PLAIN, "inductor_graph",
   CASTS "t2 = MULSUM(t0, t1; acc in+f32)  out = CAST(t2; in)", PRINTED_NOTE},
  {PF_MATMUL_PLAIN, "aot_eager_bf16acc",
   "out = MATMUL(x, y; acc in, order forward, unfused)", NARROW_NOTE},

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

  {PF_GRAPH_COUNT, NULL, NULL, NULL}
};

const pf_row *pf_row_find(pf_graph g, const char *strategy)
{
  for (const pf_row *r = pf_rows; r->text; r++)
    if (r->graph == g && !strcmp(r->strategy, strategy))
      return r;
  return NULL;
}
