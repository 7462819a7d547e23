/* NumPy's format for one array: magic, version, a header that is the text of a Python dict, data.
   https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#ifndef PF_NPY_H
#define PF_NPY_H

#include "tensorfile.h"

/* Whether the bytes begin as a .npy file does. */
bool pf_npy_is(const void *data, size_t size);

/* Reads a whole file, version 1.0, 2.0 or 3.0, that lies in memory, which must outlive *out; one
   entry, its name "".  Fortran order shows in the strides.

   NumPy has no bf16 and no 8-bit floats; such arrays are saved as raw bytes (descr '|V2', '|V1')
   or as integers.  If raw is not NULL, it is what they hold: it counts for raw bytes of its size,
   and for integers of its size if NumPy has no name for it; every other file speaks for itself.

   PF_BAD_INPUT; PF_UNSUPPORTED: big endian, structured or other dtypes, a newer version;
   PF_NO_MEMORY; then *out is zeroed. */
pf_status pf_npy_parse(const void *data, size_t size, const pf_dtype *raw, pf_tensor_file *out,
                       pf_error *e);

/* Bytes that hold the header of every file that pf_npy_parse takes. */
enum { PF_NPY_HEAD = 12 + 10000 };
/* The same for a file of `size` bytes of which only the first `have` are there, PF_NPY_HEAD or all:
   the entry's data point behind them, and must not be read. */
pf_status pf_npy_parse_head(const void *data, size_t have, size_t size, const pf_dtype *raw,
                            pf_tensor_file *out, pf_error *e);

#endif
