/* The readers of a safetensors file and of the index of several on any bytes: an error or a file
   whose tensors can be read, no crash. */
#include "reader_target.h"
#include "safetensors.h"
#include "safetensors_index.h"

static int examine_index(const uint8_t *data, size_t size)
{
  pf_shards s;
  pf_error e = {0};
  if (pf_shards_parse(data, size, &s, &e) != PF_OK)
    return refused(&e, size);
  for (size_t i = 0; i < s.count; i++)
    if (s.entry[i].file >= s.files || s.entry[i].place >= size)
      __builtin_trap();
  pf_shards_close(&s);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  pf_tensor_file f;
  pf_error e = {0};
  if (pf_shards_is(data, size) && !pf_safetensors_is(data, size))
    return examine_index(data, size);
  if (pf_safetensors_parse(data, size, &f, &e) != PF_OK)
    return refused(&e, size);
  touch_all(&f);
  for (size_t i = 0; i < f.metadata_count; i++)
    if (pf_tensor_file_metadata(&f, f.metadata[i].key) != f.metadata[i].value)
      __builtin_trap();
  pf_tensor_file_close(&f);
  return 0;
}
