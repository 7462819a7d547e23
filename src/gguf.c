/* The GGUF reader.

   The claim for strangers' files: a parsed file's tensors with data lie inside the file and apart
   from each other; each has the bytes that its type and shape need; names are unique and UTF-8.
   Every length is held against what is left of the file before it is used. */
#include "gguf.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC "GGUF"

enum {
  MAGIC_LENGTH = 4,
  MAX_DIMS = 4,            /* the format's limit */
  MAX_NESTING = 4,         /* of arrays in values */
  ALIGNMENT = 32,          /* where the file does not say */
  MAX_ALIGNMENT = 1 << 20,
  LEAST_TENSOR = 24        /* bytes of a description without a name or a size */
};

typedef struct gguf_type {
  unsigned number;
  const char *name;
  int block, bytes;        /* elements, bytes of a block */
  const char *own;         /* the pf_dtype's name; NULL: we have none */
} gguf_type;

static const gguf_type types[] = {
  {0, "F32", 1, 4, "f32"},   {1, "F16", 1, 2, "f16"},   {2, "Q4_0", 32, 18, NULL},
  {3, "Q4_1", 32, 20, NULL}, {6, "Q5_0", 32, 22, NULL}, {7, "Q5_1", 32, 24, NULL},
  {8, "Q8_0", PF_Q8_0_BLOCK, PF_Q8_0_BYTES, NULL},
  {10, "Q2_K", 256, 84, NULL},  {11, "Q3_K", 256, 110, NULL}, {12, "Q4_K", 256, 144, NULL},
  {13, "Q5_K", 256, 176, NULL}, {14, "Q6_K", 256, 210, NULL}, {15, "Q8_K", 256, 292, NULL},
  {24, "I8", 1, 1, "s8"},    {25, "I16", 1, 2, NULL},   {26, "I32", 1, 4, "s32"},
  {27, "I64", 1, 8, NULL},   {28, "F64", 1, 8, "f64"},  {30, "BF16", 1, 2, "bf16"},
};

typedef struct scanner {
  pf_tensor_file *file;
  size_t at;
  size_t alignment;
  pf_tensor_entry *entry;
  size_t *place;           /* of each tensor's description */
  uint64_t *offset;        /* of each tensor's data, from where the data begin */
  pf_error *error;
} scanner;

static pf_status bad(const scanner *s, size_t at, const char *why)
{
  return pf_fail(s->error, PF_BAD_INPUT, at, "gguf: %s", why);
}

static pf_status bad_tensor(const scanner *s, size_t i, const char *why)
{
  const char *name = s->entry[i].name;
  return pf_fail(s->error, PF_BAD_INPUT, s->place[i], "gguf: tensor '%s': %s",
                 pf_quote(name, strlen(name)).text, why);
}

static size_t left(const scanner *s)
{
  return s->file->size - s->at;
}

/* bytes: 4 or 8, little endian. */
static pf_status read_number(scanner *s, int bytes, const char *what, uint64_t *out)
{
  *out = 0;
  if (left(s) < (size_t)bytes)
    return pf_fail(s->error, PF_BAD_INPUT, s->at, "gguf: the file ends in %s", what);
  for (int i = 0; i < bytes; i++)
    *out |= (uint64_t)s->file->data[s->at++] << 8 * i;
  return PF_OK;
}

/* The bytes of a string, which begin at s->at - *length then. */
static pf_status skip_string(scanner *s, const char *what, size_t *length)
{
  const size_t start = s->at;
  uint64_t n;
  *length = 0;
  PF_TRY(read_number(s, 8, what, &n));
  if (n > left(s))
    return pf_fail(s->error, PF_BAD_INPUT, start, "gguf: %s of %llu bytes in a file of %zu", what,
                   (unsigned long long)n, s->file->size);
  s->at += (size_t)n;
  *length = (size_t)n;
  return PF_OK;
}

/* --- keys and values ----------------------------------------------------------------------- */

enum { TYPE_U32 = 4, TYPE_STRING = 8, TYPE_ARRAY = 9, TYPES = 13 };

static const uint8_t value_bytes[TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

static pf_status read_type(scanner *s, unsigned *out)
{
  const size_t start = s->at;
  uint64_t type;
  *out = 0;
  PF_TRY(read_number(s, 4, "a value's type", &type));
  if (type >= TYPES)
    return pf_fail(s->error, PF_BAD_INPUT, start, "gguf: a value of type %llu, known are 0..%d",
                   (unsigned long long)type, TYPES - 1);
  *out = (unsigned)type;
  return PF_OK;
}

static pf_status skip_value(scanner *s, unsigned type, int depth);

static pf_status skip_array(scanner *s, int depth)
{
  const size_t start = s->at;
  unsigned type;
  uint64_t count;
  if (depth == MAX_NESTING)
    return bad(s, start, "arrays nested too deeply");
  PF_TRY(read_type(s, &type));
  PF_TRY(read_number(s, 8, "an array", &count));
  if (value_bytes[type] > 0) {
    if (count > left(s) / value_bytes[type])
      return bad(s, start, "an array longer than the file");
    s->at += (size_t)count * value_bytes[type];
    return PF_OK;
  }
  for (uint64_t i = 0; i < count; i++)
    PF_TRY(skip_value(s, type, depth + 1));
  return PF_OK;
}

static pf_status skip_value(scanner *s, unsigned type, int depth)
{
  size_t length;
  if (type == TYPE_STRING)
    return skip_string(s, "a string", &length);
  if (type == TYPE_ARRAY)
    return skip_array(s, depth);
  if (left(s) < value_bytes[type])
    return bad(s, s->at, "the file ends in a value");
  s->at += value_bytes[type];
  return PF_OK;
}

static pf_status read_alignment(scanner *s, unsigned type)
{
  const size_t start = s->at;
  uint64_t n;
  if (type != TYPE_U32)
    return bad(s, start, "general.alignment is not of type u32");
  PF_TRY(read_number(s, 4, "general.alignment", &n));
  if (n == 0 || n > MAX_ALIGNMENT || (n & (n - 1)) != 0)
    return pf_fail(s->error, PF_BAD_INPUT, start, "gguf: an alignment of %llu bytes",
                   (unsigned long long)n);
  s->alignment = (size_t)n;
  return PF_OK;
}

static pf_status read_pair(scanner *s)
{
  static const char alignment[] = "general.alignment";
  size_t length;
  unsigned type;
  PF_TRY(skip_string(s, "a key", &length));
  const uint8_t *key = s->file->data + s->at - length;
  PF_TRY(read_type(s, &type));
  if (length == sizeof alignment - 1 && memcmp(key, alignment, length) == 0)
    return read_alignment(s, type);
  return skip_value(s, type, 0);
}

/* --- tensors ------------------------------------------------------------------------------- */

static pf_status read_dims(scanner *s, size_t i, int *rank, int64_t *dim)
{
  const size_t start = s->at;
  uint64_t n, size;
  *rank = 0;
  PF_TRY(read_number(s, 4, "a tensor's sizes", &n));
  if (n > MAX_DIMS)
    return pf_fail(s->error, PF_BAD_INPUT, start, "gguf: a tensor of %llu dimensions, at most %d",
                   (unsigned long long)n, MAX_DIMS);
  *rank = (int)n;
  for (int d = *rank - 1; d >= 0; d--) { /* the first one is that of neighbours */
    PF_TRY(read_number(s, 8, "a tensor's sizes", &size));
    if (size > INT64_MAX)
      return bad_tensor(s, i, "shape too large");
    dim[d] = (int64_t)size;
  }
  return PF_OK;
}

static const gguf_type *find_type(unsigned number)
{
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (types[i].number == number)
      return &types[i];
  return NULL;
}

/* Blocks run along the neighbours, so whole blocks are whole rows. */
static pf_status set_type(scanner *s, size_t i, const gguf_type *type, int rank,
                          const int64_t *dim)
{
  pf_tensor_entry *t = &s->entry[i];
  if (!pf_tensor_set_shape(t, 8, rank, dim))
    return bad_tensor(s, i, "shape too large");
  const int64_t row = rank > 0 ? dim[rank - 1] : 1;
  int64_t bytes;
  t->dtype_name = type != NULL ? type->name : "of an unknown type";
  t->bytes = 0;
  if (type == NULL)
    return PF_OK;
  if (row % type->block != 0)
    return pf_fail(s->error, PF_BAD_INPUT, s->place[i],
                   "gguf: tensor '%s': rows of %lld elements are not of whole blocks of %d",
                   pf_quote(t->name, strlen(t->name)).text, (long long)row, type->block);
  if (__builtin_mul_overflow(t->elements / type->block, (int64_t)type->bytes, &bytes))
    return bad_tensor(s, i, "shape too large");
  t->bytes = (size_t)bytes;
  t->has_dtype = type->own != NULL && pf_dtype_find(type->own, strlen(type->own), &t->dtype);
  return PF_OK;
}

static pf_status read_tensor(scanner *s, size_t i)
{
  int64_t dim[MAX_DIMS];
  size_t length;
  uint64_t type;
  int rank;
  s->place[i] = s->at;
  PF_TRY(skip_string(s, "a tensor's name", &length));
  PF_TRY(pf_tensor_text(s->file, s->at - length, length, "a tensor's name", &s->entry[i].name,
                        s->error));
  PF_TRY(read_dims(s, i, &rank, dim));
  PF_TRY(read_number(s, 4, "a tensor's type", &type));
  PF_TRY(set_type(s, i, find_type((unsigned)type), rank, dim));
  return read_number(s, 8, "a tensor's offset", &s->offset[i]);
}

static pf_status set_place(scanner *s, size_t i)
{
  pf_tensor_entry *t = &s->entry[i];
  const size_t room = left(s);
  if (s->offset[i] % s->alignment != 0)
    return bad_tensor(s, i, "its data are not aligned");
  if (s->offset[i] > room || t->bytes > room - (size_t)s->offset[i])
    return bad_tensor(s, i, "its data run past the end of the file");
  t->offset = s->at + (size_t)s->offset[i];
  t->data = s->file->data + t->offset;
  return PF_OK;
}

/* Empty tensors before the one that begins where they lie. */
static int by_place(const void *a, const void *b, void *entries)
{
  const pf_tensor_entry *x = (const pf_tensor_entry *)entries + *(const size_t *)a;
  const pf_tensor_entry *y = (const pf_tensor_entry *)entries + *(const size_t *)b;
  if (x->offset != y->offset)
    return x->offset < y->offset ? -1 : 1;
  return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static pf_status check_places(scanner *s)
{
  const size_t count = s->file->count;
  size_t *order = pf_alloc_array(&s->file->memory, count, sizeof *order);
  if (order == NULL)
    return pf_fail(s->error, PF_NO_MEMORY, 0, "gguf: not enough memory for the header");
  for (size_t i = 0; i < count; i++)
    order[i] = i;
  qsort_r(order, count, sizeof *order, by_place, s->entry);
  for (size_t i = 1; i < count; i++) {
    const pf_tensor_entry *before = &s->entry[order[i - 1]];
    if (before->offset + before->bytes > s->entry[order[i]].offset)
      return bad_tensor(s, order[i], "its data overlap those of another tensor");
  }
  return PF_OK;
}

/* --- the file ------------------------------------------------------------------------------ */

static pf_status read_head(scanner *s, uint64_t *tensors, uint64_t *pairs)
{
  uint64_t version;
  if (!pf_gguf_is(s->file->data, s->file->size))
    return bad(s, 0, "does not begin with GGUF");
  s->at = MAGIC_LENGTH;
  PF_TRY(read_number(s, 4, "the version", &version));
  if ((version & 0xffff) == 0 && version != 0)
    return pf_fail(s->error, PF_UNSUPPORTED, MAGIC_LENGTH, "gguf: big endian");
  if (version < 2 || version > 3)
    return pf_fail(s->error, PF_UNSUPPORTED, MAGIC_LENGTH, "gguf: version %llu",
                   (unsigned long long)version);
  PF_TRY(read_number(s, 8, "the number of tensors", tensors));
  PF_TRY(read_number(s, 8, "the number of keys", pairs));
  if (*tensors > left(s) / LEAST_TENSOR)
    return pf_fail(s->error, PF_BAD_INPUT, MAGIC_LENGTH + 4,
                   "gguf: %llu tensors in a file of %zu bytes", (unsigned long long)*tensors,
                   s->file->size);
  return PF_OK;
}

static pf_status read_tensors(scanner *s, size_t count)
{
  pf_tensor_file *f = s->file;
  s->entry = pf_alloc_array(&f->memory, count, sizeof *s->entry);
  s->place = pf_alloc_array(&f->memory, count, sizeof *s->place);
  s->offset = pf_alloc_array(&f->memory, count, sizeof *s->offset);
  if (s->entry == NULL || s->place == NULL || s->offset == NULL)
    return pf_fail(s->error, PF_NO_MEMORY, 0, "gguf: not enough memory for the header");
  f->entry = s->entry;
  f->count = count;
  for (size_t i = 0; i < count; i++)
    PF_TRY(read_tensor(s, i));
  const size_t gap = (s->alignment - s->at % s->alignment) % s->alignment;
  s->at += gap < left(s) ? gap : left(s); /* a file without data may end before the gap */
  for (size_t i = 0; i < count; i++)
    PF_TRY(set_place(s, i));
  PF_TRY(check_places(s));
  return pf_tensor_index(f, s->place, s->error);
}

static pf_status read_file(scanner *s)
{
  uint64_t tensors = 0, pairs = 0;
  PF_TRY(read_head(s, &tensors, &pairs));
  for (uint64_t i = 0; i < pairs; i++)
    PF_TRY(read_pair(s));
  return read_tensors(s, (size_t)tensors);
}

bool pf_gguf_is(const void *data, size_t size)
{
  return size >= MAGIC_LENGTH && memcmp(data, MAGIC, MAGIC_LENGTH) == 0;
}

bool pf_gguf_is_q8_0(const pf_tensor_entry *t)
{
  return strcmp(t->dtype_name, "Q8_0") == 0;
}

pf_status pf_gguf_parse(const void *data, size_t size, pf_tensor_file *out, pf_error *e)
{
  *out = (pf_tensor_file){.format = "gguf", .data = data, .size = size};
  scanner s = {.file = out, .alignment = ALIGNMENT, .error = e};
  const pf_status status = read_file(&s);
  if (status != PF_OK)
    pf_tensor_file_close(out);
  return status;
}
