/* Steps in PyTorch's words. */
#include "cli.h"

#include <string.h>

/* Ranks of x and y; what PyTorch calls the product, and with an addend inside the call.  Operands
   of more dimensions are a bmm of folded batches; what else there is has no name but matmul. */
static const struct {
  int x_rank, y_rank;
  const char *plain, *fused;
} calls[] = {
  {1, 1, "dot", NULL}, {2, 1, "mv", "addmv"}, {2, 2, "mm", "addmm"}, {3, 3, "bmm", "baddbmm"},
};

static const char *call_name(const pf_case *c, bool fused)
{
  const int x = c->operand[PF_X].rank, y = c->operand[PF_Y].rank;
  if (pf_graph_of(c->graph)->weight)
    return "linear";
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (calls[i].x_rank == x && calls[i].y_rank == y)
      return fused ? calls[i].fused : calls[i].plain;
  if (x > 2 && y > 2)
    return fused ? "baddbmm" : "bmm";
  return fused ? NULL : "matmul";
}

static const char *name_of(const pf_plan *plan, int ref)
{
  static const char *const names[] = {"x", "y", "c", "bias", "alpha", "beta", "scale_x", "scale_y"};
  return ref >= PF_REF_STEP ? plan->step[ref - PF_REF_STEP].name : names[ref];
}

/* --- shapes -------------------------------------------------------------------------------- */

/* A tensor's dimensions. */
typedef struct pf_dims {
  int rank;
  int64_t dim[PF_MAX_RANK];
} pf_dims;

static pf_dims dims_of(const pf_case *c, const pf_plan *plan, int ref);

static pf_dims broadcast(pf_dims a, pf_dims b)
{
  if (a.rank < b.rank)
    return broadcast(b, a);
  for (int i = 1; i <= b.rank; i++)
    if (a.dim[a.rank - i] == 1)
      a.dim[a.rank - i] = b.dim[b.rank - i];
  return a;
}

static pf_dims result_dims(const pf_case *c, const pf_plan *plan, int step)
{
  const pf_step *s = &plan->step[step];
  if (s->kind == PF_ADD)
    return broadcast(dims_of(c, plan, s->a), dims_of(c, plan, s->b));
  if (s->kind > PF_MULSUM)
    return dims_of(c, plan, s->a);
  const pf_shape shape = pf_case_shape(c);
  pf_dims d = {.rank = shape.out_rank};
  memcpy(d.dim, shape.out, sizeof d.dim);
  return d;
}

static pf_dims dims_of(const pf_case *c, const pf_plan *plan, int ref)
{
  static const pf_role role[] = {PF_X, PF_Y, PF_C, PF_BIAS};
  if (ref >= PF_REF_STEP)
    return result_dims(c, plan, ref - PF_REF_STEP);
  const pf_operand *o = &c->operand[role[ref]];
  pf_dims d = {.rank = o->rank};
  memcpy(d.dim, o->dim, sizeof d.dim);
  return d;
}

/* --- expressions --------------------------------------------------------------------------- */

/* One call, where PyTorch has one for all that is inside. */
static void print_call(const pf_case *c, const pf_plan *plan, const pf_step *s, const char *call,
                       FILE *to)
{
  const bool linear = pf_graph_of(c->graph)->weight;
  fprintf(to, "%s(", call);
  if (!linear && (s->c || s->bias))
    fprintf(to, "%s, ", s->c ? "c" : "bias");
  fprintf(to, "%s, %s", name_of(plan, s->a), name_of(plan, s->b));
  if (linear && s->bias)
    fputs(", bias", to);
  if (s->c)
    fprintf(to, ", beta=%.9g", c->beta);
  if (s->alpha)
    fprintf(to, ", alpha=%.9g", c->alpha);
  fputc(')', to);
}

/* Spelt out. */
static void print_sum(const pf_case *c, const pf_plan *plan, const pf_step *s, FILE *to)
{
  const char *a = name_of(plan, s->a), *b = name_of(plan, s->b);
  if (s->c)
    fprintf(to, "%.9g*c + ", c->beta);
  if (s->alpha)
    fprintf(to, "%.9g*", c->alpha);
  if (s->kind == PF_MULSUM)
    fprintf(to, "sum(mul(%s, %s))", a, b);
  else
    fprintf(to, "%s(%s, %s)", call_name(c, false), a, b);
  if (s->bias)
    fputs(" + bias", to);
}

static void print_expression(const pf_case *c, const pf_plan *plan, const pf_step *s, FILE *to)
{
  const char *call = call_name(c, s->c || s->bias);
  const bool alone = !(s->c && s->bias) && (s->c || !s->alpha);
  char format[64];
  switch (s->kind) {
  case PF_MATMUL:
    if (call && alone) {
      print_call(c, plan, s, call, to);
      break;
    }  /* fall through */
  case PF_MULSUM: print_sum(c, plan, s, to); break;
  case PF_CAST:
    pf_format_print(&s->out, format, sizeof format);
    fprintf(to, "to(%s, %s)", name_of(plan, s->a), format);
    break;
  case PF_SCALE:
    if (s->b >= PF_REF_SCALE_X)
      fprintf(to, "mul(%s, %s)", name_of(plan, s->a), name_of(plan, s->b));
    else
      fprintf(to, "mul(%s, %.9g)", name_of(plan, s->a),
              s->b == PF_REF_ALPHA ? c->alpha : c->beta);
    break;
  case PF_ADD:
    fprintf(to, "add(%s, %s)", name_of(plan, s->a), name_of(plan, s->b));
    break;
  }
}

void pf_torch_print_step(const pf_case *c, const pf_plan *plan, int step, FILE *to)
{
  const pf_step *s = &plan->step[step];
  const pf_dims d = result_dims(c, plan, step);
  char format[64];
  pf_format_print(&s->out, format, sizeof format);
  fprintf(to, "%s: %s", s->name, format);
  pf_cli_print_dims('[', d.rank, d.dim, ']', to);
  fputs(" = ", to);
  print_expression(c, plan, s, to);
}

void pf_torch_print_rounding(const pf_plan *plan, int step, FILE *to)
{
  const pf_step *s = &plan->step[step];
  char out[64], acc[64], row[512];
  pf_format_print(&s->out, out, sizeof out);
  if (s->kind > PF_MULSUM) {
    fprintf(to, plan->exact[step] ? "exact" : "rounds to %s", out);
    return;
  }
  pf_format_print(&s->acc.format, acc, sizeof acc);
  fprintf(to, "acc %s", acc);
  pf_step_print(s, plan, row, sizeof row);
  const char *knobs = strstr(row, ", order ");
  if (knobs)
    fprintf(to, "%.*s", (int)strcspn(knobs, ")"), knobs);
  if (!pf_format_equal(&s->out, &s->acc.format))
    fprintf(to, ", rounds to %s", out);
}
