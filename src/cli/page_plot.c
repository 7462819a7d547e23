/* Plots by gnuplot, as SVG that is made part of the page.

   gnuplot sees numbers and constant words alone: what strangers named is written by the page.  Its
   colours stand for those of the page, which are others in the dark. */
#include "page.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "triage.h"

extern char **environ;

enum { MOST_POINTS = 600, MOST_PICTURES = 200, MOST_LINES = PF_PAGE_SERIES };

/* Colours: 0x0100NN is --pNN of the page (page_style.c). */
#define BAND "0x010020"
#define RIGHT "0x010021"
#define WRONG "0x010022"

/* --- scripts ---------------------------------------------------------------------------------- */

static void start_plot(FILE *to, const char *name, int width, int height)
{
  fprintf(to,
          "reset\nset terminal svg size %d,%d noenhanced font 'sans,13' linewidth 1\n"
          "set output '%s.svg'\n"
          "set border 3 lc rgb 0x010011 lw 0.8\nset grid lc rgb 0x010012 lt 1 lw 0.6\n"
          "set tics nomirror scale 0.4 textcolor rgb 0x010010\nset key off\n"
          "set xlabel textcolor rgb 0x010010\nset ylabel textcolor rgb 0x010010\n",
          width, height, name);
}

/* Lines of numbers, one for each array in rows. */
static void put_block(FILE *to, const char *name, const json_t *rows)
{
  const json_t *row, *n;
  size_t i, j;
  fprintf(to, "$%s << END\n", name);
  json_array_foreach(rows, i, row) {
    json_array_foreach(row, j, n)
      fprintf(to, "%.7g ", json_number_value(n));
    fputc('\n', to);
  }
  fputs("END\n", to);
}

static void put_tics(FILE *to, const json_t *picture)
{
  static const char *const keys[] = {"tics", "rails"};
  const json_t *tic;
  const char *before = "";
  size_t i;
  fputs("set ytics (", to);
  for (int k = 0; k < 2; k++)
    json_array_foreach(json_object_get(picture, keys[k]), i, tic) {
      fprintf(to, "%s'%s' %.7g", before, json_string_value(json_array_get(tic, 1)),
              json_number_value(json_array_get(tic, 0)));
      before = ", ";
    }
  fputs(")\n", to);
}

static void plot_picture(FILE *to, const json_t *picture, size_t number)
{
  char name[32];
  const double top = json_number_value(json_object_get(picture, "top"));
  const int64_t elements = pf_page_number(picture, "elements");
  const json_t *worst = json_object_get(picture, "worst");
  const bool rails = json_array_size(json_object_get(picture, "rails")) > 0;
  const double size = pf_page_number(picture, "columns") > 60 ? 0.35 : 0.55;
  snprintf(name, sizeof name, "picture-%zu", number);
  start_plot(to, name, 440, 270);
  put_block(to, "allowed", json_object_get(picture, "allowed"));
  put_block(to, "right", json_object_get(picture, "right"));
  put_block(to, "wrong", json_object_get(picture, "wrong"));
  put_tics(to, picture);
  fprintf(to, "set xrange [-0.6:%.7g]\nset yrange [%.7g:%.7g]\nset xlabel 'output element'\n"
              "set ylabel 'error / sum of magnitudes'\n",
          (double)elements - 0.4, -(rails ? 1.5 : 1.1) * top, (rails ? 1.85 : 1.1) * top);
  if (elements <= 8)
    fputs("set xtics 1\n", to);
  fputs("set style fill solid 1 noborder\n"
        "plot $allowed using (($1+$2)/2):(($3+$4)/2):1:2:3:4 with boxxyerror lc rgb " BAND
        ", 0 with lines lc rgb 0x010011 lw 0.8", to);
  if (json_array_size(json_object_get(picture, "right")))
    fprintf(to, ", $right with points pt 7 ps %g lc rgb " RIGHT, size);
  if (json_array_size(json_object_get(picture, "wrong")))
    fprintf(to, ", $wrong with points pt 7 ps %g lc rgb " WRONG, size + 0.1);
  if (json_is_array(worst))
    fprintf(to, ", '-' with points pt 6 ps 1.6 lw 1.6 lc rgb " WRONG "\n%.7g %.7g\ne",
            json_number_value(json_array_get(worst, 0)),
            json_number_value(json_array_get(worst, 1)));
  fputc('\n', to);
}

/* Of each dtype the part of its elements that lies in a bin. */
static void plot_shares(FILE *to, const json_t *engine, size_t number)
{
  char name[32];
  const char *dtype;
  json_t *o, *n;
  size_t i;
  int line = 0;
  snprintf(name, sizeof name, "shares-%zu", number);
  start_plot(to, name, 440, 250);
  json_object_foreach((json_t *)(uintptr_t)engine, dtype, o) {
    const double all = json_number_value(json_object_get(o, "elements"));
    fprintf(to, "$d%d << END\n", line);
    json_array_foreach(json_object_get(o, "bins"), i, n)
      fprintf(to, "%g %g\n", ((double)i + 0.5) / PF_PAGE_BINS,
              fmax(100 * json_number_value(n) / all, 0.01));
    fputs("END\n", to);
    if (++line == MOST_LINES)
      break;
  }
  fputs("set logscale y\nset yrange [0.01:120]\nset xrange [0:1.06]\n"
        "set xtics ('0' 0, '1/4' 0.25, '1/2' 0.5, '3/4' 0.75, '1' 1)\n"
        "set ytics ('0.01 %%' 0.01, '0.1 %%' 0.1, '1 %%' 1, '10 %%' 10, '100 %%' 100)\n"
        "set xlabel 'share of the enclosure used'\nset ylabel 'of the elements'\n"
        "set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb " WRONG " dt 2\nplot ", to);
  for (int k = 0; k < line; k++)
    fprintf(to, "%s$d%d with histeps lw 1.6 lc rgb 0x01000%d", k ? ", " : "", k, k + 1);
  fputc('\n', to);
}

/* --- strategies against K --------------------------------------------------------------------- */

/* Where nothing parts is a line of its own below all others. */
static double least_parting(const json_t *parted)
{
  static const char *const keys[] = {"file", "drawn"};
  const json_t *row;
  double least = 1e-6;
  size_t i;
  for (int k = 0; k < 2; k++)
    json_array_foreach(json_object_get(parted, keys[k]), i, row) {
      const double share = json_number_value(json_array_get(row, 2));
      if (share > 0 && share < least)
        least = share;
    }
  return fmax(least, 1e-30);
}

static void put_parted(FILE *to, const char *name, const json_t *rows, int pair, double zero)
{
  const json_t *row;
  size_t i;
  fprintf(to, "$%s%d << END\n", name, pair);
  json_array_foreach(rows, i, row)
    if (json_integer_value(json_array_get(row, 1)) == pair)
      fprintf(to, "%.7g %.7g\n", fmax(json_number_value(json_array_get(row, 0)), 0.5),
              fmax(json_number_value(json_array_get(row, 2)), zero));
  fputs("END\n", to);
}

static void plot_parted(FILE *to, const json_t *parted)
{
  const double least = least_parting(parted), zero = pow(10, floor(log10(least)) - 1);
  start_plot(to, "parted", 640, 360);
  for (int i = 0; i < 3; i++) {
    put_parted(to, "file", json_object_get(parted, "file"), i, zero);
    put_parted(to, "drawn", json_object_get(parted, "drawn"), i, zero);
  }
  fprintf(to, "set logscale x 2\nset logscale y\nset xrange [0.4:*]\nset yrange [%g:*]\n"
              "set format y '1e%%T'\nset ytics add ('none' %g)\nset xlabel 'K'\n"
              "set ylabel 'difference / sum of magnitudes'\nplot ",
          zero / 3, zero);
  const char *before = "";
  for (int i = 0; i < 3; i++) {
    fprintf(to, "%s$drawn%d using 1:2 smooth unique with lines lw 2 dt %d lc rgb 0x01000%d",
            before, i, i + 1, i + 1);
    before = ", ";
    fprintf(to, ", $file%d using ($1*2**(%g)):2 with points pt 7 ps 0.5 lc rgb 0x01000%d", i,
            0.06 * (i - 1), i + 1);
  }
  fputc('\n', to);
}

/* --- over time -------------------------------------------------------------------------------- */

static void put_time(FILE *to, const pf_page *p, const char *key)
{
  const size_t n = json_array_size(p->status), step = 1 + n / MOST_POINTS;
  const double begin = json_number_value(json_object_get(json_array_get(p->status, 0), "time"));
  fprintf(to, "$%s << END\n", key);
  for (size_t i = 0; i < n; i++) {
    const json_t *line = json_array_get(p->status, i);
    if (i % step == 0 || i == n - 1)
      fprintf(to, "%.7g %.9g\n",
              (json_number_value(json_object_get(line, "time")) - begin) / 3600,
              json_number_value(json_object_get(line, key)));
  }
  fputs("END\n", to);
}

/* A line of status names each pair of engine and dtype again: those of the last one are shown. */
static const json_t *shown_shares(const pf_page *p)
{
  const size_t n = json_array_size(p->status);
  return n ? json_object_get(json_array_get(p->status, n - 1), "shares") : NULL;
}

static const json_t *find_share(const json_t *line, const json_t *like)
{
  const json_t *share;
  size_t i;
  json_array_foreach(json_object_get(line, "shares"), i, share)
    if (!strcmp(pf_page_text(share, "engine"), pf_page_text(like, "engine")) &&
        !strcmp(pf_page_text(share, "dtype"), pf_page_text(like, "dtype")))
      return json_object_get(share, "share");
  return NULL;
}

static void put_largest(FILE *to, const pf_page *p, size_t number)
{
  const size_t n = json_array_size(p->status), step = 1 + n / MOST_POINTS;
  const double begin = json_number_value(json_object_get(json_array_get(p->status, 0), "time"));
  fprintf(to, "$l%zu << END\n", number);
  for (size_t i = 0; i < n; i++) {
    const json_t *line = json_array_get(p->status, i);
    const json_t *share = find_share(line, json_array_get(shown_shares(p), number));
    if (share && (i % step == 0 || i == n - 1))
      fprintf(to, "%.7g %.9g\n",
              (json_number_value(json_object_get(line, "time")) - begin) / 3600,
              json_number_value(share));
  }
  fputs("END\n", to);
}

static void plot_time(FILE *to, const pf_page *p)
{
  start_plot(to, "executions", 520, 280);
  put_time(to, p, "executions");
  fputs("set xrange [0:*]\nset yrange [0:*]\nset xlabel 'hours'\nset ylabel 'executions'\n"
        "set format y '%.0s%c'\nset style fill solid 0.15 noborder\n"
        "plot $executions with filledcurves x1 lc rgb 0x010001, "
        "$executions with lines lw 2 lc rgb 0x010001\n", to);
  const size_t all = json_array_size(shown_shares(p));
  const size_t lines = all < MOST_LINES ? all : MOST_LINES;
  if (!lines)
    return;
  start_plot(to, "largest", 520, 280);
  for (size_t i = 0; i < lines; i++)
    put_largest(to, p, i);
  fputs("set xrange [0:*]\nset yrange [0:*]\nset xlabel 'hours'\n"
        "set ylabel 'largest share of the enclosure'\n"
        "set arrow from graph 0, first 1 to graph 1, first 1 nohead lc rgb " WRONG
        " dt 2\nplot ", to);
  for (size_t i = 0; i < lines; i++)
    fprintf(to, "%s$l%zu with lines lw 2 lc rgb 0x01000%zu", i ? ", " : "", i, i + 1);
  fputs(", 1.02 with lines lc rgb 0x010012\n", to);
}

static void write_script(const pf_page *p, FILE *to)
{
  const json_t *shares = json_object_get(p->sum, "shares");
  const json_t *parted = json_object_get(p->sum, "parted");
  const char *engine;
  json_t *o;
  size_t number = 0, i;
  json_object_foreach((json_t *)(uintptr_t)shares, engine, o)
    plot_shares(to, o, number++);
  if (json_array_size(json_object_get(parted, "file")) ||
      json_array_size(json_object_get(parted, "drawn")))
    plot_parted(to, parted);
  if (json_array_size(p->status))
    plot_time(to, p);
  json_array_foreach(json_object_get(p->sum, "findings"), i, o)
    if (json_is_object(json_object_get(o, "picture")) && i < MOST_PICTURES)
      plot_picture(to, json_object_get(o, "picture"), i);
}

/* --- gnuplot ---------------------------------------------------------------------------------- */

static int run_gnuplot(const char *folder)
{
  static char name[] = "gnuplot", plain[] = "--default-settings", script[] = "plots";
  char *const argv[] = {name, plain, script, NULL};
  posix_spawn_file_actions_t actions;
  pid_t pid;
  int status;
  if (posix_spawn_file_actions_init(&actions))
    return ENOMEM;
  posix_spawn_file_actions_addchdir_np(&actions, folder);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "said", O_WRONLY | O_CREAT, 0600);
  const int failed = posix_spawnp(&pid, name, &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed)
    return failed;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : EIO;
}

/* What gnuplot's last words were: a line. */
static void read_words(const pf_page *p, char *to, size_t size)
{
  char *path = pf_triage_path(p->work, "said", NULL), line[200];
  FILE *from = path ? fopen(path, "r") : NULL;
  while (from && fgets(line, sizeof line, from))
    if (line[strspn(line, " \t^\n")])
      snprintf(to, size, "gnuplot: %.*s", (int)strcspn(line, "\n"), line);
  if (from)
    fclose(from);
  free(path);
}

void pf_page_draw(pf_page *p)
{
  char words[240] = "gnuplot failed";
  char *path = pf_triage_path(p->work, "plots", NULL);
  FILE *to = path ? fopen(path, "w") : NULL;
  if (pf_progress_due(&p->progress))
    fputs("drawing", stderr);
  if (to)
    write_script(p, to);
  const int failed = to && !fclose(to) ? run_gnuplot(p->work) : errno;
  pf_progress_clear(&p->progress);
  if (failed == EIO)
    read_words(p, words, sizeof words);
  if (failed)
    p->code = pf_cli_worse(p->code,
                           pf_cli_fail(PF_EXIT_MACHINERY, "plots are missing: %s",
                                       failed == ENOENT ? "gnuplot is not installed" : words));
  free(path);
}
