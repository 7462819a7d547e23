/* Targets by name. */
#include "emit_parts.h"

static const struct {
  const char *name;
  pf_status (*write)(const pf_emitter *m, pf_error *e);
} targets[PF_EMIT_TARGETS] = {
  [PF_EMIT_PYTORCH] = {"pytorch", pf_emit_pytorch},
  [PF_EMIT_NUMPY] = {"numpy", pf_emit_numpy},
  [PF_EMIT_C] = {"c", pf_emit_c},
};

const char *pf_emit_target_name(pf_emit_target t)
{
  return targets[t].name;
}

void pf_emit_quoted(FILE *to, const char *text, size_t length)
{
  fputc('"', to);
  for (size_t i = 0; i < length; i++)
    if (text[i] >= ' ' && text[i] < 0x7f && text[i] != '"' && text[i] != '\\')
      fputc(text[i], to);
    else
      fprintf(to, "\\%03o", (unsigned char)text[i]);
  fputc('"', to);
}

pf_status pf_emit(const pf_problem *p, const pf_emit_wish *w, pf_arena *a, FILE *to, pf_error *e)
{
  pf_emitter m = {.problem = p, .what = p->what, .engine = w->engine,
                  .environment = w->environment, .arena = a, .to = to};
  if (pf_tensor_case_list(p, a, &m.tensors))
    return pf_fail(e, PF_NO_MEMORY, 0, "not enough memory for the case's tensors");
  return targets[w->target].write(&m, e);
}
