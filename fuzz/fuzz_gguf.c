/* The GGUF reader on any bytes: an error or a file whose tensors can be read, no crash. */
#include "gguf.h"
#include "reader_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  pf_tensor_file f;
  pf_error e = {0};
  if (pf_gguf_parse(data, size, &f, &e) != PF_OK)
    return refused(&e, size);
  touch_all(&f);
  pf_tensor_file_close(&f);
  return 0;
}
