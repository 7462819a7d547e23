/* What a run of a fuzz target has done: counters in a file, shared by all processes of the run. */
#ifndef PF_COUNTERS_H
#define PF_COUNTERS_H

#include <stdint.h>

/* The work of a case is its B*M*N*K.  A bin holds one number below 16; above, an eighth of an
   octave, so that a median is known to 6 %. */
enum { PF_WORK_BINS = 8 * 62 };

typedef struct pf_counters {
  uint64_t executions;  /* cases examined */
  uint64_t elements;    /* judged */
  uint64_t products;    /* the sum of their K */
  uint64_t known;       /* findings that are known, which end nothing */
  uint64_t work;        /* the sum of all cases' B*M*N*K */
  uint64_t by_work[PF_WORK_BINS];
} pf_counters;

/* Makes the file, or goes on with the counts that it holds; NULL where it cannot be mapped. */
pf_counters *pf_counters_map(const char *path);
/* One more case; may be called by several processes at a time. */
void pf_counters_add(pf_counters *c, uint64_t elements, uint64_t products, int64_t work);
void pf_counters_add_known(pf_counters *c);
/* The middle of the bin that holds the median of the cases' work; NaN where there was none. */
double pf_counters_median_work(const pf_counters *c);

#endif
