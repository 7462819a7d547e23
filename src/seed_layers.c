/* Layers by the model's own word, or by the names and shapes of its tensors. */
#include "seed_layers.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 256 };  /* characters; longer names have no bias */

/* Greatest magnitude below the normal numbers of what the weight is run in: of its own format if
   that is narrow, else of f16. */
static double least_normal(pf_dtype t)
{
  const pf_format *f = pf_format_of(pf_dtype_of(t)->bytes > 2 || t == PF_BF16 ? PF_F16 : t);
  return pf_dtype_of(t)->exponent_bits > 0 ? pf_smallest_normal(f) : 0;
}

static const char *why_not(const pf_tensor_entry *t)
{
  pf_dtype dtype;
  if (!pf_weight_dtype(t, &dtype))
    return "of a type that is not read";
  if (dtype == PF_S32)
    return "s32: no operand of a matmul";
  if (t->rank < 2)
    return "of fewer than two dimensions";
  return t->elements == 0 ? "empty" : NULL;
}

static pf_seed_matrix matrix_of(const pf_tensor_entry *t, bool rows)
{
  pf_dtype dtype;
  pf_weight_dtype(t, &dtype);
  const int64_t first = t->dim[0], rest = t->elements / first;
  return (pf_seed_matrix){.n = rows ? first : rest, .k = rows ? rest : first, .rows = rows,
                          .least = least_normal(dtype)};
}

/* "a.weight" and "a.kernel" have the bias "a.bias". */
static int64_t find_bias(const pf_weights *w, const char *name, bool *kernel)
{
  static const char *const endings[] = {"weight", "kernel"};
  char bias[NAME];
  for (int i = 0; i < 2; i++) {
    const size_t length = strlen(name), end = strlen(endings[i]);
    *kernel = i == 1 && length >= end && strcmp(name + length - end, endings[i]) == 0;
    if (length < end || length + 1 > sizeof bias || strcmp(name + length - end, endings[i]) != 0)
      continue;
    snprintf(bias, sizeof bias, "%.*sbias", (int)(length - end), name);
    const int64_t found = pf_weights_find(w, bias);
    return found >= 0 && w->weight[found].entry.rank == 1 ? found : -1;
  }
  return -1;
}

static pf_layer layer_of(const pf_weights *w, size_t i)
{
  const pf_tensor_entry *t = &w->weight[i].entry;
  bool kernel;
  int64_t bias = find_bias(w, t->name, &kernel);
  const int64_t elements = bias >= 0 ? w->weight[bias].entry.elements : t->dim[0];
  const bool columns =
      t->rank == 2 && (kernel || (elements != t->dim[0] && elements == t->dim[1]));
  if (elements != (columns ? t->dim[1] : t->dim[0]))
    bias = -1;
  return (pf_layer){.weight = i, .bias = bias, .matrix = matrix_of(t, !columns)};
}

static void guess(const pf_weights *w, pf_layers *out, bool *used)
{
  for (size_t i = 0; i < w->count; i++) {
    if (why_not(&w->weight[i].entry) != NULL)
      continue;
    const pf_layer l = out->layer[out->count++] = layer_of(w, i);
    used[i] = true;
    if (l.bias >= 0)
      used[l.bias] = true;
  }
}

static void believe(const pf_weights *w, pf_layers *out, bool *used)
{
  for (size_t i = 0; i < w->use_count; i++) {
    const pf_weight_use *u = &w->use[i];
    const pf_tensor_entry *t = &w->weight[u->weight].entry;
    if (why_not(t) != NULL || used[u->weight])
      continue;
    pf_layer *l = &out->layer[out->count++];
    *l = (pf_layer){.weight = u->weight, .bias = u->bias, .matrix = matrix_of(t, u->rows)};
    used[u->weight] = true;
    if (l->bias >= 0 && w->weight[l->bias].entry.elements != l->matrix.n)
      l->bias = -1;
    if (l->bias >= 0)
      used[l->bias] = true;
  }
}

pf_status pf_layers_find(const pf_weights *w, pf_layers *out)
{
  *out = (pf_layers){0};
  out->layer = pf_alloc_array(&out->memory, w->count, sizeof *out->layer);
  out->skipped = pf_alloc_array(&out->memory, w->count, sizeof *out->skipped);
  bool *used = pf_alloc_array(&out->memory, w->count, sizeof *used);
  if (!out->layer || !out->skipped || !used) {
    pf_layers_close(out);
    return PF_NO_MEMORY;
  }
  if (w->says_uses)
    believe(w, out, used);
  else
    guess(w, out, used);
  for (size_t i = 0; i < w->count; i++) {
    const char *why = why_not(&w->weight[i].entry);
    if (!used[i])
      out->skipped[out->skipped_count++] =
          (pf_skipped){i, why ? why : "no matmul of the model reads it"};
  }
  return PF_OK;
}

void pf_layers_close(pf_layers *l)
{
  pf_arena_free(&l->memory);
  *l = (pf_layers){0};
}

bool pf_is_embedding(const pf_tensor_entry *t)
{
  return t->rank == 2 && (strstr(t->name, "emb") != NULL || strstr(t->name, "wte") != NULL);
}
