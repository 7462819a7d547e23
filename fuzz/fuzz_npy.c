/* The .npy reader on any bytes, whatever raw bytes are said to be: an error or an array whose
   elements can be read, no crash. */
#include "npy.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc;
  (void)argv;
  return 0;
}

static void examine(const uint8_t *data, size_t size, const pf_dtype *raw)
{
  pf_tensor_file f;
  pf_error e = {0};
  volatile uint8_t seen = 0; /* or the reads below would be optimised away */
  if (pf_npy_parse(data, size, raw, &f, &e) != PF_OK) {
    if (e.offset > size || e.text[0] == '\0')
      __builtin_trap();
    return;
  }
  const pf_tensor_entry *t = &f.entry[0];
  if (t->bytes != 0) {
    seen = t->data[0];
    seen = t->data[t->bytes - 1];
    if (t->has_dtype) {
      seen = *pf_tensor_at(t, 0);
      seen = *pf_tensor_at(t, t->elements / 2);
      if (pf_tensor_at(t, t->elements - 1) != t->data + t->bytes - pf_dtype_of(t->dtype)->bytes)
        __builtin_trap();
    }
  }
  (void)seen;
  pf_tensor_file_close(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  examine(data, size, NULL);
  for (int t = 0; t < PF_DTYPE_COUNT; t++)
    examine(data, size, &(const pf_dtype){(pf_dtype)t});
  return 0;
}
