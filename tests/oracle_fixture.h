/* One MPFR oracle for a whole test program, as cmocka's group fixtures. */
#ifndef PF_TESTS_ORACLE_FIXTURE_H
#define PF_TESTS_ORACLE_FIXTURE_H

#include "mpfr_oracle.h"

static pf_oracle oracle;

static int open_oracle(void **state)
{
  (void)state;
  return pf_mpfr_oracle_new(&oracle);
}

static int close_oracle(void **state)
{
  (void)state;
  pf_mpfr_oracle_free(&oracle);
  return 0;
}

#endif
