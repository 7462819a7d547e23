/* Graphs that PyTorch's inductor has compiled beforehand (scripts/inductor_compile.py), as an
   engine of whole cases. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines.h"
#include "inductor_parts.h"
#include "library.h"
#include "measure.h"

/* --- opening ------------------------------------------------------------------------------- */

/* As installed, and in the tree that precfuzz is built in: from the program's folder. */
static const char *const places[] = {"../lib/precfuzz/inductor", "../../lib/precfuzz/inductor",
                                     "inductor", "../inductor", NULL};

static pfe_status find_folder(const char *argument, char folder[512], char text[192])
{
  if (argument) {
    snprintf(folder, 512, "%s", argument);
    return PFE_OK;
  }
  if (pf_library_beside(places, "manifest", folder)) {
    snprintf(text, 192, "not installed (package python3-torch of Debian 13, then make inductor): "
                        "no graph is compiled");
    return PFE_ABSENT;
  }
  *strrchr(folder, '/') = 0;
  return PFE_OK;
}

/* Place in the order of instruction sets that build on each other; other names must be equal. */
static int rank_of(const char *isa)
{
  static const char *const order[] = {"sse2", "avx2", "avx512f", "avx512vnni", "avx512bf16"};
  for (size_t i = 0; i < sizeof order / sizeof *order; i++)
    if (!strcmp(isa, order[i]))
      return (int)i;
  return -1;
}

static pfe_status check_isa(const pf_inductor *d, char text[192])
{
  const char *here = pf_measure_isa();
  const int needed = rank_of(d->isa), have = rank_of(here);
  if (needed < 0 ? !strcmp(d->isa, here) : have >= needed)
    return PFE_OK;
  snprintf(text, 192, "%.80s: compiled for %s, this processor has %s", d->folder, d->isa, here);
  return PFE_ERROR;
}

static pfe_status start(pf_inductor *d, const pfe_request *request, char text[192])
{
  pfe_status status = find_folder(request->argument, d->folder, text);
  if (!status)
    status = pf_inductor_read(d, text);
  if (!status)
    status = check_isa(d, text);
  if (status)
    return status;
  const char *slash = strrchr(d->library, '/');
  const char *const files[] = {d->library, slash ? slash + 1 : NULL, NULL};
  return pf_torch_load(&d->torch, files, request->threads, text);
}

/* What was loaded stays so: the graphs' code and libtorch register what they do not take back. */
static void close_inductor(void *state)
{
  pf_inductor *d = state;
  for (int i = 0; i < d->count; i++)
    if (d->model[i].container)
      d->model[i].f.destroy(d->model[i].container);
  for (size_t i = 0; i < sizeof d->dense / sizeof *d->dense; i++)
    pf_dense_free(&d->dense[i]);
  free(d->model);
  free(d);
}

static pfe_status open_inductor(const pfe_engine *self, const pfe_request *request, pfe_info *info,
                                void **state, char text[192])
{
  pf_inductor *d = calloc(1, sizeof *d);
  (void)self;
  if (!d) {
    snprintf(text, 192, "out of memory");
    return PFE_ERROR;
  }
  const pfe_status status = start(d, request, text);
  if (status) {
    close_inductor(d);
    return status;
  }
  pf_torch_describe(&d->torch, request->threads, info);
  const size_t used = strlen(info->details);
  snprintf(info->details + used, sizeof info->details - used, ", %d compiled graphs", d->count);
  *state = d;
  return PFE_OK;
}

const pfe_engine pf_inductor_engine = {
  .version = PFE_VERSION, .size = sizeof(pfe_engine), .name = "inductor",
  .note = "graphs that PyTorch's inductor has compiled (make inductor); or inductor:FOLDER",
  .flags = PFE_RUNS_GRAPHS, .open = open_inductor, .supports = pf_inductor_supports,
  .run = pf_inductor_run, .close = close_inductor};
