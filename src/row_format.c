/* Formats as rows write them: names, what the case decides, and ways to round behind slashes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "row_parser.h"

/* A sum of integers is exact in s32, and needs no float to be kept in. */
static pf_dtype with_f32(pf_dtype t)
{
  return pf_is_integer(pf_format_of(t)) ? t : pf_promote(t, PF_F32);
}

/* An s32 beside a float: f32 would not hold it. */
static bool mixes_s32(const pf_case *c)
{
  const pf_dtype x = c->operand[PF_X].dtype, y = c->operand[PF_Y].dtype;
  return (x == PF_S32 || y == PF_S32) && !pf_is_integer(pf_format_of(pf_case_in(c)));
}

static bool symbol_find(const pf_case *c, const char *word, size_t length, pf_dtype *out)
{
  const bool wide = length > 4 && !memcmp(word + length - 4, "+f32", 4);
  const size_t base = wide ? length - 4 : length;
  if (pf_row_word_is(word, base, "in"))
    *out = pf_case_in(c);
  else if (pf_row_word_is(word, base, "result"))
    *out = pf_case_result(c);
  else if (!pf_dtype_find(word, base, out))
    return false;
  if (wide)
    *out = pf_row_word_is(word, base, "in") && mixes_s32(c) ? PF_F64 : with_f32(*out);
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

static bool named_format(const pf_case *c, const char *word, size_t length, pf_format *out)
{
  pf_dtype t;
  if (pf_row_word_is(word, length, "tf32")) {
    *out = pf_tf32;
    return true;
  }
  if (symbol_find(c, word, length, &t)) {
    *out = *pf_format_of(t);
    return true;
  }
  return custom_format(word, length, out);
}

/* One of the ways to round; NULL, or what speaks against it. */
static const char *turn_knob(pf_format *f, const char *knob, size_t length)
{
  if (f->precision > 51)
    return "f64 rounds to nearest even only";
  if (pf_row_word_is(knob, length, "rz"))
    f->rounding = PF_TOWARD_ZERO;
  else if (pf_row_word_is(knob, length, "rna"))
    f->rounding = PF_NEAREST_AWAY;
  else if (pf_row_word_is(knob, length, "sat"))
    f->overflow = PF_OVERFLOW_SATURATE;
  else if (pf_row_word_is(knob, length, "nan") && !pf_is_integer(f))
    f->overflow = PF_OVERFLOW_NAN;
  else if (pf_row_word_is(knob, length, "inf") && f->has_infinity)
    f->overflow = PF_OVERFLOW_INFINITY;
  else
    return "is no way to round it (rz, rna; sat; nan, of floats; inf, where there is infinity)";
  return NULL;
}

pf_status pf_format_parse(const char *word, size_t length, const pf_case *c, pf_format *out,
                          pf_error *e)
{
  const char *slash = length ? memchr(word, '/', length) : NULL;
  size_t base = slash ? (size_t)(slash - word) : length;
  if (!length)
    return pf_fail(e, PF_BAD_INPUT, 0, "row: a format expected");
  if (!named_format(c, word, base, out))
    return pf_fail(e, PF_BAD_INPUT, 0, "row: '%.*s' is no format", (int)length, word);
  while (base < length) {
    const char *knob = word + base + 1;
    const char *next = memchr(knob, '/', length - base - 1);
    const size_t n = next ? (size_t)(next - knob) : length - base - 1;
    const char *why = turn_knob(out, knob, n);
    if (why)
      return pf_fail(e, PF_BAD_INPUT, 0, "row: '%.*s': %s", (int)n, knob, why);
    base += n + 1;
  }
  return PF_OK;
}

/* The way f overflows says nothing about its name. */
static bool same_values(const pf_format *f, const pf_format *named)
{
  pf_format plain = *f;
  plain.rounding = named->rounding;
  plain.overflow = named->overflow;
  return pf_format_equal(&plain, named);
}

/* The name of f's values, and how a format of that name overflows. */
static pf_overflow print_name(const pf_format *f, char *to, size_t size)
{
  for (int t = 0; t < PF_DTYPE_COUNT; t++) {
    const pf_format *named = pf_format_of((pf_dtype)t);
    if (same_values(f, named)) {
      snprintf(to, size, "%s", pf_dtype_of((pf_dtype)t)->name);
      return named->overflow;
    }
  }
  if (same_values(f, &pf_tf32))
    snprintf(to, size, "tf32");
  else
    snprintf(to, size, "p%d:%d:%a", f->precision, f->emin, f->max);
  return PF_OVERFLOW_INFINITY;
}

void pf_format_print(const pf_format *f, char *to, size_t size)
{
  static const char *const roundings[] = {"", "/rna", "/rz"};
  static const char *const overflows[] = {"/inf", "/sat", "/nan", "/wrap"};
  const pf_overflow usual = print_name(f, to, size);
  const size_t n = strlen(to);
  snprintf(to + n, size - n, "%s%s", roundings[f->rounding],
           f->overflow == usual ? "" : overflows[f->overflow]);
}
