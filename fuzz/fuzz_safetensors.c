/* The safetensors reader on any bytes: an error or a file whose tensors can be read, no crash. */
#include "reader_target.h"
#include "safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  pf_tensor_file f;
  pf_error e = {0};
  if (pf_safetensors_parse(data, size, &f, &e) != PF_OK)
    return refused(&e, size);
  touch_all(&f);
  for (size_t i = 0; i < f.metadata_count; i++)
    if (pf_tensor_file_metadata(&f, f.metadata[i].key) != f.metadata[i].value)
      __builtin_trap();
  pf_tensor_file_close(&f);
  return 0;
}
