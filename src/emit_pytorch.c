/* A case as a script that asks the backends of PyTorch. */
#include <inttypes.h>
#include <string.h>

#include "emit_parts.h"

static pf_dtype held(pf_dtype t)
{
  return t;
}

static const char *dtype_text(pf_dtype t)
{
  return pf_dtype_of(t)->torch;
}

static const pf_emit_module torch = {"torch", ".double()", "repeat_interleave", held, dtype_text};

/* --- the graph ----------------------------------------------------------------------------- */

/* An operand in dtype t. */
static void print_as(const pf_emitter *m, pf_role role, pf_dtype t)
{
  fputs(pf_role_name(role), m->to);
  if (m->what->operand[role].dtype != t)
    fprintf(m->to, ".to(%s)", dtype_text(t));
}

static bool is_integer(pf_dtype t)
{
  return pf_is_integer(pf_format_of(t));
}

/* The one product of bytes that PyTorch sums in s32 of its own. */
static bool is_int_mm(const pf_case *c)
{
  const pf_operand *x = &c->operand[PF_X], *y = &c->operand[PF_Y];
  return x->dtype == PF_S8 && y->dtype == PF_S8 && x->rank == 2 && y->rank == 2;
}

/* torch.matmul of such tensors is bmm, but for its result's layout. */
static bool is_bmm(const pf_case *c)
{
  const pf_operand *x = &c->operand[PF_X], *y = &c->operand[PF_Y];
  return x->rank == 3 && y->rank == 3 && x->dim[0] == y->dim[0];
}

/* "torch.matmul(x, y"; out: ", out=out", or "". */
static void print_product(const pf_emitter *m, const char *out)
{
  const pf_dtype in = pf_case_in(m->what);
  if (is_int_mm(m->what)) {
    fputs("torch._int_mm(x, y", m->to);
    return;
  }
  fputs(*out && is_bmm(m->what) ? "torch.bmm(" : "torch.matmul(", m->to);
  print_as(m, PF_X, in);
  fputs(", ", m->to);
  print_as(m, PF_Y, in);
  fputs(out, m->to);
}

static const char *addmm_name(const pf_case *c)
{
  const int x = c->operand[PF_X].rank, y = c->operand[PF_Y].rank;
  return x == 2 && y == 2                            ? "addmm"
         : x == 2 && y == 1                          ? "addmv"
         : x + y >= 5 && x <= 3 && y <= 3 && y >= 2  ? "baddbmm"
                                                     : NULL;
}

/* An operand of addmm_name's call; to baddbmm with all batches, if it has not got them. */
static void print_matrix(const pf_emitter *m, pf_role role, pf_dtype t)
{
  const pf_shape *s = &m->problem->shape;
  const bool is_x = role == PF_X;
  print_as(m, role, t);
  if (!strcmp(addmm_name(m->what), "baddbmm") &&
      (m->what->operand[role].rank < 3 || m->what->operand[role].dim[0] != s->batches))
    fprintf(m->to, ".expand(%" PRId64 ", %" PRId64 ", %" PRId64 ")", s->batches,
            is_x ? s->m : s->k, is_x ? s->k : s->n);
}

/* "c, x, y, beta=1.0, alpha=2.0", or what it is where PyTorch has no such call. */
static void print_addmm(const pf_emitter *m, const char *out)
{
  const pf_case *c = m->what;
  const pf_dtype t = pf_case_result(c);
  const char *name = addmm_name(c);
  if (name)
    fprintf(m->to, c->out_is_c ? "c.%s_(" : "torch.%s(", name);
  else {
    pf_emit_number(m->to, c->beta, is_integer(t));
    fputs(" * c + ", m->to);
    pf_emit_number(m->to, c->alpha, is_integer(t));
    fputs(" * ", m->to);
    print_product(m, "");
    fputc(')', m->to);
    return;
  }
  if (!c->out_is_c) {
    print_as(m, PF_C, t);
    fputs(", ", m->to);
  }
  print_matrix(m, PF_X, t);
  fputs(", ", m->to);
  print_matrix(m, PF_Y, t);
  fputs(", beta=", m->to);
  pf_emit_number(m->to, c->beta, is_integer(t));
  fputs(", alpha=", m->to);
  pf_emit_number(m->to, c->alpha, is_integer(t));
  fprintf(m->to, "%s)", out);
}

static void print_linear(const pf_emitter *m)
{
  const pf_dtype t = pf_case_result(m->what);
  fputs("torch.nn.functional.linear(", m->to);
  print_as(m, PF_X, t);
  fputs(", ", m->to);
  print_as(m, PF_Y, t);
  if (m->what->operand[PF_BIAS].present) {
    fputs(", ", m->to);
    print_as(m, PF_BIAS, t);
  }
  fputc(')', m->to);
}

/* A scale, or 1; by row as a column beside x, as a row beside y. */
static void print_scale(const pf_emitter *m, pf_role role)
{
  const pf_scale_kind kind = m->what->operand[role].scale.kind;
  if (kind == PF_SCALE_NONE)
    fputs(", torch.tensor(1.0)", m->to);
  else
    fprintf(m->to, ", scale_%s%s", pf_role_name(role),
            kind != PF_SCALE_ROW ? "" : role == PF_X ? "[..., None]" : "[..., None, :]");
}

static void print_scaled(const pf_emitter *m)
{
  fputs("torch._scaled_mm(x, y", m->to);
  print_scale(m, PF_X);
  print_scale(m, PF_Y);
  fprintf(m->to, "%s, out_dtype=%s)", m->what->operand[PF_BIAS].present ? ", bias=bias" : "",
          dtype_text(pf_case_result(m->what)));
}

/* What the engine torch:linear calls, as frozen graphs of inductor do, in place of a product. */
static bool is_mkldnn(const pf_emitter *m)
{
  const pf_graph graph = m->what->graph;
  return m->engine && !strcmp(m->engine, "torch:linear") &&
         (graph == PF_MATMUL_PLAIN || graph == PF_LINEAR) && m->what->operand[PF_Y].rank == 2;
}

static void print_mkldnn(const pf_emitter *m)
{
  const bool linear = m->what->graph == PF_LINEAR;
  fprintf(m->to, "torch.ops.mkldnn._linear_pointwise(x, y%s, %s, \"none\", [], \"\")",
          linear ? "" : ".mT", linear && m->what->operand[PF_BIAS].present ? "bias" : "None");
}

/* out: ", out=out", or "". */
static void print_graph(const pf_emitter *m, const char *out)
{
  const pf_shape *s = &m->problem->shape;
  if (is_mkldnn(m)) {
    print_mkldnn(m);
    return;
  }
  switch (m->what->graph) {
  case PF_MATMUL_OUT_F32_ADD:
    print_product(m, "");
    fputs(", out=torch.empty(", m->to);
    pf_emit_sizes(m->to, s->out_rank, s->out);
    fputs(", dtype=torch.float32)) + bias", m->to);
    break;
  case PF_MATMUL_ADD:
    print_product(m, "");
    fputs(") + bias", m->to);
    break;
  case PF_MATMUL_CAST_F32_ADD:
    print_product(m, "");
    fputs(").float() + bias.float()", m->to);
    break;
  case PF_LINEAR: print_linear(m); break;
  case PF_ADDMM: print_addmm(m, out); break;
  case PF_SCALED_MATMUL: print_scaled(m); break;
  case PF_MATMUL_PLAIN:
  case PF_GRAPH_COUNT:
    print_product(m, out);
    fputc(')', m->to);
    break;
  }
}

/* Is it one call, which can write to a tensor that is there? */
static bool takes_out(const pf_emitter *m)
{
  const pf_case *c = m->what;
  const bool product = c->graph == PF_MATMUL_PLAIN && !is_int_mm(c) &&
                       c->operand[PF_OUT].dtype == pf_case_in(c);
  return !is_mkldnn(m) && (product || (c->graph == PF_ADDMM && addmm_name(c)));
}

static void print_view(const pf_operand *o, FILE *to)
{
  fputs(".as_strided(", to);
  pf_emit_sizes(to, o->rank, o->dim);
  fputs(", ", to);
  pf_emit_sizes(to, o->rank, o->stride);
  fprintf(to, ", %" PRId64 ")", o->offset);
}

/* Tells of what was written between the elements of `out`. */
static void print_rest(const pf_emitter *m)
{
  const pf_operand *out = &m->what->operand[PF_OUT];
  fprintf(m->to, "    rest = out.as_strided([%" PRId64 "], [1], 0).clone()\n    rest",
          pf_storage_size(out));
  print_view(out, m->to);
  fputs(".fill_(math.nan)\n"
        "    return out if rest.isnan().all() else print(\"wrote outside its output\") or out\n",
        m->to);
}

/* Where the result's layout counts it is a tensor of that layout, full of NaN before. */
static void print_function(const pf_emitter *m)
{
  const pf_operand *out = &m->what->operand[PF_OUT];
  const bool placed = !m->what->out_is_c && !pf_operand_dense(out);
  const bool copied = placed && !takes_out(m);
  const bool tells = placed && !copied && m->what->graph == PF_MATMUL_PLAIN &&
                     !is_integer(out->dtype);
  fputs("def graph(", m->to);
  pf_emit_names(m, false);
  fputs("):\n", m->to);
  if (placed) {
    fprintf(m->to, "    out = torch.full([%" PRId64 "], %s, dtype=%s)", pf_storage_size(out),
            is_integer(out->dtype) ? "99" : "math.nan", dtype_text(out->dtype));
    print_view(out, m->to);
    fputc('\n', m->to);
  }
  fputs(tells ? "    " : "    return ", m->to);
  if (copied)
    fputs("out.copy_(", m->to);
  else if (m->what->out_is_c && !addmm_name(m->what))
    fputs("c.copy_(", m->to);
  print_graph(m, placed && !copied ? ", out=out" : "");
  if (copied || (m->what->out_is_c && !addmm_name(m->what)))
    fputc(')', m->to);
  fputc('\n', m->to);
  if (tells)
    print_rest(m);
}

pf_status pf_emit_pytorch(const pf_emitter *m, pf_error *e)
{
  (void)e;
  pf_emit_head(m, "what backends of PyTorch answer, and what is exact", "torch");
  fputs("def tensor(dtype, sizes, strides, offset, storage):\n"
        "    return torch.tensor([*bytes.fromhex(storage)], dtype=torch.uint8).view(dtype)"
        ".as_strided(sizes, strides, offset)\n", m->to);
  pf_emit_operands(m, &torch);
  print_function(m);
  fputs("answers = {}\n"
        "for backend in sys.argv[1:] or [\"eager\", \"aot_eager\", \"inductor\"]:\n"
        "    try:\n"
        "        run = graph if backend == \"eager\" else torch.compile(graph, backend=backend)\n"
        "        answers[backend] = run(", m->to);
  pf_emit_names(m, true);
  fputs(").double().flatten().tolist()\n"
        "    except Exception as e:\n"
        "        print(f\"{backend} refuses: {str(e).strip().splitlines()[0]}\")\n", m->to);
  pf_emit_exact(m, &torch);
  return PF_OK;
}
