/* Shapes by torch.matmul's rules, and everything that a case must be before it is run.

   A size of zero makes a tensor empty but leaves its other sizes free, and strides, batch counts
   and loops follow those.  So an empty tensor is held to the storage limit with its zeros counted
   as ones: then nothing that is computed from sizes leaves int64_t or takes long. */
#include "case.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The batch dimensions of an operand begin its dims; from the right, dimension i of `rank`. */
static int64_t batch_dim(const pf_operand *o, int rank, int i)
{
  return i < rank ? o->dim[rank - 1 - i] : 1;
}

static pf_status resolve_batch(const pf_operand *x, int x_rank, const pf_operand *y, int y_rank,
                               pf_shape *s, pf_error *e)
{
  s->batch_rank = x_rank > y_rank ? x_rank : y_rank;
  for (int i = 0; i < s->batch_rank; i++) {
    const int64_t a = batch_dim(x, x_rank, i), b = batch_dim(y, y_rank, i);
    if (a != b && a != 1 && b != 1)
      return pf_fail(e, PF_BAD_INPUT, 0,
                     "x and y: batch dimension %d from the right is %" PRId64 " in x and %" PRId64
                     " in y: they do not broadcast", i + 1, a, b);
    s->batch[s->batch_rank - 1 - i] = a == 1 ? b : a;
  }
  s->batches = pf_product(s->batch_rank, s->batch);
  return PF_OK;
}

/* The shape of operands that have passed check_operand. */
static pf_status resolve(const pf_case *c, pf_shape *s, pf_error *e)
{
  const pf_operand *x = &c->operand[PF_X], *y = &c->operand[PF_Y];
  const bool x_vector = x->rank == 1, y_vector = y->rank == 1;
  const bool weight = pf_graph_of(c->graph)->weight;
  const int y_k = y_vector ? 0 : weight ? 1 : y->rank - 2;
  const int y_n = weight ? 0 : y->rank - 1;
  pf_shape r = {.m = x_vector ? 1 : x->dim[x->rank - 2],
                .n = y_vector ? 1 : y->dim[y_n],
                .k = x->dim[x->rank - 1]};
  if (y->dim[y_k] != r.k)
    return pf_fail(e, PF_BAD_INPUT, 0, "x and y: K is %" PRId64 " in x and %" PRId64 " in y", r.k,
                   y->dim[y_k]);
  const pf_status status = resolve_batch(x, x_vector ? 0 : x->rank - 2, y,
                                         y_vector || weight ? 0 : y->rank - 2, &r, e);
  if (status != PF_OK)
    return status;
  for (int i = 0; i < r.batch_rank; i++)
    r.out[r.out_rank++] = r.batch[i];
  if (!x_vector)
    r.out[r.out_rank++] = r.m;
  if (!y_vector)
    r.out[r.out_rank++] = r.n;
  r.outputs = pf_product(r.out_rank, r.out);
  r.work = pf_product(2, (int64_t[]){r.outputs, r.k});
  *s = r;
  return PF_OK;
}

pf_shape pf_case_shape(const pf_case *c)
{
  pf_shape s = {0};
  resolve(c, &s, NULL);
  return s;
}

pf_dtype pf_case_in(const pf_case *c)
{
  const pf_dtype x = c->operand[PF_X].dtype, y = c->operand[PF_Y].dtype;
  return pf_is_integer(pf_format_of(x)) && pf_is_integer(pf_format_of(y)) ? PF_S32
                                                                         : pf_promote(x, y);
}

pf_dtype pf_case_result(const pf_case *c)
{
  const pf_dtype in = pf_case_in(c);
  const pf_operand *out = &c->operand[PF_OUT];
  if (pf_graph_of(c->graph)->scaled && out->dtype != PF_F64)
    return out->dtype;
  const pf_operand *bias = &c->operand[PF_BIAS], *addend = &c->operand[PF_C];
  const pf_operand *o = addend->present ? addend : bias;
  return pf_graph_result(c->graph, in, o->present ? o->dtype : in);
}

static pf_status check_layout(pf_role role, const pf_operand *o, pf_error *e)
{
  const char *name = pf_role_name(role);
  for (int i = 0; i < o->rank; i++)
    if (o->stride[i] < 0 || o->stride[i] > PF_MAX_STRIDE)
      return pf_fail(e, PF_BAD_INPUT, 0, "%s: stride %" PRId64 " of dimension %d is not in 0..%d",
                     name, o->stride[i], i, PF_MAX_STRIDE);
  if (o->offset < 0 || o->offset > PF_MAX_OFFSET)
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: offset %" PRId64 " is not in 0..%d", name, o->offset,
                   PF_MAX_OFFSET);
  if (pf_storage_size(o) > PF_MAX_STORAGE)
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: %" PRId64 " elements of storage, at most %d", name,
                   pf_storage_size(o), PF_MAX_STORAGE);
  return PF_OK;
}

static pf_status check_sizes(pf_role role, const pf_operand *o, pf_error *e)
{
  const char *name = pf_role_name(role);
  const int64_t count = pf_operand_count(o);
  for (int i = 0; i < o->rank; i++)
    if (o->dim[i] < 0 || o->dim[i] > PF_MAX_SIZE)
      return pf_fail(e, PF_BAD_INPUT, 0, "%s: size %" PRId64 " of dimension %d is not in 0..%d",
                     name, o->dim[i], i, PF_MAX_SIZE);
  if (count > PF_MAX_WORK)
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: more than %d elements", name, PF_MAX_WORK);
  if (count == 0 && pf_volume(o->rank, o->dim) > PF_MAX_STORAGE)
    return pf_fail(e, PF_BAD_INPUT, 0,
                   "%s: sizes beside its zeros multiply to more than %d", name, PF_MAX_STORAGE);
  return PF_OK;
}

static pf_status check_values(pf_role role, const pf_operand *o, pf_error *e)
{
  const char *name = pf_role_name(role);
  const pf_values *v = &o->values;
  const int bits = 8 * pf_dtype_of(o->dtype)->bytes;
  const int64_t count = pf_operand_count(o);
  if ((unsigned)v->kind >= PF_KIND_COUNT || (v->mix != 0 && (unsigned)v->other >= PF_KIND_COUNT))
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: unknown kind of values", name);
  if (v->mix != 0 && (v->kind == PF_VERBATIM || v->other == PF_VERBATIM))
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: verbatim values do not mix with others", name);
  if (v->kind == PF_VERBATIM && count > 0 && !v->verbatim)
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: verbatim values without bytes", name);
  if (v->edit_count < 0 || v->edit_count > PF_MAX_WORK || (v->edit_count > 0 && !v->edits))
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: %" PRId64 " edits, at most %d", name, v->edit_count,
                   PF_MAX_WORK);
  for (int64_t i = 0; i < v->edit_count; i++) {
    if (v->edits[i].index < 0 || v->edits[i].index >= count)
      return pf_fail(e, PF_BAD_INPUT, 0, "%s: edit of element %" PRId64 " of %" PRId64, name,
                     v->edits[i].index, count);
    if (bits < 64 && v->edits[i].bits >> bits != 0)
      return pf_fail(e, PF_BAD_INPUT, 0, "%s: edit with bits %" PRIx64 ", wider than %s", name,
                     v->edits[i].bits, pf_dtype_of(o->dtype)->name);
  }
  return PF_OK;
}

static pf_status check_operand(pf_role role, pf_operand *o, int max_rank, pf_error *e)
{
  const int min_rank = role == PF_X || role == PF_Y ? 1 : 0;
  if ((unsigned)o->dtype >= PF_DTYPE_COUNT)
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: unknown dtype", pf_role_name(role));
  if (o->rank < min_rank || o->rank > max_rank)
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: rank %d is not in %d..%d", pf_role_name(role), o->rank,
                   min_rank, max_rank);
  pf_status s = check_sizes(role, o, e);
  if (s == PF_OK)
    s = check_layout(role, o, e);
  if (s == PF_OK)
    s = check_values(role, o, e);
  return s;
}

/* Same meaning, one representation. */
static void normalize_values(pf_values *v)
{
  if (v->mix == 0)
    v->other = PF_NORMAL;
  if (v->kind == PF_VERBATIM)
    v->seed = 0;
  else
    v->verbatim = NULL;
  if (v->edit_count == 0)
    v->edits = NULL;
}

static pf_status check_operands(pf_case *c, pf_error *e)
{
  const pf_graph_info *g = pf_graph_of(c->graph);
  const bool takes[PF_OUT] = {true, true, g->has_c, g->has_bias};
  const bool needs[PF_OUT] = {true, true, g->has_c, g->has_bias && !g->bias_optional};
  for (pf_role r = PF_X; r < PF_OUT; r++) {
    pf_operand *o = &c->operand[r];
    if (o->present && !takes[r])
      return pf_fail(e, PF_BAD_INPUT, 0, "%s: %s takes none", pf_role_name(r), g->name);
    if (!o->present && needs[r])
      return pf_fail(e, PF_BAD_INPUT, 0, "%s: missing; %s needs it", pf_role_name(r), g->name);
    if (!o->present) {
      *o = (pf_operand){0};
      continue;
    }
    const pf_status s = check_operand(r, o, r == PF_Y && g->weight ? 2 : PF_MAX_RANK, e);
    if (s != PF_OK)
      return s;
    for (int i = o->rank; i < PF_MAX_RANK; i++)
      o->dim[i] = o->stride[i] = 0;
    normalize_values(&o->values);
  }
  return PF_OK;
}

/* The products of scales and operands are to be exact in double. */
static pf_status check_scaled(pf_case *c, const pf_shape *s, pf_error *e)
{
  for (pf_role r = PF_X; r <= PF_Y; r++) {
    pf_operand *o = &c->operand[r];
    if (pf_format_of(o->dtype)->precision > 24)
      return pf_fail(e, PF_BAD_INPUT, 0, "%s: %s takes no %s", pf_role_name(r),
                     pf_graph_of(c->graph)->name, pf_dtype_of(o->dtype)->name);
    const pf_status status =
        pf_scale_finish(&o->scale, pf_role_name(r), pf_operand_lines(c, r), s->k, e);
    if (status != PF_OK)
      return status;
  }
  const pf_dtype out = c->operand[PF_OUT].dtype;
  const bool known = (unsigned)out < PF_DTYPE_COUNT;
  if (!known || (out != PF_F64 && pf_is_integer(pf_format_of(out))))
    return pf_fail(e, PF_BAD_INPUT, 0, "out: %s, but it is one of f32, bf16, f16 and fp8",
                   known ? pf_dtype_of(out)->name : "unknown dtype");
  return PF_OK;
}

static pf_status check_scales(pf_case *c, const pf_shape *s, pf_error *e)
{
  const bool scaled = pf_graph_of(c->graph)->scaled;
  for (pf_role r = PF_X; r < PF_ROLE_COUNT; r++)
    if (c->operand[r].scale.kind == PF_SCALE_NONE)
      c->operand[r].scale = (pf_scale){0};
    else if (!scaled || r > PF_Y)
      return pf_fail(e, PF_BAD_INPUT, 0, "%s: a scale, but %s takes none there", pf_role_name(r),
                     pf_graph_of(c->graph)->name);
  return scaled ? check_scaled(c, s, e) : PF_OK;
}

/* An addend has to broadcast to the result without enlarging it. */
static pf_status check_addend(pf_role role, const pf_operand *o, const pf_shape *s, pf_error *e)
{
  if (o->rank > s->out_rank)
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: rank %d, but the result's is %d", pf_role_name(role),
                   o->rank, s->out_rank);
  for (int i = 0; i < o->rank; i++) {
    const int64_t dim = o->dim[i], out = s->out[s->out_rank - o->rank + i];
    if (dim != out && dim != 1)
      return pf_fail(e, PF_BAD_INPUT, 0,
                     "%s: size %" PRId64 " of dimension %d does not broadcast to the result's %"
                     PRId64, pf_role_name(role), dim, i, out);
  }
  return PF_OK;
}

static pf_status check_in_place(const pf_case *c, const pf_shape *s, pf_error *e)
{
  const pf_operand *o = &c->operand[PF_C];
  if (!o->present)
    return pf_fail(e, PF_BAD_INPUT, 0, "out: in place needs a graph with c");
  if (o->rank != s->out_rank || memcmp(o->dim, s->out, o->rank * sizeof *o->dim) != 0)
    return pf_fail(e, PF_BAD_INPUT, 0, "out: in place, but c has not the result's shape");
  if (o->dtype != pf_case_result(c))
    return pf_fail(e, PF_BAD_INPUT, 0, "out: in place, but c is %s and the result %s",
                   pf_dtype_of(o->dtype)->name, pf_dtype_of(pf_case_result(c))->name);
  return PF_OK;
}

static pf_status finish_out(pf_case *c, const pf_shape *s, pf_error *e)
{
  pf_operand *out = &c->operand[PF_OUT];
  pf_operand o = {.present = true, .dtype = pf_case_result(c), .rank = s->out_rank};
  memcpy(o.dim, s->out, s->out_rank * sizeof *o.dim);
  if (out->present && !c->out_is_c && out->rank != s->out_rank)
    return pf_fail(e, PF_BAD_INPUT, 0, "out: %d strides, but the result has rank %d", out->rank,
                   s->out_rank);
  const pf_operand *like = c->out_is_c ? &c->operand[PF_C] : out;
  if (like->present) {
    memcpy(o.stride, like->stride, s->out_rank * sizeof *o.stride);
    o.offset = like->offset;
  } else {
    pf_dense_strides(o.rank, o.dim, o.stride);
  }
  pf_status status = check_sizes(PF_OUT, &o, e);
  if (status == PF_OK)
    status = check_layout(PF_OUT, &o, e);
  if (status == PF_OK && pf_operand_overlaps(&o))
    return pf_fail(e, PF_BAD_INPUT, 0, "out: %soverlaps itself", c->out_is_c ? "in place, c " : "");
  *out = o;
  return status;
}

/* alpha and beta are stored as the call takes them: f64 beside an f64 operand, else f32. */
static pf_status finish_scalar(const pf_case *c, const char *name, double *value, pf_error *e)
{
  const bool f64 = c->operand[PF_X].dtype == PF_F64 || c->operand[PF_Y].dtype == PF_F64;
  if (!pf_graph_of(c->graph)->has_c) {
    *value = 1;
  } else if (isnan(*value)) {
    *value = NAN;
  } else if (!f64 && pf_round(pf_format_of(PF_F32), *value) != *value) {
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: %a is not a value of f32", name, *value);
  }
  return PF_OK;
}

pf_status pf_case_finish(pf_case *c, pf_error *e)
{
  pf_shape s;
  if ((unsigned)c->op >= PF_OP_COUNT)
    return pf_fail(e, PF_BAD_INPUT, 0, "unknown operation");
  if ((unsigned)c->graph >= PF_GRAPH_COUNT)
    return pf_fail(e, PF_BAD_INPUT, 0, "unknown graph");
  pf_status status = check_operands(c, e);
  if (status == PF_OK)
    status = resolve(c, &s, e);
  if (status == PF_OK)
    status = check_scales(c, &s, e);
  if (status != PF_OK)
    return status;
  if (s.work > PF_MAX_WORK)
    return pf_fail(e, PF_BAD_INPUT, 0, "B*M*N*K is above %d", PF_MAX_WORK);
  for (pf_role r = PF_C; r <= PF_BIAS && status == PF_OK; r++)
    if (c->operand[r].present)
      status = check_addend(r, &c->operand[r], &s, e);
  if (status == PF_OK && c->out_is_c)
    status = check_in_place(c, &s, e);
  if (status == PF_OK)
    status = finish_out(c, &s, e);
  if (status == PF_OK)
    status = finish_scalar(c, "alpha", &c->alpha, e);
  if (status == PF_OK)
    status = finish_scalar(c, "beta", &c->beta, e);
  return status;
}

pf_status pf_case_retarget(const pf_case *c, pf_graph g, pf_case *out, pf_error *e)
{
  *out = *c;
  out->graph = g;
  if (g != c->graph)
    out->operand[PF_OUT].dtype = PF_F64;  /* not said: the graph's own */
  return pf_case_finish(out, e);
}

static bool values_equal(const pf_operand *a, const pf_operand *b)
{
  const pf_values *v = &a->values, *w = &b->values;
  if (v->kind != w->kind || v->other != w->other || v->mix != w->mix || v->seed != w->seed ||
      v->edit_count != w->edit_count)
    return false;
  for (int64_t i = 0; i < v->edit_count; i++)
    if (v->edits[i].index != w->edits[i].index || v->edits[i].bits != w->edits[i].bits)
      return false;
  const size_t bytes = (size_t)pf_operand_count(a) * (size_t)pf_dtype_of(a->dtype)->bytes;
  return v->kind != PF_VERBATIM || bytes == 0 || memcmp(v->verbatim, w->verbatim, bytes) == 0;
}

static bool operand_equal(const pf_operand *a, const pf_operand *b)
{
  if (a->present != b->present)
    return false;
  if (!a->present)
    return true;
  if (a->dtype != b->dtype || a->rank != b->rank || a->offset != b->offset)
    return false;
  for (int i = 0; i < a->rank; i++)
    if (a->dim[i] != b->dim[i] || a->stride[i] != b->stride[i])
      return false;
  return pf_scale_equal(&a->scale, &b->scale) && values_equal(a, b);
}

/* Bit for bit but for NaN, which is one value here. */
static bool scalar_equal(double a, double b)
{
  return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

bool pf_case_equal(const pf_case *a, const pf_case *b)
{
  if (a->op != b->op || a->graph != b->graph || a->out_is_c != b->out_is_c ||
      !scalar_equal(a->alpha, b->alpha) || !scalar_equal(a->beta, b->beta))
    return false;
  for (pf_role r = PF_X; r < PF_ROLE_COUNT; r++)
    if (!operand_equal(&a->operand[r], &b->operand[r]))
      return false;
  return true;
}
