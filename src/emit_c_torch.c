/* libtorch's interface for C with the views that the adapter gives it: mm, bmm, addmm, baddbmm, or
   oneDNN's linear. */
#include "emit_c.h"
#include "engines/library.h"
#include "engines/torch_parts.h"

static const char *const names[PF_TORCH_ROLES] = {
  [PF_TORCH_A] = "x", [PF_TORCH_B] = "y", [PF_TORCH_OUT] = "out", [PF_TORCH_SELF] = "z"};

static const char *type_name(int32_t dtype)
{
  static const char *const name[] = {[PFE_F64] = "float64", [PFE_F32] = "float32",
                                     [PFE_F16] = "float16", [PFE_BF16] = "bfloat16",
                                     [PFE_S32] = "int32"};
  return dtype >= 0 && (size_t)dtype < sizeof name / sizeof *name ? name[dtype] : NULL;
}

static bool is_made(const pf_torch_plan *p, int role)
{
  return p->tensor[role] && (role != PF_TORCH_SELF || p->tensor[role] != p->tensor[PF_TORCH_OUT]);
}

/* --- declarations -------------------------------------------------------------------------- */

static void print_declarations(const pf_emit_call *c, const pf_torch_plan *p)
{
  const char *call = pf_torch_call_names[p->what];
  fputs("/* libtorch's interface for C, whose own header is C++ */\n"
        "typedef struct AtenTensorOpaque *tensor;\n"
        "int32_t aoti_torch_device_type_cpu(void);\n", c->to);
  fprintf(c->to, "int32_t aoti_torch_dtype_%s(void);\n",
          type_name(p->view[PF_TORCH_A].dtype));
  fputs("int32_t aoti_torch_create_tensor_from_blob(void *data, int64_t rank, const int64_t *sizes,\n"
        "    const int64_t *strides, int64_t offset, int32_t dtype, int32_t device, "
        "int32_t device_index,\n    tensor *to);\n"
        "void aoti_torch_grad_mode_set_enabled(bool enabled);\n", c->to);
  if (p->what == PF_AT_LINEAR)
    fputs("int32_t aoti_torch_cpu__linear_pointwise(tensor x, tensor weight, tensor *bias, "
          "const char *attr,\n    const double **scalars, int64_t scalars_count, "
          "const char **algorithm, tensor *to);\n"
          "int32_t aoti_torch_copy_(tensor to, tensor from, int32_t non_blocking);\n\n", c->to);
  else if (p->tensor[PF_TORCH_SELF])
    fprintf(c->to, "int32_t aoti_torch_cpu_%s_out(tensor out, tensor self, tensor a, tensor b, "
            "double beta,\n    double alpha);\n\n", call);
  else
    fprintf(c->to, "int32_t aoti_torch_cpu_%s_out(tensor out, tensor a, tensor b);\n\n", call);
}

/* --- the call ------------------------------------------------------------------------------ */

static void print_numbers(FILE *to, int rank, const int64_t *number)
{
  fputs("(const int64_t[]){", to);
  for (int i = 0; i < rank; i++)
    fprintf(to, "%s%lld", i ? ", " : "", (long long)number[i]);
  fputc('}', to);
}

static void print_tensor(const pf_emit_call *c, const pf_torch_view *v, const char *name)
{
  fprintf(c->to, "  tensor %s_tensor;\n  TRY(aoti_torch_create_tensor_from_blob(%s, %d, ", name,
          name, v->rank);
  print_numbers(c->to, v->rank, v->size);
  fputs(",\n      ", c->to);
  print_numbers(c->to, v->rank, v->stride);
  fprintf(c->to, ", 0, aoti_torch_dtype_%s(), aoti_torch_device_type_cpu(), 0, &%s_tensor));\n",
          type_name(v->dtype), name);
}

static void print_call(const pf_emit_call *c, const pf_torch_plan *p)
{
  const bool added = p->tensor[PF_TORCH_SELF] != NULL;
  const char *self = names[is_made(p, PF_TORCH_SELF) ? PF_TORCH_SELF : PF_TORCH_OUT];
  if (p->what == PF_AT_LINEAR) {
    fprintf(c->to, "  tensor result;\n"
            "  TRY(aoti_torch_cpu__linear_pointwise(x_tensor, y_tensor, %s, \"none\", NULL, 0, NULL, "
            "&result));\n  return aoti_torch_copy_(out_tensor, result, 0);\n}\n\n",
            added ? "&z_tensor" : "NULL");
    return;
  }
  fprintf(c->to, "  return aoti_torch_cpu_%s_out(out_tensor, ", pf_torch_call_names[p->what]);
  if (added)
    fprintf(c->to, "%s_tensor, ", self);
  fputs("x_tensor, y_tensor", c->to);
  if (added) {
    fputs(", ", c->to);
    pf_emit_constant(c->to, p->beta);
    fputs(", ", c->to);
    pf_emit_constant(c->to, p->alpha);
  }
  fputs(");\n}\n\n", c->to);
}

const char *pf_emit_torch(const pf_emit_call *c)
{
  int mode = PF_TORCH_MATMUL;
  char path[512], unknown[192];
  pf_torch_plan p;
  if (c->mode[0] && pf_library_argument(c->mode, pf_torch_modes, &mode, path, unknown))
    return "it is no mode of libtorch's";
  const char *why = pf_torch_plan_of((pf_torch_mode)mode, c->call, &p);
  for (int r = PF_TORCH_A; r < PF_TORCH_ROLES && !why; r++)
    if (p.tensor[r] && (!type_name(p.view[r].dtype) || p.view[r].dtype != p.view[PF_TORCH_A].dtype))
      why = "it multiplies f64, f32, f16, bf16 and s32, and its result is of the operands' dtype";
  if (why)
    return why;
  print_declarations(c, &p);
  fputs(PF_EMIT_TRY
        "static int run(void)\n{\n  aoti_torch_grad_mode_set_enabled(false);\n", c->to);
  for (int r = PF_TORCH_A; r < PF_TORCH_ROLES; r++)
    if (is_made(&p, r))
      print_tensor(c, &p.view[r], names[r]);
  if (p.tensor[PF_TORCH_SELF] && !is_made(&p, PF_TORCH_SELF))
    pf_emit_start(c);
  print_call(c, &p);
  return NULL;
}
