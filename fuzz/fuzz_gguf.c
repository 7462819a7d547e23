/* The GGUF reader on any bytes: an error or a file whose tensors can be read, no crash. */
#include "gguf.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc;
  (void)argv;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  pf_tensor_file f;
  pf_error e = {0};
  volatile uint8_t seen = 0; /* or the reads below would be optimised away */
  if (pf_gguf_parse(data, size, &f, &e) != PF_OK) {
    if (e.offset > size || e.text[0] == '\0')
      __builtin_trap();
    return 0;
  }
  for (size_t i = 0; i < f.count; i++) {
    const pf_tensor_entry *t = &f.entry[i];
    if (t->bytes != 0) {
      seen = t->data[0];
      seen = t->data[t->bytes - 1];
    }
    if (pf_tensor_file_find(&f, t->name) != t)
      __builtin_trap();
  }
  (void)seen;
  pf_tensor_file_close(&f);
  return 0;
}
