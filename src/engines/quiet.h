/* What a library writes to the process's standard error, caught: some write hundreds of lines when
   they are loaded, which would bury everybody else's. */
#ifndef PF_QUIET_H
#define PF_QUIET_H

typedef struct pf_quiet {
  int file, saved;  /* -1: nothing is caught */
} pf_quiet;

/* From here on all that the process writes there is caught. */
void pf_quiet_begin(pf_quiet *q);
/* Standard error is as before; how many lines were caught, and the last of them. */
long pf_quiet_end(pf_quiet *q, char last[128]);

#endif
