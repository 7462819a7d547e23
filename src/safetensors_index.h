/* The index of a model that is saved in several safetensors files: model.safetensors.index.json, a
   JSON object whose member weight_map says for each tensor in which file it is. */
#ifndef PF_SAFETENSORS_INDEX_H
#define PF_SAFETENSORS_INDEX_H

#include "tensorfile.h"

typedef struct pf_shard_entry {
  const char *name;      /* UTF-8 */
  size_t file;           /* of pf_shards' files */
  size_t place;          /* offset in the index */
} pf_shard_entry;

typedef struct pf_shards {
  size_t count, files;
  const pf_shard_entry *entry;  /* in the index's order */
  const char *const *file;      /* names without a folder, each once */
  pf_arena memory;
} pf_shards;

/* Whether the bytes begin as a JSON object does. */
bool pf_shards_is(const void *data, size_t size);

/* Reads a whole index that lies in memory; *out does not point into it.  Needs memory in proportion
   to it.  PF_BAD_INPUT: no such object, no weight_map or two, a repeated tensor, a file name with a
   folder in it; PF_UNSUPPORTED: more than 100 MB; PF_NO_MEMORY; then *out is zeroed. */
pf_status pf_shards_parse(const void *data, size_t size, pf_shards *out, pf_error *e);
void pf_shards_close(pf_shards *s);

#endif
