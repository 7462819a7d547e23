/* Zip archives of .npy files.

   The claim for strangers' files: what is unpacked at any time is at most a member of the size that
   the directory states, which is held against the limits, and against what deflate can make of the
   packed bytes, before memory is asked for. */
#include "npz.h"

#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "npy.h"

/* A run of 258 bytes takes two bits. */
enum { DEFLATE_MOST = 1032, DEFLATE_SLACK = 258 };

const pf_npz_limits pf_npz_default_limits = {
  .members = 1 << 16, .member_bytes = (uint64_t)1 << 30, .all_bytes = (uint64_t)1 << 36};

struct pf_npz {
  zip_t *zip;
  pf_npz_limits limits;
  pf_tensor_file *list;
  uint64_t *member;        /* of each entry: its number in the archive */
  uint64_t *size;          /* unpacked */
  size_t *place;
  uint8_t *head;           /* PF_NPY_HEAD bytes: the beginning of the member that is listed */
  uint8_t *data;           /* the member that is loaded */
  pf_tensor_file loaded;
};

static pf_status fail_zip(pf_error *e, zip_error_t *why, const char *what)
{
  const pf_status status = zip_error_code_zip(why) == ZIP_ER_MEMORY ? PF_NO_MEMORY : PF_BAD_INPUT;
  return pf_fail(e, status, 0, "npz: %.60s: %.150s", what, zip_error_strerror(why));
}

bool pf_npz_is(const void *data, size_t size)
{
  return size >= 4 && (memcmp(data, "PK\3\4", 4) == 0 || memcmp(data, "PK\5\6", 4) == 0);
}

static pf_status open_zip(const void *data, size_t size, pf_npz *npz, pf_error *e)
{
  zip_error_t why;
  zip_error_init(&why);
  zip_source_t *source = zip_source_buffer_create(data, size, 0, &why);
  npz->zip = source != NULL ? zip_open_from_source(source, ZIP_RDONLY, &why) : NULL;
  if (npz->zip == NULL && source != NULL)
    zip_source_free(source);
  const pf_status status = npz->zip != NULL ? PF_OK : fail_zip(e, &why, "archive");
  zip_error_fini(&why);
  return status;
}

/* Exactly `size` bytes, or the error says why not. */
static pf_status unpack(pf_npz *npz, uint64_t member, const char *name, uint8_t *to, uint64_t size,
                        pf_error *e)
{
  zip_file_t *from = zip_fopen_index(npz->zip, member, 0);
  uint64_t got = 0;
  if (from == NULL) {
    const int code = zip_error_code_zip(zip_get_error(npz->zip));
    const pf_status status = fail_zip(e, zip_get_error(npz->zip), name);
    return code == ZIP_ER_ENCRNOTSUPP || code == ZIP_ER_NOPASSWD || code == ZIP_ER_COMPNOTSUPP
               ? PF_UNSUPPORTED
               : status;
  }
  zip_int64_t n = 1;
  while (got < size && (n = zip_fread(from, to + got, size - got)) > 0)
    got += (uint64_t)n;
  uint8_t more;
  if (n > 0)
    n = zip_fread(from, &more, 1); /* reading to the end also checks the CRC */
  const pf_status status = n < 0 ? fail_zip(e, zip_file_get_error(from), name) : PF_OK;
  zip_fclose(from);
  if (status != PF_OK)
    return status;
  if (got != size || n > 0)
    return pf_fail(e, PF_BAD_INPUT, 0, "npz: member '%s': not of the size that the archive says",
                   pf_quote(name, strlen(name)).text);
  return PF_OK;
}

/* --- the list ------------------------------------------------------------------------------ */

static pf_status check_sizes(const pf_npz *npz, const zip_stat_t *s, uint64_t *all, pf_error *e)
{
  const pf_quoted name = pf_quote(s->name, strlen(s->name));
  if (__builtin_add_overflow(*all, s->size, all) || *all > npz->limits.all_bytes)
    return pf_fail(e, PF_BAD_INPUT, 0, "npz: member '%s': with it the archive unpacks to more than "
                   "%llu bytes", name.text, (unsigned long long)npz->limits.all_bytes);
  if (s->size > DEFLATE_SLACK && (s->size - DEFLATE_SLACK) / DEFLATE_MOST > s->comp_size)
    return pf_fail(e, PF_BAD_INPUT, 0, "npz: member '%s': %llu bytes cannot come of %llu packed ones",
                   name.text, (unsigned long long)s->size, (unsigned long long)s->comp_size);
  return PF_OK;
}

/* The first bytes of a member, as many as there are up to PF_NPY_HEAD. */
static pf_status read_head(pf_npz *npz, const zip_stat_t *s, size_t *have, pf_error *e)
{
  zip_file_t *from = zip_fopen_index(npz->zip, s->index, 0);
  *have = 0;
  if (from == NULL)
    return PF_UNSUPPORTED;
  zip_int64_t n = 1;
  while (*have < PF_NPY_HEAD && n > 0) {
    n = zip_fread(from, npz->head + *have, PF_NPY_HEAD - *have);
    *have += n > 0 ? (size_t)n : 0;
  }
  const pf_status status = n < 0 ? fail_zip(e, zip_file_get_error(from), s->name) : PF_OK;
  zip_fclose(from);
  return status;
}

/* libzip's names are UTF-8, whatever the archive has. */
static pf_status set_name(pf_npz *npz, const char *name, pf_tensor_entry *t)
{
  static const char ending[] = ".npy";
  size_t length = strlen(name);
  if (length > strlen(ending) && strcmp(name + length - strlen(ending), ending) == 0)
    length -= strlen(ending);
  char *copy = pf_alloc(&npz->list->memory, length + 1);
  if (copy == NULL)
    return PF_NO_MEMORY;
  memcpy(copy, name, length);
  t->name = copy;
  return PF_OK;
}

/* PF_UNSUPPORTED: no .npy file, or not one to read. */
static pf_status list_member(pf_npz *npz, const zip_stat_t *s, pf_tensor_entry *t, pf_error *e)
{
  pf_tensor_file head;
  pf_error why = {0};
  size_t have;
  PF_TRY(read_head(npz, s, &have, e));
  if (!pf_npy_is(npz->head, have))
    return PF_UNSUPPORTED;
  const pf_status status =
      pf_npy_parse_head(npz->head, have, (size_t)s->size, NULL, &head, &why);
  if (status != PF_OK)
    return pf_fail(e, status, why.offset, "npz: member '%s': %.170s",
                   pf_quote(s->name, strlen(s->name)).text, why.text);
  *t = head.entry[0];
  t->data = NULL;
  pf_tensor_file_close(&head);
  return set_name(npz, s->name, t);
}

static pf_status list_members(pf_npz *npz, uint64_t members, pf_tensor_entry *entry,
                              size_t *skipped, pf_error *e)
{
  uint64_t all = 0;
  for (uint64_t i = 0; i < members; i++) {
    zip_stat_t s;
    const size_t n = npz->list->count;
    zip_stat_init(&s);
    if (zip_stat_index(npz->zip, i, 0, &s) != 0)
      return fail_zip(e, zip_get_error(npz->zip), "directory");
    PF_TRY(check_sizes(npz, &s, &all, e));
    const pf_status status = list_member(npz, &s, &entry[n], e);
    if (status != PF_OK && status != PF_UNSUPPORTED)
      return status;
    npz->member[n] = i;
    npz->size[n] = s.size;
    npz->place[n] = 0;
    npz->list->count += status == PF_OK;
    *skipped += status != PF_OK;
  }
  return pf_tensor_index(npz->list, npz->place, e);
}

static pf_status list_archive(pf_npz *npz, size_t *skipped, pf_error *e)
{
  pf_arena *a = &npz->list->memory;
  const zip_int64_t members = zip_get_num_entries(npz->zip, 0);
  if (members < 0 || (uint64_t)members > npz->limits.members)
    return pf_fail(e, PF_BAD_INPUT, 0, "npz: %lld members, at most %llu", (long long)members,
                   (unsigned long long)npz->limits.members);
  const size_t count = (size_t)members;
  pf_tensor_entry *entry = pf_alloc_array(a, count, sizeof *entry);
  npz->member = pf_alloc_array(a, count, sizeof *npz->member);
  npz->size = pf_alloc_array(a, count, sizeof *npz->size);
  npz->place = pf_alloc_array(a, count, sizeof *npz->place);
  npz->head = pf_alloc(a, PF_NPY_HEAD);
  if (entry == NULL || npz->member == NULL || npz->size == NULL || npz->place == NULL ||
      npz->head == NULL)
    return pf_fail(e, PF_NO_MEMORY, 0, "npz: not enough memory for the directory");
  npz->list->entry = entry;
  return list_members(npz, count, entry, skipped, e);
}

pf_status pf_npz_open(const void *data, size_t size, const pf_npz_limits *limits, pf_npz **npz,
                      pf_tensor_file *list, size_t *skipped, pf_error *e)
{
  *list = (pf_tensor_file){.format = "npz", .data = data, .size = size};
  *skipped = 0;
  *npz = calloc(1, sizeof **npz);
  if (*npz == NULL)
    return pf_fail(e, PF_NO_MEMORY, 0, "npz: not enough memory");
  (*npz)->limits = *limits;
  (*npz)->list = list;
  pf_status status = open_zip(data, size, *npz, e);
  if (status == PF_OK)
    status = list_archive(*npz, skipped, e);
  if (status != PF_OK) {
    pf_npz_close(*npz);
    *npz = NULL;
    pf_tensor_file_close(list);
  }
  return status;
}

/* --- one member ---------------------------------------------------------------------------- */

pf_status pf_npz_load(pf_npz *npz, size_t i, pf_tensor_entry *out, pf_error *e)
{
  const pf_tensor_entry *listed = &npz->list->entry[i];
  const uint64_t size = npz->size[i];
  pf_error why = {0};
  pf_tensor_file_close(&npz->loaded);
  free(npz->data);
  npz->data = NULL;
  if (size > npz->limits.member_bytes)
    return pf_fail(e, PF_UNSUPPORTED, 0, "npz: member '%s': %llu bytes, at most %llu are read",
                   pf_quote(listed->name, strlen(listed->name)).text, (unsigned long long)size,
                   (unsigned long long)npz->limits.member_bytes);
  npz->data = malloc((size_t)size + (size == 0));
  if (npz->data == NULL)
    return pf_fail(e, PF_NO_MEMORY, 0, "npz: no memory for %llu bytes", (unsigned long long)size);
  PF_TRY(unpack(npz, npz->member[i], listed->name, npz->data, size, e));
  const pf_status status = pf_npy_parse(npz->data, (size_t)size, NULL, &npz->loaded, &why);
  if (status != PF_OK)
    return pf_fail(e, status, why.offset, "npz: member '%s': %.170s",
                   pf_quote(listed->name, strlen(listed->name)).text, why.text);
  *out = npz->loaded.entry[0];
  out->name = listed->name;
  return PF_OK;
}

void pf_npz_close(pf_npz *npz)
{
  if (npz == NULL)
    return;
  if (npz->zip != NULL)
    zip_discard(npz->zip);
  pf_tensor_file_close(&npz->loaded);
  free(npz->data);
  free(npz);
}
