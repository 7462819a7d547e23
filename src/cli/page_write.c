/* The page: what there is to know at a glance, then findings, then plots. */
#include <ctype.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "page.h"
#include "triage.h"

/* --- HTML ------------------------------------------------------------------------------------- */

void pf_html(const char *text, FILE *to)
{
  for (const char *c = text; *c; c++)
    switch (*c) {
    case '&': fputs("&amp;", to); break;
    case '<': fputs("&lt;", to); break;
    case '>': fputs("&gt;", to); break;
    case '"': fputs("&quot;", to); break;
    case '\'': fputs("&#39;", to); break;
    default:
      if ((unsigned char)*c < 0x20 && *c != '\n' && *c != '\t')
        fputs("\xef\xbf\xbd", to);  /* HTML has no way to say them */
      else
        fputc(*c, to);
    }
}

void pf_page_count(uint64_t n, FILE *to)
{
  char digits[24];
  const int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
  for (int i = 0; i < length; i++)
    fprintf(to, "%s%c", i && (length - i) % 3 == 0 ? "\xe2\x80\xaf" : "", digits[i]);
}

static void put_address(const char *path, FILE *to)
{
  for (const char *c = path; *c; c++)
    if (isalnum((unsigned char)*c) || strchr("-_.~/", *c))
      fputc(*c, to);
    else
      fprintf(to, "%%%02X", (unsigned char)*c);
}

/* From one folder to a file; both are absolute, the folder ends with a slash. */
static void put_way(const char *from, const char *path, FILE *to)
{
  size_t common = 0;
  for (size_t i = 0; from[i] && from[i] == path[i]; i++)
    if (from[i] == '/')
      common = i + 1;
  for (const char *c = from + common; *c; c++)
    if (*c == '/')
      fputs("../", to);
  put_address(path + common, to);
}

void pf_page_link(const pf_page *p, const char *path, FILE *to)
{
  char *output = strdup(strcmp(p->output, "-") ? p->output : "./page"), *folder = NULL;
  char *from = output ? realpath(dirname(output), NULL) : NULL, *real = realpath(path, NULL);
  if (from && real && asprintf(&folder, "%s%s", from, from[1] ? "/" : "") >= 0)
    put_way(folder, real, to);
  free(folder);
  free(from);
  free(real);
  free(output);
}

/* --- at a glance ------------------------------------------------------------------------------ */

static void put_tile(uint64_t n, const char *what, const char *kind, FILE *to)
{
  fprintf(to, "<li%s%s%s><b>", kind[0] ? " class=\"" : "", kind, kind[0] ? "\"" : "");
  pf_page_count(n, to);
  fprintf(to, "</b><span>%s</span></li>", what);
}

static void put_largest(const pf_page *p, FILE *to)
{
  const char *engine, *dtype;
  json_t *e, *d;
  double largest = 0;
  json_object_foreach(json_object_get(p->sum, "shares"), engine, e)
    json_object_foreach(e, dtype, d)
      if (json_number_value(json_object_get(d, "largest")) > largest &&
          json_number_value(json_object_get(d, "largest")) <= 1)
        largest = json_number_value(json_object_get(d, "largest"));
  fprintf(to, "<li><b>%.3g</b><span>largest share of an enclosure used, of what is "
              "inside</span></li>",
          largest);
}

static void put_tiles(const pf_page *p, FILE *to)
{
  const json_t *s = p->sum;
  const size_t findings = json_array_size(json_object_get(s, "findings"));
  const size_t known = json_array_size(json_object_get(s, "known"));
  const size_t bad = json_array_size(p->bad);
  size_t left = 0;
  for (size_t i = 0; i < p->items; i++)
    left += p->item[i].code == PF_POOL_LEFT && p->item[i].path;
  fputs("<ul class=\"tiles\">", to);
  put_tile(findings, findings == 1 ? "finding" : "findings", findings ? "bad" : "good", to);
  if (known)
    put_tile(known, "known findings", "", to);
  put_tile((uint64_t)pf_page_number(s, "cases"), "cases looked at", "", to);
  put_tile((uint64_t)pf_page_number(s, "results"), "results judged", "", to);
  put_tile(json_object_size(json_object_get(s, "engines")), "engines", "", to);
  put_largest(p, to);
  if (bad)
    put_tile(bad, bad == 1 ? "file could not be read or run" : "files could not be read or run",
             "bad", to);
  if (left)
    put_tile(left, "cases not looked at, for want of time", "bad", to);
  fputs("</ul>", to);
}

/* Different findings of a verdict. */
static size_t findings_of(const pf_page *p, const char *verdict)
{
  const json_t *f;
  size_t i, n = 0;
  json_array_foreach(json_object_get(p->sum, "findings"), i, f)
    n += !strcmp(pf_page_text(f, "verdict"), verdict);
  return n;
}

static void put_verdict(const pf_page *p, pf_verdict v, FILE *to)
{
  static const char *const says[PF_VERDICT_COUNT] = {
    [PF_VERDICT_OK] = "a result that is allowed",
    [PF_VERDICT_VACUOUS] = "nothing could have failed",
    [PF_VERDICT_UNSUPPORTED] = "the engine, or the row, does not do this case",
    [PF_VERDICT_ORDER] = "some order of summation overflows"};
  const char *name = pf_verdict_name(v);
  const int64_t results = pf_page_number(json_object_get(p->sum, "verdicts"), name);
  const size_t findings = findings_of(p, name);
  if (results <= 0 && !findings)
    return;
  fprintf(to, "<tr><th scope=\"row\"%s>%s<small class=\"soft\">%s</small><td class=\"n\">",
          pf_verdict_is_finding(v) ? " class=\"wrong\"" : "", name,
          says[v] ? says[v] : pf_triage_says(v));
  pf_page_count(results > 0 ? (uint64_t)results : 0, to);
  fputs("<td class=\"n\">", to);
  if (pf_verdict_is_finding(v))
    pf_page_count(findings, to);
  else
    fputs("\xe2\x80\x93", to);
}

void pf_page_write_verdicts(const pf_page *p, FILE *to)
{
  fputs("<div class=\"card\"><table><caption>Results and different findings by "
        "verdict</caption><thead>"
        "<tr><th scope=\"col\">verdict<th scope=\"col\" class=\"n\">results"
        "<th scope=\"col\" class=\"n\">findings</thead><tbody>", to);
  for (int v = 0; v < PF_VERDICT_COUNT; v++)
    put_verdict(p, (pf_verdict)v, to);
  if (!pf_page_number(p->sum, "results"))
    fputs("<tr><td colspan=\"3\" class=\"soft\">No case was judged.", to);
  fputs("</tbody></table></div>", to);
}

static void put_cells(const json_t *engine, FILE *to)
{
  static const char *const keys[] = {"cases", "results", "findings"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    fputs("<td class=\"n\">", to);
    pf_page_count((uint64_t)pf_page_number(engine, keys[i]), to);
  }
}

static void put_engines(const pf_page *p, FILE *to)
{
  const char *name;
  json_t *e;
  fputs("<div class=\"card\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"Engines\"><table><caption>Engines that ran</caption><thead><tr><th "
        "scope=\"col\">engine<th scope=\"col\">version, ISA"
        "<th scope=\"col\" class=\"n\">cases<th scope=\"col\" class=\"n\">results"
        "<th scope=\"col\" class=\"n\">of them findings</thead><tbody>", to);
  json_object_foreach(json_object_get(p->sum, "engines"), name, e) {
    const char *version = pf_page_text(e, "version"), *isa = pf_page_text(e, "isa");
    fputs("<tr><th scope=\"row\"><code>", to);
    pf_html(name, to);
    fputs("</code><td>", to);
    pf_html(version[0] ? version : "precfuzz's own", to);
    if (isa[0] && !strstr(version, isa)) {
      fputs(", ", to);
      pf_html(isa, to);
    }
    put_cells(e, to);
  }
  if (!json_object_size(json_object_get(p->sum, "engines")))
    fputs("<tr><td colspan=\"5\" class=\"soft\">No engine ran.", to);
  fputs("</tbody></table></div></div>", to);
}

static void put_machine(FILE *to)
{
  static const char *const keys[][2] = {
    {"cpu", "CPU"}, {"features", "CPU features"}, {"system", "system"}, {"precfuzz", "precfuzz"}};
  json_t *m = pf_machine_facts(pf_engines[0], 1, NULL);
  fputs("<div class=\"card\"><h3>Where this was made</h3><dl>", to);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    fprintf(to, "<dt>%s<dd>", keys[i][1]);
    pf_html(pf_page_text(m, keys[i][0]), to);
  }
  fputs("</dl></div>", to);
  json_decref(m);
}

/* --- what could not be looked at -------------------------------------------------------------- */

static void put_bad(const pf_page *p, FILE *to)
{
  const json_t *b;
  size_t i;
  fputs("<h2 id=\"files\">Files</h2>", to);
  fputs("<p>", to);
  pf_page_count((uint64_t)pf_page_number(p->sum, "nothing"), to);
  fputs(" cases show nothing; ", to);
  pf_page_count(p->passed_over, to);
  fputs(" other files in the folder are no cases.</p>", to);
  for (size_t k = 0; k < p->items; k++)
    if (p->item[k].code == PF_POOL_LEFT && p->item[k].path) {
      fputs("<p>Not looked at: <code>", to);
      pf_html(p->item[k].path, to);
      fputs("</code></p>", to);
    }
  if (!json_array_size(p->bad))
    return;
  fputs("<div class=\"card\"><table><caption>Files that could not be read or "
        "run</caption><thead><tr>"
        "<th scope=\"col\">file<th scope=\"col\">why</thead><tbody>", to);
  json_array_foreach(p->bad, i, b) {
    fputs("<tr><th scope=\"row\"><code>", to);
    pf_html(pf_page_text(b, "file"), to);
    fputs("</code><td>", to);
    pf_html(pf_page_text(b, "why"), to);
  }
  fputs("</tbody></table></div>", to);
}

/* --- all of it -------------------------------------------------------------------------------- */

static void put_head(const pf_page *p, const char *folder, FILE *to)
{
  char when[64];
  const time_t now = time(NULL);
  strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", gmtime(&now));
  fputs("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\"><meta name=\"color-scheme\" content=\"light dark\"><title>precfuzz: ", to);
  pf_html(folder, to);
  fprintf(to, "</title><style>%s</style></head><body><header><h1>", pf_page_style);
  const size_t findings = json_array_size(json_object_get(p->sum, "findings"));
  if (findings)
    fprintf(to, "%zu finding%s", findings, findings == 1 ? "" : "s");
  else
    fputs("No finding", to);
  fputs(" in <code style=\"font-size:.9em\">", to);
  pf_html(folder, to);
  fprintf(to, "</code></h1><p class=\"soft\">precfuzz " PF_VERSION ", %s</p></header>", when);
}

void pf_page_write(const pf_page *p, FILE *to)
{
  json_t *folder = pf_json_text(p->folder);
  put_head(p, folder ? json_string_value(folder) : "", to);
  fputs("<main>", to);
  put_tiles(p, to);
  pf_page_write_findings(p, to);
  pf_page_write_plots(p, to);
  fputs("<h2 id=\"what\">What ran</h2><div class=\"grid wide\">", to);
  put_engines(p, to);
  put_machine(to);
  fputs("</div>", to);
  put_bad(p, to);
  fputs("</main><footer><p>Each result is held against its enclosure: all that a correct "
        "execution of "
        "its row of steps may give, whatever the order of "
        "summation.</p></footer></body></html>\n", to);
  json_decref(folder);
}
