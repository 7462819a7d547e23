/* Plots on the page: shares of the enclosures, how far strategies part, what became over time. */
#include <inttypes.h>
#include <string.h>

#include "page.h"

static void put_key(int series, const char *kind, const char *text, FILE *to)
{
  const char *before = kind[0] ? " class=\"" : "", *behind = kind[0] ? "\"" : "";
  fprintf(to, "<li><i%s%s%s style=\"background:var(--p%02d)\"></i>", before, kind, behind, series);
  pf_html(text, to);
}

/* --- shares ----------------------------------------------------------------------------------- */

static void put_shares_of(const pf_page *p, const char *engine, const json_t *dtypes, size_t number,
                          FILE *to)
{
  char name[32], title[256];
  const char *dtype;
  json_t *o;
  int line = 0;
  snprintf(name, sizeof name, "shares-%zu", number);
  snprintf(title, sizeof title, "Share of the enclosure used by %s", engine);
  fputs("<div class=\"card\"><h3><code>", to);
  pf_html(engine, to);
  fputs("</code></h3>", to);
  pf_page_put_plot(p, name, title, "Of each dtype, which part of its elements uses which share; "
                                   "the table "
                   "of largest shares has the numbers.", to);
  fputs("<ul class=\"legend\">", to);
  json_object_foreach((json_t *)(uintptr_t)dtypes, dtype, o)
    if (line++ < PF_PAGE_SERIES)
      put_key(line, "", dtype, to);
  fputs("</ul></div>", to);
}

static void put_largest(const json_t *shares, FILE *to)
{
  const char *engine, *dtype;
  json_t *e, *d;
  fputs("<details class=\"card\"><summary>Largest shares, as a table</summary><div "
        "class=\"scroll\" "
        "tabindex=\"0\" role=\"region\" aria-label=\"Largest shares\"><table><caption>Elements "
        "measured "
        "and the largest share used, by engine and dtype</caption><thead><tr><th "
        "scope=\"col\">engine"
        "<th scope=\"col\">dtype<th scope=\"col\" class=\"n\">elements<th scope=\"col\" "
        "class=\"n\">largest "
        "share</thead><tbody>", to);
  json_object_foreach((json_t *)(uintptr_t)shares, engine, e)
    json_object_foreach(e, dtype, d) {
      fputs("<tr><th scope=\"row\"><code>", to);
      pf_html(engine, to);
      fputs("</code><td><code>", to);
      pf_html(dtype, to);
      fputs("</code><td class=\"n\">", to);
      pf_page_count((uint64_t)pf_page_number(d, "elements"), to);
      fprintf(to, "<td class=\"n\">%.4g", json_number_value(json_object_get(d, "largest")));
    }
  fputs("</tbody></table></div></details>", to);
}

static void put_shares(const pf_page *p, FILE *to)
{
  const json_t *shares = json_object_get(p->sum, "shares");
  const char *engine;
  json_t *dtypes;
  size_t number = 0;
  if (!json_object_size(shares))
    return;
  fputs("<h2 id=\"shares\">How much of the enclosure is used</h2><p class=\"soft\">The error of "
        "each "
        "element over the radius of its enclosure; up to 512 elements of a case. Right of the "
        "dashed line "
        "is outside. Rows whose bits are fixed, and sums that are exact in any order, have no "
        "radius.</p><div class=\"grid\">", to);
  json_object_foreach((json_t *)(uintptr_t)shares, engine, dtypes)
    put_shares_of(p, engine, dtypes, number++, to);
  fputs("</div>", to);
  put_largest(shares, to);
}

/* --- strategies ------------------------------------------------------------------------------- */

static void put_parted(const pf_page *p, FILE *to)
{
  const json_t *parted = json_object_get(p->sum, "parted");
  if (!json_array_size(json_object_get(parted, "file")) &&
      !json_array_size(json_object_get(parted, "drawn")))
    return;
  fputs("<h2 id=\"strategies\">How far strategies part</h2><p class=\"soft\">Between two "
        "strategies on "
        "the same engine: the largest difference of a case, as a share of the sum of magnitudes, "
        "against "
        "K. Dots are the cases of this folder. Lines are for comparison: the mean of four drawn "
        "cases "
        "of <code>matmul(x, y, out=f32) + bias</code> in bf16, by precfuzz's own loops.</p>"
        "<div class=\"card\" style=\"max-width:860px\">", to);
  pf_page_put_plot(p, "parted", "Difference between strategies against K",
                   "Differences of the three pairs of strategies, logarithmic in both "
                   "directions.", to);
  fputs("<ul class=\"legend\">", to);
  for (int i = 0; i < 3; i++)
    put_key(i + 1, "dot", pf_page_pairs[i], to);
  fputs("</ul></div>", to);
}

/* --- over time -------------------------------------------------------------------------------- */

static void put_largest_legend(const json_t *shares, FILE *to)
{
  const json_t *share;
  char text[256];
  size_t i;
  fputs("<ul class=\"legend\">", to);
  json_array_foreach(shares, i, share)
    if (i < PF_PAGE_SERIES) {
      snprintf(text, sizeof text, "%s, %s", pf_page_text(share, "engine"),
               pf_page_text(share, "dtype"));
      put_key((int)i + 1, "", text, to);
    }
  if (json_array_size(shares) > PF_PAGE_SERIES)
    fprintf(to, "<li>%zu more are in status.jsonl", json_array_size(shares) - PF_PAGE_SERIES);
  fputs("</ul>", to);
}

static void put_last(const json_t *last, FILE *to)
{
  static const char *const keys[][2] = {
    {"executions", "executions"}, {"rate", "executions a second"}, {"coverage", "coverage"},
    {"corpus", "inputs in the corpus"}, {"findings", "findings"}};
  fputs("<ul class=\"tiles\">", to);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    fputs("<li><b>", to);
    pf_page_count((uint64_t)json_number_value(json_object_get(last, keys[i][0])), to);
    fprintf(to, "</b><span>%s</span></li>", keys[i][1]);
  }
  fputs("</ul>", to);
}

static void put_time(const pf_page *p, FILE *to)
{
  const size_t n = json_array_size(p->status);
  const json_t *last = json_array_get(p->status, n - 1), *shares = json_object_get(last, "shares");
  if (!n)
    return;
  fputs("<h2 id=\"time\">Over time</h2>", to);
  put_last(last, to);
  fputs("<div class=\"grid wide\"><div class=\"card\"><h3>Executions</h3>", to);
  pf_page_put_plot(p, "executions", "Executions over time",
                   "A line that rises from the start of the run.", to);
  fputs("</div>", to);
  if (json_array_size(shares)) {
    fputs("<div class=\"card\"><h3>Largest share of the enclosure used</h3>", to);
    pf_page_put_plot(p, "largest", "Largest share of the enclosure used, over time",
                     "A line for each engine and dtype; at 1 the enclosure ends.", to);
    put_largest_legend(shares, to);
    fputs("</div>", to);
  }
  fputs("</div>", to);
}

void pf_page_write_plots(const pf_page *p, FILE *to)
{
  put_time(p, to);
  put_shares(p, to);
  put_parted(p, to);
}
