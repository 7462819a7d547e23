/* The archive form: magic, version, length, tagged fields, CRC-32; strict.  For regressions and
   bundles: every later build reads it. */
#ifndef PF_FORM_ARCHIVE_H
#define PF_FORM_ARCHIVE_H

#include "case.h"

bool pf_archive_is(const uint8_t *data, size_t size);  /* has the magic */
/* The error's offset is that of the offending byte. */
pf_status pf_archive_decode(const uint8_t *data, size_t size, pf_arena *a, pf_case *out,
                            pf_error *e);
pf_status pf_archive_encode(const pf_case *c, pf_arena *a, uint8_t **out, size_t *size,
                            pf_error *e);

#endif
