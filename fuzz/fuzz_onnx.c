/* The ONNX reader on any bytes: an error or a model whose initializers can be read, no crash. */
#include "onnx.h"
#include "reader_target.h"

static void examine(const pf_onnx *o)
{
  for (size_t i = 0; i < o->file.count; i++) {
    const pf_tensor_entry *t = &o->file.entry[i];
    if (t->data != NULL)  /* or it lies in a file that is not there */
      touch(t);
    if (pf_tensor_file_find(&o->file, t->name) != t)
      __builtin_trap();
  }
  for (size_t i = 0; i < o->use_count; i++)
    if (o->file.entry[o->use[i].weight].rank != 2 || o->use[i].bias >= (int64_t)o->file.count)
      __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  pf_onnx o;
  pf_error e = {0};
  if (pf_onnx_parse(data, size, &o, &e) != PF_OK)
    return refused(&e, size);
  for (size_t i = 0; i < o.external_count; i++)
    pf_onnx_attach(&o, &o.external[i], data, size, &e);
  examine(&o);
  pf_onnx_close(&o);
  return 0;
}
