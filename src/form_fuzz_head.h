/* The bytes of the fuzz form, shared by its decoder and its encoder.

   Numbers of more than one byte are little endian.  A "slot" is the low four bits of a byte: slot i
   means number i where there is one, other slots repeat some of them and are free for what comes.
   "Own" marks a byte whose two top bits are set: a tensor's own choice; else it follows the case's.

     byte     what
     0        operation; only matmul
     1        slot: graph
     2        top bit: the low six bits pick a common shape; else the sizes below hold
     3        slot: batch dimensions, 0 to 4
     4        bits 0-2 all set: x is a vector; bits 3-5: y is; bits 6-7: M = N = 1
     5, 6     x: slot, leading batch dimensions left out; own: bit i, the i-th from the right is 1
     7, 8     the same for y
     9, 10    c: slot, its rank (bits 4-5 both set: left out where optional); top bit: bit i, its
              i-th dimension from the right is 1
     11, 12   the same for bias
     13-21    M, N, K, three bytes each (form_fuzz_sizes.c)
     22-33    batch dimensions from the right, three bytes each
     34       slot: dtype; bits 4-5 both set: y's is its partner (pf_fuzz_partner)
     35       slot: kind of values
     36-44    alpha: below 0xf0 a slot among common values; else the encoding that follows,
              8 bytes f64 where x or y is, else 4 bytes f32
     45-53    beta, likewise
     54       bits 0-2 all set: addmm in place, where dtypes allow
     55       edits: below 0xc0 none, below 0xf8 one to eight by the low three bits, else byte 56
     56       edits
     57       slot: how often the limit of work is halved where sizes are free, so that most inputs
              are quick; PF_WORK_ALL and above: not at all
     58-64    scale of x, in a scaled graph:
       +0       low three bits: kind; 0xf8 and above: the scales are in the tail, not from the seed
       +1, +2   elements of a block: below 0xfc a slot (three bits) among common sizes; else the
                low two bits and byte +2, plus 1
       +3-6     seed
     65-71    scale of y, likewise
     72       slot: dtype of a scaled graph's result
     73-136   x, y, c, bias, 16 bytes each:
       +0       own: slot, dtype
       +1       own: slot, kind
       +2       own: slot, the other kind, and byte +3 its share of 256
       +3       share
       +4-7     seed
       +8-15    layout
     137-144  layout of the output

   A layout, dense unless the first byte has its top bit:
       +0       0xff: strides and offset from the tail; else bits 0 permuted, 1 padded, 2 inner
                step, 3 and 6 one dimension repeats (inputs only), 4 odd strides along sizes of
                one, 5 offset
       +1, +2   top bit: the number of the permutation, else the last two dimensions swap
       +3       padding of the innermost dimension, 1 + low four bits
       +4       inner step, 2 + low two bits
       +5       which dimension repeats
       +6       strides along sizes of one
       +7       offset, 1 + low six bits

   The tail: for each tensor in order, the output last, that asks for it: strides of 3 bytes each,
   an offset of 2.  Then the edits: role, index (3 bytes), encoding (8 bytes).  Then the elements of
   each verbatim tensor, then the scales that are there, as f32 whose sign is ignored; what is zero,
   infinite or NaN counts as one.

   The end, which is no part of what wraps around: the case's origin (origin.h), its length (2 bytes),
   and "\x89pf\x01"; where that is not to be had the input has no such end. */
#ifndef PF_FORM_FUZZ_HEAD_H
#define PF_FORM_FUZZ_HEAD_H

#include "case.h"
#include "reader.h"

enum {
  PF_HEAD_GRAPH = 1,
  PF_HEAD_SHAPE = 2,
  PF_HEAD_BATCH = 3,
  PF_HEAD_VECTORS = 4,
  PF_HEAD_X_RANK = 5,
  PF_HEAD_Y_RANK = 7,
  PF_HEAD_C_RANK = 9,
  PF_HEAD_BIAS_RANK = 11,
  PF_HEAD_SIZES = 13,
  PF_HEAD_DTYPE = 34,
  PF_HEAD_KIND = 35,
  PF_HEAD_ALPHA = 36,
  PF_HEAD_BETA = 45,
  PF_HEAD_IN_PLACE = 54,
  PF_HEAD_EDITS = 55,
  PF_HEAD_WORK = 57,
  PF_HEAD_SCALES = 58,
  PF_HEAD_SCALE_BYTES = 7,
  PF_HEAD_RESULT = 72,
  PF_HEAD_TENSORS = 73,
  PF_HEAD_TENSOR_BYTES = 16,
  PF_HEAD_LAYOUT = 8, /* in a tensor's bytes */
  PF_HEAD_OUT_LAYOUT = 137,
  PF_HEAD_BYTES = 145
};

enum {
  PF_OWN = 0xc0,
  PF_LAYOUT_EXPLICIT = 0xff,
  PF_WORK_ALL = 0xfc,
  PF_NEAR_POWERS = 0x40,
  PF_NEAR_POWERS_END = 0xc0,
  PF_SCALE_EXPLICIT = 0xf8,
  PF_FUZZ_EDITS = 255,
  PF_ORIGIN_END = 6,  /* bytes behind the text */
  PF_EDIT_BYTES = 12
};

/* Sizes as both sides count them. */
enum { PF_SIZE_M, PF_SIZE_N, PF_SIZE_K, PF_SIZE_BATCH, PF_SIZES = PF_SIZE_BATCH + PF_MAX_BATCH };

typedef struct pf_common_shape {
  int32_t batch[2];  /* from the left; 0: no such dimension */
  int32_t m, n, k;
  bool x_vector, y_vector;
} pf_common_shape;

extern const pf_common_shape pf_common_shapes[64];
extern const double pf_common_scalars[16];
extern const uint8_t pf_graph_slots[16], pf_dtype_slots[16], pf_kind_slots[16];
extern const uint8_t pf_scale_slots[8], pf_result_slots[16];
extern const uint8_t pf_batch_slots[16];  /* batch dimensions */
extern const uint8_t pf_drop_slots[16];   /* leading dimensions left out */

/* Ranks of c and bias: leading dimensions of the result left out, or only its last one kept. */
enum { PF_ADDEND_VECTOR = 255 };
extern const uint8_t pf_addend_slots[16];

/* Sizes before they become dimensions.  Batch dimensions count from the right. */
typedef struct pf_sizes {
  int x_batch, y_batch;  /* batch dimensions of each */
  bool x_vector, y_vector;
  int64_t size[PF_SIZES];
} pf_sizes;
/* work: the limit; weight: the graph's y has no batches. */
pf_sizes pf_fuzz_sizes(const uint8_t *head, int64_t work, bool weight);
/* The first byte of a K that is a power of two or beside one; -1 where none is. */
int pf_fuzz_near_power(int64_t size);

#define PF_ORIGIN_MAGIC "\x89pf\x01"

/* Where the end with the origin begins; size if there is none. */
size_t pf_fuzz_origin(const uint8_t *data, size_t size);

int pf_head_edits(const uint8_t *head);  /* how many edits the tail has */

/* Elements of storage beyond which the fuzz form has no layout but the dense one. */
int64_t pf_fuzz_storage(int64_t max_work);

/* Gives o, whose dims are set, the layout that the eight bytes at `at` describe; the dense one
   where that is beyond the limits or, but for inputs, overlaps itself. */
void pf_fuzz_layout(const uint8_t *at, pf_reader *tail, bool input, int64_t storage,
                    pf_operand *o);
void pf_fuzz_dense(pf_operand *o);
/* The dtype of y that kernels have beside x's: s8 and u8, the two fp8 of a kind; else the same. */
pf_dtype pf_fuzz_partner(pf_dtype x);
/* The dtypes that x and y of a scaled graph can have, as bits. */
uint32_t pf_fuzz_scalable(void);
/* A scale from its seven bytes, generated; then its values, where they are in the tail. */
void pf_fuzz_scale(const uint8_t *at, pf_scale *s);
pf_status pf_fuzz_scale_values(pf_reader *tail, int64_t lines, int64_t k, pf_arena *a,
                               pf_scale *s);

/* A layout that is not dense: transposed and padded where it fits, an offset in any case. */
void pf_fuzz_strided(const uint8_t *at, int64_t storage, pf_operand *o);

#endif
