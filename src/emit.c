/* Targets by number. */
#include "emit_parts.h"

static pf_status (*const writers[PF_EMIT_TARGETS])(const pf_emitter *m, pf_error *e) = {
  [PF_EMIT_PYTORCH] = pf_emit_pytorch,
  [PF_EMIT_NUMPY] = pf_emit_numpy,
  [PF_EMIT_C] = pf_emit_c,
};

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
  return writers[w->target](&m, e);
}
