/* Scales: what a case may say of them, in all three forms, and what values they have.  Expected
   numbers are worked out here, from the definition. */
#include "case_checks.h"

#include <inttypes.h>
#include <math.h>

#include "form_archive.h"
#include "form_fuzz_head.h"
#include "problem.h"

#define CASE "scaled_matmul x=f8_e4m3fn[2,5] y=f8_e5m2[5,3] "
#define BATCHES "scaled_matmul x=bf16[4,1,2,5] y=s8[3,5,3] "

/* --- values -------------------------------------------------------------------------------- */

static void values_are_what_the_seed_says(void **unused)
{
  (void)unused;
  int exponents[17] = {0}, different = 0;
  for (int64_t i = 0; i < 4000; i++) {
    const pf_scale ones = {.kind = PF_SCALE_ROW}, even = {.kind = PF_SCALE_ROW, .seed = 6},
                   odd = {.kind = PF_SCALE_ROW, .seed = 7};
    int e;
    assert_true(pf_scale_value(&ones, true, i) == 1 && pf_scale_value(&ones, false, i) == 1);
    const double power = (double)pf_scale_value(&even, i & 1, i);
    const double any = (double)pf_scale_value(&odd, true, i);
    assert_true(frexp(power, &e) == 0.5 && e >= -7 && e <= 9);
    exponents[e + 7]++;
    assert_true(any >= 0x1p-8 && any < 0x1p9);
    different += any != (double)pf_scale_value(&odd, false, i);
  }
  for (int i = 0; i < 17; i++)
    assert_true(exponents[i] > 150);
  assert_true(different > 3900);  /* x and y do not share theirs */
}

/* Part of the meaning of archived cases. */
static void values_stay(void **unused)
{
  (void)unused;
  uint64_t hash = 0;
  for (uint32_t seed = 0; seed < 50; seed++)
    for (int64_t i = 0; i < 50; i++) {
      const pf_scale s = {.kind = PF_SCALE_BLOCK, .seed = seed * 0x01000193};
      const float v = pf_scale_value(&s, i & 1, i);
      uint32_t bits;
      memcpy(&bits, &v, sizeof bits);
      hash = pf_hash(hash ^ bits);
    }
  print_message("hash %016" PRIx64 "\n", hash);
  assert_true(hash == UINT64_C(0x473a497bdb8bc02d));
}

/* --- the case ------------------------------------------------------------------------------ */

static const struct { const char *line; int64_t x, y; } counts[] = {
  {CASE, 0, 0},
  {CASE "x.scale=tensor:1 y.scale=row:1", 1, 3},
  {CASE "x.scale=row:1 y.scale=block2:1", 2, 9},
  {CASE "x.scale=block5:1 y.scale=block1:1", 2, 15},
  {CASE "x.scale=block1024:1 y.scale=tensor:1", 2, 1},
  {BATCHES "x.scale=row:1 y.scale=row:1", 8, 9},
  {BATCHES "x.scale=block4:1 y.scale=block3:1", 16, 18},
  {"scaled_matmul x=f16[5] y=f16[5] x.scale=row:1 y.scale=block2:1", 1, 3},
  {"scaled_matmul x=f16[2,0] y=f16[0,3] x.scale=row:1 y.scale=block2:1", 2, 0},
};

static void scales_are_counted(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    pf_case c;
    check_parse(counts[i].line, &a, &c);
    const int64_t k = pf_case_shape(&c).k;
    assert_int_equal(pf_scale_count(&c.operand[PF_X].scale, pf_operand_lines(&c, PF_X), k),
                     counts[i].x);
    assert_int_equal(pf_scale_count(&c.operand[PF_Y].scale, pf_operand_lines(&c, PF_Y), k),
                     counts[i].y);
  }
  pf_arena_free(&a);
}

static void the_result_has_the_dtype_that_the_case_says(void **unused)
{
  (void)unused;
  static const pf_dtype allowed[] = {PF_F32, PF_F16, PF_BF16, PF_F8_E4M3FN, PF_F8_E5M2,
                                     PF_F8_E4M3FNUZ, PF_F8_E5M2FNUZ};
  pf_arena a = {0};
  pf_case c;
  check_parse(CASE, &a, &c);
  assert_int_equal(pf_case_result(&c), PF_F32);
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
    char line[200];
    snprintf(line, sizeof line, CASE "out=%s", pf_dtype_of(allowed[i])->name);
    check_parse(line, &a, &c);
    assert_int_equal(pf_case_result(&c), allowed[i]);
    assert_int_equal(c.operand[PF_OUT].dtype, allowed[i]);
  }
  pf_arena_free(&a);
}

/* '^' marks where the error points. */
static const struct { const char *line, *says; } bad[] = {
  {"scaled_matmul x=^f64[2,5] y=f32[5,3]", "x: scaled_matmul takes no f64"},
  {"scaled_matmul x=f32[2,5] y=^s32[5,3]", "y: scaled_matmul takes no s32"},
  {"matmul x=^f32[2,5] y=f32[5,3] x.scale=row:0", "x: a scale, but matmul takes none there"},
  {CASE "bias=^f32[3] bias.scale=row:0", "bias: a scale, but scaled_matmul takes none there"},
  {CASE "out=^s8", "out: s8, but it is one of"},
  {CASE "out=^f64", "the result is one of"},
  {CASE "out=^f31", "unknown dtype"},
  {"matmul x=f32[2,5] y=f32[5,3] out=^f32", "unexpected text"},
  {CASE "x.scale=^none:0", "expected tensor, row or block"},
  {CASE "x.scale=^block:0", "expected tensor, row or block"},
  {CASE "x.scale=^row5:0", "expected tensor, row or block"},
  {CASE "x.scale=^rows:0", "expected tensor, row or block"},
  {CASE "x.scale=block^1025:0", "number too large"},
  {"scaled_matmul x=^f32[2,5] y=f32[5,3] x.scale=block0:0", "x: scale block 0 is not in 1..1024"},
  {CASE "x.scale=row^", "expected : and a seed"},
  {CASE "x.scale=row:^", "expected a number"},
  {CASE "x.scale=row:1^x", "unexpected text"},
  {CASE "x.scale=row:^4294967296", "number too large"},
  {CASE "x.scale=row:=^", "expected values of a scale"},
  {CASE "x.scale=row:=1,^", "expected a number"},
  {CASE "x.scale=row:=1,^0x1.0000001p0", "no value of f32"},
  {"scaled_matmul x=^f32[2,5] y=f32[5,3] x.scale=row:=1", "x: 1 values of a scale, not 2"},
  {"scaled_matmul x=^f32[2,5] y=f32[5,3] x.scale=row:=1,0", "x: scale 1 is not above 0"},
  {"scaled_matmul x=^f32[2,5] y=f32[5,3] x.scale=row:=1,-1", "x: scale 1 is not above 0"},
  {"scaled_matmul x=^f32[2,5] y=f32[5,3] x.scale=row:=inf,1", "x: scale 0 is not above 0"},
  {CASE "x.scale=row:=1,^nan", "no value of f32"},
};

static void what_is_no_scale_is_refused(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char line[200];
    pf_error e = {.text = "accepted"};
    pf_case c;
    const size_t at = strcspn(bad[i].line, "^");
    snprintf(line, sizeof line, "%.*s%s", (int)at, bad[i].line, bad[i].line + at + 1);
    const pf_status s = pf_text_parse(line, strlen(line), &a, &c, &e);
    if (s != PF_BAD_INPUT || e.offset != at || !strstr(e.text, bad[i].says))
      fail_msg("%s: %s at %zu", bad[i].line, e.text, e.offset);
  }
  pf_arena_free(&a);
}

/* --- three forms --------------------------------------------------------------------------- */

static const char *const lines[] = {
  CASE "bias=bf16[3] out=bf16(1,2)+3 x.scale=row:4294967295 y.scale=block3:2",
  CASE "out=f8_e4m3fnuz x.scale=block1000:6 y.scale=tensor:=0x1.8p-3",
  CASE "x.scale=row:=0x1p-149,0x1.fffffep+127 "
  "y.scale=block4:=0x1p+0,0x1p+1,0x1.000002p+0,0x1p+3,0x1p+4,0x1p+5",
  BATCHES "out=f16 y.scale=tensor:0",
};

static void lines_print_as_they_are(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    pf_case c;
    check_parse(lines[i], &a, &c);
    char *text = check_text(&c);
    assert_string_equal(text, lines[i]);
    free(text);
  }
  pf_arena_free(&a);
}

static void check_forms(const pf_case *c, pf_arena *a)
{
  uint8_t *bytes;
  size_t size;
  pf_error e;
  pf_case d;
  assert_int_equal(pf_archive_encode(c, a, &bytes, &size, &e), PF_OK);
  if (pf_archive_decode(bytes, size, a, &d, &e))
    fail_msg("%s at %zu", e.text, e.offset);
  check_equal(&d, c, "archive");
  if (pf_fuzz_encode(c, a, &bytes, &size, &e) == PF_OK) {
    assert_int_equal(pf_fuzz_decode(bytes, size, NULL, a, &d), PF_OK);
    check_equal(&d, c, "fuzz form");
  }
  char *text = check_text(c);
  check_parse(text, a, &d);
  check_equal(&d, c, "text");
  free(text);
}

static void forms_mean_the_same(void **unused)
{
  (void)unused;
  static const pf_filter filter = {.graphs = 1u << PF_SCALED_MATMUL, .max_work = 600};
  uint64_t seed = 77;
  pf_arena a = {0};
  pf_case c;
  int kinds[PF_SCALE_COUNT] = {0}, given = 0, results[PF_DTYPE_COUNT] = {0};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    check_parse(lines[i], &a, &c);
    check_forms(&c, &a);
  }
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < 4000; i++) {
    check_random_case(&seed, &filter, &a, &c);
    check_forms(&c, &a);
    kinds[c.operand[PF_X].scale.kind]++;
    given += c.operand[PF_Y].scale.values != NULL;
    results[c.operand[PF_OUT].dtype]++;
  }
  for (int k = 0; k < PF_SCALE_COUNT; k++)
    assert_true(kinds[k] > 300);
  assert_true(given > 30);
  for (int t = PF_F32; t <= PF_F8_E5M2FNUZ; t++)
    assert_true(results[t] > 100);
  pf_arena_free(&a);
}

/* A scale that differs in any one thing is another case. */
static void every_part_of_a_scale_counts(void **unused)
{
  (void)unused;
  static const char *const scales[] = {
    "", "x.scale=tensor:0", "x.scale=tensor:1", "x.scale=row:1", "x.scale=block2:1",
    "x.scale=block3:1", "y.scale=row:1", "x.scale=tensor:=0x1p+0", "x.scale=tensor:=0x1p+1",
    "out=bf16",
  };
  enum { SCALES = sizeof scales / sizeof *scales };
  pf_arena a = {0};
  pf_case c[SCALES];
  for (int i = 0; i < SCALES; i++) {
    char line[200];
    snprintf(line, sizeof line, CASE "%s", scales[i]);
    check_parse(line, &a, &c[i]);
    for (int j = 0; j < i; j++)
      assert_false(pf_case_equal(&c[i], &c[j]));
  }
  pf_arena_free(&a);
}

/* --- in memory ----------------------------------------------------------------------------- */

/* By the number of a vector and of a block, counted out again. */
static double scale_there(const pf_case *c, pf_role role, int64_t line, int64_t k, int64_t k_count)
{
  const pf_scale *s = &c->operand[role].scale;
  int64_t index = 0;
  if (s->kind == PF_SCALE_NONE)
    return 1;
  if (s->kind == PF_SCALE_ROW)
    index = line;
  if (s->kind == PF_SCALE_BLOCK) {
    int64_t blocks = 0;
    for (int64_t i = 0; i < k_count; i += s->block)
      blocks++;
    index = line * blocks;
    for (int64_t i = s->block; i <= k; i += s->block)
      index++;
  }
  return (double)pf_scale_value(s, role == PF_X, index);
}

static void scaled_vectors_are_exact_products(void **unused)
{
  (void)unused;
  static const pf_filter filter = {.graphs = 1u << PF_SCALED_MATMUL, .max_work = 600};
  uint64_t seed = 78;
  pf_arena a = {0};
  for (int i = 0; i < 1000; i++) {
    pf_case c;
    pf_problem p;
    check_random_case(&seed, &filter, &a, &c);
    assert_int_equal(pf_problem_build(&c, &a, &p), PF_OK);
    assert_int_equal(p.x_lines, pf_operand_lines(&c, PF_X));
    assert_int_equal(p.y_lines, pf_operand_lines(&c, PF_Y));
    for (int side = 0; side < 2; side++) {
      const double *plain = side ? p.y_vectors : p.x_vectors;
      const double *scaled = side ? p.y_scaled : p.x_scaled;
      const int64_t k = p.shape.k, n = (side ? p.y_lines : p.x_lines) * k;
      for (int64_t j = 0; j < n; j++) {
        const double s = scale_there(&c, side ? PF_Y : PF_X, j / k, j % k, k);
        assert_true(scaled[j] == s * plain[j] || isnan(plain[j]));
        if (isfinite(plain[j]))
          assert_true(fma(s, plain[j], -scaled[j]) == 0);
      }
    }
  }
  pf_arena_free(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(values_are_what_the_seed_says),
    cmocka_unit_test(values_stay),
    cmocka_unit_test(scales_are_counted),
    cmocka_unit_test(the_result_has_the_dtype_that_the_case_says),
    cmocka_unit_test(what_is_no_scale_is_refused),
    cmocka_unit_test(lines_print_as_they_are),
    cmocka_unit_test(forms_mean_the_same),
    cmocka_unit_test(every_part_of_a_scale_counts),
    cmocka_unit_test(scaled_vectors_are_exact_products),
  };
  return cmocka_run_group_tests_name("scale", tests, NULL, NULL);
}
