/* The tensors of a case: listed, compared, written, and read into a case again. */
#include "tensor_case.h"

#include <stdlib.h>
#include <string.h>

#include "form_text.h"
#include "safetensors.h"

#define CASE_KEY "precfuzz.case"
#define VERBATIM_KEY "precfuzz.verbatim"

static const char *const scale_names[] = {[PF_X] = "scale_x", [PF_Y] = "scale_y"};

static bool find_operand(const char *name, pf_role *out)
{
  return pf_role_find(name, strlen(name), out) && *out != PF_OUT;
}

bool pf_tensor_case_names(const char *name)
{
  pf_role role;
  return find_operand(name, &role) || !strcmp(name, scale_names[PF_X]) ||
         !strcmp(name, scale_names[PF_Y]);
}

static pf_quoted quote(const char *name)
{
  return pf_quote(name, strlen(name));
}

/* --- the tensors of a case ----------------------------------------------------------------- */

static void add_operand(const pf_problem *p, pf_role role, pf_case_tensors *out)
{
  const pf_operand *o = &p->what->operand[role];
  pf_tensor_entry *t = &out->entry[out->count++];
  const uint8_t *storage = p->storage[role];
  pf_tensor_describe(pf_role_name(role), o->dtype, o->rank, o->dim,
                     storage + o->offset * pf_dtype_of(o->dtype)->bytes, t);
  memcpy(t->stride, o->stride, o->rank * sizeof *t->stride);
}

static pf_status add_scale(const pf_problem *p, pf_role role, pf_arena *a, pf_case_tensors *out)
{
  const pf_operand *o = &p->what->operand[role];
  const pf_scale *s = &o->scale;
  const int64_t k = p->shape.k, count = pf_scale_count(s, pf_operand_lines(p->what, role), k);
  const int k_dim = role == PF_X || o->rank == 1 ? o->rank - 1 : o->rank - 2;
  int64_t dim[PF_MAX_RANK];
  int rank = 0;
  for (int i = 0; i < o->rank && s->kind != PF_SCALE_TENSOR; i++)
    if (i != k_dim)
      dim[rank++] = o->dim[i];
  if (s->kind == PF_SCALE_BLOCK)
    dim[rank++] = pf_scale_blocks(s, k);
  uint8_t *data = pf_alloc_array(a, (size_t)count, sizeof(float));
  if (!data)
    return PF_NO_MEMORY;
  for (int64_t i = 0; i < count; i++)
    pf_store(PF_F32, data + i * (int64_t)sizeof(float),
             (double)pf_scale_value(s, role == PF_X, i));
  pf_tensor_describe(scale_names[role], PF_F32, rank, dim, data, &out->entry[out->count++]);
  return PF_OK;
}

pf_status pf_tensor_case_list(const pf_problem *p, pf_arena *a, pf_case_tensors *out)
{
  out->count = 0;
  for (pf_role r = PF_X; r < PF_OUT; r++)
    if (p->what->operand[r].present)
      add_operand(p, r, out);
  for (pf_role r = PF_X; r <= PF_Y; r++)
    if (p->what->operand[r].scale.kind != PF_SCALE_NONE)
      PF_TRY(add_scale(p, r, a, out));
  return PF_OK;
}

static bool same_shape(const pf_tensor_entry *a, const pf_tensor_entry *b)
{
  return a->rank == b->rank && !memcmp(a->dim, b->dim, a->rank * sizeof *a->dim);
}

/* The first element that differs; -1 if none does.  Both have the same dtype and shape. */
static int64_t first_difference(const pf_tensor_entry *a, const pf_tensor_entry *b)
{
  const size_t bytes = (size_t)pf_dtype_of(a->dtype)->bytes;
  for (int64_t i = 0; i < a->elements; i++)
    if (memcmp(pf_tensor_at(a, i), pf_tensor_at(b, i), bytes))
      return i;
  return -1;
}

pf_status pf_tensor_case_compare(const pf_case_tensors *own, const pf_tensor_entry *t, pf_error *e)
{
  const pf_tensor_entry *mine = NULL;
  for (int i = 0; i < own->count && !mine; i++)
    mine = strcmp(own->entry[i].name, t->name) ? NULL : &own->entry[i];
  if (!mine)
    return pf_fail(e, PF_BAD_INPUT, t->offset, "tensor '%s': the case has none",
                   quote(t->name).text);
  if (!t->has_dtype || t->dtype != mine->dtype)
    return pf_fail(e, PF_BAD_INPUT, t->offset, "tensor '%s': %s, but the case's is %s", t->name,
                   t->has_dtype ? pf_dtype_of(t->dtype)->name : t->dtype_name,
                   pf_dtype_of(mine->dtype)->name);
  if (!same_shape(t, mine))
    return pf_fail(e, PF_BAD_INPUT, t->offset, "tensor '%s': not of the case's shape", t->name);
  const int64_t at = first_difference(t, mine);
  if (at >= 0)
    return pf_fail(e, PF_BAD_INPUT, t->offset,
                   "tensor '%s': element %lld is not the case's, bit for bit", t->name,
                   (long long)at);
  return PF_OK;
}

/* --- writing ------------------------------------------------------------------------------- */

void pf_tensor_case_print(const pf_case *c, FILE *to)
{
  pf_case plain = *c;
  for (pf_role r = PF_X; r < PF_OUT; r++)
    if (plain.operand[r].values.kind == PF_VERBATIM)
      plain.operand[r].values = (pf_values){.kind = PF_NORMAL};
  pf_text_print(&plain, to);
}

static pf_status no_memory(pf_error *e)
{
  return pf_fail(e, PF_NO_MEMORY, 0, "not enough memory for the case's tensors");
}

/* A strided operand becomes a copy in C order. */
static pf_status make_dense(pf_tensor_entry *t, pf_arena *a)
{
  const size_t bytes = (size_t)pf_dtype_of(t->dtype)->bytes;
  const pf_tensor_entry from = *t;
  if (pf_tensor_is_c_order(t))
    return PF_OK;
  uint8_t *data = pf_alloc_array(a, (size_t)t->elements, bytes);
  if (!data)
    return PF_NO_MEMORY;
  for (int64_t i = 0; i < t->elements; i++)
    memcpy(data + (size_t)i * bytes, pf_tensor_at(&from, i), bytes);
  pf_tensor_describe(from.name, from.dtype, from.rank, from.dim, data, t);
  return PF_OK;
}

static size_t describe(const pf_case *c, const char *text, char *verbatim, size_t size,
                       pf_metadata *to)
{
  size_t used = 0;
  to[0] = (pf_metadata){CASE_KEY, text};
  for (pf_role r = PF_X; r < PF_OUT; r++)
    if (c->operand[r].values.kind == PF_VERBATIM)
      used += (size_t)snprintf(verbatim + used, size - used, "%s%s", used ? "," : "",
                               pf_role_name(r));
  to[1] = (pf_metadata){VERBATIM_KEY, verbatim};
  return used ? 2 : 1;
}

static pf_status write_all(const char *path, const pf_case *c, const pf_tensor_entry *entry,
                           size_t count, pf_error *e)
{
  char *text = NULL, verbatim[64];
  size_t size;
  pf_metadata metadata[2];
  FILE *to = open_memstream(&text, &size);
  if (!to)
    return no_memory(e);
  pf_tensor_case_print(c, to);
  const bool failed = ferror(to);
  pf_status status = PF_OK;
  if (fclose(to) || failed)
    status = no_memory(e);
  else
    status = pf_safetensors_write(path, entry, count, metadata,
                                  describe(c, text, verbatim, sizeof verbatim, metadata), e);
  free(text);
  return status;
}

pf_status pf_tensor_case_write(const char *path, const pf_problem *p,
                               const pf_tensor_entry *result, size_t count, pf_arena *a,
                               pf_error *e)
{
  pf_case_tensors own;
  if (pf_tensor_case_list(p, a, &own))
    return no_memory(e);
  const size_t all = count + (size_t)own.count;
  pf_tensor_entry *entry = pf_alloc_array(a, all, sizeof *entry);
  if (!entry)
    return no_memory(e);
  for (int i = 0; i < own.count; i++)
    if (make_dense(&own.entry[i], a))
      return no_memory(e);
  memcpy(entry, own.entry, (size_t)own.count * sizeof *entry);
  if (count)
    memcpy(entry + own.count, result, count * sizeof *entry);
  return write_all(path, p->what, entry, all, e);
}

/* --- reading ------------------------------------------------------------------------------- */

bool pf_tensor_case_is(const pf_tensor_file *f)
{
  return pf_tensor_file_metadata(f, CASE_KEY) != NULL;
}

/* What a file's tensor holds becomes the values of an operand of the same dtype and shape. */
static pf_status take_values(const pf_tensor_file *f, pf_role role, pf_operand *o, pf_error *e)
{
  const pf_tensor_entry *t = pf_tensor_file_find(f, pf_role_name(role));
  pf_tensor_entry wanted;
  if (!t)
    return pf_fail(e, PF_BAD_INPUT, 0, "tensor '%s': missing", pf_role_name(role));
  pf_tensor_describe(t->name, o->dtype, o->rank, o->dim, NULL, &wanted);
  if (!o->present || !t->has_dtype || t->dtype != o->dtype || !same_shape(t, &wanted))
    return pf_fail(e, PF_BAD_INPUT, t->offset, "tensor '%s': not as " CASE_KEY " has it", t->name);
  o->values = (pf_values){.kind = PF_VERBATIM, .verbatim = t->data};
  return PF_OK;
}

static pf_status take_verbatim(const pf_tensor_file *f, pf_case *c, pf_error *e)
{
  const char *at = pf_tensor_file_metadata(f, VERBATIM_KEY);
  while (at) {
    const size_t length = strcspn(at, ",");
    pf_role role;
    if (!pf_role_find(at, length, &role) || role == PF_OUT)
      return pf_fail(e, PF_BAD_INPUT, 0, VERBATIM_KEY ": '%s' is no operand",
                     pf_quote(at, length).text);
    PF_TRY(take_values(f, role, &c->operand[role], e));
    at = at[length] ? at + length + 1 : NULL;
  }
  return PF_OK;
}

static pf_status check_tensors(const pf_tensor_file *f, const pf_case *c, pf_arena *a, pf_error *e)
{
  pf_problem p;
  pf_case_tensors own;
  if (pf_problem_build(c, a, &p) || pf_tensor_case_list(&p, a, &own))
    return no_memory(e);
  for (size_t i = 0; i < f->count; i++)
    if (pf_tensor_case_names(f->entry[i].name))
      PF_TRY(pf_tensor_case_compare(&own, &f->entry[i], e));
  return PF_OK;
}

pf_status pf_tensor_case_read(const pf_tensor_file *f, pf_arena *a, pf_case *out, pf_error *e)
{
  const char *text = pf_tensor_file_metadata(f, CASE_KEY);
  pf_error why = {0};
  if (!text)
    return pf_fail(e, PF_BAD_INPUT, 0, "its metadata has no " CASE_KEY);
  const pf_status status = pf_text_parse(text, strlen(text), a, out, &why);
  if (status)
    return pf_fail(e, status, 0, CASE_KEY ": offset %zu: %.180s", why.offset, why.text);
  PF_TRY(take_verbatim(f, out, e));
  return check_tensors(f, out, a, e);
}

pf_status pf_tensor_case_make(const pf_tensor_file *f, pf_graph g, pf_case *out, pf_error *e)
{
  *out = (pf_case){.op = PF_OP_MATMUL, .graph = g, .alpha = 1, .beta = 1};
  for (size_t i = 0; i < f->count; i++) {
    const pf_tensor_entry *t = &f->entry[i];
    pf_role role;
    if (!pf_tensor_case_names(t->name))
      continue;
    if (!find_operand(t->name, &role))
      return pf_fail(e, PF_BAD_INPUT, t->offset, "tensor '%s': without " CASE_KEY " nothing says "
                     "what it scales", t->name);
    if (!t->has_dtype || t->rank > PF_MAX_RANK)
      return pf_fail(e, PF_BAD_INPUT, t->offset, "tensor '%s': %s of %d dimensions is no operand",
                     t->name, t->dtype_name, t->rank);
    pf_operand *o = &out->operand[role];
    *o = (pf_operand){.present = true, .dtype = t->dtype, .rank = t->rank,
                      .values = {.kind = PF_VERBATIM, .verbatim = t->data}};
    memcpy(o->dim, t->dim, t->rank * sizeof *o->dim);
    memcpy(o->stride, t->stride, t->rank * sizeof *o->stride);
  }
  return pf_case_finish(out, e);
}
