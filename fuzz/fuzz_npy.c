/* The .npy reader on any bytes, whatever raw bytes are said to be: an error or an array whose
   elements can be read, no crash. */
#include "npy.h"
#include "reader_target.h"

static void examine(const uint8_t *data, size_t size, const pf_dtype *raw)
{
  pf_tensor_file f;
  pf_error e = {0};
  if (pf_npy_parse(data, size, raw, &f, &e) != PF_OK) {
    refused(&e, size);
    return;
  }
  const pf_tensor_entry *t = &f.entry[0];
  touch(t);
  if (t->bytes != 0 && t->has_dtype) {
    const int bytes = pf_dtype_of(t->dtype)->bytes;
    touch(&(pf_tensor_entry){.data = pf_tensor_at(t, t->elements / 2), .bytes = (size_t)bytes});
    if (pf_tensor_at(t, 0) != t->data ||
        pf_tensor_at(t, t->elements - 1) != t->data + t->bytes - bytes)
      __builtin_trap();
  }
  pf_tensor_file_close(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  examine(data, size, NULL);
  for (int t = 0; t < PF_DTYPE_COUNT; t++)
    examine(data, size, &(const pf_dtype){(pf_dtype)t});
  return 0;
}
