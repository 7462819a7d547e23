/* What all formats of tensor files share: looking up, shapes, mapping, and writing at once. */
#include "tensorfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

const pf_tensor_entry *pf_tensor_file_find(const pf_tensor_file *f, const char *name)
{
  size_t low = 0, high = f->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const pf_tensor_entry *t = &f->entry[f->by_name[middle]];
    const int order = strcmp(t->name, name);
    if (order == 0)
      return t;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

const char *pf_tensor_file_metadata(const pf_tensor_file *f, const char *key)
{
  size_t low = 0, high = f->metadata_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = strcmp(f->metadata[middle].key, key);
    if (order == 0)
      return f->metadata[middle].value;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

void pf_tensor_file_close(pf_tensor_file *f)
{
  if (f->mapped)
    pf_file_unmap(f->data, f->size);
  pf_arena_free(&f->memory);
  *f = (pf_tensor_file){0};
}

bool pf_tensor_set_shape(pf_tensor_entry *t, int bits, int rank, const int64_t *dim)
{
  if (rank < 0 || rank > PF_TENSOR_MAX_RANK)
    return false;
  int64_t span = 1, all_bits;
  t->rank = rank;
  t->elements = 1;
  for (int d = rank - 1; d >= 0; d--) {
    if (dim[d] < 0)
      return false;
    t->dim[d] = dim[d];
    t->stride[d] = span;
    if (__builtin_mul_overflow(span, dim[d] == 0 ? 1 : dim[d], &span))
      return false;
    if (dim[d] == 0)
      t->elements = 0;
  }
  if (__builtin_mul_overflow(span, (int64_t)bits, &all_bits))
    return false;
  if (t->elements != 0)
    t->elements = span;
  else
    all_bits = 0;
  t->bytes = (size_t)(all_bits / 8);
  return all_bits % 8 == 0;
}

bool pf_tensor_describe(const char *name, pf_dtype dtype, int rank, const int64_t *dim,
                        const void *data, pf_tensor_entry *out)
{
  *out = (pf_tensor_entry){.name = name, .has_dtype = true, .dtype = dtype, .data = data,
                           .dtype_name = pf_dtype_of(dtype)->name};
  return pf_tensor_set_shape(out, 8 * pf_dtype_of(dtype)->bytes, rank, dim);
}

bool pf_tensor_is_c_order(const pf_tensor_entry *t)
{
  int64_t span = 1;
  for (int d = t->rank - 1; d >= 0 && t->elements != 0; d--) {
    if (t->dim[d] != 1 && t->stride[d] != span)
      return false;
    span *= t->dim[d];
  }
  return true;
}

const uint8_t *pf_tensor_at(const pf_tensor_entry *t, int64_t index)
{
  int64_t elements = 0;
  for (int d = t->rank - 1; d >= 0; d--) {
    elements += index % t->dim[d] * t->stride[d];
    index /= t->dim[d];
  }
  return t->data + elements * pf_dtype_of(t->dtype)->bytes;
}

pf_quoted pf_quote(const void *text, size_t length)
{
  pf_quoted q;
  const char *from = text;
  const size_t most = 40;
  size_t n = 0;
  for (; n < length && n < most; n++)
    q.text[n] = from[n] >= ' ' && from[n] <= '~' ? from[n] : '?';
  memcpy(q.text + n, n < length ? "..." : "", n < length ? 4 : 1);
  return q;
}

static pf_status io_failure(pf_error *e, const char *action, const char *path, const char *why)
{
  return pf_fail(e, PF_IO_ERROR, 0, "cannot %s %.150s: %s", action, path, why);
}

static pf_status map_open_file(int file, const char *path, const uint8_t **data, size_t *size,
                               pf_error *e)
{
  struct stat info;
  if (fstat(file, &info) != 0)
    return io_failure(e, "read", path, strerror(errno));
  if (!S_ISREG(info.st_mode))
    return io_failure(e, "read", path, "not a regular file");
  if ((uintmax_t)info.st_size > SIZE_MAX)
    return io_failure(e, "read", path, strerror(EFBIG));
  *size = (size_t)info.st_size;
  if (*size == 0)
    return PF_OK;
  void *at = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
  if (at == MAP_FAILED)
    return io_failure(e, "map", path, strerror(errno));
  *data = at;
  return PF_OK;
}

pf_status pf_file_map(const char *path, const uint8_t **data, size_t *size, pf_error *e)
{
  *data = NULL;
  *size = 0;
  /* O_NONBLOCK, or opening a pipe would wait for who writes to it. */
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return io_failure(e, "open", path, strerror(errno));
  const pf_status status = map_open_file(file, path, data, size, e);
  close(file);
  return status;
}

void pf_file_unmap(const uint8_t *data, size_t size)
{
  if (data != NULL)
    munmap((void *)(uintptr_t)data, size);
}

void pf_file_forget(const uint8_t *data, size_t size)
{
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t from = ((uintptr_t)data + page - 1) & ~(page - 1);
  const uintptr_t to = ((uintptr_t)data + size) & ~(page - 1);
  if (from < to)
    madvise((void *)from, to - from, MADV_DONTNEED);
}

/* A new file beside path; its name replaces *name, to be freed.  -1 with errno set. */
static int create_beside(const char *path, char **name)
{
  enum { ATTEMPTS = 1000 };
  const char *slash = strrchr(path, '/');
  const int folder = slash != NULL ? (int)(slash + 1 - path) : 0;
  int file = -1;
  *name = NULL;
  errno = EEXIST;
  for (int i = 0; i < ATTEMPTS && file < 0 && errno == EEXIST; i++) {
    free(*name);
    if (asprintf(name, "%.*s.precfuzz-%ld-%d.tmp", folder, path, (long)getpid(), i) < 0) {
      *name = NULL;
      errno = ENOMEM;
      return -1;
    }
    file = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  return file;
}

static bool write_all(int file, const pf_bytes *piece, size_t count)
{
  const size_t most = (size_t)1 << 30; /* Linux writes no more than 2 GiB at once */
  for (size_t i = 0; i < count; i++) {
    const char *from = piece[i].data;
    size_t left = piece[i].size;
    while (left != 0) {
      const ssize_t done = write(file, from, left < most ? left : most);
      if (done < 0 && errno != EINTR)
        return false;
      if (done > 0) {
        from += done;
        left -= (size_t)done;
      }
    }
  }
  return fsync(file) == 0;
}

pf_status pf_file_write(const char *path, const pf_bytes *piece, size_t count, pf_error *e)
{
  struct stat info;
  /* rename would replace a device, too. */
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
    return io_failure(e, "write", path, "there is something that is no regular file");
  char *name;
  const int file = create_beside(path, &name);
  if (file < 0) {
    const pf_status status = io_failure(e, "create a file beside", path, strerror(errno));
    free(name);
    return status;
  }
  bool done = write_all(file, piece, count);
  int why = errno;
  if (close(file) != 0 && done) {
    done = false;
    why = errno;
  }
  if (done && rename(name, path) != 0) {
    done = false;
    why = errno;
  }
  if (!done)
    unlink(name);
  free(name);
  return done ? PF_OK : io_failure(e, "write", path, strerror(why));
}
