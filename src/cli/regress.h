/* What the parts of precfuzz regress share. */
#ifndef PF_REGRESS_H
#define PF_REGRESS_H

#include "json.h"

/* What became of a known finding. */
typedef enum pf_outcome {
  PF_STILL,    /* the case shows it */
  PF_FIXED,    /* it should, and nothing is wrong any more */
  PF_CHANGED,  /* it shows another finding */
  PF_SKIPPED,  /* the engine, version, ISA or kernel is not there */
  PF_WRONG,    /* the entry or its case is no good, or the machinery failed: messages say how */
  PF_OUTCOME_COUNT
} pf_outcome;

const char *pf_outcome_name(pf_outcome o);

typedef struct pf_replay {
  const pf_regression *entry;
  pf_outcome outcome;
  int code;               /* PF_WRONG: an exit code */
  bool shows;             /* some result is the finding */
  char why[600];          /* one line */
  char found[PF_SIGNATURE_TEXT];  /* PF_CHANGED: of the finding there is; "" */
  char *engine;           /* what library, version and details; NULL: unknown, or our own */
  char release[64], isa[96], kernel[96];  /* of the result; "" */
  char *command;          /* that runs the case like this; NULL: it was not run */
} pf_replay;

/* The entry's engine runs the case in the file at path by the entry's strategies, to be judged by
   its rule. */
void pf_replay_case(pf_settings *s, const pf_regression *k, const char *path, pf_form form,
                    pf_replay *out);
void pf_replay_free(pf_replay *r);

/* What --add is given; NULL: nothing. */
typedef struct pf_new_entry {
  const char *name, *signature, *reason, *reported, *model, *file;
} pf_new_entry;

/* Writes case and entry to the first of the settings' folders, where the case shows the finding now.
   An exit code. */
int pf_regress_add(pf_settings *s, const pf_new_entry *what);

json_t *pf_replay_json(const pf_replay *r);

#endif
