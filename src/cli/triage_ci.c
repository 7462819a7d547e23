/* All bundles of a folder for CI: JUnit and SARIF.  Both are made from what the bundles say of
   themselves, so that they are the same whichever run wrote a bundle. */
#include "triage.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A bundle's finding.json, and whether it is accepted. */
typedef struct pf_told {
  json_t *facts;
  char *accepted;  /* what its file says; NULL: it is not */
} pf_told;

typedef struct pf_all_told {
  pf_told *bundle;
  size_t count;
} pf_all_told;

static int out_of_memory(void)
{
  return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
}

/* "" where there is none. */
static const char *text_of(const json_t *facts, const char *key)
{
  const char *text = json_string_value(json_object_get(facts, key));
  return text ? text : "";
}

/* --- reading ------------------------------------------------------------------------------- */

static int read_facts(const char *path, json_t **out)
{
  json_error_t e;
  *out = json_load_file(path, 0, &e);
  if (!*out)
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: offset %d: %s", path, e.position, e.text);
  static const char *const keys[] = {"name", "signature", "at", "verdict", "engine", "message"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (!json_is_string(json_object_get(*out, keys[i]))) {
      json_decref(*out);
      return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: no text '%s'", path, keys[i]);
    }
  return PF_EXIT_CLEAN;
}

static char *read_accepted(const char *output, const char *name)
{
  char *path = pf_triage_path(output, name, PF_BUNDLE_ACCEPTED), *text = NULL;
  pf_file f = {0};
  if (path && !access(path, F_OK) && !pf_file_read(path, &f)) {
    text = strdup((const char *)f.data);
    if (text)
      text[strcspn(text, "\n")] = 0;
  }
  pf_file_free(&f);
  free(path);
  return text;
}

static int read_bundle(const char *output, const char *name, pf_all_told *out)
{
  char *path = pf_triage_path(output, name, PF_BUNDLE_FACTS);
  pf_told *t = &out->bundle[out->count];
  int code = PF_EXIT_CLEAN;
  if (!path)
    return out_of_memory();
  if (!access(path, F_OK) && !(code = read_facts(path, &t->facts))) {
    t->accepted = read_accepted(output, name);
    out->count++;
  }
  free(path);
  return code;
}

static int is_visible(const struct dirent *entry)
{
  return entry->d_name[0] != '.';
}

/* One that is damaged leaves the others. */
static int read_all(const char *output, pf_all_told *out)
{
  struct dirent **entry;
  const int count = scandir(output, &entry, is_visible, alphasort);
  int code = count < 0 ? out_of_memory() : PF_EXIT_CLEAN;
  out->bundle = calloc(count > 0 ? (size_t)count : 1, sizeof *out->bundle);
  for (int i = 0; i < count; i++) {
    const int read = out->bundle ? read_bundle(output, entry[i]->d_name, out) : out_of_memory();
    code = pf_cli_worse(code, read);
    free(entry[i]);
  }
  if (count >= 0)
    free(entry);
  return code;
}

static void free_all(pf_all_told *all)
{
  for (size_t i = 0; i < all->count; i++) {
    json_decref(all->bundle[i].facts);
    free(all->bundle[i].accepted);
  }
  free(all->bundle);
}

/* --- JUnit --------------------------------------------------------------------------------- */

/* XML 1.0 has no way to say most control characters; facts are UTF-8. */
static void print_xml(const char *text, FILE *to)
{
  for (const char *c = text; *c; c++)
    switch (*c) {
    case '&': fputs("&amp;", to); break;
    case '<': fputs("&lt;", to); break;
    case '>': fputs("&gt;", to); break;
    case '"': fputs("&quot;", to); break;
    case '\n': fputs("&#10;", to); break;
    case '\t': fputs("&#9;", to); break;
    default: fputc((unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c, to);
    }
}

static void print_attribute(const char *key, const char *value, FILE *to)
{
  fprintf(to, " %s=\"", key);
  print_xml(value, to);
  fputc('"', to);
}

static void print_test(const pf_told *t, FILE *to)
{
  const json_t *f = t->facts;
  fputs("    <testcase", to);
  print_attribute("classname", text_of(f, "engine"), to);
  print_attribute("name", text_of(f, "name"), to);
  fputs(">\n      ", to);
  if (t->accepted) {
    fputs("<skipped", to);
    print_attribute("message", t->accepted, to);
    fputs("/>\n", to);
  } else {
    fputs("<failure", to);
    print_attribute("type", text_of(f, "verdict"), to);
    print_attribute("message", text_of(f, "message"), to);
    fputc('>', to);
    print_xml(text_of(f, "signature"), to);
    fprintf(to, "&#10;%s/" PF_BUNDLE_REPORT "&#10;", text_of(f, "name"));
    print_xml(text_of(json_object_get(f, "result"), "reproduce"), to);
    fputs("</failure>\n", to);
  }
  fputs("    </testcase>\n", to);
}

static void print_junit(const pf_all_told *all, FILE *to)
{
  size_t accepted = 0;
  for (size_t i = 0; i < all->count; i++)
    accepted += all->bundle[i].accepted != NULL;
  fprintf(to, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
              "  <testsuite name=\"precfuzz triage\" tests=\"%zu\" failures=\"%zu\" errors=\"0\""
              " skipped=\"%zu\">\n", all->count, all->count - accepted, accepted);
  for (size_t i = 0; i < all->count; i++)
    print_test(&all->bundle[i], to);
  fputs("  </testsuite>\n</testsuites>\n", to);
}

static int write_junit(const pf_all_told *all, const char *path)
{
  char *text = NULL;
  size_t size;
  FILE *to = open_memstream(&text, &size);
  if (!to)
    return out_of_memory();
  print_junit(all, to);
  const bool failed = ferror(to);
  const int code = fclose(to) || failed ? out_of_memory() : pf_triage_update(path, text, size);
  free(text);
  return code;
}

/* --- SARIF 2.1.0 --------------------------------------------------------------------------- */

static json_t *rules(void)
{
  json_t *all = json_array();
  for (int v = 0; v < PF_VERDICT_COUNT; v++)
    if (pf_verdict_is_finding((pf_verdict)v))
      pf_json_append(&all, json_pack("{s:s, s:{s:s}}", "id", pf_verdict_name((pf_verdict)v),
                                     "shortDescription", "text", pf_triage_says((pf_verdict)v)));
  return all;
}

static json_t *location(const json_t *facts)
{
  return json_pack("[{s:{s:{s:o}, s:{s:i}}}]", "physicalLocation", "artifactLocation", "uri",
                   json_sprintf("%s/" PF_BUNDLE_TEXT, text_of(facts, "name")), "region",
                   "startLine", 1);
}

static json_t *suppressions(const pf_told *t)
{
  return t->accepted ? json_pack("[{s:s, s:o}]", "kind", "external", "justification",
                                 pf_json_text(t->accepted))
                     : json_array();
}

static json_t *sarif_result(const pf_told *t)
{
  const json_t *f = t->facts;
  json_t *o = json_object();
  pf_json_set(&o, "ruleId", json_string(text_of(f, "verdict")));
  pf_json_set(&o, "level", json_string("error"));
  pf_json_set(&o, "message", json_pack("{s:s}", "text", text_of(f, "message")));
  pf_json_set(&o, "locations", location(f));
  pf_json_set(&o, "partialFingerprints",
              json_pack("{s:s}", "precfuzzFinding/v1", text_of(f, "name")));
  pf_json_set(&o, "suppressions", suppressions(t));
  pf_json_set(&o, "properties",
              json_pack("{s:s, s:s, s:s}", "signature", text_of(f, "signature"), "at",
                        text_of(f, "at"), "reproduce",
                        text_of(json_object_get(f, "result"), "reproduce")));
  return o;
}

static json_t *sarif(const pf_all_told *all)
{
  json_t *results = json_array();
  for (size_t i = 0; i < all->count; i++)
    pf_json_append(&results, sarif_result(&all->bundle[i]));
  return json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:o}]}", "$schema",
                   "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs",
                   "tool", "driver", "name", "precfuzz", "version", PF_VERSION, "rules", rules(),
                   "results", results);
}

static int write_sarif(const pf_all_told *all, const char *path)
{
  json_t *log = sarif(all);
  char *text = log ? json_dumps(log, JSON_INDENT(2)) : NULL;
  const int code = text ? pf_triage_update(path, text, strlen(text)) : out_of_memory();
  free(text);
  json_decref(log);
  return code;
}

int pf_triage_write_ci(const pf_triage *t)
{
  pf_all_told all = {0};
  char *junit = pf_triage_path(t->output, "junit.xml", NULL);
  char *log = pf_triage_path(t->output, "precfuzz.sarif", NULL);
  int code = junit && log ? read_all(t->output, &all) : out_of_memory();
  const int first = all.bundle && junit ? write_junit(&all, junit) : code;
  const int second = all.bundle && log ? write_sarif(&all, log) : code;
  code = pf_cli_worse(code, pf_cli_worse(first, second));
  free_all(&all);
  free(junit);
  free(log);
  return code;
}
