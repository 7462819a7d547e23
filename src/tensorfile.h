/* Files of tensors, read in place: what readers of all formats give and writers take.

   Such files come from strangers and may be larger than memory: a reader maps the file, checks
   everything that its header says, and hands out pointers into the mapping; no data is copied.
   A file that shrinks while it is mapped raises SIGBUS in who reads the lost part. */
#ifndef PF_TENSORFILE_H
#define PF_TENSORFILE_H

#include "dtype.h"
#include "memory.h"
#include "status.h"

enum { PF_TENSOR_MAX_RANK = 8 };

typedef struct pf_tensor_entry {
  const char *name;        /* UTF-8; "" in .npy, which has no names */
  const char *dtype_name;  /* as the format spells it: "BF16", "<f4", "Q8_0" */
  bool has_dtype;          /* false: no dtype of ours, "I64" say */
  pf_dtype dtype;          /* where has_dtype */
  int rank;                /* 0: one element */
  int64_t dim[PF_TENSOR_MAX_RANK];     /* elements; 0 is a size */
  int64_t stride[PF_TENSOR_MAX_RANK];  /* elements */
  int64_t elements;        /* the product of all dims */
  const uint8_t *data;     /* little endian, at any alignment: pf_load copies */
  size_t bytes;
  size_t offset;           /* of data, bytes from the start of the file */
} pf_tensor_entry;

typedef struct pf_metadata {
  const char *key, *value;  /* UTF-8 */
} pf_metadata;

typedef struct pf_tensor_file {
  const char *format;             /* "safetensors", "npy", "npz", "onnx" or "gguf" */
  size_t count;
  const pf_tensor_entry *entry;   /* in the header's order */
  const size_t *by_name;          /* indices of entry, by name in strcmp's order */
  size_t metadata_count;
  const pf_metadata *metadata;    /* by key in strcmp's order */
  const uint8_t *data;            /* the whole file */
  size_t size;                    /* bytes */
  bool mapped;                    /* data is unmapped on close */
  pf_arena memory;                /* entries and texts */
} pf_tensor_file;

/* NULL if there is none. */
const pf_tensor_entry *pf_tensor_file_find(const pf_tensor_file *f, const char *name);
const char *pf_tensor_file_metadata(const pf_tensor_file *f, const char *key);

/* Invalidates all pointers that f gave.  A closed or zeroed file may be closed. */
void pf_tensor_file_close(pf_tensor_file *f);

/* A tensor in C order that lies at data, as the writers take it.  False if rank is above
   PF_TENSOR_MAX_RANK, a dim is negative or the shape is too large. */
bool pf_tensor_describe(const char *name, pf_dtype dtype, int rank, const int64_t *dim,
                        const void *data, pf_tensor_entry *out);

/* Where the element with the row-major number `index` lies, whatever the strides; needs
   has_dtype and 0 <= index < elements. */
const uint8_t *pf_tensor_at(const pf_tensor_entry *t, int64_t index);

/* For readers and writers of formats. */

/* Sets rank, dim, C-order strides, elements and bytes for elements of `bits` bits.  False if that
   cannot be: as above, or the elements do not fill whole bytes.  A shape is too large where the
   product of its nonzero dims is, so that strides never overflow, in empty tensors either. */
bool pf_tensor_set_shape(pf_tensor_entry *t, int bits, int rank, const int64_t *dim);
bool pf_tensor_is_c_order(const pf_tensor_entry *t);

/* Texts out of strangers' files for error messages: at most 40 bytes, printable ASCII, the rest
   as '?'. */
typedef struct pf_quoted {
  char text[44];
} pf_quoted;
pf_quoted pf_quote(const void *text, size_t length);

/* The text of a stranger's file, copied into f->memory; PF_BAD_INPUT, told of `what`, if it is no
   UTF-8 or has a NUL in it.  at: where it lies in the file. */
pf_status pf_tensor_text(pf_tensor_file *f, size_t at, size_t length, const char *what,
                         const char **out, pf_error *e);
/* Sets by_name of the entries; PF_BAD_INPUT, told at `place` of the later one, if two share a name.
   place[count]: offsets in the file. */
pf_status pf_tensor_index(pf_tensor_file *f, const size_t *place, pf_error *e);

/* Maps a regular file for reading; *data is NULL where it is empty. */
pf_status pf_file_map(const char *path, const uint8_t **data, size_t *size, pf_error *e);
void pf_file_unmap(const uint8_t *data, size_t size);
/* Pages of a mapping that were read count as memory of the process: gives back those that lie
   wholly inside.  They are read from the file again where they are needed. */
void pf_file_forget(const uint8_t *data, size_t size);

typedef struct pf_bytes {
  const void *data;
  size_t size;
} pf_bytes;

/* Writes the pieces, one behind the other, to a file that appears at path when it is complete and
   on disk, or not at all: a temporary file in the same folder, fsync, rename.  What is there
   already is replaced if it is a regular file. */
pf_status pf_file_write(const char *path, const pf_bytes *piece, size_t count, pf_error *e);

#endif
