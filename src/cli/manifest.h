/* What precfuzz seed writes beside the cases: which file, tensor and slice each of them is. */
#ifndef PF_CLI_MANIFEST_H
#define PF_CLI_MANIFEST_H

#include <jansson.h>

#include "cli.h"
#include "seed.h"

/* Growing JSON; members become NULL where memory is short. */
typedef struct pf_manifest {
  json_t *models, *seeds, *skipped;
} pf_manifest;

/* A model that seeds come from, in the order of the command. */
typedef struct pf_manifest_model {
  const char *path;
  const pf_weights *weights;
  char (*hash)[PF_HASH_TEXT];  /* of each of its files */
  json_int_t number;
} pf_manifest_model;

void pf_manifest_open(pf_manifest *m);
void pf_manifest_model_add(pf_manifest *m, const pf_manifest_model *model);
/* file: the case's, in the manifest's folder.  what: the case with its origin. */
void pf_manifest_seed(pf_manifest *m, const pf_manifest_model *model, const pf_seed *s,
                      const pf_case *what, const char *file, pf_form form, size_t bytes);
void pf_manifest_skip(pf_manifest *m, const pf_manifest_model *model, size_t weight,
                      const char *why);
/* Writes FOLDER/manifest.json, and what was skipped, by reason, to `to`.  An exit code. */
int pf_manifest_write(const pf_manifest *m, const char *folder, bool interrupted);
void pf_manifest_print_skipped(const pf_manifest *m, FILE *to);
void pf_manifest_close(pf_manifest *m);

#endif
