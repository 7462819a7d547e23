/* A case as a script that asks NumPy, and with it the BLAS that it came with. */
#include "emit_parts.h"

/* What NumPy has not goes through f32. */
static pf_dtype held(pf_dtype t)
{
  return pf_dtype_of(t)->bytes == 1 && !pf_is_integer(pf_format_of(t)) ? PF_F32
         : t == PF_BF16                                                ? PF_F32
                                                                       : t;
}

static const char *dtype_text(pf_dtype t)
{
  switch (t) {
  case PF_F64: return "np.float64";
  case PF_F16: return "np.float16";
  case PF_S8: return "np.int8";
  case PF_U8: return "np.uint8";
  case PF_S32: return "np.int32";
  default: return "np.float32";
  }
}

static const pf_emit_module numpy = {"np", ".astype(np.float64)", "repeat", held, dtype_text};

/* Bytes would wrap around: integers are multiplied in s32. */
static void print_operand(const pf_emitter *m, pf_role role)
{
  const pf_dtype in = held(pf_case_in(m->what)), own = held(m->what->operand[role].dtype);
  const bool turned = role == PF_Y && pf_graph_of(m->what->graph)->weight;
  const pf_scale *s = &m->what->operand[role].scale;
  fputs(turned ? "y.T" : pf_role_name(role), m->to);
  if (own != in)
    fprintf(m->to, ".astype(%s)", dtype_text(in));
  if (s->kind == PF_SCALE_TENSOR)
    fprintf(m->to, " * scale_%s", pf_role_name(role));
}

static void print_graph(const pf_emitter *m)
{
  const pf_case *c = m->what;
  const bool whole = pf_is_integer(pf_format_of(pf_case_result(c)));
  if (c->graph == PF_ADDMM) {
    pf_emit_number(m->to, c->alpha, whole);
    fputs(" * ", m->to);
  }
  fputs("np.matmul(", m->to);
  print_operand(m, PF_X);
  fputs(", ", m->to);
  print_operand(m, PF_Y);
  if (c->graph == PF_MATMUL_OUT_F32_ADD)
    fputs(", dtype=np.float32, casting=\"unsafe\"", m->to);
  fputs(c->graph == PF_MATMUL_CAST_F32_ADD ? ").astype(np.float32)" : ")", m->to);
  if (c->operand[PF_BIAS].present)
    fputs(c->graph == PF_MATMUL_CAST_F32_ADD ? " + bias.astype(np.float32)" : " + bias", m->to);
  if (c->operand[PF_C].present && c->beta != 0) {
    fputs(" + ", m->to);
    pf_emit_number(m->to, c->beta, whole);
    fprintf(m->to, c->out_is_c ? " * c()" : " * c");
  }
}

pf_status pf_emit_numpy(const pf_emitter *m, pf_error *e)
{
  for (pf_role r = PF_X; r <= PF_Y; r++)
    if (m->what->operand[r].scale.kind > PF_SCALE_TENSOR)
      return pf_fail(e, PF_UNSUPPORTED, 0, "%s: NumPy has no product with scales by %s",
                     pf_role_name(r), pf_scale_kind_name(m->what->operand[r].scale.kind));
  pf_emit_head(m, "what NumPy answers, and what is exact", "numpy as np");
  fputs("def tensor(dtype, sizes, strides, offset, storage):\n"
        "    data = np.frombuffer(bytearray.fromhex(storage), dtype)[offset:]\n"
        "    return np.lib.stride_tricks.as_strided(data, sizes, "
        "[s * data.itemsize for s in strides])\n", m->to);
  pf_emit_operands(m, &numpy);
  fputs("np.seterr(all=\"ignore\")\n"
        "answers = {\"numpy\": np.asarray(", m->to);
  print_graph(m);
  fputs(").astype(np.float64).ravel().tolist()}\n", m->to);
  pf_emit_exact(m, &numpy);
  return PF_OK;
}
