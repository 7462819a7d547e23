/* What is found out of libraries, on engines that add in one format or the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "dtype.h"
#include "engines/measure.h"

/* How the engine of the test adds. */
typedef struct habit {
  bool narrow, rounds_products;
  int first;   /* the term that it begins with; then the others in a ring */
} habit;

static double as_f16(double x)
{
  return pf_round(pf_format_of(PF_F16), x);
}

static pfe_status add(void *state, const pfe_call *call, pfe_answer *answer)
{
  const habit *h = state;
  const pfe_tensor *a = call->tensor[PFE_X], *b = call->tensor[PFE_Y];
  double sum = 0;
  (void)answer;
  for (int64_t i = 0; i < call->k; i++) {
    const int64_t at = (i + h->first) % call->k;
    const double x = pf_load(PF_F16, (const uint16_t *)a->data + at * a->column_stride);
    const double y = pf_load(PF_F16, (const uint16_t *)b->data + at * b->row_stride);
    const double product = h->rounds_products ? as_f16(x * y) : x * y;
    sum = h->narrow ? as_f16(sum + product) : sum + product;
  }
  pf_store(PF_F16, call->out->data, sum);
  return PFE_OK;
}

static pfe_status refuse(void *state, const pfe_call *call, pfe_answer *answer)
{
  (void)state;
  (void)call;
  strcpy(answer->text, "out of luck");
  return PFE_ERROR;
}

static bool is_narrow(habit h)
{
  const pfe_engine engine = {.run = add};
  pfe_answer answer = {.text = ""};
  bool narrow = false;
  assert_int_equal(pf_measure_f16(&engine, &h, &narrow, &answer), PFE_OK);
  return narrow;
}

static void test_format_of_sums_is_found_in_every_order(void **state)
{
  (void)state;
  for (int first = 0; first < 3; first++) {
    assert_false(is_narrow((habit){.first = first}));
    assert_true(is_narrow((habit){.narrow = true, .first = first}));
    assert_true(is_narrow((habit){.rounds_products = true, .first = first}));
  }
}

static void test_failure_is_passed_on(void **state)
{
  (void)state;
  const pfe_engine engine = {.run = refuse};
  pfe_answer answer = {.text = ""};
  bool narrow;
  assert_int_equal(pf_measure_f16(&engine, NULL, &narrow, &answer), PFE_ERROR);
  assert_string_equal(answer.text, "out of luck");
}

static void test_instructions_have_a_name(void **state)
{
  (void)state;
  assert_true(strlen(pf_measure_isa()) > 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_format_of_sums_is_found_in_every_order),
    cmocka_unit_test(test_failure_is_passed_on),
    cmocka_unit_test(test_instructions_have_a_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
