/* Bytes in, numbers out; total.  Past the end it starts over: padding short inputs with zeros would
   hide every fault that shows in the last elements only. */
#ifndef PF_READER_H
#define PF_READER_H

#include <stddef.h>
#include <stdint.h>

typedef struct pf_reader {
  const uint8_t *data;
  size_t size;  /* bytes; an empty input reads as one zero byte */
  size_t next;  /* bytes read so far, also beyond size */
} pf_reader;

uint8_t pf_read_u8(pf_reader *r);
uint64_t pf_read_le(pf_reader *r, int bytes);  /* little endian, 1 to 8 bytes */
void pf_read_bytes(pf_reader *r, void *out, size_t n);

#endif
