/* A result as a picture: what is allowed and what came, element by element, as shares of the sum of
   magnitudes from the exact result.  Near it the scale is linear, further out logarithmic. */
#include "page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { DECADES = 10, MOST_TICS = 3 };  /* shown at most; labelled on each side */

typedef struct pf_scale_of_picture {
  double unit;     /* share of T where the scale turns from linear to logarithmic */
  double top;      /* the greatest distance shown, on the scale */
} pf_scale_of_picture;

/* Of a number from the exact result, a share of T. */
static double share_of(const pf_dot *d, double v)
{
  const double exact = isfinite(d->exact) ? d->exact : 0;
  const double t = isfinite(d->magnitude) && d->magnitude > 0 ? d->magnitude
                   : exact != 0                               ? fabs(exact)
                                                              : 1;
  const double share = v / t - exact / t;
  return isfinite(share) ? share : copysign(0x1p1000, v - exact);
}

static double place(const pf_scale_of_picture *s, double share)
{
  return copysign(log10(1 + fabs(share) / s->unit), share);
}

/* --- the scale -------------------------------------------------------------------------------- */

static void widen(double share, double *least, double *most)
{
  const double a = fabs(share);
  if (a > 0 && a < *least)
    *least = a;
  if (a > *most)
    *most = a;
}

static pf_scale_of_picture choose_scale(const pf_dot *dot, int count)
{
  pf_scale_of_picture s;
  double least = INFINITY, most = 0;
  for (int i = 0; i < count; i++) {
    const pf_dot *d = &dot[i];
    if (isfinite(d->got) && isfinite(d->exact))
      widen(share_of(d, d->got), &least, &most);
    if (pf_set_has_finite(&d->allowed) && isfinite(d->exact)) {
      widen(share_of(d, d->allowed.lo), &least, &most);
      widen(share_of(d, d->allowed.hi), &least, &most);
    }
  }
  if (most == 0)
    least = most = 1;
  s.unit = pow(10, floor(log10(fmax(least, most * pow(10, -DECADES)))));
  s.top = fmax(log10(1 + most / s.unit), 1);
  return s;
}

static void add_tic(json_t **tics, double at, const char *label)
{
  pf_json_append(tics, json_pack("[f, s]", at, label));
}

static json_t *tics_of(const pf_scale_of_picture *s)
{
  json_t *tics = json_array();
  const int first = (int)floor(log10(s->unit) + 0.5);
  const int last = first + (int)ceil(s->top), step = 1 + (last - first) / MOST_TICS;
  char label[32];
  add_tic(&tics, 0, "exact");
  for (int e = last; e > first; e -= step) {
    const double at = place(s, pow(10, e));
    if (at > 1.05 * s->top || at < 0.14 * s->top)
      continue;
    snprintf(label, sizeof label, "+1e%d", e);
    add_tic(&tics, at, label);
    label[0] = '-';
    add_tic(&tics, -at, label);
  }
  return tics;
}

/* --- marks ------------------------------------------------------------------------------------ */

/* Where infinities and NaN have a line each, behind what is finite. */
static double rail_of(const pf_scale_of_picture *s, double v)
{
  return isnan(v) ? 1.7 * s->top : copysign(1.35 * s->top, v);
}

static void add_box(json_t **boxes, const pf_dot *d, double lo, double hi, double thin)
{
  if (hi - lo < thin) {
    const double middle = lo + (hi - lo) / 2;
    lo = middle - thin / 2;
    hi = middle + thin / 2;
  }
  pf_json_append(boxes, json_pack("[f, f, f, f]", (double)d->first - 0.5, (double)d->end - 0.5, lo,
                                  hi));
}

static void add_allowed(json_t **boxes, const pf_scale_of_picture *s, const pf_dot *d)
{
  const double thin = 0.04 * s->top;
  const pf_set *a = &d->allowed;
  const bool bounded = isfinite(a->lo) && isfinite(a->hi);
  if (pf_set_has_finite(a) && bounded && isfinite(d->exact))
    add_box(boxes, d, place(s, share_of(d, a->lo)), place(s, share_of(d, a->hi)), thin);
  else if (pf_set_has_finite(a))
    add_box(boxes, d, -1.1 * s->top, 1.1 * s->top, thin);
  const double rails[] = {INFINITY, -INFINITY, NAN};
  const bool has[] = {a->plus_infinity, a->minus_infinity, a->nan};
  for (int i = 0; i < 3; i++)
    if (has[i])
      add_box(boxes, d, rail_of(s, rails[i]), rail_of(s, rails[i]), 2.5 * thin);
}

static json_t *mark_of(const pf_scale_of_picture *s, const pf_dot *d)
{
  const bool drawn = isfinite(d->got) && isfinite(d->exact);
  const double at = drawn              ? place(s, share_of(d, d->got))
                    : isfinite(d->got) ? 0
                                       : rail_of(s, d->got);
  return json_pack("[f, f]", (double)d->element, at);
}

static json_t *rails_of(const pf_scale_of_picture *s, const pf_dot *dot, int count)
{
  static const char *const names[] = {"+inf", "-inf", "NaN"};
  const double rails[] = {INFINITY, -INFINITY, NAN};
  bool used[3] = {0};
  json_t *out = json_array();
  for (int i = 0; i < count; i++) {
    const pf_dot *d = &dot[i];
    used[0] |= d->allowed.plus_infinity || (isinf(d->got) && d->got > 0);
    used[1] |= d->allowed.minus_infinity || (isinf(d->got) && d->got < 0);
    used[2] |= d->allowed.nan || isnan(d->got);
  }
  for (int i = 0; i < 3; i++)
    if (used[i])
      add_tic(&out, rail_of(s, rails[i]), names[i]);
  return out;
}

json_t *pf_picture(const pf_dot *dot, int count, int64_t elements)
{
  const pf_scale_of_picture s = choose_scale(dot, count);
  json_t *o = json_object(), *boxes = json_array(), *right = json_array(), *wrong = json_array(),
         *worst = json_null();
  for (int i = 0; i < count; i++) {
    add_allowed(&boxes, &s, &dot[i]);
    pf_json_append(dot[i].wrong ? &wrong : &right, mark_of(&s, &dot[i]));
    if (dot[i].worst) {
      json_decref(worst);
      worst = mark_of(&s, &dot[i]);
    }
  }
  pf_json_set(&o, "elements", json_integer(elements));
  pf_json_set(&o, "columns", json_integer(count));
  pf_json_set(&o, "top", json_real(s.top));
  pf_json_set(&o, "tics", tics_of(&s));
  pf_json_set(&o, "rails", rails_of(&s, dot, count));
  pf_json_set(&o, "allowed", boxes);
  pf_json_set(&o, "right", right);
  pf_json_set(&o, "wrong", wrong);
  pf_json_set(&o, "worst", worst);
  return o;
}

/* --- from a bundle ---------------------------------------------------------------------------- */

/* As pf_json_number tells a number; otherwise: where there is none. */
static double number_of(const json_t *o, const char *key, double otherwise)
{
  const json_t *n = json_object_get(o, key), *value = json_object_get(n, "value");
  const char *hex = pf_page_text(n, "hex");
  return json_is_number(value)    ? json_number_value(value)
         : !strcmp(hex, "inf")    ? INFINITY
         : !strcmp(hex, "-inf")   ? -INFINITY
         : !strcmp(hex, "nan")    ? NAN
                                  : otherwise;
}

json_t *pf_picture_of_facts(const json_t *facts)
{
  const json_t *worst = json_object_get(json_object_get(facts, "result"), "worst");
  const json_t *allowed = json_object_get(worst, "allowed");
  const int64_t element = pf_page_number(worst, "element");
  if (!json_is_object(worst) || !json_is_object(allowed) || element < 0)
    return json_null();
  const pf_dot dot = {
    .first = element, .end = element + 1, .element = element, .wrong = true, .worst = true,
    .got = number_of(worst, "got", NAN), .exact = number_of(worst, "exact", NAN),
    .magnitude = number_of(worst, "magnitude", NAN),
    .allowed = {.lo = number_of(allowed, "lo", INFINITY), .hi = number_of(allowed, "hi", -INFINITY),
                .plus_infinity = json_is_true(json_object_get(allowed, "plus_infinity")),
                .minus_infinity = json_is_true(json_object_get(allowed, "minus_infinity")),
                .nan = json_is_true(json_object_get(allowed, "nan"))}};
  return pf_picture(&dot, 1, element + 1);
}
