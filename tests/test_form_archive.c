/* The archive form: readable for ever, and anything else refused with its place. */
#include "case_checks.h"

#include <inttypes.h>

#include "form_archive.h"

/* A case with every kind of field, as the first build wrote it. */
static const uint8_t golden[] = {
  /* magic, version, length */
  0x89, 0x70, 0x66, 0x63, 0x61, 0x73, 0x65, 0x0a, 0x01, 0x00, 0x00, 0x00, 0xe3, 0x00, 0x00, 0x00,
  /* 16: addmm, not in place */
  0x01, 0x80, 0x03, 0x00, 0x00, 0x00, 0x00, 0x05, 0x00,
  /* 25: alpha 0.5, beta -2 */
  0x02, 0x80, 0x10, 0x00, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xe0, 0x3f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc0,
  /* 47: x bf16[2,3](1,2)+4; 75: its values */
  0x10, 0x80, 0x16, 0x00, 0x00, 0x00, 0x03, 0x02, 0x02, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00,
  0x01, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00,
  0x20, 0x80, 0x07, 0x00, 0x00, 0x00, 0x04, 0x07, 0x40, 0x78, 0x56, 0x34, 0x12,
  /* 88: y f16[3,1]; 116: verbatim; 129: 1, 2, -inf */
  0x11, 0x80, 0x16, 0x00, 0x00, 0x00, 0x02, 0x02, 0x03, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
  0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  0x21, 0x80, 0x07, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
  0x31, 0x80, 0x06, 0x00, 0x00, 0x00, 0x00, 0x3c, 0x00, 0x40, 0x00, 0xfc,
  /* 141: c f64[1]; 161: its values; 174: two edits */
  0x12, 0x80, 0x0e, 0x00, 0x00, 0x00, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x00,
  0x22, 0x80, 0x07, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
  0x42, 0x80, 0x18, 0x00, 0x00, 0x00,
  0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
  0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf0, 0x3f,
  /* 204: the output (9,5)+1 */
  0x14, 0x80, 0x0d, 0x00, 0x00, 0x00, 0x02, 0x09, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00,
  0x01, 0x00, 0x00, 0x00,
  /* 223: CRC-32 */
  0xd8, 0xca, 0x73, 0x83,
};

static const char golden_line[] =
    "addmm x=bf16[2,3](1,2)+4 y=f16[3,1] c=f64[1] alpha=0.5 beta=-2 out=(9,5)+1 "
    "x.values=cancel+wide/64:305419896 y.bits=3c00,4000,fc00 c.values=integer:2 "
    "c.set=0:ffffffffffffffff,0:3ff0000000000000";

/* Bit by bit, another way than the code under test. */
static uint32_t crc_of(const uint8_t *data, size_t size)
{
  uint32_t crc = ~UINT32_C(0);
  for (size_t i = 0; i < 8 * size; i++) {
    const uint32_t bit = (crc ^ data[i / 8] >> i % 8) & 1;
    crc = crc >> 1 ^ (bit ? UINT32_C(0xedb88320) : 0);
  }
  return ~crc;
}

static void put_le32(uint8_t *to, uint32_t value)
{
  for (int i = 0; i < 4; i++)
    to[i] = (uint8_t)(value >> 8 * i);
}

/* Length and CRC as they should be, so that only what was changed is wrong. */
static void seal(uint8_t *data, size_t size)
{
  put_le32(data + 12, (uint32_t)size);
  put_le32(data + size - 4, crc_of(data, size - 4));
}

static void test_golden(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  pf_case c, d;
  pf_error e = {0};
  uint8_t *bytes;
  size_t size;
  if (pf_archive_decode(golden, sizeof golden, &a, &c, &e) != PF_OK)
    fail_msg("%s at %zu", e.text, e.offset);
  char *line = check_text(&c);
  assert_string_equal(line, golden_line);
  free(line);
  check_parse(golden_line, &a, &d);
  assert_int_equal(pf_archive_encode(&d, &a, &bytes, &size, &e), PF_OK);
  assert_int_equal(size, sizeof golden);
  assert_memory_equal(bytes, golden, sizeof golden);
  assert_true(pf_archive_is(golden, sizeof golden) && pf_archive_is(golden, 8));
  assert_false(pf_archive_is(golden, 7) || pf_archive_is(golden + 1, sizeof golden - 1));
  pf_arena_free(&a);
}

static void test_round_trip(void **unused)
{
  (void)unused;
  uint64_t seed = 41;
  pf_arena a = {0};
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < 100000; i++) {
    pf_case c, d;
    pf_error e;
    uint8_t *bytes;
    size_t size;
    check_random_case(&seed, NULL, &a, &c);
    assert_int_equal(pf_archive_encode(&c, &a, &bytes, &size, &e), PF_OK);
    if (pf_archive_decode(bytes, size, &a, &d, &e) != PF_OK)
      fail_msg("%s at %zu", e.text, e.offset);
    check_equal(&d, &c, "round trip");
    /* What was decoded owns its memory. */
    memset(bytes, 0xee, size);
    check_equal(&d, &c, "after the bytes are gone");
  }
  pf_arena_free(&a);
}

/* CRC-32 finds every change of up to 32 neighbouring bits; the length, every cut. */
static void test_corruption(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  pf_case c;
  pf_error e;
  uint8_t bytes[sizeof golden + 1];
  memcpy(bytes, golden, sizeof golden);
  for (size_t i = 0; i < sizeof golden; i++)
    for (int change = 1; change < 256; change++) {
      bytes[i] = (uint8_t)(golden[i] ^ change);
      assert_int_equal(pf_archive_decode(bytes, sizeof golden, &a, &c, &e), PF_BAD_INPUT);
      bytes[i] = golden[i];
    }
  for (size_t size = 0; size < sizeof golden; size++) {
    assert_int_equal(pf_archive_decode(golden, size, &a, &c, &e), PF_BAD_INPUT);
    assert_true(e.offset <= size);
  }
  for (int more = 0; more < 256; more++) {
    bytes[sizeof golden] = (uint8_t)more;
    assert_int_equal(pf_archive_decode(bytes, sizeof bytes, &a, &c, &e), PF_BAD_INPUT);
    assert_int_equal(e.offset, 12);
  }
  assert_int_equal(pf_archive_decode(golden, sizeof golden, &a, &c, &e), PF_OK);
  pf_arena_free(&a);
}

/* Random damage under a right length and CRC: an answer, whatever it is, and a case if it is OK. */
static void test_sealed_damage(void **unused)
{
  (void)unused;
  uint64_t seed = 42;
  int accepted = 0;
  pf_arena a = {0};
  print_message("seed %" PRIu64 "\n", seed);
  for (int i = 0; i < 200000; i++) {
    uint8_t bytes[sizeof golden];
    pf_case c;
    pf_error e;
    const size_t size = i % 4 ? sizeof bytes : 20 + check_random(&seed) % (sizeof bytes - 20);
    memcpy(bytes, golden, sizeof bytes);
    for (uint64_t n = check_random(&seed) % 4 + 1; n > 0; n--) {
      const size_t at = 16 + check_random(&seed) % (sizeof bytes - 16);
      bytes[at] = check_random(&seed) % 2 ? (uint8_t)(check_random(&seed) % 8)
                                          : (uint8_t)check_random(&seed);
    }
    seal(bytes, size);
    pf_arena_reset(&a);
    const pf_status s = pf_archive_decode(bytes, size, &a, &c, &e);
    assert_true(s == PF_OK || (s == PF_BAD_INPUT && e.offset <= size));
    accepted += s == PF_OK;
    if (s == PF_OK)
      assert_int_equal(pf_case_finish(&c, NULL), PF_OK);
  }
  assert_in_range(accepted, 1000, 150000);
  pf_arena_free(&a);
}

/* One change each, sealed: what is said, and of which byte. */

typedef struct damage {
  size_t at, remove, insert;
  uint8_t bytes[40];
  size_t offset;
  const char *says;  /* NULL: accepted */
} damage;

static const damage damages[] = {
  {8, 1, 1, {2}, 8, "version 2"},
  {8, 1, 1, {0}, 8, "version 0"},
  /* fields */
  {16, 9, 0, {0}, 214, "no field 8001"},
  {25, 22, 0, {0}, 201, "no field 8002"},
  {75, 13, 0, {0}, 210, "no field 8020"},
  {129, 12, 0, {0}, 211, "no field 8031"},
  {88, 53, 0, {0}, 0, "y: missing"},
  {88, 28, 0, {0}, 88, "field 8021, but there is no such tensor"},
  {141, 33, 0, {0}, 141, "field 8042, but there is no such tensor"},
  {204, 19, 0, {0}, 0, NULL},
  {25, 0, 9, {1, 0x80, 3, 0, 0, 0, 0, 5, 0}, 25, "field 8001 twice"},
  {223, 0, 9, {1, 0x80, 3, 0, 0, 0, 0, 5, 0}, 223, "field 8001 twice"},
  {223, 0, 6, {9, 0x80, 0, 0, 0, 0}, 223, "unknown field 8009"},
  {223, 0, 6, {0x24, 0x80, 0, 0, 0, 0}, 223, "unknown field 8024"},
  {223, 0, 6, {0x15, 0x80, 0, 0, 0, 0}, 223, "unknown field 8015"},
  {16, 0, 6, {0x50, 0xff, 0, 0, 0, 0}, 16, "unknown field ff50"},
  {16, 0, 9, {1, 0x00, 3, 0, 0, 0, 1, 2, 3}, 0, NULL},
  {223, 0, 12, {0xff, 0x7f, 0, 0, 0, 0, 0xff, 0x7f, 0, 0, 0, 0}, 0, NULL},
  {223, 0, 1, {0}, 223, "1 bytes that are no field"},
  {223, 0, 5, {1, 0, 0, 0, 0}, 223, "5 bytes that are no field"},
  {223, 0, 6, {1, 0, 1, 0, 0, 0}, 225, "field 0001 of 1 bytes, 0 are left"},
  {206, 4, 4, {0xff, 0xff, 0xff, 0xff}, 206, "field 8014 of 4294967295 bytes, 13 are left"},
  {206, 1, 1, {14}, 206, "field 8014 of 14 bytes, 13 are left"},
  {206, 1, 1, {12}, 222, "1 bytes that are no field"},
  /* what */
  {22, 1, 1, {1}, 22, "operation 1, known are 0..0"},
  {23, 1, 1, {7}, 23, "graph 7, known are 0..6"},
  {23, 1, 1, {3}, 25, "field 8002, but the graph has no alpha and beta"},
  {24, 1, 1, {2}, 24, "flags 2, known are 0..1"},
  {24, 1, 1, {1}, 204, "field 8014, but the output is c"},
  {18, 5, 6, {4, 0, 0, 0, 0, 0}, 18, "field 8001 has 4 bytes, not 3"},
  {27, 5, 6, {17, 0, 0, 0, 0, 0}, 27, "field 8002 has 17 bytes, not 16"},
  /* tensors */
  {53, 1, 1, {11}, 53, "dtype 11, known are 0..10"},
  {54, 1, 1, {7}, 54, "rank 7, known are 0..6"},
  {54, 1, 1, {1}, 49, "field 8010 has 22 bytes, not 14"},
  {49, 26, 4, {0, 0, 0, 0}, 49, "field 8010 has 0 bytes, not 6"},
  {49, 26, 5, {1, 0, 0, 0, 3}, 49, "field 8010 has 1 bytes, not 6"},
  {206, 17, 4, {0, 0, 0, 0}, 206, "field 8014 has 0 bytes, not 5"},
  {55, 4, 4, {1, 0, 4, 0}, 0, "x: size 262145 of dimension 0"},
  {55, 4, 4, {0xff, 0xff, 0xff, 0xff}, 0, "x: size 4294967295 of dimension 0"},
  {63, 4, 4, {0, 0, 0, 0x80}, 0, "x: stride 2147483648"},
  {71, 4, 4, {1, 0x10, 0, 0}, 0, "x: offset 4097"},
  {215, 4, 4, {0, 0, 0, 0}, 0, NULL}, /* along a size of one */
  {211, 4, 4, {0, 0, 0, 0}, 0, "out: overlaps itself"},
  /* values */
  {81, 1, 1, {10}, 81, "kind 10, known are 0..9"},
  {82, 1, 1, {10}, 82, "kind 10, known are 0..9"},
  {82, 1, 1, {9}, 0, "x: verbatim values do not mix"},
  {77, 5, 6, {8, 0, 0, 0, 0, 0}, 77, "field 8020 has 8 bytes, not 7"},
  {81, 3, 3, {9, 0, 0}, 223, "no field 8030"},
  {122, 1, 1, {1}, 129, "field 8031, but the values are not verbatim"},
  {131, 10, 9, {5, 0, 0, 0, 0, 0x3c, 0, 0x40, 0}, 131, "5 bytes for 3 elements of 2"},
  {131, 10, 8, {4, 0, 0, 0, 0, 0x3c, 0, 0x40}, 131, "4 bytes for 3 elements of 2"},
  {176, 28, 4, {0, 0, 0, 0}, 176, "0 bytes of edits, 12 each"},
  {176, 28, 5, {1, 0, 0, 0, 0}, 176, "1 bytes of edits, 12 each"},
  {180, 1, 1, {1}, 0, "c: edit of element 1 of 1"},
};

static void test_damage(void **unused)
{
  (void)unused;
  pf_arena a = {0};
  for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
    const damage *d = &damages[i];
    uint8_t bytes[sizeof golden + sizeof d->bytes];
    const size_t size = sizeof golden - d->remove + d->insert, behind = d->at + d->remove;
    pf_error e = {.text = "accepted"};
    pf_case c;
    memcpy(bytes, golden, d->at);
    memcpy(bytes + d->at, d->bytes, d->insert);
    memcpy(bytes + d->at + d->insert, golden + behind, sizeof golden - behind);
    seal(bytes, size);
    const pf_status s = pf_archive_decode(bytes, size, &a, &c, &e);
    if ((s == PF_OK) != !d->says ||
        (d->says && (!strstr(e.text, d->says) || e.offset != d->offset)))
      fail_msg("damage %zu: %s at %zu, expected %s at %zu", i, e.text, e.offset,
               d->says ? d->says : "a case", d->offset);
  }
  pf_arena_free(&a);
}

/* Fields in another order are the same case. */
static void test_order(void **unused)
{
  (void)unused;
  uint8_t bytes[sizeof golden];
  pf_arena a = {0};
  pf_case c, d;
  pf_error e;
  size_t at = 16;
  static const struct {
    size_t from, size;
  } fields[] = {{204, 19}, {174, 30}, {129, 12}, {161, 13}, {116, 13}, {75, 13},
                {141, 20}, {88, 28},  {47, 28},  {25, 22},  {16, 9}};
  memcpy(bytes, golden, 16);
  for (size_t i = 0; i < sizeof fields / sizeof *fields; at += fields[i].size, i++)
    memcpy(bytes + at, golden + fields[i].from, fields[i].size);
  assert_int_equal(at, sizeof golden - 4);
  seal(bytes, sizeof bytes);
  assert_int_equal(pf_archive_decode(golden, sizeof golden, &a, &c, &e), PF_OK);
  assert_int_equal(pf_archive_decode(bytes, sizeof bytes, &a, &d, &e), PF_OK);
  check_equal(&d, &c, "another order");
  pf_arena_free(&a);
}

static void test_no_memory(void **unused)
{
  (void)unused;
  pf_arena a = {.limit = 1};
  pf_case c;
  pf_error e = {0};
  uint8_t *bytes;
  size_t size;
  assert_int_equal(pf_archive_decode(golden, sizeof golden, &a, &c, &e), PF_NO_MEMORY);
  assert_non_null(strstr(e.text, "no memory"));
  pf_arena unlimited = {0};
  assert_int_equal(pf_archive_decode(golden, sizeof golden, &unlimited, &c, &e), PF_OK);
  assert_int_equal(pf_archive_encode(&c, &a, &bytes, &size, &e), PF_NO_MEMORY);
  assert_non_null(strstr(e.text, "no memory"));
  pf_arena_free(&a);
  pf_arena_free(&unlimited);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_golden),     cmocka_unit_test(test_round_trip),
    cmocka_unit_test(test_corruption), cmocka_unit_test(test_sealed_damage),
    cmocka_unit_test(test_damage),     cmocka_unit_test(test_order),
    cmocka_unit_test(test_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
