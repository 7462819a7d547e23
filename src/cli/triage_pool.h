/* Work shared by children of this process.  Each opens its own engines; one that is killed takes
   nothing along but what it had in hand. */
#ifndef PF_TRIAGE_POOL_H
#define PF_TRIAGE_POOL_H

#include "cli.h"

enum {
  PF_POOL_MOST_JOBS = 1024,
  PF_POOL_LEFT = -1  /* not done, and nothing is wrong with it */
};

typedef struct pf_pool {
  const pf_settings *settings;  /* as the options said; closed */
  int jobs;
  size_t count;
  /* In a child, for one item: an exit code, its message printed, or PF_POOL_LEFT. */
  int (*work)(void *user, pf_settings *s, size_t index);
  const char *(*name)(const void *user, size_t index);  /* for the message where a child dies */
  void *user;
  void *shared;                 /* of pf_pool_memory, that items are written to */
  size_t shared_size;           /* bytes */
  const char *doing;            /* for progress: "files looked at" */
  bool notices;                 /* tell what opening engines tells */
  double until;                 /* seconds of the progress; 0: no limit */
  pf_progress *progress;
} pf_pool;

/* code[i]: what came of item i, which is PF_POOL_LEFT after an interrupt or the limit.  Returns an
   exit code: whether engines could be opened and children made. */
int pf_pool_run(const pf_pool *p, int *code);

/* Zeroed memory that children share; NULL: none. */
void *pf_pool_memory(size_t bytes);
void pf_pool_memory_free(void *memory, size_t bytes);

#endif
