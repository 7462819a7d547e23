/* A case as one line; what has its default value is left out. */
#include "form_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void print_list(FILE *to, const char *brackets, int count, const int64_t *number)
{
  fputc(brackets[0], to);
  for (int i = 0; i < count; i++)
    fprintf(to, "%s%" PRId64, i == 0 ? "" : ",", number[i]);
  fputc(brackets[1], to);
}

static void print_layout(FILE *to, const pf_operand *o)
{
  int64_t dense[PF_MAX_RANK];
  pf_dense_strides(o->rank, o->dim, dense);
  if (memcmp(dense, o->stride, o->rank * sizeof *dense) != 0)
    print_list(to, "()", o->rank, o->stride);
  if (o->offset != 0)
    fprintf(to, "+%" PRId64, o->offset);
}

/* Short decimals where they are exact, else hex. */
static void print_scalar(FILE *to, const char *name, double value)
{
  char decimal[32];
  if (value == 1)
    return;
  snprintf(decimal, sizeof decimal, "%.6g", value);
  if (isnan(value))
    fprintf(to, " %s=nan", name);
  else if (isinf(value) || strtod(decimal, NULL) == value)
    fprintf(to, " %s=%s", name, decimal);
  else
    fprintf(to, " %s=%a", name, value);
}

static void print_values(FILE *to, const char *name, const pf_operand *o)
{
  const pf_values *v = &o->values;
  const int bytes = pf_dtype_of(o->dtype)->bytes;
  if (v->kind == PF_VERBATIM) {
    const int64_t count = pf_operand_count(o);
    fprintf(to, " %s.bits=", name);
    for (int64_t i = 0; i < count; i++)
      fprintf(to, "%s%0*" PRIx64, i == 0 ? "" : ",", 2 * bytes,
              pf_load_bits(o->dtype, v->verbatim + i * bytes));
  } else if (v->mix != 0) {
    fprintf(to, " %s.values=%s+%s/%d:%" PRIu32, name, pf_kind_name(v->kind),
            pf_kind_name(v->other), v->mix, v->seed);
  } else if (v->kind != PF_NORMAL || v->seed != 0) {
    fprintf(to, " %s.values=%s:%" PRIu32, name, pf_kind_name(v->kind), v->seed);
  }
  for (int64_t i = 0; i < v->edit_count; i++) {
    if (i == 0)
      fprintf(to, " %s.set=", name);
    fprintf(to, "%s%" PRId64 ":%0*" PRIx64, i == 0 ? "" : ",", v->edits[i].index, 2 * bytes,
            v->edits[i].bits);
  }
}

static void print_scale(FILE *to, const char *name, const pf_scale *s)
{
  if (s->kind == PF_SCALE_NONE)
    return;
  fprintf(to, " %s.scale=%s", name, pf_scale_kind_name(s->kind));
  if (s->kind == PF_SCALE_BLOCK)
    fprintf(to, "%d", s->block);
  if (!s->values)
    fprintf(to, ":%" PRIu32, s->seed);
  for (int64_t i = 0; s->values && i < s->count; i++)
    fprintf(to, "%s%a", i == 0 ? ":=" : ",", (double)s->values[i]);
}

static void print_output(FILE *to, const pf_case *c)
{
  const pf_operand *out = &c->operand[PF_OUT];
  const bool named = pf_graph_of(c->graph)->scaled && out->dtype != PF_F32;
  if (c->out_is_c)
    fputs(" out=c", to);
  else if (named || !pf_operand_dense(out))
    fprintf(to, " out=%s", named ? pf_dtype_of(out->dtype)->name : "");
  if (!c->out_is_c)
    print_layout(to, out);
}

void pf_text_print(const pf_case *c, FILE *to)
{
  fputs(pf_graph_of(c->graph)->name, to);
  for (pf_role r = PF_X; r < PF_OUT; r++) {
    const pf_operand *o = &c->operand[r];
    if (!o->present)
      continue;
    fprintf(to, " %s=%s", pf_role_name(r), pf_dtype_of(o->dtype)->name);
    print_list(to, "[]", o->rank, o->dim);
    print_layout(to, o);
  }
  print_scalar(to, "alpha", c->alpha);
  print_scalar(to, "beta", c->beta);
  print_output(to, c);
  for (pf_role r = PF_X; r < PF_OUT; r++)
    if (c->operand[r].present) {
      print_values(to, pf_role_name(r), &c->operand[r]);
      print_scale(to, pf_role_name(r), &c->operand[r].scale);
    }
}
