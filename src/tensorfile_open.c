/* A .npy file begins with a magic that, read as the length that a safetensors file begins with,
   is far above that format's limit: no file can be both. */
#include "tensorfile_open.h"

#include "npy.h"
#include "safetensors.h"

pf_status pf_tensor_file_open(const char *path, const pf_dtype *raw, pf_tensor_file *out,
                              pf_error *e)
{
  const uint8_t *data;
  size_t size;
  *out = (pf_tensor_file){0};
  pf_status status = pf_file_map(path, &data, &size, e);
  if (status != PF_OK)
    return status;
  status = pf_npy_is(data, size) ? pf_npy_parse(data, size, raw, out, e)
                                 : pf_safetensors_parse(data, size, out, e);
  if (status == PF_OK)
    out->mapped = true;
  else
    pf_file_unmap(data, size);
  return status;
}
