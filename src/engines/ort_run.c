/* Sessions of ONNX Runtime, and calls put as one of its products. */
#include <stdio.h>
#include <string.h>

#include "blas.h"
#include "ort_parts.h"

/* --- models -------------------------------------------------------------------------------- */

static int32_t type_of(int32_t dtype)
{
  switch (dtype) {
  case PFE_F64: return PF_ORT_DOUBLE;
  case PFE_F32: return PF_ORT_FLOAT;
  case PFE_F16: return PF_ORT_FLOAT16;
  case PFE_BF16: return PF_ORT_BFLOAT16;
  case PFE_F8_E4M3FN: return PF_ORT_FLOAT8E4M3FN;
  case PFE_F8_E5M2: return PF_ORT_FLOAT8E5M2;
  case PFE_F8_E4M3FNUZ: return PF_ORT_FLOAT8E4M3FNUZ;
  case PFE_F8_E5M2FNUZ: return PF_ORT_FLOAT8E5M2FNUZ;
  case PFE_S8: return PF_ORT_INT8;
  case PFE_U8: return PF_ORT_UINT8;
  case PFE_S32: return PF_ORT_INT32;
  default: return PF_ORT_UNDEFINED;
  }
}

pf_ort_model pf_ort_model_for(pf_ort_product product, int32_t x, int32_t y, int32_t out)
{
  return (pf_ort_model){.product = product, .x = type_of(x), .y = type_of(y), .out = type_of(out),
                        .cast = product != PF_ORT_MATMUL_INTEGER && x != out,
                        .has_c = product == PF_ORT_GEMM, .alpha = 1, .beta = 1};
}

/* --- sessions ------------------------------------------------------------------------------ */

/* Messages begin with where in the library they come from: of a long one the end is kept. */
bool pf_ort_failed(const pf_ort *o, void *status, char *text, size_t size)
{
  if (!status)
    return false;
  const char *message = o->f.get_error_message(status);
  const size_t length = strcspn(message, "\n");
  const size_t skip = length < size ? 0 : length - size + 4;
  snprintf(text, size, "%s%.*s", skip ? "..." : "", (int)(length - skip), message + skip);
  o->f.release_status(status);
  return true;
}

static void drop(pf_ort *o, pf_ort_kept *k)
{
  if (k->session)
    o->f.release_session(k->session);
  memset(k, 0, sizeof *k);
}

void pf_ort_drop_sessions(pf_ort *o)
{
  for (int i = 0; i < PF_ORT_KEPT; i++)
    drop(o, &o->kept[i]);
}

static void make(pf_ort *o, const pf_ort_model *model, pf_ort_kept *k)
{
  unsigned char bytes[PF_ORT_MODEL_BYTES];
  const size_t size = pf_ort_model_write(model, bytes);
  drop(o, k);
  k->used = true;
  k->model = *model;
  void *status = o->f.create_session_from_array(o->env, bytes, size, o->options, &k->session);
  if (pf_ort_failed(o, status, k->why, sizeof k->why))
    k->session = NULL;
}

void *pf_ort_session(pf_ort *o, const pf_ort_model *model, const char **why)
{
  uint32_t word, hash = 0;
  for (size_t i = 0; i < sizeof *model; i += sizeof word) {
    memcpy(&word, (const char *)model + i, sizeof word);
    hash = (hash ^ word) * UINT32_C(0x9e3779b1);
    hash ^= hash >> 15;
  }
  pf_ort_kept *k = &o->kept[hash % PF_ORT_KEPT];
  if (!k->used || memcmp(&k->model, model, sizeof *model))
    make(o, model, k);
  *why = k->why;
  return k->session;
}

/* --- calls --------------------------------------------------------------------------------- */

static const char *gemm_numbers(const pfe_call *call, pf_ort_model *m)
{
  const double alpha = pf_blas_alpha(call), beta = pf_blas_beta(call);
  m->has_c = pf_blas_addend(call) != NULL;
  m->alpha = (float)alpha;
  m->beta = m->has_c ? (float)beta : 1;
  if (m->alpha != alpha || (m->has_c && m->beta != beta))
    return "Gemm takes alpha and beta in f32, which does not hold these";
  return NULL;
}

static bool only_b_has_batches(const pfe_call *call)
{
  for (int d = 0; d < call->batch_rank; d++)
    if (call->batch[d] > 1 && !pf_blas_a(call)->batch_stride[d] &&
        pf_blas_b(call)->batch_stride[d])
      return true;
  return false;
}

/* Where the adapter and not the library says no. */
static const char *declined(const pf_ort *o, const pfe_call *call, const pf_ort_model *m)
{
  if (pf_blas_has_two_addends(call))
    return "it adds c or a bias, not both";
  if (call->k || o->mode == PF_ORT_EMPTY)
    return NULL;
  if (m->product == PF_ORT_MATMUL_INTEGER)
    return "with k = 0 MatMulInteger leaves its output as it is (onnxruntime:empty shows it)";
  if (m->product == PF_ORT_GEMM && m->has_c && m->beta != 1)
    return "with k = 0 Gemm forgets beta (onnxruntime:empty shows it)";
  if (m->product == PF_ORT_MATMUL && only_b_has_batches(call))
    return "with k = 0 MatMul forgets batches that only b has (onnxruntime:empty shows it)";
  return NULL;
}

const char *pf_ort_model_of(const pfe_call *call, bool all_gemm, pf_ort_model *m)
{
  const pfe_step *s = call->steps;
  const bool integers = s->acc == PFE_S32;
  const bool gemm = all_gemm || pf_blas_alpha(call) != 1 || pf_blas_addend(call);
  *m = pf_ort_model_for(integers ? PF_ORT_MATMUL_INTEGER : gemm ? PF_ORT_GEMM : PF_ORT_MATMUL,
                        pf_blas_a(call)->dtype, pf_blas_b(call)->dtype, s->out);
  if (integers && gemm)
    return "MatMulInteger has no alpha, c or bias";
  return gemm ? gemm_numbers(call, m) : NULL;
}

static const char *plan(pf_ort *o, const pfe_call *call, pf_ort_model *m, void **session)
{
  const char *why = pf_ort_model_of(call, o->mode == PF_ORT_ALL_GEMM, m);
  if (!why)
    why = declined(o, call, m);
  if (!why && !(*session = pf_ort_session(o, m, &why)))
    return why;
  return why && why[0] ? why : NULL;
}

pfe_status pf_ort_supports(void *state, const pfe_call *call, pfe_answer *answer)
{
  pf_ort *o = state;
  pf_ort_model m;
  void *session;
  const char *why = plan(o, call, &m, &session);
  snprintf(answer->text, sizeof answer->text, "%s", why ? why : "");
  if (why)
    return PFE_UNSUPPORTED;
  snprintf(answer->kernel, sizeof answer->kernel, "%s%s", m.cast ? "Cast, " : "",
           pf_ort_product_names[m.product]);
  if (o->narrow_f16 && m.out == PF_ORT_FLOAT16)
    answer->settings.accumulator = PFE_F16;
  return PFE_OK;
}

static int64_t once_if_repeated(int64_t size, int64_t stride)
{
  return stride || !size ? size : 1;
}

/* What each tensor is wanted as; batches of all but MatMul one by one. */
static void set_wants(const pfe_call *call, const pfe_tensor *const *tensor, bool by_batch,
                      pf_dense_want *want)
{
  const pfe_tensor *c = tensor[PF_ORT_C];
  const pf_dense_want w = {.batch_rank = by_batch ? 0 : call->batch_rank, .batch = call->batch};
  for (int r = 0; r < PF_ORT_ROLES; r++)
    want[r] = w;
  want[PF_ORT_X].rows = want[PF_ORT_OUT].rows = call->m;
  want[PF_ORT_X].columns = want[PF_ORT_Y].rows = call->k;
  want[PF_ORT_X].repeated = pf_dense_both_repeat(call, tensor[PF_ORT_X], tensor[PF_ORT_Y]);
  want[PF_ORT_Y].columns = want[PF_ORT_OUT].columns = call->n;
  if (!c)
    return;
  want[PF_ORT_C].rows = once_if_repeated(call->m, c->row_stride);
  want[PF_ORT_C].columns = once_if_repeated(call->n, c->column_stride);
  want[PF_ORT_C].copied = call->in_place;  /* nothing is said of an input that is the output */
}

static void *make_values(pf_ort *o, const pfe_tensor *const *tensor, void **value)
{
  void *status = NULL;
  for (int r = 0; r < PF_ORT_ROLES && !status; r++) {
    const pf_dense *d = &o->dense[r];
    if (tensor[r])
      status = o->f.create_tensor_with_data(o->memory_info, d->data, d->bytes, d->dims,
                                            (size_t)d->rank, type_of(tensor[r]->dtype),
                                            &value[r]);
  }
  return status;
}

/* One call of the library, on tensors whose data are where the product begins. */
static bool multiply(pf_ort *o, void *session, const pfe_tensor *const *tensor,
                     const pf_dense_want *want, char *text, size_t size)
{
  static const char *const inputs[] = {"x", "y", "c"}, *const outputs[] = {"out"};
  void *value[PF_ORT_ROLES] = {NULL};
  for (int r = 0; r < PF_ORT_ROLES; r++)
    if (tensor[r] && pf_dense_take(tensor[r], &want[r], &o->dense[r])) {
      snprintf(text, size, "out of memory");
      return false;
    }
  void *status = make_values(o, tensor, value);
  if (!status)
    status = o->f.run(session, NULL, inputs, (const void *const *)value, value[PF_ORT_C] ? 3 : 2,
                      outputs, 1, &value[PF_ORT_OUT]);
  for (int r = 0; r < PF_ORT_ROLES; r++)
    if (value[r])
      o->f.release_value(value[r]);
  if (pf_ort_failed(o, status, text, size))
    return false;
  pf_dense_give(tensor[PF_ORT_OUT], &want[PF_ORT_OUT], &o->dense[PF_ORT_OUT]);
  return true;
}

pfe_status pf_ort_run(void *state, const pfe_call *call, pfe_answer *answer)
{
  pf_ort *o = state;
  pf_ort_model m;
  void *session;
  pf_dense_want want[PF_ORT_ROLES];
  const char *why = plan(o, call, &m, &session);
  if (why) {
    snprintf(answer->text, sizeof answer->text, "%s", why);
    return PFE_ERROR;
  }
  const pfe_tensor *const tensor[] = {pf_blas_a(call), pf_blas_b(call), pf_blas_addend(call),
                                      call->out};
  const bool by_batch = m.product == PF_ORT_GEMM;
  set_wants(call, tensor, by_batch, want);
  if (!by_batch)
    return multiply(o, session, tensor, want, answer->text, sizeof answer->text) ? PFE_OK
                                                                                 : PFE_ERROR;
  for (int64_t i = 0; i < call->batches; i++) {
    pfe_tensor at[PF_ORT_ROLES];
    const pfe_tensor *one[PF_ORT_ROLES] = {NULL};
    for (int r = 0; r < PF_ORT_ROLES; r++)
      if (tensor[r]) {
        at[r] = *tensor[r];
        at[r].data = pfe_batch(call, tensor[r], i);
        one[r] = &at[r];
      }
    if (!multiply(o, session, one, want, answer->text, sizeof answer->text))
      return PFE_ERROR;
  }
  return PFE_OK;
}
