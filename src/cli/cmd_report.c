/* precfuzz report: a page for looking, of a folder of cases, crashes or bundles. */
#include "page.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "triage.h"

/* --- options ---------------------------------------------------------------------------------- */

enum { KEY_TOTAL = 1300 };

static const struct argp_option options[] = {
  {.name = "output", .key = 'o', .arg = "FILE", .group = 2,
   .doc = "The page; -: standard output.  Default report.html"},
  {.name = "jobs", .key = 'j', .arg = "N",
   .doc = "Cases at a time; default: as many as there are processors"},
  {.name = "total-limit", .key = KEY_TOTAL, .arg = "SECONDS",
   .doc = "For looking at cases; those that are left are listed.  Default: no limit"},
  {0}
};

static const char doc[] =
    "Makes one self-contained page in HTML of all that a folder holds: findings with their "
    "pictures, "
    "shares of the enclosures used, how far strategies part.\v"
    "DIR is a folder of cases, of crash files or of what precfuzz triage wrote, with folders in "
    "it.  "
    "Taken are bundles, crash files of libFuzzer and AFL++ (but for its queue), *.case, files "
    "whose names have no ending, as in a corpus, and what says inside that it is a case.  Each "
    "case is run on the engines of "
    "--engine, a bundle's on the bundle's own; one that is a shared object or a command only where "
    "--engine names it, else what the bundle tells is drawn.  DIR/status.jsonl of a long run gives "
    "plots over time.  Plots are made by gnuplot.\n\n"
    "Exit status: 0 the page is written, whatever it shows, 2 a file or an option is wrong (the "
    "page is "
    "written and lists the file), 3 the machinery failed.";

static error_t parse(int key, char *arg, struct argp_state *state)
{
  pf_page *p = state->input;
  switch (key) {
  case ARGP_KEY_INIT:
    state->child_inputs[0] = &p->settings;
    state->child_inputs[1] = &p->form;
    return 0;
  case 'o': p->output = arg; return 0;
  case 'j': p->jobs = (int)pf_cli_number(state, "jobs", arg, 1, PF_POOL_MOST_JOBS); return 0;
  case KEY_TOTAL: p->total = (double)pf_cli_number(state, "total-limit", arg, 1, 1000000); return 0;
  case ARGP_KEY_ARG:
    if (p->folder)
      argp_error(state, "one DIR, not also '%s'", arg);
    p->folder = arg;
    return 0;
  case ARGP_KEY_END:
    if (!p->folder)
      argp_error(state, "DIR is missing");
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

/* --- steps ------------------------------------------------------------------------------------ */

static int out_of_memory(void)
{
  return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
  (void)info;
  (void)kind;
  (void)where;
  return remove(path);
}

static int make_work(pf_page *p)
{
  const char *folder = getenv("TMPDIR");
  if (asprintf(&p->work, "%s/precfuzz-report-XXXXXX", folder && *folder ? folder : "/tmp") < 0) {
    p->work = NULL;
    return out_of_memory();
  }
  if (mkdtemp(p->work))
    return PF_EXIT_CLEAN;
  const int code =
      pf_cli_fail(PF_EXIT_MACHINERY, "%s: cannot be made: %s", p->work, strerror(errno));
  free(p->work);
  p->work = NULL;
  return code;
}

static const char *item_name(const void *page, size_t index)
{
  const pf_page *p = page;
  return p->item[index].path ? p->item[index].path : "cases for comparison";
}

/* Says what is wrong with engines, or missing, once. */
static int do_nothing(void *page, pf_settings *s, size_t index)
{
  (void)page;
  (void)s;
  (void)index;
  return PF_EXIT_CLEAN;
}

static int try_engines(pf_page *p)
{
  int code;
  const pf_pool pool = {.settings = &p->settings, .jobs = 1, .count = 1, .work = do_nothing,
                        .name = item_name, .user = p, .notices = true, .progress = &p->progress};
  return pf_pool_run(&pool, &code);
}

static int look(pf_page *p)
{
  int *code = malloc(p->items * sizeof *code);
  const pf_pool pool = {.settings = &p->settings, .jobs = p->jobs, .count = p->items,
                        .work = pf_page_look, .name = item_name, .user = p,
                        .doing = "cases looked at", .until = p->total, .progress = &p->progress};
  if (!code)
    return out_of_memory();
  const int ran = pf_pool_run(&pool, code);
  for (size_t i = 0; i < p->items; i++) {
    p->item[i].code = code[i];
    p->code = pf_cli_worse(p->code, code[i]);
  }
  free(code);
  return ran;
}

static int write_page(pf_page *p)
{
  char *text = NULL;
  size_t size;
  FILE *to = open_memstream(&text, &size);
  if (!to)
    return out_of_memory();
  pf_page_write(p, to);
  const bool failed = ferror(to);
  const int code = fclose(to) || failed ? out_of_memory()
                                        : pf_cli_write(p->output, (const uint8_t *)text, size);
  free(text);
  return code;
}

static int report(pf_page *p)
{
  int code = pf_page_collect(p);
  if (!code)
    code = try_engines(p);
  if (!code)
    code = make_work(p);
  if (!code)
    code = look(p);
  if (!code && pf_page_sum(p))
    code = out_of_memory();
  if (code)
    return code;
  pf_page_draw(p);
  return write_page(p);
}

int pf_cmd_report(int argc, char **argv)
{
  static const struct argp_child children[] = {
    {.argp = &pf_settings_argp}, {.argp = &pf_form_argp}, {0}};
  static const struct argp argp = {.options = options, .parser = parse, .args_doc = "DIR",
                                   .doc = doc, .children = children};
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  pf_page p = {.settings.isolate = true, .output = "report.html",
               .jobs = processors > 1 && processors <= PF_POOL_MOST_JOBS ? (int)processors : 1};
  argp_parse(&argp, argc, argv, 0, NULL, &p);
  p.bad = json_array();
  p.status = json_array();
  pf_progress_start(&p.progress);
  pf_interrupt_on(SIGTERM);
  const int code = report(&p);
  if (p.work)
    nftw(p.work, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  free(p.work);
  p.code = pf_cli_worse(p.code, code);
  pf_page_free(&p);
  return p.code;
}
