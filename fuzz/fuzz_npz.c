/* The .npz reader on any bytes, under limits that keep every input quick: an error or a list of
   arrays, each of which can be read or says why not, no crash. */
#include <string.h>

#include "npz.h"
#include "reader_target.h"

static void examine(pf_npz *npz, const pf_tensor_file *list, size_t i)
{
  pf_tensor_entry t;
  pf_error e = {0};
  if (pf_tensor_file_find(list, list->entry[i].name) != &list->entry[i])
    __builtin_trap();
  if (pf_npz_load(npz, i, &t, &e) != PF_OK) {
    if (e.text[0] == '\0')
      __builtin_trap();
    return;
  }
  if (t.bytes != list->entry[i].bytes || strcmp(t.name, list->entry[i].name) != 0)
    __builtin_trap();
  touch(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const pf_npz_limits limits = {
    .members = 64, .member_bytes = 1 << 18, .all_bytes = 1 << 22};
  pf_npz *npz;
  pf_tensor_file list;
  size_t skipped;
  pf_error e = {0};
  if (pf_npz_open(data, size, &limits, &npz, &list, &skipped, &e) != PF_OK) {
    if (e.text[0] == '\0')
      __builtin_trap();
    return 0;
  }
  for (size_t i = 0; i < list.count; i++)
    examine(npz, &list, i);
  pf_npz_close(npz);
  pf_tensor_file_close(&list);
  return 0;
}
