/* What fuzz_cast makes of bytes, and the chains it takes from the rows. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cast.h"
#include "random_source.h"

#define SEED UINT64_C(0x6361737473203031)

static pf_cast_rows rows;

static int open_rows(void **state)
{
  (void)state;
  return pf_cast_rows_collect(&rows);
}

static void decode_random(random_source *r, size_t size, pf_cast_input *out)
{
  uint8_t data[256];
  for (size_t i = 0; i < size; i++) {
    data[i] = (uint8_t)draw_bits(r);
  }
  pf_cast_decode(data, size, &rows, out);
}

static bool is_value(const pf_format *f, double x)
{
  if (!isfinite(x)) {
    return isnan(x) ? !pf_is_integer(f) : f->has_infinity;
  }
  return pf_round(f, x) == x && (x != 0 || !signbit(x) || f->has_negative_zero);
}

static void test_values_belong(void **unused)
{
  (void)unused;
  random_source r = {SEED};
  for (int i = 0; i < FEWER(100000); i++) {
    pf_cast_input in;
    decode_random(&r, (size_t)draw_below(&r, 160), &in);
    assert_true(in.chain.count >= 2 && in.chain.count <= PF_CAST_LONGEST);
    for (int v = 0; v < PF_CAST_VALUES; v++) {
      assert_true(is_value(&in.chain.format[0], in.value[v]));
    }
  }
}

/* Where f stands among all variants of all formats; `base` is the format, usual says it is that. */
static int find_format(const pf_format *f, int *base, bool *usual)
{
  int n = 0;
  for (int i = 0; i < pf_cast_pool(); i++) {
    const pf_format plain = pf_cast_format(i);
    for (int j = 0; j < pf_cast_variants(&plain); j++, n++) {
      const pf_format variant = pf_cast_variant(&plain, j);
      if (pf_format_equal(&variant, f)) {
        *base = i;
        *usual = j == 0;
        return n;
      }
    }
  }
  fail_msg("a format that is not in the pool");
  return -1;
}

static bool is_equal(const pf_cast_chain *a, const pf_cast_chain *b)
{
  bool equal = a->count == b->count;
  for (int i = 0; equal && i < a->count; i++) {
    equal = pf_format_equal(&a->format[i], &b->format[i]);
  }
  return equal;
}

/* Every pair of usual formats, every variant as a target, and every row's chain. */
static void test_everything_is_reached(void **unused)
{
  (void)unused;
  random_source r = {SEED};
  static bool pair[32][32], target[256], row[PF_CAST_ROWS];
  int pairs = 0, targets = 0, chains = 0, variants = 0;
  for (int i = 0; i < pf_cast_pool(); i++) {
    const pf_format f = pf_cast_format(i);
    variants += pf_cast_variants(&f);
  }
  for (int i = 0; i < 30000; i++) {
    pf_cast_input in;
    decode_random(&r, 12, &in);
    int a, b;
    bool from_usual, to_usual;
    find_format(&in.chain.format[0], &a, &from_usual);
    const int to = find_format(&in.chain.format[1], &b, &to_usual);
    targets += !target[to];
    target[to] = true;
    if (from_usual && to_usual) {
      pairs += !pair[a][b];
      pair[a][b] = true;
    }
    for (int j = 0; j < rows.count; j++) {
      if (!row[j] && is_equal(&rows.chain[j], &in.chain)) {
        row[j] = true;
        chains++;
      }
    }
  }
  print_message("%d pairs, %d targets, %d chains\n", pairs, targets, chains);
  assert_int_equal(pairs, pf_cast_pool() * pf_cast_pool());
  assert_int_equal(targets, variants);
  assert_int_equal(chains, rows.count);
}

/* Bytes that repeat are other values each time. */
static void test_short_input_is_rich(void **unused)
{
  (void)unused;
  random_source r = {SEED};
  for (int size = 1; size < 12; size++) {
    int different = 0;
    for (int i = 0; i < 200; i++) {
      pf_cast_input in;
      decode_random(&r, (size_t)size, &in);
      for (int a = 0; a < PF_CAST_RECORDS; a++) {
        bool seen = false;
        for (int b = 0; b < a; b++) {
          seen |= in.word[a] == in.word[b];
        }
        different += !seen;
      }
    }
    assert_int_equal(different, 200 * PF_CAST_RECORDS);
  }
}

/* How many values of a conversion lie where its answer is decided: at a midpoint, or next to one
   from where it would have been taken for one. */
static void test_midpoints_are_frequent(void **unused)
{
  (void)unused;
  random_source r = {SEED};
  int ties = 0, beside = 0, all = 0;
  while (all < 200000) {
    pf_cast_input in;
    decode_random(&r, 130, &in);
    const pf_format *from = &in.chain.format[0], *to = &in.chain.format[1];
    if (to->rounding != PF_NEAREST_EVEN || from->precision < to->precision + 4) {
      continue;
    }
    for (int v = 0; v < PF_CAST_VALUES; v++, all++) {
      const double x = in.value[v];
      pf_format inner = *to, wide = *to;
      inner.rounding = PF_TOWARD_ZERO;
      wide.precision += 2;
      const double in_steps = fabs(x - pf_round(&inner, x)) / pf_ulp(to, x);
      ties += in_steps == 0.5;
      beside += in_steps != 0.5 && fabs(in_steps - 0.5) < 0.01;
    }
  }
  print_message("of %d values %d are ties, %d lie next to one\n", all, ties, beside);
  assert_true(ties > all / 20 && beside > all / 12);
}

static bool rows_have(const char *text)
{
  for (int i = 0; i < rows.count; i++) {
    char chain[PF_CAST_TEXT];
    pf_cast_chain_print(&rows.chain[i], chain, sizeof chain);
    if (!strcmp(chain, text)) {
      return true;
    }
  }
  return false;
}

static void test_rows(void **unused)
{
  (void)unused;
  assert_true(rows.count > 100);
  assert_true(rows_have("f32 > bf16 > f32"));
  assert_true(rows_have("f32 > f8_e5m2 > f32"));       /* aot_eager of matmul_out_f32_add */
  assert_true(rows_have("f32 > bf16 > f32 > f64"));    /* the same, with an f64 bias */
  assert_true(rows_have("f16 > bf16 > f32"));          /* an operand of eager_bf16 */
  assert_true(rows_have("f32 > tf32 > f32"));          /* an operand of eager_tf32 */
  assert_true(rows_have("f32 > bf16 > f32 > bf16"));   /* addmm as printed */
  assert_true(rows_have("s32 > f32 > f8_e4m3fn"));     /* integers scaled into fp8 */
  for (int i = 0; i < rows.count; i++) {
    assert_true(rows.chain[i].count > 2);
    for (int j = 0; j < i; j++) {
      assert_false(is_equal(&rows.chain[i], &rows.chain[j]));
    }
  }
}

int main(void)
{
  printf("seed 0x%" PRIx64 "\n", SEED);
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_values_belong),       cmocka_unit_test(test_everything_is_reached),
    cmocka_unit_test(test_short_input_is_rich), cmocka_unit_test(test_midpoints_are_frequent),
    cmocka_unit_test(test_rows),
  };
  return cmocka_run_group_tests(tests, open_rows, NULL);
}
