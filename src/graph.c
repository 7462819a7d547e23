/* The graphs and the roles of their tensors, as tables. */
#include "graph.h"

#include <string.h>

static const pf_graph_info graphs[PF_GRAPH_COUNT] = {
  [PF_MATMUL_OUT_F32_ADD] = { .name = "matmul_out_f32_add",
                              .torch = "torch.matmul(x, y, out=out_f32) + bias",
                              .has_bias = true, .promises = "eager" },
  [PF_MATMUL_ADD] = { .name = "matmul_add", .torch = "x @ y + bias",
                      .has_bias = true, .promises = "eager" },
  [PF_MATMUL_CAST_F32_ADD] = { .name = "matmul_cast_f32_add",
                               .torch = "(x @ y).float() + bias.float()",
                               .has_bias = true, .promises = "eager" },
  [PF_MATMUL_PLAIN] = { .name = "matmul", .torch = "x @ y", .promises = "eager" },
  [PF_LINEAR] = { .name = "linear", .torch = "torch.nn.functional.linear(x, y, bias)",
                  .has_bias = true, .bias_optional = true, .weight = true, .promises = "eager" },
  [PF_ADDMM] = { .name = "addmm", .torch = "torch.addmm(c, x, y, beta=beta, alpha=alpha)",
                 .has_c = true, .promises = "eager" },
  [PF_SCALED_MATMUL] = { .name = "scaled_matmul",
                         .torch = "torch._scaled_mm(x, y, scale_x, scale_y, bias=bias, "
                                  "out_dtype=...)",
                         .has_bias = true, .bias_optional = true, .scaled = true,
                         .promises = "dequantize" },
};

static const char *const roles[PF_ROLE_COUNT] = {
  [PF_X] = "x", [PF_Y] = "y", [PF_C] = "c", [PF_BIAS] = "bias", [PF_OUT] = "out",
};

static bool name_is(const char *known, const char *name, size_t length)
{
  return strlen(known) == length && memcmp(known, name, length) == 0;
}

const pf_graph_info *pf_graph_of(pf_graph g)
{
  return &graphs[g];
}

bool pf_graph_find(const char *name, size_t length, pf_graph *out)
{
  for (int g = 0; g < PF_GRAPH_COUNT; g++)
    if (name_is(graphs[g].name, name, length)) {
      *out = (pf_graph)g;
      return true;
    }
  return false;
}

const char *pf_role_name(pf_role r)
{
  return roles[r];
}

bool pf_role_find(const char *name, size_t length, pf_role *out)
{
  for (int r = 0; r < PF_ROLE_COUNT; r++)
    if (name_is(roles[r], name, length)) {
      *out = (pf_role)r;
      return true;
    }
  return false;
}

pf_dtype pf_graph_result(pf_graph g, pf_dtype in, pf_dtype addend)
{
  switch (g) {
  case PF_MATMUL_OUT_F32_ADD: return pf_promote(PF_F32, addend);
  case PF_SCALED_MATMUL:
  case PF_MATMUL_CAST_F32_ADD: return PF_F32;
  case PF_MATMUL_ADD:
  case PF_LINEAR:
  case PF_ADDMM: return pf_promote(in, addend);
  case PF_MATMUL_PLAIN:
  case PF_GRAPH_COUNT: break;
  }
  return in;
}
