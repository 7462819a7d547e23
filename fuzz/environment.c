/* Settings from the environment. */
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

static pf_status read_number(const char *name, int most, int *out, pf_error *e)
{
  const char *text = variable(name);
  char *end;
  if (!text)
    return PF_OK;
  const long n = strtol(text, &end, 10);
  if (*end || n < 1 || n > most)
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: a number from 1 to %d expected", name, most);
  *out = (int)n;
  return PF_OK;
}

/* A file's lines without comments and blanks at their ends. */
typedef struct pf_lines {
  char *text;  /* the whole file, lines ended by NUL */
  char **line;
  size_t count;
} pf_lines;

/* One engine a line, since a command may hold commas.  path: NULL gives no lines. */
static pf_status read_lines(const char *path, pf_lines *out, pf_error *e)
{
  size_t size;
  *out = (pf_lines){0};
  if (!path)
    return PF_OK;
  PF_TRY(pf_text_read(path, &out->text, &size, e));
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

static void free_lines(pf_lines *lines)
{
  free(lines->text);
  free(lines->line);
}

/* Several foreign engines are kept apart from each other, and from us. */
static pf_status read_opening(pf_options *options, const char *engines, const pf_lines *lines,
                              pf_error *e)
{
  pf_plugin_options *o = &options->opening;
  int isolate = 0, repeat = 0, seconds = 0, foreign = engines ? pf_options_foreign(engines) : 0;
  for (size_t i = 0; i < lines->count; i++)
    foreign += pf_options_foreign(lines->line[i]);
  PF_TRY(read_number("PRECFUZZ_THREADS", 1024, &o->threads, e));
  PF_TRY(read_number("PRECFUZZ_TIMEOUT", 86400, &seconds, e));
  PF_TRY(read_number("PRECFUZZ_ISOLATE", 1, &isolate, e));
  PF_TRY(read_number("PRECFUZZ_REPEAT", 1, &repeat, e));
  options->repeat = repeat;
  o->milliseconds = seconds * 1000;
  o->isolate = isolate || foreign > 1;
  return PF_OK;
}

/* Libraries read these when they are loaded, some of them only then. */
static void pin_threads(int threads)
{
  static const char *const readers[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                        "BLIS_NUM_THREADS", "MKL_NUM_THREADS"};
  char text[16];
  snprintf(text, sizeof text, "%d", threads);
  for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
    setenv(readers[i], text, 1);
}

static pf_status select_engines(pf_options *o, const char *engines, const pf_lines *lines,
                                pf_error *e)
{
  pf_error why = {0};
  pf_status s = PF_OK;
  if (engines)
    s = blame(e, pf_options_engines(o, engines, &why), "PRECFUZZ_ENGINES", &why);
  for (size_t i = 0; i < lines->count && !s; i++)
    s = blame(e, (engines || i ? pf_options_add_engines : pf_options_engines)(o, lines->line[i], &why),
              "PRECFUZZ_ENGINES_FILE", &why);
  return s;
}

static pf_status read_engines(pf_options *o, pf_error *e)
{
  const char *engines = variable("PRECFUZZ_ENGINES");
  pf_lines lines;
  pf_error why = {0};
  o->notice = notice;
  o->opening.threads = 1;
  pf_status s = blame(e, read_lines(variable("PRECFUZZ_ENGINES_FILE"), &lines, &why),
                      "PRECFUZZ_ENGINES_FILE", &why);
  if (!s)
    s = read_opening(o, engines, &lines, e);
  pin_threads(o->opening.threads);
  if (!s)
    s = select_engines(o, engines, &lines, e);
  free_lines(&lines);
  return s;
}

pf_status pf_environment_read(pf_options *o, pf_error *e)
{
  const char *strategies = getenv("PRECFUZZ_STRATEGIES");
  const char *rule = getenv("PRECFUZZ_RULE"), *oracle = getenv("PRECFUZZ_ORACLE");
  pf_error why = {0};
  pf_status s = read_engines(o, e);
  if (!s && strategies && *strategies) {
    o->strategy_count = 0;
    s = blame(e, pf_options_strategies(o, strategies, &why), "PRECFUZZ_STRATEGIES", &why);
  }
  if (!s && rule && *rule)
    s = blame(e, pf_options_rule(o, rule, &why), "PRECFUZZ_RULE", &why);
  if (!s && oracle && *oracle)
    s = blame(e, pf_options_oracle(o, oracle, &why), "PRECFUZZ_ORACLE", &why);
  return s;
}

pf_status pf_text_read(const char *path, char **out, size_t *size, pf_error *e)
{
  FILE *f = fopen(path, "rb");
  if (!f)
    return pf_fail(e, PF_BAD_INPUT, 0, "%s: %s", path, strerror(errno));
  size_t got;
  char *text = NULL;
  *size = 0;
  do {
    char *more = realloc(text, *size + 4096 + 1);
    if (!more) {
      free(text);
      fclose(f);
      return pf_fail(e, PF_NO_MEMORY, 0, "%s: out of memory", path);
    }
    text = more;
    got = fread(text + *size, 1, 4096, f);
    *size += got;
  } while (got);
  const bool failed = ferror(f);
  fclose(f);
  text[*size] = 0;
  if (!failed) {
    *out = text;
    return PF_OK;
  }
  free(text);
  return pf_fail(e, PF_IO_ERROR, 0, "%s: %s", path, strerror(errno));
}
