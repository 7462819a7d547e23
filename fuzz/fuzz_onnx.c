/* The ONNX reader on any bytes: an error or a model whose initializers can be read, no crash. */
#include "onnx.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc;
  (void)argv;
  return 0;
}

static void examine(const pf_onnx *o)
{
  volatile uint8_t seen = 0; /* or the reads below would be optimised away */
  for (size_t i = 0; i < o->file.count; i++) {
    const pf_tensor_entry *t = &o->file.entry[i];
    if (t->data != NULL && t->bytes != 0) {
      seen = t->data[0];
      seen = t->data[t->bytes - 1];
    }
    if (pf_tensor_file_find(&o->file, t->name) != t)
      __builtin_trap();
  }
  for (size_t i = 0; i < o->use_count; i++)
    if (o->file.entry[o->use[i].weight].rank != 2 || o->use[i].bias >= (int64_t)o->file.count)
      __builtin_trap();
  (void)seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  pf_onnx o;
  pf_error e = {0};
  if (pf_onnx_parse(data, size, &o, &e) != PF_OK) {
    if (e.offset > size || e.text[0] == '\0')
      __builtin_trap();
    return 0;
  }
  for (size_t i = 0; i < o.external_count; i++)
    pf_onnx_attach(&o, &o.external[i], data, size, &e);
  examine(&o);
  pf_onnx_close(&o);
  return 0;
}
