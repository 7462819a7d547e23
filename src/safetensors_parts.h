/* What the safetensors reader and writer share: dtypes, limits; and the walk over the header. */
#ifndef PF_SAFETENSORS_PARTS_H
#define PF_SAFETENSORS_PARTS_H

#include "tensorfile.h"

#define PF_SAFETENSORS_METADATA "__metadata__"

enum {
  PF_SAFETENSORS_LENGTH = 8,            /* bytes of the header's length */
  PF_SAFETENSORS_HEADER_MAX = 100000000 /* bytes */
};

typedef struct pf_safetensors_dtype {
  const char *name;
  int bits;
  const char *own;  /* the pf_dtype's name; NULL: we have none */
} pf_safetensors_dtype;

/* In the order of increasing alignment in which the reference implementation lists them, up to one
   without a name. */
extern const pf_safetensors_dtype pf_safetensors_dtypes[];

/* A walk over the members of a JSON object, which finds where keys and values begin and end and
   no more: what a span holds is for a JSON parser to say.  So a header of any length is parsed in
   small pieces, with exact offsets and no more memory than the pieces need. */
typedef struct pf_json_walk {
  const uint8_t *data;  /* the file; all places are offsets in it, bytes */
  size_t at, end;
  bool inside;          /* the object has begun */
  pf_error *error;
} pf_json_walk;

typedef struct pf_json_span {
  size_t at, size;
} pf_json_span;

typedef struct pf_json_member {
  pf_json_span key;    /* with its quotes */
  pf_json_span value;
} pf_json_member;

/* The next member; *more is false at the object's end, with w->at behind the closing brace.
   A value may nest two containers. */
pf_status pf_json_next(pf_json_walk *w, pf_json_member *m, bool *more);
/* Walks to the object's end; PF_BAD_INPUT unless only white space follows. */
pf_status pf_json_count(pf_json_walk w, size_t *members);

#endif
