/* The list of known findings from its text. */
#include <stdarg.h>
#include <string.h>

#include "regression.h"
#include "version.h"

enum { LONGEST_NAME = 100, MOST_OF_PATH = 110 };  /* bytes; the path's in errors */

typedef struct pf_list_reader {
  const char *file;
  int line;
  pf_error *error;
  pf_regressions *list;
  size_t first;          /* entry of this text */
  pf_regression *entry;  /* that is being read; NULL before the first */
  char *tail;            /* end of the value that a line may go on with; NULL */
} pf_list_reader;

__attribute__((format(printf, 3, 4)))
static pf_status bad(const pf_list_reader *p, int line, const char *format, ...)
{
  char why[200];
  va_list args;
  va_start(args, format);
  vsnprintf(why, sizeof why, format, args);
  va_end(args);
  const size_t length = strlen(p->file);
  return pf_fail(p->error, PF_BAD_INPUT, 0, "%s:%d: %s",
                 p->file + (length > MOST_OF_PATH ? length - MOST_OF_PATH : 0), line, why);
}

/* --- signatures ---------------------------------------------------------------------------- */

/* Cuts the last word off; NULL where none stands behind a blank. */
static char *cut_word(char *text)
{
  char *blank = strrchr(text, ' ');
  if (!blank || !blank[1] || blank == text)
    return NULL;
  *blank = 0;
  return blank + 1;
}

static bool find_verdict(const char *name, pf_verdict *out)
{
  for (int v = 0; v < PF_VERDICT_COUNT; v++)
    if (!strcmp(pf_verdict_name((pf_verdict)v), name)) {
      *out = (pf_verdict)v;
      return pf_verdict_is_finding(*out);
    }
  return false;
}

static pf_status check_rule(const pf_list_reader *p, const pf_regression *k)
{
  pf_rule rule;
  pf_error why = {0};
  char text[PF_RULE_TEXT];
  if (pf_rule_parse(k->rule, &rule, &why))
    return bad(p, k->line, "signature: rule '%s': %.80s", k->rule, why.text);
  pf_rule_print(&rule, text, sizeof text);
  if (strcmp(text, k->rule))
    return bad(p, k->line, "signature: rule '%s' is written %s", k->rule, text);
  if ((rule.kind == PF_RULE_AGREE) != (strchr(k->strategy, '~') != NULL))
    return bad(p, k->line, "signature: rule agree goes with two strategies, as eager~inductor");
  return PF_OK;
}

static pf_status read_signature(const pf_list_reader *p, pf_regression *k)
{
  const size_t size = strlen(k->signature) + 1;
  char *copy = pf_alloc(&p->list->memory, size);
  char *word[5];
  if (!copy)
    return pf_fail(p->error, PF_NO_MEMORY, 0, "out of memory");
  memcpy(copy, k->signature, size);
  for (int i = 5; i-- > 0;)
    if (!(word[i] = cut_word(copy)))
      return bad(p, k->line, "signature: ENGINE GRAPH STRATEGY DTYPES RULE VERDICT expected");
  k->engine = copy;
  k->graph = word[0];
  k->strategy = word[1];
  k->dtypes = word[2];
  k->rule = word[3];
  if (!find_verdict(word[4], &k->verdict))
    return bad(p, k->line, "signature: '%s' is no verdict of a finding", word[4]);
  if (strchr(k->engine, '*') && strncmp(k->engine, "exec:", 5))
    return bad(p, k->line, "signature: the engine '%s' must be said in full", k->engine);
  return check_rule(p, k);
}

/* --- entries ------------------------------------------------------------------------------- */

static pf_status finish_entry(const pf_list_reader *p)
{
  pf_regression *k = p->entry;
  if (!k)
    return PF_OK;
  if (!k->signature || !k->reason)
    return bad(p, k->line, "[%s] has no %s", k->name, k->signature ? "reason" : "signature");
  if (k->version && !pf_version_is_range(k->version))
    return bad(p, k->line, "[%s]: version: '%s' is no range such as >=3.0 <3.8", k->name,
               k->version);
  return read_signature(p, k);
}

static bool is_name(const char *name)
{
  const size_t length = strlen(name);
  return length && length <= LONGEST_NAME && name[0] != '.' && name[0] != '-' &&
         strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.") ==
             length;
}

static pf_status begin_entry(pf_list_reader *p, char *text)
{
  const size_t length = strlen(text);
  PF_TRY(finish_entry(p));
  p->tail = NULL;
  if (text[length - 1] != ']')
    return bad(p, p->line, "[NAME] expected");
  text[length - 1] = 0;
  const char *name = text + 1;
  if (!is_name(name))
    return bad(p, p->line, "'%.100s' is no name of a case: letters, digits and \"_-+.\"", name);
  for (size_t i = p->first; i < p->list->count; i++)
    if (!strcmp(p->list->entry[i].name, name))
      return bad(p, p->line, "[%s] is there already, in line %d", name, p->list->entry[i].line);
  p->entry = &p->list->entry[p->list->count++];
  *p->entry = (pf_regression){.name = name, .line = p->line};
  return PF_OK;
}

static const char **find_field(pf_regression *k, const char *key)
{
  const struct {
    const char *key, **value;
  } fields[] = {
    {"signature", &k->signature}, {"version", &k->version}, {"kernel", &k->kernel},
    {"isa", &k->isa}, {"model", &k->model}, {"reason", &k->reason}, {"reported", &k->reported},
  };
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (!strcmp(fields[i].key, key))
      return fields[i].value;
  return NULL;
}

static pf_status read_field(pf_list_reader *p, char *text)
{
  char *equals = strchr(text, '=');
  if (!equals)
    return bad(p, p->line, "KEY = VALUE expected");
  if (!p->entry)
    return bad(p, p->line, "[NAME] must come first");
  char *value = equals + 1 + strspn(equals + 1, " \t");
  while (equals > text && (equals[-1] == ' ' || equals[-1] == '\t'))
    equals--;
  *equals = 0;
  const char **field = find_field(p->entry, text);
  if (!field)
    return bad(p, p->line, "'%.100s' is none of signature, version, kernel, isa, model, reason, "
                           "reported", text);
  if (*field)
    return bad(p, p->line, "[%s] has a %s already", p->entry->name, text);
  if (!*value)
    return bad(p, p->line, "%s is empty: leave it out", text);
  *field = value;
  p->tail = value + strlen(value);
  return PF_OK;
}

/* The value grows over the line's end: what stood between is at least as long as a blank. */
static pf_status go_on(pf_list_reader *p, const char *text)
{
  if (!p->tail)
    return bad(p, p->line, "no value stands before that this line could go on with");
  const size_t length = strlen(text);
  *p->tail++ = ' ';
  memmove(p->tail, text, length + 1);
  p->tail += length;
  return PF_OK;
}

static pf_status read_line(pf_list_reader *p, char *line)
{
  for (const char *c = line; *c; c++)
    if ((*c > 0 && *c < ' ' && *c != '\t') || *c == 0x7f)
      return bad(p, p->line, "control character 0x%02x", (unsigned)*c);
  size_t length = strlen(line);
  while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
    line[--length] = 0;
  char *text = line + strspn(line, " \t");
  if (*text == '#')
    return PF_OK;
  if (!*text) {
    p->tail = NULL;
    return PF_OK;
  }
  return text > line ? go_on(p, text) : *text == '[' ? begin_entry(p, text) : read_field(p, text);
}

static pf_status read_all(pf_list_reader *p, char *text)
{
  char *rest = text, *line;
  while ((line = strsep(&rest, "\n")) != NULL) {
    p->line++;
    PF_TRY(read_line(p, line));
  }
  return finish_entry(p);
}

pf_status pf_regressions_parse(const char *file, const char *text, size_t size,
                               pf_regressions *list, pf_error *e)
{
  pf_list_reader p = {.file = file, .error = e, .list = list, .first = list->count};
  size_t most = list->count + 1;
  for (size_t i = 0; i < size; i++)
    most += text[i] == '[';
  char *copy = pf_alloc(&list->memory, size + 1);
  pf_regression *entry = pf_alloc_array(&list->memory, most, sizeof *entry);
  pf_status status = PF_OK;
  if (entry && list->count)
    memcpy(entry, list->entry, list->count * sizeof *entry);
  list->entry = entry;
  if (!copy || !entry)
    status = pf_fail(e, PF_NO_MEMORY, 0, "out of memory");
  else if (memchr(text, 0, size))
    status = bad(&p, 1, "it holds bytes that are 0: no text");
  else
    status = read_all(&p, memcpy(copy, text, size));
  if (status)
    pf_regressions_free(list);
  return status;
}
