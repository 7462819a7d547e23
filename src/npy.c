/* The .npy reader.

   The header is the repr of a dict with the keys 'descr', 'fortran_order' and 'shape'.  Of Python
   only what such a dict can hold is read: strings without escapes, True, False, a tuple of decimal
   numbers.  A file must end where its array ends. */
#include "npy.h"

#include <stdio.h>
#include <string.h>

#define MAGIC "\x93NUMPY"

enum {
  MAGIC_LENGTH = 6,
  HEADER_MAX = 10000 /* bytes; NumPy's own limit */
};

typedef struct npy_dtype {
  const char *descr;
  int bits;
  const char *own;  /* the pf_dtype's name; NULL: we have none */
} npy_dtype;

/* V holds raw bytes; f1 is what the package ml_dtypes writes for its float8_e5m2, and nothing that
   NumPy knows. */
static const npy_dtype dtypes[] = {
  {"<f8", 64, "f64"}, {"<f4", 32, "f32"}, {"<f2", 16, "f16"}, {"|i1", 8, "s8"},
  {"|u1", 8, "u8"},   {"<i4", 32, "s32"}, {"<i2", 16, NULL},  {"<i8", 64, NULL},
  {"<u2", 16, NULL},  {"<u4", 32, NULL},  {"<u8", 64, NULL},  {"|b1", 8, NULL},
  {"<c8", 64, NULL},  {"<c16", 128, NULL}, {"|V1", 8, NULL},  {"|V2", 16, NULL},
  {"|V4", 32, NULL},  {"|V8", 64, NULL},  {"<f1", 8, NULL},
};

enum { DTYPES = sizeof dtypes / sizeof dtypes[0] };

typedef struct scanner {
  const uint8_t *data;  /* the file */
  size_t at, end;       /* what is left of the header */
  pf_error *error;
} scanner;

typedef struct header {
  const npy_dtype *dtype;
  bool fortran_order;
  int rank;
  int64_t dim[PF_TENSOR_MAX_RANK];
} header;

static pf_status bad(const scanner *s, size_t at, const char *why)
{
  return pf_fail(s->error, PF_BAD_INPUT, at, "npy: header: %s", why);
}

static void skip_blanks(scanner *s)
{
  while (s->at < s->end && s->data[s->at] == ' ')
    s->at++;
}

static bool accept(scanner *s, const char *token)
{
  const size_t length = strlen(token);
  skip_blanks(s);
  if (s->end - s->at < length || memcmp(s->data + s->at, token, length) != 0)
    return false;
  s->at += length;
  return true;
}

typedef struct span {
  const char *text;
  size_t length;
} span;

static bool span_is(span s, const char *text)
{
  return s.length == strlen(text) && memcmp(s.text, text, s.length) == 0;
}

static pf_status read_string(scanner *s, span *out)
{
  skip_blanks(s);
  const size_t start = s->at;
  const uint8_t quote = s->at < s->end ? s->data[s->at] : 0;
  if (quote != '\'' && quote != '"')
    return bad(s, start, "expected a string in quotes");
  for (s->at++; s->at < s->end && s->data[s->at] != quote; s->at++)
    if (s->data[s->at] < ' ' || s->data[s->at] > '~' || s->data[s->at] == '\\')
      return bad(s, s->at, "a character that no descr needs");
  if (s->at == s->end)
    return bad(s, start, "a string without an end");
  *out = (span){(const char *)s->data + start + 1, s->at - start - 1};
  s->at++;
  return PF_OK;
}

static pf_status unsupported(const scanner *s, size_t at, span descr, const char *why)
{
  return pf_fail(s->error, PF_UNSUPPORTED, at, "npy: descr '%s': %s",
                 pf_quote(descr.text, descr.length).text, why);
}

static pf_status read_descr(scanner *s, header *h)
{
  span d;
  skip_blanks(s);
  const size_t start = s->at;
  if (start < s->end && s->data[start] == '[')
    return unsupported(s, start, (span){"[...]", 5}, "an array of structures");
  const pf_status status = read_string(s, &d);
  if (status != PF_OK)
    return status;
  const char order = d.length > 1 ? d.text[0] : '\0';
  if (order != '<' && order != '>' && order != '|')
    return unsupported(s, start, d, "does not begin with <, > or |");
  for (int i = 0; i < DTYPES; i++) {
    if (!span_is((span){d.text + 1, d.length - 1}, dtypes[i].descr + 1))
      continue;
    if (order == '>' && dtypes[i].bits > 8)
      return unsupported(s, start, d, "big endian; save a.astype(a.dtype.newbyteorder('<'))");
    if (order == '|' && dtypes[i].descr[0] == '<' && dtypes[i].bits > 8)
      return unsupported(s, start, d, "lacks its byte order");
    h->dtype = &dtypes[i];
    return PF_OK;
  }
  return unsupported(s, start, d, "no numbers that are known here");
}

static pf_status read_flag(scanner *s, bool *out)
{
  *out = accept(s, "True");
  return *out || accept(s, "False") ? PF_OK : bad(s, s->at, "expected True or False");
}

static bool is_digit(const scanner *s, size_t at)
{
  return at < s->end && s->data[at] >= '0' && s->data[at] <= '9';
}

static pf_status read_number(scanner *s, int64_t *out)
{
  skip_blanks(s);
  const size_t start = s->at;
  int64_t value = 0;
  if (!is_digit(s, start))
    return bad(s, start, "expected a number");
  for (; is_digit(s, s->at); s->at++)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, s->data[s->at] - '0', &value))
      return bad(s, start, "number too large");
  if (s->data[start] == '0' && s->at - start > 1)
    return bad(s, start, "a number with a leading zero");
  *out = value;
  return PF_OK;
}

static pf_status read_shape(scanner *s, header *h)
{
  if (!accept(s, "("))
    return bad(s, s->at, "expected a tuple");
  if (accept(s, ")"))
    return PF_OK;
  for (;;) {
    if (h->rank == PF_TENSOR_MAX_RANK)
      return pf_fail(s->error, PF_UNSUPPORTED, s->at, "npy: more than %d dimensions",
                     PF_TENSOR_MAX_RANK);
    const pf_status status = read_number(s, &h->dim[h->rank++]);
    if (status != PF_OK)
      return status;
    const bool comma = accept(s, ",");
    if (accept(s, ")"))
      return comma || h->rank > 1 ? PF_OK : bad(s, s->at, "a tuple of one lacks its comma");
    if (!comma)
      return bad(s, s->at, "expected , or )");
  }
}

static pf_status read_item(scanner *s, header *h, int *seen)
{
  static const char *const keys[] = {"descr", "fortran_order", "shape"};
  span key;
  int k = 0;
  skip_blanks(s);
  const size_t start = s->at;
  const pf_status status = read_string(s, &key);
  if (status != PF_OK)
    return status;
  while (k < 3 && !span_is(key, keys[k]))
    k++;
  if (k == 3)
    return bad(s, start, "a key that is not descr, fortran_order or shape");
  if ((*seen & 1 << k) != 0)
    return bad(s, start, "a key that occurs twice");
  *seen |= 1 << k;
  if (!accept(s, ":"))
    return bad(s, s->at, "expected :");
  switch (k) {
  case 0: return read_descr(s, h);
  case 1: return read_flag(s, &h->fortran_order);
  default: return read_shape(s, h);
  }
}

static pf_status read_dict(scanner *s, header *h)
{
  int seen = 0;
  if (!accept(s, "{"))
    return bad(s, s->at, "expected {");
  while (!accept(s, "}")) {
    const pf_status status = read_item(s, h, &seen);
    if (status != PF_OK)
      return status;
    if (!accept(s, ",")) {
      if (!accept(s, "}"))
        return bad(s, s->at, "expected , or }");
      break;
    }
  }
  if (seen != 7)
    return bad(s, s->at, "descr, fortran_order or shape is missing");
  skip_blanks(s);
  if (s->at + 1 != s->end || s->data[s->at] != '\n')
    return bad(s, s->at, "must end in spaces and one newline");
  return PF_OK;
}

/* Leaves the scanner on the header's text.  have: bytes of the file that are there. */
static pf_status read_length(scanner *s, size_t have)
{
  enum { VERSION = MAGIC_LENGTH, LENGTH = MAGIC_LENGTH + 2 };
  if (!pf_npy_is(s->data, have))
    return bad(s, 0, "does not begin with the magic \\x93NUMPY");
  if (have < LENGTH)
    return bad(s, VERSION, "no version");
  const int major = s->data[VERSION], minor = s->data[VERSION + 1];
  if (major < 1 || major > 3 || minor != 0)
    return pf_fail(s->error, PF_UNSUPPORTED, VERSION, "npy: version %d.%d", major, minor);
  const size_t bytes = major == 1 ? 2 : 4;
  if (have - LENGTH < bytes)
    return bad(s, LENGTH, "no length");
  size_t length = 0;
  for (size_t i = 0; i < bytes; i++)
    length |= (size_t)s->data[LENGTH + i] << (8 * i);
  s->at = LENGTH + bytes;
  if (length > have - s->at)
    return bad(s, LENGTH, "longer than the file");
  if (length > HEADER_MAX)
    return bad(s, LENGTH, "longer than 10000 bytes");
  s->end = s->at + length;
  return PF_OK;
}

static bool has_descr(pf_dtype t)
{
  for (int i = 0; i < DTYPES; i++)
    if (dtypes[i].own != NULL && strcmp(dtypes[i].own, pf_dtype_of(t)->name) == 0)
      return true;
  return false;
}

static pf_status set_dtype(const scanner *s, const npy_dtype *d, const pf_dtype *raw,
                           pf_tensor_entry *t)
{
  const char kind = d->descr[1];
  const bool is_raw = kind == 'V' || strcmp(d->descr, "<f1") == 0;
  const bool is_integer = kind == 'u' || kind == 'i';
  t->dtype_name = d->descr;
  t->has_dtype = d->own != NULL && pf_dtype_find(d->own, strlen(d->own), &t->dtype);
  if (raw == NULL || !(is_raw || (is_integer && !has_descr(*raw))))
    return PF_OK;
  if (8 * pf_dtype_of(*raw)->bytes == d->bits) {
    t->has_dtype = true;
    t->dtype = *raw;
  } else if (is_raw) {
    return pf_fail(s->error, PF_BAD_INPUT, s->at, "npy: '%s' cannot hold %s", d->descr,
                   pf_dtype_of(*raw)->name);
  }
  return PF_OK;
}

static void set_fortran_order(pf_tensor_entry *t)
{
  int64_t stride = 1;
  for (int d = 0; d < t->rank; d++) {
    t->stride[d] = stride;
    stride *= t->dim[d] == 0 ? 1 : t->dim[d];
  }
}

static pf_status set_entry(const scanner *s, const header *h, size_t size, pf_tensor_entry *t)
{
  t->name = "";
  if (!pf_tensor_set_shape(t, h->dtype->bits, h->rank, h->dim))
    return bad(s, s->at, "shape too large");
  if (h->fortran_order)
    set_fortran_order(t);
  t->offset = s->end;
  t->data = s->data + s->end;
  if (size - s->end != t->bytes)
    return pf_fail(s->error, PF_BAD_INPUT, s->end,
                   "npy: %zu bytes of data, descr and shape need %zu", size - s->end, t->bytes);
  return PF_OK;
}

bool pf_npy_is(const void *data, size_t size)
{
  return size >= MAGIC_LENGTH && memcmp(data, MAGIC, MAGIC_LENGTH) == 0;
}

pf_status pf_npy_parse(const void *data, size_t size, const pf_dtype *raw, pf_tensor_file *out,
                       pf_error *e)
{
  return pf_npy_parse_head(data, size, size, raw, out, e);
}

pf_status pf_npy_parse_head(const void *data, size_t have, size_t size, const pf_dtype *raw,
                            pf_tensor_file *out, pf_error *e)
{
  static const size_t by_name[] = {0};
  scanner s = {.data = data, .error = e};
  header h = {.rank = 0};
  *out = (pf_tensor_file){.format = "npy", .count = 1, .by_name = by_name, .data = data,
                          .size = size};
  pf_status status = read_length(&s, have);
  if (status == PF_OK)
    status = read_dict(&s, &h);
  pf_tensor_entry *t = status == PF_OK ? pf_alloc(&out->memory, sizeof *t) : NULL;
  out->entry = t;
  if (status == PF_OK && t == NULL)
    status = pf_fail(e, PF_NO_MEMORY, 0, "npy: not enough memory");
  if (status == PF_OK)
    status = set_dtype(&s, h.dtype, raw, t);
  if (status == PF_OK)
    status = set_entry(&s, &h, size, t);
  if (status != PF_OK)
    pf_tensor_file_close(out);
  return status;
}
