/* Opens a file of tensors, whichever of the formats it has. */
#ifndef PF_TENSORFILE_OPEN_H
#define PF_TENSORFILE_OPEN_H

#include "tensorfile.h"

/* Told apart by their first bytes, not by the path.  raw: see pf_npy_parse; NULL for none.  On
   failure *out is zeroed; offsets of errors are in the file. */
pf_status pf_tensor_file_open(const char *path, const pf_dtype *raw, pf_tensor_file *out,
                              pf_error *e);

#endif
