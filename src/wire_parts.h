/* What the parts of wire.h share: fields of structs as members of JSON objects. */
#ifndef PF_WIRE_PARTS_H
#define PF_WIRE_PARTS_H

#include "wire.h"

typedef enum pf_field_kind {
  PF_FIELD_INT, PF_FIELD_INT64, PF_FIELD_BOOL, PF_FIELD_WORD, PF_FIELD_DTYPE, PF_FIELD_DOUBLE
} pf_field_kind;

typedef struct pf_field {
  const char *key;
  size_t offset;              /* of an int32_t; int64_t or double where the kind says so */
  pf_field_kind kind;
  const char *const *words;   /* PF_FIELD_WORD: by value, ends with NULL */
} pf_field;

/* Sets a member for each field that is not 0 (a dtype: not PFE_NONE). */
void pf_fields_write(json_t *to, const void *from, const pf_field *fields);
/* Fields without a member stay as they are.  `others`: members that are somebody else's, or NULL where
   they do not matter; an unknown one is an error, as is a value of the wrong kind. */
pf_status pf_fields_read(const json_t *from, void *to, const pf_field *fields,
                         const char *const *others, pf_error *e);

extern const pf_field pf_settings_fields[];  /* of pfe_settings; ends with key == NULL */

/* A member that is text, copied; "" where there is none. */
pf_status pf_wire_text(const json_t *from, const char *key, char *to, size_t size, pf_error *e);

#endif
