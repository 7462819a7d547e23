/* What the parts of precfuzz triage share: from crash files to groups of them, and to a bundle for
   each group. */
#ifndef PF_TRIAGE_H
#define PF_TRIAGE_H

#include "json.h"
#include "emit.h"
#include "minimize_file.h"
#include "triage_pool.h"

enum { PF_BUNDLE_NAME = 100 };  /* bytes; what a known finding may be called */

/* A finding of a file. */
typedef struct pf_sighting {
  pf_finding finding;
  pf_shown shown;
} pf_sighting;

/* What came of looking at a file; written by a child. */
typedef struct pf_looked {
  bool tried;      /* false: interrupted before it was finished */
  int code;        /* not 0: it could not be read, or run; told */
  char known[PF_BUNDLE_NAME + 1];  /* a known finding that it shows; "" */
  uint64_t work;   /* B*M*N*K */
  int count;       /* findings that are not known: one an engine, where a fuzz target stops */
  pf_sighting seen[PF_MAX_ENGINES];
} pf_looked;

/* Files that show the same finding; what does not show every time is a group of its own. */
typedef struct pf_group {
  char name[PF_BUNDLE_NAME + 1];  /* of its bundle */
  const pf_sighting *seen;
  size_t file;     /* the simplest of them */
  size_t files;
  bool was_there;  /* the bundle, from an earlier run */
  bool made;       /* now */
  bool failed;     /* to be made */
} pf_group;

typedef struct pf_triage {
  pf_settings settings;     /* closed: each child opens its own */
  pf_form form;
  const char *output;
  const char *accept;       /* a reason; NULL: groups do not become known findings */
  const char *engines_file;
  int jobs;
  double seconds, total;    /* for a group, for all; 0: no limit */
  char **given;             /* arguments */
  int given_count;
  pf_paths paths;
  size_t passed_over;       /* files that are no crash files */
  pf_looked *looked;        /* one a file, shared with children */
  pf_group *group;
  size_t groups;
  pf_progress progress;
  int code;                 /* the worst so far */
} pf_triage;

/* --- files (triage_files.c) ---------------------------------------------------------------- */

/* Adds the crash files in a folder, in its folders too but for the output's, or a file as it is.
   What cannot be read is told.  An exit code. */
int pf_triage_collect(pf_triage *t, const char *path);
/* By its name: what a fuzzing engine wrote, or *.case. */
bool pf_triage_is_crash(const char *path);
/* As a fuzz target reads it where a fuzzing engine wrote it, else as the commands do. */
int pf_triage_read(const pf_triage *t, const char *path, pf_arena *a, pf_case_file *out);

/* --- looking (triage_look.c), for a child ---------------------------------------------------- */

/* File number `index`: fills its pf_looked and its sightings. */
int pf_triage_look(void *triage, pf_settings *s, size_t index);

/* --- groups (triage_group.c) --------------------------------------------------------------- */

/* What a bundle of the sighting is called: readable, and the same in every run. */
void pf_bundle_name(const pf_sighting *s, char to[PF_BUNDLE_NAME + 1]);
/* From all sightings, sorted by name.  PF_NO_MEMORY, or PF_OK. */
pf_status pf_triage_group(pf_triage *t);

/* --- bundles (triage_bundle.c) ------------------------------------------------------------- */

#define PF_BUNDLE_CASE "minimized.case"
#define PF_BUNDLE_TEXT "minimized.txt"
#define PF_BUNDLE_FOUND "found.case"
#define PF_BUNDLE_REPORT "report.md"
#define PF_BUNDLE_FACTS "finding.json"
#define PF_BUNDLE_ACCEPTED "accepted.txt"

/* Takes the output folder, made where there is none, for this process and its children alone, and
   clears what a killed run left behind.  An exit code. */
int pf_triage_take_output(const pf_triage *t);
/* FOLDER/NAME, or FOLDER/NAME/FILE, to be freed; NULL: no memory. */
char *pf_triage_path(const char *folder, const char *name, const char *file);
bool pf_bundle_is_there(const pf_triage *t, const char *name);
/* For a child: minimizes the file of group number `index` and writes its bundle, whole or not at
   all.  PF_POOL_LEFT where it was interrupted. */
int pf_triage_bundle(void *triage, pf_settings *s, size_t index);
/* Replaces a file unless it is the same already.  An exit code. */
int pf_triage_update(const char *path, const char *text, size_t size);

/* --- known findings (triage_accept.c) -------------------------------------------------------- */

/* For a child: what regress --add does, for each group whose bundle is there.  An exit code. */
int pf_triage_accept(void *triage, pf_settings *s, size_t index);

/* --- the report of a bundle (triage_report.c) ------------------------------------------------ */

typedef struct pf_bundle {
  const pf_settings *settings;
  const pf_group *group;
  const pf_minimized_file *minimized;
  const pf_result *result;    /* of the minimized case, which it shows */
  bool as_found;              /* not minimized: simpler ones showed it once, then no more */
  const char *const *environment;  /* pf_variables_list */
  struct {
    char *text;               /* NULL: there is none, and `why` says why */
    size_t size;
    char why[240];
  } program[PF_EMIT_TARGETS];
} pf_bundle;

/* What a bundle's reproducer is called. */
const char *pf_bundle_program(pf_emit_target t);
void pf_bundle_report(const pf_bundle *b, FILE *to);   /* Markdown */
json_t *pf_bundle_facts(const pf_bundle *b);
/* What a verdict that is a finding means, in a few words. */
const char *pf_triage_says(pf_verdict v);

/* --- where it ran (triage_machine.c) --------------------------------------------------------- */

/* A table in Markdown: versions, processor, threads, MXCSR. */
void pf_machine_report(const pf_bundle *b, FILE *to);
/* The same as members of an object; environment may be NULL. */
json_t *pf_machine_facts(const pf_engine *e, int threads, const char *const *environment);

/* --- over all bundles (triage_ci.c) -------------------------------------------------------- */

/* OUTPUT/junit.xml and OUTPUT/precfuzz.sarif of all bundles there are.  An exit code. */
int pf_triage_write_ci(const pf_triage *t);

/* --- files and what they show (triage_index.c) ----------------------------------------------- */

/* OUTPUT/files.json: each file of this run, and those of earlier ones that were not looked at.  An
   exit code. */
int pf_triage_write_index(const pf_triage *t);

#endif
