/* The list of engines: the one place that names them all. */
#include "engine.h"

#include <string.h>

#include "engine_reference.h"
#include "faults/faults.h"

const pf_engine *const pf_engines[] = {
  &pf_reference_forward, &pf_reference_forward_fma,
  &pf_reference_backward, &pf_reference_backward_fma,
  &pf_reference_pairwise, &pf_reference_pairwise_fma,
  &pf_reference_blocked8, &pf_reference_blocked8_fma,
  &pf_reference_lanes8, &pf_reference_lanes8_fma,
  PF_FAULT_ENGINES
  NULL
};

const pf_engine *pf_engine_find(const char *name, size_t length)
{
  for (const pf_engine *const *e = pf_engines; *e; e++)
    if (strlen((*e)->name) == length && !memcmp((*e)->name, name, length))
      return *e;
  return NULL;
}
