/* Whole cases on compiled graphs. These take dense inputs of the sizes that they were compiled
   for: a size of 1, or any from 2 on. For what else there is, PyTorch would compile anew. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "inductor_parts.h"
#include "library.h"

/* --- which one ----------------------------------------------------------------------------- */

static const int roles[] = {PFE_X, PFE_Y, PFE_C, PFE_BIAS};
enum { ROLES = sizeof roles / sizeof *roles };

static bool has_dtypes(const pf_inductor_model *m, const pfe_call *call)
{
  for (int r = 0; r < ROLES; r++)
    if (call->tensor[roles[r]] && call->tensor[roles[r]]->dtype != m->dtype)
      return false;
  return true;
}

static bool has_sizes(const pf_inductor_model *m, const pfe_call *call)
{
  const int64_t size[PF_IND_SIZES] = {call->batches, call->m, call->n, call->k};
  for (int s = m->batched ? PF_IND_B : PF_IND_M; s < PF_IND_SIZES; s++)
    if (m->size[s] ? size[s] != m->size[s] : size[s] < 2)
      return false;
  return m->batched == (call->batch_rank > 0);
}

/* NULL, and why. */
static pf_inductor_model *find(const pf_inductor *d, const pfe_call *call, const char **why)
{
  *why = "this graph is not compiled";
  for (int i = 0; i < d->count; i++) {
    pf_inductor_model *m = &d->model[i];
    if (strcmp(m->graph, call->graph))
      continue;
    if (!has_dtypes(m, call)) {
      if (!strcmp(*why, "this graph is not compiled"))
        *why = "this graph is not compiled for these dtypes";
    } else if (has_sizes(m, call)) {
      return m;
    } else {
      *why = "this graph is not compiled for these sizes";
    }
  }
  return NULL;
}

/* --- calls --------------------------------------------------------------------------------- */

static bool is_linear(const pfe_call *call)
{
  return !strcmp(call->graph, "linear");
}

static const char *declined(const pfe_call *call)
{
  const pfe_tensor *bias = call->tensor[PFE_BIAS];
  if (call->tensor[PFE_C] && (call->alpha != 1 || call->beta != 1))
    return "compiled for alpha = 1 and beta = 1";
  if (is_linear(call) && !bias)
    return "compiled with a bias";
  if (is_linear(call) && bias->row_stride && call->m > 1)
    return "linear takes one bias for all rows";
  return NULL;
}

pfe_status pf_inductor_supports(void *state, const pfe_call *call, pfe_answer *answer)
{
  const pf_inductor *d = state;
  const char *why;
  const pf_inductor_model *m = find(d, call, &why);
  if (m)
    why = declined(call);
  snprintf(answer->text, sizeof answer->text, "%s", why ? why : "");
  if (why)
    return PFE_UNSUPPORTED;
  snprintf(answer->kernel, sizeof answer->kernel, "%.*s", (int)strcspn(m->file, "."), m->file);
  snprintf(answer->row, sizeof answer->row, "%s", m->row);
  if (!m->row[0] && pf_torch_is_large(call))
    pf_torch_declare(&d->torch, m->dtype, &answer->settings);
  return PFE_OK;
}

static pfe_status load(const pf_inductor *d, pf_inductor_model *m, char text[192])
{
  char path[640];
  const char *const files[] = {path, NULL};
  const pf_symbol symbols[] = {
    {(void **)&m->f.create, "AOTInductorModelContainerCreateWithDevice", 0},
    {(void **)&m->f.destroy, "AOTInductorModelContainerDelete", 0},
    {(void **)&m->f.run, "AOTInductorModelContainerRun", 0}, {0}};
  snprintf(path, sizeof path, "%s/%s", d->folder, m->file);
  if (pf_library_open(files, "python3-torch, then make inductor", symbols, &m->library, text))
    return PFE_ERROR;
  if (!m->f.create(&m->container, 1, "cpu", NULL))
    return PFE_OK;
  m->container = NULL;
  snprintf(text, 192, "%.150s cannot be started", m->file);
  return PFE_ERROR;
}

/* Where its batches, rows and columns are, dense. */
static pf_torch_view view_of(const pf_dense *dense, int32_t dtype, bool batched)
{
  pf_torch_view v = {.data = dense->data, .dtype = dtype, .rank = batched ? 3 : 2};
  const int64_t *last = &dense->dims[dense->rank - 2];
  int64_t batches = 1, stride = 1;
  for (int i = 0; i < dense->rank - 2; i++)
    batches *= dense->dims[i];
  v.size[0] = batches;
  memcpy(&v.size[v.rank - 2], last, 2 * sizeof *last);
  for (int i = v.rank; i-- > 0; stride *= v.size[i])
    v.stride[i] = stride;
  return v;
}

static pf_dense_want want_of(const pfe_call *call, int role)
{
  const bool bias = is_linear(call) && role == PFE_BIAS;
  return (pf_dense_want){
    .batch_rank = call->batch_rank, .batch = call->batch, .repeated = true,
    .rows = bias ? 1 : role == PFE_Y ? call->k : call->m,
    .columns = role == PFE_X ? call->k : call->n,
    .transposed = is_linear(call) && role == PFE_Y};
}

/* Each input once more as a dense tensor, where it is none. */
static int make_inputs(pf_inductor *d, const pf_inductor_model *m, const pfe_call *call,
                       pf_torch_tensor *input, size_t *count)
{
  int failed = 0;
  *count = 0;
  for (int r = 0; r < ROLES && !failed; r++) {
    const pfe_tensor *t = call->tensor[roles[r]];
    if (!t)
      continue;
    const pf_dense_want want = want_of(call, roles[r]);
    failed = pf_dense_take(t, &want, &d->dense[r]);
    pf_torch_view v = view_of(&d->dense[r], t->dtype, m->batched);
    if (is_linear(call) && roles[r] == PFE_BIAS)
      v = (pf_torch_view){.data = v.data, .dtype = v.dtype, .rank = 1, .size = {v.size[1]},
                          .stride = {1}};
    if (!failed)
      failed = pf_torch_make(&d->torch, &v, &input[*count]);
    *count += !failed;
  }
  return failed;
}

/* NULL, or what is wrong with the result. */
static const char *take_output(pf_inductor *d, const pf_inductor_model *m, const pfe_call *call,
                               pf_torch_tensor result)
{
  const pf_torch *t = &d->torch;
  const pf_dense_want want = want_of(call, PFE_C);
  pf_dense out = {.copy = NULL};
  pf_torch_tensor to = NULL;
  int32_t dtype = -1;
  const char *why = NULL;
  if (t->f.dtype_of(result, &dtype) || dtype != t->dtype[call->out->dtype])
    return "its result is of another dtype";
  if (pf_dense_take(call->out, &want, &out))
    return "out of memory";
  const pf_torch_view v = view_of(&out, call->out->dtype, m->batched);
  if (pf_torch_make(t, &v, &to) || t->f.copy(to, result, 0))
    why = "its result cannot be copied";
  else
    pf_dense_give(call->out, &want, &out);
  if (to)
    t->f.drop(to);
  pf_dense_free(&out);
  return why;
}

pfe_status pf_inductor_run(void *state, const pfe_call *call, pfe_answer *answer)
{
  pf_inductor *d = state;
  const char *why;
  pf_inductor_model *m = find(d, call, &why);
  pf_torch_tensor input[ROLES] = {NULL}, result = NULL;
  size_t count = 0;
  if (m && !m->container && load(d, m, answer->text))
    return PFE_ERROR;
  if (m && make_inputs(d, m, call, input, &count)) {
    for (size_t i = 0; i < count; i++)
      d->torch.f.drop(input[i]);
    why = "its inputs cannot be made";
  } else if (m) {
    why = m->f.run(m->container, input, count, &result, 1, NULL, NULL)
            ? "it failed (--isolate shows what it says)"
            : take_output(d, m, call, result);
  }
  if (result)
    d->torch.f.drop(result);
  if (why)
    snprintf(answer->text, sizeof answer->text, "%.80s: %s", m ? m->file : call->graph, why);
  return why ? PFE_ERROR : PFE_OK;
}
