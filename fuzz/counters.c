/* The counters that PRECFUZZ_STATS asks for. */
#include "counters.h"

#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

pf_counters *pf_counters_map(const char *path)
{
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0)
    return NULL;
  pf_counters *c = MAP_FAILED;
  if (!ftruncate(fd, sizeof *c))
    c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return c == MAP_FAILED ? NULL : c;
}

/* The number of the bin: three bits behind the leading one, below the exponent. */
static int bin_of(int64_t work)
{
  if (work < 8)
    return (int)work;
  const int shift = 60 - __builtin_clzll((unsigned long long)work);
  return 8 * shift + (int)(work >> shift);
}

void pf_counters_add(pf_counters *c, uint64_t elements, uint64_t products, int64_t work)
{
  __atomic_fetch_add(&c->executions, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&c->elements, elements, __ATOMIC_RELAXED);
  __atomic_fetch_add(&c->products, products, __ATOMIC_RELAXED);
  __atomic_fetch_add(&c->work, (uint64_t)work, __ATOMIC_RELAXED);
  __atomic_fetch_add(&c->by_work[bin_of(work)], 1, __ATOMIC_RELAXED);
}

void pf_counters_add_known(pf_counters *c)
{
  __atomic_fetch_add(&c->known, 1, __ATOMIC_RELAXED);
}

double pf_counters_median_work(const pf_counters *c)
{
  uint64_t cases = 0, below = 0;
  for (int i = 0; i < PF_WORK_BINS; i++)
    cases += c->by_work[i];
  for (int i = 0; i < PF_WORK_BINS; i++) {
    below += c->by_work[i];
    if (2 * below >= cases && cases)
      return i < 8 ? i : ldexp(8 + i % 8 + 0.5, i / 8 - 1) - 0.5;
  }
  return NAN;
}
