/* main without a fuzzing engine: runs a fuzz target on files, on all files of folders, or on
   standard input.

     replay [FILE|FOLDER]...

   Prints "ok FILE" when a file is done.  A finding aborts, as under the fuzzing engines.  Arguments
   that begin with '-' are theirs and mean nothing here.  Exit status 2: a file cannot be read.

   Compiled by AFL++ it takes the engine's inputs in place of standard input, many in one process.
   (AFL++'s own driver runs a dummy input first, and ends for good where that one is a finding.) */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

_Noreturn static void fail(const char *path)
{
  fflush(stdout);
  fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
  exit(2);
}

static void *resize(void *block, size_t size)
{
  block = realloc(block, size ? size : 1);
  if (!block)
    fail("memory");
  return block;
}

static void run_stream(FILE *from, const char *path)
{
  uint8_t *data = NULL;
  size_t size = 0, room = 0, got;
  do {
    if (size == room)
      data = resize(data, room = 2 * room + 4096);
    got = fread(data + size, 1, room - size, from);
    size += got;
  } while (got);
  if (ferror(from))
    fail(path);
  data = resize(data, size);  /* exact, so that a sanitizer sees a read past the end */
  LLVMFuzzerTestOneInput(data, size);
  free(data);
  printf("ok %s\n", path);
  fflush(stdout);  /* before the next one can abort */
}

static void run_path(const char *path);

static int is_entry(const struct dirent *d)
{
  return strcmp(d->d_name, ".") && strcmp(d->d_name, "..");
}

static void run_folder(const char *path)
{
  struct dirent **entry;
  const int count = scandir(path, &entry, is_entry, alphasort);
  if (count < 0)
    fail(path);
  for (int i = 0; i < count; i++) {
    char *inner = NULL;
    if (asprintf(&inner, "%s/%s", path, entry[i]->d_name) < 0)
      fail(path);
    run_path(inner);
    free(inner);
    free(entry[i]);
  }
  free(entry);
}

static void run_path(const char *path)
{
  struct stat info;
  if (stat(path, &info))
    fail(path);
  if (S_ISDIR(info.st_mode)) {
    run_folder(path);
    return;
  }
  FILE *from = fopen(path, "rb");
  if (!from)
    fail(path);
  run_stream(from, path);
  fclose(from);
}

#ifdef __AFL_COMPILER
__AFL_FUZZ_INIT()

#pragma GCC diagnostic ignored "-Wconversion"  /* inside the macros below */
static void run_rest(void)
{
  __AFL_INIT();
  const uint8_t *data = __AFL_FUZZ_TESTCASE_BUF;
  while (__AFL_LOOP(UINT_MAX)) {
    const size_t size = __AFL_FUZZ_TESTCASE_LEN;
    LLVMFuzzerTestOneInput(data, size);
  }
}
#else
static void run_rest(void)
{
  run_stream(stdin, "standard input");
}
#endif

int main(int argc, char **argv)
{
  LLVMFuzzerInitialize(&argc, &argv);
  int paths = 0;
  for (int i = 1; i < argc; i++)
    if (argv[i][0] != '-') {
      run_path(argv[i]);
      paths++;
    }
  if (!paths)
    run_rest();
  return 0;
}
