#include "status.h"

#include <stdarg.h>
#include <stdio.h>

const char *pf_status_name(pf_status s)
{
  switch (s) {
  case PF_OK: return "ok";
  case PF_UNSUPPORTED: return "unsupported";
  case PF_BAD_INPUT: return "bad input";
  case PF_NO_MEMORY: return "out of memory";
  case PF_ENGINE_ERROR: return "engine error";
  case PF_IO_ERROR: return "input/output error";
  }
  return "unknown status";
}

pf_status pf_fail(pf_error *e, pf_status s, size_t offset, const char *format, ...)
{
  if (e) {
    va_list ap;
    va_start(ap, format);
    vsnprintf(e->text, sizeof e->text, format, ap);
    va_end(ap);
    e->offset = offset;
  }
  return s;
}
