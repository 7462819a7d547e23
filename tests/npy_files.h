/* Files of NumPy, and .npy files made of a header and data. */
#ifndef PF_TESTS_NPY_FILES_H
#define PF_TESTS_NPY_FILES_H

#include "tensor_files.h"

/* Version `major`.0 around a header and data; the header's newline is added. */
static inline block file_of(int major, const char *header, const void *data, size_t bytes,
                            size_t shift)
{
  const size_t length = strlen(header) + 1, start = major == 1 ? 10 : 12;
  block b = block_new(start + length + bytes, shift);
  memcpy(b.data, "\x93NUMPY", 6);
  b.data[6] = (uint8_t)major;
  b.data[7] = 0;
  for (size_t i = 8; i < start; i++)
    b.data[i] = (uint8_t)(length >> (8 * (i - 8)));
  memcpy(b.data + start, header, length - 1);
  b.data[start + length - 1] = '\n';
  if (bytes != 0)
    memcpy(b.data + start + length, data, bytes);
  return b;
}

/* np.save of NumPy 2.4.6: arange(6), reshape(2, 3), f4, in Fortran order. */
static const uint8_t fortran[] =
  "\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }"
  "                                                           \n"
  "\0\0\0\0\0\0\x40\x40\0\0\x80\x3f\0\0\x80\x40\0\0\0\x40\0\0\xa0\x40";
/* np.save of array([1, -2], ml_dtypes.bfloat16), ml_dtypes 0.6.0. */
static const uint8_t bfloat16[] =
  "\x93NUMPY\1\0v\0{'descr': '<V2', 'fortran_order': False, 'shape': (2,), }"
  "                                                            \n\x80\x3f\0\xc0";
/* write_array(array(7, int8), version=(3, 0)). */
static const uint8_t scalar[] =
  "\x93NUMPY\3\0t\0\0\0{'descr': '|i1', 'fortran_order': False, 'shape': (), }"
  "                                                            \n\7";

#define HEADER(descr, order, shape) \
  "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

#endif
