/* The manifest of seeds, by jansson. */
#include "manifest.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"

void pf_manifest_open(pf_manifest *m)
{
  *m = (pf_manifest){json_array(), json_array(), json_array()};
}

static json_t *files_of(const pf_manifest_model *model)
{
  json_t *files = json_array();
  for (size_t i = 0; i < model->weights->file_count; i++) {
    const pf_weights_file *f = &model->weights->file[i];
    pf_json_append(&files, json_pack("{s:o, s:I, s:s}", "path", pf_json_text(f->path), "bytes",
                                     (json_int_t)f->size, "sha256", model->hash[i]));
  }
  return files;
}

void pf_manifest_model_add(pf_manifest *m, const pf_manifest_model *model)
{
  const pf_weights *w = model->weights;
  pf_json_append(&m->models, json_pack("{s:o, s:s, s:I, s:o}", "path", pf_json_text(model->path),
                                       "format", w->format, "tensors", (json_int_t)w->count,
                                       "files", files_of(model)));
}

static json_t *vectors_of(const pf_seed *s)
{
  json_t *all = json_array();
  for (int64_t i = 0; i < s->slice.n; i++)
    pf_json_append(&all, json_pack("{s:I, s:s}", "vector", (json_int_t)s->pick[i].vector, "why",
                                   pf_seed_why_name(s->pick[i].why)));
  return all;
}

static json_t *partner_of(const pf_seed *s)
{
  json_t *rows = json_array();
  for (int64_t i = 0; i < s->slice.m && s->partner_name; i++)
    pf_json_append(&rows, json_integer(s->partner_row[i]));
  return json_pack("{s:s, s:o, s:o}", "kind", pf_partner_name(s->partner), "tensor",
                   pf_json_text(s->partner_name), "rows", rows);
}

static json_t *layer_of(const pf_manifest_model *model, const pf_seed *s)
{
  const pf_weight *w = &model->weights->weight[s->layer->weight];
  const int64_t bias = s->layer->bias;
  const pf_tensor_entry *added = bias >= 0 ? &model->weights->weight[bias].entry : NULL;
  return json_pack("{s:o, s:s, s:o, s:o, s:o, s:[I, I], s:o, s:o, s:b}", "tensor",
                   pf_json_text(w->entry.name), "stored", w->entry.dtype_name, "file",
                   pf_json_text(w->path), "bias", pf_json_text(added ? added->name : NULL),
                   "vectors", vectors_of(s), "k", (json_int_t)s->k_from,
                   (json_int_t)(s->k_from + s->slice.k), "partner", partner_of(s), "shape",
                   pf_json_sizes(w->entry.rank, w->entry.dim), "rows", s->slice.rows);
}

void pf_manifest_seed(pf_manifest *m, const pf_manifest_model *model, const pf_seed *s,
                      const pf_case *what, const char *file, pf_form form, size_t bytes)
{
  pf_json_append(&m->seeds,
                 json_pack("{s:s, s:s, s:I, s:s, s:s, s:s, s:[I, I], s:I, s:o}", "file", file,
                           "form", pf_form_name(form), "bytes", (json_int_t)bytes, "origin",
                           what->origin, "graph", pf_graph_of(what->graph)->name, "dtype",
                           pf_dtype_of(s->form.dtype)->name, "matmul", (json_int_t)s->full_n,
                           (json_int_t)s->full_k, "model", model->number, "layer",
                           s->layer ? layer_of(model, s) : json_null()));
}

void pf_manifest_skip(pf_manifest *m, const pf_manifest_model *model, size_t weight,
                      const char *why)
{
  const pf_tensor_entry *t = &model->weights->weight[weight].entry;
  pf_json_append(&m->skipped,
                 json_pack("{s:I, s:o, s:s, s:o, s:o}", "model", model->number, "tensor",
                           pf_json_text(t->name), "stored", t->dtype_name, "shape",
                           pf_json_sizes(t->rank, t->dim), "why", pf_json_text(why)));
}

int pf_manifest_write(const pf_manifest *m, const char *folder, bool interrupted)
{
  char *path = NULL;
  json_t *all = json_pack("{s:s, s:b, s:O, s:O, s:O}", "precfuzz", PF_VERSION, "interrupted",
                          interrupted, "models", m->models, "seeds", m->seeds, "skipped",
                          m->skipped);
  char *text = all ? json_dumps(all, JSON_INDENT(1) | JSON_PRESERVE_ORDER) : NULL;
  int code = PF_EXIT_MACHINERY;
  json_decref(all);
  if (text && asprintf(&path, "%s/manifest.json", folder) >= 0)
    code = pf_cli_write(path, (const uint8_t *)text, strlen(text));
  else
    pf_cli_fail(code, "out of memory");
  free(path);
  free(text);
  return code;
}

static const char *why_of(const pf_manifest *m, size_t i)
{
  return json_string_value(json_object_get(json_array_get(m->skipped, i), "why"));
}

/* A line for each reason: how many, and the first of them. */
void pf_manifest_print_skipped(const pf_manifest *m, FILE *to)
{
  const size_t count = json_array_size(m->skipped);
  for (size_t i = 0; i < count; i++) {
    size_t before = 0, like = 0;
    for (size_t j = 0; j < count; j++)
      if (!strcmp(why_of(m, i), why_of(m, j))) {
        like++;
        before += j < i;
      }
    if (before)
      continue;
    const json_t *first = json_object_get(json_array_get(m->skipped, i), "tensor");
    fprintf(to, "skipped %zu: %s (%s%s)\n", like, why_of(m, i), json_string_value(first),
            like > 1 ? ", ..." : "");
  }
}

void pf_manifest_close(pf_manifest *m)
{
  json_decref(m->models);
  json_decref(m->seeds);
  json_decref(m->skipped);
}
