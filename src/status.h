/* Did the machinery work?  Whether the numbers agree is a verdict (check.h), never a status. */
#ifndef PF_STATUS_H
#define PF_STATUS_H

#include <stddef.h>

typedef enum pf_status {
  PF_OK = 0,
  PF_UNSUPPORTED,  /* this engine, row or form cannot do this case: a normal answer */
  PF_BAD_INPUT,    /* bytes, text or options do not say what they should */
  PF_NO_MEMORY,
  PF_ENGINE_ERROR, /* the library under test reported an error */
  PF_IO_ERROR      /* a file could not be read or written */
} pf_status;

/* Why a call did not return PF_OK, for people. */
typedef struct pf_error {
  size_t offset;   /* bytes from the start of the input, where there is one */
  char text[240];  /* one line, no newline at its end */
} pf_error;

const char *pf_status_name(pf_status s);

/* Fills *e (which may be NULL) by the printf format and returns s. */
pf_status pf_fail(pf_error *e, pf_status s, size_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Hands on what did not go well. */
#define PF_TRY(call)                    \
  do {                                  \
    const pf_status try_status = (call); \
    if (try_status)                     \
      return try_status;                \
  } while (0)

#endif
