/* What the targets on readers of tensor files share; included once by each. */
#ifndef PF_FUZZ_READER_TARGET_H
#define PF_FUZZ_READER_TARGET_H

#include "tensorfile.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  (void)argc;
  (void)argv;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A refusal must have words, and a place in the input. */
static inline int refused(const pf_error *e, size_t size)
{
  if (e->offset > size || e->text[0] == '\0')
    __builtin_trap();
  return 0;
}

/* An array's bytes can be read. */
static inline void touch(const pf_tensor_entry *t)
{
  volatile uint8_t seen; /* or the reads would be optimised away */
  if (t->bytes == 0)
    return;
  seen = t->data[0];
  seen = t->data[t->bytes - 1];
  (void)seen;
}

/* All arrays of a file can be, and are found by their names. */
static inline void touch_all(const pf_tensor_file *f)
{
  for (size_t i = 0; i < f->count; i++) {
    touch(&f->entry[i]);
    if (pf_tensor_file_find(f, f->entry[i].name) != &f->entry[i])
      __builtin_trap();
  }
}

#endif
