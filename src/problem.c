/* From a case to memory: views with broadcasting resolved, and dense copies of what the storages
   hold. */
#include "problem.h"

#include <inttypes.h>
#include <string.h>

#include "problem_parts.h"

enum {
  FENCE = 64,      /* elements before and behind an output's storage */
  PATTERN = 0xc7   /* -7.78 as f16, about -1e5 as bf16 and f32, -6e37 as f64, -57 as s8 */
};

/* Stride along a dimension of `size` results; an operand of one repeats.  Where both are one the
   stride stays as the case has it: libraries see it, though it leads nowhere. */
static int64_t view_stride(const pf_operand *o, int i, int64_t size)
{
  return i < 0 || (o->dim[i] == 1 && size != 1) ? 0 : o->stride[i];
}

/* Dimensions before `batch_rank` are batches, right-aligned with the result's. */
static void view_batch(const pf_shape *s, const pf_operand *o, int batch_rank, pf_matrix *view)
{
  for (int i = 0; i < s->batch_rank; i++)
    view->batch_stride[i] = view_stride(o, batch_rank - s->batch_rank + i, s->batch[i]);
}

/* x and y broadcast over batches only. */
static void view_factors(pf_problem *p)
{
  const pf_operand *x = &p->what->operand[PF_X], *y = &p->what->operand[PF_Y];
  p->x.column_stride = x->stride[x->rank - 1];
  p->x.row_stride = x->rank > 1 ? x->stride[x->rank - 2] : 0;
  view_batch(&p->shape, x, x->rank - 2, &p->x);
  if (y->rank == 1) {
    p->y.row_stride = y->stride[0];
  } else if (pf_graph_of(p->what->graph)->weight) {
    p->y.row_stride = y->stride[1];
    p->y.column_stride = y->stride[0];
  } else {
    p->y.row_stride = y->stride[y->rank - 2];
    p->y.column_stride = y->stride[y->rank - 1];
    view_batch(&p->shape, y, y->rank - 2, &p->y);
  }
}

/* c, bias and the output: o's dimensions are those of the result, right-aligned. */
static void view_result(const pf_problem *p, const pf_operand *o, pf_matrix *view)
{
  int last = o->rank - 1;
  view->row_stride = view->column_stride = 0;
  if (p->what->operand[PF_Y].rank > 1)
    view->column_stride = view_stride(o, last--, p->shape.n);
  if (p->what->operand[PF_X].rank > 1)
    view->row_stride = view_stride(o, last--, p->shape.m);
  view_batch(&p->shape, o, last + 1, view);
}

static void bind(const pf_problem *p, pf_role role, pf_matrix *view)
{
  const pf_operand *o = &p->what->operand[role];
  view->dtype = o->dtype;
  view->data = element(o->dtype, p->storage[role], o->offset);
}

int64_t pf_batch_offset(const pf_problem *p, const pf_matrix *m, int64_t b)
{
  int64_t offset = 0;
  for (int i = p->shape.batch_rank - 1; i >= 0; i--) {
    offset += b % p->shape.batch[i] * m->batch_stride[i];
    b /= p->shape.batch[i];
  }
  return offset;
}

/* x or y as a set of vectors along K. */
typedef struct factor {
  const pf_matrix *view;
  pf_operand batch;     /* the operand's own batch dimensions, with dense strides */
  int64_t batches;      /* of its own */
  int64_t lines;        /* vectors in each of them */
  int64_t line_stride, k_stride;
} factor;

static factor factor_of(const pf_operand *o, int batch_rank, const pf_matrix *view, int64_t lines,
                        int64_t line_stride, int64_t k_stride)
{
  factor f = {.view = view, .batch.rank = batch_rank > 0 ? batch_rank : 0, .lines = lines,
              .line_stride = line_stride, .k_stride = k_stride};
  memcpy(f.batch.dim, o->dim, f.batch.rank * sizeof *f.batch.dim);
  pf_dense_strides(f.batch.rank, f.batch.dim, f.batch.stride);
  f.batches = pf_operand_count(&f.batch);
  return f;
}

static const double *gather(const pf_problem *p, const factor *f, const pf_operand *o, pf_arena *a)
{
  const pf_dtype t = f->view->dtype;
  const int64_t k = p->shape.k, count = f->batches * f->lines * k;
  double *vectors = pf_alloc_raw(a, (size_t)count * sizeof *vectors);
  int64_t at[PF_MAX_RANK] = {0}, offset = 0;
  for (int64_t b = 0; vectors && b < f->batches; b++) {
    const pf_grid lines = {element(t, f->view->data, offset), f->lines, k, f->line_stride,
                           f->k_stride};
    pf_load_grid(t, &lines, vectors + b * f->lines * k);
    next_index(f->batch.rank, f->batch.dim, o->stride, at, &offset);
  }
  return vectors;
}

/* Where the vectors of each output batch begin. */
static const int64_t *first_lines(const pf_problem *p, const factor *f, pf_arena *a)
{
  int64_t *first = pf_alloc_raw(a, (size_t)p->shape.batches * sizeof *first);
  pf_matrix own;
  view_batch(&p->shape, &f->batch, f->batch.rank, &own);
  for (int64_t b = 0; first && b < p->shape.batches; b++)
    first[b] = f->lines * pf_batch_offset(p, &own, b);
  return first;
}

static void read_results(const pf_problem *p, const pf_matrix *view, double *to)
{
  for (int64_t b = 0; b < p->shape.batches; b++) {
    const pf_grid rows = {element(view->dtype, view->data, pf_batch_offset(p, view, b)),
                          p->shape.m, p->shape.n, view->row_stride, view->column_stride};
    pf_load_grid(view->dtype, &rows, to + b * p->shape.m * p->shape.n);
  }
}

static pf_status build_addend(pf_problem *p, pf_role role, pf_arena *a, pf_matrix *view,
                              const double **values)
{
  double *to = pf_alloc_raw(a, (size_t)p->shape.outputs * sizeof *to);
  if (!to)
    return PF_NO_MEMORY;
  view_result(p, &p->what->operand[role], view);
  bind(p, role, view);
  read_results(p, view, to);
  *values = to;
  return PF_OK;
}

static pf_status build_factors(pf_problem *p, pf_arena *a)
{
  const pf_operand *x = &p->what->operand[PF_X], *y = &p->what->operand[PF_Y];
  const bool weight = pf_graph_of(p->what->graph)->weight;
  bind(p, PF_X, &p->x);
  bind(p, PF_Y, &p->y);
  view_factors(p);
  const factor of_x = factor_of(x, x->rank - 2, &p->x, p->shape.m, p->x.row_stride,
                                p->x.column_stride);
  const factor of_y = factor_of(y, weight ? 0 : y->rank - 2, &p->y, p->shape.n,
                                p->y.column_stride, p->y.row_stride);
  p->x_lines = of_x.batches * of_x.lines;
  p->y_lines = of_y.batches * of_y.lines;
  p->x_vectors = gather(p, &of_x, x, a);
  p->y_vectors = gather(p, &of_y, y, a);
  p->x_line = first_lines(p, &of_x, a);
  p->y_line = first_lines(p, &of_y, a);
  return p->x_vectors && p->y_vectors && p->x_line && p->y_line ? PF_OK : PF_NO_MEMORY;
}

pf_status pf_problem_build(const pf_case *c, pf_arena *a, pf_problem *out)
{
  *out = (pf_problem){.what = c, .shape = pf_case_shape(c)};
  out->has_c = c->operand[PF_C].present;
  out->has_bias = c->operand[PF_BIAS].present;
  pf_status s = PF_OK;
  for (pf_role r = PF_X; r < PF_OUT && s == PF_OK; r++)
    if (c->operand[r].present)
      s = pf_problem_store(out, r, a);
  if (s == PF_OK)
    s = build_factors(out, a);
  if (s == PF_OK)
    s = pf_problem_scale(out, a);
  if (s == PF_OK && out->has_c)
    s = build_addend(out, PF_C, a, &out->c, &out->c_values);
  if (s == PF_OK && out->has_bias)
    s = build_addend(out, PF_BIAS, a, &out->bias, &out->bias_values);
  return s;
}

void pf_print_index(const pf_shape *s, int64_t element_index, char *to, size_t size)
{
  int64_t at[PF_MAX_RANK];
  size_t used = 0;
  for (int i = s->out_rank - 1; i >= 0; i--) {
    at[i] = element_index % s->out[i];
    element_index /= s->out[i];
  }
  for (int i = 0; i < s->out_rank && used < size; i++)
    used += (size_t)snprintf(to + used, size - used, "%s%" PRId64, i == 0 ? "[" : ",", at[i]);
  if (used < size)
    snprintf(to + used, size - used, "%s", s->out_rank == 0 ? "[]" : "]");
}

/* The element's bytes that an output starts from: c's, or a marker, which no correct run leaves. */
static void prefill(const pf_problem *p, const pf_output *out)
{
  const pf_operand *o = &p->what->operand[PF_OUT];
  const pf_dtype t = out->view.dtype;
  const bool in_place = p->what->out_is_c && t == p->c.dtype;
  const size_t bytes = (size_t)pf_dtype_of(t)->bytes;
  const uint64_t marker = pf_marker_bits(t);
  int64_t at[PF_MAX_RANK] = {0}, offset = 0;
  if (pf_operand_dense(o) && !in_place) {
    pf_fill_marked(t, out->view.data, p->shape.outputs);
    return;
  }
  for (int64_t i = 0; i < p->shape.outputs; i++) {
    uint8_t *to = element(t, out->view.data, offset);
    if (in_place)
      memcpy(to, element(t, p->c.data, offset), bytes);
    else
      pf_store_bits(t, to, marker);
    next_index(o->rank, o->dim, o->stride, at, &offset);
  }
}

pf_status pf_output_new(const pf_problem *p, pf_dtype t, pf_arena *a, pf_output *out)
{
  const pf_operand *o = &p->what->operand[PF_OUT];
  const size_t bytes =
      (size_t)(pf_storage_size(o) + 2 * FENCE) * (size_t)pf_dtype_of(t)->bytes;
  uint8_t *before = pf_alloc_raw(a, bytes);
  *out = (pf_output){.storage = pf_alloc_raw(a, bytes), .before = before, .bytes = bytes};
  if (!out->storage || !before)
    return PF_NO_MEMORY;
  view_result(p, o, &out->view);
  out->view.dtype = t;
  out->view.data = element(t, out->storage, FENCE + o->offset);
  memset(out->storage, PATTERN, bytes);
  prefill(p, out);
  memcpy(before, out->storage, bytes);
  return PF_OK;
}

void pf_output_read(const pf_problem *p, const pf_output *out, double *got)
{
  read_results(p, &out->view, got);
}

/* First byte in [from, to) that differs; `to` if none does. */
static size_t first_change(const pf_output *out, size_t from, size_t to)
{
  if (memcmp(out->storage + from, out->before + from, to - from) == 0)
    return to;
  while (out->storage[from] == out->before[from])
    from++;
  return from;
}

/* o's dimensions of more than one, by falling stride; how many there are. */
static int sort_dimensions(const pf_operand *o, int64_t *dim, int64_t *stride)
{
  int n = 0;
  for (int i = 0; i < o->rank; i++) {
    if (o->dim[i] == 1)
      continue;
    int at = n++;
    for (; at > 0 && stride[at - 1] < o->stride[i]; at--) {
      dim[at] = dim[at - 1];
      stride[at] = stride[at - 1];
    }
    dim[at] = o->dim[i];
    stride[at] = o->stride[i];
  }
  return n;
}

/* Between elements.  Each stride is greater than the reach of all smaller ones
   (pf_operand_overlaps), so that elements follow each other in the order of their addresses. */
static size_t first_change_in_gaps(const pf_operand *o, const pf_output *out, size_t from,
                                   size_t to, size_t bytes)
{
  int64_t dim[PF_MAX_RANK], stride[PF_MAX_RANK], index[PF_MAX_RANK] = {0}, offset = 0;
  const int rank = sort_dimensions(o, dim, stride);
  size_t gap = from;
  do {
    const size_t element_at = from + (size_t)offset * bytes;
    const size_t changed = first_change(out, gap, element_at);
    if (changed != element_at)
      return changed;
    gap = element_at + bytes;
  } while (next_index(rank, dim, stride, index, &offset));
  return to;
}

bool pf_output_stray(const pf_problem *p, const pf_output *out, int64_t *at)
{
  const pf_operand *o = &p->what->operand[PF_OUT];
  const size_t bytes = (size_t)pf_dtype_of(out->view.dtype)->bytes;
  const int64_t span = pf_storage_size(o) - o->offset;
  const size_t start = (size_t)(FENCE + o->offset) * bytes, end = start + (size_t)span * bytes;
  size_t changed = first_change(out, 0, start);
  if (changed == start)
    changed = span > p->shape.outputs ? first_change_in_gaps(o, out, start, end, bytes) : end;
  if (changed == end)
    changed = first_change(out, end, out->bytes);
  if (changed == out->bytes)
    return false;
  *at = (int64_t)changed - (int64_t)start;
  return true;
}
