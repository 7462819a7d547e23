/* What the reductions share. */
#ifndef PF_REDUCE_PARTS_H
#define PF_REDUCE_PARTS_H

#include "reduce.h"

/* A run of things. */
typedef struct pf_piece {
  int64_t from, length;
} pf_piece;

/* n things in one piece, in two, in four, ... down to single ones. */
int64_t pf_pieces_count(int64_t n);
pf_piece pf_pieces_at(int64_t n, int64_t index);

/* Ways to a simpler value; which of them are simpler, and different, depends on the value. */
enum { PF_SIMPLER_VALUES = 13 };
/* False where that way gives nothing simpler. */
bool pf_simpler_value(pf_dtype t, uint64_t bits, int how, uint64_t *out);

/* Spells out every element and scale, bit for bit as a problem would hold them. */
pf_status pf_case_spell(const pf_case *c, pf_arena *a, pf_case *out);
/* The other way: the fewest bytes that say the same, `told` or ones with edits among them. */
pf_status pf_case_tell(const pf_values told[PF_OUT], pf_arena *a, pf_case *spelled);

/* Strides follow the sizes again where the layout was plain before they changed. */
void pf_operand_relax(pf_operand *o, bool was_dense);

/* reduce_sizes.c: part is a dimension of the matmul: M, N, K, or a batch dimension from the
   right. */
enum { PF_AXIS_M, PF_AXIS_N, PF_AXIS_K, PF_AXIS_BATCH, PF_AXES = PF_AXIS_BATCH + PF_MAX_BATCH };
int64_t pf_cut_count(const pf_case *c, int axis);
pf_status pf_cut_make(int axis, int64_t index, pf_arena *a, pf_case *c);
/* Dimensions of size 1 left out, of all tensors (part is not used) or of an operand. */
int64_t pf_rank_count(const pf_case *c, int part);
pf_status pf_rank_make(int part, int64_t index, pf_arena *a, pf_case *c);
/* An operand's dimension that broadcasts instead. */
int64_t pf_share_count(const pf_case *c, int role);
pf_status pf_share_make(int role, int64_t index, pf_arena *a, pf_case *c);

/* reduce_layout.c: part is a role. */
int64_t pf_layout_count(const pf_case *c, int role);
pf_status pf_layout_make(int role, int64_t index, pf_arena *a, pf_case *c);

/* reduce_plain.c: alpha and beta, bias, scales, dtypes. */
int64_t pf_scalar_count(const pf_case *c, int is_beta);
pf_status pf_scalar_make(int is_beta, int64_t index, pf_arena *a, pf_case *c);
int64_t pf_bias_count(const pf_case *c, int part);
pf_status pf_bias_make(int part, int64_t index, pf_arena *a, pf_case *c);
int64_t pf_scale_ways(const pf_case *c, int role);
pf_status pf_scale_make(int role, int64_t index, pf_arena *a, pf_case *c);
int64_t pf_dtype_ways(const pf_case *c, int part);
pf_status pf_dtype_make(int part, int64_t index, pf_arena *a, pf_case *c);

/* reduce_values.c: part is a role. */
int64_t pf_values_count(const pf_case *c, int role);
pf_status pf_values_make(int role, int64_t index, pf_arena *a, pf_case *c);

#endif
