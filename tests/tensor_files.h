/* What the tests of tensor file formats share: folders of their own, a disk that is full, blocks
   of exactly a file's size, and what must hold for every file that a reader accepts. */
#ifndef PF_TESTS_TENSOR_FILES_H
#define PF_TESTS_TENSOR_FILES_H

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tensorfile.h"

/* A copy with nothing behind it, so that AddressSanitizer sees a read past the end; `shift` bytes
   off every alignment.  To be freed by block_free. */
typedef struct block {
  uint8_t *data;
  size_t size;
  uint8_t *owner;
} block;

static inline block block_new(size_t size, size_t shift)
{
  uint8_t *owner = malloc(size + shift + (size + shift == 0));
  assert_non_null(owner);
  return (block){owner + shift, size, owner};
}

static inline block block_copy(const void *data, size_t size, size_t shift)
{
  block b = block_new(size, shift);
  if (size != 0)
    memcpy(b.data, data, size);
  return b;
}

static inline void block_free(block *b)
{
  free(b->owner);
  b->data = b->owner = NULL;
}

static inline char *folder_new(void)
{
  char *path = strdup("/tmp/precfuzz-test-XXXXXX");
  assert_non_null(mkdtemp(path));
  return path;
}

/* The path of a file in the folder, in a buffer that the next call takes. */
static inline const char *in_folder(const char *folder, const char *name)
{
  static char path[300];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static inline int folder_count(const char *folder)
{
  DIR *d = opendir(folder);
  int count = 0;
  assert_non_null(d);
  for (const struct dirent *i; (i = readdir(d)) != NULL;)
    count += strcmp(i->d_name, ".") != 0 && strcmp(i->d_name, "..") != 0;
  closedir(d);
  return count;
}

/* Must be empty by then: what a writer left behind shows here. */
static inline void folder_remove(char *path)
{
  assert_int_equal(rmdir(path), 0);
  free(path);
}

static inline block file_read(const char *path)
{
  struct stat info;
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  assert_int_equal(fstat(fileno(f), &info), 0);
  block b = block_new((size_t)info.st_size, 0);
  assert_int_equal(fread(b.data, 1, b.size, f), b.size);
  fclose(f);
  return b;
}

static inline void file_write(const char *path, const void *data, size_t size)
{
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(data, 1, size, f), size);
  assert_int_equal(fclose(f), 0);
}

/* Whether the process has the file mapped. */
static inline bool file_is_mapped(const char *path)
{
  char line[600];
  bool found = false;
  FILE *maps = fopen("/proc/self/maps", "r");
  assert_non_null(maps);
  while (fgets(line, sizeof line, maps) != NULL)
    found = found || strstr(line, path) != NULL;
  fclose(maps);
  return found;
}

/* From here on no file of this process can grow beyond `bytes`: what a full disk looks like to
   who writes, without one. */
static inline void disk_limit(rlim_t bytes)
{
  struct rlimit limit;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = bytes;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static inline void disk_unlimit(void)
{
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Every tensor in the file, found by its name, with a shape that fits; `covered` counts for each
   byte of the file the tensors that hold it. */
static inline void check_entries(const pf_tensor_file *f, uint8_t *covered)
{
  memset(covered, 0, f->size);
  for (size_t i = 0; i < f->count; i++) {
    const pf_tensor_entry *t = &f->entry[i];
    int64_t elements = 1;
    assert_ptr_equal(pf_tensor_file_find(f, t->name), t);
    assert_in_range(t->rank, 0, PF_TENSOR_MAX_RANK);
    for (int d = 0; d < t->rank; d++) {
      assert_true(t->dim[d] >= 0 && t->stride[d] > 0);
      elements *= t->dim[d];
    }
    assert_int_equal(t->elements, elements);
    assert_ptr_equal(t->data, f->data + t->offset);
    assert_true(t->offset <= f->size && t->bytes <= f->size - t->offset);
    for (size_t b = 0; b < t->bytes; b++)
      covered[t->offset + b]++;
    if (t->has_dtype) {
      const size_t size = (size_t)pf_dtype_of(t->dtype)->bytes;
      assert_int_equal(t->bytes, (size_t)elements * size);
      for (int64_t e = 0; e < elements; e++)
        assert_in_range((size_t)(pf_tensor_at(t, e) - t->data), 0, t->bytes - size);
    }
  }
}

#endif
