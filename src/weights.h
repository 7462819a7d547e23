/* A model's tensors, whatever files they are in: one safetensors file or several with an index,
   .npy, .npz, ONNX with its external data, GGUF.  Files are mapped, members of an .npz unpacked one
   at a time: memory does not grow with the model, but by the largest member of an .npz, and by what
   an ONNX model has as typed data of less than 32 bits. */
#ifndef PF_WEIGHTS_H
#define PF_WEIGHTS_H

#include "tensorfile.h"

typedef struct pf_weight {
  pf_tensor_entry entry;   /* in C order or not; no data before pf_weights_load */
  const char *path;        /* of the file that holds it */
  size_t in_file;          /* its number there */
  bool elsewhere;          /* data has to be unpacked */
} pf_weight;

/* A weight as the second operand of a matmul, as the model itself says. */
typedef struct pf_weight_use {
  size_t weight;
  int64_t bias;            /* its number; -1: none */
  bool rows;               /* [N, K]; else [K, N] */
} pf_weight_use;

typedef struct pf_weights {
  const char *format;      /* "safetensors", "npy", "npz", "onnx" or "gguf" */
  size_t count;
  pf_weight *weight;
  const size_t *by_name;   /* numbers of weights, by name in strcmp's order */
  size_t skipped;          /* members of an .npz that are no arrays of numbers */
  bool says_uses;          /* ONNX: whoever is not in use[] is no weight of a matmul */
  size_t use_count;
  pf_weight_use *use;
  size_t file_count;
  struct pf_weights_file *file;
  pf_arena memory;
} pf_weights;

/* A file that the model consists of; the first one is that which was named. */
typedef struct pf_weights_file {
  const char *path;
  const uint8_t *data;
  size_t size;             /* bytes */
  pf_tensor_file tensors;  /* of what parsers keep; count 0 for an index and for external data */
  struct pf_npz *npz;
  struct pf_onnx *onnx;
} pf_weights_file;

/* Told apart by their first bytes, not by the path.  Errors name the file and the offset in it.
   PF_BAD_INPUT, PF_UNSUPPORTED, PF_NO_MEMORY, PF_IO_ERROR; then *out is zeroed. */
pf_status pf_weights_open(const char *path, pf_weights *out, pf_error *e);
/* The number of the weight of that name; -1 if there is none. */
int64_t pf_weights_find(const pf_weights *w, const char *name);
/* Sees to it that weight i has data.  They stay until another one is loaded.  Fails as
   pf_npz_load does. */
pf_status pf_weights_load(pf_weights *w, size_t i, pf_error *e);
/* Gives back memory that holds a part of a weight's data; see pf_file_forget. */
void pf_weights_forget(const pf_weights *w, size_t i, size_t from, size_t bytes);
/* The same of a file; also what reading there brought in before it, and nothing beyond the file. */
void pf_weights_forget_file(const pf_weights_file *f, size_t from, size_t bytes);
void pf_weights_close(pf_weights *w);

/* Who watches long work. */
typedef struct pf_watch {
  /* `done` of `all`, in any unit; false ends the work. */
  bool (*go_on)(void *user, const char *doing, uint64_t done, uint64_t all);
  void *user;
} pf_watch;

enum { PF_HASH_TEXT = 65 };  /* bytes: SHA-256 in hex, and a NUL */
/* Of a file; of the elements that pf_weight_read gives of a loaded weight, in C order, NaN without
   payload.  false: ended by the watch. */
bool pf_weights_hash(const pf_weights_file *f, const pf_watch *watch, char *to);
bool pf_weight_hash(const pf_weights *w, size_t i, const pf_watch *watch, char *to);

/* What elements of a tensor can be read as: its dtype, f32 for Q8_0; false: as none. */
bool pf_weight_dtype(const pf_tensor_entry *t, pf_dtype *out);
/* to[count]: elements `first` and on, in row-major order, each `step` behind the one before.  The
   tensor has data and a dtype as above. */
void pf_weight_read(const pf_tensor_entry *t, int64_t first, int64_t step, int64_t count,
                    double *to);

#endif
