/* Rows as text: parsed, bound to a case, printed. */
#include "row.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a step's result is shaped like: operands keep x's or y's vectors, all else is the output. */
typedef enum pf_shaped { SHAPED_X, SHAPED_Y, SHAPED_OUT } pf_shaped;

typedef struct pf_parser {
  const char *text, *at;
  const char *token;  /* what was looked at last begins here: where errors point */
  const pf_case *what;
  pf_plan *plan;
  pf_error *error;
  pf_shaped shaped[PF_MAX_STEPS];
  pf_format value[PF_MAX_STEPS];  /* the tightest format known to hold a step's result */
} pf_parser;

#define FAIL(p, ...) \
  pf_fail((p)->error, PF_BAD_INPUT, (size_t)((p)->token - (p)->text), __VA_ARGS__)
#define TRY(call) do { const pf_status try_ = (call); if (try_) return try_; } while (0)

static void skip_space(pf_parser *p)
{
  while (isspace((unsigned char)*p->at))
    p->at++;
  p->token = p->at;
}

static bool accept(pf_parser *p, char c)
{
  skip_space(p);
  if (*p->at != c)
    return false;
  p->at++;
  return true;
}

static pf_status expect(pf_parser *p, char c)
{
  return accept(p, c) ? PF_OK : FAIL(p, "row: '%c' expected", c);
}

/* A word of letters, digits and what formats are written with; its length may be 0. */
static size_t next_word(pf_parser *p, const char **word)
{
  skip_space(p);
  *word = p->at;
  while (isalnum((unsigned char)*p->at) || (*p->at && strchr("_+-:/.", *p->at)))
    p->at++;
  return (size_t)(p->at - *word);
}

static bool word_is(const char *word, size_t length, const char *what)
{
  return strlen(what) == length && !memcmp(word, what, length);
}

/* --- formats ------------------------------------------------------------------------------- */

static bool symbol_find(const pf_case *c, const char *word, size_t length, pf_dtype *out)
{
  size_t base = length;
  const bool with_f32 = length > 4 && !memcmp(word + length - 4, "+f32", 4);
  if (with_f32)
    base = length - 4;
  if (word_is(word, base, "in"))
    *out = pf_case_in(c);
  else if (word_is(word, base, "result"))
    *out = pf_case_result(c);
  else if (!pf_dtype_find(word, base, out))
    return false;
  if (with_f32)
    *out = pf_promote(*out, PF_F32);
  return true;
}

/* pN:E:MAX, within limits that keep each product of two such numbers an exact double. */
static bool custom_format(const char *word, size_t length, pf_format *out)
{
  char copy[64];
  if (length < 2 || length >= sizeof copy || word[0] != 'p')
    return false;
  memcpy(copy, word, length);
  copy[length] = 0;
  char *end;
  const long precision = strtol(copy + 1, &end, 10);
  if (*end != ':')
    return false;
  const long emin = strtol(end + 1, &end, 10);
  if (*end != ':')
    return false;
  const double max = strtod(end + 1, &end);
  if (*end || precision < 2 || precision > 26 || emin < -500 || emin > 500 ||
      !(max > 0 && max < 0x1p511))
    return false;
  *out = (pf_format){.precision = (int)precision, .emin = (int)emin, .max = max,
                     .has_infinity = true, .has_negative_zero = true};
  return pf_round(out, max) == max && max >= ldexp(1, (int)emin);
}

static pf_status parse_format(pf_parser *p, pf_format *out)
{
  const char *word;
  size_t length = next_word(p, &word);
  if (!length)
    return FAIL(p, "row: a format expected");
  size_t base = length;
  const char *slash = memchr(word, '/', length);
  if (slash)
    base = (size_t)(slash - word);
  pf_dtype t;
  if (symbol_find(p->what, word, base, &t))
    *out = *pf_format_of(t);
  else if (!custom_format(word, base, out))
    return FAIL(p, "row: '%.*s' is no format", (int)length, word);
  while (base < length) {
    const char *knob = word + base + 1;
    size_t n = length - base - 1;
    const char *next = memchr(knob, '/', n);
    if (next)
      n = (size_t)(next - knob);
    if (out->precision > 51)
      return FAIL(p, "row: f64 rounds to nearest even only");
    if (word_is(knob, n, "rz"))
      out->rounding = PF_TOWARD_ZERO;
    else if (word_is(knob, n, "rna"))
      out->rounding = PF_NEAREST_AWAY;
    else if (word_is(knob, n, "sat"))
      out->overflow = PF_OVERFLOW_SATURATE;
    else
      return FAIL(p, "row: '%.*s' is no way to round (rz, rna, sat)", (int)n, knob);
    base += n + 1;
  }
  return PF_OK;
}

/* --- references ---------------------------------------------------------------------------- */

static bool ref_find(const pf_parser *p, const char *word, size_t length, int *out)
{
  static const char *const names[] = {"x", "y", "c", "bias", "alpha", "beta"};
  for (int i = 0; i < PF_REF_STEP; i++)
    if (word_is(word, length, names[i])) {
      *out = i;
      return true;
    }
  for (int i = 0; i < p->plan->count; i++)
    if (word_is(word, length, p->plan->step[i].name)) {
      *out = PF_REF_STEP + i;
      return true;
    }
  return false;
}

static pf_status parse_ref(pf_parser *p, int *out)
{
  const char *word;
  const size_t length = next_word(p, &word);
  return ref_find(p, word, length, out)
             ? PF_OK
             : FAIL(p, "row: '%.*s' is neither an operand nor an earlier result", (int)length, word);
}

static bool ref_absent(const pf_parser *p, int ref)
{
  return (ref == PF_REF_BIAS && !p->what->operand[PF_BIAS].present) ||
         (ref == PF_REF_C && !p->what->operand[PF_C].present);
}

static pf_shaped ref_shape(const pf_parser *p, int ref)
{
  return ref >= PF_REF_STEP ? p->shaped[ref - PF_REF_STEP]
         : ref == PF_REF_X  ? SHAPED_X
         : ref == PF_REF_Y  ? SHAPED_Y
                            : SHAPED_OUT;
}

static pf_format ref_format(const pf_parser *p, int ref)
{
  static const pf_role role[] = {PF_X, PF_Y, PF_C, PF_BIAS};
  return ref >= PF_REF_STEP ? p->value[ref - PF_REF_STEP]
                            : *pf_format_of(p->what->operand[role[ref]].dtype);
}

static bool scalar_is_value(const pf_format *f, double x)
{
  return !isfinite(x) || pf_round(f, x) == x;
}

/* --- steps --------------------------------------------------------------------------------- */

static pf_status parse_number(pf_parser *p, const char *digits, size_t length, int low, int high,
                              int *out)
{
  char copy[12];
  if (!length || length >= sizeof copy)
    return FAIL(p, "row: a number expected");
  memcpy(copy, digits, length);
  copy[length] = 0;
  char *end;
  const long v = strtol(copy, &end, 10);
  if (*end || v < low || v > high)
    return FAIL(p, "row: a number from %d to %d expected", low, high);
  *out = (int)v;
  return PF_OK;
}

static pf_status parse_order(pf_parser *p, pf_summation *s)
{
  static const struct { const char *name; pf_order order; bool width; } orders[] = {
    {"any", PF_ANY_ORDER, false}, {"forward", PF_FORWARD, false}, {"backward", PF_BACKWARD, false},
    {"pairwise", PF_PAIRWISE, false}, {"blocked", PF_BLOCKED, true}, {"lanes", PF_LANES, true},
  };
  const char *word;
  const size_t length = next_word(p, &word);
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
    const size_t n = strlen(orders[i].name);
    if (length < n || memcmp(word, orders[i].name, n) || (!orders[i].width && length != n))
      continue;
    s->order = orders[i].order;
    s->width = 0;
    return orders[i].width ? parse_number(p, word + n, length - n, 1, 64, &s->width) : PF_OK;
  }
  return FAIL(p, "row: '%.*s' is no order", (int)length, word);
}

/* The options of MATMUL and MULSUM, after the semicolon. */
static pf_status parse_options(pf_parser *p, pf_step *s)
{
  bool out = false, product = false, acc = false, knob = false;
  do {
    const char *word;
    const size_t n = next_word(p, &word);
    if (word_is(word, n, "acc")) {
      TRY(parse_format(p, &s->acc.format));
      acc = true;
    } else if (word_is(word, n, "out")) {
      TRY(parse_format(p, &s->out));
      out = true;
    } else if (word_is(word, n, "product")) {
      TRY(parse_format(p, &s->acc.product));
      product = knob = true;
    } else if (word_is(word, n, "order")) {
      TRY(parse_order(p, &s->acc.sum));
    } else if (word_is(word, n, "fused") || word_is(word, n, "unfused")) {
      s->acc.sum.fused = word[0] == 'f';
    } else if (word_is(word, n, "start")) {
      const size_t m = next_word(p, &word);
      s->acc.start_c = word_is(word, m, "c");
      if (!s->acc.start_c && !word_is(word, m, "zero"))
        return FAIL(p, "row: start is zero or c");
      knob = true;
    } else if (word_is(word, n, "split") || word_is(word, n, "drop")) {
      int *to = word[0] == 's' ? &s->acc.split : &s->acc.drop;
      const size_t m = next_word(p, &word);
      TRY(parse_number(p, word, m, 0, 1 << 18, to));
      knob = true;
    } else if (word_is(word, n, "ftz_in")) {
      s->acc.ftz_in = knob = true;
    } else if (word_is(word, n, "ftz_out")) {
      s->acc.ftz_out = knob = true;
    } else {
      return FAIL(p, "row: '%.*s' is no option of a sum", (int)n, word);
    }
  } while (accept(p, ','));
  if (!acc)
    return FAIL(p, "row: acc, the format of partial sums, is missing");
  if (!out)
    s->out = s->acc.format;
  if (!product)
    s->acc.product = s->acc.format;
  if (s->acc.sum.order == PF_ANY_ORDER && (knob || s->acc.sum.fused))
    return FAIL(p, "row: only a stated order can be fused, start at c, split, drop or flush");
  if (!s->acc.format.has_infinity)
    return FAIL(p, "row: an accumulator without infinity is not covered");
  /* the bound holds for rounding to nearest, and a sum that saturated may come back from there */
  if (s->acc.sum.order == PF_ANY_ORDER && (s->acc.format.rounding == PF_TOWARD_ZERO ||
                                           s->acc.format.overflow != PF_OVERFLOW_INFINITY))
    return FAIL(p, "row: only a stated order can truncate or saturate partial sums");
  return PF_OK;
}

static pf_status check_sum(pf_parser *p, pf_step *s, bool beta)
{
  const pf_format *acc = &s->acc.format;
  if (ref_shape(p, s->a) != SHAPED_X || ref_shape(p, s->b) != SHAPED_Y)
    return FAIL(p, "row: a sum multiplies x by y (or casts of them)");
  if (s->c != beta)
    return FAIL(p, "row: c and beta go together");
  const pf_format x = ref_format(p, s->a), y = ref_format(p, s->b);
  if (acc->precision < 53 && (x.precision > 24 || y.precision > 24))
    return pf_fail(p->error, PF_UNSUPPORTED, (size_t)(p->token - p->text),
                   "f64 operands need an f64 accumulator: CAST them first");
  if (s->acc.start_c && (s->alpha || s->acc.split > 1))
    return FAIL(p, "row: start c has no place for alpha or split");
  s->c = s->c && !ref_absent(p, PF_REF_C);
  s->bias = s->bias && !ref_absent(p, PF_REF_BIAS);
  const pf_format c = s->c ? ref_format(p, PF_REF_C) : *acc;
  const pf_format bias = s->bias ? ref_format(p, PF_REF_BIAS) : *acc;
  if (!pf_format_contains(acc, &c) || !pf_format_contains(acc, &bias) ||
      (s->alpha && !scalar_is_value(acc, p->what->alpha)) ||
      (s->c && !scalar_is_value(acc, p->what->beta)))
    return pf_fail(p->error, PF_UNSUPPORTED, (size_t)(p->token - p->text),
                   "c, bias, alpha or beta is no value of the accumulator's format");
  return PF_OK;
}

static pf_status parse_sum(pf_parser *p, pf_step *s)
{
  bool beta = false;
  TRY(parse_ref(p, &s->a));
  TRY(expect(p, ','));
  TRY(parse_ref(p, &s->b));
  while (accept(p, ',')) {
    int ref;
    TRY(parse_ref(p, &ref));
    if (ref == PF_REF_ALPHA)
      s->alpha = true;
    else if (ref == PF_REF_C)
      s->c = true;
    else if (ref == PF_REF_BETA)
      beta = true;
    else if (ref == PF_REF_BIAS)
      s->bias = true;
    else
      return FAIL(p, "row: a sum takes alpha, c, beta and bias besides its operands");
  }
  TRY(expect(p, ';'));
  TRY(parse_options(p, s));
  return check_sum(p, s, beta);
}

static pf_status check_addend(pf_parser *p, const pf_step *s, int ref)
{
  if (ref == PF_REF_ALPHA || ref == PF_REF_BETA || ref_shape(p, ref) != SHAPED_OUT)
    return FAIL(p, "row: %s works on results, c and bias only",
                s->kind == PF_ADD ? "ADD" : "SCALE");
  const pf_format f = ref_format(p, ref);
  if (!pf_format_contains(&s->out, &f))
    return pf_fail(p->error, PF_UNSUPPORTED, (size_t)(p->token - p->text),
                   "an operand of %s is no value of its format: CAST it first", s->name);
  return PF_OK;
}

static pf_status parse_elementwise(pf_parser *p, pf_step *s)
{
  TRY(parse_ref(p, &s->a));
  s->b = PF_REF_NONE;
  if (s->kind != PF_CAST) {
    TRY(expect(p, ','));
    TRY(parse_ref(p, &s->b));
  }
  TRY(expect(p, ';'));
  TRY(parse_format(p, &s->out));
  if (s->kind == PF_SCALE) {
    if (s->b != PF_REF_ALPHA && s->b != PF_REF_BETA)
      return FAIL(p, "row: SCALE is by alpha or beta");
    if (!scalar_is_value(&s->out, s->b == PF_REF_ALPHA ? p->what->alpha : p->what->beta))
      return pf_fail(p->error, PF_UNSUPPORTED, (size_t)(p->token - p->text),
                     "%s is no value of the format of %s",
                     s->b == PF_REF_ALPHA ? "alpha" : "beta", s->name);
    return check_addend(p, s, s->a);
  }
  if (s->kind == PF_ADD) {
    if (ref_absent(p, s->b) || ref_absent(p, s->a)) {
      /* linear without a bias: what is left of the addition is its rounding */
      s->a = ref_absent(p, s->a) ? s->b : s->a;
      s->b = PF_REF_NONE;
      s->kind = PF_CAST;
      return check_addend(p, s, s->a);
    }
    TRY(check_addend(p, s, s->b));
    return check_addend(p, s, s->a);
  }
  if (s->a == PF_REF_ALPHA || s->a == PF_REF_BETA || ref_absent(p, s->a))
    return FAIL(p, "row: nothing there to CAST");
  return PF_OK;
}

static pf_status parse_name(pf_parser *p, pf_step *s)
{
  const char *word;
  const size_t length = next_word(p, &word);
  int other;
  if (!length || length >= sizeof s->name)
    return FAIL(p, "row: a step begins with the name of its result, such as t0 or out");
  if (ref_find(p, word, length, &other))
    return FAIL(p, "row: '%.*s' has a meaning already", (int)length, word);
  memcpy(s->name, word, length);
  s->name[length] = 0;
  return expect(p, '=');
}

static const char *const kind_names[] = {"MATMUL", "MULSUM", "CAST", "SCALE", "ADD"};

static pf_status parse_step(pf_parser *p, pf_step *s)
{
  TRY(parse_name(p, s));
  const char *word;
  const size_t length = next_word(p, &word);
  int kind = 0;
  while (kind <= PF_ADD && !word_is(word, length, kind_names[kind]))
    kind++;
  if (kind > PF_ADD)
    return FAIL(p, "row: '%.*s' is no step (MATMUL, MULSUM, CAST, SCALE, ADD)", (int)length, word);
  s->kind = (pf_step_kind)kind;
  TRY(expect(p, '('));
  TRY(s->kind <= PF_MULSUM ? parse_sum(p, s) : parse_elementwise(p, s));
  if (!pf_dtype_for(&s->out, &s->storage))
    return FAIL(p, "row: no dtype holds the values of %s", s->name);
  return expect(p, ')');
}

/* What later steps need to know of the step just parsed. */
static void note_step(pf_parser *p, int i)
{
  const pf_step *s = &p->plan->step[i];
  p->shaped[i] = s->kind == PF_CAST ? ref_shape(p, s->a) : SHAPED_OUT;
  p->value[i] = s->out;
  if (s->kind == PF_CAST) {
    const pf_format from = ref_format(p, s->a);
    p->plan->exact[i] = pf_format_contains(&s->out, &from);
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
    skip_space(&p);
    if (!*p.at)
      break;
    if (out->count == PF_MAX_STEPS)
      return FAIL(&p, "row: more than %d steps", PF_MAX_STEPS);
    TRY(parse_step(&p, &out->step[out->count]));
    note_step(&p, out->count);
    out->count++;
    accept(&p, ';');
  }
  if (!out->count || strcmp(out->step[out->count - 1].name, "out") ||
      p.shaped[out->count - 1] != SHAPED_OUT)
    return FAIL(&p, "row: the last step must be the output, named out");
  return PF_OK;
}
