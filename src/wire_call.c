/* Calls as JSON and bytes.  Tensors keep their strides; each is the span of bytes from its first
   element to its last. */
#include <stdlib.h>
#include <string.h>

#include "dtype.h"
#include "wire_parts.h"

enum { ALIGNMENT = 64, MOST_BYTES = 1 << 29 };

static const char *const kinds[] = {"MATMUL", "MULSUM", "CAST", "SCALE", "ADD", NULL};
static const char *const refs[PFE_STEP] = {"x", "y", "c", "bias", "alpha", "beta", "scale_x",
                                           "scale_y"};
static const char *const shapes[] = {"x", "y", "out", NULL};

#define STEP(NAME, KIND, WORDS) {#NAME, offsetof(pfe_step, NAME), KIND, WORDS}
#define FORMAT(NAME, KIND) {#NAME, offsetof(pfe_format, NAME), KIND, NULL}
#define CALL(NAME, KIND) {#NAME, offsetof(pfe_call, NAME), KIND, NULL}

static const pf_field step_fields[] = {
  STEP(kind, PF_FIELD_WORD, kinds), STEP(has_alpha, PF_FIELD_BOOL, NULL),
  STEP(has_c, PF_FIELD_BOOL, NULL), STEP(has_bias, PF_FIELD_BOOL, NULL),
  STEP(acc, PF_FIELD_DTYPE, NULL), STEP(out, PF_FIELD_DTYPE, NULL),
  STEP(elementwise, PF_FIELD_BOOL, NULL), STEP(plain, PF_FIELD_BOOL, NULL),
  STEP(order, PF_FIELD_INT, NULL), STEP(width, PF_FIELD_INT, NULL),
  STEP(fused, PF_FIELD_BOOL, NULL), STEP(start_c, PF_FIELD_BOOL, NULL),
  STEP(split, PF_FIELD_INT, NULL), STEP(drop, PF_FIELD_INT, NULL),
  STEP(ftz_in, PF_FIELD_BOOL, NULL), STEP(ftz_out, PF_FIELD_BOOL, NULL), {0}
};

static const pf_field format_fields[] = {
  FORMAT(dtype, PF_FIELD_DTYPE), FORMAT(precision, PF_FIELD_INT), FORMAT(emin, PF_FIELD_INT),
  FORMAT(has_infinity, PF_FIELD_BOOL), FORMAT(has_negative_zero, PF_FIELD_BOOL),
  FORMAT(rounding, PF_FIELD_INT), FORMAT(overflow, PF_FIELD_INT), FORMAT(range, PF_FIELD_INT),
  FORMAT(max, PF_FIELD_DOUBLE), {0}
};

static const pf_field call_fields[] = {
  CALL(m, PF_FIELD_INT64), CALL(n, PF_FIELD_INT64), CALL(k, PF_FIELD_INT64),
  CALL(alpha, PF_FIELD_DOUBLE), CALL(beta, PF_FIELD_DOUBLE), CALL(first, PF_FIELD_INT),
  CALL(in_place, PF_FIELD_BOOL), {0}
};

/* --- layout -------------------------------------------------------------------------------- */

static void sizes_of(const pfe_call *call, const pfe_tensor *t, int64_t *rows, int64_t *columns)
{
  *rows = t->shape == PFE_SHAPE_Y ? call->k : call->m;
  *columns = t->shape == PFE_SHAPE_X ? call->k : call->n;
}

/* Elements from the first to the end of the last, 0 where there is none; -1: more than can be. */
static int64_t reach_of(const pfe_call *call, const pfe_tensor *t)
{
  int64_t size[PFE_MAX_BATCH + 2], stride[PFE_MAX_BATCH + 2], reach = 1;
  const int rank = call->batch_rank;
  memcpy(size, call->batch, sizeof call->batch);
  memcpy(stride, t->batch_stride, sizeof t->batch_stride);
  sizes_of(call, t, &size[rank], &size[rank + 1]);
  stride[rank] = t->row_stride;
  stride[rank + 1] = t->column_stride;
  for (int i = 0; i < rank + 2; i++)
    if (size[i] == 0)
      return 0;
  for (int i = 0; i < rank + 2; i++) {
    if (size[i] < 0 || stride[i] < 0 || (stride[i] && (size[i] - 1) > MOST_BYTES / stride[i]))
      return -1;
    reach += (size[i] - 1) * stride[i];
  }
  return reach <= MOST_BYTES ? reach : -1;
}

size_t pf_wire_span(const pfe_call *call, const pfe_tensor *t)
{
  const int64_t reach = reach_of(call, t);
  return reach < 0 ? 0 : (size_t)reach * pfe_dtype_bytes(t->dtype);
}

/* A place whose alignment is that of `data`. */
static size_t place(size_t *end, const void *data, size_t bytes)
{
  const size_t wanted = (uintptr_t)data % ALIGNMENT, have = *end % ALIGNMENT;
  const size_t at = *end + (wanted + ALIGNMENT - have) % ALIGNMENT;
  *end = at + bytes;
  return at;
}

/* Does the call read it? */
static bool is_read(const pfe_call *call, int ref)
{
  if (!call->tensor[ref])
    return false;
  if (!call->count)
    return ref < PFE_STEP;
  for (int32_t i = 0; i < call->count; i++) {
    const pfe_step *s = &call->steps[i];
    if (s->a == ref || s->b == ref || (s->has_c && ref == PFE_C) ||
        (s->has_bias && ref == PFE_BIAS))
      return true;
  }
  return false;
}

static size_t scale_bytes(const pfe_call *call, const pfe_scales *s, int64_t lines)
{
  int64_t last = 0;
  if (!s->data || !call->batches || !lines)
    return 0;
  for (int d = 0; d < call->batch_rank; d++)
    last += (call->batch[d] > 1 ? call->batch[d] - 1 : 0) * s->batch_stride[d];
  last += (lines > 1 ? lines - 1 : 0) * s->line_stride;
  if (s->block_stride)
    last += (call->k > 1 ? (call->k - 1) / s->block : 0) * s->block_stride;
  return (size_t)(last + 1) * sizeof(double);
}

void pf_wire_plan(const pfe_call *call, pf_wire_layout *l)
{
  *l = (pf_wire_layout){0};
  for (int r = 0; r < PFE_STEP + PFE_MAX_STEPS; r++)
    if (is_read(call, r)) {
      l->bytes[r] = pf_wire_span(call, call->tensor[r]);
      l->at[r] = place(&l->size, call->tensor[r]->data, l->bytes[r]);
    }
  l->scale_bytes_x = scale_bytes(call, &call->scale_x, call->m);
  l->scale_x = place(&l->size, NULL, l->scale_bytes_x);
  l->scale_bytes_y = scale_bytes(call, &call->scale_y, call->n);
  l->scale_y = place(&l->size, NULL, l->scale_bytes_y);
  l->out_bytes = pf_wire_span(call, call->out);
  l->out = place(&l->size, call->out->data, l->out_bytes);
}

static void put(uint8_t *to, const void *from, size_t size)
{
  if (size)
    memcpy(to, from, size);
}

void pf_wire_pack(const pfe_call *call, const pf_wire_layout *l, uint8_t *data)
{
  memset(data, 0xff, l->size);  /* what is between tensors reads as NaN */
  for (int r = 0; r < PFE_STEP + PFE_MAX_STEPS; r++)
    if (l->bytes[r])
      put(data + l->at[r], call->tensor[r]->data, l->bytes[r]);
  put(data + l->scale_x, call->scale_x.data, l->scale_bytes_x);
  put(data + l->scale_y, call->scale_y.data, l->scale_bytes_y);
  put(data + l->out, call->out->data, l->out_bytes);
}

/* --- writing ------------------------------------------------------------------------------- */

static json_t *ref_text(int ref)
{
  char text[16];
  if (ref < 0)
    return json_null();
  if (ref < PFE_STEP)
    return json_string(refs[ref]);
  snprintf(text, sizeof text, "t%d", ref - PFE_STEP);
  return json_string(text);
}

static json_t *format_object(const pfe_format *f)
{
  json_t *to = json_object();
  pf_fields_write(to, f, format_fields);
  return to;
}

static json_t *step_object(const pfe_step *s)
{
  json_t *to = json_object();
  json_object_set_new(to, "kind", json_string(kinds[s->kind]));
  json_object_set_new(to, "a", ref_text(s->a));
  json_object_set_new(to, "b", ref_text(s->b));
  pf_fields_write(to, s, step_fields);
  if (s->plain)
    return to;
  json_object_set_new(to, "accumulator", format_object(&s->accumulator));
  json_object_set_new(to, "product", format_object(&s->product));
  json_object_set_new(to, "result", format_object(&s->result));
  return to;
}

static json_t *strides_array(const pfe_call *call, const int64_t *batch, int64_t row,
                             int64_t column)
{
  json_t *to = json_array();
  for (int d = 0; d < call->batch_rank; d++)
    json_array_append_new(to, json_integer(batch[d]));
  json_array_append_new(to, json_integer(row));
  json_array_append_new(to, json_integer(column));
  return to;
}

static json_t *tensor_object(const pfe_call *call, const pfe_tensor *t, size_t at, size_t bytes)
{
  int64_t rows, columns;
  sizes_of(call, t, &rows, &columns);
  return json_pack("{s:s, s:s, s:o, s:o, s:I, s:I}", "dtype", pf_dtype_of((pf_dtype)t->dtype)->name,
                   "of", shapes[t->shape], "shape", strides_array(call, call->batch, rows, columns),
                   "strides", strides_array(call, t->batch_stride, t->row_stride, t->column_stride),
                   "at", (json_int_t)at, "bytes", (json_int_t)bytes);
}

static json_t *scales_object(const pfe_call *call, const pfe_scales *s, size_t at, size_t bytes)
{
  return json_pack("{s:o, s:I, s:I, s:I}", "strides",
                   strides_array(call, s->batch_stride, s->line_stride, s->block_stride), "block",
                   (json_int_t)s->block, "at", (json_int_t)at, "bytes", (json_int_t)bytes);
}

json_t *pf_wire_call(const pfe_call *call, const pf_wire_layout *l)
{
  json_t *to = json_object(), *steps = json_array(), *tensors = json_object();
  json_object_set_new(to, "graph", json_string(call->graph));
  pf_fields_write(to, call, call_fields);
  json_t *batch = json_array();
  for (int d = 0; d < call->batch_rank; d++)
    json_array_append_new(batch, json_integer(call->batch[d]));
  json_object_set_new(to, "batch", batch);
  for (int32_t i = 0; i < call->count; i++)
    json_array_append_new(steps, step_object(&call->steps[i]));
  json_object_set_new(to, "steps", steps);
  for (int r = 0; r < PFE_STEP + PFE_MAX_STEPS; r++)
    if (is_read(call, r)) {
      json_t *name = ref_text(r);
      json_object_set_new(tensors, json_string_value(name),
                          tensor_object(call, call->tensor[r], l->at[r], l->bytes[r]));
      json_decref(name);
    }
  json_object_set_new(to, "tensors", tensors);
  json_object_set_new(to, "out", tensor_object(call, call->out, l->out, l->out_bytes));
  if (call->scale_x.data)
    json_object_set_new(to, "scale_x",
                        scales_object(call, &call->scale_x, l->scale_x, l->scale_bytes_x));
  if (call->scale_y.data)
    json_object_set_new(to, "scale_y",
                        scales_object(call, &call->scale_y, l->scale_y, l->scale_bytes_y));
  return to;
}

/* --- reading ------------------------------------------------------------------------------- */

static bool read_ref(const json_t *from, int32_t *to)
{
  const char *text = json_string_value(from);
  *to = PFE_REF_NONE;
  if (json_is_null(from))
    return true;
  for (int r = 0; text && r < PFE_STEP; r++)
    if (!strcmp(text, refs[r])) {
      *to = r;
      return true;
    }
  if (!text || text[0] != 't' || text[1] < '0' || text[1] > '9')
    return false;
  const long i = strtol(text + 1, NULL, 10);
  *to = PFE_STEP + (int32_t)i;
  return i < PFE_MAX_STEPS;
}

static pf_status read_step(const json_t *from, pfe_step *s, pf_error *e)
{
  *s = (pfe_step){.acc = PFE_NONE, .out = PFE_NONE};
  PF_TRY(pf_fields_read(from, s, step_fields, NULL, e));
  if (!read_ref(json_object_get(from, "a"), &s->a) || !read_ref(json_object_get(from, "b"), &s->b))
    return pf_fail(e, PF_BAD_INPUT, 0, "a step's a or b is no operand");
  const pfe_format none = {.dtype = PFE_NONE};
  s->accumulator = s->product = s->result = none;
  if (s->plain)
    return PF_OK;
  PF_TRY(pf_fields_read(json_object_get(from, "accumulator"), &s->accumulator, format_fields, NULL,
                        e));
  PF_TRY(pf_fields_read(json_object_get(from, "product"), &s->product, format_fields, NULL, e));
  return pf_fields_read(json_object_get(from, "result"), &s->result, format_fields, NULL, e);
}

static bool read_strides(const pfe_call *call, const json_t *from, int64_t *batch, int64_t *row,
                         int64_t *column)
{
  const size_t rank = (size_t)call->batch_rank;
  if (json_array_size(from) != rank + 2)
    return false;
  for (size_t i = 0; i < rank + 2; i++) {
    const json_t *member = json_array_get(from, i);
    const json_int_t v = json_integer_value(member);
    if (!json_is_integer(member) || v < 0 || v > MOST_BYTES)
      return false;
    *(i < rank ? &batch[i] : i == rank ? row : column) = v;
  }
  return true;
}

/* A place in the frame's data, for so many bytes. */
static void *read_place(const json_t *from, const pf_frame *f, size_t bytes)
{
  const json_t *at = json_object_get(from, "at");
  const json_int_t v = json_integer_value(at);
  if (!json_is_integer(at) || v < 0 || (size_t)v > f->size || bytes > f->size - (size_t)v)
    return NULL;
  return f->data ? f->data + v : NULL;
}

static pf_status read_tensor(const pfe_call *call, const json_t *from, const pf_frame *f,
                             pfe_tensor *t, pf_error *e)
{
  static const pf_field fields[] = {
    {"dtype", offsetof(pfe_tensor, dtype), PF_FIELD_DTYPE, NULL},
    {"of", offsetof(pfe_tensor, shape), PF_FIELD_WORD, shapes}, {0}};
  *t = (pfe_tensor){.dtype = PFE_NONE};
  PF_TRY(pf_fields_read(from, t, fields, NULL, e));
  if (t->dtype == PFE_NONE || !read_strides(call, json_object_get(from, "strides"),
                                            t->batch_stride, &t->row_stride, &t->column_stride))
    return pf_fail(e, PF_BAD_INPUT, 0, "a tensor has no dtype or no strides");
  const int64_t reach = reach_of(call, t);
  t->data = reach < 0 ? NULL : read_place(from, f, (size_t)reach * pfe_dtype_bytes(t->dtype));
  if (!t->data)
    return pf_fail(e, PF_BAD_INPUT, 0, "a tensor lies outside the data");
  return PF_OK;
}

static pf_status read_scales(const pfe_call *call, const json_t *from, const pf_frame *f,
                             int64_t lines, pfe_scales *s, pf_error *e)
{
  const json_int_t block = json_integer_value(json_object_get(from, "block"));
  *s = (pfe_scales){0};
  if (!from)
    return PF_OK;
  static const double one = 1;
  s->data = &one;
  s->block = block;
  if (block < 1 || !read_strides(call, json_object_get(from, "strides"), s->batch_stride,
                                 &s->line_stride, &s->block_stride))
    return pf_fail(e, PF_BAD_INPUT, 0, "scales have no block or no strides");
  s->data = read_place(from, f, scale_bytes(call, s, lines));
  return s->data ? PF_OK : pf_fail(e, PF_BAD_INPUT, 0, "scales lie outside the data");
}

static pf_status read_batch(const json_t *from, pfe_call *call, pf_error *e)
{
  const size_t rank = json_array_size(from);
  if (!json_is_array(from) || rank > PFE_MAX_BATCH)
    return pf_fail(e, PF_BAD_INPUT, 0, "'batch' is no array of at most %d sizes", PFE_MAX_BATCH);
  call->batch_rank = (int32_t)rank;
  call->batches = 1;
  for (size_t i = 0; i < rank; i++) {
    call->batch[i] = json_integer_value(json_array_get(from, i));
    if (call->batch[i] < 0 || (call->batch[i] && call->batches > MOST_BYTES / call->batch[i]))
      return pf_fail(e, PF_BAD_INPUT, 0, "'batch' holds no such sizes");
    call->batches *= call->batch[i];
  }
  return PF_OK;
}

static pf_status read_tensors(const json_t *from, const pf_frame *f, pf_wire_request *to,
                              pf_error *e)
{
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)from, key, value) {
    int32_t r;
    json_t *name = json_string(key);
    const bool found = read_ref(name, &r);
    json_decref(name);
    if (!found)
      return pf_fail(e, PF_BAD_INPUT, 0, "'%.40s' is no tensor", key);
    PF_TRY(read_tensor(&to->call, value, f, &to->tensor[r], e));
    to->call.tensor[r] = &to->tensor[r];
  }
  return PF_OK;
}

pf_status pf_wire_read_call(const pf_frame *f, pf_wire_request *to, pf_error *e)
{
  pfe_call *c = &to->call;
  const json_t *steps = json_object_get(f->head, "steps");
  *c = (pfe_call){.graph = to->graph, .steps = to->step, .out = &to->out, .alpha = 1, .beta = 1};
  PF_TRY(pf_fields_read(f->head, c, call_fields, NULL, e));
  if (c->m > MOST_BYTES || c->n > MOST_BYTES || c->k > MOST_BYTES)
    return pf_fail(e, PF_BAD_INPUT, 0, "m, n or k is no size");
  PF_TRY(pf_wire_text(f->head, "graph", to->graph, sizeof to->graph, e));
  PF_TRY(read_batch(json_object_get(f->head, "batch"), c, e));
  if (json_array_size(steps) > PFE_MAX_STEPS)
    return pf_fail(e, PF_BAD_INPUT, 0, "more than %d steps", PFE_MAX_STEPS);
  c->count = (int32_t)json_array_size(steps);
  for (int32_t i = 0; i < c->count; i++)
    PF_TRY(read_step(json_array_get(steps, (size_t)i), &to->step[i], e));
  PF_TRY(read_tensors(json_object_get(f->head, "tensors"), f, to, e));
  PF_TRY(read_tensor(c, json_object_get(f->head, "out"), f, &to->out, e));
  PF_TRY(read_scales(c, json_object_get(f->head, "scale_x"), f, c->m, &c->scale_x, e));
  return read_scales(c, json_object_get(f->head, "scale_y"), f, c->n, &c->scale_y, e);
}
