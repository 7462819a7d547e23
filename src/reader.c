/* A cyclic reader: the input is read as if repeated without end. */
#include "reader.h"

#include <string.h>

uint8_t pf_read_u8(pf_reader *r)
{
  const size_t at = r->next++;
  if (at < r->size) {
    return r->data[at];
  }
  return r->size == 0 ? 0 : r->data[at % r->size];
}

uint64_t pf_read_le(pf_reader *r, int bytes)
{
  uint64_t value = 0;
  if (r->next <= r->size && r->size - r->next >= (size_t)bytes) {
    for (int i = 0; i < bytes; i++) {
      value |= (uint64_t)r->data[r->next + (size_t)i] << (8 * i);
    }
    r->next += (size_t)bytes;
    return value;
  }
  for (int i = 0; i < bytes; i++) {
    value |= (uint64_t)pf_read_u8(r) << (8 * i);
  }
  return value;
}

void pf_read_bytes(pf_reader *r, void *out, size_t n)
{
  unsigned char *to = out;
  if (r->size == 0) {
    if (n != 0) {
      memset(to, 0, n);
    }
    r->next += n;
    return;
  }
  while (n != 0) {
    const size_t at = r->next % r->size;
    const size_t chunk = n < r->size - at ? n : r->size - at;
    memcpy(to, r->data + at, chunk);
    to += chunk;
    n -= chunk;
    r->next += chunk;
  }
}
