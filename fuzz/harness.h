/* What all fuzz targets share, and the only place that aborts.

   Settings come from the environment, read once:
     PRECFUZZ_ENGINES     names and shared objects, comma-separated, as options.h has them
     PRECFUZZ_ENGINES_FILE  a file of them, one a line (# begins a comment)
     PRECFUZZ_THREADS     that a library may use; default 1
     PRECFUZZ_ISOLATE     1: foreign engines run in children, as they do where there are several
     PRECFUZZ_REPEAT      1: foreign engines run each call twice
     PRECFUZZ_TIMEOUT     seconds for a call in another process; default 10
     PRECFUZZ_STRATEGIES  names, comma-separated, or one row as text
     PRECFUZZ_RULE        contract, graph, agree, torch, ulp:N, abs:X,rel:Y or nmse:X
     PRECFUZZ_ORACLE      certified (the default), mpfr, or both, which must agree
     PRECFUZZ_KNOWN       a folder of findings that are known (regression.h) and do not abort, or
                          several: A:B
     PRECFUZZ_STATS       a file for counters that all processes of a run share (counters.h) */
#ifndef PF_HARNESS_H
#define PF_HARNESS_H

#include <stddef.h>
#include <stdint.h>

#include "regression.h"

/* The settings, for targets and for the command line alike.  PF_BAD_INPUT with a text that names
   the variable. */
pf_status pf_environment_read(pf_options *o, pf_error *e);

/* A whole file with a NUL behind it, to be freed. */
pf_status pf_text_read(const char *path, char **out, size_t *size, pf_error *e);

#define PF_KNOWN_LIST "known.txt"
/* The known findings of folders with ':' between: the list FOLDER/known.txt and FOLDER/NAME.case
   for each entry.  PF_BAD_INPUT where there is no list, it is wrong, a case is missing or a file is
   of no entry; "none" stands for an empty list. */
pf_status pf_known_open(const char *folders, pf_regressions *out, pf_error *e);
/* FOLDER/NAME.case, to be freed; NULL: no memory. */
char *pf_known_path(const char *folder, const char *name);

typedef struct pf_target {
  const char *name;        /* of the fuzz target */
  pf_rule_kind rule;       /* its defaults: the environment overrides them */
  const char *strategies;  /* NULL: all rows */
  pf_oracle_use oracle;
  bool only_equal;         /* with the default strategies: judge only equal enclosures */
} pf_target;

/* Reads the settings.  Returns 0, or prints what is wrong with them and ends the process (2). */
int pf_harness_open(const pf_target *t);
/* One input: prints and aborts on a finding that is not known.  Returns 0. */
int pf_harness_examine(const uint8_t *data, size_t size);

/* Ends the process for a finding with this hash (pf_finding_hash): in one of 64 functions, so that
   those who group crashes by frames see which it is.  frames.c */
_Noreturn void pf_abort_as(uint64_t hash);

#endif
