/* The same as builds with 64-bit integers are. */
#include <stdint.h>

#define INTEGER int64_t
#define NAME(f) f##64_
#include "fake_blas.c"
