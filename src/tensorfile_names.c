/* Names of tensors out of strangers' files: copied, checked, sorted. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tensorfile.h"

pf_status pf_tensor_text(pf_tensor_file *f, size_t at, size_t length, const char *what,
                         const char **out, pf_error *e)
{
  const char *from = (const char *)f->data + at;
  if (memchr(from, '\0', length) != NULL)
    return pf_fail(e, PF_BAD_INPUT, at, "%s: %s '%s' has a NUL in it", f->format, what,
                   pf_quote(from, length).text);
  char *copy = pf_alloc_raw(&f->memory, length + 1);
  json_t *text = json_stringn(from, length); /* NULL for what is no UTF-8 */
  json_decref(text);
  if (copy == NULL)
    return pf_fail(e, PF_NO_MEMORY, at, "%s: not enough memory for %s", f->format, what);
  if (text == NULL)
    return pf_fail(e, PF_BAD_INPUT, at, "%s: %s '%s' is not UTF-8", f->format, what,
                   pf_quote(from, length).text);
  memcpy(copy, from, length);
  copy[length] = '\0';
  *out = copy;
  return PF_OK;
}

/* Equal names in the order of their declaration. */
static int by_name(const void *a, const void *b, void *entries)
{
  const pf_tensor_entry *entry = entries;
  const size_t i = *(const size_t *)a, j = *(const size_t *)b;
  const int order = strcmp(entry[i].name, entry[j].name);
  return order != 0 ? order : (i > j) - (i < j);
}

pf_status pf_tensor_index(pf_tensor_file *f, const size_t *place, pf_error *e)
{
  size_t *order = pf_alloc_array(&f->memory, f->count, sizeof *order);
  if (order == NULL)
    return pf_fail(e, PF_NO_MEMORY, 0, "%s: not enough memory for names", f->format);
  for (size_t i = 0; i < f->count; i++)
    order[i] = i;
  qsort_r(order, f->count, sizeof *order, by_name, (void *)(uintptr_t)f->entry);
  f->by_name = order;
  for (size_t i = 1; i < f->count; i++) {
    const char *name = f->entry[order[i]].name;
    if (strcmp(f->entry[order[i - 1]].name, name) == 0)
      return pf_fail(e, PF_BAD_INPUT, place[order[i]], "%s: tensor '%s': the name occurs twice",
                     f->format, pf_quote(name, strlen(name)).text);
  }
  return PF_OK;
}
