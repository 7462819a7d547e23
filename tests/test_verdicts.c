/* The same bytes come to the same case, the same results and the same verdicts whatever compiles
   precfuzz: a hash over ten thousand cases on the reference engines, the same in every flavour, on
   every system. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "form_archive.h"
#include "form_fuzz.h"
#include "mpfr_oracle.h"
#include "report.h"

enum { SEED = 7, CASES = 10000, LENGTH = 96, WORK = 1 << 9 };

static const uint64_t expected = 0x860a528c85b30273;

typedef struct running {
  uint64_t hash;
  uint64_t results, findings;
} running;

static void add(running *r, uint64_t word)
{
  r->hash = pf_hash(r->hash ^ word);
}

static void add_bytes(running *r, const void *data, size_t size)
{
  for (size_t i = 0; i < size; i++) add(r, ((const uint8_t *)data)[i]);
}

/* NaN is one value here. */
static void add_number(running *r, double v)
{
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  add(r, isnan(v) ? UINT64_MAX : bits);
}

static void take(void *user, const pf_result *result)
{
  running *r = user;
  char signature[PF_SIGNATURE_TEXT];
  pf_signature(result, signature, sizeof signature);
  add_bytes(r, signature, strlen(signature));
  add(r, (uint64_t)result->tally.judged);
  add(r, (uint64_t)result->tally.wrong);
  add_number(r, result->worst.error);
  for (int64_t i = 0; result->run && i < result->problem->shape.outputs; i++)
    add_number(r, result->run->got[i]);
  r->results++;
  r->findings += pf_verdict_is_finding(result->verdict);
}

/* One of the engines a case; some by the promise of their graph, so that there are findings. */
static void test_hash(void **unused)
{
  static const pf_filter filter = {.max_work = WORK};
  pf_session s = {0};
  pf_options all;
  running r = {0};
  (void)unused;
  pf_options_default(&all);
  assert_int_equal(pf_mpfr_oracle_new(&s.oracle), PF_OK);
  for (uint64_t i = 0; i < CASES; i++) {
    uint8_t bytes[LENGTH], *data;
    size_t size;
    pf_case c;
    for (uint64_t j = 0; j < LENGTH; j++) bytes[j] = (uint8_t)pf_hash(pf_hash(SEED + i) + j);
    pf_arena_reset(&s.cases);
    assert_int_equal(pf_fuzz_decode(bytes, LENGTH, &filter, &s.cases, &c), PF_OK);
    assert_int_equal(pf_archive_encode(&c, &s.cases, &data, &size, NULL), PF_OK);
    add_bytes(&r, data, size);
    s.options = all;
    s.options.engine[0] = all.engine[i % (uint64_t)all.engine_count];
    s.options.engine_count = 1;
    s.options.no_models = true;
    s.options.rule.kind = i % 4 ? PF_RULE_CONTRACT : PF_RULE_GRAPH;
    assert_int_equal(pf_session_examine(&s, &c, take, &r), PF_OK);
  }
  print_message("%d cases, %llu results, %llu findings: hash %016llx\n", CASES,
                (unsigned long long)r.results, (unsigned long long)r.findings,
                (unsigned long long)r.hash);
  assert_true(r.findings > CASES / 100);
  assert_true(r.hash == expected);
  pf_session_free(&s);
  pf_mpfr_oracle_free(&s.oracle);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_hash)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
