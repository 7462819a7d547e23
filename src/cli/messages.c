/* Messages, exit codes and words. */
#include "cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "form_text.h"

int pf_cli_fail(int code, const char *format, ...)
{
  va_list args;
  fflush(stdout);  /* what was found before stands before */
  fputs("precfuzz: ", stderr);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  return code;
}

static int code_of(pf_status s)
{
  switch (s) {
  case PF_OK: return PF_EXIT_CLEAN;
  case PF_UNSUPPORTED:
  case PF_BAD_INPUT:
  case PF_IO_ERROR: return PF_EXIT_BAD_INPUT;
  case PF_NO_MEMORY:
  case PF_ENGINE_ERROR: break;
  }
  return PF_EXIT_MACHINERY;
}

int pf_cli_report(pf_status s, const pf_error *e, bool has_offset, const char *where)
{
  const char *text = s == PF_NO_MEMORY ? "out of memory" : e->text;
  const char *colon = where ? ": " : "";
  where = where ? where : "";
  if (has_offset && s != PF_NO_MEMORY)
    return pf_cli_fail(code_of(s), "%s%soffset %zu: %s", where, colon, e->offset, text);
  return pf_cli_fail(code_of(s), "%s%s%s", where, colon, text);
}

int pf_cli_worse(int a, int b)
{
  return a > b ? a : b;
}

uint64_t pf_cli_number(struct argp_state *state, const char *option, const char *text, uint64_t low,
                       uint64_t high)
{
  char *end;
  errno = 0;
  const unsigned long long v = strtoull(text, &end, 0);
  if (errno || end == text || *end || text[0] == '-' || v < low || v > high)
    argp_error(state, "--%s: '%s' is no number from %" PRIu64 " to %" PRIu64, option, text, low,
               high);
  return v;
}

bool pf_cli_output_ok(void)
{
  return !ferror(stdout);
}

void pf_cli_quote(const char *word, FILE *to)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "_-+=:,./@%";
  if (*word && strspn(word, plain) == strlen(word)) {
    fputs(word, to);
    return;
  }
  fputc('\'', to);
  for (; *word; word++)
    if (*word == '\'')
      fputs("'\\''", to);
    else
      fputc(*word, to);
  fputc('\'', to);
}

void pf_cli_print_dims(char open, int rank, const int64_t *dim, char close, FILE *to)
{
  fputc(open, to);
  for (int i = 0; i < rank; i++)
    fprintf(to, "%s%lld", i ? "," : "", (long long)dim[i]);
  fputc(close, to);
}

void pf_cli_print_origin(const pf_case *c, FILE *to)
{
  if (c->origin)
    fprintf(to, "    origin    %s\n", c->origin);
}

void pf_cli_print_case(const pf_case *c, size_t most, FILE *to)
{
  char *text = NULL;
  size_t size;
  FILE *whole = open_memstream(&text, &size);
  if (!whole)
    return;
  pf_text_print(c, whole);
  if (!fclose(whole))
    fprintf(to, "%.*s%s", (int)(size < most ? size : most), text, size > most ? " ..." : "");
  free(text);
}
