/* MATMUL and MULSUM as rows write them: what is summed, in which accumulator, in which order. */
#include "row_parser.h"

#include <stdlib.h>
#include <string.h>

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
  const size_t length = pf_row_word(p, &word);
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

/* In a stated order every accumulator is replayed; in an open one the result must be enclosed. */
static pf_status check_accumulator(const pf_parser *p, const pf_accumulator *a)
{
  if (pf_is_integer(&a->format) != pf_is_integer(&a->product))
    return FAIL(p, "row: products of integers are kept in integers, and no others");
  if (a->sum.order != PF_ANY_ORDER)
    return PF_OK;
  if (!pf_is_integer(&a->format) && !a->format.has_infinity)
    return UNSUPPORTED(p, "an accumulator without infinity needs a stated order");
  /* the bound holds for rounding to nearest, and a sum that saturated may come back from there */
  const pf_overflow wanted =
      pf_is_integer(&a->format) ? PF_OVERFLOW_WRAP : PF_OVERFLOW_INFINITY;
  if (a->format.rounding == PF_TOWARD_ZERO || a->format.overflow != wanted)
    return FAIL(p, "row: only a stated order can truncate or saturate partial sums");
  return PF_OK;
}

/* The options of MATMUL and MULSUM, after the semicolon. */
static pf_status parse_options(pf_parser *p, pf_step *s)
{
  bool out = false, product = false, acc = false, knob = false;
  do {
    const char *word;
    const size_t n = pf_row_word(p, &word);
    if (pf_row_word_is(word, n, "acc")) {
      PF_TRY(pf_row_format(p, &s->acc.format));
      acc = true;
    } else if (pf_row_word_is(word, n, "out")) {
      PF_TRY(pf_row_format(p, &s->out));
      out = true;
    } else if (pf_row_word_is(word, n, "product")) {
      PF_TRY(pf_row_format(p, &s->acc.product));
      product = knob = true;
    } else if (pf_row_word_is(word, n, "order")) {
      PF_TRY(parse_order(p, &s->acc.sum));
    } else if (pf_row_word_is(word, n, "fused") || pf_row_word_is(word, n, "unfused")) {
      s->acc.sum.fused = word[0] == 'f';
    } else if (pf_row_word_is(word, n, "start")) {
      const size_t m = pf_row_word(p, &word);
      s->acc.start_c = pf_row_word_is(word, m, "c");
      if (!s->acc.start_c && !pf_row_word_is(word, m, "zero"))
        return FAIL(p, "row: start is zero or c");
      knob = true;
    } else if (pf_row_word_is(word, n, "split") || pf_row_word_is(word, n, "drop")) {
      int *to = word[0] == 's' ? &s->acc.split : &s->acc.drop;
      const size_t m = pf_row_word(p, &word);
      PF_TRY(parse_number(p, word, m, 0, 1 << 18, to));
      knob = true;
    } else if (pf_row_word_is(word, n, "ftz_in")) {
      s->acc.ftz_in = knob = true;
    } else if (pf_row_word_is(word, n, "ftz_out")) {
      s->acc.ftz_out = knob = true;
    } else {
      return FAIL(p, "row: '%.*s' is no option of a sum", (int)n, word);
    }
  } while (pf_row_accept(p, ','));
  if (!acc)
    return FAIL(p, "row: acc, the format of partial sums, is missing");
  s->out = out ? pf_conversion(&s->out, &s->acc.format) : s->acc.format;
  if (!product)
    s->acc.product = s->acc.format;
  if (s->acc.split == 1)
    s->acc.split = 0;  /* one part is all of it */
  if (s->acc.sum.order == PF_ANY_ORDER && (knob || s->acc.sum.fused))
    return FAIL(p, "row: only a stated order can be fused, start at c, split, drop or flush");
  return check_accumulator(p, &s->acc);
}

static pf_status check_sum(pf_parser *p, pf_step *s, bool beta)
{
  const pf_format *acc = &s->acc.format;
  if (pf_row_ref_shape(p, s->a) != SHAPED_X || pf_row_ref_shape(p, s->b) != SHAPED_Y)
    return FAIL(p, "row: a sum multiplies x by y (or casts of them)");
  if (s->c != beta)
    return FAIL(p, "row: c and beta go together");
  const pf_format x = pf_row_ref_format(p, s->a), y = pf_row_ref_format(p, s->b);
  if (pf_is_integer(acc) && (!pf_is_integer(&x) || !pf_is_integer(&y)))
    return UNSUPPORTED(p, "an integer accumulator needs integer operands");
  if (!pf_is_integer(acc) && acc->precision < 53 && (x.precision > 24 || y.precision > 24))
    return UNSUPPORTED(p, "f64 and s32 operands need an f64 accumulator: CAST them first");
  if (s->acc.start_c && (s->alpha || s->acc.split > 1))
    return FAIL(p, "row: start c has no place for alpha or split");
  s->c = s->c && !pf_row_ref_absent(p, PF_REF_C);
  s->bias = s->bias && !pf_row_ref_absent(p, PF_REF_BIAS);
  const pf_format c = s->c ? pf_row_ref_format(p, PF_REF_C) : *acc;
  const pf_format bias = s->bias ? pf_row_ref_format(p, PF_REF_BIAS) : *acc;
  if (!pf_format_contains(acc, &c) || !pf_format_contains(acc, &bias) ||
      (s->alpha && !pf_row_holds(acc, p->what->alpha)) ||
      (s->c && !pf_row_holds(acc, p->what->beta)))
    return UNSUPPORTED(p, "c, bias, alpha or beta is no value of the accumulator's format");
  return PF_OK;
}

pf_status pf_row_sum(pf_parser *p, pf_step *s)
{
  bool beta = false;
  PF_TRY(pf_row_ref(p, &s->a));
  PF_TRY(pf_row_expect(p, ','));
  PF_TRY(pf_row_ref(p, &s->b));
  while (pf_row_accept(p, ',')) {
    int ref;
    PF_TRY(pf_row_ref(p, &ref));
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
  PF_TRY(pf_row_expect(p, ';'));
  PF_TRY(parse_options(p, s));
  return check_sum(p, s, beta);
}
