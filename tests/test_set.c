/* Sets against all of their members: whatever a member may become lies in the image, and nothing
   else does: the ends and each of the infinities and NaN are somebody's image.

   The formats hold few enough numbers to list, and the members lie on a grid finer and wider.
   Planted and seen: the ends not swapped under a negative factor, an overflowing end that takes the
   finite part with it (on one side, and on both where overflow gives NaN), infinity plus infinity
   of the other sign or plus a number left out, a forgotten NaN. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "random_source.h"
#include "set.h"

static const uint64_t SEED = 0x7365743131;

enum { MOST_MEMBERS = 256 };

typedef struct members {
  int count;
  double value[MOST_MEMBERS];
} members;

static pf_format small_format(int precision, int emin, double max)
{
  return (pf_format){.precision = precision, .emin = emin, .max = max, .has_infinity = true,
                     .has_negative_zero = true};
}

/* Every rounding with every policy of overflow. */
enum { FORMATS = 12 };

static pf_format format_number(int i)
{
  pf_format f = small_format(3, -1, 7);
  f.rounding = (pf_rounding)(i % 3);
  f.overflow = i / 3 == 0 ? PF_OVERFLOW_INFINITY
               : i / 3 == 1 ? PF_OVERFLOW_NAN : PF_OVERFLOW_SATURATE;
  f.has_infinity = i / 3 == 0 || i / 3 == 3;
  f.has_negative_zero = f.has_infinity;
  return f;
}

/* Past the largest number and below the smallest one, in steps that miss nobody's share of it. */
static members make_grid(void)
{
  members g = {0};
  for (double v = -12; v <= 12; v += fabs(v + 0.03125) < 1 ? 0.0625 : 0.25)
    g.value[g.count++] = v;
  return g;
}

static pf_set make_set(const members *grid, int low, int high, int flags)
{
  pf_set s = pf_set_empty();
  if (low <= high) {
    s.lo = grid->value[low];
    s.hi = grid->value[high];
  }
  s.plus_infinity = flags & 1;
  s.minus_infinity = flags & 2;
  s.nan = flags & 4;
  return s;
}

static members members_of(const members *grid, const pf_set *s)
{
  members m = {0};
  for (int i = 0; i < grid->count; i++)
    if (grid->value[i] >= s->lo && grid->value[i] <= s->hi)
      m.value[m.count++] = grid->value[i];
  if (s->plus_infinity)
    m.value[m.count++] = (double)INFINITY;
  if (s->minus_infinity)
    m.value[m.count++] = -(double)INFINITY;
  if (s->nan)
    m.value[m.count++] = (double)NAN;
  return m;
}

static void gather(pf_set *s, double v)
{
  s->nan |= isnan(v);
  s->plus_infinity |= isinf(v) && v > 0;
  s->minus_infinity |= isinf(v) && v < 0;
  if (isfinite(v)) {
    s->lo = fmin(s->lo, v);
    s->hi = fmax(s->hi, v);
  }
}

static void assert_image(const char *what, const pf_format *f, const pf_set *from,
                         const pf_set *got, const pf_set *expected)
{
  char in[200], out[200], brute[200];
  if (pf_set_equal(got, expected))
    return;
  pf_set_print(from, in, sizeof in);
  pf_set_print(got, out, sizeof out);
  pf_set_print(expected, brute, sizeof brute);
  fail_msg("%s, rounding %d, overflow %d, infinity %d: %s becomes %s, but its members %s", what,
           f->rounding, f->overflow, f->has_infinity, in, out, brute);
}

/* --- images -------------------------------------------------------------------------------- */

static void check_round(const pf_format *f, const members *grid, const pf_set *s)
{
  const members m = members_of(grid, s);
  pf_set expected = pf_set_empty();
  for (int i = 0; i < m.count; i++)
    gather(&expected, pf_round(f, m.value[i]));
  const pf_set got = pf_set_round(f, s);
  assert_image("rounded", f, s, &got, &expected);
}

static void check_scale(const pf_format *f, const members *grid, const pf_set *s, double factor)
{
  const members m = members_of(grid, s);
  pf_set expected = pf_set_empty();
  for (int i = 0; i < m.count; i++)
    gather(&expected, pf_round_product(f, factor, m.value[i]));
  const pf_set got = pf_set_scale(f, s, factor);
  assert_image("scaled", f, s, &got, &expected);
}

/* Every interval of the grid, the empty one too, with every combination of the rest. */
static void rounding_and_scaling(void **state)
{
  (void)state;
  static const double factors[] = {0, 1, -1, 0.5, -2, 1.75, -0.25, 4};
  const members grid = make_grid();
  for (int i = 0; i < FORMATS; i++) {
    const pf_format f = format_number(i);
    for (int low = 0; low < grid.count; low++)
      for (int high = low ? low : -1; high < grid.count; high++) {
        const pf_set s = make_set(&grid, low, high, (low + high) & 7);
        check_round(&f, &grid, &s);
        check_scale(&f, &grid, &s, factors[(low * 31 + high + 8) % 8]);
      }
  }
}

static pf_set random_set(random_source *r, const members *grid)
{
  const int low = draw_below(r, grid->count);
  const int any = draw_below(r, grid->count);
  const int near = low + any % 16 < grid->count ? low + any % 16 : low;
  const int high = draw_below(r, 5) ? near : any;
  return make_set(grid, low, high, draw_below(r, 2) ? 0 : draw_below(r, 8));
}

static void sums(void **state)
{
  (void)state;
  random_source r = {SEED};
  const members grid = make_grid();
  for (int n = 0; n < FEWER(20000); n++) {
    const pf_format f = format_number(n % FORMATS);
    const pf_set a = random_set(&r, &grid), b = random_set(&r, &grid);
    const members left = members_of(&grid, &a), right = members_of(&grid, &b);
    pf_set expected = pf_set_empty();
    for (int i = 0; i < left.count; i++)
      for (int j = 0; j < right.count; j++)
        gather(&expected, pf_round_sum(&f, left.value[i], right.value[j]));
    /* NaN needs no partner: with the empty set nothing can be added to anything */
    if (left.count && right.count) {
      const pf_set got = pf_set_add(&f, &a, &b);
      assert_image("added", &f, &a, &got, &expected);
    }
  }
}

/* --- questions ----------------------------------------------------------------------------- */

static bool holds(const members *m, double v)
{
  for (int i = 0; i < m->count; i++)
    if (m->value[i] == v || (isnan(v) && isnan(m->value[i])))
      return true;
  return false;
}

static int classes(const members *m)
{
  int finite = 0, other = 0;
  for (int i = 0; i < m->count; i++)
    *(isfinite(m->value[i]) ? &finite : &other) += 1;
  return (finite > 0) + other;
}

static void questions_are_answered_by_the_members(void **state)
{
  (void)state;
  random_source r = {SEED};
  const members grid = make_grid();
  const pf_set everything = make_set(&grid, 0, grid.count - 1, 7);
  const members all = members_of(&grid, &everything);
  for (int n = 0; n < FEWER(20000); n++) {
    const pf_set a = random_set(&r, &grid);
    const pf_set b = draw_below(&r, 4) ? random_set(&r, &grid) : a;
    const members left = members_of(&grid, &a), right = members_of(&grid, &b);
    bool common = false, equal = true;
    for (int i = 0; i < all.count; i++) {
      const bool in_a = holds(&left, all.value[i]), in_b = holds(&right, all.value[i]);
      assert_int_equal(pf_set_allows(&a, all.value[i]), in_a);
      common |= in_a && in_b;
      equal &= in_a == in_b;
    }
    assert_int_equal(pf_set_overlap(&a, &b), common);
    assert_int_equal(pf_set_equal(&a, &b), equal);
    assert_int_equal(pf_set_is_open(&a), classes(&left) > 1);
  }
}

static void a_point_is_its_value(void **state)
{
  (void)state;
  static const double values[] = {0, -0.0, 1.5, -3, INFINITY, -INFINITY, NAN};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    const pf_set p = pf_set_point(values[i]);
    assert_false(pf_set_is_open(&p));
    for (size_t j = 0; j < sizeof values / sizeof *values; j++)
      assert_int_equal(pf_set_allows(&p, values[j]),
                       values[i] == values[j] || (isnan(values[i]) && isnan(values[j])));
  }
  const pf_set none = pf_set_empty();
  assert_false(pf_set_has_finite(&none));
}

static void printing_fits_any_buffer(void **state)
{
  (void)state;
  const pf_set s = {-1, 2, true, true, true};
  char whole[200], part[200];
  pf_set_print(&s, whole, sizeof whole);
  assert_string_equal(whole, "[-1, 2] ([-0x1p+0, 0x1p+1]) or +inf or -inf or NaN");
  for (size_t size = 1; size < sizeof part; size++) {
    part[size] = '#';
    pf_set_print(&s, part, size);
    assert_memory_equal(part, whole, strlen(part));
    assert_true(strlen(part) < size);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(rounding_and_scaling),
    cmocka_unit_test(sums),
    cmocka_unit_test(questions_are_answered_by_the_members),
    cmocka_unit_test(a_point_is_its_value),
    cmocka_unit_test(printing_fits_any_buffer),
  };
  return cmocka_run_group_tests_name("set", tests, NULL, NULL);
}
