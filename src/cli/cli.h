/* What the commands of precfuzz share. */
#ifndef PF_CLI_H
#define PF_CLI_H

#include <argp.h>
#include <time.h>

#include "form_fuzz.h"
#include "harness.h"
#include "tensorfile.h"

#ifndef PF_VERSION
#define PF_VERSION "0.1.0"
#endif

/* The greater one wins where several hold. */
enum {
  PF_EXIT_CLEAN = 0,
  PF_EXIT_FINDING = 1,
  PF_EXIT_BAD_INPUT = 2,   /* a file, an option, a row's or a case's text */
  PF_EXIT_MACHINERY = 3    /* no memory, an engine's error, output that cannot be written */
};

/* One command.  run: argv[0] is "precfuzz NAME"; returns an exit code. */
typedef struct pf_command {
  const char *name;
  const char *note;  /* one line for people */
  int (*run)(int argc, char **argv);
} pf_command;

int pf_cmd_check(int argc, char **argv);
int pf_cmd_judge(int argc, char **argv);
int pf_cmd_seed(int argc, char **argv);
int pf_cmd_export(int argc, char **argv);
int pf_cmd_explain(int argc, char **argv);
int pf_cmd_show(int argc, char **argv);
int pf_cmd_encode(int argc, char **argv);
int pf_cmd_emit(int argc, char **argv);
int pf_cmd_random(int argc, char **argv);
int pf_cmd_regress(int argc, char **argv);
int pf_cmd_minimize(int argc, char **argv);
int pf_cmd_triage(int argc, char **argv);
int pf_cmd_report(int argc, char **argv);
int pf_cmd_tolerance(int argc, char **argv);
int pf_cmd_strategies(int argc, char **argv);
int pf_cmd_engines(int argc, char **argv);
int pf_cmd_engine_host(int argc, char **argv);
int pf_cmd_engine_test(int argc, char **argv);

/* --- messages (messages.c) ----------------------------------------------------------------- */

/* Prints "precfuzz: ..." and a newline to stderr; returns code. */
int pf_cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for what a call reported: "precfuzz: WHERE: offset N: ..."; where may be NULL. */
int pf_cli_report(pf_status s, const pf_error *e, bool has_offset, const char *where);
int pf_cli_worse(int a, int b);
/* The number that an option's argument says, decimal, 0x or 0; ends the program where it is none from
   low to high. */
uint64_t pf_cli_number(struct argp_state *state, const char *option, const char *text, uint64_t low,
                       uint64_t high);
/* Can stdout still be written?  Long commands stop where it cannot. */
bool pf_cli_output_ok(void);
/* As a word of a shell's command. */
void pf_cli_quote(const char *word, FILE *to);
/* The text form, cut after `most` characters. */
void pf_cli_print_case(const pf_case *c, size_t most, FILE *to);
/* A line of a report that tells where the case's values come from; nothing if that is not known. */
void pf_cli_print_origin(const pf_case *c, FILE *to);
/* As an index of torch: "bf16[32,7,1,8]", "(8,1)". */
void pf_cli_print_dims(char open, int rank, const int64_t *dim, char close, FILE *to);

/* --- variables of the environment (variables.c) ---------------------------------------------- */

/* Those that decide which kernels libraries take, "NAME=VALUE", as far as they are set; the last is
   NULL.  threads: how many, too, 1 unless that is set, for who is not precfuzz, which has an option
   for that.  NULL: no memory. */
const char *const *pf_variables_list(bool threads, pf_arena *a);
/* As a shell has them before a command: "NAME=VALUE " for each; threads: how many, too. */
void pf_variables_print(const char *const *list, bool threads, FILE *to);

/* --- settings (settings.c) ----------------------------------------------------------------- */

/* What runs and how it is judged, by options and environment. */
typedef struct pf_settings {
  const char *engine[PF_MAX_ENGINES];  /* of --engine */
  int engines;
  const char *threads, *seconds;       /* of --threads, --timeout; NULL: not given */
  bool isolate, repeat;                /* --isolate, --repeat */
  const char *strategy[PF_MAX_STRATEGIES];  /* of --strategy */
  int strategies;
  const char *rule, *oracle, *known_folder;
  bool engines_chosen; /* by an option or by the environment */
  pf_session session;
  char *own_folder;    /* where known_folder points if it is the one that came with the program */
  pf_regressions known;
} pf_settings;

/* --engine, --strategy, --rule, --known, ...; its input is a pf_settings. */
extern const struct argp pf_settings_argp;
/* The same but for --engine. */
extern const struct argp pf_judging_argp;

/* Reads the environment, then what the options say instead, and opens the oracle.  Returns an exit
   code; pf_settings_close is due in any case. */
int pf_settings_open(pf_settings *s);
void pf_settings_close(pf_settings *s);
/* Do the rows given as text suit the case?  PF_EXIT_BAD_INPUT, told of `where`, if one does not. */
int pf_settings_check_rows(const pf_settings *s, const pf_case *c, const char *where);
/* --oracle both: tells of a difference; the worse exit code. */
int pf_settings_differences(const pf_settings *s, int code);
/* " --strategy NAME", or the row that goes by that name. */
void pf_settings_print_strategy(const pf_settings *s, const char *name, FILE *to);
/* The command that shows the result again; and the line of a report that tells it. */
void pf_settings_command(const pf_settings *s, const pf_result *r, const char *form,
                         const char *path, FILE *to);
void pf_settings_print_command(const pf_settings *s, const pf_result *r, const char *form,
                               const char *path, FILE *to);

/* --- known findings (known.c) -------------------------------------------------------------- */

/* Opens the folders of known findings: those of --known or PRECFUZZ_KNOWN, else the one that came
   with the program, if any; sets known_folder.  An exit code. */
int pf_settings_open_known(pf_settings *s);
/* The entry that the result is one of; NULL. */
const pf_regression *pf_settings_know(const pf_settings *s, const pf_result *r);
/* The line of a report that tells which known finding a result is. */
void pf_cli_print_known(const pf_regression *k, FILE *to);

/* --- files (files.c) ----------------------------------------------------------------------- */

typedef enum pf_form {
  PF_FORM_AUTO, PF_FORM_FUZZ, PF_FORM_ARCHIVE, PF_FORM_TEXT, PF_FORM_SAFETENSORS
} pf_form;

const char *pf_form_name(pf_form f);
bool pf_form_find(const char *name, pf_form *out);
extern const struct argp pf_form_argp;  /* --form; its input is a pf_form */

typedef struct pf_file {
  const char *name;  /* for messages */
  uint8_t *data;     /* size bytes and a NUL */
  size_t size;
} pf_file;

enum { PF_LARGEST_FILE = 1 << 26 };  /* bytes */

/* path "-": standard input.  Files over PF_LARGEST_FILE are refused.  An exit code. */
int pf_file_read(const char *path, pf_file *out);
void pf_file_free(pf_file *f);
/* All or nothing: a temporary file beside path takes its place.  path "-": standard output. */
int pf_cli_write(const char *path, const uint8_t *data, size_t size);
/* Makes the folder, or finds it empty.  An exit code. */
int pf_cli_make_folder(const char *folder);
/* The exit code for what a writer of tensor files returned, and its message. */
int pf_cli_written(pf_status s, const pf_error *e, const char *path);

typedef struct pf_case_file {
  pf_file file;
  pf_form form;      /* what it was read as */
  pf_case what;      /* points into the file and the arena */
  pf_tensor_file tensors;  /* PF_FORM_SAFETENSORS: all that is in it */
} pf_case_file;

/* By its first bytes; never PF_FORM_AUTO. */
pf_form pf_file_form(const pf_file *f);
int pf_case_file_read(const char *path, pf_form form, pf_arena *a, pf_case_file *out);
/* The case in f->file.  graph: what a safetensors file that does not say it is of; else NULL. */
int pf_case_file_decode(pf_case_file *f, pf_form form, const pf_graph *graph, pf_arena *a);
void pf_case_file_free(pf_case_file *f);
int pf_case_parse(const pf_file *text, pf_arena *a, pf_case *out);  /* one line of text */

/* Files named, folders replaced by the files in them but for an index.json, sorted. */
typedef struct pf_paths {
  char **path;
  size_t count;
} pf_paths;

int pf_paths_add(pf_paths *p, const char *path);
void pf_paths_free(pf_paths *p);

/* --- cases drawn at random (draw.c) -------------------------------------------------------- */

typedef struct pf_draw {
  pf_filter filter;
  uint64_t seed, length;  /* length: random bytes a case */
  uint8_t *bytes;
} pf_draw;

/* --seed, --length and the filters; its input is a pf_draw. */
extern const struct argp pf_draw_argp;

/* Case number `index` depends on the seed, the length, the filters and itself alone.  It lives in
   the arena.  PF_NO_MEMORY. */
pf_status pf_draw_case(pf_draw *d, uint64_t index, pf_arena *a, pf_case *out);
void pf_draw_free(pf_draw *d);

/* --- progress of long work (progress.c) ---------------------------------------------------- */

typedef struct pf_progress {
  struct timespec start, shown;
  bool on;                /* stderr is a terminal */
} pf_progress;

/* Also catches Ctrl-C: pf_interrupted then says so. */
void pf_progress_start(pf_progress *p);
/* Is it time for another line?  Then the last one is gone; print one to stderr, no newline. */
bool pf_progress_due(pf_progress *p);
double pf_progress_seconds(const pf_progress *p);  /* since the start */
void pf_progress_clear(const pf_progress *p);
void pf_interrupt_on(int signal_number);  /* as on Ctrl-C */
bool pf_interrupted(void);

/* --- counts (counts.c) --------------------------------------------------------------------- */

typedef struct pf_counts {
  uint64_t cases, results, findings, known;
  uint64_t verdict[PF_VERDICT_COUNT];
} pf_counts;

/* Counts a result; true for a finding that is not known. */
bool pf_counts_add(pf_counts *c, const pf_result *r, bool known);
void pf_counts_print(const pf_counts *c, FILE *to);  /* one line */

/* --- the table of check (table.c) ---------------------------------------------------------- */

typedef struct pf_table pf_table;

pf_table *pf_table_new(void);  /* NULL: no memory */
/* Around the examination of each case: its results are added in the callback; path, the file of the
   case, must outlive the table. */
void pf_table_start(pf_table *t);
void pf_table_add(pf_table *t, const pf_result *r);
pf_status pf_table_finish(pf_table *t, pf_session *s, const char *path);
void pf_table_print(const pf_table *t, const pf_settings *s, FILE *to);
void pf_table_free(pf_table *t);

/* --- steps as PyTorch writes them (torch.c) ------------------------------------------------ */

/* "t0: bf16[32,7,1,1] = bmm(x, y)" */
void pf_torch_print_step(const pf_case *c, const pf_plan *plan, int step, FILE *to);
/* "acc f32, rounds to bf16" */
void pf_torch_print_rounding(const pf_plan *plan, int step, FILE *to);

#endif
