/* Case files of any form, folders of them, and files written whole or not at all. */
#include "cli.h"
#include "tensorfile.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "form_archive.h"
#include "form_fuzz.h"
#include "form_text.h"
#include "safetensors.h"
#include "tensor_case.h"

enum { CHUNK = 1 << 16 };  /* bytes */

/* --- forms --------------------------------------------------------------------------------- */

static const char *const form_names[] = {"auto", "fuzz", "archive", "text", "safetensors"};

const char *pf_form_name(pf_form f)
{
  return form_names[f];
}

bool pf_form_find(const char *name, pf_form *out)
{
  for (int i = 0; i <= PF_FORM_SAFETENSORS; i++)
    if (!strcmp(form_names[i], name)) {
      *out = (pf_form)i;
      return true;
    }
  return false;
}

static error_t parse_form(int key, char *arg, struct argp_state *state)
{
  if (key != 'f')
    return ARGP_ERR_UNKNOWN;
  if (!pf_form_find(arg, state->input))
    argp_error(state, "--form: '%s' is no form (auto, fuzz, archive, text, safetensors)", arg);
  return 0;
}

static const struct argp_option form_options[] = {
  {.name = "form", .key = 'f', .arg = "FORM",
   .doc = "What the files hold: fuzz, archive, text, safetensors (as precfuzz export writes it), "
          "or auto (default): archive and safetensors by their first bytes, text if it begins with "
          "a graph's name, else fuzz", .group = 2},
  {0}
};

const struct argp pf_form_argp = {.options = form_options, .parser = parse_form};

/* --- reading ------------------------------------------------------------------------------- */

static int refuse(const char *name, const char *why)
{
  return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: %s", name, why);
}

static int read_stream(FILE *from, pf_file *out)
{
  size_t room = 0, got;
  do {
    if (out->size + CHUNK >= room) {
      room = 2 * room + CHUNK + 1;
      uint8_t *more = realloc(out->data, room);
      if (!more)
        return pf_cli_fail(PF_EXIT_MACHINERY, "%s: out of memory", out->name);
      out->data = more;
    }
    got = fread(out->data + out->size, 1, CHUNK, from);
    out->size += got;
    if (out->size > PF_LARGEST_FILE)
      return refuse(out->name, "larger than 64 MiB");
  } while (got);
  out->data[out->size] = 0;
  return ferror(from) ? refuse(out->name, strerror(errno)) : PF_EXIT_CLEAN;
}

int pf_file_read(const char *path, pf_file *out)
{
  *out = (pf_file){.name = path};
  if (!strcmp(path, "-")) {
    out->name = "standard input";
    return read_stream(stdin, out);
  }
  FILE *from = fopen(path, "rb");
  if (!from)
    return refuse(path, strerror(errno));
  const int code = read_stream(from, out);
  fclose(from);
  return code;
}

void pf_file_free(pf_file *f)
{
  free(f->data);
  f->data = NULL;
}

int pf_case_parse(const pf_file *text, pf_arena *a, pf_case *out)
{
  size_t size = text->size;
  if (size && text->data[size - 1] == '\n')
    size--;
  if (size && text->data[size - 1] == '\r')
    size--;
  pf_error e = {0};
  const pf_status status = pf_text_parse((const char *)text->data, size, a, out, &e);
  return status ? pf_cli_report(status, &e, true, text->name) : PF_EXIT_CLEAN;
}

pf_form pf_file_form(const pf_file *f)
{
  return pf_archive_is(f->data, f->size)       ? PF_FORM_ARCHIVE
         : pf_text_is(f->data, f->size)        ? PF_FORM_TEXT
         : pf_safetensors_is(f->data, f->size) ? PF_FORM_SAFETENSORS
                                               : PF_FORM_FUZZ;
}

static pf_status decode_tensors(pf_case_file *f, const pf_graph *graph, pf_arena *a, pf_error *e)
{
  PF_TRY(pf_safetensors_parse(f->file.data, f->file.size, &f->tensors, e));
  if (!graph)
    return pf_tensor_case_read(&f->tensors, a, &f->what, e);
  if (pf_tensor_case_is(&f->tensors))
    return pf_fail(e, PF_BAD_INPUT, 0, "says itself which graph it is of");
  return pf_tensor_case_make(&f->tensors, *graph, &f->what, e);
}

int pf_case_file_decode(pf_case_file *f, pf_form form, const pf_graph *graph, pf_arena *a)
{
  pf_error e = {0};
  pf_status status = PF_OK;
  f->form = form == PF_FORM_AUTO ? pf_file_form(&f->file) : form;
  switch (f->form) {
  case PF_FORM_TEXT: return pf_case_parse(&f->file, a, &f->what);
  case PF_FORM_ARCHIVE:
    status = pf_archive_decode(f->file.data, f->file.size, a, &f->what, &e);
    break;
  case PF_FORM_SAFETENSORS:
    status = decode_tensors(f, graph, a, &e);
    break;
  case PF_FORM_AUTO:
  case PF_FORM_FUZZ:
    status = pf_fuzz_decode(f->file.data, f->file.size, NULL, a, &f->what);
    break;
  }
  if (status == PF_BAD_INPUT && form == PF_FORM_AUTO &&
      f->form == PF_FORM_ARCHIVE)  /* fuzzers take archives apart */
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: offset %zu: %s (--form fuzz takes any bytes)",
                       f->file.name, e.offset, e.text);
  return status ? pf_cli_report(status, &e, f->form == PF_FORM_ARCHIVE || e.offset > 0,
                                f->file.name)
                : PF_EXIT_CLEAN;
}

int pf_case_file_read(const char *path, pf_form form, pf_arena *a, pf_case_file *out)
{
  memset(out, 0, sizeof *out);
  const int code = pf_file_read(path, &out->file);
  return code ? code : pf_case_file_decode(out, form, NULL, a);
}

void pf_case_file_free(pf_case_file *f)
{
  pf_tensor_file_close(&f->tensors);
  pf_file_free(&f->file);
}

/* --- writing ------------------------------------------------------------------------------- */

static int cannot_write(const char *path)
{
  return pf_cli_fail(PF_EXIT_MACHINERY, "%s: cannot be written: %s", path, strerror(errno));
}

int pf_cli_written(pf_status s, const pf_error *e, const char *path)
{
  const int code = s == PF_BAD_INPUT || s == PF_UNSUPPORTED ? PF_EXIT_BAD_INPUT : PF_EXIT_MACHINERY;
  return s ? pf_cli_fail(code, "%s: cannot be written: %s", path, e->text) : PF_EXIT_CLEAN;
}

int pf_cli_write(const char *path, const uint8_t *data, size_t size)
{
  if (!strcmp(path, "-"))  /* what stdout could not take is told at the end */
    return fwrite(data, 1, size, stdout) == size ? PF_EXIT_CLEAN : PF_EXIT_MACHINERY;
  char *real = realpath(path, NULL);  /* a link stays one */
  const char *target = real ? real : path;
  struct stat info;
  int code;
  if (!stat(target, &info) && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    /* a device or a pipe: nothing may take its place */
    FILE *to = fopen(target, "wb");
    const bool written = to && fwrite(data, 1, size, to) == size;
    code = (!to || fclose(to) || !written) ? cannot_write(path) : PF_EXIT_CLEAN;
  } else {
    const pf_bytes all = {data, size};
    pf_error e = {0};
    code = pf_cli_written(pf_file_write(target, &all, 1, &e), &e, path);
  }
  free(real);
  return code;
}

/* --- folders ------------------------------------------------------------------------------- */

/* Nothing that is there may be taken for one of the cases, or be lost. */
int pf_cli_make_folder(const char *folder)
{
  struct dirent **entry;
  if (!mkdir(folder, 0777))
    return PF_EXIT_CLEAN;
  if (errno != EEXIST)
    return pf_cli_fail(PF_EXIT_MACHINERY, "%s: cannot be made: %s", folder, strerror(errno));
  const int entries = scandir(folder, &entry, NULL, NULL);
  if (entries < 0)
    return pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: %s", folder, strerror(errno));
  for (int i = 0; i < entries; i++)
    free(entry[i]);
  free(entry);
  return entries <= 2 ? PF_EXIT_CLEAN  /* . and .. */
                      : pf_cli_fail(PF_EXIT_BAD_INPUT, "%s: not empty", folder);
}

static int add_path(pf_paths *p, char *path)
{
  char **more = path ? realloc(p->path, (p->count + 1) * sizeof *more) : NULL;
  if (!more) {
    free(path);
    return pf_cli_fail(PF_EXIT_MACHINERY, "out of memory");
  }
  p->path = more;
  p->path[p->count++] = path;
  return PF_EXIT_CLEAN;
}

static int add_entry(pf_paths *p, const char *folder, const char *name)
{
  char *path = NULL;
  struct stat info;
  const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
  if (asprintf(&path, "%s%s%s", folder, slash, name) < 0)
    path = NULL;
  const bool is_index = !strcmp(name, "index.json");  /* of the cases, and any bytes are a case */
  if (path && (is_index || stat(path, &info) || !S_ISREG(info.st_mode))) {
    free(path);
    return PF_EXIT_CLEAN;
  }
  return add_path(p, path);
}

static int add_folder(pf_paths *p, const char *folder)
{
  struct dirent **entry;
  const int count = scandir(folder, &entry, NULL, alphasort);
  const size_t before = p->count;
  int code = PF_EXIT_CLEAN;
  if (count < 0)
    return refuse(folder, strerror(errno));
  for (int i = 0; i < count; i++) {
    if (!code)
      code = add_entry(p, folder, entry[i]->d_name);
    free(entry[i]);
  }
  free(entry);
  return code || p->count > before ? code : refuse(folder, "no file in this folder");
}

int pf_paths_add(pf_paths *p, const char *path)
{
  struct stat info;
  if (strcmp(path, "-") && !stat(path, &info) && S_ISDIR(info.st_mode))
    return add_folder(p, path);
  return add_path(p, strdup(path));
}

void pf_paths_free(pf_paths *p)
{
  for (size_t i = 0; i < p->count; i++)
    free(p->path[i]);
  free(p->path);
}
