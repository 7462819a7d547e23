/* A given result as an engine: what judges engines judges it, too. */
#include "engine_given.h"

#include <stdio.h>
#include <string.h>

/* Only the last step of a row is called "out". */
static bool ends_the_row(const pf_call *call)
{
  return !strcmp(call->steps[call->count - 1].name, "out");
}

static pf_status supports(const pf_engine *e, const pf_call *call, const char **why)
{
  const pf_given *g = e->data;
  const pf_dtype t = call->steps[call->count - 1].storage;
  if (!ends_the_row(call))
    return PF_UNSUPPORTED;  /* the whole was offered before, and gave the reason */
  if (t == g->tensor->dtype)
    return PF_OK;
  *why = g->why[t];
  return PF_UNSUPPORTED;
}

static pf_status run(const pf_engine *e, const pf_call *call, pf_arena *scratch)
{
  const pf_tensor_entry *t = ((const pf_given *)e->data)->tensor;
  (void)scratch;
  if (t->elements != call->problem->shape.outputs)
    return PF_ENGINE_ERROR;
  for (int64_t i = 0; i < t->elements; i++)
    call->results[i] = pf_load(t->dtype, pf_tensor_at(t, i));
  return PF_OK;
}

void pf_engine_give(const pf_tensor_entry *tensor, const char *label, pf_given *out)
{
  *out = (pf_given){
    .tensor = tensor,
    .engine = {.name = out->name, .note = "a result that was computed elsewhere",
               .reads_vectors = true, .gives_doubles = true, .data = out, .supports = supports, .run = run}};
  snprintf(out->name, sizeof out->name, "given%s%s", *label ? ":" : "", label);
  for (int t = 0; t < PF_DTYPE_COUNT; t++)
    snprintf(out->why[t], sizeof out->why[t], "the result is %s, the row gives %s",
             pf_dtype_of(tensor->dtype)->name, pf_dtype_of((pf_dtype)t)->name);
}
