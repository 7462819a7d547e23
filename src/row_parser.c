/* Rows as text: parsed and bound to a case.  row_format.c reads formats, row_parser_sum.c sums. */
#include "row_parser.h"

#include <math.h>
#include <string.h>

static bool is_space(char c)
{
  return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_of_word(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '+' || c == '-' || c == ':' || c == '/' || c == '.';
}

void pf_row_skip_space(pf_parser *p)
{
  while (is_space(*p->at))
    p->at++;
  p->token = p->at;
}

bool pf_row_accept(pf_parser *p, char c)
{
  pf_row_skip_space(p);
  if (*p->at != c)
    return false;
  p->at++;
  return true;
}

pf_status pf_row_expect(pf_parser *p, char c)
{
  return pf_row_accept(p, c) ? PF_OK : FAIL(p, "row: '%c' expected", c);
}

size_t pf_row_word(pf_parser *p, const char **word)
{
  pf_row_skip_space(p);
  *word = p->at;
  while (is_of_word(*p->at))
    p->at++;
  return (size_t)(p->at - *word);
}

pf_status pf_row_format(pf_parser *p, pf_format *out)
{
  const char *word;
  const size_t length = pf_row_word(p, &word);
  const pf_status status = pf_format_parse(word, length, p->what, out, p->error);
  if (status && p->error)
    p->error->offset = (size_t)(p->token - p->text);
  return status;
}

/* --- references ---------------------------------------------------------------------------- */

static bool ref_find(const pf_parser *p, const char *word, size_t length, int *out)
{
  static const char *const names[] = {"x", "y", "c", "bias", "alpha", "beta",
                                      "scale_x", "scale_y"};
  for (int i = 0; i < PF_REF_STEP; i++)
    if (pf_row_word_is(word, length, names[i])) {
      *out = i;
      return true;
    }
  for (int i = 0; i < p->plan->count; i++)
    if (pf_row_word_is(word, length, p->plan->step[i].name)) {
      *out = PF_REF_STEP + i;
      return true;
    }
  return false;
}

pf_status pf_row_ref(pf_parser *p, int *out)
{
  const char *word;
  const size_t length = pf_row_word(p, &word);
  if (ref_find(p, word, length, out))
    return PF_OK;
  return FAIL(p, "row: '%.*s' is neither an operand nor an earlier result", (int)length, word);
}

static bool ref_is_factor(int ref)
{
  return ref >= PF_REF_ALPHA && ref < PF_REF_STEP;
}

bool pf_row_ref_absent(const pf_parser *p, int ref)
{
  return (ref == PF_REF_BIAS && !p->what->operand[PF_BIAS].present) ||
         (ref == PF_REF_C && !p->what->operand[PF_C].present);
}

pf_shaped pf_row_ref_shape(const pf_parser *p, int ref)
{
  return ref >= PF_REF_STEP ? p->shaped[ref - PF_REF_STEP]
         : ref == PF_REF_X  ? SHAPED_X
         : ref == PF_REF_Y  ? SHAPED_Y
                            : SHAPED_OUT;
}

pf_format pf_row_ref_format(const pf_parser *p, int ref)
{
  static const pf_role role[] = {PF_X, PF_Y, PF_C, PF_BIAS};
  return ref >= PF_REF_STEP ? p->value[ref - PF_REF_STEP]
                            : *pf_format_of(p->what->operand[role[ref]].dtype);
}

bool pf_row_holds(const pf_format *f, double x)
{
  return (!isfinite(x) && !pf_is_integer(f)) || pf_round(f, x) == x;
}

/* --- elementwise steps ---------------------------------------------------------------------- */

static pf_status check_addend(pf_parser *p, const pf_step *s, int ref)
{
  if (ref_is_factor(ref) || pf_row_ref_shape(p, ref) != SHAPED_OUT)
    return FAIL(p, "row: %s works on results, c and bias only",
                s->kind == PF_ADD ? "ADD" : "SCALE");
  const pf_format f = pf_row_ref_format(p, ref);
  if (!pf_format_contains(&s->out, &f))
    return UNSUPPORTED(p, "an operand of %s is no value of its format: CAST it first", s->name);
  return PF_OK;
}

static pf_status check_cast(pf_parser *p, pf_step *s)
{
  if (ref_is_factor(s->a) || pf_row_ref_absent(p, s->a))
    return FAIL(p, "row: nothing there to CAST");
  const pf_format from = pf_row_ref_format(p, s->a);
  s->out = pf_conversion(&s->out, &from);
  return PF_OK;
}

/* SCALE by scale_x or scale_y: the products are exact in double before they are rounded. */
static pf_status check_scaling(pf_parser *p, pf_step *s)
{
  const bool by_x = s->b == PF_REF_SCALE_X;
  const pf_scale *scale = &p->what->operand[by_x ? PF_X : PF_Y].scale;
  const pf_shaped shape = ref_is_factor(s->a) ? SHAPED_OUT : pf_row_ref_shape(p, s->a);
  if (shape != SHAPED_OUT && shape != (by_x ? SHAPED_X : SHAPED_Y))
    return FAIL(p, "row: x is scaled by scale_x, y by scale_y");
  if (scale->kind == PF_SCALE_NONE) {
    s->kind = PF_CAST;
    s->b = PF_REF_NONE;
    return check_cast(p, s);
  }
  if (!pf_format_contains(&s->out, pf_format_of(PF_F32)))
    return UNSUPPORTED(p, "scales are f32, and no values of the format of %s", s->name);
  if (shape == SHAPED_OUT && scale->kind == PF_SCALE_BLOCK)
    return UNSUPPORTED(p, "scales of blocks vary along K: SCALE the operand");
  if (shape == SHAPED_OUT)
    return check_addend(p, s, s->a);
  return pf_row_ref_format(p, s->a).precision <= 26
             ? PF_OK : UNSUPPORTED(p, "an operand of f64 does not scale exactly: CAST it first");
}

static pf_status parse_elementwise(pf_parser *p, pf_step *s)
{
  PF_TRY(pf_row_ref(p, &s->a));
  s->b = PF_REF_NONE;
  if (s->kind != PF_CAST) {
    PF_TRY(pf_row_expect(p, ','));
    PF_TRY(pf_row_ref(p, &s->b));
  }
  PF_TRY(pf_row_expect(p, ';'));
  PF_TRY(pf_row_format(p, &s->out));
  if (s->kind == PF_SCALE) {
    if (s->b < PF_REF_ALPHA || s->b >= PF_REF_STEP)
      return FAIL(p, "row: SCALE is by alpha, beta, scale_x or scale_y");
    if (s->b >= PF_REF_SCALE_X)
      return check_scaling(p, s);
    if (!pf_row_holds(&s->out, s->b == PF_REF_ALPHA ? p->what->alpha : p->what->beta))
      return UNSUPPORTED(p, "%s is no value of the format of %s",
                     s->b == PF_REF_ALPHA ? "alpha" : "beta", s->name);
    return check_addend(p, s, s->a);
  }
  if (s->kind == PF_ADD) {
    if (pf_row_ref_absent(p, s->b) || pf_row_ref_absent(p, s->a)) {
      /* linear without a bias: what is left of the addition is its rounding */
      s->a = pf_row_ref_absent(p, s->a) ? s->b : s->a;
      s->b = PF_REF_NONE;
      s->kind = PF_CAST;
      return check_addend(p, s, s->a);
    }
    PF_TRY(check_addend(p, s, s->b));
    return check_addend(p, s, s->a);
  }
  return check_cast(p, s);
}

static pf_status parse_name(pf_parser *p, pf_step *s)
{
  const char *word;
  const size_t length = pf_row_word(p, &word);
  int other;
  if (!length || length >= sizeof s->name)
    return FAIL(p, "row: a step begins with the name of its result, such as t0 or out");
  if (ref_find(p, word, length, &other))
    return FAIL(p, "row: '%.*s' has a meaning already", (int)length, word);
  memcpy(s->name, word, length);
  s->name[length] = 0;
  return pf_row_expect(p, '=');
}

static const char *const kind_names[] = {"MATMUL", "MULSUM", "CAST", "SCALE", "ADD"};

static pf_status parse_step(pf_parser *p, pf_step *s)
{
  PF_TRY(parse_name(p, s));
  const char *word;
  const size_t length = pf_row_word(p, &word);
  int kind = 0;
  while (kind <= PF_ADD && !pf_row_word_is(word, length, kind_names[kind]))
    kind++;
  if (kind > PF_ADD)
    return FAIL(p, "row: '%.*s' is no step (MATMUL, MULSUM, CAST, SCALE, ADD)", (int)length, word);
  s->kind = (pf_step_kind)kind;
  PF_TRY(pf_row_expect(p, '('));
  PF_TRY(s->kind <= PF_MULSUM ? pf_row_sum(p, s) : parse_elementwise(p, s));
  if (!pf_dtype_for(&s->out, &s->storage))
    return FAIL(p, "row: no dtype holds the values of %s", s->name);
  return pf_row_expect(p, ')');
}

/* What later steps need to know of the step just parsed. */
static void note_step(pf_parser *p, int i)
{
  const pf_step *s = &p->plan->step[i];
  p->shaped[i] = s->kind == PF_CAST || s->kind == PF_SCALE ? pf_row_ref_shape(p, s->a) : SHAPED_OUT;
  p->value[i] = s->out;
  if (s->kind == PF_CAST) {
    const pf_format from = pf_row_ref_format(p, s->a);
    p->plan->exact[i] = pf_conversion_exact(&s->out, &from);
    if (p->plan->exact[i])
      p->value[i] = from;
  }
  if (s->kind <= PF_MULSUM && s->acc.sum.order != PF_ANY_ORDER)
    p->plan->replayed = true;
}

pf_status pf_plan_parse(const char *strategy, const char *text, const pf_case *c, pf_plan *out,
                        pf_error *e)
{
  pf_parser p = {.text = text, .at = text, .token = text, .what = c, .plan = out, .error = e};
  memset(out, 0, sizeof *out);
  out->strategy = strategy;
  for (;;) {
    pf_row_skip_space(&p);
    if (!*p.at)
      break;
    if (out->count == PF_MAX_STEPS)
      return FAIL(&p, "row: more than %d steps", PF_MAX_STEPS);
    PF_TRY(parse_step(&p, &out->step[out->count]));
    note_step(&p, out->count);
    out->count++;
    pf_row_accept(&p, ';');
  }
  if (!out->count || strcmp(out->step[out->count - 1].name, "out") ||
      p.shaped[out->count - 1] != SHAPED_OUT)
    return FAIL(&p, "row: the last step must be the output, named out");
  return PF_OK;
}
