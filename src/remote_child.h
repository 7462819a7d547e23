/* The process of a remote engine. */
#ifndef PF_REMOTE_CHILD_H
#define PF_REMOTE_CHILD_H

#include <sys/types.h>

#include "remote.h"

typedef struct pf_child {
  pid_t pid;     /* 0: there is none */
  pid_t owner;   /* the process that started it */
  int fd;        /* our end of the socket that is its standard input and output; -1 */
  int said;      /* what it writes to standard error; -1 */
} pf_child;

enum { PF_CHILD_SAID = 2000 };  /* characters kept of that */

pf_status pf_child_start(pf_child *c, const pf_remote_how *how, pf_error *e);
/* What it has said from now on counts. */
void pf_child_listen(const pf_child *c);
/* The end of what it has said, NUL at its end. */
void pf_child_said(const pf_child *c, char to[PF_CHILD_SAID]);
/* Ends it, if it has not ended by itself within a moment; text says how it did. */
void pf_child_end(pf_child *c, bool at_once, char text[80]);

#endif
