/* An engine in another process, as it looks from here: it can crash, hang or talk nonsense, and the
   next call begins with a new process. */
#ifndef PF_REMOTE_H
#define PF_REMOTE_H

#include "wire.h"

/* How the process comes about; one of the two. */
typedef struct pf_remote_how {
  const char *command;                 /* for sh -c: it speaks on its standard input and output */
  int (*serve)(void *user, int fd);    /* what a forked child does; its exit status */
  void *user;
  int open_milliseconds, call_milliseconds;  /* time for an answer */
} pf_remote_how;

typedef struct pf_remote pf_remote;

/* NULL: no memory.  The command and what user points to must outlive it. */
pf_remote *pf_remote_new(const pf_remote_how *how);
void pf_remote_free(pf_remote *r);

/* Starts the process and asks who it is; *e gets a name and flags that live as long as r.
   PFE_ERROR where it did not come to that: *died tells whether the process did. */
pfe_status pf_remote_open(pf_remote *r, const pfe_request *request, pfe_engine *e, pfe_info *info,
                          char text[192], bool *died);
/* As pfe_engine has it; state is a pf_remote. */
pfe_status pf_remote_run(void *state, const pfe_call *call, pfe_answer *answer);

/* The next call begins with a new process, unless this one has had none. */
void pf_remote_renew(pf_remote *r);

/* Of the last call, or of the opening. */
bool pf_remote_died(const pf_remote *r);
const pf_wire_seen *pf_remote_seen(const pf_remote *r);
const char *pf_remote_said(const pf_remote *r);  /* the end of its standard error; "" */

#endif
