/* What fuzz_cast is made of: formats, chains of them, the routes by which precfuzz converts a
   number, which chains round as if once, and how bytes become all that. */
#ifndef PF_CAST_H
#define PF_CAST_H

#include "interpret.h"
#include "mpfr_round.h"
#include "truth.h"

/* --- chains -------------------------------------------------------------------------------- */

enum {
  PF_CAST_LONGEST = 8,  /* formats in a chain */
  PF_CAST_ROWS = 400,   /* room for the different chains of all rows */
  PF_CAST_NAME = 48,    /* bytes of a format's name */
  PF_CAST_TEXT = PF_CAST_LONGEST * (PF_CAST_NAME + 4)
};

/* A value of format[0] is rounded to format[1], that to format[2], and so on.  The formats are as
   the conversions between them round: pf_conversion has been applied. */
typedef struct pf_cast_chain {
  int count;            /* formats: 2 to PF_CAST_LONGEST */
  pf_format format[PF_CAST_LONGEST];
} pf_cast_chain;

void pf_cast_chain_print(const pf_cast_chain *c, char *to, size_t size);  /* "f32 > f16 > bf16" */

/* Formats that chains are drawn from, by number: the dtypes, then what only rows have. */
int pf_cast_pool(void);
pf_format pf_cast_format(int i);
/* Every way in which f can round and overflow, by number; 0 is f itself. */
int pf_cast_variants(const pf_format *f);
pf_format pf_cast_variant(const pf_format *f, int i);

/* The chains of formats through which the rows take a number, from an operand to what a sum reads
   and from a sum's accumulator to the result, over all dtypes. */
typedef struct pf_cast_rows {
  int count;
  pf_cast_chain chain[PF_CAST_ROWS];
} pf_cast_rows;

/* PF_NO_MEMORY: more chains than there is room for, or none. */
pf_status pf_cast_rows_collect(pf_cast_rows *out);

/* RN_to(RN_via(x)) = RN_to(x) for every value x of `from`.  True only where it is proved; the proof
   is in cast_chain.c, and its test holds it against the truth. */
bool pf_cast_innocuous(const pf_format *from, const pf_format *via, const pf_format *to);
typedef bool (*pf_cast_claim)(const pf_format *from, const pf_format *via, const pf_format *to);
/* A whole chain rounds as if once from its first format to its last, if `claim` is right. */
bool pf_cast_chain_innocuous(const pf_cast_chain *c, pf_cast_claim claim);

/* --- routes -------------------------------------------------------------------------------- */

/* One conversion, and what the routes need to make it. */
typedef struct pf_cast_step {
  pf_format from, to;
  bool stored;             /* `to` is what a dtype rounds its stores to, */
  pf_dtype dtype;          /* this one; else the dtype that holds its values */
  pf_plan plan;            /* of one CAST of x to it */
  const pf_oracle *oracle;
  pf_arena *arena;         /* emptied by each route that uses it */
} pf_cast_step;

void pf_cast_step_set(pf_cast_step *s, const pf_format *from, const pf_format *to);

/* A path through the code that promises one rounding. */
typedef struct pf_cast_route {
  const char *name;
  const char *says;
  bool (*takes)(const pf_cast_step *s, double x);  /* NULL: everything */
  /* x, a value of s->from, converted; `due` is what it should give, for routes whose answer is a
     set: they return another member of it, if there is one. */
  double (*convert)(const pf_cast_step *s, double x, double due);
  bool unsigned_zero;      /* says nothing of a zero's sign */
} pf_cast_route;

extern const pf_cast_route pf_cast_routes[];  /* ends with name == NULL */

/* --- inputs -------------------------------------------------------------------------------- */

enum { PF_CAST_RECORDS = 10, PF_CAST_VALUES = 3 * PF_CAST_RECORDS };

typedef struct pf_cast_input {
  pf_cast_chain chain;
  uint64_t word[PF_CAST_RECORDS];   /* raw: encodings of any dtype */
  double value[PF_CAST_VALUES];     /* of the chain's first format */
} pf_cast_input;

/* Any bytes.  Short input repeats, each time with other words: three bytes are as many values as a
   hundred. */
void pf_cast_decode(const uint8_t *data, size_t size, const pf_cast_rows *rows,
                    pf_cast_input *out);

#endif
