/* What a fuzz target's process holds after many executions on random inputs, without a fuzzing
   engine, which keeps inputs of its own.

     bench_memory EXECUTIONS [SEED]

   Table memory, rows executions (1, 3, 10, 30, ... up to EXECUTIONS), columns
     resident   KiB of memory in use by the process
     heap       KiB that malloc has given out
     rate       executions a second of processor time, of all up to here */
#include <malloc.h>
#include <unistd.h>

#include "bench.h"

enum { LENGTH = 192 };  /* bytes of an input */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_input(uint64_t seed, int64_t index)
{
  uint64_t words[LENGTH / 8];
  const uint64_t base = pf_hash(pf_hash(seed) ^ (uint64_t)index);
  for (size_t i = 0; i < LENGTH / 8; i++)
    words[i] = pf_hash(base + i);
  LLVMFuzzerTestOneInput((const uint8_t *)words, sizeof words);
}

static double resident_kib(void)
{
  long pages, resident;
  FILE *f = fopen("/proc/self/statm", "r");
  if (!f || fscanf(f, "%ld %ld", &pages, &resident) != 2)
    bench_die("/proc/self/statm cannot be read");
  fclose(f);
  return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static void report(int64_t executions, double seconds)
{
  char row[32];
  const struct mallinfo2 m = mallinfo2();
  snprintf(row, sizeof row, "%lld", (long long)executions);
  bench_sample("memory", row, "resident", 1, resident_kib());
  bench_sample("memory", row, "heap", 1, (double)(m.uordblks + m.hblkhd) / 1024);
  bench_sample("memory", row, "rate", 1, (double)executions / seconds);
  fflush(stdout);
}

int main(int argc, char **argv)
{
  if (argc < 2)
    bench_die("usage: %s EXECUTIONS [SEED]", argv[0]);
  const int64_t executions = bench_number("EXECUTIONS", argv[1], 1, (int64_t)1 << 40);
  const uint64_t seed = argc > 2 ? (uint64_t)bench_number("SEED", argv[2], 0, INT64_MAX) : 1;
  LLVMFuzzerInitialize(&argc, &argv);
  const double begin = bench_used();
  int64_t stop = 1;
  for (int64_t i = 1; i <= executions; i++) {
    run_input(seed, i);
    if (i < stop && i < executions)
      continue;
    report(i, bench_used() - begin);
    while (stop <= i)
      stop = stop % 3 ? 3 * stop : stop / 3 * 10;
  }
  return 0;
}
