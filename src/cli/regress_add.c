/* A finding that becomes a known one: its case as an archive, and an entry of the list. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "form_archive.h"
#include "regress.h"
#include "version.h"

enum { WIDTH = 100 };  /* columns */

/* --- the entry's text ---------------------------------------------------------------------- */

/* Goes on in indented lines where it is long. */
static void print_long(const char *key, const char *value, FILE *to)
{
  int column = fprintf(to, "%-9s =", key);
  while (*value) {
    const int length = (int)strcspn(value, " ");
    if (column + 1 + length > WIDTH && column > 2)
      column = fprintf(to, "\n ") - 1;
    column += fprintf(to, " %.*s", length, value);
    value += length;
    value += strspn(value, " ");
  }
  fputc('\n', to);
}

static void print_line(const char *key, const char *value, FILE *to)
{
  if (value && *value)
    fprintf(to, "%-9s = %s\n", key, value);
}

/* seen: NULL before the case was run. */
static void print_entry(const pf_new_entry *n, const pf_replay *seen, FILE *to)
{
  fprintf(to, "[%s]\n", n->name);
  print_line("signature", n->signature, to);
  if (seen) {
    const size_t length = pf_version_length(seen->release);
    if (length)
      fprintf(to, "version   = =%.*s\n", (int)length, seen->release);
    print_line("kernel", seen->kernel, to);
    print_line("isa", seen->isa, to);
  }
  print_line("model", n->model, to);
  print_long("reason", n->reason, to);
  print_line("reported", n->reported, to);
}

/* `before`, a blank line and the entry; to be freed.  NULL: no memory. */
static char *make_text(const char *before, const pf_new_entry *n, const pf_replay *seen,
                       size_t *size)
{
  char *text = NULL;
  const size_t length = strlen(before);
  FILE *to = open_memstream(&text, size);
  if (!to)
    return NULL;
  fputs(before, to);
  if (length)
    fputs(before[length - 1] == '\n' ? "\n" : "\n\n", to);
  print_entry(n, seen, to);
  const bool failed = ferror(to);
  if (!fclose(to) && !failed)
    return text;
  free(text);
  return NULL;
}

/* --- checks -------------------------------------------------------------------------------- */

static int out_of_memory(void)
{
  return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
}

/* An option's text becomes a line of the list. */
static int check_line(const char *option, const char *text)
{
  if (!text)
    return PF_EXIT_CLEAN;
  for (const char *c = text; *c; c++)
    if ((*c > 0 && *c < ' ') || *c == 0x7f)
      return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: one line without control characters, please",
                         option);
  if (!text[strspn(text, " ")])
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: empty", option);
  return PF_EXIT_CLEAN;
}

static int check_lines(const pf_new_entry *n)
{
  const struct {
    const char *option, *text;
  } given[] = {
    {"--add", n->name}, {"--signature", n->signature}, {"--reason", n->reason},
    {"--reported", n->reported}, {"--model", n->model},
  };
  int code = PF_EXIT_CLEAN;
  for (size_t i = 0; i < sizeof given / sizeof *given && !code; i++)
    code = check_line(given[i].option, given[i].text);
  return code;
}

static int parse_list(const char *name, const char *text, size_t size, pf_regressions *out)
{
  pf_error e = {0};
  const pf_status status = pf_regressions_parse(name, text, size, out, &e);
  return status ? pf_cli_report(status, &e, false, NULL) : PF_EXIT_CLEAN;
}

/* The entry alone, as the list would have it. */
static int parse_alone(const pf_new_entry *n, pf_regressions *out)
{
  size_t size;
  char *text = make_text("", n, NULL, &size);
  const int code = text ? parse_list("--add", text, size, out) : out_of_memory();
  free(text);
  return code;
}

static int check_name(const pf_settings *s, const char *name)
{
  const pf_regression *k = pf_regressions_named(&s->known, name);
  return k ? pf_cli_fail(PF_EXIT_BAD_INPUT, "--add: [%s] is there already: %s/" PF_KNOWN_LIST ":%d",
                         name, k->folder, k->line)
           : PF_EXIT_CLEAN;
}

static int check_shown(const pf_new_entry *n, const pf_replay *r)
{
  if (r->outcome == PF_WRONG)
    return r->code;
  return r->shows ? PF_EXIT_CLEAN
                  : pf_cli_fail(PF_EXIT_BAD_INPUT, "%s does not show %s: %s", n->file,
                                n->signature, r->why);
}

/* --- writing ------------------------------------------------------------------------------- */

static int encode(pf_settings *s, const char *file, uint8_t **data, size_t *size)
{
  pf_case_file f;
  pf_error e = {0};
  pf_arena_reset(&s->session.cases);
  int code = pf_case_file_read(file, PF_FORM_AUTO, &s->session.cases, &f);
  const pf_status status =
      code ? PF_OK : pf_archive_encode(&f.what, &s->session.cases, data, size, &e);
  if (status)
    code = pf_cli_report(status, &e, false, file);
  pf_case_file_free(&f);
  return code;
}

/* The list is the last to be written: what it names is there. */
static int write_both(const char *path, const uint8_t *data, size_t size, const char *list,
                      const char *text, size_t length)
{
  int code = pf_cli_write(path, data, size);
  if (code)
    return code;
  code = pf_cli_write(list, (const uint8_t *)text, length);
  if (code)
    unlink(path);
  return code;
}

static int extend_list(pf_settings *s, const pf_new_entry *n, const pf_replay *seen,
                       const char *path, const char *list)
{
  uint8_t *data;
  size_t size, length;
  char *before, *text;
  pf_regressions whole = {0};
  pf_error e = {0};
  int code = encode(s, n->file, &data, &size);
  if (code)
    return code;
  const pf_status status = pf_text_read(list, &before, &length, &e);
  if (status)
    return pf_cli_report(status, &e, false, NULL);
  text = make_text(before, n, seen, &length);
  /* what a library calls its kernel can be anything */
  code = text ? parse_list(list, text, length, &whole) : out_of_memory();
  if (!code)
    code = write_both(path, data, size, list, text, length);
  pf_regressions_free(&whole);
  free(before);
  free(text);
  return code;
}

static int add(pf_settings *s, const pf_new_entry *n, const pf_replay *seen)
{
  char *folder = strndup(s->known_folder, strcspn(s->known_folder, ":")), *list = NULL;
  char *path = folder ? pf_known_path(folder, n->name) : NULL;
  int code = PF_EXIT_CLEAN;
  if (!path || asprintf(&list, "%s/" PF_KNOWN_LIST, folder) < 0)
    code = out_of_memory();
  else
    code = extend_list(s, n, seen, path, list);
  if (!code) {
    printf("%s\n", path);
    print_entry(n, seen, stdout);
  }
  free(list);
  free(path);
  free(folder);
  return code;
}

int pf_regress_add(pf_settings *s, const pf_new_entry *what)
{
  pf_regressions alone = {0};
  pf_replay seen = {0};
  int code = check_lines(what);
  if (!code)
    code = check_name(s, what->name);
  if (!code)
    code = parse_alone(what, &alone);
  if (!code) {
    pf_replay_case(s, alone.entry, what->file, PF_FORM_AUTO, &seen);
    code = check_shown(what, &seen);
  }
  if (!code)
    code = add(s, what, &seen);
  pf_replay_free(&seen);
  pf_regressions_free(&alone);
  return code;
}
