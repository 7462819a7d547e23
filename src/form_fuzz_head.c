/* Tables and small numbers of the fuzz form.  Their order is the meaning of corpora: free slots may
   be given to something new, nothing else may move. */
#include "form_fuzz_head.h"

/* Libraries choose kernels, and cache them, by shape: these come back often enough to meet a cache,
   and sit where kernels change: vector lengths, block sizes, and one beside. */
const pf_common_shape pf_common_shapes[64] = {
  {{32, 7}, 1, 1, 8, 0, 0},     /* the script that began all this */
  {{0}, 1, 1, 1, 0, 0},         {{0}, 2, 3, 2, 0, 0},         {{0}, 3, 3, 3, 0, 0},
  {{0}, 4, 4, 4, 0, 0},         {{0}, 5, 6, 7, 0, 0},         {{0}, 8, 8, 8, 0, 0},
  {{0}, 16, 16, 16, 0, 0},
  /* tall, wide, outer products */
  {{0}, 128, 1, 4, 0, 0},       {{0}, 64, 1, 8, 0, 0},        {{0}, 70, 1, 16, 0, 0},
  {{0}, 1, 128, 4, 0, 0},       {{0}, 1, 64, 8, 0, 0},        {{0}, 1, 70, 16, 0, 0},
  {{0}, 9, 8, 1, 0, 0},         {{0}, 33, 2, 1, 0, 0},        {{0}, 2, 33, 4, 0, 0},
  /* matrix times vector, vector times matrix, dot products */
  {{0}, 16, 1, 32, 0, 1},       {{0}, 65, 1, 9, 0, 1},        {{0}, 1, 16, 32, 1, 0},
  {{0}, 1, 65, 9, 1, 0},        {{0}, 1, 1, 16, 1, 1},        {{0}, 1, 1, 257, 1, 1},
  {{0}, 1, 1, 100, 1, 1},       {{4}, 1, 9, 12, 1, 0},        {{4}, 9, 1, 12, 0, 1},
  /* tails along K */
  {{0}, 3, 3, 5, 0, 0},         {{0}, 3, 3, 7, 0, 0},         {{0}, 3, 3, 9, 0, 0},
  {{0}, 2, 5, 15, 0, 0},        {{0}, 2, 5, 17, 0, 0},        {{0}, 4, 3, 31, 0, 0},
  {{0}, 4, 3, 33, 0, 0},        {{0}, 2, 2, 63, 0, 0},        {{0}, 2, 2, 65, 0, 0},
  {{0}, 1, 3, 127, 0, 0},       {{0}, 1, 3, 129, 0, 0},       {{0}, 2, 1, 255, 0, 0},
  {{0}, 2, 1, 257, 0, 0},
  /* tails along M and N */
  {{0}, 7, 9, 8, 0, 0},         {{0}, 17, 9, 4, 0, 0},        {{0}, 6, 16, 4, 0, 0},
  {{0}, 65, 2, 8, 0, 0},        {{0}, 2, 65, 8, 0, 0},        {{0}, 9, 1, 16, 0, 0},
  {{0}, 1, 9, 16, 0, 0},
  /* one product of two vectors, short to long */
  {{0}, 1, 1, 8, 0, 0},         {{0}, 1, 1, 64, 0, 0},        {{0}, 1, 1, 256, 0, 0},
  {{0}, 1, 1, 129, 0, 0},       {{0}, 1, 1, 1024, 0, 0},
  /* long sums */
  {{0}, 4, 4, 100, 0, 0},       {{0}, 2, 3, 300, 0, 0},       {{0}, 8, 8, 129, 0, 0},
  /* batches */
  {{2}, 3, 4, 5, 0, 0},         {{8}, 2, 2, 8, 0, 0},         {{32}, 1, 1, 16, 0, 0},
  {{2, 3}, 2, 3, 6, 0, 0},      {{2, 4}, 2, 3, 16, 0, 0},     {{1, 1}, 5, 4, 14, 0, 0},
  {{3}, 9, 1, 17, 0, 0},
  /* nothing to add up, nothing to compute */
  {{0}, 3, 4, 0, 0, 0},         {{0}, 0, 4, 3, 0, 0},         {{2}, 4, 0, 3, 0, 0},
};

const double pf_common_scalars[16] = {
  1, 1, 1, 1, 0, -1, 2, 0.5, 0x1.99999ap-4, -0.5, 3, 0x1p100, 0x1p-100, 0x1p-24, 0x1.000002p0, -0.0,
};

const uint8_t pf_graph_slots[16] = {
  PF_MATMUL_OUT_F32_ADD, PF_MATMUL_ADD, PF_MATMUL_CAST_F32_ADD, PF_MATMUL_PLAIN,
  PF_LINEAR,             PF_ADDMM,      PF_SCALED_MATMUL,       PF_MATMUL_ADD,
  PF_MATMUL_CAST_F32_ADD, PF_MATMUL_PLAIN, PF_LINEAR,           PF_ADDMM,
  PF_MATMUL_OUT_F32_ADD, PF_ADDMM,      PF_LINEAR,              PF_MATMUL_OUT_F32_ADD,
};

const uint8_t pf_dtype_slots[16] = {
  PF_F64, PF_F32, PF_F16, PF_BF16, PF_F8_E4M3FN, PF_F8_E5M2, PF_F8_E4M3FNUZ, PF_F8_E5M2FNUZ,
  PF_S8, PF_U8, PF_S32, PF_F64, PF_BF16, PF_F16, PF_BF16, PF_F32,
};

const uint8_t pf_scale_slots[8] = {
  PF_SCALE_NONE, PF_SCALE_TENSOR, PF_SCALE_ROW, PF_SCALE_BLOCK,
  PF_SCALE_TENSOR, PF_SCALE_ROW, PF_SCALE_BLOCK, PF_SCALE_TENSOR,
};

const uint8_t pf_result_slots[16] = {
  PF_F32, PF_BF16, PF_F16, PF_F8_E4M3FN, PF_F8_E5M2, PF_F8_E4M3FNUZ, PF_F8_E5M2FNUZ, PF_F32,
  PF_BF16, PF_F16, PF_F32, PF_BF16, PF_F32, PF_BF16, PF_F8_E4M3FN, PF_F16,
};

const uint8_t pf_kind_slots[16] = {
  PF_NORMAL, PF_BITS, PF_CORNER, PF_INTEGER, PF_CANCEL, PF_EQUAL, PF_MIDPOINT, PF_WIDE,
  PF_SUBNORMAL, PF_VERBATIM, PF_NORMAL, PF_INTEGER, PF_CANCEL, PF_MIDPOINT, PF_NORMAL, PF_CORNER,
};

const uint8_t pf_batch_slots[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4};
const uint8_t pf_drop_slots[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4};
const uint8_t pf_addend_slots[16] = {
  0, 0, 0, 0, 0, 0, PF_ADDEND_VECTOR, PF_ADDEND_VECTOR, PF_ADDEND_VECTOR, PF_ADDEND_VECTOR,
  1, 2, 3, 4, 5, 6,
};

pf_dtype pf_fuzz_partner(pf_dtype x)
{
  switch (x) {
  case PF_S8: return PF_U8;
  case PF_U8: return PF_S8;
  case PF_F8_E4M3FN: return PF_F8_E5M2;
  case PF_F8_E5M2: return PF_F8_E4M3FN;
  case PF_F8_E4M3FNUZ: return PF_F8_E5M2FNUZ;
  case PF_F8_E5M2FNUZ: return PF_F8_E4M3FNUZ;
  default: return x;
  }
}

int64_t pf_fuzz_storage(int64_t max_work)
{
  const int64_t limit = 4 * max_work + PF_MAX_OFFSET;
  return limit < PF_MAX_STORAGE ? limit : PF_MAX_STORAGE;
}

int pf_head_edits(const uint8_t *head)
{
  const uint8_t code = head[PF_HEAD_EDITS];
  return code < 0xc0 ? 0 : code < 0xf8 ? 1 + (code & 7) : head[PF_HEAD_EDITS + 1];
}
