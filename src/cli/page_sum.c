/* All that children saw, summed up. */
#include "triage.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "page.h"

const char *pf_page_text(const json_t *o, const char *key)
{
  const char *text = json_string_value(json_object_get(o, key));
  return text ? text : "";
}

int64_t pf_page_number(const json_t *o, const char *key)
{
  const json_t *n = json_object_get(o, key);
  return json_is_integer(n) ? json_integer_value(n) : -1;
}

/* The member, made by `make` where there is none; NULL: no memory. */
static json_t *member(json_t *o, const char *key, json_t *(*make)(void))
{
  json_t *m = json_object_get(o, key);
  if (!m && !json_object_set_new(o, key, make()))
    m = json_object_get(o, key);
  return m;
}

static void count(json_t *o, const char *key, int64_t by)
{
  const json_t *n = json_object_get(o, key);
  json_object_set_new(o, key, json_integer(json_integer_value(n) + by));
}

/* --- what children left ----------------------------------------------------------------------- */

static char *work_file(const pf_page *p, size_t index, const char *kind)
{
  char *path = NULL;
  return asprintf(&path, "%s/%zu.%s", p->work, index, kind) < 0 ? NULL : path;
}

/* Tells again what was said of it, and lists it where it could not be looked at. */
static void pass_on(pf_page *p, size_t index)
{
  char *path = work_file(p, index, "err");
  pf_file said = {0};
  const char *file = p->item[index].path, *prefix = "precfuzz: ", *why = NULL;
  if (path && !access(path, F_OK) && !pf_file_read(path, &said) && said.size) {
    char *line = (char *)said.data;
    fputs(line, stderr);
    line[strcspn(line, "\n")] = 0;
    line += strncmp(line, prefix, strlen(prefix)) ? 0 : strlen(prefix);
    if (file && !strncmp(line, file, strlen(file)) && line[strlen(file)] == ':')
      line += strlen(file) + 2;
    why = line;
  } else if (p->item[index].code > 0) {
    why = "precfuzz itself died of it";
  }
  if (why)
    pf_json_append(&p->bad, json_pack("{s:o, s:o}", "file", pf_json_text(file ? file : "precfuzz"),
                                      "why", pf_json_text(why)));
  pf_file_free(&said);
  free(path);
}

static void read_seen(pf_page *p, size_t index)
{
  char *path = work_file(p, index, "json");
  if (path && !access(path, F_OK))
    p->item[index].seen = json_load_file(path, 0, NULL);
  free(path);
  pass_on(p, index);
}

/* --- results ---------------------------------------------------------------------------------- */

static void sum_engine(json_t *sum, const json_t *r, bool first_of_case)
{
  json_t *e = member(json_object_get(sum, "engines"), pf_page_text(r, "engine"), json_object);
  if (!e)
    return;
  json_object_set(e, "version", json_object_get(r, "version"));
  json_object_set(e, "isa", json_object_get(r, "isa"));
  count(e, "cases", first_of_case);
  count(e, "results", 1);
  count(e, "findings", json_is_true(json_object_get(r, "finding")));
}

static void sum_cell(json_t *sum, const json_t *r)
{
  json_t *engine = member(json_object_get(sum, "cells"), pf_page_text(r, "engine"), json_object);
  json_t *dtype = member(engine, pf_page_text(r, "dtype"), json_object);
  json_t *cell = json_object_get(dtype, pf_page_text(r, "strategy"));
  if (!strcmp(pf_page_text(r, "verdict"), "UNSUPPORTED"))
    return;
  json_object_set_new(
      dtype, pf_page_text(r, "strategy"),
      json_pack("[I, I]",
                json_integer_value(json_array_get(cell, 0)) +
                    json_is_true(json_object_get(r, "finding")),
                json_integer_value(json_array_get(cell, 1)) + 1));
}

static void sum_shares(json_t *sum, const json_t *r)
{
  const json_t *largest = json_object_get(r, "largest"), *bins = json_object_get(r, "bins"), *n;
  size_t i;
  if (!largest)
    return;
  json_t *engine = member(json_object_get(sum, "shares"), pf_page_text(r, "engine"), json_object);
  json_t *o = member(engine, pf_page_text(r, "dtype"), json_object);
  json_t *all = member(o, "bins", json_array);
  json_array_foreach(bins, i, n) {
    const int64_t before = json_integer_value(json_array_get(all, i));
    json_t *now = json_integer(before + json_integer_value(n));
    if (i < json_array_size(all))
      json_array_set_new(all, i, now);
    else
      json_array_append_new(all, now);
    count(o, "elements", json_integer_value(n));
  }
  if (json_number_value(largest) >= json_number_value(json_object_get(o, "largest")))
    json_object_set(o, "largest", (json_t *)(uintptr_t)largest);
}

static void sum_results(json_t *sum, const json_t *seen)
{
  const json_t *results = json_object_get(seen, "results"), *r;
  const char *last = "";
  size_t i;
  json_array_foreach(results, i, r) {
    sum_engine(sum, r, strcmp(last, pf_page_text(r, "engine")) != 0);
    sum_cell(sum, r);
    sum_shares(sum, r);
    count(json_object_get(sum, "verdicts"), pf_page_text(r, "verdict"), 1);
    count(sum, "results", 1);
    last = pf_page_text(r, "engine");
  }
  json_array_extend(json_object_get(json_object_get(sum, "parted"), "file"),
                    json_object_get(seen, "parted"));
  json_array_extend(json_object_get(json_object_get(sum, "parted"), "drawn"),
                    json_object_get(seen, "drawn"));
}

/* --- findings --------------------------------------------------------------------------------- */

static bool same(const json_t *a, const json_t *b)
{
  return !strcmp(pf_page_text(a, "signature"), pf_page_text(b, "signature")) &&
         !strcmp(pf_page_text(a, "at"), pf_page_text(b, "at"));
}

/* One of a bundle comes before those of files, so that these join it. */
static json_t *find_same(json_t *list, const json_t *f)
{
  json_t *other;
  size_t i;
  json_array_foreach(list, i, other)
    if (same(other, f))
      return other;
  return NULL;
}

static void add_found(json_t *sum, const pf_page_item *item, json_t *f)
{
  const bool known = pf_page_text(f, "known")[0];
  json_t *list = json_object_get(sum, known ? "known" : "findings");
  json_t *earlier = item->bundle ? NULL : find_same(list, f);
  if (!earlier) {
    json_array_append(list, f);
    json_object_set_new(f, "files", json_array());
    earlier = f;
  }
  json_t *files = json_object_get(earlier, "files");
  json_array_append_new(files, pf_json_text(item->path));
}

static json_t *accepted_of(const char *bundle)
{
  char *path = pf_triage_path(bundle, PF_BUNDLE_ACCEPTED, NULL);
  pf_file f = {0};
  json_t *text = json_null();
  if (path && !access(path, F_OK) && !pf_file_read(path, &f)) {
    f.data[strcspn((const char *)f.data, "\n")] = 0;
    text = pf_json_text((const char *)f.data);
  }
  pf_file_free(&f);
  free(path);
  return text;
}

/* What its facts say where it could not be looked at again, or shows nothing now. */
static json_t *from_facts(const json_t *facts, const json_t *seen)
{
  const json_t *result = json_object_get(facts, "result");
  const char *not_run = pf_page_text(seen, "not_run");
  json_t *f = json_object();
  static const char *const keys[] = {"signature", "at", "engine", "verdict", "case"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    json_object_set(f, keys[i], json_object_get(facts, keys[i]));
  json_object_set(f, "strategy", json_object_get(result, "strategy"));
  json_object_set_new(f, "picture", pf_picture_of_facts(facts));
  json_object_set_new(f, "recorded",
                      pf_json_text(not_run[0] ? not_run : "it does not show here and now"));
  return f;
}

static void sum_bundle(json_t *sum, const pf_page_item *item)
{
  json_t *f = json_array_get(json_object_get(item->seen, "findings"), 0);
  f = f ? json_incref(f) : from_facts(item->facts, item->seen);
  json_object_del(f, "known");  /* its entry came from the bundle */
  json_object_set_new(f, "bundle", pf_json_text(item->bundle));
  json_object_set(f, "name", json_object_get(item->facts, "name"));
  json_object_set(f, "message", json_object_get(item->facts, "message"));
  json_object_set(f, "case", json_object_get(item->facts, "case"));
  json_object_set(f, "machine", json_object_get(item->facts, "machine"));
  json_object_set(f, "shows", json_object_get(item->facts, "shows"));
  json_object_set_new(f, "accepted", accepted_of(item->bundle));
  add_found(sum, item, f);
  json_decref(f);
}

static void sum_item(json_t *sum, const pf_page_item *item)
{
  const json_t *findings = json_object_get(item->seen, "findings");
  json_t *f;
  size_t i;
  sum_results(sum, item->seen);
  if (item->path && item->seen)
    count(sum, "cases", 1);
  if (item->facts) {
    sum_bundle(sum, item);
    return;
  }
  json_array_foreach(findings, i, f)
    add_found(sum, item, f);
  if (item->path && item->seen && !json_array_size(findings))
    count(sum, "nothing", 1);
}

/* --- what triage knew of files ---------------------------------------------------------------- */

static json_t *find_named(json_t *list, const char *name)
{
  json_t *f;
  size_t i;
  json_array_foreach(list, i, f)
    if (!strcmp(pf_page_text(f, "name"), name))
      return f;
  return NULL;
}

/* FOLDER/files.json: how many files each bundle stands for, and what could not be read then. */
static void sum_index(pf_page *p)
{
  char *path = pf_triage_path(p->folder, "files.json", NULL);
  json_t *index = path ? json_load_file(path, 0, NULL) : NULL;
  json_t *files = json_object_get(index, "files"), *file, *shown;
  const char *name;
  size_t i;
  if (path && !index && !access(path, F_OK))
    pf_page_bad(p, path, "is no list of files");
  json_object_foreach(files, name, file) {
    json_array_foreach(json_object_get(file, "shows"), i, shown) {
      json_t *f = find_named(json_object_get(p->sum, "findings"), pf_page_text(shown, "bundle"));
      if (f)
        count(f, "crashes", 1);
    }
    if (pf_page_number(file, "exit_status") > 0)
      pf_json_append(&p->bad, json_pack("{s:o, s:s}", "file", pf_json_text(name), "why",
                                        "triage could not read or run it"));
  }
  json_decref(index);
  free(path);
}

pf_status pf_page_sum(pf_page *p)
{
  p->sum = json_pack("{s:{}, s:{}, s:{}, s:{}, s:{s:[], s:[]}, s:[], s:[], s:i, s:i, s:i}",
                     "engines", "verdicts", "cells", "shares", "parted", "file", "drawn",
                     "findings", "known", "cases", 0, "results", 0, "nothing", 0);
  if (!p->sum)
    return PF_NO_MEMORY;
  for (size_t i = 0; i < p->items; i++)
    read_seen(p, i);
  for (int bundles = 1; bundles >= 0; bundles--)
    for (size_t i = 0; i < p->items; i++)
      if ((p->item[i].facts != NULL) == bundles)
        sum_item(p->sum, &p->item[i]);
  sum_index(p);
  return p->bad && p->sum ? PF_OK : PF_NO_MEMORY;
}
