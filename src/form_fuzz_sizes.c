/* Sizes of the fuzz form: free ones from three bytes each, every value expressible, small ones
   frequent, zero rare; or those of a common shape. */
#include "form_fuzz_head.h"

/* Any size below 2^18. */
static int64_t wide_size(const uint8_t *at)
{
  return (at[0] & 3) << 16 | at[1] << 8 | at[2];
}

/* Widths of tiles, and one beside. */
static const uint8_t tiles[16] = {16, 17, 15, 32, 33, 31, 64, 65, 63, 70, 16, 17, 32, 33, 24, 0};

/* M, N: mostly small, widths of tiles up to 70. */
static int64_t size_of(const uint8_t *at)
{
  if (at[0] < 0x60)
    return 1 + (at[0] & 3);
  if (at[0] < 0xb0)
    return 1 + (at[0] & 7);
  if (at[0] < 0xf0)
    return 1 + (at[0] & 15);
  if (at[0] < 0xfc)
    return tiles[at[1] & 15];
  return wide_size(at);
}

/* A power of two from 4 to 256, or one beside. */
static int64_t near_power(uint8_t code)
{
  static const int8_t beside[4] = {0, 1, -1, 0};
  static const uint8_t power[8] = {4, 3, 6, 5, 2, 5, 7, 8};
  return (1 << power[code >> 2 & 7]) + beside[code & 3];
}

int pf_fuzz_near_power(int64_t size)
{
  for (int code = PF_NEAR_POWERS; code < PF_NEAR_POWERS_END; code++)
    if (near_power((uint8_t)code) == size)
      return code;
  return -1;
}

/* K: half of them near powers of two. */
static int64_t sum_size_of(const uint8_t *at)
{
  if (at[0] < PF_NEAR_POWERS)
    return 1 + at[0];
  if (at[0] < PF_NEAR_POWERS_END)
    return near_power(at[0]);
  if (at[0] < 0xd0)
    return at[0] - 0xc0;
  /* log-uniform: a shift by 2 to 12 */
  if (at[0] < 0xfc)
    return 1 + ((at[1] << 8 | at[2]) >> (2 + at[0] % 11));
  return wide_size(at);
}

/* Mostly 1 or 2. */
static int64_t batch_size_of(const uint8_t *at)
{
  if (at[0] < 0xa0)
    return 1 + (at[0] & 1);
  if (at[0] < 0xe0)
    return 1 + (at[0] & 3);
  if (at[0] < 0xf0)
    return 1 + (at[0] & 15);
  if (at[0] < 0xfc)
    return at[0] - 0xf0;
  return wide_size(at);
}

/* Zero bytes are what fuzzers like best: neither the slowest nor the poorest cases. */
static const uint8_t work_halvings[16] = {4, 4, 4, 5, 4, 3, 4, 5, 4, 3, 4, 4, 4, 5, 3, 2};

/* Of the limit of work. */
static int halvings_of(uint8_t code)
{
  return code < PF_WORK_ALL ? work_halvings[code & 15] : 0;
}

/* Halves the greatest size until the work and each tensor are within the limits. */
static void clamp(int64_t work, int64_t size[PF_SIZES])
{
  const int64_t most = PF_MAX_STORAGE - PF_MAX_OFFSET;
  for (;;) {
    const int64_t volume = pf_volume(PF_SIZES, size);
    bool fits = volume <= work;
    for (int i = PF_SIZE_M; fits && i <= PF_SIZE_K; i++)
      fits = volume / (size[i] > 1 ? size[i] : 1) <= most;
    if (fits)
      return;
    int greatest = 0;
    for (int i = 1; i < PF_SIZES; i++)
      if (size[i] > size[greatest])
        greatest = i;
    size[greatest] /= 2;
  }
}

static void free_sizes(const uint8_t *head, pf_sizes *z, int *batch_rank)
{
  const uint8_t *at = head + PF_HEAD_SIZES;
  const bool dot = head[PF_HEAD_VECTORS] >> 6 == 3;
  for (int i = 0; i < PF_SIZES; i++, at += 3)
    z->size[i] = i == PF_SIZE_K      ? sum_size_of(at)
                 : i > PF_SIZE_K     ? batch_size_of(at)
                 : dot               ? 1
                                     : size_of(at);
  z->x_vector = (head[PF_HEAD_VECTORS] & 7) == 7;
  z->y_vector = (head[PF_HEAD_VECTORS] >> 3 & 7) == 7;
  *batch_rank = pf_batch_slots[head[PF_HEAD_BATCH] & 15];
}

static void common_sizes(uint8_t byte, pf_sizes *z, int *batch_rank)
{
  const pf_common_shape *s = &pf_common_shapes[byte & 63];
  z->size[PF_SIZE_M] = s->m;
  z->size[PF_SIZE_N] = s->n;
  z->size[PF_SIZE_K] = s->k;
  z->x_vector = s->x_vector;
  z->y_vector = s->y_vector;
  *batch_rank = 0;
  for (int i = 1; i >= 0; i--)
    if (s->batch[i] > 0)
      z->size[PF_SIZE_BATCH + (*batch_rank)++] = s->batch[i];
}

static int kept_batch(int batch_rank, uint8_t byte)
{
  const int drop = pf_drop_slots[byte & 15];
  return drop < batch_rank ? batch_rank - drop : 0;
}

/* Where the limit of work is a lower one, results get an eighth of it, long sums the rest. */
static void clamp_sizes(const uint8_t *head, int64_t limit, bool free, int64_t size[PF_SIZES])
{
  const int halvings = free ? halvings_of(head[PF_HEAD_WORK]) : 0;
  const int64_t less = limit >> halvings, work = less > 0 ? less : 1, k = size[PF_SIZE_K];
  if (halvings > 0) {
    size[PF_SIZE_K] = 1;
    clamp(work < 8 ? 1 : work / 8, size);
    size[PF_SIZE_K] = k;
  }
  clamp(work, size);
}

pf_sizes pf_fuzz_sizes(const uint8_t *head, int64_t work, bool weight)
{
  pf_sizes z = {0};
  const bool free = !(head[PF_HEAD_SHAPE] & 0x80);
  int batch_rank;
  if (free)
    free_sizes(head, &z, &batch_rank);
  else
    common_sizes(head[PF_HEAD_SHAPE], &z, &batch_rank);
  z.x_batch = z.x_vector ? 0 : kept_batch(batch_rank, head[PF_HEAD_X_RANK]);
  z.y_batch = z.y_vector || weight ? 0 : kept_batch(batch_rank, head[PF_HEAD_Y_RANK]);
  if (z.x_vector)
    z.size[PF_SIZE_M] = 1;
  if (z.y_vector)
    z.size[PF_SIZE_N] = 1;
  batch_rank = z.x_batch > z.y_batch ? z.x_batch : z.y_batch;
  for (int i = batch_rank; i < PF_MAX_BATCH; i++)
    z.size[PF_SIZE_BATCH + i] = 1;
  clamp_sizes(head, work, free, z.size);
  return z;
}
