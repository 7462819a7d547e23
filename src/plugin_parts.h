/* What the parts of plugin.h share. */
#ifndef PF_PLUGIN_PARTS_H
#define PF_PLUGIN_PARTS_H

#include "plugin.h"
#include "remote.h"

struct pf_plugin {
  pf_engine engine;
  const pfe_engine *public;
  void *library, *state;
  pf_remote *remote;       /* it is in another process: state, too */
  pfe_engine of_remote;    /* public, then */
  pf_plugin_options options;
  pfe_info info;
  pf_declared declared, of_call;
  pfe_answer answer;
  bool opened, changed_control;
  char *spec;
  char note[160], version[288];
};

/* As pf_plugin_open, but in this very process, without a trial. */
pf_status pf_plugin_open_here(const char *spec, const pf_plugin_options *options, pf_plugin **out,
                              pf_error *e);

/* A call as the public interface has it. */
typedef struct pf_public_call {
  pfe_call call;
  pfe_step step[PFE_MAX_STEPS];
  pfe_tensor tensor[PFE_STEP + PFE_MAX_STEPS], out;
} pf_public_call;

/* *to points into itself and into the call. */
void pf_public_call_set(const pf_call *call, pf_public_call *to);

/* Is a plain MATMUL or MULSUM within the table? */
bool pf_public_types_hold(const pfe_types *types, int count, const pf_public_call *call);

/* False where a field holds none of its values: *why says which. */
bool pf_declared_from(const pfe_settings *s, pf_declared *out, const char **why);

#endif
