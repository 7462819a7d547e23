/* Rules as text, and what the familiar ones allow.

   Claim: for torch, abs and rel the interval given holds exactly the doubles that satisfy the
   inequality over the reals: the oracle computes v (1 -+ rel) -+ abs with one rounding, inwards.
   Both ends are monotone in v, since rel < 1; those of ulp:N are, since rounding, pred and succ
   are.

   The sums of squares carry a scale, as in the reference BLAS's nrm2, so that they neither overflow
   nor vanish. */
#include "rule.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_reference.h"
#include "special.h"

/* --- text ---------------------------------------------------------------------------------- */

/* Those without numbers. */
static const struct {
  const char *name;
  pf_rule_kind kind;
} words[] = {{"contract", PF_RULE_CONTRACT},
             {"graph", PF_RULE_GRAPH},
             {"agree", PF_RULE_AGREE},
             {"torch", PF_RULE_TORCH}};

/* Moves *at behind `key` if it begins there. */
static bool take(const char **at, const char *key)
{
  const size_t n = strlen(key);
  if (strncmp(*at, key, n))
    return false;
  *at += n;
  return true;
}

/* strtod takes signs, spaces, "inf" and "nan" as well: no tolerance begins so. */
static bool take_number(const char **at, double *out)
{
  char *end;
  if (!isdigit((unsigned char)**at) && **at != '.')
    return false;
  *out = strtod(*at, &end);
  const bool ok = end != *at && isfinite(*out);
  *at = end;
  return ok;
}

static pf_status parse_ulps(const char *text, const char *at, pf_rule *out, pf_error *e)
{
  const size_t digits = strspn(at, "0123456789");
  out->kind = PF_RULE_ULP;
  out->ulps = digits && digits < 9 ? atol(at) : -1;
  if (out->ulps >= 0 && out->ulps <= PF_MAX_ULPS && !at[digits])
    return PF_OK;
  return pf_fail(e, PF_BAD_INPUT, (size_t)(at - text), "ulp: takes a whole number up to %d",
                 PF_MAX_ULPS);
}

static pf_status parse_nmse(const char *text, const char *at, pf_rule *out, pf_error *e)
{
  const char *end = at;
  out->kind = PF_RULE_NMSE;
  if (take_number(&end, &out->nmse) && !*end)
    return PF_OK;
  return pf_fail(e, PF_BAD_INPUT, (size_t)(at - text), "nmse: takes a number");
}

/* abs:X, rel:Y or both, in any order. */
static pf_status parse_close(const char *text, pf_rule *out, pf_error *e)
{
  bool given[2] = {false};
  out->kind = PF_RULE_CLOSE;
  for (const char *at = text;; at++) {
    const char *const word = at;
    const bool rel = !take(&at, "abs:");
    if ((rel && !take(&at, "rel:")) || given[rel])
      return pf_fail(e, PF_BAD_INPUT, (size_t)(word - text), "abs:X and rel:Y are given once each");
    given[rel] = true;
    const char *const number = at;
    if (!take_number(&at, rel ? &out->rel : &out->abs) || (*at && *at != ','))
      return pf_fail(e, PF_BAD_INPUT, (size_t)(number - text), "%s takes a number",
                     rel ? "rel:" : "abs:");
    if (rel && out->rel >= 1)
      return pf_fail(e, PF_BAD_INPUT, (size_t)(number - text), "rel: is below 1");
    if (!*at)
      return PF_OK;
  }
}

pf_status pf_rule_parse(const char *text, pf_rule *out, pf_error *e)
{
  const char *at = text;
  *out = (pf_rule){.kind = PF_RULE_CONTRACT};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(words[i].name, text)) {
      out->kind = words[i].kind;
      return PF_OK;
    }
  if (take(&at, "ulp:"))
    return parse_ulps(text, at, out, e);
  if (take(&at, "nmse:"))
    return parse_nmse(text, at, out, e);
  if (!strncmp(text, "abs:", 4) || !strncmp(text, "rel:", 4))
    return parse_close(text, out, e);
  return pf_fail(e, PF_BAD_INPUT, 0,
                 "no rule is called '%s' (contract, graph, agree, torch, ulp:N, abs:X,rel:Y, "
                 "nmse:X)", text);
}

/* The shortest decimal that reads as v. */
static void print_number(double v, char to[32])
{
  for (int digits = 1; digits <= DBL_DECIMAL_DIG; digits++) {
    snprintf(to, 32, "%.*g", digits, v);
    if (strtod(to, NULL) == v)
      return;
  }
}

void pf_rule_print(const pf_rule *r, char *to, size_t size)
{
  char first[32], second[32];
  switch (r->kind) {
  case PF_RULE_ULP:
    snprintf(to, size, "ulp:%lld", (long long)r->ulps);
    return;
  case PF_RULE_NMSE:
    print_number(r->nmse, first);
    snprintf(to, size, "nmse:%s", first);
    return;
  case PF_RULE_CLOSE:
    print_number(r->abs, first);
    print_number(r->rel, second);
    if (r->abs != 0 && r->rel != 0)
      snprintf(to, size, "abs:%s,rel:%s", first, second);
    else
      snprintf(to, size, "%s:%s", r->rel != 0 ? "rel" : "abs", r->rel != 0 ? second : first);
    return;
  default:
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
      if (words[i].kind == r->kind)
        snprintf(to, size, "%s", words[i].name);
  }
}

bool pf_rule_is_familiar(const pf_rule *r)
{
  return r->kind >= PF_RULE_TORCH;
}

const char *pf_rule_blind_spot(const pf_rule *r)
{
  switch (r->kind) {
  case PF_RULE_TORCH:
    return "one width for any K: passes truncated bf16 outputs, rejects correct sums that cancel";
  case PF_RULE_ULP:
    return "knows no terms: rejects correct sums that cancel; for N > 0 passes wrong roundings";
  case PF_RULE_CLOSE:
    return "one width for any K: rejects correct sums that cancel, may pass wrong roundings";
  case PF_RULE_NMSE:
    return "one number for a tensor: passes single wrong elements, and a wrong rounding of all";
  default: return NULL;
  }
}

/* --- what is allowed ----------------------------------------------------------------------- */

pf_tolerance pf_torch_tolerance(pf_dtype out)
{
  switch (out) {
  case PF_F64: return (pf_tolerance){1e-7, 1e-7};
  case PF_F32: return (pf_tolerance){1e-5, 1.3e-6};
  case PF_F16: return (pf_tolerance){1e-5, 1e-3};
  case PF_BF16: return (pf_tolerance){1e-5, 1.6e-2};
  default: return (pf_tolerance){0, 0};
  }
}

static pf_set close_to(const pf_oracle *oracle, const pf_format *f, double abs, double rel)
{
  const double nearest = oracle->nearest(oracle->state, f);
  pf_set s = isfinite(nearest) ? pf_set_empty() : pf_set_point(nearest);
  oracle->within(oracle->state, abs, rel, &s.lo, &s.hi);
  return s;
}

static pf_set steps_around(const pf_oracle *oracle, const pf_format *f, int64_t steps)
{
  const double nearest = oracle->nearest(oracle->state, f);
  if (isnan(nearest))
    return pf_set_point(nearest);
  pf_set s = {.lo = nearest, .hi = nearest};
  for (int64_t i = 0; i < steps && s.hi != INFINITY; i++)
    s.hi = pf_next_up(f, s.hi);
  for (int64_t i = 0; i < steps && s.lo != -INFINITY; i++)
    s.lo = pf_next_down(f, s.lo);
  s.plus_infinity = s.hi == INFINITY;
  s.minus_infinity = s.lo == -INFINITY;
  s.hi = fmin(s.hi, f->max);  /* lo stays above it where infinity alone is allowed */
  s.lo = fmax(s.lo, -DBL_MAX);
  return s;
}

/* Any finite number, and the infinity that v rounds to: nmse looks at them together. */
static pf_set anything(const pf_oracle *oracle, const pf_format *f)
{
  const double nearest = oracle->nearest(oracle->state, f);
  return isinf(nearest) ? pf_set_point(nearest) : (pf_set){.lo = -INFINITY, .hi = INFINITY};
}

static pf_set allowed_set(const pf_rule *r, const pf_step *last, const pf_oracle *oracle)
{
  const pf_tolerance torch = pf_torch_tolerance(last->storage);
  switch (r->kind) {
  case PF_RULE_ULP: return steps_around(oracle, &last->out, r->ulps);
  case PF_RULE_CLOSE: return close_to(oracle, &last->out, r->abs, r->rel);
  case PF_RULE_NMSE: return anything(oracle, &last->out);
  default: break;
  }
  /* what is to be equal is equal to the expected tensor, which has the output's dtype */
  return torch.abs == 0 && torch.rel == 0 ? steps_around(oracle, &last->out, 0)
                                          : close_to(oracle, &last->out, torch.abs, torch.rel);
}

pf_enclosure pf_rule_allows(const pf_rule *r, const pf_step *last, const pf_oracle *oracle)
{
  pf_enclosure e = {.set = allowed_set(r, last, oracle)};
  e.set.nan &= r->kind != PF_RULE_TORCH && r->kind != PF_RULE_NMSE;
  if (r->kind == PF_RULE_NMSE)
    e.radius = INFINITY;
  else if (pf_set_has_finite(&e.set))
    e.radius = fmax(oracle->distance(oracle->state, e.set.lo),
                    oracle->distance(oracle->state, e.set.hi));
  return e;
}

/* v of an element that follows no sum, rounded to the output's format where it is infinite. */
static pf_set special_set(const pf_rule *r, const pf_problem *p, const pf_step *last,
                          const pf_set *finite, int64_t element)
{
  const pf_step graph = {.kind = PF_MATMUL, .alpha = true, .c = p->has_c, .bias = p->has_bias};
  const pf_sum sum = pf_step_terms(p, &graph, p->x_scaled, p->y_scaled, element);
  const pf_bound exact = {.exact = true};
  pf_set s = pf_special_set(&sum, pf_format_of(PF_F64), &exact, NULL, finite);
  if (!pf_set_has_finite(&s))
    s = pf_set_round(&last->out, &s);
  s.nan &= r->kind != PF_RULE_TORCH && r->kind != PF_RULE_NMSE;
  return s;
}

pf_enclosure pf_rule_enclose(const pf_rule *r, const pf_problem *p, const pf_step *last,
                             pf_encloser *e, const pf_oracle *oracle, int64_t element)
{
  bool special;
  pf_exact(e, element, &special);
  pf_enclosure allowed = pf_rule_allows(r, last, oracle);
  if (special)
    allowed.set = special_set(r, p, last, &allowed.set, element);
  return allowed;
}

/* --- nmse ---------------------------------------------------------------------------------- */

static void add_square(pf_squares *s, double x)
{
  x = fabs(x);
  if (x > s->scale) {
    const double ratio = s->scale / x;
    s->sum = 1 + s->sum * ratio * ratio;
    s->scale = x;
  } else if (s->scale > 0) {
    const double ratio = x / s->scale;
    s->sum += ratio * ratio;
  }
}

void pf_nmse_add(pf_nmse *n, double error, double value)
{
  if (!isfinite(error) || !isfinite(value))
    return;
  add_square(&n->error, error);
  add_square(&n->value, value);
}

double pf_nmse_of(const pf_nmse *n)
{
  if (n->error.sum == 0)
    return 0;
  if (n->value.sum == 0)
    return INFINITY;
  const double ratio = n->error.scale / n->value.scale;
  return ratio * ratio * (n->error.sum / n->value.sum);
}
