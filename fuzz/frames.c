/* Where a finding ends the process: one of 64 frames, the same one for the same finding.
   ClusterFuzz and its like group crashes by the frames on top of the stack and the line of the
   assertion.  Each function says its name, so that no compiler takes two of them for one. */
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"

#define FRAME(n)                                                           \
  __attribute__((noinline, noreturn)) static void finding_##n(void)       \
  {                                                                        \
    fputs("    frame     finding_" #n "\n", stderr);                       \
    abort();                                                               \
  }

#define EIGHT(make, n) \
  make(n##0) make(n##1) make(n##2) make(n##3) make(n##4) make(n##5) make(n##6) make(n##7)
#define ALL(make)                                                                       \
  EIGHT(make, 0) EIGHT(make, 1) EIGHT(make, 2) EIGHT(make, 3) EIGHT(make, 4) EIGHT(make, 5) \
  EIGHT(make, 6) EIGHT(make, 7)

ALL(FRAME)

#define NAME(n) finding_##n,

enum { FRAMES = 64 };

void pf_abort_as(uint64_t hash)
{
  static void (*const frames[FRAMES])(void) = {ALL(NAME)};
  frames[hash % FRAMES]();
  abort();
}
