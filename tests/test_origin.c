/* Origins: kept by both forms, no part of what a case asks, harmless where they are damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "case_checks.h"
#include "form_archive.h"
#include "form_fuzz_head.h"

static void test_texts(void **unused)
{
  (void)unused;
  char longest[PF_ORIGIN_TEXT + 1];
  memset(longest, 'x', sizeof longest);
  assert_true(pf_origin_is("model.onnx layer ~", 18));
  assert_true(pf_origin_is(longest, PF_ORIGIN_TEXT - 1));
  assert_false(pf_origin_is(longest, PF_ORIGIN_TEXT));
  assert_false(pf_origin_is("", 0));
  assert_false(pf_origin_is("a\nb", 3));
  assert_false(pf_origin_is("a\x1b[2J", 5));
  assert_false(pf_origin_is("\x7f", 1));
  assert_false(pf_origin_is("a\0b", 3));
}

/* There and back, with an origin and without one: the same case, and the origin as it was. */
static void check_forms(pf_case *c, const char *origin, pf_arena *a)
{
  uint8_t *data;
  size_t size;
  pf_case back;
  pf_error e = {0};
  c->origin = origin;
  if (pf_fuzz_encode(c, a, &data, &size, &e) == PF_OK) {
    assert_int_equal(pf_fuzz_decode(data, size, NULL, a, &back), PF_OK);
    check_equal(&back, c, "fuzz form");
    assert_true(origin ? back.origin && !strcmp(back.origin, origin) : !back.origin);
  }
  assert_int_equal(pf_archive_encode(c, a, &data, &size, &e), PF_OK);
  if (pf_archive_decode(data, size, a, &back, &e) != PF_OK)
    fail_msg("%s", e.text);
  check_equal(&back, c, "archive");
  assert_true(origin ? back.origin && !strcmp(back.origin, origin) : !back.origin);
}

static void test_forms(void **unused)
{
  (void)unused;
  uint64_t state = 1;
  pf_arena a = {0};
  for (int i = 0; i < 2000; i++) {
    pf_case c;
    check_random_case(&state, NULL, &a, &c);
    check_forms(&c, "model.safetensors layer.0", &a);
    check_forms(&c, NULL, &a);
  }
  pf_arena_free(&a);
}

/* An input with an origin behind it is the case that it is without. */
static void test_end(void **unused)
{
  (void)unused;
  uint8_t input[200 + 9 + PF_ORIGIN_END];
  uint64_t state = 2;
  pf_arena a = {0}, other = {0};
  for (int i = 0; i < 2000; i++) {
    const size_t size = check_random(&state) % 200;
    pf_case plain, c;
    check_bytes(&state, input, size);
    assert_int_equal(pf_fuzz_decode(input, size, NULL, &other, &plain), PF_OK);
    memcpy(input + size, "some text", 9);
    input[size + 9] = 9;
    input[size + 10] = 0;
    memcpy(input + size + 11, PF_ORIGIN_MAGIC, 4);
    assert_int_equal(pf_fuzz_origin(input, size + 15), size);
    assert_int_equal(pf_fuzz_decode(input, size + 15, NULL, &a, &c), PF_OK);
    check_equal(&c, &plain, "with an origin");
    assert_string_equal(c.origin, "some text");
    pf_arena_reset(&a);
    pf_arena_reset(&other);
  }
  pf_arena_free(&a);
  pf_arena_free(&other);
}

static void test_damaged_ends(void **unused)
{
  (void)unused;
  uint8_t all[] = "before text\4\0\x89pf\1", *const end = all + 7;
  const size_t size = sizeof all - 1 - 7;
  assert_int_equal(pf_fuzz_origin(end, size), 0);
  end[4] = 5; /* longer than what there is */
  assert_int_equal(pf_fuzz_origin(end, size), size);
  end[4] = 0;
  assert_int_equal(pf_fuzz_origin(end, size), size);
  end[4] = 3;
  assert_int_equal(pf_fuzz_origin(end, size), 1);
  end[2] = '\n';
  assert_int_equal(pf_fuzz_origin(end, size), size);
  assert_int_equal(pf_fuzz_origin(end + 6, 4), 4);
  assert_int_equal(pf_fuzz_origin(NULL, 0), 0);
}

static void test_damaged_archives(void **unused)
{
  (void)unused;
  uint64_t state = 3;
  pf_arena a = {0};
  pf_case c, back;
  uint8_t *data;
  size_t size;
  pf_error e = {0};
  check_random_case(&state, NULL, &a, &c);
  c.origin = "QQQQ";
  assert_int_equal(pf_archive_encode(&c, &a, &data, &size, &e), PF_OK);
  uint8_t *at = memmem(data, size, "QQQQ", 4);
  at[3] = '\n';
  uint32_t crc = 0;
  crc = ~crc;
  for (size_t i = 0; i < size - 4; i++) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; bit++)
      crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
  }
  crc = ~crc;
  for (int i = 0; i < 4; i++)
    data[size - 4 + (size_t)i] = (uint8_t)(crc >> 8 * i);
  assert_int_equal(pf_archive_decode(data, size, &a, &back, &e), PF_BAD_INPUT);
  assert_non_null(strstr(e.text, "an origin that is no line of text"));
  assert_int_equal(e.offset, at - data);
  pf_arena_free(&a);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_texts), cmocka_unit_test(test_forms), cmocka_unit_test(test_end),
    cmocka_unit_test(test_damaged_ends), cmocka_unit_test(test_damaged_archives),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
