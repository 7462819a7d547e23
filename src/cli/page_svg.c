/* gnuplot's SVG as part of a page: names that are its own, the page's colours, a title and a
   description, and nothing that a reader would have to load. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "page.h"
#include "triage.h"

/* Where a value begins that says how long it is: behind `=` and a quote. */
typedef struct pf_svg {
  const char *at;
  const char *name;  /* of the plot: before each name inside */
  FILE *to;
} pf_svg;

static bool begins(const char *text, const char *with)
{
  return !strncmp(text, with, strlen(with));
}

/* Names and references to them; quotes may be of either kind. */
static bool put_name(pf_svg *s)
{
  static const char *const before[] = {"id='", "id=\"", "xlink:href='#", "xlink:href=\"#", "url(#"};
  static const char *const now[] = {"id='", "id=\"", "href='#", "href=\"#", "url(#"};
  for (size_t i = 0; i < sizeof before / sizeof *before; i++)
    if (begins(s->at, before[i])) {
      fprintf(s->to, "%s%s-", now[i], s->name);
      s->at += strlen(before[i]);
      return true;
    }
  return false;
}

/* 'rgb(  1,   0,  NN)' is --pNN, with NN as in hexadecimal. */
static bool put_colour(pf_svg *s)
{
  static const char *const words[][2] = {
    {"black", "var(--p10)"}, {"gray", "var(--p12)"}, {"white", "var(--card)"}};
  int red, green, blue, length = 0;
  const char quote = *s->at;
  if (quote != '\'' && quote != '"')
    return false;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (begins(s->at + 1, words[i][0]) && s->at[1 + strlen(words[i][0])] == quote) {
      fprintf(s->to, "%c%s", quote, words[i][1]);
      s->at += 1 + strlen(words[i][0]);
      return true;
    }
  if (sscanf(s->at + 1, "rgb(%d, %d, %d)%n", &red, &green, &blue, &length) != 3 || !length ||
      red != 1 || green)
    return false;
  fprintf(s->to, "%cvar(--p%02x)", quote, (unsigned)blue);
  s->at += 1 + length;
  return true;
}

/* Titles inside would show as tips. */
static bool skip_title(pf_svg *s)
{
  const char *end = begins(s->at, "<title>") ? strstr(s->at, "</title>") : NULL;
  if (!end)
    return false;
  s->at = end + strlen("</title>");
  return true;
}

static void put_inside(pf_svg *s, const char *end)
{
  while (s->at < end)
    if (!skip_title(s) && !put_name(s) && !put_colour(s))
      fputc(*s->at++, s->to);
}

static void put(const char *name, const char *text, const char *title, const char *description,
                FILE *to)
{
  const char *box = strstr(text, "viewBox=\""), *start = strstr(text, "</desc>");
  const char *end = strstr(text, "</svg>");
  if (!box || !start || !end)
    return;
  box += strlen("viewBox=\"");
  pf_svg s = {.at = start + strlen("</desc>"), .name = name, .to = to};
  fprintf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"%.*s\" role=\"img\" "
              "aria-labelledby=\"%s-title %s-desc\"><title id=\"%s-title\">",
          (int)strcspn(box, "\""), box, name, name, name);
  pf_html(title, to);
  fprintf(to, "</title><desc id=\"%s-desc\">", name);
  pf_html(description, to);
  fputs("</desc>", to);
  put_inside(&s, end);
  fputs("</svg>", to);
}

bool pf_page_put_plot(const pf_page *p, const char *name, const char *title,
                      const char *description, FILE *to)
{
  char file[64];
  pf_file f = {0};
  snprintf(file, sizeof file, "%s.svg", name);
  char *path = pf_triage_path(p->work, file, NULL);
  const bool there = path && !access(path, F_OK) && !pf_file_read(path, &f) && f.size;
  if (there)
    put(name, (const char *)f.data, title, description, to);
  pf_file_free(&f);
  free(path);
  return there;
}
