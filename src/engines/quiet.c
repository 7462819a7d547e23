/* Standard error, put aside for a while. */
#include "quiet.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

void pf_quiet_begin(pf_quiet *q)
{
  q->file = memfd_create("standard error", MFD_CLOEXEC);
  q->saved = q->file < 0 ? -1 : dup(STDERR_FILENO);
  if (q->saved >= 0 && dup2(q->file, STDERR_FILENO) < 0) {
    close(q->saved);
    q->saved = -1;
  }
}

static long count_lines(const char *text, size_t size, char last[128])
{
  long lines = 0;
  size_t start = 0;
  for (size_t i = 0; i < size; i++)
    if (i + 1 == size || text[i] == '\n') {
      const size_t length = i - start + (text[i] != '\n');
      if (length)
        snprintf(last, 128, "%.*s", (int)(length < 127 ? length : 127), text + start);
      start = i + 1;
      lines++;
    }
  return lines;
}

long pf_quiet_end(pf_quiet *q, char last[128])
{
  long lines = 0;
  last[0] = 0;
  if (q->saved >= 0) {
    dup2(q->saved, STDERR_FILENO);
    close(q->saved);
    const off_t size = lseek(q->file, 0, SEEK_END);
    void *text = size > 0 ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, q->file, 0)
                          : MAP_FAILED;
    if (text != MAP_FAILED) {
      lines = count_lines(text, (size_t)size, last);
      munmap(text, (size_t)size);
    }
  }
  if (q->file >= 0)
    close(q->file);
  return lines;
}
