/* Random cases and their text, for tests of everything that takes a case. */
#ifndef PF_CASE_CHECKS_H
#define PF_CASE_CHECKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "form_fuzz.h"
#include "form_text.h"

/* Bytes of an input of the fuzz form that leaves nothing to wrap around, mostly. */
enum { CHECK_INPUT = 320 };

static inline uint64_t check_random(uint64_t *state)
{
  return pf_hash((*state)++);
}

static inline void check_bytes(uint64_t *state, uint8_t *to, size_t n)
{
  for (size_t i = 0; i < n; i++)
    to[i] = (uint8_t)(check_random(state) >> 32);
}

/* A random case; resets the arena. */
static inline void check_random_case(uint64_t *state, const pf_filter *filter, pf_arena *a,
                                     pf_case *out)
{
  uint8_t bytes[CHECK_INPUT];
  check_bytes(state, bytes, sizeof bytes);
  pf_arena_reset(a);
  assert_int_equal(pf_fuzz_decode(bytes, sizeof bytes, filter, a, out), PF_OK);
}

/* To be freed. */
static inline char *check_text(const pf_case *c)
{
  char *text = NULL;
  size_t size = 0;
  FILE *to = open_memstream(&text, &size);
  assert_non_null(to);
  pf_text_print(c, to);
  assert_int_equal(fclose(to), 0);
  return text;
}

/* The case that a line says; fails the test where it says none. */
static inline void check_parse(const char *line, pf_arena *a, pf_case *out)
{
  pf_error e = {0};
  if (pf_text_parse(line, strlen(line), a, out, &e) != PF_OK)
    fail_msg("%s: %s", line, e.text);
}

static inline void check_equal(const pf_case *got, const pf_case *expected, const char *what)
{
  if (pf_case_equal(got, expected))
    return;
  char *a = check_text(got), *b = check_text(expected);
  fail_msg("%s: got\n%s\nexpected\n%s", what, a, b);
}

#endif
