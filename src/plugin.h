/* Engines of the public kind (precfuzz/engine.h) as a pf_engine: adapters in this tree, shared
   objects, other processes. */
#ifndef PF_PLUGIN_H
#define PF_PLUGIN_H

#include <precfuzz/engine.h>

#include "engine.h"

typedef struct pf_plugin pf_plugin;

typedef struct pf_plugin_options {
  int threads;           /* for the engine to work with; 0: 1 */
  bool isolate;          /* in a child, which may die */
  bool as_is;            /* what it declines is not legalised */
  int milliseconds;      /* for a call in another process; 0: ten seconds */
} pf_plugin_options;

/* Could this name an engine of the public kind?  "exec:" and anything, any text with a '/' in it, or
   an adapter's name, alone or before a ':'. */
bool pf_plugin_is(const char *spec);
/* Where the spec that a list begins with ends: at a ',' or the end; a command takes all. */
size_t pf_plugin_length(const char *list);

/* spec: "NAME", "NAME:ARGUMENT", "PATH", "PATH:ARGUMENT" or "exec:COMMAND"; PATH is a shared object's
   and has a '/'.  What is not isolated is opened in a child first, so that an engine that dies there
   takes nobody along.  PF_UNSUPPORTED where what the engine needs is not installed; PF_BAD_INPUT
   where there is no such engine or it cannot be used; e says why. */
pf_status pf_plugin_open(const char *spec, const pf_plugin_options *options, pf_plugin **out,
                         pf_error *e);
/* The other side of "exec:": opens spec in this process and answers what comes in until its end.
   0, or 1 where it could not be opened or what came was no frame. */
int pf_plugin_serve(const char *spec, const pf_plugin_options *options, int in, int out);
void pf_plugin_close(pf_plugin *p);
/* An engine in another process begins anew, without what earlier calls left in it; others stay as
   they are. */
void pf_plugin_renew(pf_plugin *p);

/* What everybody else sees; lives as long as the plug-in. */
const pf_engine *pf_plugin_engine(const pf_plugin *p);
const pf_declared *pf_plugin_declared(const pf_plugin *p);
/* Its table of dtypes, NULL where it has none. */
const pfe_types *pf_plugin_types(const pf_plugin *p, int *count);
/* Loading or opening it changed the floating-point environment (it was put back). */
bool pf_plugin_changed_control(const pf_plugin *p);

#endif
