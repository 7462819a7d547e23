/* Minimizing a file, for commands. */
#ifndef PF_MINIMIZE_FILE_H
#define PF_MINIMIZE_FILE_H

#include "cli.h"
#include "minimize.h"

/* Runs that tell how often a finding shows; fewer where they take long. */
enum { PF_TRIES = 20 };

typedef struct pf_shown {
  int times, tries;
} pf_shown;

/* What a file shows, and what its case came to. */
typedef struct pf_minimized_file {
  pf_finding finding;
  bool foreign;          /* a library: it may not show the finding every time */
  bool known;            /* the finding; else one that is known is not it, if signatures agree */
  bool sums;             /* K > 0 in the case that showed it */
  bool anew;             /* a library that keeps what changes results: each candidate ran in a new
                            process */
  pf_shown before, after;  /* the case of the file, and the best one */
  pf_minimized now;      /* now.data: NULL where it did not come to that */
  pf_case best;          /* the same, decoded */
  double seconds;        /* that minimizing took */
} pf_minimized_file;

typedef struct pf_minimize_job {
  pf_settings *settings; /* open; its options are narrowed to the finding */
  const char *signature; /* of the finding that is wanted; NULL: the first that is not known */
  const char *at;        /* its step, where a signature is given; NULL: any */
  const char *output;    /* gets the case as it is, then better ones, each whole or not at all */
  double seconds;        /* at most; 0: no limit */
  pf_progress progress;
} pf_minimize_job;

/* What was seen on the way to a finding, or in its place. */
typedef struct pf_sight {
  bool found;
  int tries;                     /* until it was */
  const pf_regression *known;    /* one that was passed over; NULL */
  char other[PF_SIGNATURE_TEXT]; /* one of another signature or step; "" */
  char failed[240];              /* "ENGINE: STRATEGY: why" where the machinery failed; "" */
} pf_sight;

/* Libraries in processes of their own begin anew, so that nothing that ran before counts. */
void pf_minimize_renew(const pf_settings *s);

/* Looks, in new processes, for the job's finding among what the options run, and how often it shows; where there is
   one, out has finding, foreign and before, and the options are narrowed to it.  An exit code, its
   message printed: that there is none is not told. */
int pf_minimize_look(pf_minimize_job *job, const pf_case *c, pf_minimized_file *out,
                     pf_sight *sight);

/* The case in `file`, read into the session's arena, must show a finding.  Interrupts and the limit
   end it early with what is best so far.  out->now lives in *keep, out->best in the session's
   arena; both are there even where the last of them could not be written.  An exit code, its
   message printed. */
int pf_minimize_file(pf_minimize_job *job, const pf_case_file *file, pf_arena *keep,
                     pf_minimized_file *out);

#endif
