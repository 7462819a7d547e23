/* What the counters of a run (PRECFUZZ_STATS) say, as a line of numbers with tabs between:
   executions, elements judged, products judged, mean and median B*M*N*K of the cases.

     bench_counters FILE */
#include <inttypes.h>
#include <unistd.h>

#include "bench.h"
#include "counters.h"

int main(int argc, char **argv)
{
  if (argc != 2)
    bench_die("usage: %s FILE", argv[0]);
  const pf_counters *c = access(argv[1], R_OK) ? NULL : pf_counters_map(argv[1]);
  if (!c)
    bench_die("%s: cannot be read", argv[1]);
  printf("%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.6g\t%.6g\n", c->executions, c->elements,
         c->products, (double)c->work / (double)c->executions, pf_counters_median_work(c));
  return 0;
}
