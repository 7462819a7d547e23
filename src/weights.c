/* Opening a model: which readers its files need, and one list of all tensors. */
#include "weights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gguf.h"
#include "npy.h"
#include "npz.h"
#include "onnx.h"
#include "safetensors.h"
#include "safetensors_index.h"

enum {
  MAX_FILES = 1 << 13,
  AROUND = 1 << 16         /* bytes that Linux maps around the one that is read */
};

static pf_status no_memory(pf_error *e)
{
  return pf_fail(e, PF_NO_MEMORY, 0, "not enough memory for the list of tensors");
}

/* What was said of a file beside the one that was named says which. */
static pf_status in_file(const char *path, pf_status status, const pf_error *why, pf_error *e)
{
  const char *slash = strrchr(path, '/');
  return pf_fail(e, status, why->offset, "%.70s: %.160s", slash != NULL ? slash + 1 : path,
                 why->text);
}

static pf_status map_file(pf_weights *w, const char *path, pf_weights_file **out, pf_error *e)
{
  if (w->file_count == MAX_FILES)
    return pf_fail(e, PF_UNSUPPORTED, 0, "a model of more than %d files", MAX_FILES);
  pf_weights_file *f = *out = &w->file[w->file_count];
  char *copy = pf_alloc(&w->memory, strlen(path) + 1);
  if (copy == NULL)
    return no_memory(e);
  f->path = strcpy(copy, path);
  PF_TRY(pf_file_map(path, &f->data, &f->size, e));
  w->file_count++;
  return PF_OK;
}

/* A name beside or below the file that was named. */
static pf_status map_beside(pf_weights *w, const char *name, pf_weights_file **out, pf_error *e)
{
  const char *path = w->file[0].path, *slash = strrchr(path, '/');
  const int folder = slash != NULL ? (int)(slash + 1 - path) : 0;
  char *beside;
  for (size_t i = 1; i < w->file_count; i++)
    if (strcmp(w->file[i].path + folder, name) == 0) {
      *out = &w->file[i];
      return PF_OK;
    }
  if (asprintf(&beside, "%.*s%s", folder, path, name) < 0)
    return no_memory(e);
  const pf_status status = map_file(w, beside, out, e);
  free(beside);
  return status;
}

static pf_status list_entries(pf_weights *w, pf_weights_file *f, const pf_tensor_file *from,
                              pf_error *e)
{
  w->weight = pf_alloc_array(&w->memory, from->count, sizeof *w->weight);
  if (w->weight == NULL)
    return no_memory(e);
  for (size_t i = 0; i < from->count; i++)
    w->weight[w->count++] = (pf_weight){
      .entry = from->entry[i], .path = f->path, .in_file = i, .elsewhere = f->npz != NULL};
  return PF_OK;
}

/* --- models of several files --------------------------------------------------------------- */

static pf_status open_shard(pf_weights *w, const char *name, pf_error *e)
{
  pf_weights_file *f;
  pf_error why = {0};
  PF_TRY(map_beside(w, name, &f, e));
  const pf_status status = pf_safetensors_parse(f->data, f->size, &f->tensors, &why);
  return status != PF_OK ? in_file(name, status, &why, e) : PF_OK;
}

static pf_status list_shards(pf_weights *w, const pf_shards *s, pf_error *e)
{
  for (size_t i = 0; i < s->files; i++)
    PF_TRY(open_shard(w, s->file[i], e));
  w->weight = pf_alloc_array(&w->memory, s->count, sizeof *w->weight);
  if (w->weight == NULL)
    return no_memory(e);
  for (size_t i = 0; i < s->count; i++) {
    const pf_weights_file *f = &w->file[1 + s->entry[i].file];
    const pf_tensor_entry *t = pf_tensor_file_find(&f->tensors, s->entry[i].name);
    if (t == NULL)
      return pf_fail(e, PF_BAD_INPUT, s->entry[i].place, "index: %.60s has no tensor '%s'",
                     s->file[s->entry[i].file],
                     pf_quote(s->entry[i].name, strlen(s->entry[i].name)).text);
    w->weight[w->count++] = (pf_weight){
      .entry = *t, .path = f->path, .in_file = (size_t)(t - f->tensors.entry)};
  }
  return PF_OK;
}

static pf_status open_shards(pf_weights *w, pf_error *e)
{
  pf_shards s;
  PF_TRY(pf_shards_parse(w->file[0].data, w->file[0].size, &s, e));
  const pf_status status = list_shards(w, &s, e);
  pf_shards_close(&s);
  return status;
}

static pf_status open_onnx(pf_weights *w, pf_weights_file *f, pf_error *e)
{
  pf_onnx *o = f->onnx = calloc(1, sizeof *o);
  if (o == NULL)
    return no_memory(e);
  PF_TRY(pf_onnx_parse(f->data, f->size, o, e));
  for (size_t i = 0; i < o->external_count; i++) {
    pf_weights_file *data;
    pf_error why = {0};
    PF_TRY(map_beside(w, o->external[i].location, &data, e));
    const pf_status status = pf_onnx_attach(o, &o->external[i], data->data, data->size, &why);
    if (status != PF_OK)
      return in_file(data->path, status, &why, e);
  }
  PF_TRY(list_entries(w, f, &o->file, e));
  w->use = pf_alloc_array(&w->memory, o->use_count, sizeof *w->use);
  if (w->use == NULL)
    return no_memory(e);
  w->says_uses = true;
  for (size_t i = 0; i < o->use_count; i++)
    w->use[w->use_count++] = (pf_weight_use){o->use[i].weight, o->use[i].bias, o->use[i].rows};
  return PF_OK;
}

/* --- models of one ------------------------------------------------------------------------- */

static pf_status open_npz(pf_weights *w, pf_weights_file *f, pf_error *e)
{
  PF_TRY(pf_npz_open(f->data, f->size, &pf_npz_default_limits, &f->npz, &f->tensors, &w->skipped,
                     e));
  return list_entries(w, f, &f->tensors, e);
}

static pf_status open_whole(pf_weights *w, pf_weights_file *f, pf_error *e)
{
  pf_status status;
  if (pf_gguf_is(f->data, f->size))
    status = pf_gguf_parse(f->data, f->size, &f->tensors, e);
  else if (pf_npy_is(f->data, f->size))
    status = pf_npy_parse(f->data, f->size, NULL, &f->tensors, e);
  else if (pf_safetensors_is(f->data, f->size))
    status = pf_safetensors_parse(f->data, f->size, &f->tensors, e);
  else
    return pf_fail(e, PF_BAD_INPUT, 0, "no safetensors file, index of such, .npy, .npz, ONNX model "
                                       "or GGUF file");
  return status != PF_OK ? status : list_entries(w, f, &f->tensors, e);
}

static pf_status open_model(pf_weights *w, const char *path, pf_error *e)
{
  pf_weights_file *f;
  w->file = pf_alloc_array(&w->memory, MAX_FILES, sizeof *w->file);
  if (w->file == NULL)
    return no_memory(e);
  PF_TRY(map_file(w, path, &f, e));
  if (pf_npz_is(f->data, f->size)) {
    w->format = "npz";
    return open_npz(w, f, e);
  }
  if (pf_onnx_is(f->data, f->size) && !pf_safetensors_is(f->data, f->size)) {
    w->format = "onnx";
    return open_onnx(w, f, e);
  }
  if (pf_shards_is(f->data, f->size) && !pf_safetensors_is(f->data, f->size)) {
    w->format = "safetensors";
    return open_shards(w, e);
  }
  PF_TRY(open_whole(w, f, e));
  w->format = f->tensors.format;
  return PF_OK;
}

static int by_name(const void *a, const void *b, void *weights)
{
  const pf_weight *w = weights;
  return strcmp(w[*(const size_t *)a].entry.name, w[*(const size_t *)b].entry.name);
}

static pf_status sort_names(pf_weights *w, pf_error *e)
{
  size_t *order = pf_alloc_array(&w->memory, w->count, sizeof *order);
  if (order == NULL)
    return no_memory(e);
  for (size_t i = 0; i < w->count; i++)
    order[i] = i;
  qsort_r(order, w->count, sizeof *order, by_name, w->weight);
  w->by_name = order;
  return PF_OK;
}

int64_t pf_weights_find(const pf_weights *w, const char *name)
{
  size_t low = 0, high = w->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (strcmp(w->weight[w->by_name[middle]].entry.name, name) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low < w->count && strcmp(w->weight[w->by_name[low]].entry.name, name) == 0
             ? (int64_t)w->by_name[low]
             : -1;
}

pf_status pf_weights_open(const char *path, pf_weights *out, pf_error *e)
{
  *out = (pf_weights){0};
  pf_status status = open_model(out, path, e);
  if (status == PF_OK)
    status = sort_names(out, e);
  if (status != PF_OK)
    pf_weights_close(out);
  return status;
}

/* --- one tensor ---------------------------------------------------------------------------- */

pf_status pf_weights_load(pf_weights *w, size_t i, pf_error *e)
{
  pf_weight *t = &w->weight[i];
  if (!t->elsewhere)
    return PF_OK;
  for (size_t j = 0; j < w->count; j++) /* what was loaded before goes */
    w->weight[j].entry.data = NULL;
  return pf_npz_load(w->file[0].npz, t->in_file, &t->entry, e);
}

void pf_weights_forget(const pf_weights *w, size_t i, size_t from, size_t bytes)
{
  const uint8_t *data = w->weight[i].entry.data;
  for (size_t f = 0; f < w->file_count; f++) { /* not what was copied */
    const pf_weights_file *file = &w->file[f];
    if (data >= file->data && data < file->data + file->size)
      pf_weights_forget_file(file, (size_t)(data - file->data) + from, bytes);
  }
}

/* Never beyond the mapping: what lies there would be lost. */
void pf_weights_forget_file(const pf_weights_file *f, size_t from, size_t bytes)
{
  const size_t begin = from > AROUND ? from - AROUND : 0;
  const size_t end = from < f->size && bytes < f->size - from ? from + bytes : f->size;
  if (begin < end)
    pf_file_forget(f->data + begin, end - begin);
}

void pf_weights_forget_all(const pf_weights *w)
{
  for (size_t f = 0; f < w->file_count; f++)
    pf_weights_forget_file(&w->file[f], 0, w->file[f].size);
}

void pf_weights_close(pf_weights *w)
{
  for (size_t i = 0; i < w->file_count; i++) {
    pf_weights_file *f = &w->file[i];
    pf_npz_close(f->npz);
    if (f->onnx != NULL)
      pf_onnx_close(f->onnx);
    free(f->onnx);
    pf_tensor_file_close(&f->tensors);
    pf_file_unmap(f->data, f->size);
  }
  pf_arena_free(&w->memory);
  *w = (pf_weights){0};
}

bool pf_weight_dtype(const pf_tensor_entry *t, pf_dtype *out)
{
  *out = t->has_dtype ? t->dtype : PF_F32;
  return t->has_dtype || pf_gguf_is_q8_0(t);
}

static double q8_0_at(const pf_tensor_entry *t, int64_t index)
{
  const uint8_t *block = t->data + index / PF_Q8_0_BLOCK * PF_Q8_0_BYTES;
  return pf_load(PF_F16, block) * pf_load(PF_S8, block + 2 + index % PF_Q8_0_BLOCK);
}

void pf_weight_read(const pf_tensor_entry *t, int64_t first, int64_t step, int64_t count,
                    double *to)
{
  const bool dense = t->has_dtype && pf_tensor_is_c_order(t);
  const int64_t bytes = t->has_dtype ? pf_dtype_of(t->dtype)->bytes : 0;
  const pf_grid grid = {.data = t->data + first * bytes, .rows = 1, .columns = count,
                        .row_stride = count, .column_stride = step};
  if (dense) {
    pf_load_grid(t->dtype, &grid, to);
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    const int64_t index = first + i * step;
    to[i] = t->has_dtype ? pf_load(t->dtype, pf_tensor_at(t, index)) : q8_0_at(t, index);
  }
}
