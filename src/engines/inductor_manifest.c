/* The list of compiled graphs that scripts/inductor_compile.py writes:

     precfuzz-inductor 1
     torch 2.6.0+debian
     library /usr/lib/x86_64-linux-gnu/libtorch_cpu.so.2.6.0
     isa avx512bf16
     matmul-bf16-dot.so matmul bf16 * 1 1 * inductor

   and so on: file, graph, dtype, sizes of batch, M, N and K ("*": any from 2 on, "-": no such
   dimension), strategy that the result follows ("-": which one depends on sizes). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inductor_parts.h"

static bool read_dtype(const char *word, int32_t *out)
{
  static const struct { const char *word; int32_t dtype; } all[] = {
    {"f64", PFE_F64}, {"f32", PFE_F32}, {"f16", PFE_F16}, {"bf16", PFE_BF16}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!strcmp(all[i].word, word)) {
      *out = all[i].dtype;
      return true;
    }
  return false;
}

static bool read_size(const char *word, int64_t *out)
{
  char *end;
  *out = strcmp(word, "*") ? strtoll(word, &end, 10) : 0;
  return !strcmp(word, "*") || (!*end && *out > 0);
}

static bool read_model(const char *line, pf_inductor_model *m)
{
  char dtype[8], size[PF_IND_SIZES][12];
  *m = (pf_inductor_model){.dtype = PFE_NONE};
  if (sscanf(line, "%95s %31s %7s %11s %11s %11s %11s %63s", m->file, m->graph, dtype, size[0],
             size[1], size[2], size[3], m->row) != 8 ||
      strchr(m->file, '/') || !read_dtype(dtype, &m->dtype))
    return false;
  if (!strcmp(m->row, "-"))
    m->row[0] = 0;
  m->batched = strcmp(size[PF_IND_B], "-") != 0;
  for (int s = m->batched ? PF_IND_B : PF_IND_M; s < PF_IND_SIZES; s++)
    if (!read_size(size[s], &m->size[s]))
      return false;
  return true;
}

static const char *read_line(pf_inductor *d, const char *line, int number)
{
  if (number == 1)
    return strcmp(line, "precfuzz-inductor 1\n") ? "'precfuzz-inductor 1' expected" : NULL;
  if (sscanf(line, "torch %63s", d->compiled_by) == 1 ||
      sscanf(line, "library %511s", d->library) == 1 || sscanf(line, "isa %31s", d->isa) == 1)
    return NULL;
  pf_inductor_model *more = realloc(d->model, (size_t)(d->count + 1) * sizeof *more);
  if (!more)
    return "out of memory";
  d->model = more;
  if (!read_model(line, &more[d->count]))
    return "a compiled graph expected (scripts/inductor_compile.py writes it)";
  d->count++;
  return NULL;
}

pfe_status pf_inductor_read(pf_inductor *d, char text[192])
{
  char path[600], line[1024];
  const char *why = NULL;
  int number = 0;
  snprintf(path, sizeof path, "%s/manifest", d->folder);
  FILE *f = fopen(path, "r");
  if (!f) {
    snprintf(text, 192, "%.140s: %s", path, strerror(errno));
    return PFE_ERROR;
  }
  while (!why && fgets(line, sizeof line, f))
    why = read_line(d, line, ++number);
  fclose(f);
  if (!why && (!d->library[0] || !d->isa[0] || !d->count))
    why = "it ends too early";
  if (why)
    snprintf(text, 192, "%.100s: line %d: %s", path, number, why);
  return why ? PFE_ERROR : PFE_OK;
}
