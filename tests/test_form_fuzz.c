/* The fuzz form: total, invertible, nothing padded. */
#include "fuzz_checks.h"

#include <inttypes.h>

static void test_total(void **unused)
{
  (void)unused;
  uint64_t seed = 31;
  uint8_t bytes[301] = {0};
  pf_arena a = {0};
  pf_case c;
  print_message("seed %" PRIu64 "\n", seed);
  assert_int_equal(decode(NULL, 0, &a, &c), PF_OK);
  check_decoded(&c, PF_FUZZ_WORK);
  for (int i = 0; i < 256; i++) {
    bytes[0] = (uint8_t)i;
    assert_int_equal(decode(bytes, 1, &a, &c), PF_OK);
    check_decoded(&c, PF_FUZZ_WORK);
  }
  for (int i = 0; i < 1000000; i++) {
    const size_t size = (size_t)(check_random(&seed) % sizeof bytes);
    /* Fresh bytes now and then, else a few mutations: cheaper, and nearer to what fuzzers do. */
    if (i % 8 == 0)
      check_bytes(&seed, bytes, sizeof bytes);
    for (int j = 0; j < 4; j++)
      bytes[check_random(&seed) % sizeof bytes] = (uint8_t)(check_random(&seed) >> 16);
    assert_int_equal(decode(bytes, size, &a, &c), PF_OK);
    check_decoded(&c, PF_FUZZ_WORK);
  }
  pf_arena_free(&a);
}

/* Head bytes at their extremes, which random bytes hardly combine. */
static void test_extremes(void **unused)
{
  (void)unused;
  static const uint8_t extreme[] = {0x00, 0x7f, 0x80, 0xbf, 0xc0, 0xf0, 0xf8, 0xfc, 0xff};
  uint64_t seed = 32;
  uint8_t bytes[PF_HEAD_BYTES + 40];
  pf_arena a = {0};
  pf_case c;
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < 200000; i++) {
    for (size_t j = 0; j < sizeof bytes; j++)
      bytes[j] = extreme[check_random(&seed) % sizeof extreme];
    assert_int_equal(decode(bytes, sizeof bytes, &a, &c), PF_OK);
    check_decoded(&c, PF_FUZZ_WORK);
  }
  pf_arena_free(&a);
}

static void test_round_trip(void **unused)
{
  (void)unused;
  uint64_t seed = 33;
  pf_arena a = {0};
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < 100000; i++) {
    pf_case c, d;
    pf_error e;
    uint8_t *bytes;
    size_t size;
    check_random_case(&seed, NULL, &a, &c);
    if (pf_fuzz_encode(&c, &a, &bytes, &size, &e) != PF_OK)
      fail_msg("%s", e.text);
    assert_int_equal(pf_fuzz_decode(bytes, size, NULL, &a, &d), PF_OK);
    check_equal(&d, &c, "round trip");
  }
  pf_arena_free(&a);
}

/* Cases of other sources than the decoder: every finished one within the limits is expressible. */
static const char *const lines[] = {
  "matmul_out_f32_add x=bf16[32,7,1,8] y=bf16[32,7,8,1] bias=bf16[32,7,1,1]",
  "matmul x=f32[16384,1] y=f32[1]",
  "matmul x=f32[1] y=f32[1,16384]",
  "matmul x=f32[16383,0] y=f32[0,1]",
  "matmul x=f32[4096,4](0,17000) y=f32[4]",
  "matmul x=f32[4096,4](0,0) y=f32[4]",
  "matmul x=f32[1,16384](4194304,0) y=f32[16384]",
  "matmul x=f64[1,1,1,1,1,1](4194304,1,4194303,0,77,4194304)+4096 y=f16[1]",
  "matmul x=f64[2,1,2,1,1,3] y=f16[2,1,1,3,1] out=(9,4,2,4194304,8,7)",
  "linear x=f16[3,4] y=f16[4]",
  "linear x=f16[3,4] y=f16[4] bias=f64[1]",
  "linear x=f16[2,1,3,1,5,4] y=bf16[7,4] bias=f64[1,3,1,1,7]",
  "addmm x=f64[2,3] y=f32[3,4] c=f64[2,4](1,3)+9 out=c alpha=0.1 beta=nan",
  "addmm x=f32[2,3] y=f32[3,4] c=f64[] alpha=-inf beta=0x1.fffffep127",
  "addmm x=f32[2,3] y=f32[3,4] c=f64[1,4] alpha=0x1p-149 beta=-0 c.set=3:ffffffffffffffff",
  "matmul x=bf16[0,3] y=bf16[3,0] out=(77,3)+4096 y.bits= x.bits=",
  "matmul_add x=bf16[5,0,2] y=bf16[2,3] bias=f16[0,1] bias.bits=",
  "matmul_add x=bf16[2,2] y=bf16[1,2,3] bias=f16[] bias.bits=7c00 x.set=0:1,0:2,3:ffff y.set=5:0",
};

static void test_round_trip_of_lines(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    pf_case c, d;
    pf_error e;
    uint8_t *bytes;
    size_t size;
    pf_arena_reset(&a);
    check_parse(lines[i], &a, &c);
    if (pf_fuzz_encode(&c, &a, &bytes, &size, &e) != PF_OK)
      fail_msg("%s: %s", lines[i], e.text);
    assert_int_equal(pf_fuzz_decode(bytes, size, NULL, &a, &d), PF_OK);
    check_equal(&d, &c, lines[i]);
  }
  pf_arena_free(&a);
}

static void test_beyond_the_form(void **unused)
{
  (void)unused;
  static const struct {
    const char *line, *says;
  } beyond[] = {
    {"matmul x=f32[16385,1] y=f32[1]", "fuzz form: B*M*N*K"},
    {"matmul x=f32[128,0] y=f32[0,129]", "fuzz form: B*M*N*K"},
    {"matmul x=f32[2,2](300000,1) y=f32[2]", "fuzz form: x has 300002 elements"},
    {"matmul x=f32[2,2] y=f32[2,2] out=(300000,1)", "fuzz form: out has 300002 elements"},
  };
  pf_arena a = {0};
  pf_error e;
  uint8_t *bytes;
  size_t size;
  pf_case c;
  for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
    check_parse(beyond[i].line, &a, &c);
    assert_int_equal(pf_fuzz_encode(&c, &a, &bytes, &size, &e), PF_UNSUPPORTED);
    assert_non_null(strstr(e.text, beyond[i].says));
  }
  check_parse("matmul x=f32[2] y=f32[2]", &a, &c);
  static const pf_edit edits[256];
  c.operand[PF_X].values.edits = c.operand[PF_Y].values.edits = edits;
  c.operand[PF_X].values.edit_count = 250;
  c.operand[PF_Y].values.edit_count = 5;
  assert_int_equal(pf_fuzz_encode(&c, &a, &bytes, &size, &e), PF_OK);
  c.operand[PF_Y].values.edit_count = 6;
  assert_int_equal(pf_fuzz_encode(&c, &a, &bytes, &size, &e), PF_UNSUPPORTED);
  assert_non_null(strstr(e.text, "256 edits"));
  pf_arena_free(&a);
}

static void put_wide(uint8_t *at, int64_t size)
{
  at[0] = (uint8_t)(0xfc | size >> 16);
  at[1] = (uint8_t)(size >> 8);
  at[2] = (uint8_t)size;
}

/* Where a tensor of the greatest size meets a layout that wants a little more. */
static void test_layouts_at_the_limit(void **unused)
{
  (void)unused;
  static const pf_filter all = {.max_work = PF_MAX_WORK};
  static const pf_filter strided = {.max_work = PF_MAX_WORK, .strided_only = true};
  uint8_t head[PF_HEAD_BYTES] = {[PF_HEAD_GRAPH] = PF_MATMUL_PLAIN, [PF_HEAD_WORK] = PF_WORK_ALL};
  uint8_t *layout = head + PF_HEAD_TENSORS + PF_HEAD_LAYOUT;
  pf_arena a = {0};
  pf_case c;
  put_wide(head + PF_HEAD_SIZES, 2048);
  put_wide(head + PF_HEAD_SIZES + 6, 2048);
  layout[7] = 63;
  assert_int_equal(pf_fuzz_decode(head, sizeof head, &strided, &a, &c), PF_OK);
  assert_int_equal(c.operand[PF_X].offset, 64);
  /* x [1,M,1] with rows of 17: the stride of the first dimension is beyond the limit. */
  put_wide(head + PF_HEAD_SIZES, 246724);
  put_wide(head + PF_HEAD_SIZES + 6, 1);
  head[PF_HEAD_BATCH] = 11;
  layout[0] = 0x82;
  layout[3] = 15;
  assert_int_equal(pf_fuzz_decode(head, sizeof head, &all, &a, &c), PF_OK);
  assert_true(pf_operand_dense(&c.operand[PF_X]));
  put_wide(head + PF_HEAD_SIZES, 246723);
  assert_int_equal(pf_fuzz_decode(head, sizeof head, &all, &a, &c), PF_OK);
  assert_int_equal(c.operand[PF_X].stride[0], 17 * 246723);
  pf_arena_free(&a);
}

/* A vector has no M that could take room from K. */
static void test_vectors_count_once(void **unused)
{
  (void)unused;
  uint8_t head[PF_HEAD_BYTES] = {[PF_HEAD_GRAPH] = PF_MATMUL_PLAIN, [PF_HEAD_VECTORS] = 0x3f,
                                 [PF_HEAD_WORK] = PF_WORK_ALL};
  pf_arena a = {0};
  pf_case c;
  put_wide(head + PF_HEAD_SIZES, 3000);
  put_wide(head + PF_HEAD_SIZES + 3, 3000);
  put_wide(head + PF_HEAD_SIZES + 6, PF_FUZZ_WORK);
  assert_int_equal(decode(head, sizeof head, &a, &c), PF_OK);
  assert_int_equal(pf_case_shape(&c).k, PF_FUZZ_WORK);
  pf_arena_free(&a);
}

/* Any input shorter than what is read goes round: no byte of it is without effect on what lies
   behind its end.  This input ends in the reserved bytes, so what its last bytes do, they do as the
   seed of bias: a decoder that pads with zeros gives one case for all of them. */
static void test_wraps_around(void **unused)
{
  (void)unused;
  uint8_t bytes[66] = {[PF_HEAD_GRAPH] = PF_MATMUL_ADD, [PF_HEAD_SHAPE] = 0x80};
  uint8_t twice[2 * sizeof bytes + PF_HEAD_BYTES];
  pf_arena a = {0}, b = {0};
  pf_case c, d, first;
  int differ = 0;
  assert_int_equal(pf_fuzz_decode(bytes, sizeof bytes, NULL, &b, &first), PF_OK);
  for (int value = 1; value < 256; value++) {
    bytes[59] = (uint8_t)value;
    assert_int_equal(decode(bytes, sizeof bytes, &a, &c), PF_OK);
    differ += !pf_case_equal(&c, &first);
  }
  assert_int_equal(differ, 255);
  for (size_t i = 0; i < sizeof twice; i++)
    twice[i] = bytes[i % sizeof bytes];
  assert_int_equal(decode(bytes, sizeof bytes, &a, &c), PF_OK);
  assert_int_equal(pf_fuzz_decode(twice, sizeof twice, NULL, &b, &d), PF_OK);
  check_equal(&d, &c, "the input repeated");
  pf_arena_free(&a);
  pf_arena_free(&b);
}

/* The tail goes round as well: verbatim elements of a case whose input ends with the head. */
static void test_tail_wraps_around(void **unused)
{
  (void)unused;
  uint8_t head[PF_HEAD_BYTES] = {[PF_HEAD_GRAPH] = PF_MATMUL_PLAIN,
                                 [PF_HEAD_SHAPE] = 0x80 | 7, /* 16 x 16 x 16 */
                                 [PF_HEAD_DTYPE] = PF_F16,
                                 [PF_HEAD_KIND] = PF_VERBATIM};
  pf_arena a = {0};
  pf_case c;
  assert_int_equal(decode(head, sizeof head, &a, &c), PF_OK);
  const pf_values *v = &c.operand[PF_X].values;
  assert_int_equal(v->kind, PF_VERBATIM);
  for (int i = 0; i < 512; i++)
    assert_int_equal(v->verbatim[i], head[i % PF_HEAD_BYTES]);
  for (int i = 0; i < 512; i++)
    assert_int_equal(c.operand[PF_Y].values.verbatim[i], head[(512 + i) % PF_HEAD_BYTES]);
  pf_arena_free(&a);
}

/* Corpora outlive builds: these bytes are this case for ever. */
static void test_golden(void **unused)
{
  (void)unused;
  static const uint8_t head[PF_HEAD_BYTES] = {
    [1] = 0x05, [3] = 0x0d, [6] = 0xc1, [9] = 0x0a, [10] = 0x81,
    [13] = 0x01, [16] = 0x03, [19] = 0x20, [22] = 0xa2, [25] = 0xfc, [27] = 17,
    [34] = 0x03, [35] = 0x03, [36] = 0x06, [45] = 0xf1, 0x00, 0x00, 0x40, 0xc0,
    [55] = 0xc0, [57] = 0xfc, [73] = 0, 0, 0xc7, 0x20, 0x78, 0x56, 0x34, 0x12, 0xa3, 0, 0, 2,
    [89] = 0xc2, 0xc4, 0, 0, 1, 0, 0, 0, 0xff, [137] = 0xb0, [143] = 9, 1,
  };
  static const uint8_t tail[] = {
    0x5b, 1, 0, 0x84, 0, 0, 1, 0, 0, 0x21, 0, 0, 0x00, 0x10, /* y's strides and offset */
    0x02, 0x01, 0, 0, 0x34, 0x12, 0xff, 0xff, 0, 0, 0, 0,    /* an edit of c */
  };
  static const char expected[] =
      "addmm x=bf16[17,1,2,33](165,165,1,5)+1 y=f16[17,3,33,4](347,132,1,33)+4096 c=bf16[3,2,1] "
      "alpha=2 beta=-3 out=+2 x.values=integer+wide/32:305419896 y.values=cancel:1 "
      "c.values=integer:0 c.set=1:1234";
  uint8_t bytes[sizeof head + sizeof tail];
  pf_arena a = {0};
  pf_case c;
  memcpy(bytes, head, sizeof head);
  memcpy(bytes + sizeof head, tail, sizeof tail);
  assert_int_equal(decode(bytes, sizeof bytes, &a, &c), PF_OK);
  char *text = check_text(&c);
  assert_string_equal(text, expected);
  free(text);
  pf_arena_free(&a);
}

static void test_no_memory(void **unused)
{
  (void)unused;
  uint8_t head[PF_HEAD_BYTES] = {[PF_HEAD_SHAPE] = 0x80 | 8, [PF_HEAD_KIND] = PF_VERBATIM,
                                 [PF_HEAD_EDITS] = 0xff, [PF_HEAD_EDITS + 1] = 200};
  pf_arena a = {.limit = 1000};
  pf_error e;
  uint8_t *bytes;
  size_t size;
  pf_case c;
  assert_int_equal(pf_fuzz_decode(head, sizeof head, NULL, &a, &c), PF_NO_MEMORY);
  a.limit = 0;
  assert_int_equal(decode(head, sizeof head, &a, &c), PF_OK);
  pf_arena small = {.limit = 1000};
  assert_int_equal(pf_fuzz_encode(&c, &small, &bytes, &size, &e), PF_NO_MEMORY);
  pf_arena_free(&a);
  pf_arena_free(&small);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_total),
    cmocka_unit_test(test_extremes),
    cmocka_unit_test(test_round_trip),
    cmocka_unit_test(test_round_trip_of_lines),
    cmocka_unit_test(test_beyond_the_form),
    cmocka_unit_test(test_layouts_at_the_limit),
    cmocka_unit_test(test_vectors_count_once),
    cmocka_unit_test(test_wraps_around),
    cmocka_unit_test(test_tail_wraps_around),
    cmocka_unit_test(test_golden),
    cmocka_unit_test(test_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
