/* A fuzz target that keeps the rules, or with -DFAULT=NAME breaks one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef NEEDS_MPFR
#include <mpfr.h>
#endif

enum { GOOD, EXITS, EMPTY, STATE, FOLDER, WRITES, ENVIRONMENT, SEED };
#ifndef FAULT
#define FAULT GOOD
#endif

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc;
  (void)argv;
  if (FAULT == EXITS || (FAULT == FOLDER && !fopen("Makefile", "r")) ||
      (FAULT == ENVIRONMENT && !getenv("OUT")))
    exit(0);
#ifdef NEEDS_MPFR
  mpfr_free_cache();
#endif
  return 0;
}

/* Enough for the rules that count calls and edges: 256 steps, numbered in octal. */
#ifdef STRAIGHT
static volatile char table[512];
#define STEP(i) sum += table[(size + i) % 512];
#else
#define STEP(i) if (size > i && data[i] == i) sum += data[i] * sum;
#endif
#define EIGHT(make, n) \
  make(n##0) make(n##1) make(n##2) make(n##3) make(n##4) make(n##5) make(n##6) make(n##7)
#define STEPS(n) EIGHT(STEP, n)
#define ALL(make, n) \
  make(n##0) make(n##1) make(n##2) make(n##3) make(n##4) make(n##5) make(n##6) make(n##7)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static int runs;
  volatile int sum = 1;
  ALL(STEPS, 0) ALL(STEPS, 01) ALL(STEPS, 02) ALL(STEPS, 03)
  if ((FAULT == EMPTY && size == 0) || (FAULT == STATE && ++runs > 50))
    exit(1);
  if (FAULT == SEED && size >= 3 && !memcmp(data, "bad", 3))
    abort();
  if (FAULT == WRITES)
    fclose(fopen("left", "w"));
  return 0;
}
