/* The text form: what people may write, what is printed, and where an error is said to be. */
#include "case_checks.h"

#include <inttypes.h>
#include <math.h>

/* Lines as people write them, and as they are printed. */
static const struct {
  const char *line, *printed; /* NULL: the same */
} good[] = {
  {"matmul_out_f32_add x=bf16[32,7,1,8] y=bf16[32,7,8,1] bias=bf16[32,7,1,1]", NULL},
  {"matmul x=f32[4,8](1,4) y=f64[8]", NULL},
  {"matmul x=f32[4,8](16,2)+3 y=f16[8]+7", NULL},
  {"matmul x=f32[4,8](8,1)+0 y=f16[8](1)", "matmul x=f32[4,8] y=f16[8]"},
  {"linear x=f32[8] y=f32[8] bias=f32[]()+3", "linear x=f32[8] y=f32[8] bias=f32[]+3"},
  {"linear x=f32[8] y=f32[8] bias=f32[]()", "linear x=f32[8] y=f32[8] bias=f32[]"},
  {"matmul\ty=f32[2]  \t x=f32[2] \t", "matmul x=f32[2] y=f32[2]"},
  {"matmul x=f32[2] y=f32[2]\r\n", "matmul x=f32[2] y=f32[2]"},
  {"matmul x.set=1:3f800000 y=f32[2] x=f32[2]", "matmul x=f32[2] y=f32[2] x.set=1:3f800000"},
  {"matmul x=f32[2] y=f32[2] x.values=normal:0", "matmul x=f32[2] y=f32[2]"},
  {"matmul x=f32[2] y=f32[2] x.values=normal", "matmul x=f32[2] y=f32[2]"},
  {"matmul x=f32[2] y=f32[2] x.values=corner", "matmul x=f32[2] y=f32[2] x.values=corner:0"},
  {"matmul x=f32[2] y=f32[2] x.values=normal:4294967295", NULL},
  {"matmul x=f32[2] y=f32[2] x.values=wide+bits/255:7 y.values=normal+normal/1:0", NULL},
  {"matmul x=f32[2] y=f32[2] x.values=wide+bits/0:7", "matmul x=f32[2] y=f32[2] x.values=wide:7"},
  {"matmul x=f16[2] y=f64[2] x.bits=0,FfFf y.bits=1,8000000000000000",
   "matmul x=f16[2] y=f64[2] x.bits=0000,ffff y.bits=0000000000000001,8000000000000000"},
  {"matmul x=f16[2] y=f16[2] x.bits=0000,0001 x.set=0:0002,0:0003", NULL},
  {"matmul x=f16[0] y=f16[0] x.bits=", NULL},
  {"matmul x=f16[2,0] y=f16[0,3] out=(77,9)+5", NULL},
  {"matmul x=f16[2,3] y=f16[3,3] out=(1,2)", NULL},
  {"matmul x=f16[2,3] y=f16[3,3] out=+5", NULL},
  {"matmul x=f16[2,3] y=f16[3,3] out=(3,1)", "matmul x=f16[2,3] y=f16[3,3]"},
  {"matmul x=f16[3] y=f16[3] out=()+5", "matmul x=f16[3] y=f16[3] out=+5"},
  {"addmm x=f16[2,3] y=f16[3,3] c=f16[2,3](4,1)+9 out=c", NULL},
  {"addmm x=f16[3] y=f16[3] c=f16[] alpha=1 beta=1.0", "addmm x=f16[3] y=f16[3] c=f16[]"},
  {"addmm x=f16[3] y=f16[3] c=f16[] alpha=0.1 beta=1e-3",
   "addmm x=f16[3] y=f16[3] c=f16[] alpha=0x1.99999ap-4 beta=0x1.0624dep-10"},
  {"addmm x=f64[3] y=f16[3] c=f16[] alpha=0.1", "addmm x=f64[3] y=f16[3] c=f16[] alpha=0.1"},
  {"addmm x=f64[3] y=f16[3] c=f16[] alpha=0x1.999999999999bp-4", NULL},
  {"addmm x=f16[3] y=f16[3] c=f64[] alpha=inf beta=-inf", NULL},
  {"addmm x=f16[3] y=f16[3] c=f64[] alpha=nan beta=-0", NULL},
  {"addmm x=f16[3] y=f16[3] c=f64[] alpha=-0x1.8P+1 beta=+2.50",
   "addmm x=f16[3] y=f16[3] c=f64[] alpha=-3 beta=2.5"},
  {"addmm x=f16[3] y=f16[3] c=f64[] alpha=0x1p-149 beta=0x1.fffffep+127", NULL},
};

static void test_good_lines(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    const char *want = good[i].printed ? good[i].printed : good[i].line;
    pf_case c, d;
    pf_error e = {0};
    /* Without a byte behind it, and in a block of its own: reading on would be seen. */
    const size_t size = strlen(good[i].line);
    char *line = malloc(size);
    assert_non_null(line);
    memcpy(line, good[i].line, size);
    if (pf_text_parse(line, size, &a, &c, &e) != PF_OK)
      fail_msg("%s: %s", good[i].line, e.text);
    free(line);
    char *printed = check_text(&c);
    assert_string_equal(printed, want);
    check_parse(printed, &a, &d);
    check_equal(&d, &c, "printed and parsed");
    free(printed);
  }
  pf_arena_free(&a);
}

/* Decimal is rounded once to f32: the first number lies just above the middle between two of them,
   nearer than a double could say; rounded twice it would come out one lower. */
static void test_scalar_rounds_once(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  pf_case c;
  check_parse("addmm x=f32[3] y=f32[3] c=f32[] alpha=1.000000059604644775390626", &a, &c);
  assert_true(c.alpha == 0x1.000002p0);
  check_parse("addmm x=f32[3] y=f32[3] c=f32[] alpha=1.000000059604644775390625", &a, &c);
  assert_true(c.alpha == 1);
  pf_arena_free(&a);
}

/* Bad lines.  The offset is that of a mark in the line, `^`, which is taken out before parsing. */
static const struct {
  const char *line, *says;
} bad[] = {
  {"^", "unknown graph"},
  {"^matmull x=f32[2] y=f32[2]", "unknown graph at 'matmull'"},
  {"^ matmul x=f32[2] y=f32[2]", "unknown graph"},
  {"^MATMUL x=f32[2] y=f32[2]", "unknown graph at 'MATMUL'"},
  {"matmul^", "x: missing; matmul needs it"},
  {"matmul x=f32[2]^", "y: missing; matmul needs it"},
  {"linear x=f32[2] y.set=^0:0", "values of a tensor that is not there"},
  {"matmul ^x", "expected KEY=VALUE at 'x'"},
  {"matmul x=f32[2] ^f32[2]", "expected KEY=VALUE at 'f32[2]'"},
  {"matmul x=f32[2] ^z=f32[2]", "unknown key at 'z=f32[2]'"},
  {"matmul x=f32[2] ^=f32[2]", "unknown key"},
  {"matmul x=f32[2] ^x.=f32[2]", "unknown key"},
  {"matmul x=f32[2] ^x.seed=2", "unknown key"},
  {"matmul x=f32[2] ^out.set=2:2", "unknown key"},
  {"matmul x=f32[2] y=f32[2] ^x=f32[2]", "said twice at 'x=f32[2]'"},
  {"matmul x=f32[2] y=f32[2] x.set=0:0 ^x.set=1:0", "said twice"},
  {"matmul x=^f31[2] y=f32[2]", "unknown dtype at 'f31[2]'"},
  {"matmul x=^ y=f32[2]", "unknown dtype"},
  {"matmul x=^[2] y=f32[2]", "unknown dtype"},
  {"matmul x=f32^ y=f32[2]", "expected ["},
  {"matmul x=f32^(2) y=f32[2]", "expected [ at '(2)'"},
  {"matmul x=f32[^", "expected a number"},
  {"matmul x=f32[2^", "expected , or ]"},
  {"matmul x=f32[2^;3] y=f32[2]", "expected , or ]"},
  {"matmul x=f32[2,^] y=f32[2]", "expected a number"},
  {"matmul x=f32[^,2] y=f32[2]", "expected a number"},
  {"matmul x=f32[^-2] y=f32[2]", "expected a number at '-2]'"},
  {"matmul x=f32[^+2] y=f32[2]", "expected a number"},
  {"matmul x=f32[2^.5] y=f32[2]", "expected , or ]"},
  {"matmul x=f32[1,1,1,1,1,1,^1] y=f32[1]", "too many dimensions"},
  {"matmul x=f32[^262145] y=f32[2]", "number too large at '262145]'"},
  {"matmul x=f32[^18446744073709551618] y=f32[2]", "number too large"},
  {"matmul x=f32[^99999999999999999999999999999999999] y=f32[2]", "number too large at '9999"},
  {"matmul x=f32[2]^x y=f32[2]", "unexpected text"},
  {"matmul x=f32[2](1)^(1) y=f32[2]", "unexpected text"},
  {"matmul x=f32[2]^() y=f32[2]", "number of strides is not the rank"},
  {"matmul x=f32[2]^(1,1) y=f32[2]", "number of strides is not the rank"},
  {"matmul x=f32[2](^-1) y=f32[2]", "expected a number"},
  {"matmul x=f32[2](^4194305) y=f32[2]", "number too large"},
  {"matmul x=f32[2]+^4097 y=f32[2]", "number too large"},
  {"matmul x=f32[2]+^ y=f32[2]", "expected a number"},
  {"matmul x=f32[2]+1^+1 y=f32[2]", "unexpected text"},
  {"matmul x=^f32[] y=f32[2]", "x: rank 0"},
  {"matmul x=^f32[3] y=f32[2]", "x and y: K is 3 in x and 2 in y"},
  {"matmul_add x=f32[2] y=f32[2] bias=^f32[2]", "bias: rank 1"},
  {"matmul x=f32[2] y=f32[2] bias=^f32[]", "bias: matmul takes none"},
  {"matmul x=f32[262144,64](0,1) y=f32[64,2]^", "B*M*N*K"},
  {"matmul x=f32[2] y=f32[2] x.values=^", "unknown kind of values"},
  {"matmul x=f32[2] y=f32[2] x.values=^nrmal:1", "unknown kind of values at 'nrmal:1'"},
  {"matmul x=f32[2] y=f32[2] x.values=^verbatim:1", "written as bits"},
  {"matmul x=f32[2] y=f32[2] x.values=normal+^verbatim/1:1", "written as bits"},
  {"matmul x=f32[2] y=f32[2] x.values=normal+^/1:1", "unknown kind of values"},
  {"matmul x=f32[2] y=f32[2] x.values=normal+bits^:1", "expected / and a share"},
  {"matmul x=f32[2] y=f32[2] x.values=normal+bits/^256:1", "number too large"},
  {"matmul x=f32[2] y=f32[2] x.values=normal:^4294967296", "number too large"},
  {"matmul x=f32[2] y=f32[2] x.values=normal:^", "expected a number"},
  {"matmul x=f32[2] y=f32[2] x.values=normal:1^x", "unexpected text"},
  {"matmul x=f32[2] y=f32[2] x.values=^normal:1 x.bits=1,2", "values beside bits"},
  {"matmul x=f32[2] y=f32[2] x.bits=^1", "number of encodings is not that of elements"},
  {"matmul x=f32[2] y=f32[2] x.bits=^1,2,3", "number of encodings is not that of elements"},
  {"matmul x=f32[2] y=f32[2] x.bits=^", "number of encodings is not that of elements"},
  {"matmul x=f32[0] y=f32[0] x.bits=^1", "number of encodings is not that of elements"},
  {"matmul x=f32[2] y=f32[2] x.bits=1,^", "expected a hex number"},
  {"matmul x=f32[2] y=f32[2] x.bits=1,2^x", "unexpected text"},
  {"matmul x=f32[2] y=f32[2] x.bits=1^x,2", "expected ,"},
  {"matmul x=f32[2] y=f32[2] x.bits=0^x1,2", "expected ,"},
  {"matmul x=f32[2] y=f32[2] x.bits=^100000000,2", "number too large"},
  {"matmul x=bf16[2] y=f32[2] x.bits=1,^10000", "number too large"},
  {"matmul x=f64[2] y=f32[2] x.bits=1,^10000000000000000", "number too large"},
  {"matmul x=f32[2] y=f32[2] x.set=^", "expected INDEX:BITS"},
  {"matmul x=f32[0] y=f32[0] x.set=^0:0", "no element to set"},
  {"matmul x=f32[2] y=f32[2] x.set=^2:0", "number too large"},
  {"matmul x=f32[2] y=f32[2] x.set=1^,", "expected : and an encoding"},
  {"matmul x=f32[2] y=f32[2] x.set=1:^", "expected a hex number"},
  {"matmul x=f32[2] y=f32[2] x.set=1:0,^", "expected a number"},
  {"matmul x=f32[2] y=f32[2] x.set=1:^100000000", "number too large"},
  {"matmul x=f32[2] y=f32[2] alpha=^1", "the graph takes no alpha and beta"},
  {"matmul x=f32[2] y=f32[2] beta=^1", "the graph takes no alpha and beta"},
  {"addmm x=f32[2] y=f32[2] c=f32[] alpha=^", "expected a number, inf or nan"},
  {"addmm x=f32[2] y=f32[2] c=f32[] alpha=^one", "expected a number, inf or nan at 'one'"},
  {"addmm x=f32[2] y=f32[2] c=f32[] alpha=^1.0.0", "expected a number, inf or nan"},
  {"addmm x=f32[2] y=f32[2] c=f32[] alpha=^infinity", "expected a number, inf or nan"},
  {"addmm x=f32[2] y=f32[2] c=f32[] alpha=^nan(5)", "expected a number, inf or nan"},
  {"addmm x=f32[2] y=f32[2] c=f32[] alpha=^0x", "expected a number, inf or nan"},
  {"addmm x=f32[2] y=f32[2] c=f32[] beta=^1e39", "number out of range"},
  {"addmm x=f32[2] y=f32[2] c=f32[] beta=^-1e-60", "number out of range"},
  {"addmm x=f64[2] y=f32[2] c=f32[] beta=^1e309", "number out of range"},
  {"addmm x=f32[2] y=f32[2] c=f32[] beta=^0x1.0000001p0", "beta: 0x1.0000001p+0 is not a value"},
  {"addmm x=f32[2] y=f32[2] c=f32[] alpha="
   "^1.0000000000000000000000000000000000000000000000000000000000000000", "expected a number"},
  {"matmul x=f32[2] y=f32[2] out=^", "expected c or (STRIDES)+OFFSET"},
  {"matmul x=f32[2] y=f32[2] out=^bias", "unexpected text"},
  {"matmul x=f32[2] y=f32[2] out=^c", "out: in place needs a graph with c"},
  {"matmul x=f32[2,2] y=f32[2] out=^()", "number of strides is not the result's rank"},
  {"matmul x=f32[2,2] y=f32[2] out=^(1,1)", "number of strides is not the result's rank"},
  {"matmul x=f32[2,2] y=f32[2] out=^(0)", "out: overlaps itself"},
  {"matmul x=f32[2,2] y=f32[2] out=+^4097", "number too large"},
};

static void test_bad_lines(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *mark = strchr(bad[i].line, '^');
    const size_t size = strlen(bad[i].line) - 1, at = (size_t)(mark - bad[i].line);
    char *line = malloc(size + 1);
    pf_error e = {.text = "accepted"};
    pf_case c;
    assert_non_null(line);
    memcpy(line, bad[i].line, at);
    memcpy(line + at, mark + 1, size - at);
    const pf_status s = pf_text_parse(line, size, &a, &c, &e);
    if (s != PF_BAD_INPUT || e.offset != at || !strstr(e.text, bad[i].says))
      fail_msg("%s: %s at %zu, expected %s", bad[i].line, e.text, e.offset, bad[i].says);
    assert_int_equal(pf_text_parse(line, size, &a, &c, NULL), PF_BAD_INPUT);
    free(line);
  }
  pf_arena_free(&a);
}

/* Bytes that no text should hold. */
static void test_bytes_in_the_way(void **unused)
{
  (void)unused;
  static const char whole[] = "matmul x=f32[2] y=f32[2] x.set=0:1";
  pf_arena a = {0};
  pf_case c;
  pf_error e;
  for (size_t i = 0; i < sizeof whole - 1; i++)
    for (int byte = 0; byte < 256; byte++) {
      char line[sizeof whole];
      if (byte != 0 && strchr("0123456789abcdefABCDEF \txy", byte))
        continue;
      memcpy(line, whole, sizeof line);
      if (line[i] == (char)byte || (line[i] == 'f' && byte == 's')) /* s32 is a dtype, too */
        continue;
      line[i] = (char)byte;
      assert_int_equal(pf_text_parse(line, sizeof whole - 1, &a, &c, &e), PF_BAD_INPUT);
      /* One further where the byte begins something that the next one does not go on with. */
      assert_true(e.offset <= i + 1);
      for (const char *t = e.text; *t; t++)
        assert_in_range(*t, ' ', '~');
    }
  assert_int_equal(pf_text_parse(whole, sizeof whole, &a, &c, &e), PF_BAD_INPUT);
  assert_int_equal(e.offset, sizeof whole - 1);
  /* A C string's end inside a number. */
  static const char cut[] = "addmm x=f32[2] y=f32[2] c=f32[] alpha=1\0";
  assert_int_equal(pf_text_parse(cut, sizeof cut - 1, &a, &c, &e), PF_BAD_INPUT);
  pf_arena_free(&a);
}

static void test_long_lines(void **unused)
{
  (void)unused;
  const size_t size = 1 << 22;
  char *line = malloc(size + 1);
  pf_arena a = {0};
  pf_case c;
  pf_error e;
  assert_non_null(line);
  static const struct {
    const char *start;
    char fill;
  } fills[] = {{"matmul x=f32[2] y=f32[2] x.bits=", ','}, {"matmul x=f32[2] y=f32[2] x.set=", ','},
               {"matmul x=f32[2] y=f32[2] x.set=", '9'},  {"matmul x=f32[", '1'},
               {"matmul x=f32[", ','},                    {"matmul ", '='},
               {"matmul x=f32[2] y=f32[2] out=", '('},    {"addmm alpha=", '0'},
               {"m", 'm'},                                {"matmul x", 'x'}};
  for (size_t i = 0; i < sizeof fills / sizeof *fills; i++) {
    memset(line, fills[i].fill, size);
    memcpy(line, fills[i].start, strlen(fills[i].start));
    assert_int_equal(pf_text_parse(line, size, &a, &c, &e), PF_BAD_INPUT);
    assert_true(strlen(e.text) < 120);
  }
  memset(line, ' ', size);
  memcpy(line, "matmul x=f32[2]", 15);
  memcpy(line + size - 9, " y=f32[2]", 9);
  assert_int_equal(pf_text_parse(line, size, &a, &c, &e), PF_OK);
  free(line);
  pf_arena_free(&a);
}

/* A text that has lost a piece, or has one of another: no crash, and a case only if it prints as
   one. */
static void test_mutations(void **unused)
{
  (void)unused;
  uint64_t seed = 51;
  int accepted = 0;
  static const pf_filter tiny = {.max_work = 12};
  pf_arena a = {0};
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < 30000; i++) {
    pf_case c, d;
    pf_error e;
    check_random_case(&seed, &tiny, &a, &c);
    char *text = check_text(&c);
    size_t size = strlen(text);
    const size_t at = check_random(&seed) % size, from = check_random(&seed) % size;
    const size_t n = check_random(&seed) % 4, room = size - (at > from ? at : from);
    memmove(text + at, text + from, n < room ? n : room);
    size -= check_random(&seed) % 4 == 0 ? check_random(&seed) % size : 0;
    const pf_status s = pf_text_parse(text, size, &a, &c, &e);
    assert_true(s == PF_OK || (s == PF_BAD_INPUT && e.offset <= size));
    free(text);
    if (s != PF_OK)
      continue;
    accepted++;
    text = check_text(&c);
    check_parse(text, &a, &d);
    check_equal(&d, &c, "printed and parsed");
    free(text);
  }
  assert_in_range(accepted, 1000, 29000);
  pf_arena_free(&a);
}

static void test_round_trip(void **unused)
{
  (void)unused;
  uint64_t seed = 52;
  pf_arena a = {0};
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < 100000; i++) {
    pf_case c, d;
    pf_error e = {0};
    check_random_case(&seed, NULL, &a, &c);
    char *text = check_text(&c);
    if (pf_text_parse(text, strlen(text), &a, &d, &e) != PF_OK)
      fail_msg("%s: %s", text, e.text);
    check_equal(&d, &c, "printed and parsed");
    free(text);
  }
  pf_arena_free(&a);
}

static void test_recognition(void **unused)
{
  (void)unused;
  static const struct {
    const char *text;
    bool is;
  } texts[] = {{"matmul x", true},  {"matmul ", true},  {"matmul", false},   {"matmul\tx", false},
               {"", false},         {" ", false},       {" matmul x", false}, {"matmux x", false},
               {"addmm =", true},   {"linear_ x", false}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    assert_int_equal(pf_text_is((const uint8_t *)texts[i].text, strlen(texts[i].text)),
                     texts[i].is);
  assert_false(pf_text_is(NULL, 0));
  for (int g = 0; g < PF_GRAPH_COUNT; g++) {
    char line[64];
    snprintf(line, sizeof line, "%s ", pf_graph_of((pf_graph)g)->name);
    assert_true(pf_text_is((const uint8_t *)line, strlen(line)));
    assert_false(pf_text_is((const uint8_t *)line, strlen(line) - 1));
  }
}

static void test_no_memory(void **unused)
{
  (void)unused;
  static const char *const lines[] = {"matmul x=f32[2] y=f32[2] x.bits=1,2",
                                      "matmul x=f32[2] y=f32[2] x.set=1:2"};
  for (int i = 0; i < 2; i++) {
    pf_arena a = {.limit = 1};
    pf_error e;
    pf_case c;
    assert_int_equal(pf_text_parse(lines[i], strlen(lines[i]), &a, &c, &e), PF_NO_MEMORY);
    assert_non_null(strstr(e.text, "no memory"));
    pf_arena_free(&a);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_good_lines),
    cmocka_unit_test(test_scalar_rounds_once),
    cmocka_unit_test(test_bad_lines),
    cmocka_unit_test(test_bytes_in_the_way),
    cmocka_unit_test(test_long_lines),
    cmocka_unit_test(test_mutations),
    cmocka_unit_test(test_round_trip),
    cmocka_unit_test(test_recognition),
    cmocka_unit_test(test_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
