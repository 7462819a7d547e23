/* Reductions: every candidate is a case of its own and simpler, what stays keeps its values, and
   spelling a case out changes nothing in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "form_archive.h"
#include "form_text.h"
#include "problem.h"
#include "random_cases.h"
#include "reduce.h"

enum { SEED = 31, CASES = FEWER(1500), CANDIDATES = 40 };

static void parse(const char *text, pf_arena *a, pf_case *out)
{
  pf_error e;
  if (pf_text_parse(text, strlen(text), a, out, &e)) fail_msg("%s: %s", text, e.text);
}

static void open_case(const pf_case *c, pf_arena *a, pf_reducible *out)
{
  uint8_t *data;
  size_t size;
  assert_int_equal(pf_archive_encode(c, a, &data, &size, NULL), PF_OK);
  assert_int_equal(pf_reduce_open(data, size, a, out, NULL), PF_OK);
}

static char *text_of(const pf_case *c)
{
  char *text = NULL;
  size_t size;
  FILE *to = open_memstream(&text, &size);
  assert_non_null(to);
  pf_text_print(c, to);
  assert_int_equal(fclose(to), 0);
  return text;
}

/* --- spelling ------------------------------------------------------------------------------ */

static void assert_doubles(const double *a, const double *b, int64_t n)
{
  for (int64_t i = 0; i < n; i++) assert_true(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])));
}

static void assert_same_problem(const pf_case *c, const pf_case *d, pf_arena *a)
{
  pf_problem p, q;
  assert_int_equal(pf_problem_build(c, a, &p), PF_OK);
  assert_int_equal(pf_problem_build(d, a, &q), PF_OK);
  assert_doubles(p.x_scaled, q.x_scaled, p.x_lines * p.shape.k);
  assert_doubles(p.y_scaled, q.y_scaled, p.y_lines * p.shape.k);
  if (p.has_c) assert_doubles(p.c_values, q.c_values, p.shape.outputs);
  if (p.has_bias) assert_doubles(p.bias_values, q.bias_values, p.shape.outputs);
  for (int r = 0; r < PF_OUT; r++) {
    assert_int_equal(p.storage_bytes[r], q.storage_bytes[r]);
    if (p.storage_bytes[r]) assert_memory_equal(p.storage[r], q.storage[r], p.storage_bytes[r]);
  }
}

/* --- candidates ---------------------------------------------------------------------------- */

static void check_candidate(const pf_reducible *from, const uint8_t *data, size_t size, pf_arena *a)
{
  pf_reducible next;
  pf_error e;
  if (pf_reduce_open(data, size, a, &next, &e)) fail_msg("offset %zu: %s", e.offset, e.text);
  assert_int_equal(next.what.graph, from->what.graph);
  if (pf_burden_compare(&next.burden, &from->burden) >= 0)
    fail_msg("not simpler: %s", text_of(&next.what));
}

static uint64_t made[64];  /* by reduction */

static void test_candidates(void **unused)
{
  random_source r = {SEED};
  pf_arena a = {0}, b = {0};
  (void)unused;
  print_message("seed %d\n", SEED);
  for (int i = 0; i < CASES; i++) {
    const pf_filter filter = random_filter(&r);
    pf_case c;
    pf_reducible from;
    random_case(&r, &filter, &a, &c);
    open_case(&c, &a, &from);
    assert_same_problem(&c, &from.what, &a);
    for (const pf_reduction *how = pf_reductions; how->name; how++) {
      const int64_t count = how->count(&from.what, how->part);
      for (int64_t j = 0; j < count && j < CANDIDATES; j++) {
        uint8_t *data;
        size_t size;
        const int64_t index = count <= CANDIDATES ? j : draw_below(&r, (int)count);
        pf_arena_reset(&b);
        const pf_status status = pf_reduce_make(&from, how, index, &b, &data, &size);
        if (status == PF_UNSUPPORTED) continue;
        assert_int_equal(status, PF_OK);
        check_candidate(&from, data, size, &b);
        made[how - pf_reductions]++;
      }
    }
  }
  for (const pf_reduction *how = pf_reductions; how->name; how++)
    if (!made[how - pf_reductions]) fail_msg("%s %d: no candidate", how->name, how->part);
  pf_arena_free(&a);
  pf_arena_free(&b);
}

/* --- how fast ------------------------------------------------------------------------------ */

/* The first candidate of x's layout whose offset and row stride stay that large; false: none. */
static bool smaller_layout(const pf_reducible *from, int64_t offset, int64_t stride, pf_arena *a,
                           pf_reducible *out)
{
  for (const pf_reduction *how = pf_reductions; how->name; how++)
    for (int64_t i = 0; !strcmp(how->name, "x layout") && i < how->count(&from->what, how->part);
         i++) {
      uint8_t *data;
      size_t size;
      if (pf_reduce_make(from, how, i, a, &data, &size)) continue;
      assert_int_equal(pf_reduce_open(data, size, a, out, NULL), PF_OK);
      const pf_operand *x = &out->what.operand[PF_X];
      if (x->offset >= offset && x->stride[0] >= stride) return true;
    }
  return false;
}

/* A layout needs steps by the bits of what can be left out, not by its size. */
static void test_thresholds(void **unused)
{
  pf_arena a = {0};
  pf_case c;
  pf_reducible now, next;
  int steps = 0;
  (void)unused;
  parse("matmul x=s8[2,2](1000000,1)+4001 y=s8[2,1]", &a, &c);
  open_case(&c, &a, &now);
  while (smaller_layout(&now, 3210, 654321, &a, &next)) {
    now = next;
    steps++;
  }
  assert_int_equal(now.what.operand[PF_X].offset, 3210);
  assert_int_equal(now.what.operand[PF_X].stride[0], 654321);
  assert_in_range(steps, 2, 60);
  pf_arena_free(&a);
}

/* --- what they are ------------------------------------------------------------------------- */

/* Is some candidate of the reduction the wanted case?  told: said in the same way, too. */
static bool gives(const pf_reducible *from, const pf_reduction *how, const pf_case *want, bool told)
{
  pf_arena a = {0};
  pf_reducible wants, next;
  bool given = false;
  open_case(want, &a, &wants);
  for (int64_t i = 0; i < how->count(&from->what, how->part) && !given; i++) {
    uint8_t *data;
    size_t size;
    pf_case c;
    if (pf_reduce_make(from, how, i, &a, &data, &size)) continue;
    assert_int_equal(pf_archive_decode(data, size, &a, &c, NULL), PF_OK);
    assert_int_equal(pf_reduce_open(data, size, &a, &next, NULL), PF_OK);
    given = pf_case_equal(&next.what, &wants.what) && (!told || pf_case_equal(&c, want));
  }
  pf_arena_free(&a);
  return given;
}

static void assert_gives_told(const char *text, const char *name, const char *wanted, bool told)
{
  pf_arena a = {0};
  pf_case c, want;
  pf_reducible from;
  bool given = false;
  parse(text, &a, &c);
  parse(wanted, &a, &want);
  open_case(&c, &a, &from);
  for (const pf_reduction *how = pf_reductions; how->name && !given; how++)
    given = !strcmp(how->name, name) && gives(&from, how, &want, told);
  if (!given) fail_msg("%s of %s: not %s", name, text, wanted);
  pf_arena_free(&a);
}

static void assert_gives(const char *text, const char *name, const char *wanted)
{
  assert_gives_told(text, name, wanted, false);
}

#define ROWS "matmul x=f32[3,2](5,1)+1 y=f32[2,1] x.bits=1,2,3,4,5,6 y.bits=7,8"
#define SCALED "scaled_matmul x=s8[2,4] y=s8[4,1] out=f32 x.bits=1,2,3,4,5,6,7,8 y.bits=9,a,b,c "

static void test_kept(void **unused)
{
  (void)unused;
  assert_gives(ROWS, "rows", "matmul x=f32[1,2](5,1)+1 y=f32[2,1] x.bits=00000003,00000004 "
                             "y.bits=00000007,00000008");
  assert_gives(ROWS, "rows", "matmul x=f32[2,2](5,1)+1 y=f32[2,1] "
                             "x.bits=00000001,00000002,00000005,00000006 y.bits=00000007,00000008");
  assert_gives(ROWS, "terms", "matmul x=f32[3,1](5,1)+1 y=f32[1,1] "
                              "x.bits=00000002,00000004,00000006 y.bits=00000008");
  assert_gives(ROWS, "terms", "matmul x=f32[3,0](5,1)+1 y=f32[0,1]");
  assert_gives(ROWS, "x layout", "matmul x=f32[3,2] y=f32[2,1] "
                                 "x.bits=00000001,00000002,00000003,00000004,00000005,00000006 "
                                 "y.bits=00000007,00000008");
  assert_gives("linear x=s8[1,1] y=s8[3,1] bias=s8[3] x.bits=1 y.bits=2,3,4 bias.bits=5,6,7",
               "columns", "linear x=s8[1,1] y=s8[1,1] bias=s8[1] x.bits=01 y.bits=03 bias.bits=06");
  assert_gives("matmul_add x=s8[2,1,1] y=s8[2,1,1] bias=s8[2,1,1] x.bits=1,2 y.bits=3,4 "
               "bias.bits=5,6", "batches",
               "matmul_add x=s8[1,1,1] y=s8[1,1,1] bias=s8[1,1,1] x.bits=2 y.bits=4 bias.bits=6");
  assert_gives("matmul x=s8[1,1,2,1] y=s8[1,1] x.bits=1,2 y.bits=3", "dimensions",
               "matmul x=s8[1,2,1] y=s8[1,1] x.bits=01,02 y.bits=03");
  assert_gives("matmul_add x=s8[1,1] y=s8[1,2] bias=s8[1,2] x.bits=1 y.bits=3,4 bias.bits=5,6",
               "bias sizes",
               "matmul_add x=s8[1,1] y=s8[1,2] bias=s8[1,1] x.bits=01 y.bits=03,04 bias.bits=05");
  assert_gives("addmm x=s8[1,1] y=s8[1,1] c=s32[1,1] alpha=3 beta=0.375 x.bits=1 y.bits=2 c.bits=3",
               "beta", "addmm x=s8[1,1] y=s8[1,1] c=s32[1,1] alpha=3 beta=0.25 x.bits=01 y.bits=02 "
                       "c.bits=00000003");
}

/* Scales go with what they belong to. */
static void test_scales(void **unused)
{
  (void)unused;
  assert_gives(SCALED "x.scale=row:=2,4", "rows",
               "scaled_matmul x=s8[1,4] y=s8[4,1] out=f32 x.bits=05,06,07,08 y.bits=09,0a,0b,0c "
               "x.scale=row:=0x1p+2");
  assert_gives(SCALED "x.scale=block2:=2,4,8,16", "terms",
               "scaled_matmul x=s8[2,2] y=s8[2,1] out=f32 x.bits=03,04,07,08 y.bits=0b,0c "
               "x.scale=block2:=0x1p+2,0x1p+4");
  assert_gives(SCALED "x.scale=block2:=2,4,8,16", "x scale",
               "scaled_matmul x=s8[2,4] y=s8[4,1] out=f32 x.bits=01,02,03,04,05,06,07,08 "
               "y.bits=09,0a,0b,0c x.scale=tensor:=0x1p+1");
  assert_gives(SCALED "x.scale=tensor:=2", "x scale",
               "scaled_matmul x=s8[2,4] y=s8[4,1] out=f32 x.bits=01,02,03,04,05,06,07,08 "
               "y.bits=09,0a,0b,0c x.scale=tensor:0");
}

/* Long tensors are told by what most of them are, short ones spelled out. */
static void test_told(void **unused)
{
  (void)unused;
  assert_gives_told("matmul x=bf16[1,100] y=bf16[100,2] x.values=equal:0 x.set=99:7fc0 "
               "y.values=normal:5 y.set=3:4000", "columns",
               "matmul x=bf16[1,100] y=bf16[100,0] x.values=equal:0 x.set=99:7fc0", true);
  assert_gives_told("matmul x=bf16[1,100] y=bf16[100,1] x.values=equal:0 x.set=99:7fc0 "
               "y.values=normal:5 y.set=3:4000", "x values",
               "matmul x=bf16[1,100] y=bf16[100,1] x.values=equal:0 x.set=99:0000 "
               "y.values=normal:5 y.set=3:4000", true);
  assert_gives_told("matmul x=bf16[1,2] y=bf16[2,3] x.values=normal:1 y.values=normal:1", "columns",
                    "matmul x=bf16[1,2] y=bf16[2,0] x.bits=bf43,c00d", true);
}

/* In the order that the header states. */
static void test_values(void **unused)
{
  static const double order[] = {0, 1, -1, 0.5, -0.5, 4, -0x1p-10, 0x1p20, 1.5, -3, 1.25, 1.75,
                                 1.125, INFINITY, -INFINITY, NAN};
  (void)unused;
  for (size_t i = 1; i < sizeof order / sizeof *order; i++)
    assert_true(pf_burden_of_value(PF_F32, pf_encode(PF_F32, order[i - 1])) <
                pf_burden_of_value(PF_F32, pf_encode(PF_F32, order[i])));
  assert_true(pf_burden_of_value(PF_F32, 0x7fc00000) < pf_burden_of_value(PF_F32, 0x7fc00001));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_candidates), cmocka_unit_test(test_thresholds),
    cmocka_unit_test(test_kept),       cmocka_unit_test(test_scales),
    cmocka_unit_test(test_told),       cmocka_unit_test(test_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
