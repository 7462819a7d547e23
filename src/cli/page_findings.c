/* Findings on the page: where they are, then each with its picture. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "page.h"
#include "triage.h"

/* --- the heat map ----------------------------------------------------------------------------- */

/* Strategies that any cell names, to where they stand. */
static json_t *list_strategies(const json_t *cells)
{
  json_t *all = json_object(), *engine, *dtype, *cell;
  const char *e, *d, *s;
  json_object_foreach((json_t *)(uintptr_t)cells, e, engine)
    json_object_foreach(engine, d, dtype)
      json_object_foreach(dtype, s, cell)
        if (!json_object_get(all, s))
          json_object_set_new(all, s, json_true());
  return all;
}

static bool has_findings(const json_t *engine)
{
  const char *d, *s;
  json_t *dtype, *cell;
  bool has = false;
  json_object_foreach((json_t *)(uintptr_t)engine, d, dtype)
    json_object_foreach(dtype, s, cell)
      has |= json_integer_value(json_array_get(cell, 0)) > 0;
  return has;
}

static void put_cell(const json_t *cell, FILE *to)
{
  const int64_t findings = json_integer_value(json_array_get(cell, 0));
  const int64_t results = json_integer_value(json_array_get(cell, 1));
  if (!results) {
    fputs("<td class=\"none\"><span aria-label=\"not run\">\xe2\x80\x93</span>", to);
    return;
  }
  const double share = (double)findings / (double)results;
  if (findings)
    fprintf(to, "<td style=\"background:rgb(var(--heat)/%.2f)\">", 0.12 + 0.5 * share);
  else
    fputs("<td class=\"none\">", to);
  fprintf(to, "%" PRId64 " of %" PRId64, findings, results);
}

static void put_heat_row(const char *engine, const char *dtype, const json_t *cells,
                         const json_t *strategies, FILE *to)
{
  const char *s;
  json_t *unused;
  fputs("<tr><th scope=\"row\"><code>", to);
  pf_html(engine, to);
  fputs("</code><th scope=\"row\"><code>", to);
  pf_html(dtype, to);
  fputs("</code>", to);
  json_object_foreach((json_t *)(uintptr_t)strategies, s, unused)
    put_cell(json_object_get(cells, s), to);
}

/* A name that may go on in the next line behind each '_'. */
static void put_breakable(const char *name, FILE *to)
{
  for (const char *c = name; *c; c++) {
    const char one[] = {*c, 0};
    pf_html(one, to);
    if (*c == '_')
      fputs("<wbr>", to);
  }
}

static void put_heat(const pf_page *p, FILE *to)
{
  const json_t *cells = json_object_get(p->sum, "cells");
  json_t *strategies = list_strategies(cells), *engine, *dtype, *unused;
  const char *e, *d, *s;
  size_t quiet = 0;
  fputs("<div class=\"card\"><div class=\"scroll\" tabindex=\"0\" "
        "role=\"region\" aria-label=\"Findings by engine, dtype and strategy\"><table "
        "class=\"heat\">"
        "<caption>Results that are findings, of those that ran, by engine, dtype and strategy"
        "</caption><thead><tr><th scope=\"col\" class=\"l\">engine<th scope=\"col\" "
        "class=\"l\">dtype", to);
  json_object_foreach(strategies, s, unused) {
    fputs("<th scope=\"col\">", to);
    put_breakable(s, to);
  }
  fputs("</thead><tbody>", to);
  json_object_foreach((json_t *)(uintptr_t)cells, e, engine) {
    if (!has_findings(engine)) {
      quiet++;
      continue;
    }
    json_object_foreach(engine, d, dtype)
      put_heat_row(e, d, dtype, strategies, to);
  }
  fputs("</tbody></table></div>", to);
  if (quiet)
    fprintf(to, "<p class=\"soft\">%zu other engine%s without a finding.</p>", quiet,
            quiet == 1 ? "" : "s");
  fputs("</div>", to);
  json_decref(strategies);
}

/* --- a finding -------------------------------------------------------------------------------- */

static void put_row(const char *label, const char *text, bool code, FILE *to)
{
  if (!text[0])
    return;
  fprintf(to, "<dt>%s<dd>%s", label, code ? "<code>" : "");
  pf_html(text, to);
  fputs(code ? "</code>" : "", to);
}

static void put_picture_legend(const json_t *picture, FILE *to)
{
  fputs("<ul class=\"legend\"><li><i class=\"box\" "
        "style=\"background:var(--p20)\"></i>allowed", to);
  if (json_array_size(json_object_get(picture, "right")))
    fputs("<li><i class=\"dot\" style=\"background:var(--p21)\"></i>inside", to);
  if (json_array_size(json_object_get(picture, "wrong")))
    fputs("<li><i class=\"dot\" style=\"background:var(--p22)\"></i>outside", to);
  if (json_is_array(json_object_get(picture, "worst")))
    fputs("<li><i class=\"ring\"></i>the worst", to);
  if (pf_page_number(picture, "columns") < pf_page_number(picture, "elements"))
    fputs("<li>of several elements in a column the worst is shown", to);
  fputs("</ul>", to);
}

static void put_picture(const pf_page *p, const json_t *f, size_t number, FILE *to)
{
  const json_t *picture = json_object_get(f, "picture");
  char name[32], title[512], says[512];
  snprintf(name, sizeof name, "picture-%zu", number);
  snprintf(title, sizeof title, "Error by output element: %s", pf_page_text(f, "signature"));
  snprintf(says, sizeof says, "%zu of %zu columns are outside of what is allowed. %s",
           json_array_size(json_object_get(picture, "wrong")),
           (size_t)fmax(0, (double)pf_page_number(picture, "columns")), pf_page_text(f, "message"));
  if (json_is_object(picture) && pf_page_put_plot(p, name, title, says, to))
    put_picture_legend(picture, to);
  else
    fprintf(to, "<p class=\"soft\">No picture: %s.</p>",
            json_is_object(picture) ? "it could not be drawn"
                                    : "it left no numbers that could be drawn");
}

static void put_links(const pf_page *p, const json_t *f, FILE *to)
{
  static const char *const files[][2] = {
    {PF_BUNDLE_REPORT, "report"}, {PF_BUNDLE_CASE, "minimized case"}, {PF_BUNDLE_FOUND, "as found"},
    {PF_BUNDLE_FACTS, "facts"}};
  const char *bundle = pf_page_text(f, "bundle");
  const json_t *file;
  size_t i;
  fputs("<div class=\"links\">", to);
  if (bundle[0]) {
    fputs("<a href=\"", to);
    pf_page_link(p, bundle, to);
    fputs("/\">bundle</a>", to);
    for (i = 0; i < sizeof files / sizeof *files; i++) {
      fputs("<a href=\"", to);
      pf_page_link(p, bundle, to);
      fprintf(to, "/%s\">%s</a>", files[i][0], files[i][1]);
    }
  } else {
    json_array_foreach(json_object_get(f, "files"), i, file) {
      if (i == 3)
        break;
      fputs("<a href=\"", to);
      pf_page_link(p, json_string_value(file), to);
      fputs("\">", to);
      const char *slash = strrchr(json_string_value(file), '/');
      pf_html(slash ? slash + 1 : json_string_value(file), to);
      fputs("</a>", to);
    }
  }
  fputs("</div>", to);
}

static void put_counts(const json_t *f, FILE *to)
{
  const int64_t judged = pf_page_number(f, "judged"), crashes = pf_page_number(f, "crashes");
  const size_t files = json_array_size(json_object_get(f, "files"));
  const json_t *shows = json_object_get(f, "shows");
  if (judged > 0)
    fprintf(to, "<dt>elements<dd>%" PRId64 " of %" PRId64 " wrong", pf_page_number(f, "wrong"),
            judged);
  if (crashes > 0 || files > 1)
    fprintf(to, "<dt>files<dd>%" PRId64 " show%s it", crashes > 0 ? crashes : (int64_t)files,
            crashes == 1 ? "s" : "");
  if (shows && pf_page_number(shows, "times") != pf_page_number(shows, "tries"))
    fprintf(to, "<dt>shows<dd>%" PRId64 " of %" PRId64 " times", pf_page_number(shows, "times"),
            pf_page_number(shows, "tries"));
}

static void put_details(const json_t *f, FILE *to)
{
  fputs("<details><summary>Case, worst element, how to see it again</summary>", to);
  if (pf_page_text(f, "case")[0]) {
    fputs("<pre>", to);
    pf_html(pf_page_text(f, "case"), to);
    fputs("</pre>", to);
  }
  if (pf_page_text(f, "worst")[0]) {
    fputs("<pre>", to);
    pf_html(pf_page_text(f, "worst"), to);
    fputs("</pre>", to);
  }
  if (pf_page_text(f, "reproduce")[0]) {
    fputs("<pre>$ ", to);
    pf_html(pf_page_text(f, "reproduce"), to);
    fputs("</pre>", to);
  }
  fputs("<dl>", to);
  put_row("found on", pf_page_text(json_object_get(f, "machine"), "cpu"), false, to);
  put_row("signature", pf_page_text(f, "signature"), true, to);
  fputs("</dl></details>", to);
}

static void put_finding(const pf_page *p, const json_t *f, size_t number, FILE *to)
{
  const char *graph = pf_page_text(f, "graph"), *says = pf_page_text(f, "says");
  fprintf(to, "<article class=\"card\" id=\"finding-%zu\"><h3><span class=\"badge\">", number);
  pf_html(pf_page_text(f, "verdict"), to);
  fputs("</span><code>", to);
  pf_html(pf_page_text(f, "engine"), to);
  fputs("</code>: ", to);
  pf_html(says[0] ? says : pf_page_text(f, "message"), to);
  fputs("</h3>", to);
  put_picture(p, f, number, to);
  fputs("<dl>", to);
  put_row("graph", graph, true, to);
  put_row("dtype", pf_page_text(f, "dtype"), true, to);
  put_row("strategy", pf_page_text(f, "strategy"), true, to);
  put_row("fails at", pf_page_text(f, "at"), true, to);
  put_row("explained by", pf_page_text(f, "model"), false, to);
  put_row("how", pf_page_text(f, "how"), false, to);
  put_row("as recorded", pf_page_text(f, "recorded"), false, to);
  put_row("accepted", pf_page_text(f, "accepted"), false, to);
  put_counts(f, to);
  fputs("</dl>", to);
  put_links(p, f, to);
  put_details(f, to);
  fputs("</article>", to);
}

static void put_known(const pf_page *p, FILE *to)
{
  const json_t *known = json_object_get(p->sum, "known"), *f;
  size_t i;
  if (!json_array_size(known))
    return;
  fputs("<h2 id=\"known\">Known findings</h2><div class=\"card\"><table><caption>What these "
        "cases show "
        "and is known</caption><thead><tr><th scope=\"col\">name<th scope=\"col\">signature<th "
        "scope=\"col\" class=\"n\">files</thead><tbody>", to);
  json_array_foreach(known, i, f) {
    fputs("<tr><th scope=\"row\"><code>", to);
    pf_html(pf_page_text(f, "known"), to);
    fputs("</code><td><code>", to);
    pf_html(pf_page_text(f, "signature"), to);
    fprintf(to, "</code><td class=\"n\">%zu", json_array_size(json_object_get(f, "files")));
  }
  fputs("</tbody></table></div>", to);
}

void pf_page_write_findings(const pf_page *p, FILE *to)
{
  const json_t *findings = json_object_get(p->sum, "findings"), *f;
  size_t i;
  fputs("<div class=\"grid wide\">", to);
  if (json_array_size(findings))
    put_heat(p, to);
  pf_page_write_verdicts(p, to);
  fputs("</div>", to);
  if (json_array_size(findings)) {
    fputs("<h2 id=\"findings\">Findings</h2><p class=\"soft\">Each with the result of its case, "
          "element "
          "by element: how far it lies from the exact one, as a share of the sum of the "
          "magnitudes of "
          "its terms, and what is allowed there. Linear near the exact result, logarithmic further "
          "out.</p><div class=\"grid\">", to);
    json_array_foreach(findings, i, f)
      put_finding(p, f, i, to);
    fputs("</div>", to);
  }
  put_known(p, to);
}
