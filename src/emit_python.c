/* What scripts in Python have in common: operands in, exact values out.

   Exact values are fractions of Python's own integers, so that the script proves what it says.  All
   dtypes' values are f64's, and so are products of operands and scales (problem_scale.c). */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "emit_parts.h"

void pf_emit_sizes(FILE *to, int rank, const int64_t *size)
{
  fputc('[', to);
  for (int i = 0; i < rank; i++)
    fprintf(to, "%s%" PRId64, i ? ", " : "", size[i]);
  fputc(']', to);
}

void pf_emit_number(FILE *to, double value, bool whole)
{
  if (!isfinite(value))
    fprintf(to, "float(\"%s\")", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  else if (value == rint(value) && fabs(value) < 1e9)
    fprintf(to, "%.*f", whole ? 0 : 1, value);
  else
    fprintf(to, "float.fromhex(\"%a\")", value);
}

/* Before modules are imported, as their libraries read it when they are loaded. */
static void print_environment(const pf_emitter *m)
{
  const char *const *v = m->environment;
  fputs("\nos.environ.update({", m->to);
  for (; *v; v++) {
    const size_t name = strcspn(*v, "=");
    pf_emit_quoted(m->to, *v, name);
    fputs(": ", m->to);
    pf_emit_quoted(m->to, *v + name + 1, strlen(*v + name + 1));
    fputs(", ", m->to);
  }
  fputs("**os.environ})\n", m->to);
}

void pf_emit_head(const pf_emitter *m, const char *says, const char *module)
{
  fprintf(m->to, "# %s: %s.\n# ", pf_graph_of(m->what->graph)->torch, says);
  pf_tensor_case_print(m->what, m->to);
  const bool sets = m->environment && m->environment[0];
  fprintf(m->to, "\nimport math%s%s", sets ? ", os" : "", strcmp(module, "torch") ? "" : ", sys");
  if (sets)
    print_environment(m);
  fprintf(m->to, "%s%s\nfrom fractions import Fraction\n", sets ? "import " : ", ", module);
}

/* --- operands ------------------------------------------------------------------------------ */

static void print_hex(FILE *to, const uint8_t *data, size_t bytes)
{
  static const char digit[] = "0123456789abcdef";
  for (size_t i = 0; i < bytes; i++) {
    fputc(digit[data[i] >> 4], to);
    fputc(digit[data[i] & 15], to);
  }
}

/* `count` elements, as the script holds them. */
static void print_elements(FILE *to, pf_dtype t, pf_dtype held, const void *data, int64_t count)
{
  const size_t each = (size_t)pf_dtype_of(t)->bytes;
  uint8_t wider[8];
  if (t == held) {
    print_hex(to, data, (size_t)count * each);
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    pf_store(held, wider, pf_load(t, (const uint8_t *)data + (size_t)i * each));
    print_hex(to, wider, (size_t)pf_dtype_of(held)->bytes);
  }
}

static bool is_made_anew(const pf_emitter *m, const char *name)
{
  return m->what->out_is_c && !strcmp(name, pf_role_name(PF_C));
}

/* Operands with the storage that their layouts reach, scales dense. */
static void print_tensor(const pf_emitter *m, const pf_emit_module *module,
                         const pf_tensor_entry *t)
{
  pf_role role;
  const bool operand = pf_role_find(t->name, strlen(t->name), &role);
  const pf_dtype held = module->held(t->dtype);
  fprintf(m->to, "%s = %stensor(%s, ", t->name, is_made_anew(m, t->name) ? "lambda: " : "",
          module->dtype(held));
  pf_emit_sizes(m->to, t->rank, t->dim);
  fputs(", ", m->to);
  pf_emit_sizes(m->to, t->rank, t->stride);
  fprintf(m->to, ", %" PRId64 ", \"", operand ? m->what->operand[role].offset : 0);
  if (operand)
    print_elements(m->to, t->dtype, held, m->problem->storage[role],
                   pf_storage_size(&m->what->operand[role]));
  else
    print_elements(m->to, t->dtype, held, t->data, t->elements);
  fputs("\")\n", m->to);
}

void pf_emit_operands(const pf_emitter *m, const pf_emit_module *module)
{
  for (int i = 0; i < m->tensors.count; i++)
    print_tensor(m, module, &m->tensors.entry[i]);
}

void pf_emit_names(const pf_emitter *m, bool by_call)
{
  for (int i = 0; i < m->tensors.count; i++) {
    const char *name = m->tensors.entry[i].name;
    fprintf(m->to, "%s%s%s", i ? ", " : "", name, by_call && is_made_anew(m, name) ? "()" : "");
  }
}

/* --- exact values -------------------------------------------------------------------------- */

/* Vectors along K, [batches, lines, K], times their scales. */
static void print_vectors(const pf_emitter *m, const pf_emit_module *module, pf_role role)
{
  const pf_shape *s = &m->problem->shape;
  const pf_operand *o = &m->what->operand[role];
  const char *name = pf_role_name(role), *lib = module->name;
  const int64_t lines = role == PF_X ? s->m : s->n;
  int64_t full[PF_MAX_RANK];
  memcpy(full, s->batch, s->batch_rank * sizeof *full);
  full[s->batch_rank] = lines;
  full[s->batch_rank + 1] = s->k;
  fprintf(m->to, "%s = %s.broadcast_to(", role == PF_X ? "X" : "Y", lib);
  if (role == PF_Y && o->rank > 1 && !pf_graph_of(m->what->graph)->weight)
    fprintf(m->to, "%s.swapaxes(%s, -1, -2)%s", lib, name, module->f64);
  else
    fprintf(m->to, "%s%s", name, module->f64);
  if (o->scale.kind == PF_SCALE_BLOCK)
    fprintf(m->to, " * %s.%s(scale_%s, %d, -1)[..., :%" PRId64 "]%s", lib, module->repeat, name,
            o->scale.block, s->k, module->f64);
  else if (o->scale.kind != PF_SCALE_NONE)
    fprintf(m->to, " * scale_%s%s%s", name, o->scale.kind == PF_SCALE_ROW ? "[..., None]" : "",
            module->f64);
  fputs(", ", m->to);
  pf_emit_sizes(m->to, s->batch_rank + 2, full);
  fprintf(m->to, ").reshape(%" PRId64 ", %" PRId64 ", %" PRId64 ")\n", s->batches, lines, s->k);
}

/* c and bias, one a result. */
static void print_addends(const pf_emitter *m, const pf_emit_module *module)
{
  for (pf_role r = PF_C; r <= PF_BIAS; r++) {
    if (!m->what->operand[r].present)
      continue;
    fprintf(m->to, "Z = %s.broadcast_to(%s%s%s, ", module->name, pf_role_name(r),
            is_made_anew(m, pf_role_name(r)) ? "()" : "", module->f64);
    pf_emit_sizes(m->to, m->problem->shape.out_rank, m->problem->shape.out);
    fputs(").reshape(-1).tolist()\n", m->to);
  }
}

/* Are all exact values? */
static bool is_within_f64(const pf_case *c)
{
  for (pf_role r = PF_X; r < PF_OUT; r++)
    if (c->operand[r].present && c->operand[r].dtype == PF_F64)
      return false;
  return true;
}

/* The factors of each term of a result.  With beta = 0 no c is read. */
static void print_terms(const pf_emitter *m)
{
  const pf_shape *s = &m->problem->shape;
  const bool has_c = m->what->operand[PF_C].present;
  fprintf(m->to,
          "def exact(i):\n"
          "    b, m, n = i // %" PRId64 ", i // %" PRId64 " %% %" PRId64 ", i %% %" PRId64 "\n"
          "    terms = [(", s->m * s->n, s->n, s->m, s->n);
  if (has_c) {
    pf_emit_number(m->to, m->what->alpha, false);
    fputs(", ", m->to);
  }
  fputs("p, q) for p, q in zip(X[b, m].tolist(), Y[b, n].tolist())]", m->to);
  if (m->what->operand[PF_BIAS].present)
    fputs(" + [(Z[i],)]", m->to);
  if (has_c && m->what->beta != 0) {
    fputs(" + [(", m->to);
    pf_emit_number(m->to, m->what->beta, false);
    fputs(", Z[i])]", m->to);
  }
  fputc('\n', m->to);
}

/* Infinities and NaN go by the signs of what is finite. */
static const char specials[] =
    "    if not all(math.isfinite(f) for t in terms for f in t):\n"
    "        sign = lambda f: (f > 0) - (f < 0) if math.isfinite(f) else f\n"
    "        return float(sum(math.prod(map(sign, t)) for t in terms))\n";

#define SUM "sum((math.prod(map(Fraction, t)) for t in terms), Fraction())\n"

static const char report[] =
    "def error(got, v):\n"
    "    return 0 if got == v or got != got and v != v else abs(Fraction(got) - v) "
    "if math.isfinite(got - v) else math.inf\n"
    "show = lambda v: f\"{float(v):.9g} ({float(v).hex()})\"\n";

/* The last two lines of a script. */
static void print_report(const pf_emitter *m)
{
  fprintf(m->to, "%sv = [exact(i) for i in range(%" PRId64 ")]\n", report,
          m->problem->shape.outputs);
  fputs("for i in sorted(range(len(v)), key=lambda i: -max([error(a[i], v[i]) for a in "
        "answers.values()], default=0))[:8]:\n"
        "    print(f\"element {i}: exact {show(v[i])}\", "
        "*(f\"{b} {show(a[i])}\" for b, a in answers.items()), sep=\"\\n  \")\n", m->to);
}

void pf_emit_exact(const pf_emitter *m, const pf_emit_module *module)
{
  print_vectors(m, module, PF_X);
  print_vectors(m, module, PF_Y);
  print_addends(m, module);
  print_terms(m);
  fputs(specials, m->to);
  if (is_within_f64(m->what))
    fputs("    return " SUM, m->to);
  else  /* what f64 has no number for is shown as infinite */
    fputs("    v = " SUM
          "    return v if abs(v) < 2**1024 - 2**970 else math.inf if v > 0 else -math.inf\n",
          m->to);
  print_report(m);
}
