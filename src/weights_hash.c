/* SHA-256 of a model's files, as sha256sum prints it. */
#include <nettle/sha2.h>
#include <string.h>

#include "weights.h"

enum { PIECE = 1 << 22 };  /* bytes */

static void print_hex(const uint8_t *digest, char *to)
{
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < SHA256_DIGEST_SIZE; i++) {
    *to++ = digits[digest[i] >> 4];
    *to++ = digits[digest[i] & 15];
  }
  *to = '\0';
}

bool pf_weights_hash(const pf_weights_file *f, const pf_watch *watch, char *to)
{
  struct sha256_ctx context;
  uint8_t digest[SHA256_DIGEST_SIZE];
  sha256_init(&context);
  for (size_t at = 0, n; at < f->size; at += n) {
    n = f->size - at < PIECE ? f->size - at : PIECE;
    if (!watch->go_on(watch->user, "hashing", at, f->size))
      return false;
    sha256_update(&context, n, f->data + at);
    pf_weights_forget_file(f, at, n);
  }
  sha256_digest(&context, sizeof digest, digest);
  print_hex(digest, to);
  return true;
}

/* What elements are read as, little endian, row-major. */
bool pf_weight_hash(const pf_weights *w, size_t i, const pf_watch *watch, char *to)
{
  enum { AT_ONCE = 1 << 14 };
  const pf_tensor_entry *t = &w->weight[i].entry;
  double value[AT_ONCE];
  uint8_t bytes[8 * AT_ONCE], digest[SHA256_DIGEST_SIZE];
  struct sha256_ctx context;
  pf_dtype dtype;
  sha256_init(&context);
  const bool numbers = pf_weight_dtype(t, &dtype);
  const int64_t each = pf_dtype_of(dtype)->bytes;
  const double stored = (double)t->bytes / (double)t->elements;
  for (int64_t at = 0, n; numbers && at < t->elements; at += n) {
    n = t->elements - at < AT_ONCE ? t->elements - at : AT_ONCE;
    if (!watch->go_on(watch->user, "reading", (uint64_t)at, (uint64_t)t->elements))
      return false;
    pf_weight_read(t, at, 1, n, value);
    for (int64_t j = 0; j < n; j++)
      pf_store(dtype, bytes + j * each, value[j]);
    sha256_update(&context, (size_t)(n * each), bytes);
    pf_weights_forget(w, i, 0, (size_t)((double)(at + n) * stored));
  }
  sha256_digest(&context, sizeof digest, digest);
  print_hex(digest, to);
  return true;
}
