/* The chains of formats in the rows: each row is bound to cases of one element, over all dtypes,
   and its steps are followed back from the result.  What a row multiplies by or adds is left out:
   the conversions on the way remain. */
#include <stdio.h>

#include "cast.h"
#include "form_text.h"

typedef struct collector {
  pf_cast_rows *rows;
  const pf_plan *plan;
  const pf_case *what;
  bool full;
} collector;

/* A conversion that changes no format is none. */
static void append(pf_cast_chain *c, const pf_format *f)
{
  if (c->count == 0 || !pf_format_equal(&c->format[c->count - 1], f))
    c->format[c->count++] = *f;
}

static bool is_equal(const pf_cast_chain *a, const pf_cast_chain *b)
{
  for (int i = 0; i < a->count && a->count == b->count; i++)
    if (!pf_format_equal(&a->format[i], &b->format[i]))
      return false;
  return a->count == b->count;
}

static void keep(collector *k, const pf_cast_chain *c)
{
  pf_cast_rows *r = k->rows;
  if (c->count < 3)
    return;
  for (int i = 0; i < r->count; i++)
    if (is_equal(&r->chain[i], c))
      return;
  if (r->count == PF_CAST_ROWS)
    k->full = true;
  else
    r->chain[r->count++] = *c;
}

/* The way to what `ref` names is in front of the steps in `tail`, the last one first. */
static void follow(collector *k, int ref, const pf_format *const *tail, int length)
{
  static const pf_role role[] = {PF_X, PF_Y, PF_C, PF_BIAS};
  const pf_format *longer[PF_CAST_LONGEST];
  pf_cast_chain c = {0};
  for (int i = 0; i < length; i++)
    longer[i] = tail[i];
  if (ref < PF_REF_STEP) {
    if (ref < 0 || ref > PF_REF_BIAS || !k->what->operand[role[ref]].present)
      return;
    append(&c, pf_format_of(k->what->operand[role[ref]].dtype));
  } else {
    const pf_step *s = &k->plan->step[ref - PF_REF_STEP];
    if (length == PF_CAST_LONGEST - 1) {
      k->full = true;
      return;
    }
    longer[length++] = &s->out;
    if (s->kind > PF_MULSUM) {
      follow(k, s->a, longer, length);
      if (s->kind == PF_ADD)
        follow(k, s->b, longer, length);
      return;
    }
    append(&c, &s->acc.format);
    follow(k, s->a, (const pf_format *[]){&s->acc.product}, 1);
    follow(k, s->b, (const pf_format *[]){&s->acc.product}, 1);
  }
  while (length > 0)
    append(&c, longer[--length]);
  keep(k, &c);
}

/* The text of a case for a row: every operand that its graph can have. */
static int describe(const pf_row *r, pf_dtype in, pf_dtype addend, char *to, size_t size)
{
  const pf_graph_info *g = pf_graph_of(r->graph);
  const char *x = pf_dtype_of(in)->name, *b = pf_dtype_of(addend)->name;
  char more[80] = "", result[24] = "";
  if (g->has_c || g->has_bias)
    snprintf(more, sizeof more, " %s=%s[1,1]", g->has_c ? "c" : "bias", b);
  if (g->scaled)
    snprintf(result, sizeof result, " out=%s", b);
  return snprintf(to, size, "%s x=%s[1,1] y=%s[1,1]%s%s%s", g->name, x, x, more, result,
                  g->scaled ? " x.scale=tensor:1 y.scale=tensor:1" : "");
}

static void collect_row(collector *k, const pf_row *r, pf_dtype in, pf_dtype addend, pf_arena *a)
{
  char text[240];
  pf_case c;
  pf_plan plan;
  const int length = describe(r, in, addend, text, sizeof text);
  pf_arena_reset(a);
  if (pf_text_parse(text, (size_t)length, a, &c, NULL) != PF_OK ||
      pf_plan_parse(r->strategy, r->text, &c, &plan, NULL) != PF_OK)
    return;
  k->plan = &plan;
  k->what = &c;
  follow(k, PF_REF_STEP + plan.count - 1, NULL, 0);
}

pf_status pf_cast_rows_collect(pf_cast_rows *out)
{
  collector k = {.rows = out};
  pf_arena arena = {0};
  out->count = 0;
  for (const pf_row *r = pf_rows; r->text; r++)
    for (int in = 0; in < PF_DTYPE_COUNT; in++)
      for (int addend = 0; addend < PF_DTYPE_COUNT; addend++)
        collect_row(&k, r, (pf_dtype)in, (pf_dtype)addend, &arena);
  pf_arena_free(&arena);
  return k.full || out->count == 0 ? PF_NO_MEMORY : PF_OK;
}
