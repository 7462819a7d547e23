/* The graphs a user writes.  What a graph promises is one of its rows (row.h). */
#ifndef PF_GRAPH_H
#define PF_GRAPH_H

#include <stdbool.h>
#include <stddef.h>

#include "dtype.h"

/* What is computed.  Only the first exists; sum, softmax and attention have their place. */
typedef enum pf_op { PF_OP_MATMUL = 0, PF_OP_COUNT } pf_op;

/* The numbers are part of the archive form. */
typedef enum pf_graph {
  PF_MATMUL_OUT_F32_ADD = 0,  /* matmul(x, y, out=f32) + bias: the user's script */
  PF_MATMUL_ADD = 1,          /* x @ y + bias */
  PF_MATMUL_CAST_F32_ADD = 2, /* (x @ y).float() + bias.float() */
  PF_MATMUL_PLAIN = 3,        /* x @ y */
  PF_LINEAR = 4,              /* linear(x, y, bias): y is the weight [N, K]; bias optional */
  PF_ADDMM = 5,               /* beta * c + alpha * (x @ y); 3-D: baddbmm; y a vector: addmv */
  PF_SCALED_MATMUL = 6,       /* _scaled_mm: (scale_x * x) @ (scale_y * y) + bias, bias optional;
                                 the case chooses scales and the result's dtype */
  PF_GRAPH_COUNT
} pf_graph;

/* The numbers are part of the archive form. */
typedef enum pf_role { PF_X = 0, PF_Y = 1, PF_C = 2, PF_BIAS = 3, PF_OUT = 4, PF_ROLE_COUNT } pf_role;

typedef struct pf_graph_info {
  const char *name;
  const char *torch;     /* how PyTorch writes it */
  bool has_c;            /* c, alpha and beta */
  bool has_bias;
  bool bias_optional;
  bool weight;           /* y is [N, K] */
  bool scaled;           /* x and y may have scales, the result a dtype of its own */
  const char *promises;  /* the strategy whose row says what the graph as written promises */
} pf_graph_info;

const pf_graph_info *pf_graph_of(pf_graph g);
bool pf_graph_find(const char *name, size_t length, pf_graph *out);
const char *pf_role_name(pf_role r);
bool pf_role_find(const char *name, size_t length, pf_role *out);

/* The dtype that PyTorch's promotion gives the graph's result.  in: promotion of x and y; addend:
   dtype of bias or c, in where there is none.  Of a scaled graph what it has unless the case says
   otherwise. */
pf_dtype pf_graph_result(pf_graph g, pf_dtype in, pf_dtype addend);

#endif
