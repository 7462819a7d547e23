/* oneDNN's matmul primitive.  One costs a tenth of a millisecond or more to make, so they are kept
   by what they were made from. */
#include <stdio.h>
#include <string.h>

#include "blas.h"
#include "onednn_parts.h"

/* --- descriptors --------------------------------------------------------------------------- */

/* Elements from the first to behind the last: the stride of a size of 1 around them.  Any would do,
   but with some that do not enclose them the library's results are wrong. */
static int64_t extent(const pf_dnnl_view *v, int from, int to)
{
  int64_t last = 0;
  for (int d = from; d < to; d++)
    if (v->dims[d] > 1)
      last += (v->dims[d] - 1) * v->strides[d];
  return last + 1;
}

/* What repeats has size 1 there, which oneDNN broadcasts.  NULL, or why there is no such view. */
static const char *view_of(const pfe_call *call, const pfe_tensor *t, int64_t rows, int64_t columns,
                           pf_dnnl_view *v)
{
  const int r = call->batch_rank, c = r + 1;
  bool by_columns;
  int64_t ld;
  v->type = pf_dnnl_type(t->dtype);
  v->dims[r] = rows;
  v->dims[c] = columns;
  v->strides[r] = t->row_stride;
  v->strides[c] = t->column_stride;
  if (pf_blas_lines(rows, columns, t->row_stride, t->column_stride, &by_columns, &ld)) {
    v->strides[r] = by_columns ? 1 : ld;
    v->strides[c] = by_columns ? ld : 1;
  } else if ((rows > 1 && !t->row_stride) || (columns > 1 && !t->column_stride)) {
    return "the lines of an operand repeat";
  } else if (rows <= 1 || columns <= 1) {
    v->strides[rows <= 1 ? r : c] = extent(v, r, c + 1);
  }
  for (int d = r; d-- > 0;) {
    const bool once = call->batch[d] == 1 || (call->batch[d] && !t->batch_stride[d]);
    v->dims[d] = once ? 1 : call->batch[d];
    v->strides[d] = once ? extent(v, d + 1, c + 1) : t->batch_stride[d];
  }
  return NULL;
}

static int64_t once_if_repeated(int64_t size, int64_t stride)
{
  return stride ? size : 1;
}

static const char *set_views(const pfe_call *call, pf_dnnl_view *view)
{
  const pfe_tensor *bias = call->steps->has_bias ? call->tensor[PFE_BIAS] : NULL;
  const char *why = view_of(call, pf_blas_a(call), call->m, call->k, &view[PF_DNNL_SOURCE]);
  if (!why)
    why = view_of(call, pf_blas_b(call), call->k, call->n, &view[PF_DNNL_WEIGHTS]);
  if (!why)
    why = view_of(call, call->out, call->m, call->n, &view[PF_DNNL_DESTINATION]);
  if (!why && bias)
    why = view_of(call, bias, once_if_repeated(call->m, bias->row_stride),
                  once_if_repeated(call->n, bias->column_stride), &view[PF_DNNL_BIASES]);
  return why;
}

/* Sizes and strides told later; what is broadcast and which stride is 1 must be known before. */
static void make_runtime(pf_dnnl_key *key)
{
  const pf_dnnl_view *out = &key->view[PF_DNNL_DESTINATION];
  pf_dnnl_dims sizes;
  memcpy(sizes, out->dims, sizeof sizes);
  for (int t = 0; t < PF_DNNL_TENSORS; t++) {
    pf_dnnl_view *v = &key->view[t];
    bool unit = false;
    if (v->type == PF_DNNL_UNDEF)
      continue;
    for (int d = (int)key->ndims; d-- > 0;) {
      const bool contracted = (t == PF_DNNL_SOURCE && d == key->ndims - 1) ||
                              (t == PF_DNNL_WEIGHTS && d == key->ndims - 2);
      const bool first_unit = v->strides[d] == 1 && !unit;
      if (contracted || v->dims[d] == sizes[d])
        v->dims[d] = PF_DNNL_RUNTIME;
      if (!first_unit)
        v->strides[d] = PF_DNNL_RUNTIME;
      unit |= first_unit;
    }
  }
}

/* 3.7.2 takes batches for evenly spaced where the largest of their strides is as many times the
   smallest as there are batches (uxlfoundation/oneDNN pull request 5556). */
static bool seem_even(const pfe_call *call, const pf_dnnl_view *v)
{
  int64_t least = v->strides[0], most = least;
  bool even = true;
  for (int i = 1; i < call->batch_rank; i++) {
    const int64_t stride = v->strides[i];
    least = stride < least ? stride : least;
    most = stride > most ? stride : most;
    even = even && v->strides[i - 1] == stride * v->dims[i];
  }
  return !even && least > 0 && most / least == call->batches;
}

const char *pf_dnnl_key_of(const pfe_call *call, bool runtime, pf_dnnl_key *key)
{
  const float beta = call->steps->has_c ? (float)call->beta : 0;
  memset(key, 0, sizeof *key);
  key->ndims = call->batch_rank + 2;
  key->scaled = pf_blas_alpha(call) != 1;
  if (beta != 0)
    memcpy(&key->beta_bits, &beta, sizeof beta);
  const char *why = set_views(call, key->view);
  if (!why && runtime)
    make_runtime(key);
  return why;
}

/* --- making one ---------------------------------------------------------------------------- */

/* What is only needed while a primitive is made. */
typedef struct pf_dnnl_parts {
  void *desc[PF_DNNL_TENSORS], *attr, *post_ops, *primitive_desc;
} pf_dnnl_parts;

static int describe(const pf_dnnl_functions *f, const pf_dnnl_key *key, void **desc)
{
  int status = PF_DNNL_SUCCESS;
  for (int t = 0; t < PF_DNNL_TENSORS && !status; t++)
    if (key->view[t].type != PF_DNNL_UNDEF)
      status = f->desc_create(&desc[t], (int)key->ndims, key->view[t].dims, (int)key->view[t].type,
                              key->view[t].strides);
  return status;
}

static void drop_descriptors(const pf_dnnl_functions *f, void **desc)
{
  for (int t = 0; t < PF_DNNL_TENSORS; t++)
    if (desc[t])
      f->desc_destroy(desc[t]);
}

static int set_attributes(const pf_dnnl_functions *f, const pf_dnnl_key *key, pf_dnnl_parts *p)
{
  float beta;
  int status = f->attr_create(&p->attr);
  if (!status && key->scaled)
    status = f->attr_set_scales_mask(p->attr, PF_DNNL_ARG_SRC, 0);
  if (status || !key->beta_bits)
    return status;
  memcpy(&beta, &key->beta_bits, sizeof beta);
  status = f->post_ops_create(&p->post_ops);
  if (!status)
    status = f->post_ops_append_sum(p->post_ops, beta, 0, PF_DNNL_UNDEF);
  return status ? status : f->attr_set_post_ops(p->attr, p->post_ops);
}

static int make_primitive(const pf_dnnl *d, pf_dnnl_kept *k, pf_dnnl_parts *p)
{
  const pf_dnnl_functions *f = &d->f;
  const char *kernel = NULL;
  int status = describe(f, &k->key, p->desc);
  if (!status)
    status = set_attributes(f, &k->key, p);
  if (!status)
    status = f->matmul_create(&p->primitive_desc, d->engine, p->desc[PF_DNNL_SOURCE],
                              p->desc[PF_DNNL_WEIGHTS], p->desc[PF_DNNL_BIASES],
                              p->desc[PF_DNNL_DESTINATION], p->attr);
  if (!status)
    status = f->primitive_create(&k->primitive, p->primitive_desc);
  if (!status)
    status = f->primitive_desc_query(p->primitive_desc, PF_DNNL_QUERY_IMPL_INFO_STR, 0, &kernel);
  snprintf(k->kernel, sizeof k->kernel, "%s", kernel ? kernel : "");
  return status;
}

static int make_memory(const pf_dnnl *d, pf_dnnl_kept *k, void **desc)
{
  int status = PF_DNNL_SUCCESS;
  for (int t = 0; t < PF_DNNL_TENSORS && !status && d->mode != PF_DNNL_RUNTIME_DIMS; t++)
    if (desc[t])
      status = d->f.memory_create(&k->memory[t], desc[t], d->engine, NULL);
  return status;
}

static int make_scale(const pf_dnnl *d, pf_dnnl_kept *k)
{
  void *desc = NULL;
  const pf_dnnl_dims one = {1};
  int status = d->f.desc_create(&desc, 1, one, PF_DNNL_F32, one);
  if (!status)
    status = d->f.memory_create(&k->scale, desc, d->engine, &k->scale_value);
  if (desc)
    d->f.desc_destroy(desc);
  return status;
}

void pf_dnnl_drop(pf_dnnl *d, pf_dnnl_kept *k)
{
  for (int t = 0; t < PF_DNNL_TENSORS; t++)
    if (k->memory[t])
      d->f.memory_destroy(k->memory[t]);
  if (k->scale)
    d->f.memory_destroy(k->scale);
  if (k->primitive)
    d->f.primitive_destroy(k->primitive);
  memset(k, 0, sizeof *k);
}

static void make(pf_dnnl *d, const pf_dnnl_key *key, pf_dnnl_kept *k)
{
  pf_dnnl_parts p = {0};
  pf_dnnl_drop(d, k);
  k->used = true;
  k->key = *key;
  int status = make_primitive(d, k, &p);
  if (!status)
    status = make_memory(d, k, p.desc);
  if (!status && key->scaled)
    status = make_scale(d, k);
  if (status == PF_DNNL_UNIMPLEMENTED || status == PF_DNNL_INVALID_ARGUMENTS)
    snprintf(k->why, sizeof k->why, "it has no kernel for these dtypes, layouts and addends");
  else if (status)
    snprintf(k->why, sizeof k->why, "making a primitive failed with status %d", status);
  if (p.primitive_desc)
    d->f.primitive_desc_destroy(p.primitive_desc);
  if (p.post_ops)
    d->f.post_ops_destroy(p.post_ops);
  if (p.attr)
    d->f.attr_destroy(p.attr);
  drop_descriptors(&d->f, p.desc);
}

static pf_dnnl_kept *find(pf_dnnl *d, const pf_dnnl_key *key)
{
  uint64_t hash = 0, word;
  for (size_t i = 0; i < sizeof *key; i += sizeof word) {
    memcpy(&word, (const char *)key + i, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  pf_dnnl_kept *k = &d->kept[hash % PF_DNNL_KEPT];
  if (!k->used || memcmp(&k->key, key, sizeof *key))
    make(d, key, k);
  return k;
}

bool pf_dnnl_primitive_has(const pf_dnnl *d, const pfe_types *types)
{
  const int8_t dtype[] = {types->x, types->y, types->out, types->bias};
  pf_dnnl_key key = {.ndims = 2};
  pf_dnnl_parts p = {.attr = NULL};
  for (int t = 0; t < PF_DNNL_TENSORS; t++) {
    const int64_t rows = t == PF_DNNL_BIASES ? 1 : 2;
    key.view[t] = (pf_dnnl_view){.type = pf_dnnl_type(dtype[t]), .dims = {rows, 2},
                                 .strides = {2, 1}};
  }
  int status = describe(&d->f, &key, p.desc);
  if (!status)
    status = d->f.matmul_create(&p.primitive_desc, d->engine, p.desc[PF_DNNL_SOURCE],
                                p.desc[PF_DNNL_WEIGHTS], p.desc[PF_DNNL_BIASES],
                                p.desc[PF_DNNL_DESTINATION], NULL);
  if (p.primitive_desc)
    d->f.primitive_desc_destroy(p.primitive_desc);
  drop_descriptors(&d->f, p.desc);
  return !status;
}

/* --- calls --------------------------------------------------------------------------------- */

/* What goes wrong in 3.7.2, some of it beside the output: no process could judge on afterwards.
   docs/findings.md has the cases. */
static const char *known_to_be_wrong(const pf_dnnl *d, const pfe_call *call)
{
  const pfe_tensor *x = pf_blas_a(call), *y = pf_blas_b(call), *out = call->out;
  const pfe_tensor *bias = call->steps->has_bias ? call->tensor[PFE_BIAS] : NULL;
  if (!call->k)
    return "with k = 0 it leaves its output as it is (onednn:faulty shows it)";
  if (bias && call->n > 1 && bias->column_stride > 1)
    return "it takes a row of the bias for dense (onednn:faulty shows it)";
  const bool told_later = d->mode == PF_DNNL_RUNTIME_DIMS;
  if (call->n == 1 && call->m > 1 && out->row_stride != 1 &&
      (!told_later || call->steps->acc == PFE_S32))
    return "it writes a column as though it were dense (onednn:faulty shows it)";
  if (told_later)
    return NULL;
  if (call->m == 1 && call->k > 1 && x->column_stride != 1)
    return "it reads a single row as though it were dense (onednn:faulty shows it)";
  if (call->batch_rank == 2 && call->batch[0] > 1 && call->batch[1] == 1 && !y->batch_stride[0])
    return "of batches [B, 1] that share y it leaves some unwritten (onednn:faulty shows it)";
  return NULL;
}

/* Where the adapter and not the library says no. */
static const char *declined(const pf_dnnl *d, const pfe_call *call)
{
  const pfe_step *s = call->steps;
  const char *why = d->faulty ? NULL : known_to_be_wrong(d, call);
  if (why)
    return why;
  if (s->acc == PFE_S32 && (pf_blas_alpha(call) != 1 || pf_blas_addend(call)))
    return "it takes alpha, c and a bias in f32, which does not hold every s32";
  return NULL;
}

static const char *plan(pf_dnnl *d, const pfe_call *call, pf_dnnl_kept **to)
{
  pf_dnnl_key key;
  const char *why = declined(d, call);
  *to = NULL;
  if (!why)
    why = pf_dnnl_key_of(call, d->mode == PF_DNNL_RUNTIME_DIMS, &key);
  for (int t = PF_DNNL_SOURCE; !why && t <= PF_DNNL_DESTINATION; t++)
    if (d->mode == PF_DNNL_MATMUL && !d->faulty && seem_even(call, &key.view[t]))
      why = "it takes batches with these strides for evenly spaced (onednn:faulty shows it)";
  if (why)
    return why;
  *to = find(d, &key);
  return (*to)->why[0] ? (*to)->why : NULL;
}

pfe_status pf_dnnl_primitive_supports(pf_dnnl *d, const pfe_call *call, pfe_answer *answer)
{
  pf_dnnl_kept *k;
  const char *why = plan(d, call, &k);
  snprintf(answer->text, sizeof answer->text, "%s", why ? why : "");
  if (!why)
    snprintf(answer->kernel, sizeof answer->kernel, "%s", k->kernel);
  return why ? PFE_UNSUPPORTED : PFE_OK;
}

/* Memory whose sizes are this call's. */
static int tell_sizes(pf_dnnl *d, const pfe_call *call, void **memory)
{
  pf_dnnl_key real = {.ndims = call->batch_rank + 2};
  void *desc[PF_DNNL_TENSORS] = {NULL};
  set_views(call, real.view);
  int status = describe(&d->f, &real, desc);
  for (int t = 0; t < PF_DNNL_TENSORS && !status; t++)
    if (desc[t])
      status = d->f.memory_create(&memory[t], desc[t], d->engine, NULL);
  drop_descriptors(&d->f, desc);
  return status;
}

static int execute(pf_dnnl *d, const pfe_call *call, pf_dnnl_kept *k, void *const *memory)
{
  static const int name[] = {PF_DNNL_ARG_SRC, PF_DNNL_ARG_WEIGHTS, PF_DNNL_ARG_DST,
                             PF_DNNL_ARG_BIAS};
  const pfe_tensor *tensor[] = {pf_blas_a(call), pf_blas_b(call), call->out,
                                call->tensor[PFE_BIAS]};
  pf_dnnl_exec_arg args[PF_DNNL_TENSORS + 1];
  int count = 0, status = PF_DNNL_SUCCESS;
  for (int t = 0; t < PF_DNNL_TENSORS && !status; t++)
    if (memory[t]) {
      status = d->f.memory_set_data(memory[t], tensor[t]->data);
      args[count++] = (pf_dnnl_exec_arg){name[t], memory[t]};
    }
  if (k->scale)
    args[count++] = (pf_dnnl_exec_arg){PF_DNNL_ARG_ATTR_SCALES | PF_DNNL_ARG_SRC, k->scale};
  k->scale_value = (float)pf_blas_alpha(call);
  if (!status)
    status = d->f.primitive_execute(k->primitive, d->stream, count, args);
  return status ? status : d->f.stream_wait(d->stream);
}

pfe_status pf_dnnl_primitive_run(pf_dnnl *d, const pfe_call *call, pfe_answer *answer)
{
  pf_dnnl_kept *k;
  void *told[PF_DNNL_TENSORS] = {NULL};
  const char *why = plan(d, call, &k);
  int status = PF_DNNL_SUCCESS;
  if (why) {
    snprintf(answer->text, sizeof answer->text, "%s", why);
    return PFE_ERROR;
  }
  for (int64_t i = 0; k->key.beta_bits && i < call->batches; i++)
    pf_blas_start(call, call->tensor[PFE_C], i);
  if (d->mode == PF_DNNL_RUNTIME_DIMS)
    status = tell_sizes(d, call, told);
  if (!status)
    status = execute(d, call, k, d->mode == PF_DNNL_RUNTIME_DIMS ? told : k->memory);
  for (int t = 0; t < PF_DNNL_TENSORS; t++)
    if (told[t])
      d->f.memory_destroy(told[t]);
  if (status)
    snprintf(answer->text, sizeof answer->text, "%s failed with status %d", k->kernel, status);
  return status ? PFE_ERROR : PFE_OK;
}
