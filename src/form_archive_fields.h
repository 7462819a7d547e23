/* The bytes of the archive form, shared by its decoder and its encoder.  Numbers are little endian.

     0   8  magic: 89 70 66 63 61 73 65 0a
     8   4  version: 1
     12  4  bytes in all
     16     fields: tag (2), length (4), payload
     end 4  CRC-32 (ISO 3309, reflected, as in gzip) of everything before it

   Field      tag          payload
   what       8001         operation, graph, flags (1: in place; the others are 0), one byte each
   scalars    8002         alpha, beta, each 8 bytes f64; where the graph has c, and only there
   result     8003         dtype (1); of a scaled graph, and only there
   tensor     8010 + role  dtype (1), rank (1), sizes, strides (4 each), offset (4)
   output     8014         rank (1), strides (4 each), offset (4); left out where in place, dense
                           where left out
   values     8020 + role  kind, other kind, share of 256 (1 each), seed (4); with every tensor
   bytes      8030 + role  the elements of a verbatim tensor, row-major
   edits      8040 + role  index (4), encoding (8) each; one at least
   origin     0004         where the values come from (origin.h), without a NUL; may be left out
   scale      8050 + role  kind (1), block (2), seed (4); then, where they are not generated, the
                           scales as f32, one at least

   Fields may stand in any order, once each.  A reader that does not know a tag refuses it if its
   top bit is set and skips it else, so a later build may add either.  Numbers of operations,
   graphs, roles, dtypes and kinds are those of the enums. */
#ifndef PF_FORM_ARCHIVE_FIELDS_H
#define PF_FORM_ARCHIVE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

enum {
  PF_ARCHIVE_MAGIC = 8,     /* bytes */
  PF_ARCHIVE_HEADER = 16,   /* with the magic */
  PF_ARCHIVE_FIELD = 6,     /* tag and length */
  PF_ARCHIVE_EDIT = 12,
  PF_ARCHIVE_SCALE = 7,     /* without values */
  PF_ARCHIVE_TRAILER = 4,
  PF_ARCHIVE_VERSION = 1
};

enum {
  PF_MUST_KNOW = 0x8000,
  PF_TAG_WHAT = 0x8001,
  PF_TAG_SCALARS = 0x8002,
  PF_TAG_RESULT = 0x8003,
  PF_TAG_ORIGIN = 0x0004,
  PF_TAG_TENSOR = 0x8010, /* + role */
  PF_TAG_VALUES = 0x8020,
  PF_TAG_BYTES = 0x8030,
  PF_TAG_EDITS = 0x8040,
  PF_TAG_SCALE = 0x8050,
  PF_TAGS = 0x60          /* above the low byte of each tag */
};

enum { PF_ARCHIVE_IN_PLACE = 1 };

extern const uint8_t pf_archive_magic[PF_ARCHIVE_MAGIC];

uint32_t pf_archive_crc(const uint8_t *data, size_t size);

#endif
