/* Models: rows with one fault-like knob turned, replayed to say what a wrong result looks like. */
#ifndef PF_MODEL_H
#define PF_MODEL_H

#include "interpret.h"

/* A model that reproduces every element of a result bit for bit (zeros and NaNs equal). */
typedef struct pf_match {
  const char *model;   /* "daz", ...; NULL: none fits */
  const char *says;    /* what it stands for, one line */
  const char *engine;  /* the reference engine whose order it took */
} pf_match;

/* Tries every model in every order of the reference engines, the most specific first.  plan: the
   row that was to be followed; got: one double per output element; scratch is emptied. */
pf_status pf_model_find(const pf_problem *p, const pf_plan *plan, const double *got,
                        pf_arena *scratch, pf_match *out);

#endif
