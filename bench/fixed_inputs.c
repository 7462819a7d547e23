/* In place of libFuzzer's mutations: the files of the folder PRECFUZZ_BENCH_INPUTS, one after the
   other, over and over.  What is measured so runs inside libFuzzer on the same inputs every time.

   It is linked first and so stands before a mutator of the targets' own. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INPUTS = 4096, LONGEST = 4096 };

typedef struct input {
  size_t size;
  uint8_t data[LONGEST];
} input;

typedef struct inputs {
  int count, next;
  input *input[MOST_INPUTS];
} inputs;

_Noreturn static void fail(const char *what)
{
  fprintf(stderr, "fixed_inputs: %s\n", what);
  exit(2);
}

static input *read_input(const char *path)
{
  input *i = malloc(sizeof *i);
  FILE *f = fopen(path, "rb");
  if (!i || !f)
    fail(path);
  i->size = fread(i->data, 1, LONGEST, f);
  fclose(f);
  return i;
}

static int is_file(const struct dirent *d)
{
  return d->d_name[0] != '.';
}

static void read_folder(inputs *all, const char *folder)
{
  struct dirent **entry;
  const int count = folder ? scandir(folder, &entry, is_file, alphasort) : 0;
  if (count <= 0)
    fail("PRECFUZZ_BENCH_INPUTS names no folder with files");
  for (int i = 0; i < count && i < MOST_INPUTS; i++) {
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, entry[i]->d_name) < 0)
      fail("out of memory");
    all->input[all->count++] = read_input(path);
    free(path);
    free(entry[i]);
  }
  free(entry);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
  static inputs all;  /* libFuzzer hands nothing through */
  (void)size;
  (void)seed;
  if (!all.count)
    read_folder(&all, getenv("PRECFUZZ_BENCH_INPUTS"));
  const input *i = all.input[all.next++ % all.count];
  const size_t n = i->size < most ? i->size : most;
  memcpy(data, i->data, n);
  return n;
}
