/* What a rule is worth: how often it rejects results that are correct, and how often it passes
   results that are not.  Measured, on drawn cases of one dtype, row and K. */
#ifndef PF_TOLERANCE_TABLE_H
#define PF_TOLERANCE_TABLE_H

#include "known_rules.h"

enum {
  PF_TABLE_SIDE = 8,                     /* M and N of the cases */
  PF_TABLE_RULES = 1 + PF_KNOWN_RULES,   /* the contract first */
  PF_TABLE_FAULTS = 64
};

typedef struct pf_tolerance_ask {
  pf_dtype dtype;          /* of x, y, c and bias */
  int64_t k;               /* 1 to PF_MAX_SIZE */
  pf_graph graph;
  const char *strategy;    /* its name; also of a row given as text */
  const char *text;        /* that row's text, or NULL: the row of that name */
  int64_t count;           /* cases of each kind of data */
  uint64_t seed;
} pf_tolerance_ask;

typedef struct pf_share {
  int64_t hits, of;
} pf_share;

/* A planted fault: an engine, or the row with its last rounding toward zero. */
typedef struct pf_table_fault {
  const char *name;               /* "M01", "truncation" */
  const pf_engine *engine;
  pf_share passed[PF_TABLE_RULES];  /* of the results that differ from the correct kernel's */
} pf_table_fault;

/* One kind of data. */
typedef struct pf_tolerance_data {
  pf_kind kind;
  double share_median, share_95;  /* of the enclosures' radius over S, the sum of absolute terms */
  double ulps_median, ulps_95;    /* of the radius in ulp of the output at the exact value */
  pf_share tensors[PF_TABLE_RULES];   /* correct results rejected, as a whole */
  pf_share elements[PF_TABLE_RULES];  /* and element by element; of: 0 for rules that have none */
  pf_table_fault fault[PF_TABLE_FAULTS];
  int faults;
  pf_share passed[PF_TABLE_RULES];    /* over all faults */
} pf_tolerance_data;

enum { PF_TABLE_DATA = 2 };  /* PF_NORMAL and PF_CANCEL */

typedef struct pf_tolerance_table {
  pf_dtype out;                   /* dtype of the output */
  pf_format format;
  bool covered[PF_TABLE_RULES];   /* false: the suite has no rule for such an output */
  pf_rule rule[PF_TABLE_RULES];   /* where it is one of the familiar kinds */
  int orders;                     /* correct results of a case */
  pf_tolerance_data data[PF_TABLE_DATA];
} pf_tolerance_table;

/* The rule's name: "contract", "PyTorch". */
const char *pf_table_rule_name(int rule);

/* Measures.  Correct results are those of all reference engines; a fault counts where its result
   differs from that of the kernel that it was planted in.  Every result is held against the
   enclosure of an engine that states no order.  progress, which may be NULL, is called after each
   case.  PF_NO_MEMORY; PF_BAD_INPUT with an error where the row does not suit the graph or dtype;
   PF_UNSUPPORTED with one where it cannot be run. */
pf_status pf_tolerance_measure(const pf_tolerance_ask *ask, const pf_oracle *oracle,
                               void (*progress)(void *user, int64_t done, int64_t of), void *user,
                               pf_tolerance_table *out, pf_error *e);

#endif
