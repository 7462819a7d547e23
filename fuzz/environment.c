/* Settings from the environment, and the file of findings that are known. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static pf_status blame(pf_error *e, pf_status s, const char *variable, const pf_error *why)
{
  return s ? pf_fail(e, s, why->offset, "%s: %s", variable, why->text) : PF_OK;
}

static const char *variable(const char *name)
{
  const char *value = getenv(name);
  return value && *value ? value : NULL;
}

static void notice(const char *text)
{
  fprintf(stderr, "precfuzz: %s\n", text);
}

/* Libraries read these when they are loaded, some of them only then. */
static pf_status pin_threads(pf_options *o, pf_error *e)
{
  static const char *const readers[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                        "BLIS_NUM_THREADS", "MKL_NUM_THREADS"};
  const char *threads = variable("PRECFUZZ_THREADS");
  char *end = NULL;
  const long n = threads ? strtol(threads, &end, 10) : 1;
  if (threads && (*end || n < 1 || n > 1024))
    return pf_fail(e, PF_BAD_INPUT, 0, "PRECFUZZ_THREADS: a number from 1 to 1024 expected");
  o->opening.threads = (int)n;
  for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
    setenv(readers[i], threads ? threads : "1", 1);
  return PF_OK;
}

/* One engine a line, since a command may hold commas. */
static pf_status read_engines(pf_options *o, const char *path, bool first, pf_error *e)
{
  pf_allowed file;
  pf_status s = pf_allowed_read(path, &file, e);
  for (size_t i = 0; i < file.count && !s; i++)
    s = (first && !i ? pf_options_engines : pf_options_add_engines)(o, file.line[i], e);
  pf_allowed_free(&file);
  return s;
}

pf_status pf_environment_read(pf_options *o, pf_error *e)
{
  const char *engines = variable("PRECFUZZ_ENGINES");
  const char *engines_file = variable("PRECFUZZ_ENGINES_FILE");
  const char *strategies = getenv("PRECFUZZ_STRATEGIES");
  const char *rule = getenv("PRECFUZZ_RULE");
  pf_error why = {0};
  o->notice = notice;
  pf_status s = pin_threads(o, e);
  if (!s && engines)
    s = blame(e, pf_options_engines(o, engines, &why), "PRECFUZZ_ENGINES", &why);
  if (!s && engines_file)
    s = blame(e, read_engines(o, engines_file, !engines, &why), "PRECFUZZ_ENGINES_FILE", &why);
  if (!s && strategies && *strategies) {
    o->strategy_count = 0;
    s = blame(e, pf_options_strategies(o, strategies, &why), "PRECFUZZ_STRATEGIES", &why);
  }
  if (!s && rule && *rule)
    s = blame(e, pf_options_rule(o, rule, &why), "PRECFUZZ_RULE", &why);
  return s;
}

static pf_status read_text(const char *path, char **out, pf_error *e)
{
  FILE *f = fopen(path, "rb");
  if (!f)
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: %s", path, strerror(errno));
  size_t size = 0, got;
  char *text = NULL;
  do {
    char *more = realloc(text, size + 4096 + 1);
    if (!more) {
      free(text);
      fclose(f);
      return pf_fail(e, PF_NO_MEMORY, size, "%s: out of memory", path);
    }
    text = more;
    got = fread(text + size, 1, 4096, f);
    size += got;
  } while (got);
  const bool failed = ferror(f);
  fclose(f);
  text[size] = 0;
  *out = text;
  return failed ? pf_fail(e, PF_IO_ERROR, size, "%s: %s", path, strerror(errno)) : PF_OK;
}

pf_status pf_allowed_read(const char *path, pf_allowed *out, pf_error *e)
{
  memset(out, 0, sizeof *out);
  const pf_status status = read_text(path, &out->text, e);
  if (status) {
    free(out->text);
    out->text = NULL;
    return status;
  }
  size_t lines = 1;
  for (const char *c = out->text; *c; c++)
    lines += *c == '\n';
  out->line = calloc(lines, sizeof *out->line);
  if (!out->line)
    return pf_fail(e, PF_NO_MEMORY, 0, "%s: out of memory", path);
  char *rest = out->text, *line;
  while ((line = strsep(&rest, "\n")) != NULL) {
    line[strcspn(line, "#\r")] = 0;
    size_t n = strlen(line);
    while (n && (line[n - 1] == ' ' || line[n - 1] == '\t'))
      line[--n] = 0;
    if (n)
      out->line[out->count++] = line;
  }
  return PF_OK;
}

bool pf_allowed_has(const pf_allowed *a, const char *signature)
{
  for (size_t i = 0; i < a->count; i++)
    if (!strcmp(a->line[i], signature))
      return true;
  return false;
}

void pf_allowed_free(pf_allowed *a)
{
  free(a->text);
  free(a->line);
  memset(a, 0, sizeof *a);
}
