/* .npz: a zip archive of .npy files, stored or deflated, as np.savez and np.savez_compressed write
   it.  Read by libzip, a member at a time. */
#ifndef PF_NPZ_H
#define PF_NPZ_H

#include "tensorfile.h"

/* What an archive may make of its bytes. */
typedef struct pf_npz_limits {
  uint64_t members;        /* in the archive */
  uint64_t member_bytes;   /* of one, unpacked: more are listed, and not read */
  uint64_t all_bytes;      /* of all, unpacked */
} pf_npz_limits;

extern const pf_npz_limits pf_npz_default_limits;

typedef struct pf_npz pf_npz;

/* Whether the bytes begin as a zip archive does. */
bool pf_npz_is(const void *data, size_t size);

/* Lists an archive that lies in memory, which must outlive *npz: an entry for each member, its name
   without ".npy", shape, dtype and bytes; without data.  offset is that of the data in the unpacked
   member.  The list must stay where it is until pf_npz_close.  Members that are no .npy files, or of dtypes that are not read, are counted in *skipped.
   PF_BAD_INPUT: no zip archive, a repeated name, what exceeds the limits, a member that claims to be
   larger than deflate can make it, or whose header is wrong (the offset is then in the member);
   PF_NO_MEMORY.  Both are zeroed then. */
pf_status pf_npz_open(const void *data, size_t size, const pf_npz_limits *limits, pf_npz **npz,
                      pf_tensor_file *list, size_t *skipped, pf_error *e);

/* Unpacks what entry i of the list says, *out with data, strides as saved.  It lies in memory until
   the next call or pf_npz_close.  PF_BAD_INPUT: the packed bytes are damaged; PF_UNSUPPORTED: larger
   than member_bytes, encrypted, or packed otherwise. */
pf_status pf_npz_load(pf_npz *npz, size_t i, pf_tensor_entry *out, pf_error *e);
void pf_npz_close(pf_npz *npz);

#endif
